"""Counts of positions and whole playthroughs, recorded as data: `python -m tests.games.recording GAME` writes them anew.

They change only when the rules of play change; the game's rules revision then rises.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from games import GAMES
from games.choices import combinations
from games.kernel import Game, State, carry_out, legal
from tests.games.matches import HERE, Start, chance, same, walk


def tally(game: Game, state: State, depth: int) -> int:
    """How many rows of `depth` actions lead on from a position, every open choice spread out; draws are those of the seed `perft`."""
    if depth == 0:
        return 1
    total = 0
    for actor in state["to_act"]:
        for choice in legal(game, state, actor):
            for action in combinations(choice):
                total += 1 if depth == 1 else tally(game, carry_out(game, state, actor, action, chance("perft")).state, depth - 1)
    return total


def positions(game: Game) -> Iterator[tuple[str, State, list[int]]]:
    """The positions whose rows are counted: the name, the document, and the counts by depth."""
    listed = yaml.safe_load((HERE / game.id / "counts.yaml").read_text(encoding="utf-8"))
    for row in listed:
        steps = walk(Start(game, row["seats"], row["options"], row["seed"]))
        yield f"{len(row['seats'])} seats, seed {row['seed']}, action {row['action']}", _before(steps, row["action"]), row["counts"]


def _before(steps: Iterator[Any], number: int) -> State:
    return next(step.before for step in steps if step.number == number)


def digest(value: Any) -> str:
    """Sixteen hex digits that stand for a JSON value."""
    return hashlib.sha256(same(value).encode()).hexdigest()[:16]


def told(start: Start) -> Iterator[str]:
    """A playthrough as lines: what it begins with, each action with a digest of its events, and the document at its end."""
    yield json.dumps({"seats": start.seats, "options": start.options, "seed": start.seed})
    for step in walk(start):
        yield json.dumps([step.actor, step.action, digest(step.events)])
    yield json.dumps(step.after)


def playthroughs(game: Game) -> list[Path]:
    """The files of a game's recorded playthroughs."""
    return sorted((HERE / game.id / "playthroughs").glob("*.ndjson"))


def main() -> None:
    """Record the counts and the playthroughs of a game anew, at the same starts."""
    game = GAMES[sys.argv[1]]
    path = HERE / game.id / "counts.yaml"
    rows = yaml.safe_load(path.read_text(encoding="utf-8"))
    for row, (_, state, counts) in zip(rows, positions(game), strict=True):
        row["counts"] = [tally(game, state, depth) for depth in range(1, len(counts) + 1)]
    path.write_text("".join(f"- {json.dumps(row)}\n" for row in rows), encoding="utf-8")
    for path in playthroughs(game):
        start = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
        path.write_text("".join(f"{line}\n" for line in told(Start(game, **start))), encoding="utf-8")


if __name__ == "__main__":
    main()
