"""The table as text, for people."""

from __future__ import annotations

from textwrap import wrap

from table.document import Table
from table.state import OPEN

WIDTH = 120


def board(table: Table) -> list[str]:
    """Return the roster as lines of text while seats are open; nothing once the match has started (TBL-SEE-01)."""
    if table["phase"] != OPEN:
        return []
    occupants = [f"{seat}: {one.get('player') or one.get('ai') or 'open'}" for seat, one in sorted(table["roster"].items())]
    return [*wrap(f"Waiting for players. {', '.join(occupants)}", WIDTH), ""]
