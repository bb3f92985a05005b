"""Lists: which matches a page has, in which order, and how few commands it costs whatever is in the store."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from events import lists, play
from events.lists import Asker, Page
from events.platform import Platform
from events.standings import NEVER
from events.store import lists as stored
from events.store.client import RedisClient
from events.store.keys import Keys
from tests.conftest import Servers, take_seat

FEW = 60  # commands of a list


def crowded(servers: Servers, platform: Platform, index: str, number: int, moment: Callable[[int], int]) -> list[tuple[int, str]]:
    """List a number of matches that do not exist in an index. Return their places."""
    places = [(moment(count), f"m{count:016}") for count in range(number)]
    for at, match in places:
        servers.keeper.zadd(platform.store.keys.of(match).indexes + index, {match: at})
    return places


def every_page(read: Callable[[str | None], Page]) -> list[Page]:
    """Return all pages of a list."""
    pages = [read(None)]
    while pages[-1].cursor is not None:
        pages.append(read(pages[-1].cursor))
    return pages


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the commands of each round trip to the store."""
    counted: list[int] = []
    run, ask_all, ask = RedisClient.run_all, RedisClient.ask_all, RedisClient.ask

    def run_all(client: RedisClient, script: Any, calls: Any, *how: bool) -> Any:
        counted.append(len(calls))
        return run(client, script, calls, *how)

    def asked(client: RedisClient, commands: Any) -> Any:
        counted.append(len(commands))
        return ask_all(client, commands)

    def one(client: RedisClient, *command: Any) -> Any:
        counted.append(1)
        return ask(client, *command)

    monkeypatch.setattr(RedisClient, "run_all", run_all)
    monkeypatch.setattr(RedisClient, "ask_all", asked)
    monkeypatch.setattr(RedisClient, "ask", one)
    return counted


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"status": "playing"},
        {"status": "over", "game": "war"},
        {"game": "tally", "practice": "false"},
        {"player": "me", "status": "over"},
        {"to_act": "me", "game": "tally", "practice": "true"},
        {"player": "me", "invited": "me"},
    ],
)
@pytest.mark.parametrize("limit", [pytest.param(20, marks=pytest.mark.soak), 200])
def test_a_list_costs_few_commands_whatever_is_in_the_store(
    platform: Platform, servers: Servers, ann: str, commands: list[int], filters: Mapping[str, str], limit: int
) -> None:
    for _ in range(25):
        play.create(platform, ann, "tally", {"one": "me", "two": "me"}, {})
    for index in ("all", "status:playing", "status:over", "game:war", "game:tally", f"player:{ann}", f"acts:{ann}"):
        crowded(servers, platform, index, 300, lambda count: 1000 + count)
    given = {name: ann if value == "me" else value for name, value in filters.items()}
    commands.clear()
    lists.matches(platform, given, limit, asker=Asker(ann))
    assert len(commands) == 2, "two round trips"
    assert sum(commands) <= FEW


def test_lists_by_deadline_and_the_desk_cost_few_commands(platform: Platform, servers: Servers, ann: str, commands: list[int]) -> None:
    crowded(servers, platform, f"acts:{ann}", 300, lambda count: NEVER)
    crowded(servers, platform, "desk:all", 300, lambda count: NEVER)
    commands.clear()
    lists.matches(platform, {"game": "war"}, 200, asker=Asker(ann), by_deadline=True)
    lists.matches(platform, {}, 200, desk="all")
    assert len(commands) <= 4
    assert sum(commands) <= 2 * FEW


