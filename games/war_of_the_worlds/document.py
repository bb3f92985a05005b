"""The state document of War of the Worlds: The New Wave as types. `./run documents` writes this file from the shape of the document."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from games import kernel


class Options(TypedDict):
    """The options that the match was given; the others have their defaults."""

    expert_swap: NotRequired[bool]
    must_play: NotRequired[bool]
    round_limit: NotRequired[int]
    use_once: NotRequired[bool]
    early_shuffle: NotRequired[bool]


class Strike(TypedDict):
    """The object at `strike`."""

    region: str
    damage: int
    need: int


class Evacuation(TypedDict):
    """The object at `evacuation`."""

    region: str
    fought: bool


class Region(TypedDict):
    """The object at `regions.*`."""

    civilians: int
    fought: int
    building: str | None
    balloons: bool
    influence: list[str]


class Unit(TypedDict):
    """The object at `units.*`."""

    region: str | None
    used: bool


class Side(TypedDict):
    """The object at `sides.*`."""

    hand: list[str]
    supply: list[str]
    discard: list[str]
    removed: list[str]
    offer: list[str]
    offer_deck: list[str]


class State(kernel.Shared):
    """The state of a match of War of the Worlds: The New Wave."""

    options: Options
    damage: int
    resources: int
    swapped: bool
    fired: list[str]
    strike: Strike | None
    evacuation: Evacuation | None
    regions: dict[str, Region]
    units: dict[str, Unit]
    sides: dict[str, Side]


Match = kernel.Match[State]
