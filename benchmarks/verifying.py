"""Measure the verifiers, in entries per second: in Python with the rules against the audit from the store, and verify.mjs in Node."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.memory import audited, played_out
from benchmarks.pairs import Figure, figure, interleaved, ratios
from benchmarks.place import Run
from benchmarks.web import played
from events import recall
from events.dossier_writing import write
from events.platform import Platform
from record.dossiers.lines import WHOLE
from record.dossiers.records import lines_of
from record.dossiers.verifying import Source, verify
from tools import node

NODE = 50_000
PYTHON = 10_000
PLAYER = "p" + "a" * 16
SCRIPT = Path(__file__).with_suffix(".mjs")


def measured(run: Run) -> Iterator[Figure]:
    """Verify the dossiers of twelve matches of War!, and, in Node, those of two matches of each game with all its seats.

    Without Node, its figures are left out.
    """
    with run.place("verifying") as place:
        platform = place.platform
        matches = [played_out(platform, seed) for seed in range(12)]
        yield from _in_python(platform, matches, run.pairs, run.folder)
        all_games = [played(platform, PLAYER, game, seed, 5000) for game in platform.games.values() for seed in range(2)]
        yield from _under_node(platform, all_games, run.pairs, run.seconds / 2, run.folder)


def _in_python(platform: Platform, matches: Sequence[str], pairs: int, folder: Path) -> list[Figure]:
    """Verify dossiers, in pairs with audits of the same matches from the store."""
    whole, seat = (_dossiers(platform, matches, viewer, folder) for viewer in (WHOLE, "red"))
    ours, audit = interleaved(partial(_verified, platform, whole), lambda: audited(platform, list(matches)), pairs)
    return [
        figure("run verify: whole dossiers, with the rules", ours, "entries/s", least=PYTHON),
        figure("run verify / run audit", ratios(ours, audit), "ratio"),
        figure("run verify: dossiers of a seat", [_verified(platform, seat) for _ in range(pairs)], "entries/s", least=PYTHON),
    ]


def _dossiers(platform: Platform, matches: Sequence[str], viewer: str, folder: Path) -> list[Source]:
    """Write the dossiers of matches for a viewer. Return them as files to verify."""
    found = []
    for match in matches:
        path = folder / f"{match}-{viewer}.ndjson"
        path.write_bytes(b"".join(write(platform, recall.position(platform, match), viewer)))
        found.append(Source(path.name, partial(lines_of, path)))
    return found


def _verified(platform: Platform, sources: Sequence[Source]) -> float:
    """Return the entries per second. Each file is verified by itself."""
    entries, began = 0, time.perf_counter()
    for source in sources:
        (verdict,) = verify([source], platform.games)
        assert verdict.ok, verdict
        entries += verdict.versions
    return entries / (time.perf_counter() - began)


def _under_node(platform: Platform, matches: Sequence[str], pairs: int, seconds: float, folder: Path) -> list[Figure]:
    """Verify whole dossiers in pairs: in Node without the rules, in Python with the rules."""
    binary = node.binary()
    if binary is None:
        return []
    whole = _dossiers(platform, matches, WHOLE, folder)
    fast, slow = interleaved(
        _by_node(binary, seconds, [folder / source.name for source in whole]), partial(_verified, platform, whole), pairs
    )
    return [
        figure("verify.mjs: whole dossiers, without the rules", fast, "entries/s", least=NODE),
        figure("verify.mjs / run verify", ratios(fast, slow), "ratio"),
    ]


def _by_node(binary: str, seconds: float, files: Sequence[Path]) -> Callable[[], float]:
    def verified() -> float:
        done = subprocess.run([binary, SCRIPT, str(seconds), *files], capture_output=True, text=True, check=True)
        return float(done.stdout)

    return verified
