"""Measure the log: an append against a raw XADD, folding, auditing and verifying whole matches of each game, and memory.

Entries a second are of processor time, so of one core. Node's are of the clock: it computes digests in other threads.
"""

from __future__ import annotations

import gc
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.pairs import Figure, compared, figure, interleaved, ratios
from benchmarks.place import Run
from benchmarks.web import played
from events import audit, recall
from events.dossier_writing import write
from events.keeping import embedded
from events.notary import server_log
from events.platform import Platform
from events.store.log import Appended, Changes, Claim
from record.dossiers.lines import WHOLE
from record.dossiers.records import lines_of
from record.dossiers.verifying import Source, verify
from record.entries import parse
from record.packing import pack, unpack
from record.positions import follow_all
from tools import node

PLAYER = "p" + "a" * 16
MATCHES, LONGEST = 4, 1000  # matches of each game with all its seats, and their actions
XADD, FOLD, CHECK, NODE = 0.95, 300_000, 10_000, 50_000
ARCHIVED, UNPACK, MANY = 25, 20, 600  # bytes of an entry, ms, entries
SCRIPT = Path(__file__).with_name("verifying.mjs")


def measured(run: Run) -> Iterator[Figure]:
    """Measure everything. Without Node, its figures are left out."""
    with run.place("ledger", workers=0) as place:
        yield from appends(place.platform, run.pairs)
        for game in place.platform.games.values():
            empty = used(place.platform)
            matches = [played(place.platform, PLAYER, game, seed, LONGEST) for seed in range(MATCHES)]
            yield from sizes(place.platform, game.id, matches, used(place.platform) - empty)
            yield from packed(place.platform, game.id, matches, run.pairs)
            yield from checks(place.platform, game.id, matches, run)


def appends(platform: Platform, pairs: int, count: int = 400) -> Iterator[Figure]:
    """Measure the complete appends per second of one writer, and plain XADD of the same bytes."""
    match = played(platform, PLAYER, platform.games["war"], 1, 30)
    raw = platform.store.log.read(match, after=20, limit=1)[0]
    numbers, xadd = iter(range(1_000_000)), embedded.renamed(platform.settings.data)["XADD"]

    def ours() -> float:
        match = f"mbench{next(numbers)}"
        began = time.perf_counter()
        for version in range(count):
            claim = Claim(f"p/{version}", "f" * 32)
            done = platform.store.log.append(match, version, [raw], Changes(due={f"advance|{match}|": None}), claim)
            assert isinstance(done, Appended)
        return count / (time.perf_counter() - began)

    def bare() -> float:
        stream = f"raw:{next(numbers)}"
        began = time.perf_counter()
        for version in range(count):
            platform.store.client.ask(xadd, stream, f"{version + 1}-0", "e", raw)
        return count / (time.perf_counter() - began)

    mine, other = interleaved(ours, bare, pairs)
    yield from compared(f"append {len(raw)} bytes, with request, due index, message", mine, "raw XADD", other, "appends/s", least=XADD)


def used(platform: Platform) -> int:
    """Return the bytes of memory that the store has allocated."""
    return int(platform.store.client.ask("INFO", "memory")["used_memory"])


def sizes(platform: Platform, game: str, matches: Sequence[str], whole: int) -> Iterator[Figure]:
    """Measure the memory of the store. `whole`: the bytes of all matches."""
    entries = sum(platform.store.log.head(match) for match in matches)
    streams = [platform.store.keys.of(match).stream for match in matches]
    memory = sum(int(platform.store.client.ask("MEMORY", "USAGE", key, "SAMPLES", 0)) for key in streams)
    size = sum(len(raw) for match in matches for raw in platform.store.log.read_all(match))
    yield figure(f"{game}: memory of the store for an entry", [memory / entries], "bytes", told=f"{size / entries:.0f} of JSON")
    told = f"{entries / len(matches):.0f} entries, with all indexes"
    yield figure(f"{game}: memory of the store for a match", [whole / len(matches) / 1000], "kB", told=told)


