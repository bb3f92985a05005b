"""File matches away as `events/store/filing.lua` does, but in this process: a tenth of the time for each, and the same bytes in every key.

A test files the same matches one by one in a store, and compares all keys. So a benchmark may fill a store with what this has made.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from hashlib import sha1

CHUNK = 1500  # as in filing.lua, which says what chunks, groups and counts are
BY_PLAYER, BY_CREATOR, BY_UPDATE, BY_GAME, BY_ID = b"\1", b"\2", b"\3", b"\4", b"\5"
ALL = BY_GAME + b"\0"
PRACTICE, RATED, AMENDED, DISPUTED = 1, 2, 4, 8
RESULTS = {b"over": 1, b"won": 2, b"stood_in": 4, b"drawn": 8, b"void": 16}
SEATED, CREATOR = 32, 64
WIDTHS = {BY_PLAYER: 5, BY_ID: 7}

Command = tuple[str | bytes | int, ...]


class Chunk:
    """The groups of a chunk: their names, each after its length, and their entries. `size`: of all of it in bytes."""

    def __init__(self, number: int, names: list[bytes], entries: list[bytearray]) -> None:
        self.number, self.names, self.entries = number, names, entries
        self.size = sum(map(len, names)) + 2 * len(names) + sum(map(len, entries))

    def content(self) -> bytes:
        """Return the string that the store has."""
        return b"".join(
            part for name, own in zip(self.names, self.entries, strict=True) for part in (name, len(own).to_bytes(2, "big"), own)
        )


class Partition:
    """What a partition has of the matches that are filed away, without their rows."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self._games: list[str] = []
        self._counts: dict[bytes, int] = {}
        self._places = [b"\0"]
        self._chunks = [Chunk(1, [], [])]
        self._created, self._updated, self._rated, self._amended = [b""], [b""], dict[int, bytes](), dict[int, bytes]()

    def file_away(self, game: str, packed: bytes, updated: int) -> bytes:
        """File a match away. Return its row as the store has it.

        `packed`: the row as `events.store.filed` makes it; `updated`: the moment of the last change that its creator sees.
        """
        if game not in self._games:
            self._games.append(game)
        number, played = len(self._created), self._games.index(game) + 1
        row = b"%b%b%c%b" % (packed[:16], updated.to_bytes(6, "big"), played, packed[23:])
        self._created.append(row[10:16] + row[:10])
        self._updated.append(row[16:22] + row[:10])
        entry, id_hash = number.to_bytes(3, "big"), sha1(row[:10], usedforsecurity=False).digest()[:4]
        self._enter(BY_ID, id_hash + entry, id_hash + entry)
        for group, own in self._groups(row, game, number, entry):
            self._enter(group, self._keys(group)[number], own)
        return row

    def commands(self) -> Iterator[Command]:
        """Yield the commands that write all chunks, `groups` and `counts`."""
        for place, chunk in zip(self._places, self._chunks, strict=True):
            yield "ZADD", f"{self.tag}:groups", 0, place + chunk.number.to_bytes(3, "big")
            yield "SET", f"{self.tag}:g:{chunk.number}", chunk.content()
        counts = f"{self.tag}:counts"
        yield "HSET", counts, "games", " ".join(self._games)
        yield "HSET", counts, "chunks", len(self._chunks)
        yield from (("HSET", counts, name, number) for name, number in self._counts.items())

    def _groups(self, row: bytes, game: str, number: int, entry: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the groups that a row enters, in order, each with its entry there."""
        flags, place, creator = row[23], 25 + 11 * row[24], b""
        for start in range(25, place, 11):
            player, results = row[start : start + 10], row[start + 10]
            if results & SEATED:
                yield BY_PLAYER + player, entry + bytes([results, row[22]])
            if results & CREATOR:
                creator = player
        yield BY_CREATOR + creator, entry
        yield BY_UPDATE + creator, entry
        yield BY_GAME + row[22:23], entry
        yield ALL, entry
        for flag, moments in ((RATED, self._rated), (AMENDED, self._amended)):
            if flags & flag:
                moments[number] = row[place : place + 6] + row[:10]
                place += 6
        tags, place = row[place], place + 1
        for _ in range(tags):
            yield b"tag:" + row[place + 1 : place + 1 + row[place]], entry
            place += 1 + row[place]
        if flags & PRACTICE:
            yield b"practice:true", entry
        if flags & DISPUTED:
            yield b"desk:all", entry
        if flags & RATED:
            yield b"rated:" + game.encode(), entry
        if flags & AMENDED:
            yield b"amended:" + game.encode(), entry

    def _keys(self, group: bytes) -> list[bytes] | dict[int, bytes]:
        """Return by the number of a row the key that orders it in a group."""
        if group[0] == BY_UPDATE[0]:
            return self._updated
        if group.startswith(b"rated:"):
            return self._rated
        return self._amended if group.startswith(b"amended:") else self._created

    def _key_at(self, group: bytes, entries: bytearray, place: int) -> bytes:
        if group[0] == BY_ID[0]:
            return bytes(entries[place : place + 7])
        return self._keys(group)[int.from_bytes(entries[place : place + 3], "big")]

    def _place_in(self, group: bytes, entries: bytearray, width: int, key: bytes) -> int:
        """Return the number of the first entry whose key is not before a key."""
        low, high = 0, len(entries) // width
        if self._key_at(group, entries, len(entries) - width) < key:
            return high
        if group[0] == BY_ID[0]:
            while low < high:
                middle = (low + high) // 2
                if entries[middle * 7 : middle * 7 + 7] < key:
                    low = middle + 1
                else:
                    high = middle
            return low
        keys = self._keys(group)
        while low < high:
            middle = (low + high) // 2
            place = middle * width
            if keys[entries[place] << 16 | entries[place + 1] << 8 | entries[place + 2]] < key:
                low = middle + 1
            else:
                high = middle
        return low

    def _enter(self, group: bytes, key: bytes, entry: bytes) -> None:
        where = bisect_right(self._places, _place_of(group, key)) - 1
        chunk, name, width, at_end = self._chunks[where], _named(group), WIDTHS.get(group[:1], 3), False
        at = bisect_left(chunk.names, name)
        if at < len(chunk.names) and chunk.names[at] == name:
            entries = chunk.entries[at]
            place = self._place_in(group, entries, width, key) * width
            at_end = place == len(entries) and at == len(chunk.names) - 1
            entries[place:place] = entry
            chunk.size += width
        else:
            chunk.names.insert(at, name)
            chunk.entries.insert(at, bytearray(entry))
            chunk.size += len(name) + 2 + width
        if group in self._counts:
            for counted, number in _counts_in(group, entry).items():
                self._counts[counted] = self._counts.get(counted, 0) + number
        if chunk.size > CHUNK:
            self._split(where, 0.875 if at_end else 0.5)

    def _split(self, where: int, part: float) -> None:
        chunk, place = self._chunks[where], 1
        middle = chunk.size * part
        for at, (name, entries) in enumerate(zip(chunk.names, chunk.entries, strict=True)):
            first = place + len(name) + 2
            after = first + len(entries)
            if after > middle or at == len(chunk.names) - 1:
                break
            place = after
        if len(entries) < CHUNK / 4 and len(chunk.names) > 1:
            at = max(at, 1)
            self._put(where, chunk, chunk.names[:at], chunk.entries[:at])
            self._new(where, _place_of(chunk.names[at][1:], b""), chunk.names[at:], chunk.entries[at:])
            return
        group, width = name[1:], WIDTHS.get(name[1:2], 3)
        inside = width * max(1, min(len(entries) // width - 1, int((middle - first) // width)))
        if group[0] == BY_ID[0]:  # equal hashes stay together
            while inside < len(entries) and entries[inside : inside + 4] == entries[inside - 7 : inside - 3]:
                inside += 7
            if inside >= len(entries):
                return
        if group not in self._counts:
            self._counts.update(_counts_in(group, bytes(entries)))
        names, contents = chunk.names, chunk.entries
        self._put(where, chunk, names[: at + 1], [*contents[:at], entries[:inside]])
        self._new(where, _place_of(group, self._key_at(group, entries, inside)), names[at:], [entries[inside:], *contents[at + 1 :]])

    def _put(self, where: int, chunk: Chunk, names: list[bytes], entries: list[bytearray]) -> None:
        self._chunks[where] = Chunk(chunk.number, names, entries)

    def _new(self, where: int, place: bytes, names: list[bytes], entries: list[bytearray]) -> None:
        """Let a new chunk follow one. No other place lies between the two."""
        self._places.insert(where + 1, place)
        self._chunks.insert(where + 1, Chunk(len(self._chunks) + 1, names, entries))


def _named(group: bytes) -> bytes:
    return b"%c%b" % (len(group), group)


def _place_of(group: bytes, key: bytes) -> bytes:
    return b"%c%b%b" % (len(group), group, key.ljust(16, b"\0"))


def _counts_in(group: bytes, entries: bytes) -> dict[bytes, int]:
    width = WIDTHS.get(group[:1], 3)
    counted = {group: len(entries) // width}
    if width == WIDTHS[BY_PLAYER]:
        for place in range(0, len(entries), width):
            for what, mask in RESULTS.items():
                if entries[place + 3] & mask:
                    name = group + entries[place + 4 : place + 5] + what
                    counted[name] = counted.get(name, 0) + 1
    return counted
