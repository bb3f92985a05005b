"""What a position is worth to a seat, for search."""

from __future__ import annotations

from games.kernel import Seat, State
from games.war_of_the_worlds.data import (
    ALIENS,
    ATTACKABLE,
    BALLOONS,
    BESIDE,
    BUILDINGS,
    BUILDINGS_OF,
    CARDS,
    FIGURES,
    FIGURES_OF,
    HAND_SIZE,
    HIT_FIRST,
    HUMANS,
    LAND,
    Card,
    Terms,
)

_WON = 1000.0
_SPARE = 0.3  # a coin or a unit of energy not spent yet, against a point of the score
_TURNS = 3.0  # for how many turns a better deck or an income is reckoned
_LEAN = 8  # cards with which a deck is lean enough
_FIGURE = 2.5  # a figure on the board
_TOKEN = 0.25  # a building on the board, for each coin of its price
_INCOME = 1.0  # a coin or unit of energy each turn
_ENOUGH = 3  # civilians in one place that can be made use of soon
_PREY = 0.9  # a civilian where a Tripod stands
_SHIELDED = 0.4  # how much of that is left if other pieces stand before it
_NEAR_PREY = 0.25  # a civilian one step away from a Tripod
_FLOWN = 0.3  # how much a UFO makes of civilians, against a Tripod
_FAR = 0.04  # a step on the way to the nearest civilians
_FIGHTERS = 4  # civilians that are wanted where something can be attacked
_FIGHTER = (0.35, 0.12, 0.06, 0.03)  # one of them there, or so many steps away
_READY = (0.6, 0.3, 0.2, 0.1)  # an Army or Navy, likewise
_SHELTER = 0.04  # a civilian behind a building, for each point of Defence
_MENACE = 0.5  # Landmines where a Tripod may step next

_POWERS = {"gain": 0.5, "distant_attack": 1.0, "civilian_attack": 0.8, "destroy_civilian": 1.0, "unit_attack": 0.8, "region_attack": 0.9}


def _use(terms: Terms) -> float:
    """What one play of an option is worth on average."""
    if terms.effect == "move_civilians":
        return 0.2 * terms.moves
    if terms.effect == "unit_move":
        return 0.3 * terms.steps
    return _POWERS.get(terms.effect, 0.0) * max(terms.amount, terms.damage, 1)


def _power(card: Card) -> float:
    """What a card does for its seat on average: its best option, and something for having others."""
    uses = sorted([_use(terms) for terms in card.options if not terms.removes], reverse=True)
    return uses[0] + 0.4 * sum(uses[1:2]) if uses else 0.0


_POWER: dict[str, float] = {card.id: _power(card) for card in CARDS.values()}
_PRICE: dict[str, int] = {card.building: card.cost for card in CARDS.values() if card.building}
_BUILT: dict[str | None, float] = {
    row.id: (_TURNS * _INCOME * row.income + _TOKEN * _PRICE.get(row.id, 0)) * (1 if row.side == ALIENS else -1)
    for row in BUILDINGS.values()
}


def _distances(start: str) -> dict[str, int]:
    """Steps over land from a region to every land region; from the sea the coast is one step away."""
    steps = {start: 0}
    edge = [start]
    while edge:
        beyond = [near for region in edge for near in BESIDE[region] if near not in steps]
        for near in beyond:
            steps[near] = steps[edge[0]] + 1
        edge = beyond
    return steps


_DISTANCE: dict[str, dict[str, int]] = {region: _distances(region) for region in BESIDE}
_SPAN = max(_DISTANCE[start][region] for start in LAND for region in LAND) + 1


def worth(state: State, seat: Seat) -> float:
    """Points of the score, about: those that are made, and what figures, civilians, buildings and the seat's own deck promise."""
    outcome = state["outcome"]
    if outcome is not None:
        return _WON if seat in outcome["winners"] else -_WON
    edge: float = _board(state) - state["damage"]
    if seat == HUMANS:
        edge = -edge
    return edge + _TURNS * _deck(state, seat) + (_SPARE * state["resources"] if state["active"] == seat else 0.0)


def _deck(state: State, seat: Seat) -> float:
    """What a hand of the seat's deck is worth on average."""
    side = state["sides"][seat]
    power, cards = 0.0, 0
    for pile in (side["hand"], side["supply"], side["discard"]):
        cards += len(pile)
        for card in pile:
            power += _POWER[card]
    return power * HAND_SIZE / max(_LEAN, cards)


def _board(state: State) -> float:
    """What the board promises the aliens, less what it promises the humans; a civilian alive is a point less."""
    regions, units = state["regions"], state["units"]
    walkers = [here for figure in ATTACKABLE if (here := units[figure]["region"]) is not None]
    guards = {units[figure]["region"] for figure in FIGURES_OF[HUMANS]}
    opened = set(walkers)
    edge = 0.0
    prey: dict[str, float] = {}
    for region, land in regions.items():
        building, civilians = land["building"], land["civilians"]
        wall = 0
        if building is not None:
            edge += _BUILT[building]
            if building in BUILDINGS_OF[ALIENS]:
                opened.add(region)
            elif building in HIT_FIRST:
                wall = HIT_FIRST[building]
            else:
                edge -= _MENACE * any([here in BESIDE[region] for here in walkers])  # noqa: C419 - a list is faster here
        if land["balloons"]:
            edge += _BUILT[BALLOONS.id]
        if civilians:
            few = min(civilians, _ENOUGH)
            edge -= civilians + _SHELTER * wall * few
            prey[region] = few * (_SHIELDED if wall or land["balloons"] or region in guards else 1.0)
    edge -= _fighters(regions, opened)
    for figure, kind in FIGURES.items():
        here = units[figure]["region"]
        if here is None:
            continue
        if kind.side == HUMANS:
            away = _nearest(here, opened)
            edge -= _FIGURE + _READY[min(away if kind.blocks else away - 1, len(_READY) - 1)]
        else:
            edge += _FIGURE + _hunt(here, prey) * (1.0 if kind.blocks else _FLOWN)
    return edge


def _nearest(here: str, regions: set[str]) -> int:
    """Steps over land to the nearest of some regions."""
    away = _DISTANCE[here]
    return min([away[region] for region in regions], default=_SPAN)


def _fighters(regions: State, opened: set[str]) -> float:
    """What civilians promise who stand where something can be attacked, or not far from there."""
    promise, wanted = 0.0, _FIGHTERS
    crowd = [0] * len(_FIGHTER)
    for region, land in regions.items():
        if land["civilians"] and (away := _nearest(region, opened)) < len(_FIGHTER):
            crowd[away] += min(land["civilians"], _ENOUGH)
    for away, number in enumerate(crowd):
        promise += _FIGHTER[away] * min(number, wanted)
        wanted -= min(number, wanted)
    return promise


def _hunt(here: str, prey: dict[str, float]) -> float:
    """What an alien figure may destroy soon, or how near it is to that."""
    promise = _PREY * prey.get(here, 0.0)
    for near in BESIDE[here]:
        promise += _NEAR_PREY * prey.get(near, 0.0)
    if not promise:
        away = _DISTANCE[here]
        promise = -_FAR * min([away[region] for region in prey], default=0)
    return promise
