"""Train the next dictionary of a kind from the golden archive, and measure it: `./run dictionaries [KIND...] [--measure]`.

Every other match of each game trains it. The others measure what it saves. What is packed is packed with the newest dictionary of a kind,
and can be unpacked when there are later ones. So train one only if entries have changed so much that it pays.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple
from uuid import UUID

from events.archive.matches import positions_of
from events.snapshots import EVERY, FORM
from events.snapshots import pack as snapshot_of
from events.standings import indexes, stored, turn
from events.store import packed as items
from events.store.filed import shortened
from games import GAMES
from players import LEVELS
from players.plans import digest_of
from record.dictionaries import FOLDER, SUMS, dictionary, hashes, newest, zstd
from record.entries import START, Entry, blind_key, canonical, link, parse
from record.packing import pack, sample
from record.positions import Position, replay
from record.thoughts import Decision, fingerprint_of, is_decision
from tools.private import ROOT
from tools.records import Record, read

ARCHIVE = ROOT / "tests" / "archive"


class Training(NamedTuple):
    """How a kind of dictionary is trained: its size in bytes, what is compressed of a match, and how many bytes a match takes packed."""

    size: int
    samples: Callable[[Record], Iterable[bytes]]
    packed: Callable[[Record, str], int]


def _sample(record: Record) -> Iterator[bytes]:
    yield sample(record.match, record.raws, record.secret or "")


def _packed(record: Record, name: str) -> int:
    positions = list(positions_of(GAMES, record.raws))
    return len(pack(record.match, record.raws, record.secret or "", using=name, positions=positions, form=FORM))


def _filed(record: Record) -> Iterator[bytes]:
    """Yield what is compressed of the standing of a match that is over."""
    *_, position = _positions(record)
    if position.status == "over":
        yield shortened(record.match, canonical(stored(position)), indexes(position))


def _compressed(record: Record, name: str) -> int:
    """Return how many bytes the standing of a match takes, once for all its entries."""
    return sum(len(zstd.compress(standing, level=12, zstd_dict=dictionary(name).as_digested_dict)) for standing in _filed(record))


def _entries(record: Record) -> Iterator[bytes]:
    """Yield what is compressed of the item of each entry."""
    for raw, position in zip(record.raws, _positions(record), strict=True):
        yield items.sample(raw, record.match, position.version, turn(position))


def _standings(record: Record) -> Iterator[bytes]:
    """Yield what is compressed of standings in the store: the first, the last, and some in between."""
    for position in _positions(record):
        if position.version < 4 or position.version % EVERY == 0 or position.version == len(record.raws):
            yield items.standing_text(canonical(stored(position)), position.version)


def _snapshots(record: Record) -> Iterator[bytes]:
    """Yield the snapshots of a match, also those that others replace."""
    for position in _positions(record):
        if position.version % EVERY == 0:
            yield snapshot_of(position)


def _deflated(samples: Callable[[Record], Iterable[bytes]]) -> Callable[[Record, str], int]:
    """Return a function that tells how many bytes the samples of a match take in the store."""

    def packed(record: Record, name: str) -> int:
        kind, _, number = name.partition("-")
        return sum(len(items.deflated(kind, text, int(number))) for text in samples(record))

    return packed


def _positions(record: Record) -> Iterator[Position]:
    return replay(GAMES, map(parse, record.raws))


TRAININGS: Mapping[str, Training] = {
    "match": Training(110_000, _sample, _packed),
    "filed": Training(32_000, _filed, _compressed),
    items.ENTRY: Training(16_384, _entries, _deflated(_entries)),
    items.STANDING: Training(16_384, _standings, _deflated(_standings)),
    items.SNAPSHOT: Training(16_384, _snapshots, _deflated(_snapshots)),
}


def games_of(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return records by their game."""
    found = defaultdict(list)
    for record in records:
        found[str(parse(record.raws[0]).events[0]["game"])].append(record)
    return dict(found)


