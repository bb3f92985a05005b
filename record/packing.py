"""Pack whole matches into few bytes, for the archive, and unpack them, whole or in parts, to the same bytes again.

A packed match is a header, which is a line of canonical JSON, then its blocks, then its side log. The header has

- `format`: 1; `match`, `game`; `entries`: how many; `digest`: that of the last entry; `form`: which form its positions have
- `dictionary`: with which dictionary the texts were compressed (record/dictionaries): its name, a hyphen and 16 hex digits of its SHA-256
- `blocks`: of each block how many entries it has, and the lengths of its three parts in bytes; `sidelog`: the length of the side log, or 0.

A block has BLOCK entries, and the last one the rest. Its first part, in zstd, is the lean form of these entries (record/lean.py): a line
`{"links","revision","rules","secret"}`, then a line for each entry. Hashes, signatures and random ids that stand there once are replaced by
a byte that says of which kind they are (KINDS). The second part has them as bytes, one after the other, because nothing compresses them.
The third part, in zstd, has a line for each position after a multiple of EVERY entries, or it is empty. A reader that knows another form of
positions ignores them: they follow from the entries. The side log of the match is in zstd, too.

A *stretch* is STRETCH entries of a block. `links` has the digest and the moment of the entry before each stretch, but the first one of the
match. So what a page needs is linked from there on, and a position needs no digest but its own.

`unpack` links all entries, and they must lead to the digest in the header. So a damaged match is never taken for a whole one. Positions are
not compared with the entries. `Packed` links nothing: whoever reads parts must know that the bytes are those that were packed
(events/archive/matches.py).
docs/auditing.md describes the format for other languages.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import NamedTuple

from record.dictionaries import NoDictionary, dictionary, hashes, newest, zstd
from record.entries import START, Entry, canonical, parse
from record.json_text import loads
from record.lean import BadLean, Head, lean, linked, unlinked

FORMAT = 1
BLOCK = 1024  # entries of a block
STRETCH = 64  # entries of a stretch
EVERY = 128  # entries between two positions, at most
LEVEL = 19  # of zstd
KINDS = (32, 16, 8, 16, 32, 64)  # what the bytes 1 to 6 stand for: 64, 32 and 16 hex digits, UUIDs, keys and signatures in base64
_DIGITS = 16  # of the hash of a dictionary in a header
MOST = 256 << 20  # bytes of an unpacked part
_LONG = re.compile(
    rb'(?<=")(?:([0-9a-f]{64})|([0-9a-f]{32})|([0-9a-f]{16})|([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})|([A-Za-z0-9+/]{43}=)|([A-Za-z0-9+/]{86}==))(?=")'
)
_PLACE = re.compile(rb"[\x01-\x06]")  # no JSON has these bytes
_SHARED = ("revision", "rules", "secret")  # members of a head that stand in each block


class BadPacked(ValueError):
    """A match cannot be packed, or some bytes are not a packed match. The text says why, without a period."""


class Header(NamedTuple):
    """What is known about a packed match without unpacking it. `blocks`: how many entries each has, and its three parts. `form`: that of
    its positions."""

    match: str
    game: str
    entries: int
    digest: str
    dictionary: str
    blocks: list[tuple[int, bytes, bytes, bytes]]
    sidelog: bytes
    form: int


class Unpacked(NamedTuple):
    """A match as it was packed. `raws`: the bytes of its entries in the log. `digest`: that of the last entry. `secret`: in hex."""

    match: str
    raws: list[bytes]
    entries: list[Entry]
    digest: str
    secret: str
    sidelog: bytes


class Block(NamedTuple):
    """Entries of a match in their lean form. `before`: the version before them. `links`: the digest and the moment before each stretch."""

    head: Head
    before: int
    lines: list[bytes]
    links: list[tuple[str, int]]

    def entries(self, stretch: int = 0) -> Iterator[Entry]:
        """Yield the entries from a stretch on, without digests."""
        first = stretch * STRETCH
        return unlinked(self.head, self.lines[first:], self.before + first, self.links[stretch][1])

    def linked(self, stretch: int) -> tuple[list[Entry], list[bytes]]:
        """Return the entries of a stretch, and their bytes in the log. Raises BadPacked if they do not lead to the next stretch."""
        first, (digest, at) = stretch * STRETCH, self.links[stretch]
        try:
            found = linked(self.head, unlinked(self.head, self.lines[first : first + STRETCH], self.before + first, at), digest)
        except (ValueError, KeyError, TypeError, AttributeError) as reason:
            raise BadPacked(f"{type(reason).__name__}: {reason}") from None
        if stretch + 1 < len(self.links) and found[0][-1].digest != self.links[stretch + 1][0]:
            raise BadPacked(f"its entries do not lead to the digest of version {self.before + first + STRETCH}")
        return found


class Packed:
    """A packed match that is unpacked as far as somebody needs it. It never changes. Every method raises BadPacked."""

    def __init__(self, content: bytes, read: Callable[[str], bytes | None] | None = None) -> None:
        """`read`: returns a dictionary that this program does not have, by name."""
        self.header = header_of(content)
        self._using = _dictionary(self.header.dictionary, read)

    def block(self, number: int) -> Block:
        """Return a block."""
        count, text, long, _ = self.header.blocks[number]
        before = self._before(number)
        shared, *lines = _put_back(_decompressed(text, self._using), long).split(b"\n")
        try:
            head = loads(shared)
            links = [(digest, at) for digest, at in head.pop("links", [])]
            known = head.keys() == {*_SHARED} and all(isinstance(digest, str) and type(at) is int for digest, at in links)
        except (ValueError, TypeError, AttributeError):
            known = False
        if not known:
            raise BadPacked("a block has no head")
        if number == 0:
            links.insert(0, (START, 0))
        if len(lines) != count or len(links) != -(-count // STRETCH) or before % STRETCH:
            raise BadPacked("its header does not fit")
        return Block({**head, "match": self.header.match}, before, lines, links)

    def positions(self, number: int) -> dict[int, bytes]:
        """Return the positions in a block by version, as they were packed. There may be none."""
        count, *_, part = self.header.blocks[number]
        before = self._before(number)
        versions = range((before // EVERY + 1) * EVERY, before + count + 1, EVERY)
        texts = _decompressed(part, self._using).split(b"\n") if part else []
        if texts and len(texts) != len(versions):
            raise BadPacked("its positions do not fit")
        return dict(zip(versions, texts, strict=False))

    def _before(self, number: int) -> int:
        """Return the version before a block."""
        return sum(count for count, *_ in self.header.blocks[:number])

    def sidelog(self) -> bytes:
        """Return the side log."""
        return self.header.sidelog and _decompressed(self.header.sidelog, self._using)


def pack(
    match: str, raws: list[bytes], secret: str, sidelog: bytes = b"", using: str = "", positions: Sequence[bytes] = (), form: int = 0
) -> bytes:
    """Return a whole match as one object. Raises BadPacked.

    `using`: the name of a dictionary, by default the newest. `positions`: a line for each position after a multiple of EVERY entries, or
    none. They have this `form`.

    >>> from record.example import MATCH, RAWS, SECRET
    >>> packed = pack(MATCH, RAWS, SECRET.hex(), b"who read it")
    >>> unpack(packed).raws == RAWS, unpack(packed).sidelog
    (True, b'who read it')
    >>> pack(MATCH, RAWS[1:], SECRET.hex())
    Traceback (most recent call last):
    record.packing.BadPacked: its entries do not lead to its digest
    """
    using = using or newest("match")
    head, texts = _texts(match, raws, secret)
    blocks = []
    for number, text in enumerate(texts):
        short, long = _taken_out(text)
        mine = positions[number * BLOCK // EVERY : (number + 1) * BLOCK // EVERY]
        blocks.append((text.count(b"\n"), _compressed(short, using), long, _compressed(b"\n".join(mine), using) if mine else b""))
    beside = _compressed(sidelog, using) if sidelog else b""
    lengths = [[count, *map(len, parts)] for count, *parts in blocks]
    told = {
        **head,
        "blocks": lengths,
        "dictionary": f"{using}-{hashes()[using][:_DIGITS]}",
        "form": form,
        "format": FORMAT,
        "sidelog": len(beside),
    }
    return b"".join([canonical(told), b"\n", *(part for _, *parts in blocks for part in parts), beside])


def sample(match: str, raws: list[bytes], secret: str) -> bytes:
    r"""Return what is compressed of a match, to train a dictionary with. Raises BadPacked.

    >>> from record.example import MATCH, RAWS, SECRET
    >>> sample(MATCH, RAWS, SECRET.hex()).count(b"\n")
    4
    """
    return b"\n".join(_taken_out(text)[0] for text in _texts(match, raws, secret)[1])


def hash_of(content: bytes) -> str:
    """Return the hash of a packed match by which its object is named, in hex.

    >>> hash_of(b"")
    'e3b0c44298fc1c14'
    """
    return sha256(content).hexdigest()[:16]


def header_of(content: bytes) -> Header:
    """Return the header of a packed match, and its parts. Raises BadPacked.

    >>> from record.example import MATCH, RAWS, SECRET
    >>> header = header_of(pack(MATCH, RAWS, SECRET.hex()))
    >>> header.game, header.entries, header.digest == parse(RAWS[-1]).digest
    ('war', 4, True)
    """
    line, _, rest = content.partition(b"\n")
    blocks, at = [], 0
    try:
        told = loads(line)
        if told["format"] != FORMAT:
            raise BadPacked(f"its format is {told['format']!r}, not {FORMAT}")
        for count, text, long, positions in told["blocks"]:
            parts = rest[at : at + text], rest[at + text : at + text + long], rest[at + text + long : at + text + long + positions]
            blocks.append((count, *parts))
            at += text + long + positions
        if type(told["form"]) is not int or type(told["dictionary"]) is not str:
            raise BadPacked("its header does not fit")
        whole = at + told["sidelog"] == len(rest) and min(text for _, text, _, _ in told["blocks"]) > 0 and told["sidelog"] >= 0
        if not whole or sum(count for count, *_ in blocks) != told["entries"]:
            raise BadPacked("its parts are damaged")
        return Header(told["match"], told["game"], told["entries"], told["digest"], told["dictionary"], blocks, rest[at:], told["form"])
    except (ValueError, KeyError, TypeError) as reason:
        if isinstance(reason, BadPacked):
            raise
        raise BadPacked(f"{type(reason).__name__}: {reason}") from None


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
    packed = Packed(content, read)
    header, digest, at, secret = packed.header, START, 0, ""
    entries: list[Entry] = []
    raws: list[bytes] = []
    for number in range(len(header.blocks)):
        block = packed.block(number)
        packed.positions(number)
        secret = block.head["secret"]
        for stretch, link in enumerate(block.links):
            if link != (digest, at):
                raise BadPacked("its links are not those of its entries")
            some, bytes_of_some = block.linked(stretch)
            entries += some
            raws += bytes_of_some
            digest, at = entries[-1].digest, entries[-1].at
    try:
        if digest != header.digest:
            raise BadPacked("its entries do not lead to its digest")
        if header.game != entries[0].events[0]["game"]:
            raise BadPacked("its header does not fit")
    except (IndexError, KeyError, TypeError):
        raise BadPacked("its first entry names no game") from None
    return Unpacked(header.match, raws, entries, header.digest, secret, packed.sidelog())


def _texts(match: str, raws: list[bytes], secret: str) -> tuple[Head, list[bytes]]:
    """Return members of the header, and the text of each block. Raises BadPacked."""
    try:
        head, lines = lean(match, raws, secret)
        head["game"] = parse(raws[0]).events[0]["game"]
    except BadLean as reason:
        raise BadPacked(str(reason)) from None
    except (IndexError, KeyError):
        raise BadPacked("its first entry names no game") from None
    shared, texts = {name: head.pop(name) for name in _SHARED}, []
    for first in range(0, len(lines), BLOCK):
        last = min(first + BLOCK, len(lines))
        before = [parse(raws[start - 1]) for start in range(first, last, STRETCH) if start]
        links = {"links": [[entry.digest, entry.at] for entry in before]} if before else {}
        texts.append(b"\n".join([canonical({**shared, **links}), *lines[first:last]]))
    return head, texts


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


def _dictionary(told: str, read: Callable[[str], bytes | None] | None) -> zstd.ZstdDict:
    """Return a dictionary as a header tells it. Raises BadPacked if it has another hash."""
    name, _, digest = told.rpartition("-")
    if hashes().get(name, "")[:_DIGITS] == digest:
        with suppress(NoDictionary):
            return dictionary(name)
    found = None if read is None else read(name)
    if found is None:
        raise BadPacked(f"it needs the dictionary {name}, which is missing")
    if sha256(found).hexdigest()[:_DIGITS] != digest:
        raise BadPacked(f"the dictionary {name} is another one than it was packed with")
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
