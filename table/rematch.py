"""A rematch: the same match anew, in which everybody moves on by one seat (REM)."""

from __future__ import annotations

from games.kernel import Action, Refusal, State, no, only
from table.creating import CREATE
from table.document import Table
from table.progress import is_over
from table.session import BY_SEAT, Session, TableDeed
from table.settings import ACCEPTED, ALL, NONE
from table.state import AI, ME, PLAYER


def rematch(table: Table, state: State, player: str, match: str) -> Action:
    """Return the action with which a player creates the rematch of a match that is over (TBL-REM-01, TBL-REM-02, TBL-SIG-03).

    Game, options and settings are the same. Who had a seat has the next one in the order around the board, and the last has the first.
    """
    order: list[str] = state["seats"]
    requests = [_request(table, seat, player) for seat in order]
    action: Action = {
        "type": CREATE,
        "game": table["game"],
        "seats": dict(zip(order, [requests[-1], *requests[:-1]], strict=True)),
        "options": state["options"],
        "order": order,
        "rematch_of": match,
        "clock": table["clock"],
        "dispute_days": table["dispute_days"],
    }
    if table["clock"]["kind"] != NONE:
        action["time_out"] = table["time_out"]
    if table["spectators"] != ALL:
        action["spectators"] = table["spectators"]
    if table["signed"] != ACCEPTED:
        action["signed"] = table["signed"]
    if table["rated"]:
        action["rated"] = True
    return action


def _request(table: Table, seat: str, player: str) -> str:
    """Return how the seat of the rematch is requested for whoever had a seat of the match."""
    occupant = table["roster"][seat]
    if "player" in occupant:
        return ME if occupant["player"] == player else PLAYER + occupant["player"]
    return AI + occupant["ai"]


def rematch_refusal(session: Session, seat: str, action: Action) -> Refusal | None:
    """Return why asking for a rematch is refused, or None (TBL-REM-01)."""
    return None if is_over(session) else no("not_over", "TBL-REM-01")


def ask_rematch(session: Session, seat: str, action: Action) -> None:
    """Ask for a rematch of a match that is over. It is a match of its own (TBL-REM-01, TBL-REM-02)."""


REMATCH = TableDeed({}, only("rematch"), rematch_refusal, ask_rematch, BY_SEAT)
"""Nothing follows from it in the match that is over. Whoever carries it out creates the match of `rematch`."""
