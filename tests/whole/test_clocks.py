"""Clocks while the service is frozen, killed and restarted: no outage costs a player time, and every deadline comes once and at once."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis
import requests

from events.keeping import embedded
from games.choices import complete
from table.rules import is_table_action
from tests.whole.conftest import Client, until
from tests.whole.faults import part
from tools import private
from tools.processes import Process, family

FORFEIT = {"clock": {"kind": "per_action", "seconds": 5}, "time_out": {"policy": "forfeit"}}
SECONDS = 5.0


class Player(Client):
    """A player who has both seats of matches with a clock of five seconds."""

    def begin(self) -> tuple[str, Any, float]:
        """Return a match in which a clock has just begun to run, an action for its seat, and its deadline in time.monotonic."""
        match = self.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}, **FORFEIT})["id"]
        choice = until(lambda: next(iter(self.of_the_game(match)), None))
        deadline = self.entries(match)[-1]["at"] / 1000 + SECONDS
        return match, complete(choice["action"], choice.get("choose", {}), lambda below: 0), time.monotonic() + deadline - time.time()

    def of_the_game(self, match: str) -> list[Any]:
        """Return the choices of the seat that is to act, without those at the table."""
        choices = self.insist("GET", f"/v1/matches/{match}/choices")["choices"]
        return [choice for choice in choices if not is_table_action(choice["action"])]

    def entries(self, match: str) -> list[Any]:
        """Return the entries of a match."""
        return list(self.insist("GET", f"/v1/matches/{match}/entries?limit=500", seconds=60)["entries"])

    def act(self, match: str, action: Any) -> requests.Response:
        """Send an action once."""
        return self.call("POST", f"/v1/matches/{match}/actions", action)

    def types(self, match: str) -> list[str]:
        """Return the types of the actions of a match since it began."""
        return [entry["action"]["type"] for entry in self.entries(match)][2:]

    def check(self, match: str) -> None:
        """Check that the audit finds nothing."""
        report = self.insist("GET", f"/v1/matches/{match}/audit", seconds=60)
        assert report["ok"], report


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[private.Place]:
    """A private service for all tests here."""
    with private.service(tmp_path_factory.mktemp("clocks") / "data", "--workers", "1") as running:
        yield running


@contextlib.contextmanager
def frozen(place: private.Place, processes: list[Process]) -> Iterator[None]:
    """Stop some processes for a block, with the supervisor, which would kill them."""
    numbers = [place.process.pid, *(process.number for process in processes)]
    for number in numbers:
        os.kill(number, signal.SIGSTOP)
    try:
        yield
    finally:
        for number in reversed(numbers):
            os.kill(number, signal.SIGCONT)


def sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def time_outs(entries: list[Any]) -> list[tuple[int, int]]:
    """Return the moment and the deadline of each time-out."""
    return [(entry["at"], event["deadline"]) for entry in entries for event in entry["events"] if event["type"] == "time_ran_out"]


@pytest.mark.soak
def test_a_freeze_of_everything_costs_no_time_and_the_next_deadline_comes_once(place: private.Place) -> None:
    player = Player(place.url)
    acts, sleeps = player.begin(), player.begin()
    with frozen(place, family(place.process.pid)):
        sleep_until(sleeps[2] + 0.5)
    answer = player.act(acts[0], acts[1])
    assert answer.status_code == 200, answer.text
    assert player.types(acts[0])[:2] == ["return_time", acts[1]["type"]]
    player.check(acts[0])

    time.sleep(2.0)
    os.kill(part(place, "a_worker")[0].number, signal.SIGKILL)
    os.kill(part(place, "the_store")[0].number, signal.SIGKILL)
    until(lambda: player.entries(sleeps[0]))
    redis.Redis(unix_socket_path=str(embedded.socket_of(place.data.resolve() / embedded.QUEUE))).flushall()
    until(lambda: time_outs(player.entries(sleeps[0])), 15)
    ((at, deadline),) = time_outs(player.entries(sleeps[0]))
    assert 0 < at - deadline <= 2000, "a second, and another one for a machine that is busy"
    types = player.types(sleeps[0])  # a machine that is busy may have frozen again
    assert types[0] == "return_time"
    assert [kind for kind in types if kind != "return_time"] == ["time_out"]
    player.check(sleeps[0])


def test_an_action_received_before_its_deadline_counts_although_the_service_froze(place: private.Place) -> None:
    player = Player(place.url)
    pool = ThreadPoolExecutor()
    begun = [player.begin()]
    time.sleep(2.5)  # the second freeze comes right after the first
    begun.append(player.begin())
    answers = []
    for name, (match, action, deadline) in zip(("the_web", "the_store"), begun, strict=True):
        sleep_until(deadline - 1.0)
        with frozen(place, part(place, name)):
            answers.append(pool.submit(player.act, match, action))
            sleep_until(deadline + 0.5)
    for answer, (match, _, _) in zip(answers, begun, strict=True):
        assert answer.result(30).status_code == 200, answer.result().text
        assert player.types(match)[0] != "time_out"
        player.check(match)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["the_web", "one_web_process", "a_worker", "the_store", "the_queue"])
def test_a_freeze_of_one_part_costs_no_time(place: private.Place, name: str) -> None:
    player = Player(place.url)
    match, action, deadline = player.begin()
    victims = part(place, name)
    with frozen(place, victims[:1] if name in ("one_web_process", "a_worker") else victims):
        sleep_until(deadline + 1.0)
        if name in ("a_worker", "the_queue"):  # the web answers, and what it says is true at that moment
            assert player.act(match, action).status_code in (200, 409)
    until(lambda: player.types(match))
    time.sleep(1.0)
    if player.types(match) == [action["type"]]:
        return
    assert player.types(match)[0] in ("return_time", "time_out"), player.types(match)
    if name != "the_queue":
        assert player.types(match)[0] == "return_time"
    player.check(match)


@pytest.mark.soak
def test_clients_that_race_their_deadline_are_judged_by_when_they_were_received(place: private.Place) -> None:
    player = Player(place.url)
    results: list[tuple[str, int]] = []

    def race(number: int) -> None:
        match, action, deadline = player.begin()
        sleep_until(deadline + (number - 15) * 0.02)
        results.append((match, player.act(match, action).status_code))

    threads = [threading.Thread(target=race, args=(number,)) for number in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(2.0)
    assert {status for _, status in results} <= {200, 409, 422}, "time is up, or the match is over already"
    assert {status == 200 for _, status in results} == {True, False}
    for match, status in results:
        assert ("time_out" in player.types(match)[:1]) == (status != 200)
        player.check(match)
