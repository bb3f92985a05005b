"""The document of the table as types. `./run documents` writes this file from state.py."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Occupant(TypedDict):
    """Who has a seat."""

    player: NotRequired[str]
    ai: NotRequired[str]
    open: NotRequired[bool]


class Table(TypedDict):
    """The state of the table of a match."""

    phase: str
    game: str
    creator: str
    commitment: str
    roster: dict[str, Occupant]
    invited: dict[str, str]
    lock: str | None
    expires: int | None
    departures: dict[str, int]
    contributions: dict[str, str]
