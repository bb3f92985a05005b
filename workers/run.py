"""One worker process with its sweep: `python -m workers.run --queues advance,think`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

from events import exposition, logs
from events.due import KINDS, queue_list
from events.platform import Platform, Settings, open_platform
from events.pulse import WORKER
from games.kernel import Game
from workers import jobs
from workers.queues import worker
from workers.sweep import Sweep, sweep


def main(arguments: Sequence[str] | None = None, settings: Settings | None = None, games: Mapping[str, Game] | None = None) -> int:
    """Work until SIGTERM or SIGINT. Return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m workers.run", description="Run one worker until SIGTERM or SIGINT.")
    parser.add_argument(
        "--queues", type=queue_list, default=tuple(KINDS), metavar="LIST", help=f"which queues to take, by priority ({','.join(KINDS)})"
    )
    kinds = parser.parse_args(arguments).queues
    logs.configure("stderr")
    exposition.publish_always()
    platform = open_platform(settings, games)
    work(platform, kinds)
    platform.close()
    return 0


def work(platform: Platform, kinds: Sequence[str] = tuple(KINDS)) -> None:
    """Carry out jobs of these kinds until a signal ends it."""
    jobs.bind(platform, kinds)
    platform.pulse.start(WORKER)
    platform.pulse.take_part()
    sweep(platform)
    beside = Sweep(platform)
    beside.start()
    worker(platform.jobs.url, kinds).work(logging_level="WARNING")
    beside.stop()
    beside.join(5)


if __name__ == "__main__":
    sys.exit(main())
