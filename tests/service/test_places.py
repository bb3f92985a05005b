"""Places: who gets one when many want them, and who gives one up."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import count, product
from typing import Any

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st

from events.platform import Platform
from events.store.queue.counters import Counters
from service.app import create_app
from service.http.addresses import prefix_of
from service.http.crowd import RESERVED
from service.http.elsewhere import Elsewhere
from service.http.places import Place, Places, Shares
from service.http.problems import Problem
from service.http.settings import BODIES, SHARE, Settings
from tests.service.conftest import ADMIN, Caller

HERE, ELSEWHERE, POLITE = "10.0.0.1", "10.0.1.1", "10.0.2.1"


def at(address: str) -> dict[str, str]:
    return {"REMOTE_ADDR": address}


def code_of(places: Places, player: str | None, address: str, plays: bool = False) -> str:
    with pytest.raises(Problem) as refused:
        places.take(player, at(address), plays)
    return refused.value.code


class Crew:
    """The requests at some places. Each can be ended early."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.open: list[Place] = []
        self.ended: list[Place] = []

    def take(self, player: str | None, address: str, plays: bool = False) -> Place | None:
        """Take a place. Return None if it is refused."""
        try:
            place = self.places.take(player, at(address), plays)
        except Problem:
            return None
        place.ends_by(partial(self._end, place))
        self.open.append(place)
        return place

    def _end(self, place: Place) -> None:
        self.open.remove(place)
        self.ended.append(place)

    def held(self, whose: str, name: str) -> int:
        return sum(getattr(place.path, whose) == name for place in self.open)


def test_places_are_shared_by_callers_addresses_and_prefixes() -> None:
    places = Places("streams", 7, Shares(2, 3, 4))
    taken = [places.take("ada", at(HERE)), places.take("ada", at(HERE)), places.take("ben", at(HERE))]
    assert code_of(places, "ada", ELSEWHERE) == "too_many_at_once"
    assert code_of(places, "cleo", HERE) == "too_many_at_once"
    taken.append(places.take("cleo", at("10.0.0.2")))
    assert code_of(places, "dora", "10.0.0.3") == "too_many_at_once"
    taken += [places.take(None, at(ELSEWHERE)), places.take(None, at(ELSEWHERE)), places.take(None, at(POLITE))]
    assert code_of(places, "emma", POLITE) == "busy"
    taken[0].give_back()
    taken[0].give_back()
    assert code_of(places, None, ELSEWHERE) == "too_many_at_once"
    with places.take("ada", at(HERE)):
        assert code_of(places, "ada", HERE) == "too_many_at_once"
    for place in taken:
        place.give_back()
    assert not places.taken


