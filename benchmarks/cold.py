"""Measure the first read of an archived match: nothing of it is in the memory of the process that answers.

The matches are long ones of the golden archive. They are put into the archive of a service and filed away. The requests are answered in
this process, so their processor time is that of the service's thread, and covers whatever reading an object takes.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from flask import Flask

from benchmarks.pairs import Figure, figure
from events.archive import matches as objects_of
from events.archive.matches import Whole
from events.lifeline import collect_rarely
from events.platform import Platform
from events.standings import packed
from events.store.sidelog import RawSideLog
from games import GAMES
from record.entries import parse
from record.positions import Position, follow_all
from service.app import create_app
from service.http.limits import AMOUNTS
from service.http.settings import Settings
from tools.private import ROOT
from tools.records import Record, read

MATCHES, MANY, MOST = 3, 600, 20.0  # matches of each game, the entries of a match for the target, and its milliseconds
ASKED: Mapping[str, str] = {
    "state": "state",
    "state in the middle": "state?at={middle}",
    "100 entries": "entries?after={middle}&limit=100",
    "20 entries with proofs": "entries?after={middle}&limit=20&proof=true",
    "picture": "state.svg?at={middle}",
    "20 frames": "frames?after={middle}&limit=20",
    "why": "why?pointer=/to_act&at={middle}",
    "record": "record",
    "dossier": "dossier",
    "audit": "audit",
}
READS = 5  # of them, the first ones, only read; the others draw, search or tell the whole match


class Sample(NamedTuple):
    """A match of the golden archive, and its last position."""

    record: Record
    position: Position


def samples() -> dict[str, list[Sample]]:
    """Return matches of each game that are over: those whose length is nearest to that of the target."""
    found: dict[str, list[Sample]] = {game: [] for game in GAMES}
    for record in sorted(read([ROOT / "tests" / "archive"]), key=lambda record: abs(len(record.raws) - MANY)):
        entries = list(map(parse, record.raws))
        game: str = entries[0].events[0]["game"]
        if len(found[game]) < MATCHES and not any(entry.signed for entry in entries):
            position = follow_all(GAMES[game], None, entries)
            if position is not None and position.status == "over" and position.secret is not None and not position.table["disputes"]:
                found[game].append(Sample(record, position))
    return found


def put(platform: Platform, sample: Sample) -> None:
    """Put a match into the archive, and file it away."""
    record, position = sample
    whole = Whole(record.match, record.raws, position.digest, record.secret or "", RawSideLog())
    away = objects_of.write(platform.archive.objects, whole, platform.games)
    assert platform.store.lists.file_away(record.match, packed(position, parse(record.raws[-1]).at, away.object))


def measured(platform: Platform, rounds: int) -> Iterator[Figure]:
    """Ask for everything of each match in turns. Each answer is the first of a process."""
    found = samples()
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()  # as in a process that serves
    collect_rarely()
    settings = Settings(log_requests=False, limits=dict.fromkeys(AMOUNTS, 0))
    for sample in (sample for some in found.values() for sample in some):
        put(platform, sample)
    for game, some in found.items():
        taken: dict[str, list[float]] = {name: [] for name in ASKED}
        for _ in range(rounds):
            app = create_app(platform, settings)  # with nothing that it has drawn or shown before
            for sample in some:
                for name, path in ASKED.items():
                    taken[name].append(cold(app, platform, sample.record, path))
        length = statistics.median(len(sample.record.raws) for sample in some)
        for name, values in taken.items():
            most = MOST if name in list(ASKED)[:READS] else None
            yield figure(f"{game}: first read of {length:.0f} entries: {name}", values, "ms", most=most)
    gc.unfreeze()
    gc.set_threshold(*thresholds)


def cold(app: Flask, platform: Platform, record: Record, path: str) -> float:
    """Return the milliseconds of processor time of a first answer."""
    platform.archive.forget()
    platform.cache.drop(record.match)
    client, began = app.test_client(), time.thread_time()
    answer = client.get(f"/v1/matches/{record.match}/{path.format(middle=len(record.raws) // 2)}")
    data = answer.get_data()
    taken = (time.thread_time() - began) * 1000
    assert answer.status_code == 200, (path, data[:400])
    return taken
