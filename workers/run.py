"""One worker process with its sweep: `python -m workers.run`."""

from __future__ import annotations

import logging
import secrets
import sys
from collections.abc import Mapping

import structlog

from events.platform import Platform, Settings, open_platform
from games.kernel import Game
from workers import jobs
from workers.queues import worker
from workers.sweep import Sweep, sweep


def main(settings: Settings | None = None, games: Mapping[str, Game] | None = None) -> int:
    """Work until told to stop by SIGTERM or SIGINT; the exit status."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    platform = open_platform(settings, games)
    work(platform)
    platform.close()
    return 0


def work(platform: Platform) -> None:
    """Carry out jobs for a platform until a signal ends it."""
    jobs.at(platform)
    sweep(platform, anew=f"-{secrets.token_hex(4)}")  # this worker may stand in for one that died over a step it had asked for
    beside = Sweep(platform)
    beside.start()
    worker(platform.jobs.url).work(logging_level="WARNING")
    beside.stop()
    beside.join(5)


if __name__ == "__main__":
    sys.exit(main())
