"""The state document of War! as types. Written by `./run documents` from the shape in state.py; do not edit."""

from __future__ import annotations

from typing import NotRequired, TypedDict

import games.kernel


class Options(TypedDict):
    """`Options` in the state document."""

    first_seat: NotRequired[str]
    removed_symbols: NotRequired[str | list[str]]
    map: NotRequired[str | dict[str, str]]
    map_number: NotRequired[int | None]
    starting_cards: NotRequired[bool]


class Outcome(TypedDict):
    """`Outcome` in the state document."""

    winners: list[str]
    reason: str
    scores: dict[str, int]


class ScoreSheetRow(TypedDict):
    """`ScoreSheetRow` in the state document."""

    tiles: int
    symbols: int
    sets: int
    total: int


class Tile(TypedDict):
    """`Tile` in the state document."""

    face: str
    region: int | None
    seat: str | None
    units: int


class Turn(TypedDict):
    """What the active seat has done this turn."""

    reinforcements: int
    combat_card: bool
    placed: dict[str, int]
    moves: int


Attack = TypedDict("Attack", {"from": "str", "units": "int", "rolls": "int"})


class State(TypedDict):
    """The state of a match of War!."""

    game: str
    options: Options
    seats: list[str]
    round: int
    phase: str
    active: str | None
    to_act: list[str]
    outcome: Outcome | None
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


Match = games.kernel.Match[State]
