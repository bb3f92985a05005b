"""The real worker with the test game: `python -m tests.workers.toy`, with the arguments of `python -m workers.run`.

In the game `slow` a thinking seat creates the files `thinking` and `thinking-<pid>` in $TOY_FOLDER. It goes on when there is a file `go`.
A step may take as many seconds as the file `seconds` says.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from events.due import KINDS, THINK
from events.platform import settings_from_environment
from games.chance import Chance
from games.kernel import Memory, State
from tests.tally import TALLY
from tests.tally import guess as fast_guess
from workers.run import main


def guess(seen: State, viewer: str, chance: Chance, memory: Memory | None = None) -> State:
    """Guess once the test lets the seat go on."""
    folder = Path(os.environ["TOY_FOLDER"])
    (folder / "thinking").touch()
    (folder / f"thinking-{os.getpid()}").touch()
    while not (folder / "go").exists():
        time.sleep(0.005)
    return fast_guess(seen, viewer, chance)


SLOW = TALLY._replace(id="slow", begin=lambda seats, options: {**TALLY.begin(seats, options), "game": "slow"}, guess=guess)
TOYS = {"tally": TALLY, "slow": SLOW}

if __name__ == "__main__":
    if (file := Path(os.environ["TOY_FOLDER"]) / "seconds").exists():
        KINDS[THINK] = KINDS[THINK]._replace(seconds=int(file.read_text()))  # type: ignore[index]
    sys.exit(main(settings=settings_from_environment(), games=TOYS))
