"""The state document of War of Civilizations as types. `./run documents` writes this file from the shape of the document."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from games import kernel


class Options(TypedDict):
    """The options that the match was given; the others have their defaults."""

    pirates: NotRequired[bool]
    disasters: NotRequired[bool]
    round_limit: NotRequired[int]
    arrival_counts: NotRequired[bool]
    first_seat_rotates: NotRequired[bool]
    ability_level: NotRequired[int]
    hidden_ammo: NotRequired[bool]
    privateer_by_token: NotRequired[bool]
    all_tokens_lost: NotRequired[bool]


class Player(TypedDict):
    """The object at `players.*`."""

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
    """The object at `apex.*`."""

    explored: bool
    expedition: str | None
    known_to: list[str]
    pirate: bool


class Isle(TypedDict):
    """Who holds the Isle, and for how long."""

    holder: str | None
    since: int | None
    full_rounds: int


class Power(TypedDict):
    """The power cards that no seat has."""

    display: list[str]
    deck: list[str]
    discard: list[str]


# The object at `turn.mover`.
Mover = TypedDict("Mover", {"from": str, "at": str, "ships": dict[str, int], "steps_left": int})


class Turn(TypedDict):
    """The object at `turn`."""

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
    """The object at `battle.bids.*`."""

    ammo: int
    cards: list[str]


class Side(TypedDict):
    """The object at `battle.result.sides.*`."""

    fleet: int
    ammo: int
    bonus: int
    total: int


class Result(TypedDict):
    """The object at `battle.result`."""

    winner: str
    sides: dict[str, Side]


class Retreat(TypedDict):
    """The object at `battle.retreat`."""

    seat: str
    count: int


# The object at `battle`.
Battle = TypedDict(
    "Battle",
    {
        "at": str,
        "kind": str,
        "attacker": str,
        "defender": str,
        "privateer": str | None,
        "from": str | None,
        "hostages": dict[str, int],
        "bids": dict[str, Bid],
        "ability_used": list[str],
        "dice": list[int] | None,
        "result": Result | None,
        "retreat": Retreat | None,
    },
)


class Blockade(TypedDict):
    """The object at `blockade`."""

    at: str
    owner: str
    occupant: str
    offers: NotRequired[int]


# The object at `ransom`.
Ransom = TypedDict("Ransom", {"from": str, "to": str, "at": str, "offer": dict[str, int], "note": str | None})


class State(kernel.Shared):
    """The state of a match of War of Civilizations."""

    options: Options
    first: NotRequired[str]
    players: dict[str, Player]
    attached: dict[str, str]
    covered: list[str]
    apex: dict[str, ApexRow]
    isle: Isle
    crystals: dict[str, int]
    countdown: int | None
    power: Power
    marks: dict[str, int | str]
    turn: Turn | None
    battle: Battle | None
    blockade: Blockade | None
    ransom: Ransom | None
    offers: int


Match = kernel.Match[State]
