"""The data of a simulated server, and the commands on it that the functions, the scripts and the modules of events/store use.

Answers have the form of RESP 2: bytes, whole numbers, lists, None, and `Status`. Times are ms. test_stand_in.py compares this with the real
server.
"""

from __future__ import annotations

import fnmatch
import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple

Item = tuple[bytes, list[bytes]]


class Failed(Exception):
    """A command is refused. The text is that of the server."""


class Status(bytes):
    """A status in an answer, such as OK."""


class Stream:
    """A stream: ids of its items in order, and their fields. Only ids with an explicit first part are used."""

    __slots__ = ("ids", "fields", "last")

    def __init__(self, ids: list[tuple[int, int]], fields: list[list[bytes]], last: tuple[int, int]) -> None:
        self.ids, self.fields, self.last = ids, fields, last

    def copy(self) -> Stream:
        """Return a copy. Fields never change, so both share them."""
        return Stream(self.ids[:], self.fields[:], self.last)


class ZSet(dict[bytes, float]):
    """A sorted set: scores by member."""

    __slots__ = ("_sorted",)
    _sorted: list[tuple[float, bytes]] | None

    def rows(self) -> list[tuple[float, bytes]]:
        """Return scores and members in order. Whoever changes the set calls `changed`."""
        found = getattr(self, "_sorted", None)
        if found is None:
            found = self._sorted = sorted([(score, member) for member, score in self.items()])
        return found

    def changed(self) -> None:
        """Forget the order."""
        self._sorted = None

    def copy(self) -> ZSet:
        """Return a copy."""
        return ZSet(self)


_TYPES = {bytes: b"string", dict: b"hash", ZSet: b"zset", Stream: b"stream", list: b"list", set: b"set"}
_WRONG = "WRONGTYPE Operation against a key holding the wrong kind of value"
_STREAM_ID = "ERR Invalid stream ID specified as stream command argument"


class Kept(NamedTuple):
    """What a server has: its keys, and the moments when some of them end."""

    keys: dict[bytes, Any]
    ends: dict[bytes, float]


NOTHING = Kept({}, {})
OK = Status(b"OK")
FILE, REPLICAS = 1, 2


class Data:
    """The keys of a server. `now` returns the time of the server in ms. `chance` draws random members. `kept`: what it begins with.

    `effects`: if it is a list, it gets each command that writes, for the replicas. `reach`: who gets what is written, as a function says
    (set_repl). `passing`: the keys that no file has.
    """

    def __init__(self, now: Callable[[], float], chance: random.Random, kept: Kept = NOTHING) -> None:
        self.keys = {key: value if type(value) is bytes else value.copy() for key, value in kept.keys.items()}
        self.ends = dict(kept.ends)
        self._first_end = min(self.ends.values(), default=math.inf)  # or earlier
        self.now, self.chance = now, chance
        self.effects: list[list[bytes]] | None = None
        self.reach = REPLICAS | FILE
        self.passing: set[bytes] = set()
        self.told: list[tuple[bytes, bytes]] = []

    def call(self, words: list[bytes]) -> Any:
        """Carry out a command and return its answer. Raises Failed."""
        name = words[0]
        found = _COMMANDS.get(name)
        if found is None:
            raise Failed(f"ERR unknown command '{name.decode()}'")
        answer = found(self, words)
        if name in WRITING:
            if not self.reach & FILE:
                self.passing.add(words[1])
            if self.effects is not None and self.reach & REPLICAS:
                self.effects.append(words)
        return answer

    def expire(self) -> None:
        """Remove the keys that have ended. It is done before each command, and not within a function: there, time stands still."""
        now = self.now()
        if now < self._first_end:
            return
        for key in [key for key, end in self.ends.items() if end <= now]:
            del self.ends[key]
            self.keys.pop(key, None)
        self._first_end = min(self.ends.values(), default=math.inf)

    def end(self, key: bytes, moment: float) -> None:
        """Let a key end at a moment."""
        self.ends[key] = moment
        self._first_end = min(self._first_end, moment)

    def restart(self) -> None:
        """Forget what no file has."""
        for key in self.passing:
            self.drop(key)
        self.passing.clear()

    def get(self, key: bytes, kind: type) -> Any:
        """Return the value of a key, or None. Raises Failed for one of another type."""
        value = self.keys.get(key)
        if value is not None and type(value) is not kind:
            raise Failed(_WRONG)
        return value

    def made(self, key: bytes, kind: type) -> Any:
        """Return the value of a key, which is made if it is missing."""
        value = self.get(key, kind)
        if value is None:
            value = self.keys[key] = Stream([], [], (0, 0)) if kind is Stream else kind()
        return value

    def drop(self, key: bytes) -> bool:
        """Remove a key. Return True if there was one."""
        self.ends.pop(key, None)
        return self.keys.pop(key, None) is not None


