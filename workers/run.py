"""Run one worker process with its sweep: `./run worker --queues advance,think`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence

from events.due import QUICK, SLOW, queue_list
from events.lifeline import collect_rarely, give_way
from events.platform import Platform, Settings
from events.timing.pulse import WORKER
from games.kernel import Game
from workers import daily, jobs, rater, sequencer
from workers.brake import is_ending
from workers.holding import Holding
from workers.listening import Life, add_option
from workers.queues import listen
from workers.starting import GIVES_WAY, SEARCHES_GIVE_WAY, started
from workers.sweep import Sweep, sweep

NICER = 5  # the niceness of a worker for slow work


def main(arguments: Sequence[str] | None = None, settings: Settings | None = None, games: Mapping[str, Game] | None = None) -> int:
    """Work until SIGTERM or SIGINT. Return the exit status."""
    parser = argparse.ArgumentParser(prog="./run worker", description="Run one worker until SIGTERM or SIGINT.")
    parser.add_argument(
        "--queues", type=queue_list, default=QUICK, metavar="LIST", help=f"which queues to take, by priority ({','.join(QUICK)})"
    )
    add_option(parser)
    options = parser.parse_args(arguments)
    platform, life = started(options.listen, settings, games)
    work(platform, options.queues, life)
    platform.close()
    return 0


def work(platform: Platform, kinds: Sequence[str] = QUICK, life: Life | None = None) -> None:
    """Carry out jobs of these kinds until a signal comes. A worker for slow work leaves the processor to quick work."""
    is_slow = set(kinds) <= set(SLOW)
    if is_slow:
        os.nice(NICER)
    give_way(SEARCHES_GIVE_WAY if is_slow else GIVES_WAY)
    collect_rarely()
    holding = Holding()
    holding.start()
    jobs.bind(platform, kinds, quiet=0.0 if is_slow else jobs.QUIET, hold=holding.hold)
    platform.pulse.start(WORKER)
    platform.pulse.take_part()
    sweep(platform)
    sweeper = Sweep(platform)
    sweeper.start()
    growing = [*sequencer.begin(platform), rater.begin(platform), daily.begin(platform)]
    try:
        listen(platform.jobs, kinds, life or Life())
    finally:
        if not is_ending():  # RQ ends at a key that it cannot read; the next worker can go on
            platform.jobs.mend()
    holding.stop()
    for thread in (sweeper, *growing):
        thread.stop()
    holding.join(5)
    sweeper.join(5)
    for thread in growing:
        thread.join(0.2)  # it can be ended at any point (events/notary/sequencing.py)


if __name__ == "__main__":
    sys.exit(main())
