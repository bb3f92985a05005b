"""A worker that stops at one place, to be killed there: `python -m tests.workers.halting before|after`.

The place is before the append of a step, or right after it. There it leaves a file, named for the place and the process, in $TOY_FOLDER.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from events.platform import open_platform
from events.store.log import Appended, Changes, Claim, Conflict, Known, RedisLog
from games import GAMES
from tests.workers.toy import TOYS
from workers.run import work

_place = ""


class HaltingLog(RedisLog):
    """The log, but its worker stops at one place."""

    def append(
        self, match: str, expected: int, entries: Sequence[bytes], changes: Changes, claim: Claim | None = None, digest: str = ""
    ) -> Appended | Conflict | Known:
        """Append, unless the worker stops before."""
        _halt("before")
        answer = super().append(match, expected, entries, changes, claim, digest)
        _halt("after")
        return answer


def _halt(place: str) -> None:
    if place == _place:
        (Path(os.environ["TOY_FOLDER"]) / f"{place}-{os.getpid()}").touch()
        while True:
            signal.pause()


def main(arguments: Sequence[str]) -> int:
    """Work until the process is killed at the place that the argument names."""
    global _place
    (_place,) = arguments
    platform = open_platform(games={**GAMES, **TOYS})
    platform.store.log = HaltingLog(platform.store.client, platform.store.keys)
    work(platform)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