# ---------------------------------------------------------------- strings and keys


def _get(data: Data, words: list[bytes]) -> Any:
    return data.get(words[1], bytes)


def _mget(data: Data, words: list[bytes]) -> Any:
    found = [data.keys.get(key) for key in words[1:]]
    return [value if type(value) is bytes else None for value in found]


def _set(data: Data, words: list[bytes]) -> Any:
    key, value, options = words[1], words[2], [word.upper() for word in words[3:]]
    if (b"NX" in options and key in data.keys) or (b"XX" in options and key not in data.keys):
        return None
    data.drop(key)
    data.keys[key] = value
    for unit, ms in ((b"PX", 1), (b"EX", 1000)):
        if unit in options:
            data.end(key, data.now() + int(words[3 + options.index(unit) + 1]) * ms)
    return OK


def _exists(data: Data, words: list[bytes]) -> Any:
    return sum(key in data.keys for key in words[1:])


def _unlink(data: Data, words: list[bytes]) -> Any:
    return sum(data.drop(key) for key in words[1:])


def _type(data: Data, words: list[bytes]) -> Any:
    return Status(_TYPES[type(data.keys[words[1]])] if words[1] in data.keys else b"none")


def _pexpire(data: Data, words: list[bytes]) -> Any:
    if words[1] not in data.keys:
        return 0
    data.end(words[1], data.now() + int(words[2]))
    return 1


def _scan(data: Data, words: list[bytes]) -> Any:
    options = dict(zip([word.upper() for word in words[2::2]], words[3::2], strict=True))
    pattern = options.get(b"MATCH", b"*")
    return [b"0", [key for key in data.keys if matches(pattern, key)]]


def matches(pattern: bytes, key: bytes) -> bool:
    """Return True if a key matches a pattern of the server."""
    return fnmatch.fnmatchcase(key.decode("latin1"), pattern.decode("latin1"))


def _time(data: Data, words: list[bytes]) -> Any:
    microseconds = int(data.now() * 1000)
    return [b"%d" % (microseconds // 1_000_000), b"%d" % (microseconds % 1_000_000)]


def _publish(data: Data, words: list[bytes]) -> Any:
    data.told.append((words[1], words[2]))
    return 0


def _ping(data: Data, words: list[bytes]) -> Any:
    return Status(b"PONG")


# ---------------------------------------------------------------- hashes


def _hget(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], dict)
    return None if value is None else value.get(words[2])


def _hmget(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], dict) or {}
    return [value.get(field) for field in words[2:]]


def _hgetall(data: Data, words: list[bytes]) -> Any:
    return [part for item in (data.get(words[1], dict) or {}).items() for part in item]


def _hkeys(data: Data, words: list[bytes]) -> Any:
    return list(data.get(words[1], dict) or {})


def _hlen(data: Data, words: list[bytes]) -> Any:
    return len(data.get(words[1], dict) or {})


def _hexists(data: Data, words: list[bytes]) -> Any:
    return int(words[2] in (data.get(words[1], dict) or {}))


def _hset(data: Data, words: list[bytes]) -> Any:
    if len(words) < 4 or len(words) % 2:
        raise Failed("ERR wrong number of arguments for 'hset' command")
    value = data.made(words[1], dict)
    before = len(value)
    value.update(zip(words[2::2], words[3::2], strict=True))
    return len(value) - before


def _hsetnx(data: Data, words: list[bytes]) -> Any:
    value = data.made(words[1], dict)
    if words[2] in value:
        return 0
    value[words[2]] = words[3]
    return 1


def _hincrby(data: Data, words: list[bytes]) -> Any:
    value = data.made(words[1], dict)
    number = int(value.get(words[2], b"0")) + int(words[3])
    value[words[2]] = b"%d" % number
    return number


def _hdel(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], dict)
    if value is None:
        return 0
    gone = sum(value.pop(field, None) is not None for field in words[2:])
    if not value:
        data.drop(words[1])
    return gone


# ---------------------------------------------------------------- sorted sets


def score_text(score: float) -> bytes:
    """Return a score as the server writes it."""
    if math.isinf(score):
        return b"inf" if score > 0 else b"-inf"
    return b"%d" % score if score == int(score) and abs(score) < 1e17 else repr(score).encode()


def _bound(text: bytes) -> tuple[float, bool]:
    return (float(text[1:]), True) if text.startswith(b"(") else (float(text), False)


def _span(rows: list[tuple[float, bytes]], low: bytes, high: bytes) -> tuple[int, int]:
    (least, without), (most, excluded) = _bound(low), _bound(high)
    scores = [score for score, _ in rows]
    start = (bisect_right if without else bisect_left)(scores, least)
    return start, max(start, (bisect_left if excluded else bisect_right)(scores, most))


