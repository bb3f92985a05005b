"""A worker whose wall clock is wrong: `python -m tests.workers.skewed MS [--queues LIST]`, with the games of tests.workers.toy.

A second after it began the wall clock jumps back to the right time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from events.due import KINDS, queue_list
from events.platform import open_platform
from events.timing.clock import Clock, wall_time
from tests.workers.toy import TOYS
from workers.run import work


def main(arguments: Sequence[str]) -> int:
    """Work until a signal ends it."""
    off, jumps = int(arguments[0]), time.monotonic() + 1.0
    kinds = queue_list(arguments[2]) if len(arguments) > 1 else tuple(KINDS)
    work(open_platform(games=TOYS, clock=Clock(wall=lambda: wall_time() + (off if time.monotonic() < jumps else 0))), kinds)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
