"""Measure a service with many archived matches beside one with few: memory, lists, profiles, and the start. And first reads (cold.py).

The index has all of them: `./run bench archived --archived 1000000`. Their objects are not written, because none of them is read.
"""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice

from benchmarks import cold
from benchmarks.filing import Command, Partition
from benchmarks.load import Caller, until
from benchmarks.pairs import Figure, compared, figure, interleaved
from benchmarks.place import Place, Run, own_id, processes_of, processor_seconds
from benchmarks.population import rows
from events.archive.filing import file_again
from events.archive.matches import name_of
from events.archive.objects import Memory
from events.keeping import embedded
from events.store.client import Call, configure
from events.store.filed import Packed
from events.store.library import script
from tools import private

FEW = 100
BYTES, SECONDS, GROWTH = 300, 10.0, 1.5
AT_ONCE, MORE = 500, 1000
ASKED = 15
SETTLED = 600.0  # seconds that the server may take to rewrite its files

_FILE_AWAY = script("file_away")


def measured(run: Run) -> Iterator[Figure]:
    """Fill the index of one service with a few matches, and of another one with many. Ask both in turns, and start the second again."""
    with run.place("cold", workers=0) as place:
        yield from cold.measured(place.platform, run.pairs)
    with run.place("few", workers=0) as few, run.place("many", workers=0) as many:
        callers = [few.caller(), many.caller()]
        mine = own_id(callers[1])
        one_by_one(few, rows(FEW, own_id(callers[0])))
        taken = fill(many, run.archived, mine)
        told = f"{run.archived:,} of them"
        yield figure("memory of the store for an archived match", [taken / run.archived], "bytes", most=BYTES, told=told)
        seconds = one_by_one(many, rows(MORE, mine, seed=2))
        yield figure(f"filing a match away beside {run.archived:,}", [seconds / MORE * 1e6], "µs", told="the function, without its object")
        for (name, one), other in zip(asked(callers[0]).items(), asked(callers[1]).values(), strict=True):
            sides = [partial(median, caller, path) for caller, path in zip(callers, (one, other), strict=True)]
            lengthy, brief = interleaved(sides[1], sides[0], run.pairs)
            yield from compared(f"{name} among {run.archived:,} archived matches", lengthy, f"among {FEW}", brief, "ms", most=GROWTH)
        began, worked = time.perf_counter(), many.cpu()["store"] + time.process_time()
        listed = archive_again(many)
        worked = many.cpu()["store"] + time.process_time() - worked
        took, told = time.perf_counter() - began, f"{worked:.0f} s of processors; {listed:,} objects are listed, and none needs to be read"
        yield figure(f"rebuild: the archive, where nothing is lost, with {run.archived:,}", [took], "s", told=told)
        folder = many.data
    began = time.perf_counter()
    with private.service(folder) as running:
        seconds = time.perf_counter() - began
        worked = sum(map(processor_seconds, (number for numbers in processes_of(running.process.pid).values() for number in numbers)))
        told = f"{worked:.1f} s of processors"
        yield figure(f"from the command to ready with {run.archived:,}", [seconds], "s", most=SECONDS, told=told)


def fill(place: Place, number: int, first: str) -> int:
    """Let a store have made up matches as if each had been filed away (benchmarks/filing.py). Return the bytes of memory that they take.

    Nothing is written to disk meanwhile. At the end, the server writes its files anew.
    """
    store, began = place.platform.store, time.monotonic()
    configure(store.url, "appendonly", "no")
    before, renamed = store.memory(), embedded.renamed(place.data)
    partitions = {tag: Partition(tag) for tag in store.keys.tags()}
    found, done, updated = rows(number, first), 0, round(time.time() * 1000)

    def filed() -> Iterator[Command]:
        for match, packed in found:
            tag = store.keys.tag(match)
            yield "XADD", f"{tag}:filed", "0-*", "r", partitions[tag].file_away(packed.game, packed.row, updated + done)

    def send(commands: Iterator[Command]) -> Iterator[int]:
        while some := [(renamed.get(str(name), name), *words) for name, *words in islice(commands, AT_ONCE)]:
            store.client.ask_all(some)
            yield len(some)

    for sent in send(filed()):
        done += sent
        if done % 100_000 == 0:
            print(f"  {done:,} are filed away after {time.monotonic() - began:.0f} s", flush=True)
    for partition in partitions.values():
        deque(send(partition.commands()), 0)
    taken = store.memory() - before
    configure(store.url, "appendonly", "yes")
    until(lambda: store.client.ask("PING") and not _rewrites(place), SETTLED, 0.2)
    return taken


def archive_again(place: Place) -> int:
    """File away again what an archive has, of which only the names of objects exist. Return how many there are."""
    platform = place.platform
    names = sorted(name_of(match, away) for match, away in platform.store.archiving.filed())
    platform.archive.put(Names(names))
    found = file_again(platform)
    assert (found.matches, found.filed, found.damaged) == (len(names), 0, ())
    return len(names)


class Names(Memory):
    """An archive that lists objects and has none of them."""

    def __init__(self, names: list[str]) -> None:
        super().__init__()
        self._names = names

    def names(self, prefix: str = "", after: str = "") -> Iterator[str]:
        """Yield names (Objects)."""
        return (name for name in self._names if name.startswith(prefix) and name > after)


def one_by_one(place: Place, found: Iterable[tuple[str, Packed]]) -> float:
    """File matches away by the function of the store. Return the seconds."""
    store = place.platform.store
    calls: list[Call] = [([store.keys.stream(match)], [packed.game, packed.row]) for match, packed in found]
    began = time.perf_counter()
    store.client.run_all(_FILE_AWAY, calls)
    return time.perf_counter() - began


def asked(caller: Caller) -> dict[str, str]:
    """Return what is asked of a service, by what it is."""
    me = own_id(caller)
    return {
        "the newest matches": "/v1/matches?limit=50",
        "a game's": "/v1/matches?status=over&game=war&limit=50",
        "a player's": f"/v1/matches?player={me}&limit=50",
        "a profile": f"/v1/players/{me}",
    }


def median(caller: Caller, path: str) -> float:
    """Return the median time of an answer in milliseconds."""
    times = []
    for _ in range(ASKED):
        began = time.perf_counter()
        caller.call("GET", path)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def _rewrites(place: Place) -> bool:
    """Return True while the server of a place writes its files anew."""
    found = place.platform.store.client.ask("INFO", "persistence")
    text = found if isinstance(found, dict) else {}
    return bool(int(text.get("aof_rewrite_in_progress", 0)) or int(text.get("aof_rewrite_scheduled", 0)))
