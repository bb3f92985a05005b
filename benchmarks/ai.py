"""Measure the search of the artificial players: iterations per second, the gain of branches and compiled rules, and OpenSpiel's search.

Each side is a process of its own. They are asked in turn, so that a noisy machine disturbs them alike. OpenSpiel is installed in a folder
of its own, for this measurement only. Without OpenSpiel or compiled rules, only the other figures are measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.pairs import Figure, figure, ratios
from benchmarks.place import Run
from games import GAMES

ROOT = Path(__file__).resolve().parent.parent
COMPILED = ROOT / ".compiled"
PINNED = ROOT / "requirements-openspiel.txt"
OPENSPIEL = Path(sys.prefix) / "openspiel"
SEARCHES = {"expert": "the level expert", "copies": "expert on whole copies", "textbook": "textbook search to the end"}


class Side:
    """A process that measures on request."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def measure(self, line: str) -> float:
        """Return the answer to a line. Raises ValueError if the process has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())


def measured(run: Run) -> list[Figure]:
    """Return the figures of every game."""
    with ExitStack() as sides:
        plain = sides.enter_context(side("benchmarks.searches", [ROOT]))
        compiled = sides.enter_context(side("benchmarks.searches", [COMPILED, ROOT])) if is_compiled() else None
        peer = sides.enter_context(side("benchmarks.openspiel", [OPENSPIEL, ROOT])) if has_openspiel() else None
        asked = [(search, game) for game in GAMES for search in SEARCHES]
        ours: dict[tuple[str, str], list[float]] = {key: [] for key in asked}
        quick: dict[tuple[str, str], list[float]] = {key: [] for key in asked if key[0] != "copies"}
        theirs: list[float] = []
        for _ in range(run.pairs):
            for search, game in asked:
                line = f"{search} {game} {run.seconds}"
                ours[search, game].append(plain.measure(line))
                if compiled is not None and search != "copies":
                    quick[search, game].append(compiled.measure(line))
            if peer is not None:
                theirs.append(peer.measure(str(run.seconds)))
    figures = [figure(f"{game}: {SEARCHES[search]}", ours[search, game], "iterations/s") for search, game in asked]
    compared: list[tuple[str, list[float], list[float]]] = []
    for game in GAMES:
        compared.append((f"{game}: expert on branches / on whole copies", ours["expert", game], ours["copies", game]))
        if compiled is not None:
            compared.append((f"{game}: {SEARCHES['expert']}, compiled / not", quick["expert", game], ours["expert", game]))
            compared.append((f"{game}: {SEARCHES['textbook']}, compiled / not", quick["textbook", game], ours["textbook", game]))
        if peer is not None:
            compared.append((f"{game}: {SEARCHES['textbook']} / OpenSpiel's of gin rummy", ours["textbook", game], theirs))
            if compiled is not None:
                compared.append((f"{game}: the same, compiled", quick["textbook", game], theirs))
    figures += [figure(name, ratios(above, below), "ratio") for name, above, below in compared]
    if peer is not None:
        figures.append(figure(f"gin rummy: OpenSpiel's {SEARCHES['textbook']}", theirs, "iterations/s"))
    return figures


@contextmanager
def side(module: str, path: list[Path]) -> Iterator[Side]:
    """Start a process that measures, with its own import path, and end it after the block."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    command = [sys.executable, "-m", module]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        if process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{module} did not start")
        yield Side(process)
    finally:
        process.kill()
        process.wait()


def is_compiled() -> bool:
    """Return True if the present rules are compiled. Otherwise print a note."""
    stamp = COMPILED / "stamp"
    now = subprocess.run([str(ROOT / "run"), "checksum"], check=True, capture_output=True, text=True).stdout
    if stamp.exists() and stamp.read_text().strip() == now.strip():
        return True
    print("The rules are not compiled (./run compile), so only plain Python is measured.", file=sys.stderr)
    return False


def has_openspiel() -> bool:
    """Return True if OpenSpiel is here, after installing it if necessary. Otherwise print a note."""
    stamp = OPENSPIEL / "stamp"
    if not stamp.exists() or stamp.read_text() != PINNED.read_text():
        print("installing OpenSpiel …", file=sys.stderr, flush=True)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--require-hashes"]
        if subprocess.run([*pip, "--target", str(OPENSPIEL), "-r", str(PINNED)], stderr=subprocess.PIPE).returncode == 0:
            stamp.write_text(PINNED.read_text())
    starts = [sys.executable, "-c", "import benchmarks.openspiel"]
    environment = {**os.environ, "PYTHONPATH": f"{OPENSPIEL}{os.pathsep}{ROOT}"}
    if stamp.exists() and subprocess.run(starts, env=environment, stderr=subprocess.PIPE).returncode == 0:
        return True
    print("OpenSpiel cannot be installed here, so our search is measured alone.", file=sys.stderr)
    return False
