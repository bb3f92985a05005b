"""Pack whole matches into few bytes, for the archive, and unpack them to the same bytes again.

A packed match is a header, which is a line of canonical JSON, and after it three parts. The header has

- `format`: 1; `match`, `game`; `entries`: how many; `digest`: that of the last entry
- `dictionary`: which dictionary the first and the third part were compressed with (record/dictionaries)
- `parts`: the length of each part in bytes; `sha256`: the hash of all that follows the header, in hex.

The first part, in zstd, is the lean form of the match (record/lean.py): `{"revision","rules","secret"}` on the first line, then a line for
each entry. Hashes, signatures and random ids that stand there once are replaced by a byte that says of which kind they are (KINDS). The
second part has them as bytes, one after the other, because nothing compresses them. The third part, in zstd, is the side log of the match;
its length is 0 if the match has none.

Unpacking links the entries again, and they must lead to the digest in the header. So a damaged match is never taken for a whole one.
docs/auditing.md describes the format for other languages.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import NamedTuple

from record.dictionaries import NoDictionary, dictionary, newest, zstd
from record.entries import Entry, canonical, parse
from record.json_text import loads
from record.lean import BadLean, Head, lean, whole

FORMAT = 1
LEVEL = 19  # of zstd
KINDS = (32, 16, 8, 16, 32, 64)  # what the bytes 1 to 6 stand for: 64, 32 and 16 hex digits, UUIDs, keys and signatures in base64
MOST = 256 << 20  # bytes of an unpacked part
_LONG = re.compile(
    rb'(?<=")(?:([0-9a-f]{64})|([0-9a-f]{32})|([0-9a-f]{16})|([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})|([A-Za-z0-9+/]{43}=)|([A-Za-z0-9+/]{86}==))(?=")'
)
_PLACE = re.compile(rb"[\x01-\x06]")  # no JSON has these bytes
_SHARED = ("revision", "rules", "secret")  # members of a head that stand in the first part


class BadPacked(ValueError):
    """A match cannot be packed, or some bytes are not a packed match. The text says why, without a period."""


class Header(NamedTuple):
    """What is known about a packed match without unpacking it. `parts`: the three parts. The others are members of the header."""

    match: str
    game: str
    entries: int
    digest: str
    dictionary: str
    parts: list[bytes]


class Unpacked(NamedTuple):
    """A match as it was packed. `raws`: the bytes of its entries in the log. `digest`: that of the last entry. `secret`: in hex."""

    match: str
    raws: list[bytes]
    entries: list[Entry]
    digest: str
    secret: str
    sidelog: bytes


def pack(match: str, raws: list[bytes], secret: str, sidelog: bytes = b"", using: str = "") -> bytes:
    """Return a whole match as one object. `using`: the name of a dictionary, by default the newest. Raises BadPacked.

    >>> from record.example import MATCH, RAWS, SECRET
    >>> packed = pack(MATCH, RAWS, SECRET.hex(), b"who read it")
    >>> unpack(packed).raws == RAWS, unpack(packed).sidelog
    (True, b'who read it')
    >>> pack(MATCH, RAWS[1:], SECRET.hex())
    Traceback (most recent call last):
    record.packing.BadPacked: its entries do not lead to its digest
    """
    using = using or newest("match")
    head, text, long = _texts(match, raws, secret)
    parts = [_compressed(text, using), long, _compressed(sidelog, using) if sidelog else b""]
    rest = b"".join(parts)
    told = {"dictionary": using, "format": FORMAT, "parts": list(map(len, parts)), "sha256": sha256(rest).hexdigest()}
    return canonical(head | told) + b"\n" + rest


def sample(match: str, raws: list[bytes], secret: str) -> bytes:
    r"""Return what is compressed of a match, to train a dictionary with. Raises BadPacked.

    >>> from record.example import MATCH, RAWS, SECRET
    >>> sample(MATCH, RAWS, SECRET.hex()).count(b"\n")
    4
    """
    return _texts(match, raws, secret)[1]


def header_of(content: bytes) -> Header:
    """Return the header of a packed match, and its parts, if they have the hash that the header tells. Raises BadPacked.

    >>> from record.example import MATCH, RAWS, SECRET
    >>> header = header_of(pack(MATCH, RAWS, SECRET.hex()))
    >>> header.game, header.entries, header.digest == parse(RAWS[-1]).digest
    ('war', 4, True)
    """
    line, _, rest = content.partition(b"\n")
    try:
        told = loads(line)
        if told["format"] != FORMAT:
            raise BadPacked(f"its format is {told['format']!r}, not {FORMAT}")
        ends = list(accumulate(told["parts"], initial=0))
        parts = [rest[start:end] for start, end in pairwise(ends)]
        header = Header(told["match"], told["game"], told["entries"], told["digest"], told["dictionary"], parts)
        if len(parts) != 3 or ends[-1] != len(rest) or sha256(rest).hexdigest() != told["sha256"]:
            raise BadPacked("its parts are damaged")
    except (ValueError, KeyError, TypeError) as reason:
        if isinstance(reason, BadPacked):
            raise
        raise BadPacked(f"{type(reason).__name__}: {reason}") from None
    return header


def unpack(content: bytes, read: Callable[[str], bytes | None] | None = None) -> Unpacked:
    """Return the match in an object. `read`: returns a dictionary that this program does not have, by name. Raises BadPacked.

    >>> from record.example import MATCH, RAWS, SECRET
    >>> packed = pack(MATCH, RAWS, SECRET.hex())
    >>> unpack(packed).entries == list(map(parse, RAWS))
    True
    >>> unpack(packed[:-1])
    Traceback (most recent call last):
    record.packing.BadPacked: its parts are damaged
    """
    header = header_of(content)
    using = _dictionary(header.dictionary, read)
    packed, long, sidelog = header.parts
    text = _put_back(_decompressed(packed, using), long)
    shared, *lines = text.split(b"\n")
    try:
        found = whole({**loads(shared), "match": header.match, "entries": header.entries, "digest": header.digest}, lines)
        fits = len(lines) == header.entries and header.game == found.entries[0].events[0]["game"]
    except (ValueError, TypeError, IndexError, KeyError) as reason:
        raise BadPacked(str(reason)) from None
    if not fits:
        raise BadPacked("its header does not fit")
    return Unpacked(found.match, found.raws, found.entries, header.digest, found.secret, sidelog and _decompressed(sidelog, using))


def _texts(match: str, raws: list[bytes], secret: str) -> tuple[Head, bytes, bytes]:
    """Return members of the header, the text of the first part, and the second part. Raises BadPacked."""
    try:
        head, lines = lean(match, raws, secret)
        head["game"] = parse(raws[0]).events[0]["game"]
    except BadLean as reason:
        raise BadPacked(str(reason)) from None
    except (IndexError, KeyError):
        raise BadPacked("its first entry names no game") from None
    shared = canonical({name: head.pop(name) for name in _SHARED})
    return head, *_taken_out(b"\n".join([shared, *lines]))


def _taken_out(text: bytes) -> tuple[bytes, bytes]:
    """Return a text without the hashes, signatures and random ids that it has once, and their bytes."""
    times, long = Counter(found[0] for found in _LONG.finditer(text)), []

    def place(found: re.Match[bytes]) -> bytes:
        kind, word = found.lastindex or 0, found[0]
        short = b64decode(word) if kind > 4 else bytes.fromhex(word.replace(b"-", b"").decode())
        if times[word] > 1 or _written(kind, short) != word:
            return word
        long.append(short)
        return b"%c" % kind

    return _LONG.sub(place, text), b"".join(long)


def _put_back(text: bytes, long: bytes) -> bytes:
    """Return a text with what was taken out of it. Raises BadPacked."""
    at = 0

    def word(found: re.Match[bytes]) -> bytes:
        nonlocal at
        kind = found[0][0]
        start, at = at, at + KINDS[kind - 1]
        return _written(kind, long[start:at])

    whole_text = _PLACE.sub(word, text)
    if at != len(long):
        raise BadPacked("its parts do not fit")
    return whole_text


def _written(kind: int, short: bytes) -> bytes:
    """Return bytes as they are written in entries."""
    if kind > 4:
        return b64encode(short)
    digits = short.hex()
    return (digits if kind < 4 else "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))).encode()


def _dictionary(name: str, read: Callable[[str], bytes | None] | None) -> zstd.ZstdDict:
    """Return a dictionary by name. Raises BadPacked."""
    try:
        return dictionary(name)
    except NoDictionary:
        found = None if read is None else read(name)
    if found is None:
        raise BadPacked(f"it needs the dictionary {name}, which is missing")
    try:
        return zstd.ZstdDict(found)
    except ValueError as reason:
        raise BadPacked(f"the dictionary {name} is damaged: {reason}") from None


def _compressed(text: bytes, using: str) -> bytes:
    return zstd.compress(text, level=LEVEL, zstd_dict=dictionary(using).as_digested_dict)


def _decompressed(part: bytes, using: zstd.ZstdDict) -> bytes:
    """Return the text of a part. Raises BadPacked, also if the text is longer than MOST."""
    reader = zstd.ZstdDecompressor(zstd_dict=using)
    try:
        text = reader.decompress(part, max_length=MOST)
    except zstd.ZstdError as reason:
        raise BadPacked(str(reason)) from None
    if not reader.eof or reader.unused_data:
        raise BadPacked("a part is not one frame of zstd, or is too long")
    return text
