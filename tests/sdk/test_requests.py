"""What the client sends, what it makes of errors, and when it sends a request again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from sdk.python.warledger_client import (
    Client,
    Conflict,
    Error,
    Forbidden,
    Limited,
    Malformed,
    NotFound,
    Problem,
    Refused,
    Stale,
    Turn,
    Unauthorized,
    Unavailable,
    Unreachable,
    patience,
    synchronous,
)
from tests.sdk.hostile import Fault, Hostile
from tools import private

Answer = Callable[[httpx.Request], httpx.Response]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client would have waited; it does not wait."""
    waited: list[float] = []
    monkeypatch.setattr(synchronous, "time", SimpleNamespace(sleep=waited.append))
    return waited


def canned(answer: Answer, **settings: Any) -> Client:
    """Return a client that is answered by a function."""
    return Client("http://there/", "secret", receipts=False, http={"transport": httpx.MockTransport(answer)}, **settings)


def echo(request: httpx.Request) -> httpx.Response:
    names = ("Accept", "Authorization", "Content-Type")
    headers = {name: request.headers[name] for name in names if name in request.headers}
    path = request.url.raw_path.decode()
    return httpx.Response(200, json={"method": request.method, "path": path, "body": request.content.decode(), **headers})


def test_a_get_sends_the_path_quoted_the_query_and_the_key() -> None:
    assert canned(echo).get("/echo/a b/?at=1/é%", after=3, viewer="red") == {
        "method": "GET",
        "path": "/echo/a%20b/%3Fat%3D1/%C3%A9%25?after=3&viewer=red",
        "body": "",
        "Accept": "application/json",
        "Authorization": "Bearer secret",
    }


def test_a_post_sends_json_or_no_body() -> None:
    sent = canned(echo).post("/echo", {"type": "roll"})
    assert (sent["method"], json.loads(sent["body"]), sent["Content-Type"]) == ("POST", {"type": "roll"}, "application/json")
    assert canned(echo).post("/echo")["body"] == ""


def test_fetch_asks_for_a_media_type() -> None:
    assert json.loads(canned(echo).fetch("/echo", accept="text/plain"))["Accept"] == "text/plain"


@pytest.mark.parametrize(
    ("status", "body", "kind", "text"),
    [
        (422, '{"code": "not_your_turn", "detail": "It is the turn of red."}', Refused, "422 not_your_turn: It is the turn of red."),
        (502, "<html>" + "x" * 1000, Unavailable, "502 : <html>" + "x" * 194),
        (500, "[1]", Unavailable, "500 : [1]"),
        (418, "{}", Problem, "418 : "),
    ],
)
def test_an_error_is_a_problem(status: int, body: str, kind: type[Problem], text: str) -> None:
    with pytest.raises(kind) as problem:
        canned(lambda request: httpx.Response(status, text=body), patience=0).get("/x")
    assert (type(problem.value), problem.value.status, str(problem.value)) == (kind, status, text)
    assert isinstance(problem.value, Error)


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "ftp://127.0.0.1", "http://[", "no address"])
def test_a_server_that_does_not_answer_is_unreachable(address: str) -> None:
    with pytest.raises(Unreachable, match="does not answer"):
        Client(address, patience=0).get("/healthz")


def test_an_address_that_is_none_is_not_tried_again() -> None:
    with pytest.raises(Unreachable):
        Client("ftp://127.0.0.1", patience=1_000_000).get("/healthz")


def test_a_key_from_a_file_may_end_with_a_line_end() -> None:
    client = Client("http://there", "secret\n", http={"transport": httpx.MockTransport(echo)})
    assert client.get("/echo")["Authorization"] == "Bearer secret"


@pytest.mark.parametrize("key", ["wl_a\nwl_b", "wl_\N{LATIN SMALL LETTER E WITH ACUTE}"])
def test_a_key_that_cannot_be_sent_is_told_at_once_and_not_shown(key: str) -> None:
    client = Client("http://there", key, patience=1_000_000, http={"transport": httpx.MockTransport(echo)})
    with pytest.raises(ValueError, match=r"^the key has characters that no key has$"):
        client.get("/echo")


def test_a_text_is_no_action(pauses: list[float]) -> None:
    with pytest.raises(TypeError, match="not the text 'roll'"):
        canned(echo).match("m1").act("roll")  # type: ignore[arg-type]


def test_a_limit_beyond_the_patience_is_told_at_once(pauses: list[float]) -> None:
    body = {"code": "too_many_requests", "detail": "Try again in 3600 s.", "limit": "players", "retry_after": 3600}
    with pytest.raises(Limited) as limited:
        canned(lambda request: httpx.Response(429, json=body, headers={"Retry-After": "3600"})).get("/x")
    assert (limited.value.limit, limited.value.retry_after, pauses) == ("players", 3600.0, [])


def test_a_server_that_breaks_at_a_request_is_asked_three_times(pauses: list[float]) -> None:
    with pytest.raises(Unavailable, match="broken"):
        canned(lambda request: httpx.Response(500, json={"code": "broken"})).get("/x")
    assert len(pauses) == 2