@pytest.mark.parametrize(("number", "partitions"), [(50, 1), (2500, 1), (2500, 8)])
def test_matches_in_which_somebody_must_act_are_in_the_order_of_their_creation(
    platform: Platform, servers: Servers, number: int, partitions: int
) -> None:
    dice, keys, me, pipe = random.Random(number), Keys(partitions), "p" + "a" * 16, servers.keeper.pipeline(transaction=False)
    servers.empty()
    matches = {f"m{count:016}": dice.randrange(number // 3) for count in range(number)}
    created: dict[str, list[str]] = {"acts": [], "own:acts": [], "": []}
    for match, moment in matches.items():
        kind = dice.choice(("acts", "acts", "own:acts", ""))
        created[kind].append(match)
        seen = "own:player" if kind == "own:acts" and dice.random() < 0.5 else "player"
        names = {"all": moment, f"{seen}:{me}": moment} | ({f"{kind}:{me}": dice.choice((NEVER, dice.randrange(9)))} if kind else {})
        for name, place in names.items():
            pipe.execute_command(servers.keeper.renamed["ZADD"], keys.of(match).indexes + name, place, match)
    pipe.execute()
    found: list[tuple[int, str]] = []
    after, lists = None, stored.Lists(platform.store.client, keys)
    while True:
        stretch = lists.stretch("newest", {1: [f"acts:{me}", f"own:acts:{me}"]}, after, 200)
        found += stretch.places
        after = stretch.more
        if after is None:
            break
    assert found == sorted(((matches[match], match) for kind in ("acts", "own:acts") for match in created[kind]), reverse=True)


def test_what_one_call_sorts_is_bounded_however_many_partitions_there_are(platform: Platform, servers: Servers) -> None:
    keys, me, pipe = Keys(16), "p" + "a" * 16, servers.keeper.pipeline(transaction=False)
    servers.empty()
    sizes = Counter[str]()
    for count in range(2000):
        match = f"m{count:016}"
        sizes[keys.tag(match)] += 1
        for name in ("all", f"acts:{me}", f"player:{me}"):
            pipe.execute_command(servers.keeper.renamed["ZADD"], keys.of(match).indexes + name, count, match)
    pipe.execute()

    def sorts() -> int:
        calls: int = servers.keeper.info("commandstats").get("cmdstat_zinter", {"calls": 0})["calls"]
        return calls

    before = sorts()
    found = stored.Lists(platform.store.client, keys).stretch("newest", {1: [f"acts:{me}", f"own:acts:{me}"]}, None, 50)
    assert found.places == [(count, f"m{count:016}") for count in range(1999, 1949, -1)]
    assert 0 < (sorts() - before) * min(sizes.values()) <= 1000


def test_matches_that_move_while_an_index_is_read_hide_no_other(
    monkeypatch: pytest.MonkeyPatch, platform: Platform, servers: Servers, ann: str
) -> None:
    monkeypatch.setattr(stored, "_PAGE", 8)
    monkeypatch.setattr(stored, "_AGAIN", 2)
    number = 20 * platform.settings.partitions
    places = crowded(servers, platform, f"acts:{ann}", number, lambda count: 1000 + count)
    ask_all, moves = RedisClient.ask_all, list[object]()

    def moving(client: RedisClient, commands: Any) -> Any:
        answer = ask_all(client, commands)
        match = places[len(moves)][1]  # its deadline is a later one now
        moves.append(servers.keeper.zadd(f"{platform.store.keys.of(match).indexes}acts:{ann}", {match: NEVER}))
        return answer

    monkeypatch.setattr(RedisClient, "ask_all", moving)
    found = platform.store.lists.since([f"acts:{ann}"], 0)
    assert len(moves) > 2
    assert sorted(found) == [match for _, match in places]


@pytest.mark.parametrize("order", ["newest", "earliest"])
@pytest.mark.parametrize("limit", [1, 3, 50])
@pytest.mark.parametrize("examined", [2, 7, 500])
def test_pages_together_have_each_match_that_passes_once_and_in_order(
    monkeypatch: pytest.MonkeyPatch, platform: Platform, servers: Servers, order: Any, limit: int, examined: int
) -> None:
    monkeypatch.setattr(stored, "EXAMINED", examined)
    dice = random.Random(limit + examined)
    moments = [dice.choice((5, 6, NEVER)) for _ in range(90)]  # many have the same moment
    within: dict[str, set[str]] = {}
    for index in ("first", "second", "own:second", "third"):
        chosen = set(dice.sample(range(90), 60)) if index != "own:second" else {n for n in range(90) if f"m{n:016}" not in within["second"]}
        within[index] = {f"m{number:016}" for number in chosen}
        for number in chosen:
            match = f"m{number:016}"
            servers.keeper.zadd(platform.store.keys.of(match).indexes + index, {match: moments[number]})
    filters = {0: ["third"], 1: ["first"], 2: ["second", "own:second"] if dice.random() < 0.5 else ["second"]}
    passing = within["first"] & set.union(*(within[index] for index in filters[2])) - within["third"]
    found: list[tuple[int, str]] = []
    after, steps = None, 0
    while True:
        stretch = platform.store.lists.stretch(order, filters, after, limit)
        assert len(stretch.places) <= limit
        found += stretch.places
        steps += 1
        if stretch.more is None:
            break
        assert stretch.more != after, "each page goes on"
        after = stretch.more
    expected = [(moments[int(match[1:])], match) for match in passing]
    assert found == sorted(expected, reverse=order == "newest")
    assert steps <= 90 + 90 // examined + 16


def test_a_place_whose_match_has_left_the_list_is_passed(platform: Platform, servers: Servers) -> None:
    places = crowded(servers, platform, "all", 40, lambda count: 7)
    for gone in (places[11], places[12]):
        servers.keeper.zrem(platform.store.keys.of(gone[1]).indexes + "all", gone[1])
    left = [place for place in places if place not in (places[11], places[12])]
    after = platform.store.lists.stretch("newest", {1: ["all"]}, places[12], 100)
    assert after.places == sorted((place for place in left if place < places[12]), reverse=True)
    before = platform.store.lists.stretch("earliest", {1: ["all"]}, places[11], 100)
    assert before.places == [place for place in left if place > places[11]]


def test_a_list_by_game_and_status_has_what_each_match_is_now(platform: Platform, ann: str, bob: str) -> None:
    opened, joined = (play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match for _ in range(2))
    take_seat(platform, joined, bob, "two")

    def listed(**filters: str) -> list[str]:
        pages = every_page(lambda cursor: lists.matches(platform, filters, 1, cursor))
        return [standing["id"] for page in pages for standing in page.standings]

    assert listed(game="tally", status="open") == [opened]
    assert listed(game="tally", status="playing") == [joined]
    assert listed(game="war", status="playing") == listed(game="tally", status="over") == []
    play.act_at_table(platform, joined, "one", {"type": "resign"}, player=ann)
    assert listed(game="tally", status="playing") == []
    assert listed(game="tally", status="over") == listed(game="tally", status="over", player=bob) == [joined]


def test_a_damaged_match_does_not_break_a_list(platform: Platform, servers: Servers, ann: str) -> None:
    good, spoiled, lost = (play.create(platform, ann, "tally", {"one": "me", "two": "me"}, {}).match for _ in range(3))
    servers.keeper.delete(platform.store.keys.of(spoiled).stream)
    servers.keeper.set(platform.store.keys.of(spoiled).stream, "no stream")
    servers.keeper.delete(platform.store.keys.of(lost).standing)
    assert [standing["id"] for standing in lists.matches(platform, {"player": ann}).standings] == [good]
