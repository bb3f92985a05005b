"""The worth of a position to a seat, for search. The weights are in data.json; `Weights` in data.py explains them."""

from __future__ import annotations

from functools import lru_cache

from games.kernel import Seat
from games.war_of_the_worlds.data import (
    ALIENS,
    BALLOONS,
    BESIDE,
    BUILDINGS,
    CARDS,
    DISTANCE,
    FIGURES,
    HAND_SIZE,
    HIT_FIRST,
    HUMANS,
    IN_PLAY,
    KINDS,
    LAND,
    MINES,
    MOVE_CIVILIANS,
    UNIT_MOVE,
    WEIGHTS,
    Card,
    Terms,
)
from games.war_of_the_worlds.document import Region, State
from games.war_of_the_worlds.outcome import scores
from games.war_of_the_worlds.state import open_to_attack
from games.war_of_the_worlds.strike.damage import protected_regions


def _use(terms: Terms) -> float:
    """Return the worth of one play of an option, on average."""
    if terms.effect == MOVE_CIVILIANS:
        return WEIGHTS.move_civilian * terms.moves
    if terms.effect == UNIT_MOVE:
        return WEIGHTS.move_step * terms.steps
    return WEIGHTS.uses.get(terms.effect, 0.0) * max(terms.amount, terms.damage, 1)


def _power(card: Card) -> float:
    """Return the worth of a card in a hand: its best option, and a part of the next best."""
    uses = sorted([_use(terms) for terms in card.options if not terms.removes], reverse=True)
    return uses[0] + WEIGHTS.other_use * sum(uses[1:2]) if uses else 0.0


_POWER: dict[str, float] = {card.id: _power(card) for card in CARDS.values()}
_PRICE: dict[str, int] = {card.building: card.cost for card in CARDS.values() if card.building}
_BUILT: dict[str, float] = {
    row.id: (WEIGHTS.turns * WEIGHTS.income * row.income + WEIGHTS.token * _PRICE.get(row.id, 0)) * (1 if row.side == ALIENS else -1)
    for row in BUILDINGS.values()
}


_SPAN = max(DISTANCE[start][region] for start in LAND for region in LAND) + 1


def worth(state: State, seat: Seat) -> float:
    """Return the worth of a position in points of the score: the points made, and the promise of the board and of the seat's deck."""
    outcome = state["outcome"]
    if outcome is not None:
        return WEIGHTS.won if seat in outcome["winners"] else -WEIGHTS.won
    points = scores(state)
    edge = points[ALIENS] - points[HUMANS] + _board(state)
    if seat == HUMANS:
        edge = -edge
    return edge + WEIGHTS.turns * _deck(state, seat) + (WEIGHTS.spare * state["resources"] if state["active"] == seat else 0.0)


def _deck(state: State, seat: Seat) -> float:
    """Return the worth of a hand from the seat's deck, on average."""
    side = state["sides"][seat]
    power, cards = 0.0, 0
    for name in IN_PLAY:
        pile = side[name]
        cards += len(pile)
        for card in pile:
            power += _POWER[card]
    return power * HAND_SIZE / max(WEIGHTS.lean, cards)


def _board(state: State) -> float:
    """Return the promise of the board to the aliens, less its promise to the humans."""
    regions, units = state["regions"], state["units"]
    away = _aways(tuple(open_to_attack(state)))
    shielded = protected_regions(state)
    enough, shelter = WEIGHTS.enough, WEIGHTS.shelter
    edge = 0.0
    prey: dict[str, float] = {}
    for region in LAND:
        land = regions[region]
        building, civilians = land["building"], land["civilians"]
        if building is not None:
            edge += _BUILT[building]
            if building in MINES:
                edge -= WEIGHTS.menace * _menaces(state, building, region)
        if land["balloons"]:
            edge += _BUILT[BALLOONS.id]
        if civilians:
            few = min(enough, civilians)
            if building in HIT_FIRST:
                edge -= shelter * HIT_FIRST[building] * few
            prey[region] = few * (WEIGHTS.shielded if region in shielded else 1.0)
    edge -= _fighters(regions, away)
    for figure, kind in FIGURES.items():
        here = units[figure]["region"]
        if here is None:
            continue
        if kind.side == HUMANS:
            edge -= WEIGHTS.figure + WEIGHTS.ready[min(away[here] if kind.blocks else away[here] - 1, len(WEIGHTS.ready) - 1)]
        else:
            edge += WEIGHTS.figure + _hunt(here, prey) * (1.0 if kind.blocks else WEIGHTS.flown)
    return edge


def _menaces(state: State, mine: str, region: str) -> bool:
    """Return True if a figure that sets off a mine is next to it."""
    units = state["units"]
    near = BESIDE[region]
    return any([units[figure]["region"] in near for kind in MINES[mine].triggered_by for figure in KINDS[kind].figures])  # noqa: C419 - a list is faster here


@lru_cache(maxsize=512)
def _aways(regions: tuple[str, ...]) -> dict[str, int]:
    """Return the steps over land from each region to the nearest of some regions."""
    return {here: min([away[region] for region in regions], default=_SPAN) for here, away in DISTANCE.items()}


def _fighters(regions: dict[str, Region], away: dict[str, int]) -> float:
    """Return the promise of civilians in regions that can be attacked, or near them."""
    promise, wanted, enough, far = 0.0, WEIGHTS.fighters, WEIGHTS.enough, len(WEIGHTS.fighter)
    crowd = [0] * far
    for region in LAND:
        if away[region] < far:
            civilians = regions[region]["civilians"]
            crowd[away[region]] += min(enough, civilians)
    for steps, number in enumerate(crowd):
        promise += WEIGHTS.fighter[steps] * min(number, wanted)
        wanted -= min(number, wanted)
    return promise


def _hunt(here: str, prey: dict[str, float]) -> float:
    """Return the promise of an alien figure: the civilians that it may destroy soon, or else the steps to the nearest ones."""
    promise = WEIGHTS.prey * prey.get(here, 0.0)
    for near in BESIDE[here]:
        if near in prey:
            promise += WEIGHTS.near_prey * prey[near]
    if not promise:
        away = DISTANCE[here]
        promise = -WEIGHTS.far * min([away[region] for region in prey], default=0)
    return promise
