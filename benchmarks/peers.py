"""Compare with other projects in one run: moves over the network, rebuilding from events, random play.

They are installed into .bench/peers for this alone. What cannot be had here is left out, and said.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from subprocess import PIPE
from typing import NamedTuple

from benchmarks.http import CONNECTIONS, Ready, Window, rate, window
from benchmarks.ledger import PLAYER, folded
from benchmarks.load import Load
from benchmarks.pairs import Figure, compared, figure, ratios
from benchmarks.place import Run, processor_seconds
from benchmarks.rules import branched
from benchmarks.web import played
from events.lifeline import end_with
from games import GAMES
from tools.node import binary
from tools.private import ROOT

FOLDER = ROOT / ".bench" / "peers"
PINNED = ROOT / "requirements-peers.txt"
NODE = ("boardgame.io@0.50.2", "node-persist@3.1.0")
SCRIPT = Path(__file__).with_name("boardgame.cjs")
STORES = {"FlatFile": 2.0, "memory": 0.5}  # where boardgame.io keeps matches, and how many times its rate ours is at least


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


@contextmanager
def side(module: str, path: list[Path], *options: str) -> Iterator[Side]:
    """Start a process that measures, with its own import path, and end it after the block."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    command = [sys.executable, "-m", module, *options]
    process = subprocess.Popen(command, env=environment, stdin=PIPE, stdout=PIPE, text=True, preexec_fn=partial(end_with, os.getpid()))
    assert process.stdout is not None
    try:
        if process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{module} did not start")
        yield Side(process)
    finally:
        process.kill()
        process.wait()


@contextmanager
def python_peer(library: str) -> Iterator[Side | None]:
    """Run a library of another project for a block. Yield None, after saying why, if it cannot be had."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--require-hashes"]
    if installed(FOLDER / "python", PINNED.read_text(), [*pip, "--target", str(FOLDER / "python"), "-r", str(PINNED)]):
        try:
            with side("benchmarks.peer", [FOLDER / "python", ROOT], library) as peer:
                yield peer
            return
        except RuntimeError:
            print(f"  skipped: {library} does not run here", flush=True)
    yield None


def installed(folder: Path, wanted: str, command: list[str]) -> bool:
    """Install what is wanted into a folder, unless it is there. Return False, after saying why, if it cannot be had."""
    stamp = folder / "stamp"
    if stamp.exists() and stamp.read_text() == wanted:
        return True
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.which(command[0]) is None:
        print(f"  skipped: there is no {command[0]}", flush=True)
        return False
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        print("  skipped: it cannot be installed:", *done.stderr.splitlines()[-1:], flush=True)
        return False
    stamp.write_text(wanted)
    return True


def measured(run: Run) -> Iterator[Figure]:
    """Measure each comparison."""
    yield from moves(run)
    yield from rebuilding(run)
    yield from random_play(run)


class Peer(NamedTuple):
    """A server of boardgame.io."""

    node: str
    pid: int
    port: str

    def window(self, connections: int, seconds: float) -> Window:
        """Let clients in another process play, each its next move when it has the answer."""
        before = processor_seconds(self.pid)
        command = [self.node, str(SCRIPT), "client", self.port, str(connections), str(seconds)]
        told = json.loads(subprocess.run(command, cwd=FOLDER / "node", capture_output=True, check=True, timeout=60 + seconds).stdout)
        latencies = [milliseconds / 1000 for milliseconds in told["took"]]
        used = (processor_seconds(self.pid) - before) / len(latencies) * 1e6
        return Window(Load(latencies, told["seconds"], 0, 0.0), {"server": used})


@contextmanager
def boardgame(node: str, store: str, data: Path) -> Iterator[Peer]:
    """Run boardgame.io for a block. It is one process."""
    command = [node, str(SCRIPT), "server", *([str(data)] if store == "FlatFile" else [])]
    tie = partial(end_with, os.getpid())
    with subprocess.Popen(command, cwd=FOLDER / "node", stdout=PIPE, text=True, preexec_fn=tie) as process:
        assert process.stdout is not None
        try:
            port = next(line.split()[1] for line in process.stdout if line.startswith("port "))
            yield Peer(node, process.pid, port)
        finally:
            process.kill()


def moves(run: Run) -> Iterator[Figure]:
    """Measure moves over the network, each client with its own match: ours are signed and synced to the disk, theirs are neither."""
    npm = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--ignore-scripts", "--prefix", ".", *NODE]
    node = binary() if installed(FOLDER / "node", " ".join(NODE), npm) else None
    if node is None:
        return
    with (
        run.place("peers", workers=0) as place,
        boardgame(node, "FlatFile", run.folder / "boardgame") as file,
        boardgame(node, "memory", run.folder) as memory,
    ):
        peers, ready = {"FlatFile": file, "memory": memory}, Ready(place, "war", run.matches)
        for connections in CONNECTIONS:
            ours: list[Window] = []
            theirs: dict[str, list[Window]] = {store: [] for store in peers}
            for _ in range(run.pairs):
                ours.append(window(place, [ready.conversation(with_key=False) for _ in range(connections)], run.seconds, ready))
                for store, peer in peers.items():
                    theirs[store].append(peer.window(connections, run.seconds))
            where = "1 connection" if connections == 1 else f"{connections} connections"
            yield rate(f"a move of War!, {where}", ours)
            for store, windows in theirs.items():
                yield rate(f"a move in boardgame.io, {store}, {where}", windows)
                rates, others = ([each.load.rate for each in side] for side in (ours, windows))
                yield figure(f"War! / boardgame.io, {store}, {where}", ratios(rates, others), "ratio", least=STORES[store])


def rebuilding(run: Run) -> Iterator[Figure]:
    """Measure how fast a match of War! is folded from the store, and an aggregate of as many events is rebuilt by eventsourcing."""
    with python_peer("eventsourcing") as peer, run.place("rebuilding", workers=0) as place:
        if peer is not None:
            matches = [played(place.platform, PLAYER, GAMES["war"], seed) for seed in range(6)]
            pairs = [(folded(place.platform, "war", matches), peer.measure(f"rebuild {run.seconds}")) for _ in range(run.pairs)]
            ours, theirs = map(list, zip(*pairs, strict=True))
            yield from compared("read, parse and fold War!", ours, "rebuild by eventsourcing, from SQLite", theirs, "events/s")


def random_play(run: Run) -> Iterator[Figure]:
    """Measure random play on a branch beside that of other games: OpenSpiel's in C++, called from Python, and catanatron's in Python."""
    with python_peer("open_spiel") as spiel, python_peer("catanatron") as catan:
        others = {
            "OpenSpiel, gin rummy": (spiel, "gin_rummy"),
            "OpenSpiel, backgammon": (spiel, "backgammon"),
            "catanatron": (catan, "catan"),
        }
        ours: dict[str, list[float]] = {game: [] for game in GAMES}
        theirs: dict[str, list[float]] = {name: [] for name, (peer, _) in others.items() if peer is not None}
        for number in range(run.pairs):
            for game, rates in ours.items():
                rates.append(branched(GAMES[game], GAMES[game].seats.least, number, run.seconds))
            for name, rates in theirs.items():
                peer, what = others[name]
                assert peer is not None
                rates.append(peer.measure(f"{what} {run.seconds}"))
        for game, rates in ours.items():
            yield figure(f"random play: {game}", rates, "actions/s")
        for name, rates in theirs.items():
            yield figure(f"random play: {name}", rates, "actions/s")
            for game in GAMES:
                yield figure(f"random play: {game} / {name}", ratios(ours[game], rates), "ratio")
