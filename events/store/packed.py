"""Pack entries, standings and snapshots for the store, and unpack them to the same bytes.

The item of an entry in the stream of its match begins with a header, which the functions of the store read:

| bytes | what |
| --- | --- |
| 0 to 31 | the digest of the entry |
| 32, 33 | the mark of the attempt that wrote it |
| 34 | eight times the number of a dictionary, and flags: LEAN, TAGGED |
| 35 | more flags: STARTS, CLOSES, EXPIRES, UUID, FINGERPRINT, SAW, SIGNED |
| 36 to 41 | the moment of the entry, in ms since 1970 |
| 42 to 49 | if TAGGED: the tag of the request that the entry answers |
| 6 more | if EXPIRES: until when a match may wait for its start, in ms since 1970, by its first entry |

In a LEAN item, the revision of the rules (one byte) and their content hash (16) follow, then if UUID the id of the request (16), if
FINGERPRINT its fingerprint (16), if SAW the hash of what a level saw (8), and if SIGNED the key and the signature (96). With UUID and
without FINGERPRINT, the fingerprint is that of the action. The rest of each item is raw deflate with a preset dictionary. It has
lines: the action with its actor, the events, and if they are not empty another request and further members. The last line has the words of
what the standing has instead for the turn (`_turn_text`). Its numbers come before all lines, after how many bytes they have, in one byte.
The key and the id of the item say the match and the version. An item that is not LEAN has the bytes of its entry instead of the lines.

Deflate has no frame, no checksum and no tables of its own in short data. So it takes fewer bytes for an entry than zstd does (ADR 122).
"""

from __future__ import annotations

import re
import zlib
from base64 import b64decode, b64encode
from binascii import hexlify, unhexlify
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

from record.dictionaries import content, newest
from record.entries import FORMAT, canonical
from record.json_text import loads
from table.data import DAY_MS

ENTRY, STANDING, SNAPSHOT = "entry", "standing", "snapshot"
LEAN, TAGGED = 1, 2
STARTS, CLOSES, EXPIRES, UUID, FINGERPRINT, SAW, SIGNED = 1, 2, 4, 8, 16, 32, 64
MARK = 2  # bytes
BLOCK = 8
_HEADER = 42
_MOST = 1 << 48
_REACH = -14  # raw deflate over 16 kB

_HEAD = re.compile(rb',"at":([1-9][0-9]{0,13}),"digest":"([0-9a-f]{64})","events":\[')
_DIGEST = b',"digest":"'
_FORMAT = b'],"format":%d,"match":"' % FORMAT
_TAIL = re.compile(
    rb'([^"\\]+)",'
    rb'(?:"request":\{"fingerprint":"([0-9a-f]{32})","id":"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"\},|("request":.*,)?)'
    rb'"revision":([1-9][0-9]{0,2}),"rules":"([0-9a-f]{32})"(.*),"version":([1-9][0-9]*)\}',
    re.DOTALL,
)
_SAW = re.compile(rb'"saw":"([0-9a-f]{16})"')
_SIGNED = re.compile(
    rb',"signed":\{"count":[0-9]+,"key":"([A-Za-z0-9+/]{43}=)","place":[0-9]+,"seen":[0-9]+,"signature":"([A-Za-z0-9+/]{86}==)"\}'
)
_PLACE = b"\1"  # no JSON has this byte
_ENTRY = (
    b'{"action":%%b,"at":%%d,"digest":"%%b","events":[%%b],"format":%d,"match":"%%b",%%b"revision":%%d,"rules":"%%b"%%b,"version":%%d}'
    % FORMAT
)
_ACTION, _ACTOR = b'{"action":', b',"actor":"'
_PARTS = {"seconds": 1000, "delay": 1000, "hours": 3_600_000, "vacation_days": DAY_MS}  # of the settings of clocks


class Turn(NamedTuple):
    """What changes in a standing while no fact of the table changes and the match goes on: its members of these names.

    `clock`: the settings of the clocks, which do not change.
    """

    round: int
    phase: str
    active: str | None
    to_act: list[str]
    clocks: Mapping[str, Mapping[str, int | None]]
    clock: Mapping[str, Any]


class Unpacked(NamedTuple):
    """An item: the bytes of its entry, what its standing has instead for the turn, in packed form (b"" for nothing), and the tag of its
    request (b"" for none).

    `at`: the moment of the entry, or 0. `sound`: the header is the one that the entry has.
    """

    raw: bytes
    turn: bytes
    tag: bytes
    at: int
    sound: bool


