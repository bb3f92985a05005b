"""Bots over the SDK play whole matches against a real service, also where answers are lost, streams are cut, and the server is busy."""

from __future__ import annotations

import random
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import httpx
import pytest

from examples import check_chain
from sdk.python.warledger_client import (
    AsyncClient,
    AsyncTurn,
    Client,
    Limited,
    Match,
    Stale,
    Turn,
    synchronous,
)
from tests.sdk.hostile import Fault, Hostile
from tools import private

LATER = pytest.param("war_of_the_worlds", marks=pytest.mark.soak)
SEATS = {
    "war": {"red": "me", "blue": "ai:greedy"},
    "war_of_the_worlds": {"aliens": "me", "humans": "ai:greedy"},
    "war_of_civilizations": {"lion": "me", "fox": "ai:greedy"},
}
SHORT = {"round_limit": 5}  # of War of Civilizations: half as many entries as War! has


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client would have waited; it does not wait."""
    waited: list[float] = []
    monkeypatch.setattr(synchronous, "time", SimpleNamespace(sleep=waited.append))
    return waited


def someone(dice: random.Random) -> Any:
    """Return how a bot decides that plays anything."""
    return lambda turn: dice.choice(turn.choices)


def checked(match: Match) -> None:
    """Fail unless a match is over and the chain of all its entries was checked."""
    standing = match.standing()
    assert standing["status"] == "over"
    assert match.outcome is not None
    assert match.outcome["winners"]
    assert match.evidence.version == standing["version"]
    assert list(match.entries())[-1]["digest"] == match.evidence.digest


@pytest.mark.parametrize("game", ["war", pytest.param("war_of_civilizations", marks=pytest.mark.soak), LATER])
def test_a_bot_plays_a_match_of_any_game_and_keeps_the_receipts(place: private.Place, tmp_path: Path, game: str) -> None:
    with Client(place.url, receipts=tmp_path) as client:
        client.register("Ada")
        match = client.create(game, SEATS[game])
        played = 0
        for turn in match.turns():
            played += turn.act(someone(random.Random(played))(turn)) is not None
        checked(match)
        keys = check_chain.keys_of(place.url)
        kept = check_chain.kept(tmp_path / f"{match.id}.jsonl", match.id, keys)
        assert match.last is not None
        assert {1, match.last["version"]} < set(kept)
        assert len(kept) in (played + 1, played + 2)  # that of the creation, of each action, and of the end


def test_a_bot_on_asyncio_plays_a_match(place: private.Place) -> None:
    async def decide(turn: AsyncTurn) -> Any:
        assert (await turn.state())["version"] == turn.version
        return random.Random(turn.version).choice(turn.choices)

    async def play() -> tuple[str, int]:
        async with AsyncClient(place.url) as client:
            await client.register("Ada")
            match = await client.create("war_of_civilizations", SEATS["war_of_civilizations"], options=SHORT)
            standing = await match.play(decide)
            assert [entry["version"] async for entry in match.stream()] == list(range(1, standing["version"] + 1))
            return match.id, match.evidence.version

    id, version = anyio.run(play)
    standing = Client(place.url).match(id).standing()
    assert (standing["status"], standing["version"]) == ("over", version)


def test_two_bots_play_against_each_other_on_one_loop(place: private.Place) -> None:
    async def play(client: AsyncClient, id: str, seen: list[str]) -> None:
        async for turn in client.match(id).turns():
            assert turn.seat is not None
            seen.append(turn.seat)
            await turn.act(random.Random(turn.version).choice(turn.choices))

    async def both() -> set[str]:
        seen: list[str] = []
        async with AsyncClient(place.url) as ada, AsyncClient(place.url) as ben, anyio.create_task_group() as tasks:
            await ada.register("Ada")
            await ben.register("Ben")
            match = await ada.create("war_of_civilizations", {"lion": "me", "fox": "open"}, options=SHORT)
            tasks.start_soon(play, ada, match.id, seen)
            joined = await ben.match(match.id).join("fox", contribution="c0ffee")
            assert joined["seats"]["fox"].get("player")
            tasks.start_soon(play, ben, match.id, seen)
        return set(seen)

    assert anyio.run(both) == {"lion", "fox"}


def test_answers_that_are_lost_after_the_server_has_acted_do_not_act_twice(
    place: private.Place, hostile: Hostile, pauses: list[float]
) -> None:
    numbers = count()
    hostile.fault = lambda method, path: Fault(lost=True) if method == "POST" and next(numbers) % 3 < 2 else None
    client = Client(hostile.url)
    client.register("Ada")
    match = client.create("war_of_civilizations", SEATS["war_of_civilizations"], options=SHORT)
    acted = 0
    for turn in match.turns():
        acted += turn.act(someone(random.Random(turn.version))(turn)) is not None
    checked(match)
    assert sum(entry["actor"] == "lion" for entry in match.entries()) == acted
    assert [one["id"] for one in client.matches(player="me")] == [match.id]
    ids = [headers["Idempotency-Key"] for headers in hostile.sent("POST", "/actions")]
    assert len(ids) > len(set(ids)) >= acted
    assert len(pauses) > acted


def test_whatever_fails_on_the_way_a_match_is_played_to_its_end(hostile: Hostile, pauses: list[float]) -> None:
    dice = random.Random(7)
    kinds = [
        Fault(status=429, headers={"Retry-After": "2"}),
        Fault(status=503, headers={"Retry-After": "1"}, problem={"code": "store_away"}),
        Fault(status=502, problem={}),
        Fault(status=500, problem={"code": "broken"}),
        Fault(lost=True),
        Fault(dropped=True),
    ]
    hostile.fault = lambda method, path: dice.choice(kinds) if dice.random() < 0.3 else None
    client = Client(hostile.url)
    client.register("Ada")
    match = client.create("war_of_civilizations", SEATS["war_of_civilizations"], options=SHORT)
    match.play(someone(dice))
    hostile.fault = lambda method, path: None
    checked(match)


@pytest.fixture(scope="module")
def played(place: private.Place) -> Match:
    """A match that is over."""
    client = Client(place.url)
    client.register("Ada")
    match = client.create("war", SEATS["war"])
    match.play(someone(random.Random(3)))
    return match


@pytest.mark.parametrize("clean", [pytest.param(False, marks=pytest.mark.soak), True])
def test_a_stream_that_is_cut_anywhere_loses_no_entry_and_repeats_none(
    hostile: Hostile, pauses: list[float], played: Match, clean: bool
) -> None:
    whole = list(played.entries())
    client = Client(hostile.url)
    dice = random.Random(5)
    hostile.fault = lambda method, path: Fault(cut=dice.randrange(20_000), clean=clean)
    again = client.match(played.id)
    assert [entry["version"] for entry in again.stream()] == list(range(1, len(whole) + 1))
    assert again.evidence.digest == played.evidence.digest == whole[-1]["digest"]
    assert len(hostile.sent("GET", "/stream")) > 3
    assert [entry["version"] for entry in again.stream(after=len(whole) - 2, check=False)] == [len(whole) - 1, len(whole)]


def test_a_stream_on_asyncio_goes_on_where_it_was_cut(place: private.Place, hostile: Hostile) -> None:
    async def follow() -> list[int]:
        cuts = iter((3000, 9000, 20_000))
        hostile.fault = lambda method, path: Fault(cut=next(cuts, None)) if "/stream" in path else None
        async with AsyncClient(hostile.url) as client:
            await client.register("Ada")
            match = await client.create("war", {"red": "ai:random", "blue": "ai:random"})
            return [entry["version"] async for entry in match.stream()]

    versions = anyio.run(follow)
    assert versions == list(range(1, len(versions) + 1))
    assert len(hostile.sent("GET", "/stream")) > 3


def test_the_client_waits_as_long_as_it_is_told(hostile: Hostile, pauses: list[float]) -> None:
    told = iter([Fault(status=429, headers={"Retry-After": "7"}), Fault(status=503, headers={"Retry-After": "3"})])
    hostile.fault = lambda method, path: next(told, None)
    client = Client(hostile.url)
    client.register("Ada")
    assert 7 <= pauses[0] < 8
    assert 3 <= pauses[1] < 4
    first, *others = [headers["Idempotency-Key"] for headers in hostile.sent("POST", "/v1/players")]
    assert others == [first, first]


def test_a_turn_that_somebody_was_quicker_to_end_is_over(place: private.Place) -> None:
    client = Client(place.url)
    client.register("Ada")
    match = client.create("war", SEATS["war"])
    turns = match.turns()
    turn = next(turns)
    other = Client(place.url, client.key).match(match.id)
    other.act(turn.choices[0])
    with pytest.raises(Stale) as stale:
        match.act(turn.choices[0], version=turn.version)
    assert stale.value.version > turn.version
    assert turn.act(turn.choices[0]) is None
    assert next(turns).version > turn.version


def test_a_plan_changes_nothing_and_says_what_would_follow(place: private.Place) -> None:
    client = Client(place.url)
    client.register("Ada")
    match = client.create("war", SEATS["war"])
    turn: Turn = next(match.turns())
    tried = match.plan([turn.choices[0]], version=turn.version)
    assert tried["view"] != turn.state()["view"]
    assert match.standing()["version"] == turn.version
    assert "seen by red" in match.board()
    assert match.picture(theme="light").startswith("<svg ")


def test_a_rematch_and_practice_are_matches_of_their_own(played: Match) -> None:
    again = played.rematch()
    assert again.standing()["rematch_of"] == played.id
    practice = played.client.practise(played.id, 20)
    assert practice.standing()["practice"]
    assert next(practice.turns()).choices
    assert b'"line":"end"' in played.dossier()


def test_a_limit_of_the_server_is_obeyed_and_one_for_hours_is_told(played: Match, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(synchronous, "time", SimpleNamespace(sleep=lambda pause: (waited.append(pause), time.sleep(pause))))
    for _ in range(60):
        assert len(played.client.get(f"{played.path}/record")["entries"]) == played.evidence.version
        if waited:
            break
    assert 1 <= waited[0] < 10
    client = Client(played.client.url)
    client.register("Ada")
    forks = [client.practise(played.id, 2) for _ in range(2)]
    with pytest.raises(Limited, match="too_many_requests") as limited:
        client.practise(played.id, 2)
    assert (len(forks), limited.value.limit) == (2, "forks")
    assert limited.value.retry_after is not None
    assert limited.value.retry_after > 600


def test_lists_are_read_page_by_page(place: private.Place, hostile: Hostile) -> None:
    client = Client(hostile.url)
    client.register("Ada")
    made = {client.create("war", {"red": "me", "blue": "open"}).id for _ in range(5)}
    assert {one["id"] for one in client.matches(player="me", limit=2)} == made
    assert len(hostile.sent("GET", "/v1/matches")) == 3


def test_what_happens_in_all_matches_comes_on_one_stream(place: private.Place) -> None:
    client = Client(place.url)
    client.register("Ada")
    match = client.create("war", SEATS["war"])
    next(match.turns())
    for news in client.news():
        if news.kind == "turn":
            assert news.data["type"] == "turn"
            assert (news.data["match"], news.data["seat"]) == (match.id, "red")
            break
    again = client.news(created=True)
    while (news := next(again)).kind != "ready":
        assert news.data["match"] == match.id
    assert news.id


def test_the_games_of_a_server_are_described(place: private.Place) -> None:
    client = Client(place.url)
    assert {game["id"] for game in client.games()} == set(SEATS)
    assert client.game("war")["title"] == "War!"
    assert "WAR-MOV-03" in client.rule("war", "WAR-MOV-03")["id"]
    made = client.register("Ada")
    assert client.me()["id"] == made["id"]
    assert client.player(made["id"])["name"] == "Ada"


def test_settings_of_httpx_are_passed_on(place: private.Place) -> None:
    client = Client(place.url, http={"transport": httpx.MockTransport(lambda request: httpx.Response(200, json={"games": []}))})
    assert client.games() == []
