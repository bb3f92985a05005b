"""Matches of War of Civilizations that begin in a position of one's choice: the game as it is, but for how a match of it begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from events import play
from events.platform import Platform
from games.documents import clone, merged
from games.kernel import SYSTEM, Action, Seat, State, carry_out
from games.war_of_civilizations import GAME
from games.war_of_civilizations.data import BATTLE_CARDS, CRYSTALS
from games.war_of_civilizations.state import crystals_of
from tests.games.matches import chance

Steps = Sequence[tuple[Seat, Action]]


def position(seats: Sequence[Seat], patch: Mapping[str, Any], hands: Mapping[Seat, int] | None = None, **options: Any) -> State:
    """The set-up under a merge patch, in the turn of the first seat. `hands`: how many battle cards seats hold, out of the deck; the
    supply is what others have left. Whatever always holds in a match holds in it."""
    laid_out = carry_out(GAME, GAME.begin(list(seats), options), SYSTEM, {"type": "advance"}, chance("prepared")).state
    state: State = merged(merged(laid_out, {"phase": "turn"}), patch)
    for seat, number in (hands or {}).items():
        deck = state["power"]["deck"]
        state["players"][seat]["cards"] = [card for card in deck if card in BATTLE_CARDS][:number]
        for card in state["players"][seat]["cards"]:
            deck.remove(card)
    lying = sum(not here["explored"] for here in state["apex"].values())
    state["crystals"]["supply"] = CRYSTALS - lying - state["crystals"]["isle"] - sum(crystals_of(state, seat) for seat in seats)
    assert list(GAME.invariants(state)) == []
    return state


def after(state: State, *steps: tuple[Seat, Action]) -> State:
    """The position after some actions."""
    for seat, action in steps:
        state = carry_out(GAME, state, seat, action, chance("prepared")).state
    return state


def begun(platform: Platform, state: State, player: str, **seats: str) -> tuple[Platform, str]:
    """A match that begins in a position, and the platform in which that is how they begin; `player` holds the seats that are not named."""
    prepared = replace(platform, games={**platform.games, GAME.id: GAME._replace(begin=lambda seats, options: clone(state))})
    asked = {seat: seats.get(seat, "me") for seat in state["seats"]}
    return prepared, play.create(prepared, player, GAME.id, asked, state["options"]).match