class _Header(NamedTuple):
    """What the header says of an entry. `extra`: the bytes after the tag. `text`: what is compressed after the line of the turn."""

    digest: bytes
    flags: int
    facts: int
    at: int
    extra: bytes
    text: bytes


def tag_of(request: str) -> bytes:
    """Return the tag of a request: 8 bytes. `request`: its owner and id.

    >>> len(tag_of("paaaaaaaaaaaaaaaa/r1"))
    8
    """
    return sha256(request.encode()).digest()[:8]


def pack(raw: bytes, match: str, version: int, mark: bytes = bytes(MARK), tag: bytes = b"", turn: Turn | None = None) -> bytes:
    """Return the item of an entry. `turn`: what the standing has from this entry on until the next one, or None for what it has.

    >>> from record.example import ENTRIES, RAWS
    >>> item = pack(RAWS[2], ENTRIES[2].match, 3)
    >>> unpack(item, ENTRIES[2].match, 3).raw == RAWS[2], len(item) < len(RAWS[2]) / 2
    (True, True)
    """
    header = _header(raw, match, version)
    form = _number(ENTRY) << 3 | header.flags | (TAGGED if tag else 0)
    start = b"%b%b%c%c%b%b" % (header.digest, mark, form, header.facts, header.at.to_bytes(6, "big"), tag)
    return start + header.extra + deflated(ENTRY, _told(turn, header))


def sample(raw: bytes, match: str, version: int, turn: Turn) -> bytes:
    """Return what is compressed of an item, to train a dictionary with."""
    return _told(turn, _header(raw, match, version))


def unpack(item: bytes, match: str, version: int) -> Unpacked:
    r"""Return what is in an item. A damaged one gives bytes that are not an entry.

    >>> unpack(b"no item", "maaaaaaaaaaaaaaaa", 1).raw[:1]
    b'\x00'
    """
    raw, turn = _unpacked(item, match, version)
    if raw is None:
        return Unpacked(b"\0" + item, b"", b"", 0, False)
    tag = item[_HEADER : _HEADER + 8] if item[34] & TAGGED else b""
    header = _header(raw, match, version)
    sound = (header.digest, header.flags, header.facts, header.at) == (
        item[:32],
        item[34] & LEAN,
        item[35],
        int.from_bytes(item[36:_HEADER], "big"),
    )
    return Unpacked(raw, turn, tag, header.at, sound)


def entry_in(item: bytes, match: str, version: int) -> bytes:
    """Return the bytes of the entry in an item. A damaged item gives bytes that are not an entry."""
    raw = _unpacked(item, match, version)[0]
    return b"\0" + item if raw is None else raw


def fingerprint_of(raw: bytes) -> str:
    """Return the fingerprint of the request in the bytes of an entry, or "" if there is none."""
    try:
        return str(loads(raw)["request"]["fingerprint"])
    except (ValueError, KeyError, TypeError):
        return ""


def indexed(moments: Sequence[int], tags: Mapping[int, bytes]) -> dict[bytes, int]:
    """Return the tags of requests that the store has beside the stream, each with a version, as `note_requests` leaves them (shared.lua).

    `moments`: of each entry from the first on. `tags`: by version.

    >>> indexed([0] * 17, {3: b"a", 9: b"b", 17: b"c"})
    {b'a': 3, b'b': 9}
    >>> indexed([0] * 8 + [DAY_MS + 1] * 8, {3: b"a", 9: b"b"})
    {b'b': 9}
    """
    found: dict[bytes, int] = {}
    for last in range(BLOCK, len(moments) + 1, BLOCK):
        if last > BLOCK and moments[last - BLOCK - 1] < moments[last - 1] - DAY_MS:
            found = {}
        found.update((tags[version], version) for version in range(last - BLOCK + 1, last + 1) if version in tags)
    return found


