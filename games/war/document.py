"""The state document of War! as types. `./run documents` writes this file from the shape of the document."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from games import kernel


class Options(TypedDict):
    """The options that the match was given; the others have their defaults."""

    first_seat: NotRequired[str]
    removed_symbols: NotRequired[str | list[str]]
    map: NotRequired[str | dict[str, str]]
    map_number: NotRequired[int | None]
    starting_cards: NotRequired[bool]
    room_by_card: NotRequired[bool]
    garrisons: NotRequired[bool]


class ScoreSheetRow(TypedDict):
    """The object at `score_sheet.*`."""

    tiles: int
    symbols: int
    sets: int
    total: int


class Tile(TypedDict):
    """The object at `tiles.*`."""

    face: str
    region: int | None
    seat: str | None
    units: int


class Turn(TypedDict):
    """The record of the active seat's turn so far."""

    reinforcements: int
    combat_card: bool
    placed: dict[str, int]
    moves: int


# The object at `attacks.*`.
Attack = TypedDict("Attack", {"from": str, "units": int, "rolls": int})


class State(kernel.Shared):
    """The state of a match of War!"""

    options: Options
    score_sheet: dict[str, ScoreSheetRow] | None
    symbols: list[str]
    map_number: int | None
    tiles: dict[str, Tile]
    reserve: dict[str, int]
    hands: dict[str, list[str]]
    combat: dict[str, str]
    row: list[str]
    deck: list[str]
    discard: list[str]
    turn: Turn
    attacks: dict[str, Attack]
    final_turns: list[str] | None
    eliminated: list[str]


Match = kernel.Match[State]
