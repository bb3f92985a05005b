"""Pack what stays in the store of a match that is filed away: one row with its standing and all its places in lists (filing.lua).

A row has, in big-endian integers:

- the id of the match (10 bytes), the moments when it was created and when its creator was last shown a change (6 each);
- its game, as its partition numbers games (1), flags (1), and the number of its people (1): each is an id (10 bytes), and flags (1) for the
  results of that player, for a seat, and for the creator of the match;
- if it is rated, when it was over (6); if a ruling changed its result, when (6); the number of its tags, each with its length (1);
- its last version (4), the digest of the entry there (32), the hash that its object is named by (8), and how long after the creation the
  entry was (5);
- how the standing is packed, with the number of its dictionary (1), the match's secret (32), and the standing in zstd.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

import orjson

from games.patterns import DIGEST, MATCH, PLAYER, matches
from record.dictionaries import dictionary, newest, zstd

NEWS = ("news", "called", "made")  # the first parts of the names of indexes that nobody asks for after a week; these stay as long

_FLAGS = {"practice": 1, "rated": 2, "amended": 4, "desk": 8}
_RESULTS = {"over": 1, "won": 2, "stood_in": 4, "drawn": 8, "void": 16}
_SEATED, _CREATOR = 32, 64
_WITH_SECRET, _OPEN = 1, 2  # how a standing is packed; `_OPEN`: without the marks that take the place of what the row has
_MAGIC = b"\x28\xb5\x2f\xfd"  # every frame of zstd begins with it
_OPTIONS: dict[int, int] = {
    zstd.CompressionParameter.compression_level: 12,  # 19 saves two bytes, and takes ten times as long
    zstd.CompressionParameter.content_size_flag: 0,
    zstd.CompressionParameter.dict_id_flag: 0,
}
OBJECT = 8  # bytes of the hash of an object

_KEPT = 1024  # rows that are listed again and again
_OUR_DIGITS, _DIGITS = "234567abcdefghijklmnopqrstuvwxyz", "0123456789abcdefghijklmnopqrstuv"
_TO_DIGITS, _FROM_DIGITS = str.maketrans(_OUR_DIGITS, _DIGITS), str.maketrans(_DIGITS, _OUR_DIGITS)


class NotFit(Exception):
    """A match is in a list in which none that is over can be. The text says which list."""


class Packed(NamedTuple):
    """A match as it is filed away. `news`: the names of the indexes of news that it is in."""

    game: str
    row: bytes
    news: tuple[str, ...]


class Filed(NamedTuple):
    """What the store has of a match that is filed away. `at`: the moment of its last entry (ms since 1970). `standing`: in stored form."""

    head: int
    digest: str
    object: str
    at: int
    standing: bytes


def pack(
    match: str, game: str, head: int, digest: str, at: int, standing: bytes, indexes: Mapping[str, int], object: str = "00" * OBJECT
) -> Packed:
    """Pack a match that is over. `at`: the moment of its last entry; `indexes`: as events/standings.py derives them. Raises NotFit.

    `object`: the hash that its object is named by, in hex. The moment of the last change that its creator sees is not in the row: the store
    has it.
    """
    created = indexes["all"]
    flags, people, tags, moments, news = 0, dict[str, int](), list[str](), dict[str, int](), list[str]()
    wanted = {"all", "status:over", f"game:{game}", f"game:{game}:over"}
    for name, moment in sorted(indexes.items()):
        kind, _, rest = name.partition(":")
        if kind in NEWS:
            news.append(name)
            continue
        if kind in ("rated", "amended") and rest == game:
            flags |= _FLAGS[kind]
            moments[kind] = moment
        elif moment != created:
            raise NotFit(name)
        elif name in ("practice:true", "desk:all"):
            flags |= _FLAGS[kind]
        elif kind == "tag":
            tags.append(rest)
        elif kind in ("player", "creator") and matches(PLAYER, rest):
            people[rest] = people.get(rest, 0) | (_SEATED if kind == "player" else _CREATOR)
        elif kind in _RESULTS and rest.endswith(f":{game}"):
            player = rest.partition(":")[0]
            people[player] = people.get(player, 0) | _RESULTS[kind]
        elif name not in wanted:
            raise NotFit(name)
    if not wanted <= indexes.keys() or not matches(MATCH, match):
        raise NotFit("all")
    parts = [
        packed_id(match),
        struct.pack(">Q", created)[2:],
        bytes(7),
        bytes([flags, len(people)]),
        *[packed_id(player) + bytes([results]) for player, results in people.items()],
        *[struct.pack(">Q", moments[kind])[2:] for kind in ("rated", "amended") if kind in moments],
        bytes([len(tags)]),
        *[bytes([len(tag)]) + tag.encode() for tag in tags],
        struct.pack(">I", head),
        bytes.fromhex(digest),
        bytes.fromhex(object),
        struct.pack(">Q", at - created)[3:],
        _packed_standing(standing, [match, *people], created),
    ]
    return Packed(game, b"".join(parts), tuple(news))


@lru_cache(_KEPT)
def unpack(row: bytes) -> Filed:
    """Return what a row has."""
    match, created, place = id_of("m", row[:10]), int.from_bytes(row[10:16], "big"), _place_of_head(row)
    ids = [match, *(id_of("p", row[start : start + 10]) for start in range(25, 25 + 11 * row[24], 11))]
    _, head, digest, object = head_of(row)
    at = created + int.from_bytes(row[place + 36 + OBJECT : place + 41 + OBJECT], "big")
    return Filed(head, digest, object, at, _standing(row[place + 41 + OBJECT :], ids, created))


def is_same(row: bytes, other: bytes) -> bool:
    """Return True if two rows differ in nothing but what the store gives: the moment of the last change, and the number of the game."""
    return row[:16] + row[23:] == other[:16] + other[23:]


def head_of(row: bytes) -> tuple[str, int, str, str]:
    """Return the match of a row, its last version, the digest there, and the hash of its object, without unpacking the rest."""
    place = _place_of_head(row)
    end = place + 36
    return id_of("m", row[:10]), int.from_bytes(row[place : place + 4], "big"), row[place + 4 : end].hex(), row[end : end + OBJECT].hex()


def _place_of_head(row: bytes) -> int:
    """Return where the last version stands in a row."""
    flags = row[23]
    place = 25 + 11 * row[24] + 6 * (bool(flags & _FLAGS["rated"]) + bool(flags & _FLAGS["amended"]))
    tags = row[place]
    place += 1
    for _ in range(tags):
        place += 1 + row[place]
    return place


def packed_id(id: str) -> bytes:
    """Return the 10 bytes of an id of a match or a player. They have the order of ids.

    >>> id_of("m", packed_id("mabcdefghij234567"))
    'mabcdefghij234567'
    """
    return int(id[1:].translate(_TO_DIGITS), 32).to_bytes(10, "big")


def id_of(kind: str, packed: bytes) -> str:
    """Return an id from its 10 bytes."""
    number, digits = int.from_bytes(packed, "big"), ""
    for shift in range(75, -1, -5):
        digits += _OUR_DIGITS[number >> shift & 31]
    return kind + digits


def shortened(match: str, standing: bytes, indexes: Mapping[str, int]) -> bytes:
    """Return the standing of a match without what its row has besides. The dictionary is trained with such standings."""
    people = {name.partition(":")[2] for name in indexes if name.startswith(("player:", "creator:"))}
    return _with_marks(standing, _marks([match, *sorted(people)], indexes["all"], _secret(standing)))


def _packed_standing(standing: bytes, ids: list[str], created: int) -> bytes:
    secret = _secret(standing)
    marks = _marks(ids, created, secret)
    short, how = _with_marks(standing, marks), _WITH_SECRET if secret else 0
    if _without_marks(short, marks) != standing:  # a name looks like a mark
        short, how = standing, how | _OPEN
    using = newest("filed")
    number = int(using.partition("-")[2])
    packed = zstd.compress(short, options=_OPTIONS, zstd_dict=dictionary(using).as_digested_dict).removeprefix(_MAGIC)
    return bytes([number << 2 | how]) + bytes.fromhex(secret or "") + packed


def _standing(packed: bytes, ids: list[str], created: int) -> bytes:
    number, how = packed[0] >> 2, packed[0]
    secret = packed[1:33].hex() if how & _WITH_SECRET else None
    short = zstd.decompress(_MAGIC + packed[33 if secret else 1 :], zstd_dict=dictionary(f"filed-{number}"))
    return short if how & _OPEN else _without_marks(short, _marks(ids, created, secret))


def _secret(standing: bytes) -> str | None:
    """Return the secret in a standing if it is one, in hex."""
    secret = orjson.loads(standing).get("secret")
    return secret if isinstance(secret, str) and matches(DIGEST, secret) else None


def _marks(ids: list[str], created: int, secret: str | None) -> list[tuple[bytes, bytes]]:
    """Return what is in a row besides the standing, each with the mark that takes its place in the standing."""
    found = [(f'"{id}"'.encode(), b'"~%d"' % number) for number, id in enumerate(ids)]
    found.append((b'"created":%d,' % created, b'"created":0,'))
    if secret is not None:
        found += [(f'"{secret}"'.encode(), b'"~s"'), (f'"{sha256(bytes.fromhex(secret)).hexdigest()}"'.encode(), b'"~c"')]
    return found


def _with_marks(standing: bytes, marks: list[tuple[bytes, bytes]]) -> bytes:
    for text, mark in marks:
        standing = standing.replace(text, mark)
    return standing


def _without_marks(standing: bytes, marks: list[tuple[bytes, bytes]]) -> bytes:
    for text, mark in marks:
        standing = standing.replace(mark, text)
    return standing
