"""What each process of workers does first: configure logs and metrics, show that it lives, and wait for the store."""

from __future__ import annotations

import time
from collections.abc import Mapping

from events.errors import StoreUnavailable
from events.platform import Platform, Settings, open_platform
from events.store import Store, WrongStore
from events.telemetry import exposition, logs
from games.kernel import Game
from workers.listening import Life, listen

GIVES_WAY = 400  # when memory is short; the web gives way less, and the store does not
SEARCHES_GIVE_WAY = 800  # sooner than others
PAUSE = 0.1  # seconds between two tries to reach the store


def started(where: tuple[str, int] | None, settings: Settings | None, games: Mapping[str, Game] | None) -> tuple[Platform, Life]:
    """Return the platform once the store answers. `where`: the host and the port of `--listen`. Raises WrongStore, OSError."""
    logs.configure("stderr")
    exposition.publish_always()
    life = Life()
    if where is not None:
        listen(where, life)
    platform = open_platform(settings, games, patient=True)
    _wait_for(platform.store, life)
    return platform, life


def _wait_for(store: Store, life: Life) -> None:
    """Wait until the store answers, since starting anew would take longer. Raises WrongStore."""
    while True:
        life.promise(PAUSE)
        try:
            return store.check()
        except WrongStore:
            raise
        except StoreUnavailable:
            time.sleep(PAUSE)
