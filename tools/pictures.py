"""Draw every game at three moments, light and dark, wide and tall: `./run pictures [--to DIR] [--png] [--pages [NAME]] [--language CODE]`.

The SVG files need no browser. `--png` also makes images of them, and `--pages` makes images of every page; both need a Chromium
(tools/browsers.py). `--covers` draws the covers in the lobby, and their images for links in chats.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from games import GAMES
from games.chance import Drawn
from games.kernel import SPECTATOR, SYSTEM, Event, Game, Memory, State, carry_out, legal, remembered
from games.picture import THEMES
from players import choose
from tools.browsers import NAMES, chromium
from web.languages import ENGLISH, LANGUAGES
from web.picture import BOARD, SHAPES, svg

LONGEST = 100_000  # actions of a match
NAMED = re.compile(r"<text[^>]*>[^<]*[^\W\d_]{2}[^<]*</text>")
COVERS = Path(__file__).resolve().parent.parent / "web" / "static"


class Moment(NamedTuple):
    """A moment of a match: its name, the document, and the events of the last entry."""

    name: str
    state: State
    events: list[Event]


def main(arguments: list[str] | None = None) -> int:
    """Write the pictures and print their sizes. Return 2 if there is no Chromium for images."""
    parser = argparse.ArgumentParser(prog="./run pictures", description="Draw every game at three moments, light and dark, wide and tall.")
    parser.add_argument(
        "--to", type=Path, default=Path("build/pictures"), metavar="DIR", help="the folder of the pictures (default: build/pictures)"
    )
    parser.add_argument("--game", choices=list(GAMES), help="one game (default: all)")
    parser.add_argument("--seats", type=int, metavar="N", help="the number of seats (default: all)")
    parser.add_argument("--seed", default="1", help="the seed of the match (default: 1)")
    parser.add_argument("--level", default="greedy", help="the level that plays it (default: greedy)")
    parser.add_argument("--png", action="store_true", help="make images too, with a Chromium")
    parser.add_argument(
        "--pages",
        nargs="?",
        const="",
        metavar="NAME",
        help="make images of the pages, dialogs and states of a private service, with a Chromium; or of those whose name matches a pattern",
    )
    parser.add_argument(
        "--covers",
        action="store_true",
        help="draw the covers of the games, for the lobby and for links in chats, and nothing else (with a Chromium)",
    )
    parser.add_argument("--language", choices=LANGUAGES, default=ENGLISH, help="the language of the pages (default: en)")
    options = parser.parse_args(arguments)
    games = [GAMES[options.game]] if options.game else list(GAMES.values())
    wanted = options.png or options.pages is not None or options.covers
    browser = chromium(fetch=True) if wanted else None
    if wanted and browser is None:
        print(f"No Chromium was found. Install {' or '.join(NAMES)}, or name one in CHROMIUM.", file=sys.stderr)
        return 2
    if options.covers and browser is not None:
        from tools.photographs import photograph_cover

        for game in games:
            file = COVERS / f"{game.id}.svg"
            file.write_text(cover(game), encoding="utf-8")
            photograph_cover(browser, file)
        return 0
    options.to.mkdir(parents=True, exist_ok=True)
    if options.pages is not None and browser is not None:
        from tools.photographs import photograph_pages

        photograph_pages(browser, games, options.to, options.pages, options.language)
        return 0
    drawn: list[Path] = []
    for game in games:
        for moment in moments(game, list(game.seats.ids[: options.seats or game.seats.most]), options.seed, options.level):
            for path, text in pictures(game, moment):
                (options.to / path).write_text(text, encoding="utf-8")
                print(f"{path}   {len(text)} bytes, {len(gzip.compress(text.encode()))} compressed")
                drawn.append(options.to / path)
    if options.png and browser is not None:
        from tools.photographs import photograph_drawings

        photograph_drawings(browser, drawn)
    return 0


def moments(game: Game, seats: list[str], seed: str, level: str) -> list[Moment]:
    """Play a match and return three moments: after the set-up, the most crowded one in the middle, and the end."""
    steps = list(play(game, seats, seed, level))
    set_up = next(step for step in steps if step.state["phase"] != "setup" and step.events)
    middle = steps[len(steps) // 3 : -1] or steps
    crowded = max(middle, key=lambda step: (len(game.scene(game.view(step.state, SPECTATOR)).pieces), fights(step)))
    return [set_up._replace(name="set-up"), crowded._replace(name="middle"), steps[-1]._replace(name="end")]


def cover(game: Game) -> str:
    """Return the cover of a game: the board in the crowded middle of a match, without words, as one image is for all languages."""
    moment = next(moment for moment in moments(game, list(game.seats.ids), "1", "random") if moment.name == "middle")
    return NAMED.sub("", svg(game, game.view(moment.state, SPECTATOR), (), BOARD))


def fights(step: Moment) -> int:
    """Return how many events of a step are rolls or fights. Pictures should show some."""
    return sum(["rolled" in event["type"] or "attack" in event["type"] for event in step.events])


def play(game: Game, seats: list[str], seed: str, level: str) -> Iterator[Moment]:
    """Yield a match step by step. The dice and the choices follow from the seed alone."""
    dice, minds = Drawn(random.Random(f"{seed}/dice").randrange), Drawn(random.Random(f"{seed}/players").randrange)
    state = game.begin(seats, {})
    memory: Memory = {}
    yield Moment("", state, [])
    for _ in range(LONGEST):
        if not state["to_act"]:
            return
        actor = state["to_act"][0]
        action = legal(game, state, actor)[0]["action"] if actor == SYSTEM else choose(game, level, state, actor, minds, memory)
        match = carry_out(game, state, actor, action, dice)
        memory = remembered(game, memory, match.events)
        state = match.state
        yield Moment("", state, match.events)


def pictures(game: Game, moment: Moment) -> Iterator[tuple[str, str]]:
    """Yield the file name and the text of each picture of a moment, as a spectator sees it."""
    view, events = game.view(moment.state, SPECTATOR), [game.shown(event, SPECTATOR) for event in moment.events]
    for shape in SHAPES:
        for theme in THEMES:
            yield f"{game.id}-{moment.name}-{shape}-{theme}.svg", svg(game, view, events, shape, theme)


if __name__ == "__main__":
    sys.exit(main())
