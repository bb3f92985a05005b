"""The table as text, for people."""

from __future__ import annotations

import json
from collections.abc import Callable
from textwrap import wrap

from table.document import Occupant, Table
from table.state import CLOSED, OPEN, kept_seats

WIDTH = 120


def board(table: Table, name: Callable[[str], str | None]) -> list[str]:
    """Return the roster as lines of text, or that the match is closed (TBL-SEE-01).

    `name` gives the name of a player, or None if the player is deleted.
    """
    if table["phase"] == CLOSED:
        return ["The match was closed before it began.", ""]
    kept = {seat: f"kept for {_called(player, name)}" for seat, player in kept_seats(table).items()}
    occupants = ", ".join(f"{seat}: {kept.get(seat) or _in_words(occupant, name)}" for seat, occupant in sorted(table["roster"].items()))
    return [*wrap(f"Waiting for players. {occupants}" if table["phase"] == OPEN else occupants, WIDTH), ""]


def _in_words(occupant: Occupant, name: Callable[[str], str | None]) -> str:
    """Return who has a seat."""
    return _called(occupant["player"], name) if "player" in occupant else occupant.get("ai", "open")


def _called(player: str, name: Callable[[str], str | None]) -> str:
    """Return the name of a player in quotation marks, so that it cannot be taken for something else."""
    called = name(player)
    return "deleted player" if called is None else json.dumps(called, ensure_ascii=False)
