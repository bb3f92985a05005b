"""Golden pictures: `python -m tests.web.recording` writes them anew. Read what has changed before you commit it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from games import GAMES
from games.kernel import SPECTATOR, Game
from tools.pictures import Moment, moments
from web.picture import draw

FOLDER = Path(__file__).parent / "golden"
SEED, LEVEL = "golden", "random"


def golden() -> Iterator[tuple[Path, str]]:
    """Yield each golden file with the text that it should hold."""
    for game in GAMES.values():
        for moment in moments(game, list(game.seats.ids[: game.seats.least]), SEED, LEVEL):
            yield FOLDER / f"{game.id}-{moment.name}.txt", written(game, moment)


def written(game: Game, moment: Moment) -> str:
    """Return the fragments of a wide picture as a spectator sees it, each on a line of its own, elements below it."""
    events = [game.shown(event, SPECTATOR) for event in moment.events]
    drawing = draw(game, game.view(moment.state, SPECTATOR), events)
    return "\n".join([drawing.title, *[fragment.replace("><", ">\n <") for fragment in drawing.fragments().values()]]) + "\n"


def main() -> int:
    """Write every golden file."""
    FOLDER.mkdir(exist_ok=True)
    for path, text in golden():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
