"""The document of the table as types. `./run documents` writes this file from the shape of the document."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Occupant(TypedDict):
    """Who has a seat."""

    player: NotRequired[str]
    ai: NotRequired[str]
    open: NotRequired[bool]


class Origin(TypedDict):
    """The object at `origin`."""

    match: str
    version: int
    digest: str
    dispute: NotRequired[int]
    opened: NotRequired[bool]


class Clock(TypedDict):
    """The clock of each seat."""

    kind: NotRequired[str]
    claim_days: NotRequired[int]
    seconds: NotRequired[int]
    increment: NotRequired[int]
    delay: NotRequired[int]
    hours: NotRequired[int]
    vacation_days: NotRequired[int]


class TimeOut(TypedDict):
    """What a time-out does; empty without a clock."""

    policy: NotRequired[str]
    level: NotRequired[str]
    in_a_row: NotRequired[int]
    then: NotRequired[str]


class Spectators(TypedDict):
    """Spectators see play some versions late."""

    delay: int


class SeatClock(TypedDict):
    """The clock of a seat."""

    bank: int
    free: int
    since: int | None
    late: int


class Clocks(TypedDict):
    """The clocks of the seats."""

    returned: int
    seats: dict[str, SeatClock]


class Refill(TypedDict):
    """How a seat got time."""

    round: int
    times: int


class Offer(TypedDict):
    """An open offer."""

    by: str
    version: NotRequired[int]
    hours: NotRequired[int]
    accepted: list[str]


class Vote(TypedDict):
    """A vote about a seat whose time has run out."""

    until: int
    votes: dict[str, str]


class Ruling(TypedDict):
    """A ruling on a dispute."""

    referee: str
    verdict: str
    remedy: str
    seat: NotRequired[str]
    version: NotRequired[int]


class Freezes(TypedDict):
    """The object at `disputes.*.freezes`."""

    since: int
    until: int


class Left(TypedDict):
    """The object at `disputes.*.left`."""

    bank: int
    free: int


class Dispute(TypedDict):
    """A dispute."""

    seat: str
    version: int
    opened: int
    entries: list[int]
    state: str
    sides: list[str]
    reported: bool
    escalated: bool
    rulings: list[Ruling]
    accepted: list[str]
    appeal: str | None
    until: int | None
    taken: str | None
    freezes: Freezes | None
    left: Left | None
    cost: int


class Overruled(TypedDict):
    """The object at `overruled`."""

    dispute: int
    remedy: str
    seat: NotRequired[str]


class Continued(TypedDict):
    """The object at `continued`."""

    match: str
    version: int
    dispute: int
    begun: bool
    opened: bool


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
    rematch_of: str | None
    origin: Origin | None
    dice: str | None
    clock: Clock
    time_out: TimeOut
    spectators: str | Spectators
    dispute_days: int
    signed: str
    practice: bool
    rated: bool
    name: str | None
    tags: list[str]
    departures: dict[str, int]
    contributions: dict[str, str]
    clocks: Clocks
    substitutes: dict[str, str]
    held: dict[str, str]
    refills: dict[str, Refill]
    offers: dict[str, Offer]
    offered: dict[str, int]
    handovers: dict[str, str]
    paused_until: int | None
    votes: dict[str, Vote]
    disputes: list[Dispute]
    disputed_since: int | None
    waited: dict[str, int]
    overruled: Overruled | None
    former: dict[str, list[str]]
    continued: Continued | None
