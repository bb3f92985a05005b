"""Write and read whole matches as objects. An object never changes: a match that is brought back and grows gets another one.

The object of a match is named `matches/<first two characters of its id after the m>/<match>/<head>-<hash>`. The hash is that of its bytes
(record.packing.hash_of), and the store keeps it. So no attempt that failed, and no other past of the match, is in the way of a later one.
And what is read of an object is what the archivist wrote, without linking all its entries again.

The dictionary that a match was packed with is the object `dictionaries/<its name>`. It is there before the match is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import orjson

from events.archive import dictionaries
from events.archive.objects import Objects
from events.errors import ArchiveDamaged
from events.snapshots import FORM
from events.snapshots import pack as pack_position
from events.store.archiving import Away
from events.store.server_logs import Noted
from events.store.sidelog import RawSideLog
from games.kernel import Game
from record.dictionaries import newest as newest_dictionary
from record.entries import parse
from record.packing import EVERY, BadPacked, Packed, hash_of, pack, unpack
from record.positions import Position, follow_all

PREFIX = "matches/"
OTHER = "it is another match or version than the store knows"
_AT = re.compile(rb'"actor":"[a-z0-9_]+","at":([0-9]{1,15}),"digest":"')


class Whole(NamedTuple):
    """A whole match from the archive: its id, the bytes of its entries in the log, its secret in hex, and its side log.

    `leaves`: those that it has in the server's logs.
    """

    match: str
    entries: list[bytes]
    digest: str
    secret: str
    sidelog: RawSideLog
    leaves: Noted = {}


class Beside(NamedTuple):
    """What a match has beside its entries: its side log, and its leaves in the server's logs."""

    sidelog: RawSideLog
    leaves: Noted


def name_of(match: str, away: Away) -> str:
    """Return the name of the object of a match as it is filed away.

    >>> name_of("mabcdefghijklmnop", Away(812, "00" * 32, "0123456789abcdef"))
    'matches/ab/mabcdefghijklmnop/812-0123456789abcdef'
    """
    return f"{folder_of(match)}{away.head}-{away.object}"


def write(objects: Objects, whole: Whole, games: Mapping[str, Game]) -> Away:
    """Create the object of a match, unless there is one of that name. Return how the match is to be filed away. `games`: fold it.

    Raises ArchiveUnavailable, ArchiveDamaged, BadPacked.
    """
    content = packed(whole, games)
    away = Away(len(whole.entries), whole.digest, hash_of(content))
    dictionaries.keep(objects, newest_dictionary("match"))
    objects.create(name_of(whole.match, away), content)
    return away


def packed(whole: Whole, games: Mapping[str, Game]) -> bytes:
    """Return the content of the object of a match. Raises BadPacked."""
    beside, positions = _packed(whole.sidelog, whole.leaves), list(positions_of(games, whole.entries))
    return pack(whole.match, whole.entries, whole.secret, beside, newest_dictionary("match"), positions, FORM)