@lru_cache(2048)
def listed(standing: bytes, item: bytes, match: str, version: int) -> tuple[bytes, bytes]:
    """Return what lists show of a match: the standing at its newest version in canonical JSON, and the entry of that version.

    `standing`: in stored form, b"" for none. `item`: of the newest version, b"" for none.
    """
    raw, turn = _unpacked(item, match, version) if item else (b"", b"")
    at, whole = unpack_standing(standing) if standing else (0, b"")
    if turn and whole and at != version:
        with suppress(ValueError, TypeError, IndexError, KeyError):
            standing_then = loads(whole)
            whole = canonical({**standing_then, **_turn_of(turn, standing_then, int.from_bytes(item[36:_HEADER], "big"))})
    return whole, b"\0" + item if raw is None else raw


def standing_text(standing: bytes, version: int) -> bytes:
    """Return what is compressed of a standing that is whole at a version."""
    return b"%d\n%b" % (version, standing)


def pack_standing(standing: bytes, version: int) -> bytes:
    """Return the stored form of a standing that is whole at a version.

    >>> unpack_standing(pack_standing(b'{"round":2}', 41))
    (41, b'{"round":2}')
    """
    return b"%c%b" % (_number(STANDING), deflated(STANDING, standing_text(standing, version)))


def unpack_standing(stored: bytes) -> tuple[int, bytes]:
    """Return the version at which a stored standing is whole, and the standing; 0 and b"" if it is damaged."""
    try:
        version, _, standing = _inflated(STANDING, stored[0], stored[1:]).partition(b"\n")
        return int(version), standing
    except (ValueError, LookupError, zlib.error):
        return 0, b""


def pack_snapshot(snapshot: bytes) -> bytes:
    """Return the stored form of a snapshot, which is signed.

    >>> unpack_snapshot(pack_snapshot(b"{}"))
    b'{}'
    """
    return b"%c%b" % (_number(SNAPSHOT), deflated(SNAPSHOT, snapshot))


def unpack_snapshot(stored: bytes) -> bytes | None:
    """Return a snapshot, or None if this program does not have its dictionary."""
    try:
        return _inflated(SNAPSHOT, stored[0], stored[1:])
    except (ValueError, LookupError, zlib.error):
        return None


def _header(raw: bytes, match: str, version: int) -> _Header:
    place, head = raw.rfind(_FORMAT), _HEAD.search(raw)
    if (
        head is None
        or head.end() > place
        or not raw.startswith(_ACTION)
        or raw.find(_DIGEST, head.end()) >= 0
        or b"\n" in raw
        or _PLACE in raw
    ):
        return _as_it_is(raw, version)
    tail = _TAIL.fullmatch(raw, place + len(_FORMAT))
    if tail is None:
        return _as_it_is(raw, version)
    named, fingerprint, uuid, other, revision, rules, more, last = tail.groups(b"")
    if named != match.encode() or last != b"%d" % version or len(revision) > 2:
        return _as_it_is(raw, version)
    first, events = raw[len(_ACTION) : head.start()], raw[head.end() : place]
    facts, extra = _facts(raw, version)
    if not uuid:
        extra += b"%c%b" % (int(revision), unhexlify(rules))
    else:
        facts |= UUID
        extra += b"%c%b" % (int(revision), unhexlify(rules + uuid.replace(b"-", b"")))
        if fingerprint != _fingerprint(first):
            facts |= FINGERPRINT
            extra += unhexlify(fingerprint)
    if other and (saw := _SAW.search(other)):
        facts |= SAW
        extra += unhexlify(saw[1])
        other = _without(other, saw, 1)
    if more and (signed := _SIGNED.search(more)):
        words = [b64decode(signed[place]) for place in (1, 2)]
        if [b64encode(word) for word in words] == [signed[1], signed[2]]:
            facts |= SIGNED
            extra += b"".join(words)
            more = _without(_without(more, signed, 2), signed, 1)
    text = b"\n".join((first, events, other, more)) if more else b"\n".join((first, events, other)) if other else first + b"\n" + events
    return _Header(unhexlify(head[2]), LEAN, facts, int(head[1]), extra, text)


def _without(text: bytes, found: re.Match[bytes], group: int) -> bytes:
    """Return a text with a mark in the place of a group."""
    return text[: found.start(group)] + _PLACE + text[found.end(group) :]


def _as_it_is(raw: bytes, version: int) -> _Header:
    """Return the header of bytes that are no entry in canonical JSON, or one that is out of the common."""
    digest, at, facts, extra = bytes(32), 0, 0, b""
    with suppress(ValueError, KeyError, TypeError, IndexError, AttributeError):
        fields = loads(raw)
        if type(fields.get("at")) is int and 0 <= fields["at"] < _MOST:
            at = fields["at"]
        if len(named := bytes.fromhex(fields.get("digest", ""))) == 32:
            digest = named
        facts, extra = _facts(raw, version)
    return _Header(digest, 0, facts, at, extra, raw)


