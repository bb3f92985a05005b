"""Store puzzles: decisions of finished matches for others to find (record/puzzles.py).

They follow from nothing else, so whoever loses them has lost them. All keys begin with `{puzzles}:`, so that one function can change them
together:

- `{puzzles}:p:<puzzle>`: a puzzle, its judged actions, deflated, how often it was tried and solved, and when it was made or last solved;
- `{puzzles}:g:<game>`: the puzzles of a game with their difficulties, scored by when they were made;
- `{puzzles}:days`: the puzzle of each of the last days.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from events.store.client import RedisClient
from events.store.library import script
from record.puzzles import Puzzle, packed, unpacked

_PUT, _COUNT, _DROP, _CHOOSE = (script(name) for name in ("put_puzzle", "count_try", "drop_puzzle", "choose_puzzle"))
_DAYS = "{puzzles}:days"

MOST = 300
"""How many puzzles a game has at most. Whoever has the most then loses the one that was neither made nor solved for the longest time, so
nobody can push out those of all others."""
REMEMBERED = 60
"""For how many days the puzzle of the day is remembered."""


class Listed(NamedTuple):
    """A puzzle in a list: when it was made, its id, and its difficulty."""

    made: int
    id: str
    difficulty: str


class Puzzles:
    """The puzzles of all games. Every method raises StoreUnavailable."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client

    def get(self, id: str) -> Puzzle | None:
        """Return a puzzle, or None if there is none with this id."""
        raw, weighed, tried, solved = self._client.ask("HMGET", _key(id), "puzzle", "weighed", "tried", "solved")
        return None if raw is None else _puzzle(raw, orjson.loads(zlib.decompress(weighed)), tried, solved)

    def all(self, ids: Sequence[str]) -> list[Puzzle]:
        """Return puzzles in the given order, without their judged actions. Those that are gone are left out."""
        found = self._client.ask_all([("HMGET", _key(id), "puzzle", "tried", "solved") for id in ids])
        return [_puzzle(raw, [], tried, solved) for raw, tried, solved in found if raw is not None]

    def listed(self, games: Iterable[str]) -> list[Listed]:
        """Return the puzzles of games, the newest first. They are few (MOST)."""
        found = self._client.ask_all([("ZRANGE", _index(game), 0, -1, "WITHSCORES") for game in games])
        listed = [Listed(int(made), *member.decode().split(" ")) for members in found for member, made in members]
        return sorted(listed, reverse=True)

    def put(self, puzzle: Puzzle) -> bool:
        """Store a new puzzle. Return False, and change nothing, if it is there already."""
        about = packed(puzzle)
        weighed = zlib.compress(orjson.dumps(about.pop("weighed")), 9)
        words: list[str | bytes | int] = [orjson.dumps(about), weighed, puzzle.made, puzzle.difficulty, MOST]
        return bool(self._client.run(_PUT, [_key(puzzle.id), _index(puzzle.game)], words))

    def count(self, id: str, solves: bool, now: int) -> None:
        """Count a try of a puzzle, if it is still there."""
        self._client.run(_COUNT, [_key(id)], ["1" if solves else "", now])

    def drop(self, puzzle: Puzzle) -> bool:
        """Remove a puzzle. Return False if it is gone already."""
        return bool(self._client.run(_DROP, [_key(puzzle.id), _index(puzzle.game)], []))

    def days(self) -> Mapping[int, str]:
        """Return the puzzle of each of the last days, by days since 1970."""
        return {int(day): id.decode() for day, id in self._client.ask("HGETALL", _DAYS).items()}

    def choose(self, day: int, id: str) -> str:
        """Make a puzzle that of a day, unless the day has one. Return that of the day."""
        chosen: bytes = self._client.run(_CHOOSE, [_DAYS], [day, id, REMEMBERED])
        return chosen.decode()


def _puzzle(about: bytes, weighed: Sequence[Any], tried: bytes | None, solved: bytes | None) -> Puzzle:
    """Return a puzzle from the fields of its key."""
    return unpacked({**orjson.loads(about), "weighed": weighed}, int(tried or 0), int(solved or 0))


def _key(id: str) -> str:
    return f"{{puzzles}}:p:{id}"


def _index(game: str) -> str:
    return f"{{puzzles}}:g:{game}"
