"""When a request to act counts as received: what the service takes is not the player's time, and what the client takes is."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from werkzeug.test import EnvironBuilder, run_wsgi_app

from events import play
from events.accounts import register
from events.platform import Platform, Settings, open_platform
from record.entries import parse
from service.app import create_app
from service.http.settings import Settings as ServiceSettings
from tests.conftest import ALL_GAMES, Servers
from tests.events.test_clock import Machine

ADD = {"type": "add", "by": 1, "stay": False}
SECOND = 1000


class Slowly(io.BytesIO):
    """A body during whose reading time passes."""

    def __init__(self, body: bytes, machine: Machine, ms: int) -> None:
        super().__init__(body)
        self._machine = machine
        self._ms = ms

    def read(self, size: int | None = -1) -> bytes:
        self._machine.pass_ms(self._ms)
        return super().read(size)


@pytest.fixture
def machine() -> Machine:
    return Machine(2_000_000_000_000)


@pytest.fixture
def timed(quiet_servers: Servers, machine: Machine) -> Iterator[Platform]:
    settings = Settings(store_url=quiet_servers.store_url, queue_url=quiet_servers.queue_url, keys=quiet_servers.data / "keys")
    platform = open_platform(settings, ALL_GAMES, clock=machine.clock())
    yield platform
    platform.close()


def act(platform: Platform, machine: Machine, body_ms: int = 0, key_ms: int = 0, path: str = "") -> tuple[int, Any, int]:
    """Send an action whose body takes some time to come, and whose key takes some time to look up.

    Return the status, the body, and the milliseconds from the beginning to the moment of the entry.
    """
    player, key = register(platform, "Ann")
    app = create_app(platform, ServiceSettings(log_requests=False))
    clock = {"clock": {"kind": "per_action", "seconds": 10}}
    match = play.create(platform, player.id, "tally", {"one": "me", "two": "me"}, {}, settings=clock).match
    begun = play.play(platform, match, "system", [{"type": "advance"}]).position.at
    owner = platform.store.accounts.fields_of

    def slowly(id: str) -> dict[str, str]:
        machine.pass_ms(key_ms)
        return owner(id)

    platform.store.accounts.fields_of = slowly  # type: ignore[method-assign]
    body = orjson.dumps(ADD)
    headers = {"Authorization": f"Bearer {key}"}
    environ = EnvironBuilder(
        f"/v1/matches/{match}/actions{path}", method="POST", headers=headers, content_type="application/json"
    ).get_environ()
    environ["CONTENT_LENGTH"] = str(len(body))
    environ["wsgi.input"] = Slowly(body, machine, body_ms)
    chunks, status, _ = run_wsgi_app(app.wsgi_app, environ)
    last = parse(platform.store.log.read(match)[-1])
    return int(status[:3]), orjson.loads(b"".join(chunks)), last.at - begun


@pytest.mark.parametrize("path", ["", "/"], ids=["the usual way", "through Flask"])
def test_a_client_that_holds_back_its_body_decides_by_its_end(timed: Platform, machine: Machine, path: str) -> None:
    status, answer, _ = act(timed, machine, body_ms=11 * SECOND, path=path)
    assert (status, answer["code"]) == (409, "time_is_up")


def test_the_time_until_the_body_has_come_is_used(timed: Platform, machine: Machine) -> None:
    assert act(timed, machine, body_ms=9 * SECOND)[::2] == (200, 9 * SECOND)


def test_the_time_that_the_service_takes_to_find_out_whose_a_key_is_costs_nothing(timed: Platform, machine: Machine) -> None:
    assert act(timed, machine, key_ms=11 * SECOND)[::2] == (200, 0)
    assert timed.pulse.flight.tick() == machine.wall, "nothing is in flight any more"


def test_both_together(timed: Platform, machine: Machine) -> None:
    assert act(timed, machine, key_ms=11 * SECOND, body_ms=2 * SECOND)[::2] == (200, 2 * SECOND)