def _facts(raw: bytes, version: int) -> tuple[int, bytes]:
    """Return what the function that removes matches must know of an entry: flags, and if EXPIRES the moment."""
    facts, expires = (STARTS if b'"type":"seats_filled"' in raw else 0), b""
    if version == 1 or b'"type":"match_closed"' in raw:
        first: dict[str, Any] = loads(raw)["events"][0]
        if first.get("type") == "match_closed":
            facts |= CLOSES
        until = first.get("expires")
        if version == 1 and type(until) is int and 0 <= until < _MOST:
            facts, expires = facts | EXPIRES, until.to_bytes(6, "big")
    return facts, expires


def _unpacked(item: bytes, match: str, version: int) -> tuple[bytes | None, bytes]:
    """Return the bytes of the entry in an item, and its turn in packed form; None and b"" if it is damaged."""
    try:
        form, facts, place = item[34], item[35], _HEADER
        if form & 4:
            raise ValueError("no flag of an item")
        if form & TAGGED:
            place += 8
        if facts & EXPIRES:
            place += 6
        if not form & LEAN:
            return _split(_inflated(ENTRY, form >> 3, item[place:]))
        digits, revision, place = hexlify(item[: place + 33]), item[place], place + 17
        rules = digits[2 * place - 32 : 2 * place]
        uuid = fingerprint = b""
        if facts & UUID:
            uuid = digits[2 * place :]
            place += 16
            if facts & FINGERPRINT:
                fingerprint = hexlify(item[place : place + 16])
                place += 16
        long = []
        if facts & (SAW | SIGNED):
            for flag, size in ((SAW, 8), (SIGNED, 32), (SIGNED, 64)):
                if facts & flag:
                    long.append(item[place : place + size])
                    place += size
        lines, turn = _split(_inflated(ENTRY, form >> 3, item[place:]))
        first, _, events = lines.partition(b"\n")
        request = more = b""
        if b"\n" in events:
            events, request, *rest = events.split(b"\n", 2)
            more = rest[0] if rest else b""
        if uuid:
            words = fingerprint or _fingerprint(first), uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]
            request = b'"request":{"fingerprint":"%b","id":"%b-%b-%b-%b-%b"},' % words
        if facts & SAW:
            request = request.replace(_PLACE, hexlify(long.pop(0)), 1)
        for word in long:
            more = more.replace(_PLACE, b64encode(word), 1)
        at = int.from_bytes(item[36:_HEADER], "big")
        told = first, at, digits[:64], events, match.encode(), request, revision, rules, more, version
        return _ENTRY % told, turn
    except (ValueError, LookupError, zlib.error):
        return None, b""


def _told(turn: Turn | None, header: _Header) -> bytes:
    words, _, numbers = (b"" if turn is None else _turn_text(turn, header.at)).partition(b"\0")
    assert len(numbers) < 256, "a turn has few clocks"
    return b"%c%b%b\n%b" % (len(numbers), numbers, header.text, words)


def _split(text: bytes) -> tuple[bytes, bytes]:
    """Return the lines of an entry, and its turn in packed form. Raises ValueError if there is no turn."""
    first = 1 + text[0]
    last = text.rindex(b"\n", first)
    words = text[last + 1 :]
    return text[first:last], b"%b\0%b" % (words, text[1:first]) if words else b""


def _turn_text(turn: Turn, at: int) -> bytes:
    """Return a turn in packed form: words in JSON, and after a zero byte the clocks by seat, in numbers.

    A clock is: how much more time is left than on the one before, in ms; if it runs, how much later than that from `at` on its deadline is;
    and how often its seat was late, if it was. The clock before the first one has the time that a match begins with. Zeros at the end are
    left out.
    """
    numbers, before, clocks = bytearray(), _first_left(turn.clock), turn.clocks
    for seat in sorted(clocks):
        clock = clocks[seat]
        left, deadline, late = clock["left"] or 0, clock["deadline"], clock["late"] or 0
        if left == before and deadline is None and not late:
            numbers.append(0)
            continue
        _add(numbers, 4 * _unsigned(left - before) + (2 if deadline is not None else 0) + (1 if late else 0))
        if deadline is not None:
            _add(numbers, _unsigned(deadline - at - left))
        if late:
            _add(numbers, late)
        before = left
    return b"%b\0%b" % (_words(turn.active, turn.phase, turn.round, *turn.to_act), bytes(numbers.rstrip(b"\0")))


