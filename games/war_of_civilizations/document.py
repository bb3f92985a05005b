"""The state document of War of Civilizations as types. Written by `./run documents` from the shape in state.py; do not edit."""

from __future__ import annotations

from typing import NotRequired, TypedDict

import games.kernel


class Options(TypedDict):
    """`Options` in the state document."""

    pirates: NotRequired[bool]
    disasters: NotRequired[bool]
    round_limit: NotRequired[int]


class Outcome(TypedDict):
    """`Outcome` in the state document."""

    winners: list[str]
    reason: str
    scores: dict[str, int]


class Player(TypedDict):
    """`Player` in the state document."""

    oc: int
    alwood: int
    ammo: int
    crystals: int
    ability: int
    cards: list[str]
    fleets: dict[str, dict[str, int]]
    teleporters: list[str]
    mounted: dict[str, int]
    entered_central: bool
    privateer: str | None
    eliminated: bool


class ApexRow(TypedDict):
    """`ApexRow` in the state document."""

    explored: bool
    expedition: str | None
    known_to: list[str]
    pirate: bool


class Isle(TypedDict):
    """`Isle` in the state document."""

    holder: str | None
    since: int | None
    full_rounds: int


class Crystals(TypedDict):
    """`Crystals` in the state document."""

    supply: int
    isle: int


class Power(TypedDict):
    """`Power` in the state document."""

    display: list[str]
    deck: list[str]
    discard: list[str]


Mover = TypedDict("Mover", {"from": "str", "at": "str", "ships": "dict[str, int]", "steps_left": "int"})


class Turn(TypedDict):
    """What the active seat has done this turn."""

    actions_used: int
    extra_actions: int
    action: str | None
    bonus_open: bool
    cards_bought: int
    crystal_use: str | None
    teleporter_to: list[str]
    free_teleporter: bool
    extra_steps: int
    mover: Mover | None
    trail: list[str] | None
    arrived: dict[str, dict[str, int]]
    discount_left: int
    converted: list[str]
    forecast_drawn: bool
    privateer_used: bool
    laid_waste: list[str]
    teleporters_lost: int


class Bid(TypedDict):
    """`Bid` in the state document."""

    ammo: int
    cards: list[str]


class Attacker(TypedDict):
    """`Attacker` in the state document."""

    fleet: int
    ammo: int
    bonus: int
    total: int


class Defender(TypedDict):
    """`Defender` in the state document."""

    fleet: int
    ammo: int
    bonus: int
    total: int


class Sides(TypedDict):
    """`Sides` in the state document."""

    attacker: Attacker
    defender: Defender


class Result(TypedDict):
    """`Result` in the state document."""

    winner: str
    sides: Sides


class Retreat(TypedDict):
    """`Retreat` in the state document."""

    seat: str
    count: int


Battle = TypedDict("Battle", {"at": "str", "kind": "str", "attacker": "str", "defender": "str", "privateer": "str | None", "from": "str | None", "hostages": "dict[str, int]", "bids": "dict[str, Bid]", "ability_used": "list[str]", "dice": "list[int] | None", "result": "Result | None", "retreat": "Retreat | None"})


class Blockade(TypedDict):
    """`Blockade` in the state document."""

    at: str
    owner: str
    occupant: str
    offers: NotRequired[int]


Ransom = TypedDict("Ransom", {"from": "str", "to": "str", "at": "str", "offer": "dict[str, int]", "note": "str | None"})


class State(TypedDict):
    """The state of a match of War of Civilizations."""

    game: str
    options: Options
    seats: list[str]
    round: int
    phase: str
    active: str | None
    to_act: list[str]
    outcome: Outcome | None
    players: dict[str, Player]
    attached: dict[str, str]
    covered: list[str]
    apex: dict[str, ApexRow]
    isle: Isle
    crystals: Crystals
    countdown: int | None
    power: Power
    marks: dict[str, int | str]
    turn: Turn | None
    battle: Battle | None
    blockade: Blockade | None
    ransom: Ransom | None
    offers: int


Match = games.kernel.Match[State]
