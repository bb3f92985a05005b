"""The real worker with test games: `python -m tests.workers.toy`, with the arguments of `python -m workers.run`.

In the games `slow` and War of the Worlds a seat that thinks creates the files `thinking` and `thinking-<pid>` in $TOY_FOLDER, at each
guess. It goes on when there is a file `go`, after as many seconds as that file says. A step of the kind `think` may take as many seconds as
the file `seconds` says. `allowance`, in JSON, is what the level `strong` has instead of its own.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from events.due import KINDS, THINK
from events.platform import settings_from_environment
from games import GAMES
from games.chance import Chance
from games.kernel import Game, Memory, State
from record.allowances import ALLOWANCES, Allowance
from tests.tally import TALLY
from workers import run


def slowly(game: Game) -> Game:
    """Return a game that guesses once the test lets it."""

    def guess(seen: State, viewer: str, chance: Chance, memory: Memory | None = None) -> State:
        folder = Path(os.environ["TOY_FOLDER"])
        (folder / "thinking").touch()
        (folder / f"thinking-{os.getpid()}").touch()
        while not (folder / "go").exists():
            time.sleep(0.005)
        time.sleep(float((folder / "go").read_text() or 0))
        return game.guess(seen, viewer, chance, memory)

    return game._replace(guess=guess)


SLOW = slowly(TALLY._replace(id="slow", begin=lambda seats, options: {**TALLY.begin(seats, options), "game": "slow"}))
TOYS = {"tally": TALLY, "slow": SLOW, "war_of_the_worlds": slowly(GAMES["war_of_the_worlds"])}


def main(arguments: Sequence[str]) -> int:
    """Work until a signal ends it."""
    if (file := Path(os.environ["TOY_FOLDER"]) / "seconds").exists():
        KINDS[THINK] = KINDS[THINK]._replace(seconds=int(file.read_text()))  # type: ignore[index]
    if (file := Path(os.environ["TOY_FOLDER"]) / "allowance").exists():
        ALLOWANCES["strong"] = Allowance(*json.loads(file.read_text()))  # type: ignore[index]
    return run.main(arguments, settings_from_environment(), TOYS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
