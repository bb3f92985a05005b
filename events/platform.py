"""The platform: the store, the queue and the games, opened from settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from events import embedded
from events.cache import Cache
from events.reactions import Jobs
from events.store import Store
from events.wire import Wire
from games.kernel import Game


class WrongStore(Exception):
    """The store was begun with other settings; the text says which."""


class Settings(NamedTuple):
    """What can be set from outside; each has an environment variable (docs/operating.md).

    Without `store_url` the embedded servers run in the folder `data`. `fsync` is theirs: `always`, `everysec` or `no`.
    """

    store_url: str = ""
    queue_url: str = ""
    data: Path = Path("data")
    fsync: str = "always"
    cluster: bool = False
    partitions: int = 16
    cached: int = 4096


def settings_from(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings that the environment gives: WARLEDGER_REDIS_URL, _QUEUE_URL, _DATA, _FSYNC, _CLUSTER, _PARTITIONS, _CACHED."""
    return Settings(
        store_url=environment.get("WARLEDGER_REDIS_URL", ""),
        queue_url=environment.get("WARLEDGER_QUEUE_URL", ""),
        data=Path(environment.get("WARLEDGER_DATA", "data")),
        fsync=environment.get("WARLEDGER_FSYNC", "always"),
        cluster=environment.get("WARLEDGER_CLUSTER", "") in ("1", "true", "yes"),
        partitions=int(environment.get("WARLEDGER_PARTITIONS", "16")),
        cached=int(environment.get("WARLEDGER_CACHED", "4096")),
    )


@dataclass(frozen=True, slots=True)
class Platform:
    """All that is needed to play: the first argument of nearly everything in events/. Shared by the threads of a process."""

    settings: Settings
    store: Store
    jobs: Jobs
    cache: Cache
    games: Mapping[str, Game]

    def close(self) -> None:
        """Let go of every connection."""
        self.store.wire.close()
        self.jobs.close()


def open_platform(settings: Settings | None = None, games: Mapping[str, Game] | None = None) -> Platform:
    """The platform that the settings describe. Starts the embedded servers, or attaches to those that run.

    Raises WrongStore, StoreUnavailable."""
    settings = settings or settings_from()
    if games is None:
        from games import GAMES  # late, so that tests can bring games of their own

        games = GAMES
    store_url, queue_url = settings.store_url, settings.queue_url
    if not store_url:
        store_url, queue_url = embedded.both(settings.data, settings.fsync)
    wire = Wire(store_url, settings.cluster)
    _check(wire, settings.partitions)
    return Platform(settings, Store(wire, settings.partitions), Jobs(queue_url or store_url), Cache(settings.cached), games)


def _check(wire: Wire, partitions: int) -> None:
    """Keep the number of partitions for good: with another one the streams would not be found."""
    wire.ask("SET", "{store}:partitions", partitions, "NX")
    begun_with = int(wire.ask("GET", "{store}:partitions"))
    if begun_with != partitions:
        raise WrongStore(f"this store was begun with {begun_with} partitions, not {partitions}")
