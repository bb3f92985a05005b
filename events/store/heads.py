"""Listen to heads: learn which match reaches which version, and what is said at its table, as it happens."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

import structlog

from events.errors import StoreRefused, StoreUnavailable
from events.store.client import RedisClient

log = structlog.get_logger(__name__)

_HERE = "* here "


class Lost(Enum):
    """A break in the messages: any may have been missed. AWAY: it begins. BACK: it ends; also the first item."""

    AWAY = "away"
    BACK = "back"


class Head(NamedTuple):
    """A match has reached a version; 0 if it was removed.

    `told`: the players whom an entry from version `first` on tells something, and as organiser `*` and the id.
    """

    match: str
    version: int
    first: int = 0
    told: tuple[str, ...] = ()


class Said(NamedTuple):
    """A seat of a match has said one of the set phrases."""

    match: str
    seat: str
    phrase: str


class Row(NamedTuple):
    """Who follows a match in a web process: how many without a seat, and the players with one. `asks`: it wants to know of the others."""

    match: str
    asks: bool
    watching: int
    players: tuple[str, ...] = ()


class Here(NamedTuple):
    """What a web process tells the others of those who follow matches in it."""

    process: str
    rows: tuple[Row, ...]


Heard = Head | Said | Here
MISSED = Head("", 0)


def heads(client: RedisClient, channels: Sequence[str], patience: float) -> Iterator[Heard | None]:
    """Yield each match and version as it is appended, and what is said at tables and told of them, until the client is closed.

    Yield MISSED at the start and after each break: earlier heads may have been missed, so look again. Yield None in silence and at a break.
    The iterator is meant for one thread of a process, which wakes the others.
    """
    for heard in listen(client, channels, patience):
        if isinstance(heard, bytes):
            yield _head(heard.decode())
        else:
            yield MISSED if heard is Lost.BACK else None


def listen(client: RedisClient, channels: Sequence[str], patience: float) -> Iterator[bytes | Lost | None]:
    """Yield each message on `channels`, until the client is closed. Yield `Lost` at the start, at each break and after it, and None in
    silence."""
    pause = 0.05
    while not client.closed:
        subscribed = False
        try:
            for message in client.subscribe(channels, patience):
                pause = 0.05
                if message is not None:
                    yield message[1]
                else:
                    yield None if subscribed else Lost.BACK
                    subscribed = True
        except (StoreUnavailable, StoreRefused):
            log.warning("heads_lost", again_in=pause)
            yield Lost.AWAY
            time.sleep(pause)
            pause = min(pause * 2, 1.0)


def written(row: Row) -> str:
    """Return a row as a message has it."""
    return " ".join((row.match, "1" if row.asks else "0", str(row.watching), *row.players))


def _row(line: str) -> Row:
    match, asks, watching, *players = line.split(" ")
    return Row(match, asks == "1", int(watching), tuple(players))


def _head(message: str) -> Heard:
    if message.startswith(_HERE):
        process, *rows = message.removeprefix(_HERE).split("\n")
        return Here(process, tuple([_row(row) for row in rows]))
    match, version, *more = message.split(" ")
    if version == "says":
        return Said(match, *more)
    return Head(match, int(version), int(more[0]), tuple(more[1:])) if more else Head(match, int(version))
