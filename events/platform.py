"""The platform: the store, the queues and the games, opened from settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from environs import Env, validate

from events import embedded
from events.cache import Cache
from events.clock import Clock
from events.errors import StoreUnavailable
from events.pulse import Pulse
from events.queue import Jobs
from events.queue.counters import Counters
from events.queue.floors import Floors
from events.store import Store
from events.store.client import RedisClient
from games.kernel import Game
from table.data import OPEN_MS

DAY_MS = 86_400_000


class Settings(NamedTuple):
    """The settings of the platform. Each has an environment variable (docs/operating.md).

    Without `store_url` the embedded servers run in the folder `data`. `fsync` is theirs: `always`, `everysec` or `no`. A match that has not
    started is removed after `unstarted_days`.
    """

    store_url: str = ""
    queue_url: str = ""
    data: Path = Path("data")
    fsync: str = "always"
    cluster: bool = False
    partitions: int = 16
    cached: int = 4096
    unstarted_days: float = OPEN_MS / DAY_MS


def settings_from_environment() -> Settings:
    """Return the settings in the environment, and the defaults for the rest. Raise environs.EnvError for a value of the wrong kind."""
    env, default = Env(), Settings()
    return Settings(
        store_url=env.str("WARLEDGER_REDIS_URL", default.store_url),
        queue_url=env.str("WARLEDGER_QUEUE_URL", default.queue_url),
        data=env.path("WARLEDGER_DATA", default.data),
        fsync=env.str("WARLEDGER_FSYNC", default.fsync, validate=validate.OneOf(["always", "everysec", "no"])),
        cluster=bool(env.str("WARLEDGER_CLUSTER", "")) and env.bool("WARLEDGER_CLUSTER"),
        partitions=env.int("WARLEDGER_PARTITIONS", default.partitions, validate=validate.Range(min=1)),
        cached=env.int("WARLEDGER_CACHED", default.cached, validate=validate.Range(min=1)),
        unstarted_days=env.float("WARLEDGER_UNSTARTED_DAYS", default.unstarted_days, validate=validate.Range(1 / 24, 3650)),
    )


@dataclass(frozen=True, slots=True)
class Platform:
    """All that is needed to play: the first argument of most functions in events/. Shared by the threads of a process."""

    settings: Settings
    store: Store
    jobs: Jobs
    counters: Counters
    cache: Cache
    games: Mapping[str, Game]
    clock: Clock
    pulse: Pulse

    def close(self) -> None:
        """Close every connection, and give no more pulses."""
        self.pulse.stop()
        self.store.close()
        self.jobs.close()
        self.counters.close()


def open_platform(
    settings: Settings | None = None, games: Mapping[str, Game] | None = None, patient: bool = False, clock: Clock | None = None
) -> Platform:
    """Return the platform that the settings describe. Start the embedded servers, or attach to those that run.

    A `patient` caller gets the platform of a store that does not answer yet, and calls `check_partitions` before each use. The platform
    gives no pulse until its `pulse` is started. `clock` is for tests. Raises WrongStore, StoreUnavailable.
    """
    settings = settings or settings_from_environment()
    if games is None:
        from games import GAMES  # late, so that tests can bring games of their own

        games = GAMES
    store_url, queue_url = settings.store_url, settings.queue_url
    if not store_url:
        store_url, queue_url = embedded.both(settings.data, settings.fsync)
    store = Store(RedisClient(store_url, settings.cluster), settings.partitions)
    try:
        store.check_partitions()
    except StoreUnavailable:
        if not patient:
            raise
    queue_url = queue_url or store_url
    clock = clock or Clock()
    pulse = Pulse(store.pulses, Floors(queue_url), clock)
    return Platform(settings, store, Jobs(queue_url, clock), Counters(queue_url), Cache(settings.cached), games, clock, pulse)
