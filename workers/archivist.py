"""Move finished matches to the archive, in a process of its own: `./run archivist`. No other process has the right to (ADR 118).

A round looks at some hundred finished matches and moves a few of them. Then the process rests for as long as the round took: it uses half
of a core at most, and gives way to everything else.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence

import structlog

from events.archive.archivist import Archivist
from events.errors import ArchiveTaken, ArchiveUnavailable, StoreRefused, StoreUnavailable
from events.keeping import embedded
from events.lifeline import give_way
from events.platform import Settings, settings_from_environment
from games.kernel import Game
from workers.listening import Life, add_option
from workers.starting import SEARCHES_GIVE_WAY, started

EVERY = 60.0  # seconds until the matches are looked at again, once all have been
LEAST = 0.05
NICER = 10
FEW = 8  # positions in memory: the process wants each match once
_LONGEST = 600.0  # seconds of a round

log = structlog.get_logger(__name__)


def archive(archivist: Archivist, stop: threading.Event, life: Life) -> None:
    """Archive until `stop` is set. After an error, try again in the next round."""
    pause = LEAST
    while not stop.wait(pause):
        life.promise(_LONGEST)
        pause, began = EVERY, time.monotonic()
        try:
            if archivist.round().more:
                pause = max(LEAST, time.monotonic() - began)
        except ArchiveTaken as reason:
            log.error("archive_taken", reason=reason.reason)
        except ArchiveUnavailable as reason:
            log.warning("archive_away", reason=reason.reason)
        except StoreRefused as reason:
            log.error("archive_forbidden", reason=reason.reason)
        except StoreUnavailable:
            pause = 1.0
        except Exception as reason:  # noqa: BLE001 - it is logged; the process would be started again and meet it again
            log.error("nothing_archived", error=type(reason).__name__)
        life.promise(pause + _LONGEST)


def main(arguments: Sequence[str] | None = None, settings: Settings | None = None, games: Mapping[str, Game] | None = None) -> int:
    """Archive until the process is killed. Return 2 if the archive belongs to another store."""
    parser = argparse.ArgumentParser(prog="./run archivist", description="Move finished matches to the archive.")
    add_option(parser)
    options = parser.parse_args(arguments)
    settings = settings or settings_from_environment()
    settings = settings._replace(cached=FEW, store_url=settings.store_url and embedded.as_archivist(settings.store_url, settings.data))
    platform, life = started(options.listen, settings, games)
    os.nice(NICER)
    give_way(SEARCHES_GIVE_WAY)
    try:
        platform.archive.check()
    except ArchiveTaken as reason:
        log.error("archive_taken", reason=reason.reason)
        return 2
    except StoreUnavailable:
        pass  # so is the archive if it is away; it is asked again
    archive(Archivist(platform), threading.Event(), life)
    return 0


if __name__ == "__main__":
    sys.exit(main())
