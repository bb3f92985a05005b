"""Concurrent writers, in threads and in processes: no version is lost, doubled or reordered, and every answer is true."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from events import play, recall
from events.audit import audit
from events.errors import Reused, Stale
from events.platform import Platform
from games.kernel import Refused
from record.entries import parse
from tests.events.racers import race

Begin = Callable[..., str]
ADD = {"type": "add", "by": 1, "stay": True}


def entries(platform: Platform, match: str) -> list[Any]:
    return [parse(raw) for raw in platform.store.log.read_all(match)]


@pytest.mark.parametrize("guarded", [pytest.param(False, marks=pytest.mark.soak), True])
def test_processes_that_race_each_get_their_own_versions(platform: Platform, begin: Begin, guarded: bool) -> None:
    match = begin()
    with ProcessPoolExecutor(3, multiprocessing.get_context("spawn")) as pool:
        races = [pool.submit(race, platform.settings, match, name, 40, guarded) for name in "abc"]
        versions = [one.result() for one in races]
    assert sorted(version for mine in versions for version in mine) == list(range(3, 123))
    assert all(mine == sorted(mine) for mine in versions)
    found = {entry.request["id"]: entry.version for entry in entries(platform, match) if entry.request}
    assert found == {f"{name}-{place}": version for name, mine in zip("abc", versions, strict=True) for place, version in enumerate(mine)}
    assert recall.position(platform, match).document["counts"]["one"] == 120
    assert audit(platform, match).ok


def test_of_a_thousand_requests_for_one_version_one_is_carried_out(
    platform: Platform, begin: Begin, another_platform: Callable[[], Platform]
) -> None:
    match = begin()
    platforms = [platform, another_platform(), another_platform()]
    heads: set[int] = set()

    def ask(place: int) -> bool:
        try:
            play.play(platforms[place % 3], match, "one", [ADD], expected=2)
        except Stale as stale:
            heads.add(stale.version)
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(ask, range(1000))) == 1
    assert heads == {recall.position(platform, match).version} == {3}


@pytest.mark.soak
def test_a_thousand_actions_at_once_are_a_thousand_versions(
    platform: Platform, begin: Begin, another_platform: Callable[[], Platform]
) -> None:
    match = begin()
    platforms = [platform, another_platform()]
    with ThreadPoolExecutor(16) as pool:
        versions = list(pool.map(lambda place: play.play(platforms[place % 2], match, "one", [ADD]).first, range(1000)))
    assert sorted(versions) == list(range(3, 1003))
    assert audit(platform, match).ok


def test_the_same_request_at_once_is_carried_out_once(platform: Platform, begin: Begin, another_platform: Callable[[], Platform]) -> None:
    match = begin()
    platforms = [platform, another_platform(), another_platform()]
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda place: play.play(platforms[place % 3], match, "one", [ADD, ADD], request="r"), range(60)))
    assert {(played.first, played.last) for played in answers} == {(3, 4)}
    assert [played.repeated for played in answers].count(False) == 1
    assert len({played.entries[0].digest for played in answers}) == 1


requests = st.tuples(
    st.integers(0, 2),  # which process
    st.sampled_from(["one", "two"]),
    st.integers(1, 4),  # 4 is against the rules
    st.integers(1, 3),  # how many actions
    st.none() | st.sampled_from("rst"),
    st.none() | st.integers(-1, 1),  # expected, relative to the head
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(requests, max_size=25))
def test_requests_to_several_processes_are_answered_as_a_simple_model_answers_them(
    platform: Platform, begin: Begin, another_platform: Callable[[], Platform], asked: list[Any]
) -> None:
    _check(platform, begin(), _three(platform, another_platform), asked)


@pytest.mark.soak
@settings(max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(requests, max_size=60))
def test_thousands_of_matches_are_answered_as_a_simple_model_answers_them(
    platform: Platform, begin: Begin, another_platform: Callable[[], Platform], asked: list[Any]
) -> None:
    _check(platform, begin(), _three(platform, another_platform), asked)


@pytest.mark.soak
def test_a_long_race_of_processes_loses_nothing(platform: Platform, begin: Begin) -> None:
    match = begin()
    with ProcessPoolExecutor(4, multiprocessing.get_context("spawn")) as pool:
        races = [pool.submit(race, platform.settings, match, name, 1000, name in "ab") for name in "abcd"]
        versions = [one.result() for one in races]
    assert sorted(version for mine in versions for version in mine) == list(range(3, 4003))
    assert audit(platform, match).ok


def _check(platform: Platform, match: str, platforms: list[Platform], asked: list[Any]) -> None:
    """Send the requests, and compare each answer with that of a match without processes, cache or store."""
    version, counts, known = 2, {"one": 0, "two": 0}, {}
    for process, actor, by, number, request, distance in asked:
        actions = [{"type": "add", "by": by, "stay": True}] * number
        expected = None if distance is None else version + distance
        what = (actor, by, number)
        outcome: Any
        try:
            played = play.play(platforms[process], match, actor, actions, expected=expected, request=request)
            outcome = (played.first, played.last, played.repeated, played.position.document["counts"])
        except Stale as stale:
            outcome = ("stale", stale.version)
        except Reused:
            outcome = "reused"
        except Refused as refused:
            outcome = refused.code
        if request and request in known:
            first, last, was, counted = known[request]
            assert outcome == ((first, last, True, counted) if was == what else "reused")
        elif expected is not None and expected != version:
            assert outcome == ("stale", version)
        elif actor == "two":
            assert outcome == "not_your_turn"
        elif by == 4:
            assert outcome == "too_much"
        else:
            counts = {**counts, actor: counts[actor] + by * number}
            assert outcome == (version + 1, version + number, False, counts)
            if request:
                known[request] = (version + 1, version + number, what, counts)
            version += number
    assert [entry.version for entry in entries(platform, match)] == list(range(1, version + 1))
    assert audit(platform, match).ok


_PLATFORMS: dict[int, list[Platform]] = {}


def _three(platform: Platform, another_platform: Callable[[], Platform]) -> list[Platform]:
    """Three platforms for all examples of a test, not three for each."""
    if id(platform) not in _PLATFORMS:
        _PLATFORMS.clear()
        _PLATFORMS[id(platform)] = [platform, another_platform(), another_platform()]
    return _PLATFORMS[id(platform)]
