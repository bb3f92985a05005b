"""A worker as it is run for real, with the test game in its platform: `python -m tests.workers.toy`.

In the game `slow` a thinking seat leaves the file `thinking` in $TOY_FOLDER and goes on only when `go` lies there.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from events.platform import settings_from
from games.chance import Chance
from games.kernel import Memory, State
from tests.tally import TALLY
from tests.tally import guess as fast_guess
from workers.run import main


def guess(seen: State, viewer: str, chance: Chance, memory: Memory | None = None) -> State:
    """Guess slowly."""
    folder = Path(os.environ["TOY_FOLDER"])
    (folder / "thinking").touch()
    while not (folder / "go").exists():
        time.sleep(0.005)
    return fast_guess(seen, viewer, chance)


SLOW = TALLY._replace(id="slow", begin=lambda seats, options: {**TALLY.begin(seats, options), "game": "slow"}, guess=guess)
TOYS = {"tally": TALLY, "slow": SLOW}

if __name__ == "__main__":
    sys.exit(main(settings_from(), TOYS))