def _zadd(data: Data, words: list[bytes]) -> Any:
    place, options = 2, set()
    while words[place].upper() in (b"NX", b"XX", b"GT", b"LT", b"CH"):
        options.add(words[place].upper())
        place += 1
    found = data.get(words[1], ZSet)
    if found is None and b"XX" in options:
        return 0
    value = data.made(words[1], ZSet)
    added = altered = 0
    for number, member in zip(words[place::2], words[place + 1 :: 2], strict=True):
        score, known = float(number), value.get(member)
        if known is None:
            if b"XX" not in options:
                value[member], added = score, added + 1
        elif b"NX" not in options and not (b"GT" in options and score <= known) and not (b"LT" in options and score >= known):
            altered += known != score
            value[member] = score
    value.changed()
    return added + altered if b"CH" in options else added


def _zrem(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], ZSet)
    return 0 if value is None else _taken(data, words[1], value, [member for member in words[2:] if member in value])


def _taken(data: Data, key: bytes, value: ZSet, members: list[bytes]) -> int:
    for member in members:
        del value[member]
    value.changed()
    if not value:
        data.drop(key)
    return len(members)


def _zcard(data: Data, words: list[bytes]) -> Any:
    return len(data.get(words[1], ZSet) or ())


def _zscore(data: Data, words: list[bytes]) -> Any:
    score = (data.get(words[1], ZSet) or {}).get(words[2])
    return None if score is None else score_text(score)


def _zmscore(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], ZSet) or {}
    return [score_text(value[member]) if member in value else None for member in words[2:]]


def _zcount(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], ZSet)
    if value is None:
        return 0
    start, end = _span(value.rows(), words[2], words[3])
    return end - start


def _zrange(data: Data, words: list[bytes]) -> Any:
    value, options = data.get(words[1], ZSet), [word.upper() for word in words[4:]]
    if value is None:
        return []
    rows, reverse = value.rows(), b"REV" in options
    if b"BYLEX" in options:
        low, high = (words[3], words[2]) if reverse else (words[2], words[3])
        rows = [row for row in rows if _follows(row[1], low) and _precedes(row[1], high)]
        rows = _limited(rows[::-1] if reverse else rows, words[4:], options)
    elif b"BYSCORE" in options:
        start, end = _span(rows, *((words[3], words[2]) if reverse else (words[2], words[3])))
        rows = rows[start:end]
        rows = _limited(rows[::-1] if reverse else rows, words[4:], options)
    else:
        rows = rows[::-1] if reverse else rows
        first, last = int(words[2]), int(words[3])
        first, last = max(0, first + len(rows)) if first < 0 else first, last + len(rows) if last < 0 else last
        rows = rows[first : last + 1]
    return _told(rows, b"WITHSCORES" in options)


def _follows(member: bytes, low: bytes) -> bool:
    return low == b"-" or (low != b"+" and (member > low[1:] if low.startswith(b"(") else member >= low[1:]))


def _precedes(member: bytes, high: bytes) -> bool:
    return high == b"+" or (high != b"-" and (member < high[1:] if high.startswith(b"(") else member <= high[1:]))


def _limited(rows: list[Any], words: list[bytes], options: list[bytes]) -> list[Any]:
    if b"LIMIT" not in options:
        return rows
    place = options.index(b"LIMIT")
    offset, count = int(words[place + 1]), int(words[place + 2])
    return rows[offset:] if count < 0 else rows[offset : offset + count]


def _told(rows: list[tuple[float, bytes]], with_scores: bool) -> list[bytes]:
    return [part for score, member in rows for part in ((member, score_text(score)) if with_scores else (member,))]


def _zrangebyscore(data: Data, words: list[bytes]) -> Any:
    return _zrange(data, [*words[:4], b"BYSCORE", *words[4:]])


def _zremrangebyscore(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], ZSet)
    if value is None:
        return 0
    start, end = _span(value.rows(), words[2], words[3])
    return _taken(data, words[1], value, [member for _, member in value.rows()[start:end]])


def _zrevrank(data: Data, words: list[bytes]) -> Any:
    members = [member for _, member in (data.get(words[1], ZSet) or ZSet()).rows()]
    return len(members) - 1 - members.index(words[2]) if words[2] in members else None


def _zpopmin(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], ZSet)
    if value is None:
        return []
    rows = value.rows()[: int(words[2]) if len(words) > 2 else 1]
    _taken(data, words[1], value, [member for _, member in rows])
    return _told(rows, True)


def _zrandmember(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], ZSet)
    if value is None:
        return []
    rows = value.rows()
    chosen = data.chance.sample(rows, min(int(words[2]), len(rows)))
    return _told(chosen, b"WITHSCORES" in words[3:])


