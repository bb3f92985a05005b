"""Heads: which match has come to which version, as it happens."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

import structlog

from events.errors import StoreRefused, StoreUnavailable
from events.store.client import RedisClient

log = structlog.get_logger(__name__)


class Lost(Enum):
    """A break in what was heard: anything may have been missed. AWAY when it begins; BACK when it ends, and at the start."""

    AWAY = "away"
    BACK = "back"


class Head(NamedTuple):
    """A match has come to a version; 0 if it has been removed.

    `players`: to whom this is news. `anew`: to all who have to do with the match, since its table has changed or it has ended; otherwise
    to those who must act now.
    """

    match: str
    version: int
    players: tuple[str, ...] = ()
    anew: bool = False


MISSED = Head("", 0)


def heads(client: RedisClient, channels: Sequence[str], patience: float) -> Iterator[Head | None]:
    """Yield every match and version as they are appended, until the client is closed; MISSED at the start and after each break; None in
    silence and at a break.

    After MISSED, anything may have been missed before: look again. Meant for one thread in a process, which wakes the others.
    """
    for heard in listen(client, channels, patience):
        if isinstance(heard, bytes):
            yield _head(heard.decode())
        else:
            yield MISSED if heard is Lost.BACK else None


def listen(client: RedisClient, channels: Sequence[str], patience: float) -> Iterator[bytes | Lost | None]:
    """Yield every message that is published on `channels`, until the client is closed. `Lost` at the start, at each break and after it;
    None in silence."""
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


def _head(message: str) -> Head:
    match, version, *told = message.split(" ")
    anew = told[:1] == ["*"]
    return Head(match, int(version), tuple(told[anew:]), anew)
