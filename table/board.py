"""The table as text, for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from textwrap import wrap

from games.lifecycle import DRAW, VOID
from table.data import SECOND_MS
from table.document import Occupant, SeatClock, Table
from table.state import APPEALED, CLOSED, LAPSED, OPEN, PAUSE, PAUSED, RESUME, RULED, SETTLED, TAKEBACK, WITHDRAWN, kept_seats

WIDTH = 120


def board(table: Table, name: Callable[[str], str | None]) -> list[str]:
    """Return the roster, the time that each seat has left and what is open among the seats as lines of text, or that the match is closed.

    (TBL-SEE-01)

    `name` gives the name of a player, or None if the player is deleted.
    """
    if table["phase"] == CLOSED:
        return ["The match was closed before it began.", ""]
    kept = {seat: f"kept for {_called(player, name)}" for seat, player in kept_seats(table).items()}
    occupants = ", ".join(
        f"{seat}: {kept.get(seat) or _in_words(occupant, name)}{_substitute(table, seat)}"
        for seat, occupant in sorted(table["roster"].items())
    )
    roster = wrap(f"Waiting for players. {occupants}" if table["phase"] == OPEN else occupants, WIDTH)
    return [*roster, *wrap(" ".join(_going_on(table, name)), WIDTH), ""]


def _going_on(table: Table, name: Callable[[str], str | None]) -> Iterator[str]:
    """Yield a sentence for each thing that a player at the table should know, besides the roster."""
    origin = table["origin"]
    if origin is not None:
        yield f"{'Goes on, by a ruling,' if 'dispute' in origin else 'Practice'} from version {origin['version']} of {origin['match']}."
    if table["continued"] is not None:
        yield f"By a ruling, {table['continued']['match']} goes on from version {table['continued']['version']}."
    for number, one in enumerate(table["disputes"], 1):
        yield f"Dispute {number}: {one['seat']} disputes version {one['version']}; {_DISPUTES[one['state']]}."
    if table["phase"] == PAUSED:
        yield "The match is paused."
    clocks = table["clocks"]["seats"]
    if clocks:
        yield f"Time left: {', '.join(f'{seat} {_left(clock)}' for seat, clock in sorted(clocks.items()))}."
    for what, offer in sorted(table["offers"].items()):
        version = f" to version {offer['version']}" if "version" in offer else ""
        accepted = f", accepted by {', '.join(offer['accepted'])}" if offer["accepted"] else ""
        yield f"{offer['by']} offers {_OFFERED[what]}{version}{accepted}."
    for seat, player in sorted(table["handovers"].items()):
        yield f"{seat} is offered to {_called(player, name)}."
    for seat, vote in sorted(table["votes"].items()):
        votes = ", ".join(f"{voter} is for {decision}" for voter, decision in sorted(vote["votes"].items()))
        yield f"Vote about {seat}: {votes or 'nobody has voted yet'}."


_OFFERED = {DRAW: "a draw", VOID: "a void match", PAUSE: "a pause", RESUME: "the end of the pause", TAKEBACK: "a takeback"}


_DISPUTES = {
    OPEN: "a referee will rule, and until then nobody acts",
    RULED: "a referee has ruled, and nobody acts until the time for an appeal is over",
    APPEALED: "another referee will rule on the appeal, and until then nobody acts",
    SETTLED: "it is settled",
    WITHDRAWN: "it was withdrawn",
    LAPSED: "nobody has ruled on it",
}


def _left(clock: SeatClock) -> str:
    """Return the time of a seat as days, hours, minutes and seconds: what is left now, or what was when its clock began to run."""
    minutes, seconds = divmod((clock["free"] + clock["bank"]) // SECOND_MS, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    time = f"{hours}:{minutes:02}:{seconds:02}" if days or hours else f"{minutes}:{seconds:02}"
    return f"{f'{days} d ' if days else ''}{time}{'' if clock['since'] is None else ' when its clock began to run'}"


def _substitute(table: Table, seat: str) -> str:
    """Return that an artificial player plays a seat for its owner, if one does."""
    return f", played by {table['substitutes'][seat]}" if seat in table["substitutes"] else ""


def _in_words(occupant: Occupant, name: Callable[[str], str | None]) -> str:
    """Return who has a seat."""
    return _called(occupant["player"], name) if "player" in occupant else occupant.get("ai", "open")


def _called(player: str, name: Callable[[str], str | None]) -> str:
    """Return the name of a player in quotation marks, so that it cannot be taken for something else."""
    called = name(player)
    return "deleted player" if called is None else json.dumps(called, ensure_ascii=False)
