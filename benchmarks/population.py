"""Make up finished matches: the standings of real ones, with other ids, names, tags and moments.

A few players have thousands of matches, and most have some. The standings are those of the golden archive. There, two matches of three have
disputes or begin from a position of another one. Here few do, as in a service.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from events.standings import stored
from events.store.filed import Packed, id_of, pack, packed_id
from games import GAMES
from record.entries import canonical, parse
from record.positions import follow_all
from table.results import DRAWN, NOT_COUNTED, PLAYED, WON
from tools.private import ROOT
from tools.records import read

UNUSUAL = 0.03  # the share of matches with disputes, or that begin from a position of another match
AI = 0.15  # the share of seats that an artificial player has
DISTINCT = 20_000  # standings
RATED = 2  # in the flags of a row
FIRST, YEAR_MS = 1_780_000_000_000, 365 * 86_400_000
NAMES = ("friday", "cup", "league", "the", "rematch", "of", "champions", "night", "round", "two", "final", "coffee", "club", "beginners")


class Made(NamedTuple):
    """A match that was made up, as `events.store.filed.pack` takes it."""

    match: str
    game: str
    head: int
    digest: str
    at: int
    standing: bytes
    indexes: dict[str, int]


@cache
def standings() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the standings of the finished matches in the golden archive: usual ones, and unusual ones."""
    usual: list[dict[str, Any]] = []
    unusual: list[dict[str, Any]] = []
    for record in read([ROOT / "tests" / "archive"]):
        entries = list(map(parse, record.raws))
        position = follow_all(GAMES[entries[0].events[0]["game"]], None, entries)
        if position is not None and position.status == "over":
            standing = stored(position)
            (unusual if standing["disputes"] or standing["origin"] else usual).append(standing)
    return usual, unusual


def made_up(number: int, seed: int = 1) -> Iterator[Made]:
    """Yield a number of finished matches, in the order in which they were over. The same seed gives the same ones."""
    dice = random.Random(seed)
    usual, unusual = standings()
    players = [id_of("p", dice.randbytes(10)) for _ in range(max(20, number // 20))]
    tags = [f"{dice.choice(NAMES)}-{count}" for count in range(max(3, number // 500))]

    def somebody() -> str:
        """Return a player; half of all seats belong to an eighth of the players."""
        return players[int(len(players) * dice.random() ** 4)]

    for count in range(number):
        standing = dict(dice.choice(unusual if dice.random() < UNUSUAL else usual))
        match, secret, game = id_of("m", dice.randbytes(10)), dice.randbytes(32), standing["game"]
        at = FIRST + YEAR_MS * count // number + dice.randrange(60_000)
        created, creator = at - int(dice.expovariate(1 / 20_000_000)), somebody()
        seats, seated = {}, dict[str, list[str]]()
        for place, seat in enumerate(standing["seats"]):
            player = creator if place == 0 and dice.random() < 0.9 else somebody()
            if place and dice.random() < AI:
                seats[seat] = {"ai": dice.choice(["random", "greedy", "planner"])}
            else:
                seats[seat] = {"player": player}
                seated.setdefault(player, []).append(seat)
        rated = not standing["practice"] and dice.random() < 0.4
        mine = dice.sample(tags, dice.choice([0, 0, 0, 1, 1, 2]))
        standing |= {"id": match, "created": created, "creator": creator, "seats": seats, "rated": rated, "tags": mine}
        standing |= {"name": " ".join(dice.sample(NAMES, 3)) if dice.random() < 0.3 else None}
        standing |= {"secret": secret.hex(), "commitment": sha256(secret).hexdigest()}
        names = ["all", "status:over", f"game:{game}", f"game:{game}:over", f"creator:{creator}", *(f"tag:{tag}" for tag in mine)]
        names += [f"player:{player}" for player in seated]
        names += ["practice:true"] * standing["practice"] + ["desk:all"] * bool(standing["disputes"])
        if not standing["practice"]:
            names += [f"{what}:{player}:{game}" for player, own in seated.items() for what in _results(standing["outcome"], own)]
        indexes = dict.fromkeys(names, created) | {f"news:{player}": at for player in seated} | {f"made:{creator}": at}
        if rated:
            indexes[f"rated:{game}"] = at
        yield Made(match, game, dice.randrange(60, 900), dice.randbytes(32).hex(), at, canonical(standing), indexes)


def _results(outcome: dict[str, Any], seats: list[str]) -> tuple[str, ...]:
    if outcome["reason"] == "draw":
        return (DRAWN,)
    if not outcome["winners"]:
        return (NOT_COUNTED,)
    return (PLAYED,) if set(seats).isdisjoint(outcome["winners"]) else (PLAYED, WON)


def rows(number: int, first: str, seed: int = 1) -> Iterator[tuple[str, Packed]]:
    """Yield a number of finished matches as they are filed away, each with its id. `first`: the player who has the most matches.

    There are at most DISTINCT different standings. What else is in a row differs: ids, players, moments, digest, secret.
    """
    dice = random.Random(seed)
    known = [pack(*one) for one in made_up(min(number, DISTINCT), seed)]
    players = [packed_id(first), *(dice.randbytes(10) for _ in range(max(20, number // 20)))]
    for count in range(number):
        packed = known[count % len(known)]
        row, match = bytearray(packed.row), dice.randbytes(10)
        row[:10] = match
        at = FIRST + YEAR_MS * count // number
        before, created = int.from_bytes(row[10:16], "big"), at - int(dice.expovariate(1 / 20_000_000))
        row[10:16] = created.to_bytes(6, "big")
        people, place = set[bytes](), 25
        for _ in range(row[24]):
            player = players[int(len(players) * dice.random() ** 4)]
            while player in people:
                player = dice.choice(players)
            people.add(player)
            row[place : place + 10] = player
            place += 11
        if row[23] & RATED:
            over = int.from_bytes(row[place : place + 6], "big") - before + created
            row[place : place + 6] = over.to_bytes(6, "big")
        yield id_of("m", match), packed._replace(row=bytes(row), news=())
