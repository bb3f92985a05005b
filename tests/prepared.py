"""Matches of War of Civilizations that begin in a chosen position. Only the first document differs from the real game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from json_merge_patch import merge

from events import play
from events.platform import Platform
from games.documents import clone
from games.kernel import SYSTEM, Action, Seat, State, carry_out
from games.war_of_civilizations import GAME
from games.war_of_civilizations.data import BATTLE_CARDS, BLANK_TURN, CRYSTALS, TURN_PHASE
from games.war_of_civilizations.state.records import crystals_of
from tests.games.matches import chance

Steps = Sequence[tuple[Seat, Action]]


def position(seats: Sequence[Seat], patch: Mapping[str, Any], hands: Mapping[Seat, int] | None = None, **options: Any) -> State:
    """Return the document after the set-up with a merge patch, in the turn of the first seat.

    `hands`: how many battle cards each seat has. They come out of the deck. The supply of crystals is adapted.
    """
    laid_out = carry_out(GAME, GAME.begin(list(seats), options), SYSTEM, {"type": "advance"}, chance("prepared")).state
    state: State = merge({**clone(laid_out), "phase": TURN_PHASE, "turn": clone(BLANK_TURN)}, clone(patch))
    for seat, number in (hands or {}).items():
        deck = state["power"]["deck"]
        state["players"][seat]["cards"] = [card for card in deck if card in BATTLE_CARDS][:number]
        for card in state["players"][seat]["cards"]:
            deck.remove(card)
    covered = sum(not here["explored"] for here in state["apex"].values())
    state["crystals"]["supply"] = CRYSTALS - covered - state["crystals"]["isle"] - sum(crystals_of(state, seat) for seat in seats)
    assert list(GAME.invariants(state)) == []
    return state


def after(state: State, *steps: tuple[Seat, Action]) -> State:
    """Return the document after some actions."""
    for seat, action in steps:
        state = carry_out(GAME, state, seat, action, chance("prepared")).state
    return state


def begun(platform: Platform, state: State, player: str, **seats: str) -> tuple[Platform, str]:
    """Create a match without a clock that begins in a position.

    Return a platform with such matches, and the id. `player` has the seats not named.
    """
    prepared = replace(platform, games={**platform.games, GAME.id: GAME._replace(begin=lambda seats, options: clone(state))})
    asked = {seat: seats.get(seat, "me") for seat in state["seats"]}
    return prepared, play.create(prepared, player, GAME.id, asked, state["options"], settings={"clock": {"kind": "none"}}).match