def as_in_service(record: Record, game: str, will: random.Random) -> Record:
    """Return a match as a service would have it: played by artificial players, or by clients whose requests have ids.

    The matches of the golden archive were not played in a service, so their entries lack that.
    """
    decided, digest, raws = will.random() < 0.5, START, []
    level, blind = will.choice(sorted(LEVELS)), blind_key(bytes.fromhex(record.secret or ""))
    for entry in map(parse, record.raws):
        if entry.actor in GAMES[game].seats.ids and entry.action["type"] in GAMES[game].deeds():
            request = _decision(game, level, will) if decided else _request(entry, will)
            entry = entry._replace(request=request, signed=None)
        linked, raw = link(digest, entry, blind)
        digest = linked.digest
        raws.append(raw)
    return record._replace(raws=raws)


def _decision(game: str, level: str, will: random.Random) -> Decision:
    spent = will.choice([0, 1, will.randrange(2000)])
    found = {"level": level, "players": 1, "weights": digest_of(game), "saw": will.randbytes(8).hex(), "budget": spent, "spent": spent}
    assert is_decision(found)
    return found


def _request(entry: Entry, will: random.Random) -> dict[str, str]:
    return {"id": str(UUID(int=will.getrandbits(128), version=4)), "fingerprint": fingerprint_of(entry.actor, entry.action)}


def train(kind: str, records: Iterable[Record]) -> bytes:
    """Return a new dictionary of a kind. The same records give the same one."""
    training, will = TRAININGS[kind], random.Random(kind)
    samples: list[bytes] = []
    for game, mine in games_of(records).items():
        for record in mine[::2]:
            samples += training.samples(record)
            samples += training.samples(as_in_service(record, game, will))
    will.shuffle(samples)  # each part of a dictionary comes from some consecutive samples, and is worth more if they are of all games
    return zstd.train_dict(samples, training.size).dict_content


class Measured(NamedTuple):
    """What entries of one game take, played in one way: how many there are, and the bytes of an entry, raw and packed."""

    game: str
    played: str
    entries: int
    raw: float
    packed: float


def measure(kind: str, name: str, records: Iterable[Record]) -> Iterator[Measured]:
    """Yield what the records take that train no dictionary: those without signatures, those with some, and all as a service has them."""
    for game, mine in games_of(records).items():
        others, will = mine[1::2], random.Random(kind)
        signed = [any(b'"signed":{' in raw for raw in record.raws) for record in others]
        ways = {
            "unsigned": [record for record, has in zip(others, signed, strict=True) if not has],
            "signed": [record for record, has in zip(others, signed, strict=True) if has],
            "in a service": [as_in_service(record, game, will) for record in others],
        }
        for played, found in ways.items():
            entries = sum(len(record.raws) for record in found)
            raw = sum(len(raw) for record in found for raw in record.raws)
            if entries:
                packed = sum(TRAININGS[kind].packed(record, name) for record in found)
                yield Measured(game, played, entries, raw / entries, packed / entries)


def main(arguments: list[str] | None = None) -> int:
    """Train, write and measure a dictionary."""
    parser = argparse.ArgumentParser(prog="run dictionaries", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{' or '.join(TRAININGS)} (default: all)")
    parser.add_argument("--measure", action="store_true", help="train none, but measure the newest one")
    options = parser.parse_args(arguments)
    if unknown := set(options.kinds) - TRAININGS.keys():
        parser.error(f"there is no kind {', '.join(sorted(unknown))}")
    records = list(read([ARCHIVE]))
    for kind in options.kinds or TRAININGS:
        began = time.perf_counter()
        name = newest(kind) if options.measure else _written(kind, train(kind, records))
        print(f"{name}, {time.perf_counter() - began:.1f} s:")
        for found in measure(kind, name, records):
            told = f"{found.packed:.1f} bytes an entry, of {found.raw:.0f}"
            print(f"  {found.game:<20} {found.played:<12} {found.entries:>6} entries: {told}")
    return 0


def _written(kind: str, content: bytes) -> str:
    """Write a new dictionary and its row in the table. Return its name."""
    taken = [int(path.name.partition("-")[2]) for path in FOLDER.glob(f"{kind}-*")]
    name = f"{kind}-{1 + max(taken, default=0)}"
    with (FOLDER / name).open("xb") as file:
        file.write(content)
    with SUMS.open("a", encoding="ascii") as file:
        file.write(f"{sha256(content).hexdigest()}  {name}\n")
    hashes.cache_clear()
    return name


if __name__ == "__main__":
    sys.exit(main())
