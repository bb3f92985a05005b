"""Heads: which match has come to which version, as it happens."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import structlog

from events.errors import StoreRefused, StoreUnavailable
from events.store.client import RedisClient

log = structlog.get_logger(__name__)


def heads(client: RedisClient, channels: Sequence[str], patience: float) -> Iterator[tuple[str, int] | None]:
    """Yield every match and version as they are appended, for ever. None at the start, in silence, and after each break.

    After a None anything may have been missed: look again. Meant for one thread in a process, which wakes the others.
    """
    pause = 0.05
    while True:
        try:
            for message in client.subscribe(channels, patience):
                pause = 0.05
                if message is None:
                    yield None
                else:
                    match, _, version = message[1].decode().partition(" ")
                    yield match, int(version)
        except (StoreUnavailable, StoreRefused):
            log.warning("heads_lost", again_in=pause)
            yield None
            time.sleep(pause)
            pause = min(pause * 2, 1.0)
