"""Store the ratings of each game: what rated matches lead to, derived from them alone (events/rating.py).

All keys of a game begin with `{ratings}:` and its id, so that one function can change them together:

- `{ratings}:war`: up to which match each generation counts, and which generation is served;
- `…:<generation>:players`: the rating of each player;
- `…:<generation>:order`: the players in the order of the list.

When matches must be counted anew, a new generation grows beside the one that is served, and then takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import orjson

from events.store.client import RedisClient
from events.store.library import script
from record.ratings import Rating

_RATE = script("rate")


class Mark(NamedTuple):
    """What a generation counts: how many rated matches, and the last of them in their order with the moment when it was over.

    `amended`: what told rulings apart that changed results, when the generation was begun.
    """

    matches: int = 0
    at: int = 0
    match: str = ""
    amended: str = ""


class Generations(NamedTuple):
    """The generations of a game that have counted something, or begun to, with their marks, and the number of the one that is served."""

    marks: Mapping[int, Mark]
    serving: int

    @property
    def growing(self) -> int:
        """The generation that is counted on: the one that is served, unless a newer one grows."""
        return max(self.marks, default=self.serving)

    @property
    def served(self) -> Mark:
        """The mark of the generation that is served."""
        return self.marks.get(self.serving, Mark())


class Rated(NamedTuple):
    """A player with a rating."""

    player: str
    rating: Rating


class Ratings:
    """The ratings of all games. Every method raises StoreUnavailable."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client

    def generations(self, games: Sequence[str]) -> list[Generations]:
        """Return the generations of each game. One without any has an empty one."""
        found = self._client.ask_all([("HGETALL", _state(game)) for game in games])
        return [_generations({field.decode(): value for field, value in fields.items()}) for fields in found]

    def of(self, game: str, generation: int, players: Sequence[str]) -> dict[str, Rating]:
        """Return the ratings of players. Those without a rating are left out."""
        if not players:
            return {}
        found = self._client.ask("HMGET", _players(game, generation), *players)
        return {player: Rating(*orjson.loads(raw)) for player, raw in zip(players, found, strict=True) if raw is not None}

    def of_player(self, player: str, games: Sequence[str]) -> dict[str, Rating]:
        """Return the ratings of a player, by game."""
        serving = [each.serving for each in self.generations(games)]
        found = self._client.ask_all(
            [("HGET", _players(game, generation), player) for game, generation in zip(games, serving, strict=True)]
        )
        return {game: Rating(*orjson.loads(raw)) for game, raw in zip(games, found, strict=True) if raw is not None}

    def page(self, game: str, generation: int, after: tuple[int, str] | None, limit: int) -> list[Rated]:
        """Return at most `limit` players in the order of the list, the highest first. `after`: the score and the id of a player."""
        order, first = f"{_state(game)}:{generation}:order", 0
        if after is not None:
            score, player = after
            rank, now, above = self._client.ask_all(
                [("ZREVRANK", order, player), ("ZSCORE", order, player), ("ZCOUNT", order, f"({score}", "+inf")]
            )
            first = rank + 1 if rank is not None and now == score else above  # the player may have moved meanwhile
        players = [player.decode() for player in self._client.ask("ZREVRANGE", order, first, first + limit - 1)]
        return [Rated(player, rating) for player, rating in self.of(game, generation, players).items()]

    def store(self, game: str, generation: int, before: Mark | None, mark: Mark, rated: Iterable[Rated], *, serve: bool = False) -> bool:
        """Store ratings and the new mark of a generation. Return False, and change nothing, if its mark is no longer `before`.

        `serve`: serve it from now on, and remove all others.
        """
        told = [part for player, rating in rated for part in (player, orjson.dumps([*rating]), rating.low)]
        words = [generation, b"" if before is None else orjson.dumps([*before]), orjson.dumps([*mark]), "1" if serve else "", *told]
        return bool(self._client.run(_RATE, [_state(game)], words))


def _state(game: str) -> str:
    return f"{{ratings}}:{game}"


def _players(game: str, generation: int) -> str:
    return f"{_state(game)}:{generation}:players"


def _generations(fields: Mapping[str, bytes]) -> Generations:
    marks = {int(field.removeprefix("mark:")): Mark(*orjson.loads(raw)) for field, raw in fields.items() if field.startswith("mark:")}
    return Generations(marks, int(fields.get("serving", 1)))