def checks(platform: Platform, game: str, matches: Sequence[str], run: Run) -> Iterator[Figure]:
    """Measure folding, and in rounds with audits the verifiers: in Python with the rules, and in Node without them."""
    yield figure(f"{game}: read, parse and fold", [folded(platform, game, matches) for _ in range(run.pairs)], "events/s", least=FOLD)
    whole, seat = (_dossiers(platform, matches, viewer, run.folder) for viewer in (WHOLE, platform.games[game].seats.ids[0]))
    ours, audits = interleaved(partial(_verified, platform, whole), partial(audited, platform, matches), run.pairs)
    yield figure(f"{game}: run audit: chain, decide again, compare", audits, "entries/s", least=CHECK)
    yield figure(f"{game}: run verify: whole dossiers, with the rules", ours, "entries/s", least=CHECK)
    yield figure(f"{game}: run verify / run audit", ratios(ours, audits), "ratio")
    seats = [_verified(platform, seat) for _ in range(run.pairs)]
    yield figure(f"{game}: run verify: dossiers of a seat", seats, "entries/s", least=CHECK)
    if binary := node.binary():
        command = [binary, str(SCRIPT), str(run.seconds / 2), *[str(run.folder / source.name) for source in whole]]
        runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(run.pairs)]
        clock, cpu = ([float(rate) for rate in rates] for rates in zip(*runs, strict=True))
        told = f"{statistics.median(cpu):,.0f} for a second of CPU in all its threads"
        yield figure(f"{game}: verify.mjs: whole dossiers, without the rules", clock, "entries/s", least=NODE, told=told)


def packed(platform: Platform, game: str, matches: Sequence[str], pairs: int) -> Iterator[Figure]:
    """Measure matches as objects of the archive: their bytes, and how long it takes to pack and unpack as many entries as one has."""
    raws = {match: list(platform.store.log.read_all(match)) for match in matches}
    secrets = {match: platform.store.log.load(match, 1).secret or "" for match in matches}
    objects = {match: pack(match, raws[match], secrets[match]) for match in matches}
    entries = sum(map(len, raws.values()))
    yield figure(f"{game}: an entry in the archive", [sum(map(len, objects.values())) / entries], "bytes", most=ARCHIVED)
    packing, unpacking = [], []
    for _ in range(pairs):
        began = time.process_time()
        for match in matches:
            pack(match, raws[match], secrets[match])
        packing.append(_for_many(began, entries))
        began = time.process_time()
        for packed in objects.values():
            unpack(packed)
        unpacking.append(_for_many(began, entries))
    yield figure(f"{game}: packing {MANY} entries", packing, "ms")
    yield figure(f"{game}: unpacking {MANY} entries", unpacking, "ms", most=UNPACK)


def _for_many(began: float, entries: int) -> float:
    """Return the milliseconds of processor time since a moment, for as many entries as an archived match has."""
    return (time.process_time() - began) / entries * MANY * 1000


def folded(platform: Platform, game: str, matches: Sequence[str]) -> float:
    """Return how many events per second are read and folded from logs."""
    events, began = 0, time.process_time()
    gc.disable()
    for match in matches:
        entries = [parse(raw) for raw in platform.store.log.read_all(match)]
        follow_all(platform.games[game], None, entries)
        events += sum(len(entry.events) for entry in entries)
    gc.enable()
    return events / (time.process_time() - began)


def audited(platform: Platform, matches: Sequence[str]) -> float:
    """Return how many entries per second are audited."""
    return _rate(lambda match: audit.audit(platform, match), matches)


def _verified(platform: Platform, sources: Sequence[Source]) -> float:
    """Return how many entries per second are verified. Each file is verified by itself."""
    return _rate(lambda source: next(iter(verify([source], platform.games))), sources)


def _rate(check: Callable[[Any], Any], things: Sequence[Any]) -> float:
    entries, began = 0, time.process_time()
    for thing in things:
        report = check(thing)
        assert report.ok, report
        entries += report.versions
    return entries / (time.process_time() - began)


def _dossiers(platform: Platform, matches: Sequence[str], viewer: str, folder: Path) -> list[Source]:
    """Write the dossiers of matches for a viewer. Return them as files to verify."""
    found = []
    for match in matches:
        path = folder / f"{match}-{viewer}.ndjson"
        path.write_bytes(b"".join(write(platform, recall.position(platform, match), viewer, server_log.all_shown(platform))))
        found.append(Source(path.name, partial(lines_of, path)))
    return found
