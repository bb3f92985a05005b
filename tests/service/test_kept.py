"""Kept answers: what they depend on, how much room they take, and when they end."""

from __future__ import annotations

import random
from typing import Any

import pytest

from events.platform import Platform
from record.example import POSITIONS
from service.api import pictures
from service.kept import OVERHEAD, SECONDS, Kept, of_entries, of_position
from service.pages import match as pages
from service.shown_entries import ShownEntries
from tests.service.conftest import Caller, played_on, worlds

RUNNING, OVER = POSITIONS[1], POSITIONS[-1]


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


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
        of_entries("state", RUNNING, "red", 1),
    ):
        assert kept.get(other) is None


def test_an_answer_from_entries_is_found_after_the_next_entry_until_the_match_ends() -> None:
    kept = Kept()
    kept.put(of_entries("frame", RUNNING, "red", 1), b"answer")
    assert kept.get(of_entries("frame", POSITIONS[2], "red", 1)) == b"answer"
    assert kept.get(of_entries("frame", OVER, "red", 1)) is None


def test_what_has_only_an_id_to_tell_its_entries_by_is_kept_for_a_minute() -> None:
    clock = Clock()
    kept = Kept(timer=clock)
    keys = of_position("state", RUNNING, "red"), of_entries("frame", OVER, "red", 1), of_entries("frame", RUNNING, "red", 1)
    for key in keys:
        kept.put(key, b"answer")
    clock.now = SECONDS + 1
    assert [kept.get(key) for key in keys] == [b"answer", b"answer", None]


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
        (pages, "_words", "/m/{}/words"),
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