# ---------------------------------------------------------------- streams


def _id(text: bytes, part: int) -> tuple[int, int]:
    """Return an id. `part`: what stands for a missing second part."""
    first, _, second = text.partition(b"-")
    try:
        return int(first), int(second) if second else part
    except ValueError:
        raise Failed(_STREAM_ID) from None


def _xadd(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], Stream)
    last = value.last if value is not None else (0, 0)
    if words[2] == b"0-*":
        words[2] = b"0-%d" % (last[1] + 1)  # so replicas get the id, too
    id = _id(words[2], 0)
    if id <= last:
        raise Failed("ERR The ID specified in XADD is equal or smaller than the target stream top item")
    value = data.made(words[1], Stream)
    value.ids.append(id)
    value.fields.append(words[3:])
    value.last = id
    return b"%d-%d" % id


def _xlen(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], Stream)
    return 0 if value is None else len(value.ids)


def _xdel(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], Stream)
    gone = [] if value is None else [id for id in (_id(word, 0) for word in words[2:]) if id in value.ids]
    for id in gone:
        place = value.ids.index(id)
        del value.ids[place], value.fields[place]
    return len(gone)


def _xtrim(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], Stream)
    if value is None:
        return 0
    gone = max(0, len(value.ids) - int(words[3])) if words[2] == b"MAXLEN" else bisect_left(value.ids, _id(words[3], 0))
    del value.ids[:gone], value.fields[:gone]
    return gone


def _xinfo(data: Data, words: list[bytes]) -> Any:
    """Answer XINFO STREAM, of which the functions read one field."""
    value = data.get(words[2], Stream)
    if value is None:
        raise Failed("ERR no such key")
    return [b"length", len(value.ids), b"last-generated-id", b"%d-%d" % value.last]


_MOST = (1 << 64, 1 << 64)


def _xrange(data: Data, words: list[bytes]) -> Any:
    return _items(data, words[1], words[2], words[3], words[4:], reverse=False)


def _xrevrange(data: Data, words: list[bytes]) -> Any:
    return _items(data, words[1], words[3], words[2], words[4:], reverse=True)


def _items(data: Data, key: bytes, low: bytes, high: bytes, options: list[bytes], reverse: bool) -> Any:
    value = data.get(key, Stream)
    if value is None:
        return []
    ids = value.ids
    start = 0 if low == b"-" else bisect_right(ids, _id(low[1:], 0)) if low.startswith(b"(") else bisect_left(ids, _id(low, 0))
    if high == b"+":
        end = len(ids)
    else:
        end = bisect_left(ids, _id(high[1:], 0)) if high.startswith(b"(") else bisect_right(ids, _id(high, _MOST[1]))
    places = range(start, end)[::-1] if reverse else range(start, end)
    if options:
        places = places[: int(options[1])]
    return [[b"%d-%d" % ids[place], value.fields[place][:]] for place in places]


# ---------------------------------------------------------------- lists and sets


def _rpush(data: Data, words: list[bytes]) -> Any:
    value = data.made(words[1], list)
    value += words[2:]
    return len(value)


def _lpop(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], list)
    if not value:
        return None
    first = value.pop(0)
    if not value:
        data.drop(words[1])
    return first


def _llen(data: Data, words: list[bytes]) -> Any:
    return len(data.get(words[1], list) or ())


def _lindex(data: Data, words: list[bytes]) -> Any:
    value, place = data.get(words[1], list) or [], int(words[2])
    return value[place] if -len(value) <= place < len(value) else None


def _sadd(data: Data, words: list[bytes]) -> Any:
    value = data.made(words[1], set)
    before = len(value)
    value.update(words[2:])
    return len(value) - before


def _srem(data: Data, words: list[bytes]) -> Any:
    value = data.get(words[1], set) or set()
    gone = value & set(words[2:])
    value -= gone
    if gone and not value:
        data.drop(words[1])
    return len(gone)


def _smembers(data: Data, words: list[bytes]) -> Any:
    return sorted(data.get(words[1], set) or ())


def _is_command(value: Any) -> bool:
    code = getattr(value, "__code__", None)
    return code is not None and code.co_varnames[: code.co_argcount] == ("data", "words")


_COMMANDS: dict[bytes, Callable[[Data, list[bytes]], Any]] = {
    name[1:].upper().encode(): command for name, command in list(globals().items()) if _is_command(command)
}
_COMMANDS[b"DEL"] = _unlink
WRITING = frozenset(b"SET UNLINK DEL PEXPIRE HSET HSETNX HINCRBY HDEL ZADD ZREM ZREMRANGEBYSCORE ZPOPMIN".split())
WRITING |= frozenset(b"XADD XDEL XTRIM RPUSH LPOP SADD SREM".split())
