"""The table as text, for people."""

from __future__ import annotations

import json
from collections.abc import Callable
from textwrap import wrap

from table.document import Occupant, Table
from table.state import OPEN

WIDTH = 120


def board(table: Table, name: Callable[[str], str | None]) -> list[str]:
    """Return the roster as lines of text (TBL-SEE-01). `name` gives the name of a player, or None if the player is deleted."""
    occupants = ", ".join(f"{seat}: {_in_words(occupant, name)}" for seat, occupant in sorted(table["roster"].items()))
    return [*wrap(f"Waiting for players. {occupants}" if table["phase"] == OPEN else occupants, WIDTH), ""]


def _in_words(occupant: Occupant, name: Callable[[str], str | None]) -> str:
    """Return who has a seat. Names are in quotation marks, so that none can be taken for something else."""
    if "player" in occupant:
        called = name(occupant["player"])
        return "deleted player" if called is None else json.dumps(called, ensure_ascii=False)
    return occupant.get("ai", "open")
