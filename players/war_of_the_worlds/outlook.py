"""The outlook of a side of War of the Worlds whose turn begins: what tells how likely it is to win in the end.

The figures are those of any position (`players/war_of_the_worlds/features.py`), for the side whose turn begins, but for one thing: the hand
that the other side has just drawn does not count. Which cards of its deck came up is luck, and is the same luck after every turn that is
compared. The weights (players/war_of_the_worlds/plans.json, `outlooks`) belong to phases by the side whose turn begins, since to have the
turn is not worth the same to both, and by how far the match has come.
"""

from __future__ import annotations

from games.kernel import Seat, State
from games.war_of_the_worlds.data import SEATS
from players.war_of_the_worlds import features as any_position

NAMES = any_position.NAMES
PHASES: tuple[str, ...] = tuple(f"{seat} {phase}" for seat in SEATS for phase in any_position.PHASES)


def begins(before: State, state: State) -> bool:
    """Return True if the other side's turn begins in a state than that of a document (or view) `before`.

    >>> begins({"active": "aliens"}, {"active": "humans"}), begins({"active": "aliens"}, {"active": "aliens"})
    (True, False)
    """
    return state["active"] not in (None, before["active"])


def phase(state: State) -> str:
    """Return the phase of the match: the side whose turn begins, and the points of the side that is nearer to its goal."""
    return f"{state['active']} {any_position.phase(state)}"


def features(state: State, seat: Seat) -> list[float]:
    """Return the figures of `NAMES` for the side whose turn begins."""
    found = any_position.features(state, seat)
    for other in SEATS:
        if other != seat:
            any_position.leave_out_hand(state, other, found)
    return found
