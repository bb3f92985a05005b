"""Compile the rules and the artificial players to machine code with mypyc: `./run compile`.

The compiled modules give the same results, byte for byte, in about half the time. Nothing requires them. They are in a folder of their own
(events/modules.py), each next to a copy of its source, because the content hash of the rules reads the source. While the sources are
unchanged, this folder is first on the path of workers, simulations and analyses.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path

from events.modules import SOURCES, STAMP, compiled_folder, compiled_package, full_name, python_environment, stamp, with_compiled
from games import GAMES
from tools.pictures import play

ROOT = Path(__file__).resolve().parent.parent
TARGET = compiled_folder()
LEFT_OUT = (
    "__init__.py",
    "invariants.py",
    "scene.py",
    "picture.py",
    "drawing.py",
    "board.py",
)  # packages, and modules that no search calls
SETTINGS = "[mypy]\npython_version = {version}\nexplicit_package_bases = True\nignore_missing_imports = True\n"
TESTS = (
    "tests/games",
    "tests/archive",
    "tests/players/test_golden.py",
    "tests/players/test_levels.py",
    "tests/record/test_rules.py",
    "tests/docs/test_adding_a_game.py",
)
PLAY = (
    "import sys; from {0}games import kernel; from {0}tools.compile import digest_of_play; "
    "assert kernel.__file__.endswith(sys.argv[1]); print(digest_of_play())"
)
ELSEWHERE = ("test_a_game_adds_to_what_an_event_changes",)  # compiled functions have no docstrings
ABOUT = (
    "Compile the rules and the artificial players with mypyc, check that they play as before, and let later commands use them. This takes "
    "a few minutes of one core and 1.5 GB of memory. It needs a C compiler and the headers of Python."
)


def main(arguments: list[str] | None = None) -> int:
    """Compile, check, and put the result in place. Return 1 and change nothing if the compiler or a check fails."""
    parser = argparse.ArgumentParser(prog="./run compile", description=ABOUT)
    parser.add_argument("--remove", action="store_true", help="remove the compiled modules, so that everything runs as plain Python again")
    parser.add_argument("--unchecked", action="store_true", help="do not run the checks; for measurements only")
    options = parser.parse_args(arguments)
    if options.remove:
        shutil.rmtree(TARGET, ignore_errors=True)
        print("The compiled modules are removed. Restart the service to run it as plain Python.")
        return 0
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    built = Path(tempfile.mkdtemp(prefix=".compiling-", dir=TARGET.parent))
    try:
        made_from = stamp()
        copy(built)
        if not compiled(built):
            print("mypyc could not compile the rules; its output is above. Everything runs as plain Python.", file=sys.stderr)
            return 1
        if not options.unchecked and not checked(built):
            print("The compiled rules do not pass the checks; the output is above. They are not used.", file=sys.stderr)
            return 1
        (built / STAMP).write_text(made_from)
        put(built)
    finally:
        shutil.rmtree(built, ignore_errors=True)
    print(f"{len(list(sources(TARGET)))} modules are compiled. Restart the service to use them.")
    return 0


def copy(built: Path) -> None:
    """Copy the packages to a folder. In a wheel they are in the package `warledger`, which finds all others where it is installed."""
    package = compiled_package(built)
    for name in SOURCES:
        shutil.copytree(ROOT / name, package / name, ignore=shutil.ignore_patterns("__pycache__"))
    if package != built:
        shutil.copy(ROOT / "__init__.py", package)


def sources(folder: Path) -> Iterator[Path]:
    """Yield the modules to compile, in order. Pinned rules stay plain, because few matches use them."""
    for name in SOURCES:
        for path in sorted((compiled_package(folder) / name).rglob("*.py")):
            if path.name not in LEFT_OUT and "pinned" not in path.relative_to(folder).parts:
                yield path


def compiled(built: Path) -> bool:
    """Compile the modules of a folder in place. Return False if that fails."""
    (built / "mypy.ini").write_text(SETTINGS.format(version=f"{sys.version_info.major}.{sys.version_info.minor}"))
    names = [str(path.relative_to(built)) for path in sources(built)]
    quickly = {"MYPYC_OPT_LEVEL": "1", "MYPYC_DEBUG_LEVEL": "0"}  # more optimization gains nothing and takes twice as long
    done = run([sys.executable, "-m", "mypyc", "--config-file", "mypy.ini", *names], built, {**quickly, "PYTHONPATH": ""})
    shutil.rmtree(built / "build", ignore_errors=True)
    shutil.rmtree(built / ".mypy_cache", ignore_errors=True)
    (built / "mypy.ini").unlink()
    return done and all(path.with_suffix(sysconfig.get_config_var("EXT_SUFFIX")).exists() for path in sources(built))


def checked(built: Path) -> bool:
    """Compare play by the compiled modules with play by plain Python. In a checkout, also run the tests of rules and players on them.

    Return True if all is the same.
    """
    path = with_compiled(python_environment(), str(built))
    played = [
        subprocess.run([sys.executable, "-c", PLAY.format(full_name("")), suffix], env=env, cwd=built, stdout=subprocess.PIPE)
        for suffix, env in ((".py", python_environment()), (sysconfig.get_config_var("EXT_SUFFIX"), path))
    ]
    if played[0].returncode or played[1].returncode or played[0].stdout != played[1].stdout:
        return False
    if not (ROOT / "tests").exists():
        return True
    chosen = " and ".join(f"not {name}" for name in ELSEWHERE)
    return run([sys.executable, "-m", "pytest", "-q", "-o", f"pythonpath={built}", "-k", chosen, *TESTS], ROOT, path)


def digest_of_play() -> str:
    """Return a digest of every position of some matches: whole ones by `greedy`, and the beginning of one by `strong`."""
    found = sha256()
    for game in GAMES.values():
        seats = list(game.seats.ids)[: game.seats.least]
        for position in chain(play(game, seats, "1", "greedy"), islice(play(game, seats, "2", "strong"), 40)):
            found.update(json.dumps([position.state, position.events], sort_keys=True).encode())
    return found.hexdigest()


def run(command: Sequence[str], folder: Path, environment: dict[str, str]) -> bool:
    """Run a command in a folder. Return True if it succeeds."""
    return subprocess.run(command, cwd=folder, env={**os.environ, **environment}).returncode == 0


def put(built: Path) -> None:
    """Put the built folder in place of the one before."""
    old = built.with_name(f"{built.name}-old")
    if TARGET.exists():
        TARGET.rename(old)
    built.rename(TARGET)
    TARGET.chmod(0o755)
    shutil.rmtree(old, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
