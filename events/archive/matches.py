"""Write and read whole matches as objects. An object never changes: a match that is brought back and grows gets another one.

The object of a match is named `matches/<first two characters of its id after the m>/<match>/<head>`. With a side log `-` and a hash of that
follow. So an attempt that failed leaves nothing in the way of a later one, after something more was refused.

The dictionary that a match was packed with is the object `dictionaries/<its name>`. It is there before the match is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from itertools import groupby
from typing import Any, NamedTuple

import orjson

from events.archive import dictionaries
from events.archive.objects import Objects
from events.errors import ArchiveDamaged
from events.store.archiving import Away
from events.store.server_logs import Noted
from events.store.sidelog import RawSideLog
from record.dictionaries import newest as newest_dictionary
from record.packing import BadPacked, pack, unpack

PREFIX = "matches/"
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

    @property
    def away(self) -> Away:
        """How it is filed away."""
        text = _packed(self.sidelog, {})
        return Away(len(self.entries), self.digest, sha256(text).hexdigest()[:16] if text else "")


def name_of(match: str, away: Away) -> str:
    """Return the name of the object of a match as it is filed away.

    >>> name_of("mabcdefghijklmnop", Away(812, "00" * 32))
    'matches/ab/mabcdefghijklmnop/812'
    """
    return f"{_folder(match)}{away.head}" + (f"-{away.sidelog}" if away.sidelog else "")


def write(objects: Objects, whole: Whole) -> bool:
    """Create the object of a match. Return False if there is one of that name. Raises ArchiveUnavailable, ArchiveDamaged, BadPacked."""
    using = newest_dictionary("match")
    dictionaries.keep(objects, using)
    content = pack(whole.match, whole.entries, whole.secret, _packed(whole.sidelog, whole.leaves), using)
    return objects.create(name_of(whole.match, whole.away), content)


def read(objects: Objects, match: str, away: Away) -> Whole:
    """Return a match as it is filed away. Raises ArchiveUnavailable, ArchiveDamaged."""
    name = name_of(match, away)
    whole = _read(objects, name)
    if whole.match != match or whole.away != away:
        raise ArchiveDamaged(name, "it is another match or version than the store knows")
    return whole


def named(objects: Objects, name: str) -> Whole:
    """Return the match in an object. Raises ArchiveUnavailable, ArchiveDamaged."""
    whole = _read(objects, name)
    if name != name_of(whole.match, whole.away):
        raise ArchiveDamaged(name, "it is another match or version than its name says")
    return whole


def newest(objects: Objects, after: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield each match in the archive after one, with the names of its objects at the greatest head. Raises ArchiveUnavailable.

    They are in the order of names, which is that of ids. More than one name means that attempts with other side logs came before.
    """
    start = f"{_folder(after)}~" if after else ""  # after the names of that match
    for match, names in groupby(objects.names(PREFIX, start), _match_in):
        found = [(head, name) for name in names if (head := _head_in(name))]
        if found:
            highest = max(head for head, _ in found)
            yield match, [name for head, name in found if head == highest]


def moment_of(raw: bytes) -> int:
    """Return the moment of an entry in ms since 1970, without parsing the rest; 0 if it has none."""
    found = _AT.search(raw)
    return int(found[1]) if found else 0


def all_names(objects: Objects, match: str) -> list[str]:
    """Return the names of all objects of a match. Raises ArchiveUnavailable."""
    return list(objects.names(_folder(match)))


def _read(objects: Objects, name: str) -> Whole:
    content = objects.read(name)
    if content is None:
        raise ArchiveDamaged(name, "it is missing")
    try:
        found = unpack(content, partial(dictionaries.read, objects))
        return Whole(found.match, found.raws, found.digest, found.secret, *_unpacked(found.sidelog))
    except (BadPacked, ValueError, KeyError, TypeError) as reason:
        raise ArchiveDamaged(name, f"it cannot be read ({reason})") from None


def _folder(match: str) -> str:
    return f"{PREFIX}{match[1:3]}/{match}/"


def _match_in(name: str) -> str:
    return name.split("/")[2]


def _head_in(name: str) -> int:
    head = name.rpartition("/")[2].partition("-")[0]
    return int(head) if head.isdecimal() else 0


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
