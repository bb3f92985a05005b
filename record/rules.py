"""The content hash of the rules: it says which files decided an entry.

The hash of a game is the first half of a SHA-256, 32 hex digits, over the canonical JSON of `{path: SHA-256 of the file}`. The files are
the game's RULES.md, data.json and Python modules, the modules that all games share, and the rules of the table. Modules that only draw
pictures do not count. Pinning does not change a hash: the files of a pinned revision count under their paths in the folder of the game.
docs/auditing.md describes the hash for other languages.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

from games.kernel import Game
from games.pinned import FOLDER as PINNED
from games.pinned import moved_back
from record.entries import canonical
from table.data import FOLDER as TABLE

_TEXTS = ("RULES.md", "data.json")
_PICTURES = ("picture.py", "scene.py")  # they do not decide anything
_PREFIX = __name__.removesuffix("record.rules")  # of the names of modules in a wheel


def content_hash(game: Game) -> str:
    """Return the content hash of a game's rules in this installation: 32 hex digits.

    >>> from games import GAMES
    >>> len(content_hash(GAMES["war"]))
    32
    >>> content_hash(GAMES["war"]) == content_hash(GAMES["war_of_the_worlds"])
    False
    """
    return _content_hash(game.folder, game.id, game.revision)


def code_of(path: Path) -> bytes:
    """Return the content of a file as a checkout has it. In a wheel, imports name the package `warledger` (ADR 97)."""
    return path.read_bytes().replace(b"from %b" % _PREFIX.encode(), b"from ")


@cache
def _content_hash(folder: Path, game: str, revision: int) -> str:
    own = {path: moved_back(game, revision, content) for path, content in _files(folder, game, "**/*.py")}
    shared = dict(_files(PINNED.parent, "games", "*.py"))
    of_the_table = dict(_files(TABLE, "table", "*.py"))
    hashes = {path: sha256(content).hexdigest() for path, content in {**own, **shared, **of_the_table}.items()}
    return sha256(canonical(hashes)).hexdigest()[:32]


def _files(folder: Path, name: str, pattern: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted([*folder.glob(pattern), *(folder / text for text in _TEXTS)]):
        if path.exists() and path.name not in _PICTURES:
            yield f"{name}/{path.relative_to(folder).as_posix()}", code_of(path)
