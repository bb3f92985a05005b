"""Compile the rules and the artificial players to machine code with mypyc: `./run compile`.

The compiled modules give the same results, byte for byte, in about half the time. Nothing requires them. They are in the folder .compiled
beside `run`, each next to a copy of its source, because the content hash of the rules reads the source. While the sources are unchanged,
`run` puts this folder first on the path of workers, simulations and analyses.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / ".compiled"
STAMP = "stamp"  # the file with the checksum of the sources, as `run` computes it
PACKAGES = ("games", "players")
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
ELSEWHERE = ("test_a_game_adds_to_what_an_event_changes",)  # compiled functions have no docstrings
ABOUT = (
    "Compile the rules and the artificial players with mypyc, check them with the laws of the games and with recorded matches, and let "
    "later commands use them. This takes a few minutes of one core and 1.5 GB of memory. It needs a C compiler and the headers of Python."
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
    built = Path(tempfile.mkdtemp(prefix=".compiling-", dir=ROOT))
    try:
        stamp = checksum()
        copy(built)
        if not compiled(built):
            print("mypyc could not compile the rules; its output is above. Everything runs as plain Python.", file=sys.stderr)
            return 1
        if not options.unchecked and not checked(built):
            print("The compiled rules do not pass the checks; the output is above. They are not used.", file=sys.stderr)
            return 1
        (built / STAMP).write_text(stamp)
        put(built)
    finally:
        shutil.rmtree(built, ignore_errors=True)
    print(f"{len(list(sources(TARGET)))} modules are compiled. Restart the service to use them.")
    return 0


def checksum() -> str:
    """Return the checksum of the sources. `run` computes it and compares it at every start."""
    return subprocess.run([str(ROOT / "run"), "checksum"], check=True, capture_output=True, text=True).stdout.strip()


def copy(built: Path) -> None:
    """Copy the packages to a folder."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, built / package, ignore=shutil.ignore_patterns("__pycache__"))


def sources(folder: Path) -> Iterator[Path]:
    """Yield the modules to compile, in order. Pinned rules stay plain, because few matches use them."""
    for package in PACKAGES:
        for path in sorted((folder / package).rglob("*.py")):
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
    """Run the laws of the games, the recorded matches and the tests of the players on the compiled modules. Return True if all pass."""
    prove = "import games.kernel, games.war.data; assert games.kernel.__file__.endswith('.so') or games.kernel.__file__.endswith('.pyd')"
    path = {"PYTHONPATH": f"{built}{os.pathsep}{ROOT}"}
    if not run([sys.executable, "-c", prove], ROOT, path):
        return False
    chosen = " and ".join(f"not {name}" for name in ELSEWHERE)
    return run([sys.executable, "-m", "pytest", "-q", "-o", f"pythonpath={built}", "-k", chosen, *TESTS], ROOT, path)


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