def positions_of(games: Mapping[str, Game], raws: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the positions of a match that its object has, packed. A reader need not fold all entries then."""
    position: Position | None = None
    for first in range(0, len(raws) - EVERY + 1, EVERY):
        entries = list(map(parse, raws[first : first + EVERY]))
        game = games[entries[0].events[0]["game"] if position is None else position.game]
        position = follow_all(game.of_revision(entries[0].revision) or game, position, entries)
        assert position is not None
        yield pack_position(position)


def read(objects: Objects, match: str, away: Away) -> Whole:
    """Return a match as it is filed away, with all its entries linked. Raises ArchiveUnavailable, ArchiveDamaged."""
    return _read(objects, match, away, _content(objects, name_of(match, away)))


def check(objects: Objects, match: str, away: Away, games: Mapping[str, Game]) -> None:
    """Read a match as it is filed away, and compare its positions with those that its entries give, if they have the form of today.

    Raises ArchiveUnavailable, ArchiveDamaged.
    """
    content = _content(objects, name_of(match, away))
    whole, packed = _read(objects, match, away, content), _opened(objects, match, away, content)
    if packed.header.form == FORM:
        found = [text for number in range(len(packed.header.blocks)) for text in packed.positions(number).values()]
        if found and found != list(positions_of(games, whole.entries)):
            raise ArchiveDamaged(name_of(match, away), "its positions are not those of its entries")


def opened(objects: Objects, match: str, away: Away) -> Packed:
    """Return a match as it is filed away, to unpack parts of it. Its bytes have the hash that the store knows.

    Raises ArchiveUnavailable, ArchiveDamaged.
    """
    return _opened(objects, match, away, _content(objects, name_of(match, away)))


def beside(match: Packed) -> Beside:
    """Return what a match has beside its entries. Raises BadPacked."""
    try:
        return Beside(*_unpacked(match.sidelog()))
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        raise BadPacked(f"{type(reason).__name__}: {reason}") from None


def named(objects: Objects, name: str) -> tuple[Whole, Away]:
    """Return the match in an object, and how it is filed away. Raises ArchiveUnavailable, ArchiveDamaged."""
    whole = _whole(objects, name, _content(objects, name))
    away = Away(len(whole.entries), whole.digest, name.rpartition("-")[2])
    if name != name_of(whole.match, away):
        raise ArchiveDamaged(name, "it is another match or version than its name says")
    return whole, away


def all_matches(objects: Objects, after: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield each match in the archive after one, with the names of its objects. Raises ArchiveUnavailable.

    They are in the order of names, which is that of ids. More than one name means that attempts came before, that the match was brought
    back and went on, or that the store was restored and the match has another past.
    """
    start = f"{folder_of(after)}~" if after else ""  # after the names of that match
    for match, names in groupby(objects.names(PREFIX, start), match_in):
        if found := [name for name in names if head_in(name)]:
            yield match, found


def moment_of(raw: bytes) -> int:
    """Return the moment of an entry in ms since 1970, without parsing the rest; 0 if it has none."""
    found = _AT.search(raw)
    return int(found[1]) if found else 0


def all_names(objects: Objects, match: str) -> list[str]:
    """Return the names of all objects of a match. Raises ArchiveUnavailable."""
    return list(objects.names(folder_of(match)))


def folder_of(match: str) -> str:
    """Return what the names of the objects of a match begin with."""
    return f"{PREFIX}{match[1:3]}/{match}/"


def head_in(name: str) -> int:
    """Return the last version of a match from the name of its object; 0 if that is no such name."""
    head = name.rpartition("/")[2].partition("-")[0]
    return int(head) if head.isdecimal() else 0


def match_in(name: str) -> str:
    """Return the match from the name of its object; "" if that is no such name."""
    return name.split("/")[2] if name.startswith(PREFIX) else ""


def _read(objects: Objects, match: str, away: Away, content: bytes) -> Whole:
    name = name_of(match, away)
    whole = _whole(objects, name, content)
    if (whole.match, len(whole.entries), whole.digest) != (match, away.head, away.digest):
        raise ArchiveDamaged(name, OTHER)
    return whole


def _opened(objects: Objects, match: str, away: Away, content: bytes) -> Packed:
    name = name_of(match, away)
    try:
        found = Packed(content, partial(dictionaries.read, objects))
    except BadPacked as reason:
        raise ArchiveDamaged(name, f"it cannot be read ({reason})") from None
    if (found.header.match, found.header.entries, found.header.digest) != (match, away.head, away.digest):
        raise ArchiveDamaged(name, OTHER)
    return found


def _whole(objects: Objects, name: str, content: bytes) -> Whole:
    try:
        found = unpack(content, partial(dictionaries.read, objects))
        return Whole(found.match, found.raws, found.digest, found.secret, *_unpacked(found.sidelog))
    except (BadPacked, ValueError, KeyError, TypeError, AttributeError) as reason:
        raise ArchiveDamaged(name, f"it cannot be read ({reason})") from None


def _content(objects: Objects, name: str) -> bytes:
    """Return the bytes of an object if they have the hash that its name has."""
    content = objects.read(name)
    if content is None:
        raise ArchiveDamaged(name, "it is missing")
    if hash_of(content) != name.rpartition("-")[2]:
        raise ArchiveDamaged(name, "it has other bytes than were written")
    return content


def _packed(sidelog: RawSideLog, leaves: Noted) -> bytes:
    """Return a side log and leaves as JSON, or b"" if there are none."""
    parts: dict[str, Any] = {
        name: {key.decode(): value.decode() for key, value in fields.items()} for name, fields in sidelog._asdict().items() if fields
    }
    if leaves:
        parts["leaves"] = leaves
    return orjson.dumps(parts, option=orjson.OPT_SORT_KEYS) if parts else b""


def _unpacked(text: bytes) -> tuple[RawSideLog, Noted]:
    parts = orjson.loads(text) if text else {}
    leaves: Noted = parts.pop("leaves", {})
    return RawSideLog(**{name: {key.encode(): value.encode() for key, value in fields.items()} for name, fields in parts.items()}), leaves
