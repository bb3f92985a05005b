"""A player who has left a seat sees no more of it, and a referee who takes one keeps nothing that opens the hidden parts of the match."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from flask import Flask

from events import play, recall
from events.accounts import register
from events.platform import Platform
from service.app import create_app
from service.http.settings import Settings

SEATS = {"red": "me", "blue": "open"}


@pytest.fixture
def app(platform: Platform) -> Flask:
    return create_app(platform, Settings(admin_key="admin", log_requests=False, comment_seconds=0.2, wait_limit=5.0, streams=8))


def get(app: Flask, path: str, key: str, accept: str = "application/json") -> Any:
    return app.test_client().get(path, headers={"Authorization": f"Bearer {key}", "Accept": accept})


@pytest.mark.parametrize("game", ["war_of_the_worlds", "war"])
def test_who_has_left_a_seat_gets_nothing_more_of_its_view(platform: Platform, app: Flask, ann: str, bob: str, game: str) -> None:
    seats = list(platform.games[game].seats.ids)[:2]
    cleo, key = register(platform, "Cleo")
    match = play.create(platform, ann, game, dict(zip(seats, ("open", "open"), strict=True)), {}).match
    play.act_at_table(platform, match, cleo.id, {"type": "take_seat", "seat": seats[1]})
    path = f"/v1/matches/{match}"
    chunks = iter(get(app, f"{path}/stream?viewer={seats[1]}&after=2&seconds=9", key).response)
    assert next(chunks) == b"retry: 1000\n\n"
    waited: list[Any] = []
    poll = threading.Thread(target=lambda: waited.append(get(app, f"{path}/entries?viewer={seats[1]}&after=2&wait=9", key)), daemon=True)
    poll.start()
    play.act_at_table(platform, match, cleo.id, {"type": "leave_seat", "seat": seats[1]})
    play.act_at_table(platform, match, bob, {"type": "take_seat", "seat": seats[1]})
    play.act_at_table(platform, match, ann, {"type": "take_seat", "seat": seats[0]})
    play.play(platform, match, "system", [{"type": "advance"}])
    assert list(chunks) == []
    poll.join(10)
    assert waited[0].status_code == 403 or waited[0].json["entries"] == []  # its answer may have begun while the seat was still Cleo's
    assert get(app, f"{path}/entries?viewer={seats[1]}&after=2", key).json["code"] == "hidden_view"


def test_a_referee_gets_the_key_of_the_salts_only_when_no_seat_can_be_taken_any_more(
    platform: Platform, app: Flask, ann: str, bob: str
) -> None:
    _, key = register(platform, "Rex", "referee")
    match = play.create(platform, ann, "war", SEATS, {}).match
    blind = recall.cached(platform, match).blind.hex()
    for accept in ("application/json", "application/x-ndjson"):
        answer = get(app, f"/v1/matches/{match}/record", key, accept)
        assert answer.status_code == 200
        assert blind not in answer.text
        assert json.loads(answer.text.splitlines()[0])["blind"] is None
    play.act_at_table(platform, match, bob, {"type": "take_seat", "seat": "blue"})
    assert get(app, f"/v1/matches/{match}/record", key).json["blind"] == blind
