"""Measure the log: an append against a raw XADD, folding and auditing from the log, and bytes of memory per entry."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Iterator

from benchmarks.pairs import Figure, figure, interleaved, ratios
from benchmarks.place import Run
from events import audit, play
from events.keeping import embedded
from events.platform import Platform
from events.store.log import Appended, Changes, Claim
from games.kernel import any_action
from record.entries import parse
from record.positions import follow_all

GAME = "war"
SEATS = {"red": "me", "blue": "me"}
FOLD = 50_000
AUDIT = 10_000


def measured(run: Run) -> Iterator[Figure]:
    """Measure the log."""
    with run.place("memory") as place:
        yield from appends(place.platform, run.pairs)
        yield from replays(place.platform, run.pairs)


def appends(platform: Platform, pairs: int, count: int = 400) -> list[Figure]:
    """Measure the complete appends per second of one writer, and plain XADD of the same bytes."""
    raw = platform.store.log.read(played_out(platform, 1), after=20, limit=1)[0]
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
    return [
        figure("append, with its request, due index and message", mine, "appends/s", told=f"{len(raw)} bytes"),
        figure("raw XADD with an explicit id", other, "appends/s"),
        figure("append / raw XADD", ratios(mine, other), "ratio"),
    ]


def replays(platform: Platform, rounds: int) -> list[Figure]:
    """Measure events folded and entries audited per second, both from the log, and the server's memory per entry."""
    empty = used(platform)
    matches = [played_out(platform, seed) for seed in range(12)]
    folds, audits = [], []
    for _ in range(rounds):
        folds.append(folded(platform, matches))
        audits.append(audited(platform, matches))
    keys = [platform.store.keys.of(match).stream for match in matches]
    entries = sum(platform.store.log.head(match) for match in matches)
    memory = sum(int(platform.store.client.ask("MEMORY", "USAGE", key, "SAMPLES", 0)) for key in keys)
    whole = used(platform) - empty
    size = sum(len(raw) for match in matches for raw in platform.store.log.read_all(match))
    return [
        figure("read, parse and fold from the stream", folds, "events/s", least=FOLD),
        figure("audit: chain, decide again, compare", audits, "entries/s", least=AUDIT),
        figure("Redis memory for an entry", [memory / entries], "bytes", told=f"{size / entries:.0f} of JSON"),
        figure(
            "Redis memory for a finished match, with all indexes",
            [whole / len(matches) / 1000],
            "kB",
            told=f"{entries / len(matches):.0f} entries",
        ),
    ]


def used(platform: Platform) -> int:
    """Return the bytes of memory that the store has allocated."""
    return int(platform.store.client.ask("INFO", "memory")["used_memory"])


def folded(platform: Platform, matches: list[str]) -> float:
    """Return how many events per second are read and folded from logs."""
    events, began = 0, time.process_time()
    gc.disable()
    for match in matches:
        entries = [parse(raw) for raw in platform.store.log.read_all(match)]
        follow_all(platform.games[GAME], None, entries)
        events += sum(len(entry.events) for entry in entries)
    gc.enable()
    return events / (time.process_time() - began)


def audited(platform: Platform, matches: list[str]) -> float:
    """Return how many entries per second are audited."""
    entries, began = 0, time.process_time()
    for match in matches:
        report = audit.audit(platform, match)
        assert report.ok, report
        entries += report.versions
    return entries / (time.process_time() - began)


def played_out(platform: Platform, seed: int) -> str:
    """Play a match at random to its end with the writer of the service. Return its id."""
    dice = random.Random(seed)
    position = play.create(platform, "p" + "a" * 16, GAME, SEATS, {})
    while position.status != "over":
        actor = position.to_act[0]
        action = any_action(platform.games[GAME], position.document, actor, dice.randrange)
        position = play.play(platform, position.match, actor, [action]).position
    return position.match
