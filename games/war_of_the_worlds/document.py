"""The state document of War of the Worlds: The New Wave as types. Written by `./run documents` from the shape in state.py; do not edit."""

from __future__ import annotations

from typing import NotRequired, TypedDict

import games.kernel


class Options(TypedDict):
    """`Options` in the state document."""

    expert_swap: NotRequired[bool]
    must_play: NotRequired[bool]
    round_limit: NotRequired[int]


class Outcome(TypedDict):
    """`Outcome` in the state document."""

    winners: list[str]
    reason: str
    scores: dict[str, int]


class Strike(TypedDict):
    """Damage gathered against a region, and what it needs."""

    region: str
    damage: int
    need: int


class Evacuation(TypedDict):
    """Where the civilian moved first stands, and whether it has fought."""

    region: str
    fought: bool


class Region(TypedDict):
    """`Region` in the state document."""

    civilians: int
    fought: int
    building: str | None
    balloons: bool
    influence: list[str]


class Unit(TypedDict):
    """`Unit` in the state document."""

    region: str | None
    used: bool


class Side(TypedDict):
    """`Side` in the state document."""

    hand: list[str]
    supply: list[str]
    discard: list[str]
    removed: list[str]
    offer: list[str]
    offer_deck: list[str]


class State(TypedDict):
    """The state of a match of War of the Worlds: The New Wave."""

    game: str
    options: Options
    seats: list[str]
    round: int
    phase: str
    active: str | None
    to_act: list[str]
    outcome: Outcome | None
    damage: int
    resources: int
    swapped: bool
    fired: list[str]
    strike: Strike | None
    evacuation: Evacuation | None
    regions: dict[str, Region]
    units: dict[str, Unit]
    sides: dict[str, Side]


Match = games.kernel.Match[State]
