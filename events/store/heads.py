"""Heads: which match has come to which version, as it happens."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from enum import Enum

import structlog

from events.errors import StoreRefused, StoreUnavailable
from events.store.client import RedisClient

log = structlog.get_logger(__name__)


class Lost(Enum):
    """A break in what was heard: anything may have been missed."""

    LOST = "lost"


LOST = Lost.LOST


def heads(client: RedisClient, channels: Sequence[str], patience: float) -> Iterator[tuple[str, int] | None]:
    """Yield every match and version as they are appended, for ever. None at the start, in silence, and after each break.

    After a None anything may have been missed: look again. Version 0 says that the match was removed. Meant for one thread in a process,
    which wakes the others.
    """
    for heard in listen(client, channels, patience):
        if isinstance(heard, bytes):
            match, _, version = heard.decode().partition(" ")
            yield match, int(version)
        else:
            yield None


def listen(client: RedisClient, channels: Sequence[str], patience: float) -> Iterator[bytes | Lost | None]:
    """Yield every message that is published on `channels`, for ever. LOST at the start and after each break, None in silence."""
    pause = 0.05
    while True:
        subscribed = False
        try:
            for message in client.subscribe(channels, patience):
                pause = 0.05
                if message is not None:
                    yield message[1]
                else:
                    yield None if subscribed else LOST
                subscribed = True
        except (StoreUnavailable, StoreRefused):
            log.warning("heads_lost", again_in=pause)
            yield LOST
            time.sleep(pause)
            pause = min(pause * 2, 1.0)