def test_what_is_not_repeatable_is_sent_once_unless_nothing_was_done(pauses: list[float]) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        if len(asked) == 1:
            return httpx.Response(429, headers={"Retry-After": "1"})
        if len(asked) == 2:
            raise httpx.ConnectError("refused")
        raise httpx.ReadError("lost")

    with pytest.raises(Unreachable):
        canned(answer).request("POST", "/v1/players/me/keys/k/rotate")
    assert len(asked) == 3


class Quiet(httpx.SyncByteStream):
    """A stream that is silent but for comments, for an hour, and then breaks."""

    def __init__(self, clock: list[float]) -> None:
        self.clock = clock

    def __iter__(self) -> Iterator[bytes]:
        yield b": still here\n\n"
        self.clock[0] += 3600
        raise httpx.ReadError("cut")


def test_a_stream_that_was_quiet_for_longer_than_the_patience_is_opened_again(pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(patience, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    opened: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        opened.append(request)
        kind = {"Content-Type": "text/event-stream"}
        if len(opened) < 3:
            return httpx.Response(200, headers=kind, stream=Quiet(clock))
        return httpx.Response(200, headers=kind, content=b'retry: 3000\n\nevent: turn\nid: 7\ndata: {"seat": "red"}\n\n')

    news = next(canned(answer).news(after="5"))
    assert (news.kind, news.id, news.data) == ("turn", "7", {"seat": "red"})
    assert [request.headers["Last-Event-ID"] for request in opened] == ["5"] * 3
    assert pauses[0] < pauses[1]


def test_an_answer_that_is_no_json_is_not_that_of_a_server() -> None:
    with pytest.raises(Unreachable, match="no JSON"):
        canned(lambda request: httpx.Response(200, text="<html>Log in to this network")).get("/v1/games")


def test_a_substitute_is_sent_away_before_the_seat_plays_on() -> None:
    acts: list[Any] = []
    note = "warledger.org/receipt/v1\nm1\n2\n00\n5\n\n— x y\n"

    def answer(request: httpx.Request) -> httpx.Response:
        choices = [{"action": {"type": "return"}, "at_table": True}] if not acts else [{"action": {"type": "roll"}}]
        if request.method == "POST":
            acts.append(json.loads(request.content))
            return httpx.Response(200, json={"version": 2, "seat": "red", "choices": [], "receipt": note})
        return httpx.Response(200, json={"version": 1, "seat": "red", "choices": choices})

    turn = next(canned(answer).match("m1").turns())
    assert (acts, turn.choices) == ([{"type": "return"}], [{"action": {"type": "roll"}}])


@pytest.fixture(scope="module")
def ada(place: private.Place) -> Client:
    client = Client(place.url)
    client.register("Ada")
    return client


def refusal(turn: Turn, tile: str) -> str | None:
    """Return the rule by which a unit may not be placed on a tile; None where it may, or where there is no such tile."""
    if {"type": "place_unit", "tile": tile} in [choice["action"] for choice in turn.choices]:
        return None
    with pytest.raises(Refused) as refused:
        turn.act({"type": "place_unit", "tile": tile})
    return refused.value.rule


def test_a_refusal_of_the_rules_names_the_rule_and_says_a_sentence(ada: Client) -> None:
    match = ada.create("war", {"red": "me", "blue": "ai:random"})
    turn = next(match.turns())
    with pytest.raises(Refused) as refused:
        turn.act({"type": "place_unit", "tile": "z36"})
    assert (refused.value.code, refused.value.game) == ("unknown_tile", "war")
    assert refused.value.detail.endswith(".")
    with pytest.raises(Refused) as refused:
        match.act([{"type": "end_moves"}])
    assert (refused.value.code, refused.value.place) == ("wrong_phase", 0)
    rules = {refusal(turn, f"{column}{row}") for column in "abcdef" for row in range(1, 7)}
    assert "WAR-STA-02" in rules


def test_each_kind_of_problem_is_a_class(place: private.Place, ada: Client) -> None:
    match = ada.create("war", {"red": "me", "blue": "open", "green": "open"})
    nobody, ben = Client(place.url), Client(place.url)
    ben.register("Ben")
    ben.match(match.id).join("blue")
    with pytest.raises(Unauthorized, match="no_key"):
        nobody.match(match.id).choices()
    with pytest.raises(Forbidden, match="not_your_seat"):
        ben.match(match.id).choices("red")
    with pytest.raises(NotFound, match="no_such_match"):
        ada.match("m" + "a" * 16).standing()
    with pytest.raises(Conflict, match="seat_taken"):
        ada.match(match.id).join("blue")
    with pytest.raises(Malformed) as malformed:
        ada.create("war", {"red": "me", "blue": "open"}, colour="green")
    assert malformed.value.errors[0]["where"] == "/colour"
    with pytest.raises(Stale) as stale:
        match.act({"type": "leave_seat", "seat": "red"}, version=1)
    assert stale.value.version == 2


def test_what_was_created_is_created_once_though_the_answer_is_lost(hostile: Hostile, ada: Client, pauses: list[float]) -> None:
    client = Client(hostile.url, ada.key)
    lost = [Fault(lost=True), Fault(lost=True)]
    hostile.fault = lambda method, path: lost.pop() if lost and (method, path) == ("POST", "/v1/matches") else None
    before = len(list(client.matches(player="me")))
    client.create("war", {"red": "me", "blue": "open"})
    assert len(list(client.matches(player="me"))) == before + 1
    assert len(hostile.sent("POST", "/v1/matches")) == 3