def test_shares_bind_only_when_many_places_are_taken() -> None:
    places = Places("bodies", BODIES, Shares.of(BODIES)._replace(caller=SHARE), calm=BODIES // 2)
    taken = [places.take("ada", at(HERE)) for _ in range(BODIES // 2)]
    assert code_of(places, "ada", HERE) == "too_many_at_once"
    taken.append(places.take("ben", at(ELSEWHERE)))
    assert places.taken == len(taken)


def test_prefixes_of_addresses() -> None:
    assert [prefix_of(text) for text in (HERE, "2001:db8:1:2::/64", "no:address", "")] == [
        "10.0.0.0/24", "2001:db8:1::/48", "no:address", "",
    ]  # fmt: skip


def test_who_holds_most_gives_way_and_the_longest_unused_place_ends_first() -> None:
    crew = Crew(Places("streams", 8, Shares(8, 8, 8)))
    first = [crew.take(None, "10.0.0.1") for _ in range(3)] + [crew.take(None, "10.0.0.2") for _ in range(5)]
    assert first[3] is not None
    first[3].use()
    assert crew.take(None, POLITE)
    assert crew.ended == [first[4]]
    assert (crew.held("address", "10.0.0.2"), crew.held("address", "10.0.0.1")) == (4, 3)
    assert crew.take(None, "10.0.0.3"), "another address of the same prefix"
    assert crew.held("address", "10.0.0.2") == 3
    assert crew.take(None, "10.0.0.1") is None, "who holds as many as others gets no more"
    assert crew.places.taken == len(crew.open) == 8


def test_a_refused_newcomer_ends_nobody() -> None:
    crew = Crew(Places("streams", 8, Shares(2, 4, 8)))
    mine = [crew.take("ada", ELSEWHERE), crew.take("ada", ELSEWHERE)]
    for player in ("ben", "cleo", "dora", "emma"):
        crew.take(player, HERE, True)
    assert crew.take("ada", ELSEWHERE) is None, "of her own places, none is for play"
    assert crew.take("ada", HERE, True) is None, "she would give one up, but the address has no more"
    assert (crew.open[:2], crew.ended, crew.places.taken) == (mine, [], 6)
    assert crew.take("ada", ELSEWHERE, True)
    assert crew.ended == mine[:1]


def test_bodies_on_their_way_are_shared_evenly_too() -> None:
    crew = Crew(Places("bodies", BODIES, Shares.of(BODIES)._replace(caller=SHARE), calm=BODIES // 2))
    sources = [f"10.0.{prefix}.{number}" for prefix in (0, 1) for number in range(1, 9)]
    for number in range(BODIES):
        crew.take(None, sources[number % len(sources)])
    assert crew.places.taken == BODIES
    assert crew.take("ada", POLITE)


def watching_crowd(crew: Crew, prefixes: int = 1) -> None:
    """Fill all places from many addresses of some prefixes."""
    for number in count():
        if crew.take(None, f"10.0.{number % prefixes}.{1 + number // prefixes % 250}") is None:
            return


@pytest.mark.parametrize("prefixes", [1, 2, 5])
def test_who_plays_gets_a_place_that_others_only_watch_from(prefixes: int) -> None:
    crew = Crew(Places("streams", 40, Shares(4, 8, 40)))
    watching_crowd(crew, prefixes)
    assert crew.places.taken == 40
    for number in range(40 // RESERVED):
        assert crew.take(f"player {number}", f"10.0.0.{number + 1}", True), "also from the addresses of the crowd"
    assert all(not place.plays for place in crew.ended)
    assert crew.take("one more", "10.9.9.9", True), "who holds nothing yet gets a place from whoever holds most"


def test_a_player_whose_streams_only_watch_gets_a_place_to_play() -> None:
    crew = Crew(Places("streams", 40, Shares(4, 8, 40)))
    for _ in range(4):
        assert crew.take("ada", HERE)
    assert crew.take("ada", HERE) is None
    assert crew.take("ada", HERE, True)
    assert (len(crew.ended), crew.held("caller", "ada")) == (1, 4)


def test_nobody_who_watches_ends_who_plays() -> None:
    crew = Crew(Places("streams", 4, Shares(4, 4, 4)))
    for number in range(4):
        crew.take(f"player {number}", HERE, True)
    assert crew.take(None, ELSEWHERE) is None
    assert crew.take("ada", ELSEWHERE, True), "but who plays at an address that holds fewer"


REQUESTS = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.booleans(), st.integers(0, 9))


@given(st.lists(REQUESTS, max_size=80))
def test_laws_of_shares(requests: list[tuple[int, int, int, bool, int]]) -> None:
    shares, capacity = Shares(4, 6, 9), 15
    crew = Crew(Places("streams", capacity, shares))
    for prefix, address, player, plays, leaves in requests:
        if leaves < 3 and crew.open:
            crew.open.pop(leaves % len(crew.open)).give_back()
        before, ended = list(crew.open), len(crew.ended)
        name, where = f"player {prefix} {player}", f"10.0.{prefix}.{address}"
        place = crew.take(name, where, plays)
        gone = crew.ended[ended:]
        assert crew.places.taken == len(crew.open) <= capacity
        for each in crew.open:
            for whose in Shares._fields:
                assert crew.held(whose, getattr(each.path, whose)) <= getattr(shares, whose)
        assert plays or not any(one.plays for one in gone), "who watches ends nobody who plays"
        if place is None:
            assert (crew.open, gone) == (before, []), "who is refused ends nobody"
            own = [sum(one.path.prefix == prefix_of(where) for one in before), sum(one.path.address == where for one in before)]
            mine = sum(one.path.caller == name for one in before)
            assert (
                own[0] >= 9
                or own[1] >= 6
                or mine >= 4
                or not plays
                or max(sum(one.path.prefix == each.path.prefix for one in before) for each in before) <= own[0] + 1
            ), "whose prefix holds fewer, and who plays, is not refused"
        if len(gone) == 1 and not plays:
            held = sum(one.path.prefix == gone[0].path.prefix for one in before)
            assert gone[0].path.prefix == prefix_of(where) or held > sum(one.path.prefix == prefix_of(where) for one in before) + 1


def test_threads_that_take_end_and_give_back_leave_nothing_behind() -> None:
    places = Places("streams", 30, Shares(6, 10, 20))

    def visit(seed: int) -> None:
        dice, mine = random.Random(seed), []
        for _ in range(400):
            where = f"10.0.{dice.randrange(3)}.{dice.randrange(3)}"
            with suppress(Problem):
                mine.append(places.take(f"player {dice.randrange(9)}", at(where), dice.random() < 0.3))
                mine[-1].ends_by(mine[-1].use)
                mine[-1].mark(dice.random() < 0.3)
            if mine and dice.random() < 0.6:
                mine.pop(dice.randrange(len(mine))).give_back()
            assert places.taken <= 30
        for place in mine:
            place.give_back()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(visit, range(8)))
    crowd = places._crowd
    assert (places.taken, crowd.all.playing, crowd.all.parts, crowd.callers) == (0, 0, {}, {})


def test_processes_share_what_a_prefix_holds(platform: Platform) -> None:
    def process() -> tuple[Crew, list[str]]:
        asked: list[str] = []
        elsewhere = Elsewhere("test", platform.counters, lambda: asked.append(""))
        return Crew(Places("streams", 100, Shares(40, 40, 40), elsewhere=elsewhere)), asked

    (one, asked), (other, _) = process(), process()
    assert not one.places.settle(), "nobody holds anything"
    for number in range(40):
        assert one.take(None, f"10.0.0.{number}")
        assert other.take(None, f"10.0.0.{number}"), "it has not heard yet"
    assert asked
    for crew in (one, other, one, other, one):
        assert crew.places.settle()
    assert len(one.open) + len(other.open) <= 40
    assert min(len(one.open), len(other.open)) >= 10, "each ends its part of what was too much"
    assert one.take(None, "10.0.0.77") is None
    assert one.take(None, POLITE)
    assert one.take("ada", "10.0.0.77", True), "a seat has its place"
    for place in [*one.open]:
        place.give_back()
    one.places.settle()
    assert not one.places.settle()
    assert other.places.settle()
    assert other.take(None, "10.0.0.77"), "what another process no longer holds is free"


def test_those_who_play_keep_what_is_reserved_for_them_when_processes_hold_too_much(platform: Platform) -> None:
    one, other = (Crew(Places("streams", 100, Shares(40, 40, 40), elsewhere=Elsewhere("test", platform.counters))) for _ in range(2))
    watching_crowd(one)
    one.places.settle()
    for number in range(10):
        assert other.take(f"player {number}", f"10.0.0.{number + 1}", True)
    for crew in (other, one, other, one):
        crew.places.settle()
    assert (len(one.open), len(other.open)) == (30, 10)


@pytest.fixture
def settings() -> Settings:
    return Settings(admin_key=ADMIN, log_requests=False, comment_seconds=0.2, wait_limit=0.05, streams=24, streams_per_key=6)


@pytest.fixture
def reach(app: Flask) -> Iterator[Callable[..., int]]:
    """Send a request from an address, and return the status. Streams stay open."""
    answers = []

    def reached(path: str, address: str, caller: Caller | None = None) -> int:
        headers = {"Authorization": f"Bearer {caller.key}"} if caller else {}
        answers.append(app.test_client().get(path, headers=headers, environ_overrides={"REMOTE_ADDR": address}))
        return answers[-1].status_code

    yield reached
    for answer in answers:
        answer.close()


PATHS = ["/v1/matches/{}/stream?after=2", "/v1/matches/{}/entries?after=3&wait=5", "/v1/players/me/stream"]


@pytest.mark.parametrize(
    ("crowd", "wanted"), [pytest.param(*both, marks=() if both[0] == both[1] else pytest.mark.soak) for both in product(PATHS, PATHS)]
)
def test_many_addresses_of_a_prefix_hold_every_place_and_a_seat_of_a_running_match_gets_one(
    reach: Callable[..., int], join: Callable[..., Caller], ada: Caller, ben: Caller, tally: str, crowd: str, wanted: str
) -> None:
    strangers: list[Any] = [join(f"Stranger {number}") for number in range(5)] if "/me/" in crowd else [None]
    held = [reach(crowd.format(tally), f"10.0.0.{number}", strangers[number % len(strangers)]) for number in range(1, 40)]
    assert held.count(200) == 24
    assert set(held) == {200, 503}
    for seat, address in ((ada, "10.0.0.1"), (ben, POLITE)):
        assert reach(wanted.format(tally), address, seat) == 200


def test_a_stream_that_began_before_its_match_counts_as_one_of_a_player(
    app: Flask, reach: Callable[..., int], ada: Caller, ben: Caller, platform: Platform
) -> None:
    first = app.test_client().get("/v1/players/me/stream", headers={"Authorization": f"Bearer {ada.key}"})
    events = iter(first.response)
    while b"event: ready" not in next(events):
        pass
    made = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}}).json["id"]
    assert ben.post(f"/v1/matches/{made}/seats/two").status_code == 200
    while b"event: started" not in next(events):
        pass
    assert [reach(PATHS[0].format(made), f"10.0.{number % 3}.1") for number in range(30)].count(200) == 18
    for number in range(30):
        reach(PATHS[0].format(made), f"10.1.{number}.1")
    while b": still here" not in next(events):  # nobody who watches ends it
        pass
    first.close()


def test_a_stream_of_a_match_counts_as_one_of_a_player_from_the_seat_on(
    app: Flask, reach: Callable[..., int], ada: Caller, ben: Caller
) -> None:
    made = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}}).json["id"]
    first = app.test_client().get(PATHS[0].format(made).replace("after=2", "after=1"), headers={"Authorization": f"Bearer {ben.key}"})
    events = iter(first.response)
    assert ben.post(f"/v1/matches/{made}/seats/two").status_code == 200
    while b"id: 2" not in next(events):
        pass
    for number in range(60):
        reach(PATHS[0].format(made), f"10.0.{number % 30}.1")
    while b": still here" not in next(events):  # nobody who watches ends it
        pass
    first.close()


def test_without_the_queues_server_each_process_counts_alone() -> None:
    counters = Counters("unix:///nowhere")
    crew = Crew(Places("streams", 10, Shares(4, 6, 8), elsewhere=Elsewhere("test", counters, lambda: None)))
    for number in range(20):
        crew.take(f"player {number % 3}", HERE)
        assert crew.places.settle()
    assert crew.places.taken == 6


def test_the_limits_name_the_prefix(platform: Platform, anybody: Caller) -> None:
    limit = {one["name"]: one for one in anybody.get("/v1/limits").json["limits"]}["streams_per_prefix"]
    assert (limit["scope"], limit["amount"]) == ("prefix", Settings().streams_per_prefix)
    changed = create_app(platform, Settings(log_requests=False, streams_per_prefix=3))
    found = {one["name"]: one["amount"] for one in changed.test_client().get("/v1/limits").json["limits"]}
    assert found["streams_per_prefix"] == 3