@lru_cache(2048)
def _words(active: str | None, phase: str, round: int, *to_act: str) -> bytes:
    """Return the words of a turn in JSON, without brackets. Who is to act is left out if it is the active seat alone."""
    words = [active, phase, round] if to_act == (active,) else [active, phase, round, to_act]
    return canonical(words)[1:-1]


def _turn_of(text: bytes, standing: Mapping[str, Any], at: int) -> dict[str, Any]:
    """Return the members of a standing that a turn in packed form has. Raises ValueError, IndexError, KeyError, TypeError for others."""
    words, _, numbers = text.partition(b"\0")
    active, phase, number, *more = loads(b"[%b]" % words)
    place, left, clocks = 0, _first_left(standing["clock"]), {}
    for seat in sorted(standing["clocks"]):
        first, place = _next(numbers, place)
        left += _signed(first // 4)
        deadline = None
        late = 0
        if first & 2:
            after, place = _next(numbers, place)
            deadline = at + left + _signed(after)
        if first & 1:
            late, place = _next(numbers, place)
        clocks[seat] = {"left": left, "deadline": deadline, "late": late}
    return {"active": active, "phase": phase, "round": number, "to_act": more[0] if more else [active], "clocks": clocks}


def _first_left(clock: Mapping[str, Any]) -> int:
    """Return how much time a clock with such settings has when a match begins, in ms."""
    return sum(ms * clock.get(name, 0) for name, ms in _PARTS.items())


def _unsigned(number: int) -> int:
    return 2 * number if number >= 0 else -2 * number - 1


def _signed(number: int) -> int:
    return number // 2 if number % 2 == 0 else -(number // 2) - 1


def _add(numbers: bytearray, number: int) -> None:
    """Add a number, seven bits a byte. All bytes but the last have the highest bit."""
    while number > 127:
        numbers.append(number & 127 | 128)
        number >>= 7
    numbers.append(number)


def _next(numbers: bytes, place: int) -> tuple[int, int]:
    """Return the number at a place, which is 0 at the end, and the place after it."""
    if place == len(numbers):
        return 0, place
    number = shift = 0
    while numbers[place] > 127:
        number |= (numbers[place] & 127) << shift
        place, shift = place + 1, shift + 7
    return number | numbers[place] << shift, place + 1


def _fingerprint(first: bytes) -> bytes:
    """Return the fingerprint of a request that consists of this action alone, in hex (events/requests.py)."""
    action, _, actor = first.rpartition(_ACTOR)
    return hexlify(sha256(b'["%b,[%b]]' % (actor, action)).digest()[:16])


def deflated(kind: str, text: bytes, number: int | None = None) -> bytes:
    """Return a text in raw deflate with a dictionary of a kind: the newest one, or that with a number. Raises NoDictionary."""
    deflate = _deflate(kind, number).copy()
    packed: bytes = deflate.compress(text) + deflate.flush()
    return packed


def _inflated(kind: str, number: int, packed: bytes) -> bytes:
    """Return a text. Raises ValueError, NoDictionary, zlib.error for what was not made by `deflated`."""
    inflate: Any = zlib.decompressobj(_REACH, _dictionary(kind, number))
    text: bytes = inflate.decompress(packed)
    if not inflate.eof or inflate.unused_data:
        raise ValueError("the text is cut or too long")
    return text


@cache
def _number(kind: str) -> int:
    """Return the number of the dictionary for what is packed now. What is in the store names its own. Raises NoDictionary."""
    return int(newest(kind).partition("-")[2])


@cache
def _deflate(kind: str, number: int | None) -> Any:
    """Return a compressor that has read its dictionary. A copy of it is ready at once."""
    dictionary = _dictionary(kind, _number(kind) if number is None else number)
    return zlib.compressobj(6, zlib.DEFLATED, _REACH, 5, zlib.Z_DEFAULT_STRATEGY, dictionary)


@cache
def _dictionary(kind: str, number: int) -> bytes:
    """Return a dictionary. Raises NoDictionary."""
    return content(f"{kind}-{number}")
