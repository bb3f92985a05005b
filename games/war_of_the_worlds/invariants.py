"""The invariants of every document of a match that was played from its set-up."""

from __future__ import annotations

from collections.abc import Iterator

from games.kernel import SYSTEM
from games.lifecycle import OVER, ROUND_END, SETUP
from games.war_of_the_worlds import data
from games.war_of_the_worlds.document import State
from games.war_of_the_worlds.state import EVACUATING, STRIKING, civilians_left

_ON_OFFER: tuple[data.Pile, ...] = ("offer", "offer_deck")
_CARDS = {seat: sorted(data.pile(seat, starting=True) + data.pile(seat, starting=False)) for seat in data.SEATS}


def broken(state: State) -> Iterator[str]:
    """Yield a sentence for each invariant that is broken. Cards are conserved, there are no more pieces than in the box, and an open strike
    or evacuation belongs to its phase (WOW-CMP-03, WOW-CMP-06, WOW-CMP-07, WOW-CMP-08, WOW-CMP-10)."""
    yield from _broken_phase(state)
    yield from _broken_board(state)
    if any(side[name] for side in state["sides"].values() for name in data.PILES):  # none is dealt before the set-up
        yield from _broken_piles(state)


def _broken_phase(state: State) -> Iterator[str]:
    """Yield what is wrong with the phase, the actors and the tracks."""
    phase = state["phase"]
    if (state["strike"] is not None) != (phase == STRIKING):
        yield f"the strike is {state['strike']} in phase {phase}"
    if (state["evacuation"] is not None) != (phase == EVACUATING):
        yield f"the evacuation is {state['evacuation']} in phase {phase}"
    if (state["outcome"] is not None) != (phase == OVER):
        yield f"the outcome is {state['outcome']} in phase {phase}"
    acting = {SETUP: [SYSTEM], ROUND_END: [SYSTEM], OVER: []}.get(phase, [state["active"]])
    if state["to_act"] != acting:
        yield f"{state['to_act']} act in phase {phase} with {state['active']} active"
    if state["active"] is None and (state["resources"] or state["fired"] or state["swapped"]) and phase != OVER:
        yield "marks of a turn are left when it is nobody's"
    if not 0 <= state["damage"] <= data.DAMAGE_TO_WIN:
        yield f"the damage is {state['damage']}"
    if state["resources"] < 0:
        yield f"{state['resources']} resources are left"


def _broken_board(state: State) -> Iterator[str]:
    """Yield what is wrong with civilians, tokens and figures."""
    lands = state["regions"]
    left = civilians_left(state)
    if left > sum(data.ARRIVALS.values()):
        yield f"{left} civilians are on the board"
    for region in data.LAND:
        land = lands[region]
        if not 0 <= land["fought"] <= land["civilians"]:
            yield f"{land['fought']} of {land['civilians']} civilians have fought in {region}"
        if len(set(land["influence"])) != len(land["influence"]) or not set(land["influence"]) <= set(data.INFLUENCE):
            yield f"{region} carries {land['influence']}"
    for building in data.BUILDINGS.values():
        lying = sum(
            [lands[region]["balloons"] if building is data.BALLOONS else lands[region]["building"] == building.id for region in data.LAND]
        )
        if lying > building.tokens:
            yield f"{lying} tokens of {building.id} are on the board"
    for figure, unit in state["units"].items():
        if unit["region"] is not None and unit["region"] not in data.FIGURES[figure].beside:
            yield f"{figure} is in {unit['region']}"
        if unit["used"] and unit["region"] is None:
            yield f"{figure} is marked off the board"


def _broken_piles(state: State) -> Iterator[str]:
    """Yield what is wrong with the cards of each side."""
    for seat, side in state["sides"].items():
        cards = [card for name in data.PILES for card in side[name]]
        if sorted(cards) != _CARDS[seat]:
            yield f"{seat} has {len(cards)} cards instead of its {len(_CARDS[seat])}"
        if len(side["hand"]) > data.HAND_SIZE or len(side["offer"]) > data.OFFER_SIZE:
            yield f"{seat} has {len(side['hand'])} cards in hand and {len(side['offer'])} on offer"
        if any(data.CARDS[card].building for name in data.IN_PLAY for card in side[name]):
            yield f"a building card of {seat} is in its hand, supply or discard pile"
        if any(data.CARDS[card].starting for name in _ON_OFFER for card in side[name]):
            yield f"a starting card of {seat} is on offer"
