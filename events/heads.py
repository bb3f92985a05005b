"""Heads: which match has come to which version, as it happens, for whoever tells others."""

from __future__ import annotations

import time
from collections.abc import Iterator

import structlog

from events.platform import Platform
from events.wire import StoreUnavailable

log = structlog.get_logger(__name__)


def heads(platform: Platform, patience: float = 1.0) -> Iterator[tuple[str, int] | None]:
    """Every match and version as they are appended, for ever. None at the start, in silence, and after each break.

    After a None anything may have been missed: look again. Meant for one thread in a process, that wakes the others.
    """
    channels = [f"{tag}:heads" for tag in platform.store.tags()]
    pause = 0.05
    while True:
        try:
            for said in platform.store.wire.hear(channels, patience):
                pause = 0.05
                if said is None:
                    yield None
                else:
                    match, _, version = said[1].decode().partition(" ")
                    yield match, int(version)
        except StoreUnavailable:
            log.warning("heads_lost", again_in=pause)
            yield None
            time.sleep(pause)
            pause = min(pause * 2, 1.0)
