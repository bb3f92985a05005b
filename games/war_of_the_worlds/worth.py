"""The worth of a position to a seat, for search. The weights are in data.json; `Weights` in data.py explains them."""

from __future__ import annotations

from functools import lru_cache

from games.kernel import Seat
from games.war_of_the_worlds import data
from games.war_of_the_worlds.document import Region, State
from games.war_of_the_worlds.outcome import scores
from games.war_of_the_worlds.state import open_to_attack
from games.war_of_the_worlds.strike.damage import protected_regions


def _use(terms: data.Terms) -> float:
    """Return the worth of one play of an option, on average."""
    if terms.effect == data.MOVE_CIVILIANS:
        return data.WEIGHTS.move_civilian * terms.moves
    if terms.effect == data.UNIT_MOVE:
        return data.WEIGHTS.move_step * terms.steps
    return data.WEIGHTS.uses.get(terms.effect, 0.0) * max(terms.amount, terms.damage, 1)


def _power(card: data.Card) -> float:
    """Return the worth of a card in a hand: its best option, and a part of the next best."""
    uses = sorted([_use(terms) for terms in card.options if not terms.removes], reverse=True)
    return uses[0] + data.WEIGHTS.other_use * sum(uses[1:2]) if uses else 0.0


_POWER: dict[str, float] = {card.id: _power(card) for card in data.CARDS.values()}
_PRICE: dict[str, int] = {card.building: card.cost for card in data.CARDS.values() if card.building}
_BUILT: dict[str, float] = {
    row.id: (data.WEIGHTS.turns * data.WEIGHTS.income * row.income + data.WEIGHTS.token * _PRICE.get(row.id, 0))
    * (1 if row.side == data.ALIENS else -1)
    for row in data.BUILDINGS.values()
}


_SPAN = max(data.DISTANCE[start][region] for start in data.LAND for region in data.LAND) + 1


def worth(state: State, seat: Seat) -> float:
    """Return the worth of a position in points of the score: the points made, and the promise of the board and of the seat's deck."""
    outcome = state["outcome"]
    if outcome is not None:
        return data.WEIGHTS.won if seat in outcome["winners"] else -data.WEIGHTS.won
    points = scores(state)
    edge = points[data.ALIENS] - points[data.HUMANS] + _board(state)
    if seat == data.HUMANS:
        edge = -edge
    return edge + data.WEIGHTS.turns * _deck(state, seat) + (data.WEIGHTS.spare * state["resources"] if state["active"] == seat else 0.0)


def _deck(state: State, seat: Seat) -> float:
    """Return the worth of a hand from the seat's deck, on average."""
    side = state["sides"][seat]
    power, cards = 0.0, 0
    for name in data.IN_PLAY:
        pile = side[name]
        cards += len(pile)
        for card in pile:
            power += _POWER[card]
    return power * data.HAND_SIZE / max(data.WEIGHTS.lean, cards)


def _board(state: State) -> float:
    """Return the promise of the board to the aliens, less its promise to the humans."""
    regions, units = state["regions"], state["units"]
    away = _aways(tuple(open_to_attack(state)))
    shielded = protected_regions(state)
    enough, shelter = data.WEIGHTS.enough, data.WEIGHTS.shelter
    edge = 0.0
    prey: dict[str, float] = {}
    for region in data.LAND:
        land = regions[region]
        building, civilians = land["building"], land["civilians"]
        if building is not None:
            edge += _BUILT[building]
            if building in data.MINES:
                edge -= data.WEIGHTS.menace * _menaces(state, building, region)
        if land["balloons"]:
            edge += _BUILT[data.BALLOONS.id]
        if civilians:
            few = min(enough, civilians)
            if building in data.HIT_FIRST:
                edge -= shelter * data.HIT_FIRST[building] * few
            prey[region] = few * (data.WEIGHTS.shielded if region in shielded else 1.0)
    edge -= _fighters(regions, away)
    for figure, kind in data.FIGURES.items():
        here = units[figure]["region"]
        if here is None:
            continue
        if kind.side == data.HUMANS:
            edge -= (
                data.WEIGHTS.figure + data.WEIGHTS.ready[min(away[here] if kind.blocks else away[here] - 1, len(data.WEIGHTS.ready) - 1)]
            )
        else:
            edge += data.WEIGHTS.figure + _hunt(here, prey) * (1.0 if kind.blocks else data.WEIGHTS.flown)
    return edge


def _menaces(state: State, mine: str, region: str) -> bool:
    """Return True if a figure that sets off a mine is next to it."""
    units = state["units"]
    near = data.BESIDE[region]
    return any([units[figure]["region"] in near for kind in data.MINES[mine].triggered_by for figure in data.KINDS[kind].figures])  # noqa: C419 - a list is faster here


@lru_cache(maxsize=512)
def _aways(regions: tuple[str, ...]) -> dict[str, int]:
    """Return the steps over land from each region to the nearest of some regions."""
    return {here: min([away[region] for region in regions], default=_SPAN) for here, away in data.DISTANCE.items()}


def _fighters(regions: dict[str, Region], away: dict[str, int]) -> float:
    """Return the promise of civilians in regions that can be attacked, or near them."""
    promise, wanted, enough, far = 0.0, data.WEIGHTS.fighters, data.WEIGHTS.enough, len(data.WEIGHTS.fighter)
    crowd = [0] * far
    for region in data.LAND:
        if away[region] < far:
            civilians = regions[region]["civilians"]
            crowd[away[region]] += min(enough, civilians)
    for steps, number in enumerate(crowd):
        promise += data.WEIGHTS.fighter[steps] * min(number, wanted)
        wanted -= min(number, wanted)
    return promise


def _hunt(here: str, prey: dict[str, float]) -> float:
    """Return the promise of an alien figure: the civilians that it may destroy soon, or else the steps to the nearest ones."""
    promise = data.WEIGHTS.prey * prey.get(here, 0.0)
    for near in data.BESIDE[here]:
        if near in prey:
            promise += data.WEIGHTS.near_prey * prey[near]
    if not promise:
        away = data.DISTANCE[here]
        promise = -data.WEIGHTS.far * min([away[region] for region in prey], default=0)
    return promise
