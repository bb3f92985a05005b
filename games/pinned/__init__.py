"""Earlier revisions of the rules: `games/pinned/<game>/r<revision>/` is the folder of the game as it was at that revision.

A match is decided, shown and drawn for its whole life under the revision that it began with. `./run pin` makes these folders before a rule
changes. Nobody edits one afterwards, and it goes when no match of its revision is left (docs/decisions/0062).
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from pathlib import Path

from games.kernel import Game

FOLDER = Path(__file__).parent
LIST = "pinned.json"  # beside the copied files: the SHA-256 of each as it was copied


def folder_of(game: str, revision: int) -> Path:
    """Return the folder in which a revision of a game is pinned, or would be."""
    return FOLDER / game / f"r{revision}"


def package_of(game: str, revision: int) -> str:
    """Return the package of a pinned revision, as imports in a checkout name it."""
    return f"games.pinned.{game}.r{revision}"


def moved(game: str, revision: int, code: bytes) -> bytes:
    """Return the code of a game as its pinned copy has it: with imports from the copy."""
    return re.sub(rb"\bgames\.%b\b(?=[. ])" % game.encode(), package_of(game, revision).encode(), code)


def moved_back(game: str, revision: int, code: bytes) -> bytes:
    """Return the code of a pinned copy as it was before. Other code is unchanged."""
    return code.replace(package_of(game, revision).encode(), f"games.{game}".encode())


def earlier(game: str) -> Mapping[int, Game]:
    """Return the pinned revisions of a game."""
    numbers = sorted(int(folder.name[1:]) for folder in (FOLDER / game).glob("r*") if folder.name[1:].isdecimal())
    return {number: importlib.import_module(f"{__name__}.{game}.r{number}").GAME for number in numbers}
