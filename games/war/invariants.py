"""The invariants of every document of a match that was played from its set-up."""

from __future__ import annotations

from collections.abc import Iterator

from games.lifecycle import SETUP
from games.war.data import UNITS
from games.war.document import State
from games.war.setup import cards_in_play
from games.war.state import FIGHTING, on_board


def broken(state: State) -> Iterator[str]:
    """Yield a sentence for each invariant that is broken. Units and cards are conserved, tiles belong to the seat whose units stand there,
    attackers stand where they came from, and attacks are open only as long as they are fought (WAR-CMP-03, WAR-CMP-07, WAR-TRN-07,
    WAR-ATT-01, WAR-ATT-14)."""
    for seat in state["seats"]:
        if state["reserve"][seat] + on_board(state, seat) != UNITS:
            yield f"{seat} has {state['reserve'][seat]} units in reserve and {on_board(state, seat)} on the board"
    for tile, here in state["tiles"].items():
        if (here["seat"] is None) != (here["units"] == 0):
            yield f"{tile} belongs to {here['seat']} with {here['units']} units"
    if bool(state["attacks"]) != (state["phase"] == FIGHTING):
        yield f"the open attacks are {state['attacks']} in phase {state['phase']}"
    for source in {fight["from"] for fight in state["attacks"].values()}:
        if sum(fight["units"] for fight in state["attacks"].values()) > state["tiles"][source]["units"]:
            yield f"more units attack from {source} than stand there"
    cards = [*state["row"], *state["deck"], *state["discard"], *state["combat"].values()]
    for hand in state["hands"].values():
        cards += hand
    in_play = cards_in_play(state)
    if sorted(cards) != sorted(in_play) and state["phase"] != SETUP:
        yield f"{len(cards)} cards are in the match instead of {len(in_play)}"
