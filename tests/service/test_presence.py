"""Presence: who is at a match and how many watch, in all web processes, approximately and for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import orjson
import pytest
from flask import Flask

from events.errors import StoreUnavailable
from events.platform import Platform
from events.store.heads import Here, Row
from service.app import create_app
from service.http import presence
from service.http.presence import AGAIN_SECONDS, LASTS_SECONDS, PACE_SECONDS, Found, Presence, Visit
from service.http.settings import Settings
from tests.service.conftest import Caller

MATCH = "mmmmmmmmmmmmmmmm"


class House:
    """Web processes that hear each other, and a clock that they share. `told`: the rows that were told, newest last."""

    def __init__(self, processes: int) -> None:
        self.now = 0.0
        self.told: list[Row] = []
        self.woken: list[str] = []
        self.open = ExitStack()
        self.processes = [Presence(self._tell, lambda: None, lambda: self.now) for _ in range(processes)]

    def _tell(self, process: str, rows: Sequence[Row]) -> None:
        self.told += rows
        for each in self.processes:
            each.hear(Here(process, tuple(rows)))

    def visit(self, process: int, player: str | None = None) -> Visit:
        return self.open.enter_context(self.processes[process].visit(MATCH, player, lambda: self.woken.append(player or "")))

    def settle(self, seconds: float = PACE_SECONDS) -> None:
        """Let time pass, and let each process settle. What one tells, another has heard by the next time."""
        self.now += seconds
        for each in self.processes:
            each.settle()


def test_all_processes_know_who_is_there_once_and_how_many_watch() -> None:
    house = House(2)
    ada, twice, somebody, other = house.visit(0, "ada"), house.visit(1, "ada"), house.visit(0), house.visit(1)
    house.settle()
    house.settle()
    assert ada.found == twice.found == somebody.found == other.found == Found(frozenset({"ada"}), 2)


def test_a_process_that_comes_later_is_told_at_once() -> None:
    house = House(2)
    house.visit(0, "ada")
    house.settle()
    late = house.visit(1)
    house.settle()
    house.settle()
    house.settle()
    assert house.now < AGAIN_SECONDS
    assert late.found == Found(frozenset({"ada"}), 1)


def test_a_process_that_dies_is_forgotten_and_one_that_goes_on_is_not() -> None:
    house = House(3)
    stays = house.visit(0)
    house.visit(1, "ada")
    house.visit(2, "ben")
    for _ in range(3):
        house.settle()
    assert stays.found == Found(frozenset({"ada", "ben"}), 1)
    dead = house.processes.pop(1)
    for _ in range(int(LASTS_SECONDS / PACE_SECONDS) + 1):
        house.settle()
    assert stays.found == Found(frozenset({"ben"}), 1)
    assert dead not in house.processes


def test_who_follows_is_woken_once_in_a_while_and_nothing_is_told_twice() -> None:
    house = House(1)
    house.visit(0, "ada")
    house.settle()
    for _ in range(100):
        with house.processes[0].visit(MATCH, None, lambda: None):
            house.settle(PACE_SECONDS / 200)
    assert house.woken == ["ada"]
    assert house.told == [Row(MATCH, True, 0, ("ada",))]
    house.settle()
    house.settle()
    assert house.woken == ["ada"]
    assert len(house.told) == 1
    house.settle(AGAIN_SECONDS)
    assert house.told[1:] == [Row(MATCH, False, 0, ("ada",))]


def test_a_match_that_nobody_follows_leaves_nothing() -> None:
    house = House(2)
    here = house.visit(0)
    with house.processes[1].visit(MATCH, "ben", lambda: None):
        house.settle()
        house.settle()
    assert here.found == Found(frozenset({"ben"}), 1)
    house.settle()
    house.settle()
    assert here.found == Found(frozenset(), 1)
    house.open.close()
    house.settle()
    assert [each.settle() for each in house.processes] == [False, False]


def test_a_store_that_is_away_changes_nothing_for_this_process() -> None:
    def fail(process: str, rows: Sequence[Row]) -> None:
        raise StoreUnavailable("away")

    alone = Presence(fail, lambda: None)
    with alone.visit(MATCH, "ada", lambda: None) as visit:
        assert alone.settle()
        assert visit.found == Found(frozenset({"ada"}), 0)


# ---------------------------------------------------------------- streams


@pytest.fixture
def watched(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Flask:
    monkeypatch.setattr(presence, "PACE_SECONDS", 0.0)
    return create_app(platform, Settings(log_requests=False, comment_seconds=0.2))


def events(app: Flask, caller: Caller, match: str, query: str = "here=true&seconds=20") -> Iterator[tuple[str, Any]]:
    """Yield the events of a stream as they come: what each is called, and its data."""
    headers = {"Authorization": f"Bearer {caller.key}"} if caller.key else {}
    answer = app.test_client().get(f"/v1/matches/{match}/stream?{query}", headers=headers, buffered=False)
    for chunk in answer.response:
        for event in bytes(chunk).decode().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in event.split("\n") if ": " in line and not line.startswith(":"))
            if "event" in fields:
                yield fields["event"], orjson.loads(fields["data"])


def until(found: Iterator[tuple[str, Any]], wanted: Any) -> None:
    """Read a stream until it says that somebody is there."""
    assert next(data for event, data in found if event == "here" and data == wanted) == wanted


def test_a_seat_is_told_who_is_there_and_who_does_not_ask_is_not_counted(watched: Flask, ada: Caller, ben: Caller, anybody: Caller) -> None:
    body = {"game": "war", "seats": {"red": "me", "blue": "open"}, "options": {"first_seat": "red"}}
    match = ada.post("/v1/matches", body).json["id"]
    first = events(watched, ada, match)
    until(first, {"seats": ["red"], "watching": 0})
    quiet = events(watched, anybody, match, "seconds=20")
    next(quiet)
    guest = events(watched, ben, match)
    until(guest, {"seats": ["red"], "watching": 1})
    assert ben.post(f"/v1/matches/{match}/seats/blue", {}).status_code == 200
    until(guest, {"seats": ["red", "blue"], "watching": 0})
    until(first, {"seats": ["red", "blue"], "watching": 0})


def test_of_a_hidden_match_spectators_are_told_nothing(watched: Flask, join: Callable[..., Caller], ada: Caller, ben: Caller) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}, "spectators": "none"}).json["id"]
    assert ben.post(f"/v1/matches/{match}/seats/blue", {}).status_code == 200
    eve = events(watched, join("Eve"), match, "here=true&seconds=1")
    next(eve)
    until(events(watched, ada, match), {"seats": ["red"], "watching": 1})
    assert "here" not in [event for event, _ in eve]
