"""Kept answers: what they depend on, how much room they take, and when they end."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from events import play, recall
from events.platform import Platform
from record.example import POSITIONS
from service.api import pictures
from service.kept import OVERHEAD, Histories, Kept, of_position
from service.pages import match as pages
from service.shown_entries import ShownEntries
from tests.conftest import Servers
from tests.service.conftest import Caller, played_on, worlds

RUNNING = POSITIONS[1]
ADD = {"type": "add", "by": 1, "stay": True}


def test_an_answer_from_a_position_is_found_for_the_same_entries_and_eyes_alone() -> None:
    kept = Kept()
    kept.put(of_position("state", RUNNING, "red", 1), b"answer")
    assert kept.get(of_position("state", RUNNING, "red", 1)) == b"answer"
    for other in (
        of_position("words", RUNNING, "red", 1),
        of_position("state", RUNNING, "blue", 1),
        of_position("state", RUNNING, "red", 2),
        of_position("state", POSITIONS[2], "red", 1),
        of_position("state", RUNNING._replace(digest="0" * 64), "red", 1),
    ):
        assert kept.get(other) is None


def test_a_match_has_one_history_while_each_entry_follows_the_one_that_was_seen(platform: Platform, begin: Callable[..., str]) -> None:
    match, histories = begin(), Histories(platform)
    first = recall.position(platform, match)
    assert histories.of(first) == histories.of(first) == first.digest
    for more in (1, 3):
        for _ in range(more):
            play.play(platform, match, "one", [ADD])
        assert histories.of(recall.position(platform, match)) == first.digest


@pytest.mark.parametrize("more", [1, 2, 4])
def test_a_store_that_has_lost_entries_and_accepted_others_has_another_history(
    platform: Platform, servers: Servers, begin: Callable[..., str], more: int
) -> None:
    match, histories = begin(), Histories(platform)
    stream = platform.store.keys.of(match).stream
    backup = servers.keeper.dump(stream)
    for _ in range(2):
        lost = play.play(platform, match, "one", [{**ADD, "by": 3}]).position
    assert histories.of(lost) == lost.digest
    servers.keeper.restore(stream, 0, backup, replace=True)  # type: ignore[arg-type]
    platform.cache.drop(match)
    for _ in range(more):
        now = play.play(platform, match, "one", [ADD]).position
    assert histories.of(now) == now.digest != lost.digest


def test_answers_take_bounded_room_and_those_used_last_stay() -> None:
    kept = Kept(most=16 * (100 + OVERHEAD))
    keys = [of_position("state", RUNNING, "red", number) for number in range(40)]
    for key in keys:
        kept.put(key, b"x" * 100)
        kept.get(keys[0])
    assert [number for number, key in enumerate(keys) if kept.get(key)] == [0, *range(25, 40)]
    large = of_position("state", RUNNING, "blue")
    kept.put(large, b"x" * (2 * (100 + OVERHEAD)))
    assert kept.get(large) is None


@pytest.fixture
def match(platform: Platform, ada: Caller, ben: Caller) -> str:
    return worlds(platform, ada, ben)


@pytest.mark.parametrize(
    ("place", "name", "path"),
    [
        (pictures, "svg", "/v1/matches/{}/state.svg"),
        (pages, "draw", "/m/{}"),
        (pages, "draw", "/embed/{}"),
        (pages, "words_of_view", "/m/{}/words"),
        (ShownEntries, "read", "/v1/matches/{}/entries"),
    ],
)
def test_an_answer_is_made_once_for_the_same_position_and_eyes(
    monkeypatch: pytest.MonkeyPatch, platform: Platform, anybody: Caller, ada: Caller, match: str, place: Any, name: str, path: str
) -> None:
    made: list[int] = []

    def counted(*args: Any, **more: Any) -> Any:
        made.append(1)
        return make(*args, **more)

    make = getattr(place, name)
    monkeypatch.setattr(place, name, counted)
    address = path.format(match)
    first = anybody.get(address)
    assert anybody.get(address).data == first.data
    assert len(made) == 1
    own = f"{address}?viewer=aliens" if path == "/m/{}" else address
    shown = [ada.get(own) for _ in range(2)]
    assert shown[0].data == shown[1].data
    assert len(made) == (1 if path == "/embed/{}" else 2)  # the board in another page is always a spectator's
    made.clear()
    played_on(platform, match, random.Random(5), 1)
    anybody.get(address)
    assert len(made) == 1


def test_a_page_that_is_kept_has_the_names_of_today_and_the_address_that_was_asked(anybody: Caller, ada: Caller, match: str) -> None:
    before = anybody.get(f"/m/{match}").text
    assert ada.ask("PATCH", "/v1/players/me", {"name": "Grace"}).status_code == 200
    after = anybody.get(f"/m/{match}").text
    assert ("Grace" in before, "Grace" in after) == (False, True)
    elsewhere = anybody.get(f"/m/{match}", Host="play.example").text
    assert ("play.example" in after, "play.example" in elsewhere) == (False, True)


def test_who_has_given_a_seat_away_does_not_get_what_is_kept_for_it(ada: Caller, ben: Caller, cleo: Caller, match: str) -> None:
    def differs(version: int) -> bool:
        return len({caller.get(f"/m/{match}?at={version}&viewer=aliens").data for caller in (ada, ben)}) == 2

    at = next(filter(differs, range(14, 0, -1)))
    paths = [f"/v1/matches/{match}/{rest}" for rest in (f"state.svg?at={at}&viewer=aliens", f"frames?after={at - 1}&limit=1&viewer=aliens")]
    secret = [ada.get(path).data for path in paths]
    assert ada.act(match, {"type": "hand_over", "player": cleo.id}).status_code == 200
    assert cleo.act(match, {"type": "take_over", "seat": "aliens"}).status_code == 200
    assert [cleo.get(path).data for path in paths] == secret
    for former in (ada, ben):
        assert [former.get(path).json["code"] for path in paths] == ["hidden_view"] * 2
    page = f"/m/{match}?at={at}&viewer=aliens"
    assert cleo.get(page).data != ada.get(page).data == ben.get(page).data
