"""Train the dictionaries of the store anew from the golden archive: `python -m tools.samples`.

`entry` is for items of entries and for snapshots, `standing` for standings (events/store/packed.py). Each is the 16 kB that the trainer of
zstd finds most useful. Every other match trains. What is in the store names its dictionary by number, so no dictionary is ever changed or
removed. Raise NUMBER there afterwards.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from uuid import UUID

from events.snapshots import EVERY
from events.standings import stored, turn
from events.store.packed import ENTRY, STANDING, sample
from games import GAMES
from players import LEVELS
from players.plans import digest_of
from record.dictionaries import FOLDER, SUMS, zstd
from record.entries import Entry, canonical, parse
from record.positions import replay
from tools.private import ROOT
from tools.records import Record, read

SIZE = 16_384


def of_entries(records: Iterable[Record]) -> Iterator[bytes]:
    """Yield what is compressed of each entry, as a service would have them: by artificial players, or by clients with request ids."""
    will = random.Random("entry")
    for record in records:
        entries, decided = list(map(parse, record.raws)), will.random() < 0.5
        for raw, entry, position in zip(record.raws, entries, replay(GAMES, entries), strict=True):
            request = b"" if entry.version == 1 else _decision(position.game, will) if decided else _request(will)
            told = raw.replace(b'"revision":', b'%b"revision":' % request, 1) if entry.request is None else raw
            yield sample(told, entry.match, entry.version, turn(position))


def of_standings(records: Iterable[Record]) -> Iterator[bytes]:
    """Yield standings: the first, the last, and some in between."""
    for record in records:
        entries: list[Entry] = list(map(parse, record.raws))
        for position in replay(GAMES, entries):
            if position.version < 4 or position.version % EVERY == 0 or position.version == len(entries):
                yield b"%d\n%b" % (position.version, canonical(stored(position)))


def _decision(game: str, will: random.Random) -> bytes:
    level, spent = will.choice(sorted(LEVELS)), will.choice([0, 1, will.randrange(2000)])
    told = {"level": level, "players": 1, "weights": digest_of(game), "saw": will.randbytes(8).hex(), "budget": spent, "spent": spent}
    return b'"request":%b,' % canonical(told)


def _request(will: random.Random) -> bytes:
    told = {"id": str(UUID(int=will.getrandbits(128), version=4)), "fingerprint": will.randbytes(16).hex()}
    return b'"request":%b,' % canonical(told)


def main() -> int:
    """Write the next dictionary of each kind, and its row in the table."""
    records = list(read([ROOT / "tests" / "archive"]))[::2]
    for kind, samples in ((ENTRY, list(of_entries(records))), (STANDING, list(of_standings(records)))):
        random.Random(kind).shuffle(samples)
        content = zstd.train_dict(samples, SIZE).dict_content
        number = 1 + max([int(path.name.partition("-")[2]) for path in FOLDER.glob(f"{kind}-*")], default=0)
        (FOLDER / f"{kind}-{number}").write_bytes(content)
        with SUMS.open("a", encoding="ascii") as table:
            table.write(f"{sha256(content).hexdigest()}  {kind}-{number}\n")
        print(f"{kind}-{number}: {len(samples)} samples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
