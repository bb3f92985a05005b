"""Matches that are filed away: lists, sizes and standings are as before, and what stays in the store is small and follows from entries."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from types import SimpleNamespace
from typing import Any, NamedTuple

import orjson
import pytest

from benchmarks import filing, population
from events import lists
from events.lists import Asker
from events.store import lists as stored
from events.store import packed
from events.store.client import RedisClient
from events.store.filed import NotFit, id_of, pack, packed_id, unpack
from events.store.keys import Keys
from events.store.library import script
from events.store.lists import Lists
from record.entries import FORMAT, canonical
from table.results import RESULTS
from tests.conftest import Keeper, Servers

START = 1_780_000_000_000
GAMES = ("civilizations", "tally", "war")


class Made(NamedTuple):
    """A match as the store has it while it is in use. `over`: it can be filed away."""

    match: str
    game: str
    head: int
    at: int
    digest: str
    entry: bytes
    standing: bytes
    indexes: dict[str, int]
    over: bool


def new_id(dice: random.Random, kind: str) -> str:
    return id_of(kind, dice.randbytes(10))


def made(dice: random.Random, players: list[str], moments: int) -> Made:
    """Make up a match of some players. `moments`: among how many moments those of its creation are."""
    match, game, digest, secret = new_id(dice, "m"), dice.choice(GAMES), dice.randbytes(32).hex(), dice.randbytes(32)
    created, over = START + dice.randrange(moments), dice.random() < 0.8
    head, at, creator = dice.randrange(1, 900), created + dice.randrange(10**9), dice.choice(players)
    seated = dice.sample(players, dice.randrange(1, 5))
    tags = dice.sample(["friday", "cup", "cup-2", "t" * 40], dice.randrange(3))
    practice, rated = dice.random() < 0.2, dice.random() < 0.5
    status = "over" if over else dice.choice(["open", "playing"])
    standing: dict[str, Any] = {
        "id": match,
        "game": game,
        "status": status,
        "created": created,
        "creator": creator,
        "practice": practice,
        "rated": rated,
        "name": dice.choice([None, "A \u00e9vening", "~0", '"~s"']),
        "tags": tags,
        "seats": {f"s{number}": {"player": player} for number, player in enumerate(seated)},
        "invited": {},
        "substitutes": {},
        "handovers": {},
        "offers_made": {},
        "to_act": [] if over else ["s0"],
        "secret": secret.hex() if over else None,
        "commitment": sha256(secret).hexdigest(),
    }
    names = ["all", f"status:{status}", f"game:{game}", f"game:{game}:{status}", f"creator:{creator}", *(f"tag:{tag}" for tag in tags)]
    names += [f"player:{player}" for player in seated] + ["practice:true"] * practice
    if over and not practice:
        names += [
            f"{what}:{player}:{game}" for player in seated for what in dice.choice([("over", "won"), ("over",), ("drawn",), ("void",)])
        ]
    indexes = dict.fromkeys(names, created)
    if over and rated:
        indexes[f"rated:{game}"] = created + dice.randrange(1000)
        if dice.random() < 0.2:
            indexes |= {f"amended:{game}": at, "desk:all": created}
    if not over:
        hidden = dice.random() < 0.3
        indexes[f"own:acts:{seated[0]}" if hidden else f"acts:{seated[0]}"] = at
        if hidden:
            public = {**standing, "to_act": [], "version": 1, "updated": created}
            standing["public"] = public
            del indexes[f"player:{seated[0]}"]
            indexes[f"own:player:{seated[0]}"] = created
    indexes |= {f"news:{seated[0]}": at, f"made:{creator}": at}
    entry = {"format": FORMAT, "match": match, "version": head, "actor": "system", "action": {}, "events": [], "revision": 1}
    entry |= {"rules": "", "at": at, "digest": digest}
    return Made(match, game, head, at, digest, canonical(entry), canonical(standing), indexes, over)


class Crowd:
    """Made up matches in the partitions of a store, and answers about them."""

    def __init__(self, servers: Servers, client: RedisClient, seed: int, number: int, partitions: int = 1) -> None:
        servers.empty()
        dice = random.Random(seed)
        self.keeper, self.keys = servers.keeper, Keys(partitions)
        self.players = [new_id(dice, "p") for _ in range(5)]
        self.lists = Lists(client, self.keys)
        self.matches = [made(dice, self.players, number // 3) for _ in range(number)]
        self.platform: Any = SimpleNamespace(
            store=SimpleNamespace(lists=self.lists), settings=SimpleNamespace(partitions=partitions), games=GAMES
        )
        pipe, renamed = servers.keeper.pipeline(transaction=False), servers.keeper.renamed
        for updated, one in enumerate(self.matches):
            keys = self.keys.of(one.match)
            creator = next(name for name in one.indexes if name.startswith("creator:")).partition(":")[2]
            pipe.execute_command(renamed["SET"], keys.standing, packed.pack_standing(one.standing, one.head))
            pipe.execute_command(renamed["XADD"], keys.stream, f"{one.head}-0", "e", packed.pack(one.entry, one.match, one.head))
            for name, moment in {**one.indexes, f"updated:{creator}": START + 7 * updated + dice.randrange(7)}.items():
                pipe.execute_command(renamed["ZADD"], keys.indexes + name, moment, one.match)
        pipe.execute()

    def file_away(self, one: Made) -> None:
        """Let a match be filed away, as when the archive has it."""
        self.keeper.unlink(self.keys.stream(one.match))
        assert self.lists.file_away(one.match, pack(one.match, one.game, one.head, one.digest, one.at, one.standing, one.indexes))

    def answers(self) -> Iterator[Any]:
        """Yield what lists, sizes and standings say."""
        me, other = self.players[:2]
        filters: list[dict[str, str]] = [{}, {"status": "over", "practice": "false"}, {"tag": "t" * 40}, {"game": "war"}, {"game": "chess"}]
        filters += [{"player": me} | more for more in ({}, {"game": "war", "status": "over"}, {"creator": other}, {"tag": "cup"})]
        filters += [{"creator": me}, {"to_act": me}, {"game": "tally", "practice": "true"}]
        for asker in (Asker(), Asker(self.players[0])):
            for given in filters:
                yield from self.pages(given, 30, asker)
        for desk in (None, "all"):
            yield from self.pages({}, 50, Asker(self.players[0]), desk=desk, by_deadline=desk is None)
        for game in GAMES:
            yield self.lists.stretch("earliest", {1: [f"rated:{game}"]}, None, 500)
            yield self.lists.newest([f"amended:{game}"], None, 3)
        moment = START + 400
        for player in self.players[:4]:
            yield self.lists.sizes([f"{what}:{player}:{game}" for what in RESULTS for game in GAMES])
            since = "0"
            while True:
                found = lists.updates(self.platform, player, since, {}, 20, Asker())
                yield found
                since = found.mark
                if not found.more:
                    break
        yield self.lists.sizes(["all", "status:over", *(f"rated:{game}" for game in GAMES), "tag:cup"], moment)

    def pages(self, given: dict[str, str], limit: int, asker: Asker, **more: Any) -> Iterator[Any]:
        cursor: str | None = None
        for _ in range(5):
            page = lists.matches(self.platform, given, limit, cursor, asker=asker, **more)
            yield page
            cursor = page.cursor
            if cursor is None:
                break


def test_ids_are_packed_in_their_order() -> None:
    dice = random.Random(1)
    ids = [new_id(dice, "m") for _ in range(100)]
    assert [id_of("m", packed_id(id)) for id in ids] == ids
    assert sorted(ids) == sorted(ids, key=packed_id)


def test_rows_have_what_was_packed() -> None:
    dice = random.Random(2)
    players = [new_id(dice, "p") for _ in range(6)]
    for one in filter(lambda one: one.over, [made(dice, players, 100) for _ in range(100)]):
        packed = pack(one.match, one.game, one.head, one.digest, one.at, one.standing, one.indexes)
        assert unpack(packed.row) == (one.head, one.digest, "00" * 8, one.at, one.standing)
        with pytest.raises(NotFit):
            pack(one.match, one.game, one.head, one.digest, one.at, one.standing, {**one.indexes, f"disputing:{players[0]}": one.at})


def test_lists_are_the_same_whichever_matches_are_filed_away(servers: Servers, platform: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    same_lists(Crowd(servers, platform.store.client, 3, 400), monkeypatch, 40)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("examined", [1000, 40])
def test_lists_of_more_matches_are_the_same(
    servers: Servers, platform: Any, monkeypatch: pytest.MonkeyPatch, examined: int, seed: int
) -> None:
    same_lists(Crowd(servers, platform.store.client, seed, 2000, 1 + seed % 3), monkeypatch, examined)


def same_lists(crowd: Crowd, monkeypatch: pytest.MonkeyPatch, examined: int) -> None:
    """File away half of the matches that are over, then the rest, then some again. Compare everything that lists say each time."""
    monkeypatch.setattr(stored, "EXAMINED", examined)
    before = list(crowd.answers())
    over = [one for one in crowd.matches if one.over]
    half = len(over) // 2
    for part in (over[::2], over[1::2] + over[:half:5]):
        for one in part:
            crowd.file_away(one)
        for old, new in zip(before, crowd.answers(), strict=True):
            assert old == new


def test_lists_of_news_keep_a_match_as_long_as_streams_ask_for_it(servers: Servers, platform: Any) -> None:
    crowd = Crowd(servers, platform.store.client, 5, 12)
    old, new, other = [one for one in crowd.matches if one.over][:3]
    now = round(time.time() * 1000)
    names = {one.match: [name for name in one.indexes if name.startswith(("news:", "made:"))] for one in (old, new)}
    for one, moment in ((old, now - 8 * 86_400_000), (new, now - 86_400_000)):
        for name in names[one.match]:
            servers.keeper.zadd("{p0}:i:" + name, {one.match: moment})
        crowd.file_away(one)
        one.indexes.update(dict.fromkeys(names[one.match], moment))
    listed = {one.match: [servers.keeper.zscore("{p0}:i:" + name, one.match) for name in names[one.match]] for one in (old, new)}
    assert listed == {old.match: [None] * len(names[old.match]), new.match: [now - 86_400_000] * len(names[new.match])}
    assert new.match in crowd.lists.since([names[new.match][0]], now - 2 * 86_400_000)
    for member in servers.keeper.zrange("{p0}:passing", 0, -1):  # a week later
        servers.keeper.zadd("{p0}:passing", {member: now})
    crowd.file_away(other)
    assert [servers.keeper.zscore("{p0}:i:" + name, new.match) for name in names[new.match]] == [None] * len(names[new.match])
    assert not servers.keeper.exists("{p0}:passing")


def test_the_first_version_since_a_moment_follows_from_the_entries_that_the_archive_has(servers: Servers, platform: Any) -> None:
    crowd = Crowd(servers, platform.store.client, 6, 8)
    one = next(one for one in crowd.matches if one.over)
    crowd.file_away(one)
    entry = orjson.loads(one.entry)
    raws = [canonical({**entry, "version": version, "at": one.at - 100 + version}) for version in range(1, 101)]
    crowd.platform.store.log = SimpleNamespace(head=lambda _: 100, read=lambda _, after, limit: raws[after : after + limit])
    moments = (one.at - 99, one.at - 50, one.at, one.at + 1)
    assert [lists.first_since(crowd.platform, [one.match], moment) for moment in moments] == [[1], [50], [100], [one.head + 1]]


def everything_filed(keeper: Keeper) -> dict[bytes, Any]:
    """Return all keys of the lists of matches that are filed away, without the rows."""
    chunks = {key: keeper.get(key) for key in keeper.scan_iter("{p0}:g:*", 1000)}
    return {**chunks, b"groups": keeper.zrange("{p0}:groups", 0, -1), b"counts": keeper.hgetall("{p0}:counts")}


def test_what_benchmarks_fill_a_store_with_is_what_filing_one_by_one_leaves(servers: Servers, platform: Any) -> None:
    servers.empty()
    dice, ours, keeper = random.Random(9), filing.Partition("{p0}"), servers.keeper
    players = [new_id(dice, "p") for _ in range(60)]
    found = [one for one in (made(dice, players[: dice.choice((4, 4, 60))], 300) for _ in range(600)) if one.over]
    packed = [pack(one.match, one.game, one.head, one.digest, one.at, one.standing, one.indexes) for one in found]
    calls = [([f"{{p0}}:s:{one.match}"], [row.game, row.row]) for one, row in zip(found, packed, strict=True)]
    assert platform.store.client.run_all(script("file_away"), calls) == [1] * len(found)
    rows = [fields[b"r"] for _, fields in keeper.xrange("{p0}:filed")]
    assert rows == [ours.file_away(one.game, one.row, int.from_bytes(row[16:22], "big")) for one, row in zip(packed, rows, strict=True)]
    wanted = everything_filed(keeper)
    servers.empty()
    for command in ours.commands():
        keeper.execute_command(*command)
    assert everything_filed(keeper) == wanted
    assert {filing.ALL[:1], filing.BY_PLAYER} <= {name[:1] for name in wanted[b"counts"]}, "some groups are in several chunks"


@pytest.mark.soak
def test_a_match_that_is_filed_away_takes_at_most_300_bytes(servers: Servers, platform: Any) -> None:
    found = population.rows(9000, "p" + "b" * 16)
    used = []
    for _ in range(3):
        for match, row in islice(found, 3000):
            assert platform.store.lists.file_away(match, row)
        used.append(servers.keeper.info("memory")["used_memory"])
    assert (used[2] - used[1]) / 3000 <= 300
