"""Pin the present rules of a game, so that running matches can keep them after a change: `./run pin GAME`.

`--needed` lists the revisions that the matches of the store need. Other pinned revisions can be removed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from events.revisions import Need, needs
from games import GAMES
from games.kernel import Game
from games.pinned import FOLDER, LIST, folder_of, moved, moved_back
from record.rules import content_hash
from tools.platform import Unable, add_data_option, opened

_CHECK = "import games, record.rules; print(record.rules.content_hash(games.GAMES[{game!r}].earlier[{revision}]))"


class CannotPin(Exception):
    """The rules cannot be pinned. The text says why, in a sentence."""


def pin(game: Game) -> Path:
    """Copy the folder of a game as its revision, and return the new folder. Raises CannotPin.

    The copy imports from itself. It has the content hash of the original.
    """
    folder = folder_of(game.id, game.revision)
    if folder.exists():
        raise CannotPin(f"Revision {game.revision} of {game.id} is pinned already, in {folder.relative_to(FOLDER.parents[1])}.")
    copied = {}
    for file in files_of(game.folder):
        content = file.read_bytes()
        if file.suffix == ".py":
            code = content
            content = moved(game.id, game.revision, code)
            if moved_back(game.id, game.revision, content) != code:
                raise CannotPin(f"{file.name} names a pinned package itself.")
        name = file.relative_to(game.folder).as_posix()
        copied[name] = sha256(content).hexdigest()
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    (folder / LIST).write_text(json.dumps(copied, indent=1) + "\n", encoding="utf-8")
    package = folder.parent / "__init__.py"
    if not package.exists():
        package.write_text(f'"""Earlier revisions of the rules of {game.title}"""\n', encoding="utf-8")
    check = _CHECK.format(game=game.id, revision=game.revision)
    done = subprocess.run([sys.executable, "-c", check], cwd=FOLDER.parents[1], capture_output=True, text=True, check=False)
    if done.stdout.strip() != content_hash(game):
        shutil.rmtree(folder)
        raise CannotPin(f"The copy is not the same rules, and was removed: {done.stderr.strip() or done.stdout.strip()}")
    return folder


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files of a game that belong to a revision: all except Python's caches and the list of copied files."""
    for file in sorted(folder.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts and file.name != LIST:
            yield file


def described(need: Need) -> str:
    """Return a line of text about a revision that matches need or that is pinned."""
    matches = f"{need.running} running and {need.over} finished matches need it" if need.matches else "no match needs it"
    if need.where == "missing":
        return f"{need.game} revision {need.revision}: MISSING, and {matches}"
    if need.where == "pinned" and not need.matches:
        return f"{need.game} revision {need.revision}: pinned, and {matches}; games/pinned/{need.game}/r{need.revision} can be removed"
    return f"{need.game} revision {need.revision}: {need.where}; {matches}"


def main(arguments: list[str] | None = None) -> int:
    """Pin the rules of a game, or list the needed revisions. Return 1 if this fails, or if needed rules are missing."""
    parser = argparse.ArgumentParser(prog="./run pin", description="Keep a copy of the present rules of a game before you change them.")
    parser.add_argument("game", nargs="?", choices=sorted(GAMES), metavar="GAME", help=", ".join(sorted(GAMES)))
    parser.add_argument("--needed", action="store_true", help="list the revisions that the matches of the store need")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    if (options.game is None) != options.needed:
        parser.error("name a game to pin, or use --needed")
    try:
        if options.needed:
            with opened(options.data) as platform:
                found = needs(platform)
            print("\n".join(map(described, found)))
            return 1 if any(need.where == "missing" for need in found) else 0
        game = GAMES[options.game]
        folder = pin(game)
    except (CannotPin, Unable) as reason:
        print(reason, file=sys.stderr)
        return 1
    print(f"Revision {game.revision} of {game.id} is pinned in {folder.relative_to(FOLDER.parents[1])}.")
    print(f"Now change the rules, and set revision={game.revision + 1} in games/{game.id}/__init__.py.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
