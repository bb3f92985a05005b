"""Set phrases at the table: who may say them, who hears them, and that they change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import Queue
from typing import Any

import orjson
import pytest
from flask import Flask
from flask.testing import FlaskClient

from events.platform import Platform
from events.store.heads import MISSED, Head, Said
from service.api import streams
from service.app import create_app
from service.http.hub import MOST_SAID, Watch
from service.http.limits import AMOUNTS
from service.http.places import Place
from service.http.settings import Settings
from tests.service.conftest import Caller
from web.look import PHRASES, SHARED

GOOD_LUCK = {"phrase": "good_luck"}


@pytest.fixture
def match(ada: Caller, ben: Caller) -> str:
    made: str = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}, "spectators": "none"}).json["id"]
    assert ben.post(f"/v1/matches/{made}/seats/blue", {}).status_code == 200
    return made


@pytest.fixture
def eve(join: Callable[..., Caller]) -> Caller:
    return join("Eve")


@pytest.fixture
def say(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that says something. Every stream has heard it when it returns: no message of the store is waited for."""
    heard: Queue[Head | Said | None] = Queue()
    heard.put(MISSED)

    def listen(_: float) -> Iterator[Head | Said | None]:
        while True:
            yield heard.get()

    monkeypatch.setattr(platform.store, "heard", listen)
    monkeypatch.setattr(platform.store, "say", lambda *said: heard.put(Said(*said)))
    return lambda caller, match, body=GOOD_LUCK, seat="": caller.post(f"/v1/matches/{match}/phrases{seat}", body)


def events(app: Flask, caller: Caller, match: str, query: str = "phrases=true") -> Iterator[tuple[str, Any]]:
    """Yield the events of a stream, as they come: what each is called, and its data."""
    headers = {"Authorization": f"Bearer {caller.key}"} if caller.key else {}
    client: FlaskClient = app.test_client()
    answer = client.get(f"/v1/matches/{match}/stream?seconds=20&{query}", headers=headers, buffered=False)
    for chunk in answer.response:
        for event in bytes(chunk).decode().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in event.split("\n") if ": " in line and not line.startswith(":"))
            if "event" in fields:
                yield fields["event"], orjson.loads(fields["data"])


def phrase(found: Iterator[tuple[str, Any]]) -> Any:
    """Return the data of the next phrase."""
    return next(data for event, data in found if event == "phrase")


def test_a_phrase_reaches_the_players_and_changes_nothing(platform: Platform, ada: Caller, ben: Caller, match: str, say: Any) -> None:
    app = create_app(platform, Settings(log_requests=False))
    hears = events(app, ben, match)
    next(hears)
    before = ada.get(f"/v1/matches/{match}").text
    assert say(ada, match).status_code == 204
    assert phrase(hears) == {"seat": "red", "phrase": "good_luck"}
    assert ada.get(f"/v1/matches/{match}").text == before


def test_a_phrase_is_heard_after_the_end_and_only_by_players_who_ask(
    platform: Platform, ada: Caller, ben: Caller, eve: Caller, anybody: Caller, match: str, say: Any
) -> None:
    app = create_app(platform, Settings(log_requests=False, comment_seconds=0.2))  # a stream that nobody reads misses what wakes it
    hears = events(app, ben, match)
    others = [events(app, eve, match), events(app, anybody, match), events(app, ben, match, "phrases=false")]
    for stream in (hears, *others):
        next(stream)
    assert say(ada, match).status_code == 204
    assert phrase(hears) == {"seat": "red", "phrase": "good_luck"}
    assert ada.post(f"/v1/matches/{match}/actions", {"type": "resign"}).status_code == 200
    assert say(ada, match, {"phrase": "well_played"}).status_code == 204
    assert phrase(hears) == {"seat": "red", "phrase": "well_played"}
    for stream in others:
        told = [event for event, _ in stream]
        assert (told[-1], "phrase" in told) == ("over", False)


def test_after_the_end_a_stream_ends_soon_and_its_place_is_not_that_of_a_player(
    platform: Platform, ada: Caller, ben: Caller, match: str, say: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks: list[bool] = []
    monkeypatch.setattr(Place, "mark", lambda _, plays: marks.append(plays))
    monkeypatch.setattr(streams, "LISTENS_SECONDS", 0.0)
    hears = events(create_app(platform, Settings(log_requests=False)), ben, match)
    next(hears)
    assert ada.post(f"/v1/matches/{match}/actions", {"type": "resign"}).status_code == 200
    assert "over" in (event for event, _ in hears)
    assert say(ada, match, {"phrase": "well_played"}).status_code == 204
    assert list(hears) == []
    assert marks[-1] is False


def test_who_does_not_hear_phrases_is_not_woken_by_them_and_who_hears_keeps_a_few() -> None:
    woken: list[Watch] = []
    deaf, hearing = Watch(lambda: woken.append(deaf)), Watch(lambda: woken.append(hearing))
    hearing.hears = True
    for number in range(MOST_SAID + 1):
        for watch in (deaf, hearing):
            watch.hear(Said("m", "red", str(number)))
    assert (deaf in woken, len(deaf.said)) == (False, 0)
    assert [one.phrase for one in hearing.said] == [str(number) for number in range(1, MOST_SAID + 1)]


def test_who_has_no_seat_says_nothing_and_no_text_is_free(
    platform: Platform, ada: Caller, eve: Caller, anybody: Caller, match: str
) -> None:
    path = f"/v1/matches/{match}/phrases"
    assert eve.post(path, GOOD_LUCK).json["code"] == "not_seated"
    assert ada.post(f"{path}?seat=blue", GOOD_LUCK).json["code"] == "not_your_seat"
    assert anybody.post(path, GOOD_LUCK).status_code == 401
    for body in ({"phrase": "You fool"}, {}, {"phrase": "hello", "text": "You fool"}):
        assert ada.post(path, body).json["code"] == "bad_body"


def test_phrases_are_limited_by_player(platform: Platform, ada: Caller, match: str) -> None:
    client = create_app(platform, Settings(log_requests=False, limits={**AMOUNTS, "phrases": 3})).test_client()
    headers = {"Authorization": f"Bearer {ada.key}"}
    codes = [client.post(f"/v1/matches/{match}/phrases", json=GOOD_LUCK, headers=headers).status_code for _ in range(5)]
    assert (codes[:3], codes[-1]) == ([204] * 3, 429)


def test_every_phrase_has_words(anybody: Caller) -> None:
    assert len(PHRASES) == 12
    assert all(SHARED.word(f"say_{one}").strip("!?.") for one in PHRASES)
