"""A worker whose wall clock is wrong: `python -m tests.workers.skewed MS [--queues LIST]`, with the games of tests.workers.toy.

A second after it began the wall clock jumps back to the right time.
"""

from __future__ import annotations

import sys
import time

from events.due import KINDS, queue_list
from events.platform import open_platform
from events.timing.clock import Clock, wall_time
from tests.workers.toy import TOYS
from workers.run import work

if __name__ == "__main__":
    off, jumps = int(sys.argv[1]), time.monotonic() + 1.0
    kinds = queue_list(sys.argv[3]) if len(sys.argv) > 2 else tuple(KINDS)
    work(open_platform(games=TOYS, clock=Clock(wall=lambda: wall_time() + (off if time.monotonic() < jumps else 0))), kinds)
