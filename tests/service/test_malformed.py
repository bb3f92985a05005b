"""The answer to any malformed request is the right 4xx as a problem, never a 5xx. Nothing changes."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis

from events.keeping import embedded
from events.platform import Platform, open_platform
from events.platform import Settings as Stored
from events.store import library
from service.app import create_app
from service.http.problems import CODES
from service.http.settings import Settings
from tests.each import each
from tests.service.conftest import Caller, Live, streams_open

DEEP = b'{"type": "add", "by": ' + b"[" * 200 + b"]" * 200 + b"}"
BODIES = {
    "nothing": (b"", "bad_json"),
    "half": (b'{"type": "add"', "bad_json"),
    "two": (b'{"type": "add"} {}', "bad_json"),
    "a comment": (b'{"type": "add" /* so */}', "bad_json"),
    "not a number": (b'{"type": "add", "by": NaN}', "bad_json"),
    "infinity": (b'{"type": "add", "by": Infinity}', "bad_json"),
    "no UTF-8": (b'{"type": "\xff\xfe"}', "bad_json"),
    "UTF-16": ('{"type": "add"}'.encode("utf-16"), "bad_json"),
    "half a pair": (b'{"type": "\\ud800"}', "bad_json"),
    "a bare NUL": (b'{"type": "\x00"}', "bad_json"),
    "a form": (b"type=add&by=1", "bad_json"),
    "a word": (b'"add"', "bad_body"),
    "a number": (b"1", "bad_body"),
    "null": (b"null", "bad_body"),
    "true": (b"true", "bad_body"),
    "no action": (b"[]", "bad_body"),
    "a list of a list": (b"[[]]", "bad_body"),
    "a list with a hole": (b'[{"type": "roll"}, null]', "bad_body"),
    "too many": (b"[" + b",".join([b'{"type": "roll"}'] * 51) + b"]", "bad_body"),
    "too deep": (DEEP, "bad_body"),
    "far too deep": (b"[" * 5000 + b"]" * 5000, "bad_json"),
    "a huge number": (b'{"type": "add", "by": 1' + b"0" * 400 + b', "stay": true}', "bad_json"),
    "a large number": (b'{"type": "add", "by": 10000000000000000000000, "stay": true}', "bad_body"),
    "a large fraction": (b'{"type": "add", "by": 1e300, "stay": true}', "bad_body"),
    "a small fraction": (b'{"type": "add", "by": 1e-300, "stay": true}', "bad_action"),
    "an escaped NUL": (b'{"type": "add", "by": "\\u0000", "stay": true}', "bad_action"),
    "an escaped NUL as a name": (b'{"type": "add", "\\u0000": 1}', "bad_action"),
    "a NUL for a type": (b'{"type": "\\u0000"}', "bad_action"),
    "a prototype": (b'{"type": "add", "__proto__": {"by": 1}, "constructor": 1}', "bad_action"),
    "braces": (b'{"type": "{0.__class__}", "by": "{type}"}', "bad_action"),
    "a negative": (b'{"type": "add", "by": -1, "stay": true}', "bad_action"),
}


def test_a_malformed_action_is_refused_and_changes_nothing(ada: Caller, anybody: Caller, tally: str) -> None:
    before = anybody.get(f"/v1/matches/{tally}/entries").data
    for name, (body, code) in BODIES.items():
        refused = ada.ask("POST", f"/v1/matches/{tally}/actions", data=body)
        assert refused.json["code"] == code, (name, refused.json)
        assert refused.status_code == refused.json["status"] == (422 if code == "bad_action" else 400)
        assert refused.mimetype == "application/problem+json"
        assert refused.json["detail"].endswith(".")
        assert anybody.get(f"/v1/matches/{tally}/entries").data == before, name


@pytest.mark.parametrize("path", ["/v1/players", "/v1/matches", "/v1/matches/{}/actions", "/v1/matches/{}/seats/two"])
def test_every_operation_refuses_malformed_bodies(ada: Caller, tally: str, path: str) -> None:
    for body in (b"[" * 30 + b"]" * 30, b"[1e400]", b"{", b'{"\\u0000": 1}', b'{"a": 1}', b"[]", b'"x"', b"1"):
        refused = ada.ask("POST", path.format(tally), data=body)
        assert refused.status_code in (400, 422), body
        assert refused.json["code"] in ("bad_json", "bad_body", "bad_action")


def test_a_body_of_another_kind_is_415(ada: Caller, tally: str) -> None:
    for kind in ("text/plain", "application/xml", "application/x-www-form-urlencoded", "", "application/json; charset=utf-16", "json"):
        refused = ada.ask("POST", f"/v1/matches/{tally}/actions", data=b'{"type": "roll"}', Content_Type=kind)
        assert (kind, refused.status_code, refused.json["code"]) == (kind, 415, "not_json")


@pytest.mark.parametrize("path", ["/v1/players", "/v1/matches", "/v1/matches/{}/actions", "/v1/matches/{}/seats/two"])
def test_an_encoded_body_is_415(ada: Caller, tally: str, path: str) -> None:
    for encoding in ("gzip", "br", "deflate", "identity, gzip", "nonsense", "x" * 2000):
        refused = ada.ask("POST", path.format(tally), data=b"{}", Content_Encoding=encoding)
        assert (encoding, refused.status_code, refused.json["code"]) == (encoding, 415, "encoded")
        assert refused.headers["Accept-Encoding"] == "identity"
        assert len(refused.data) < 500


@pytest.mark.parametrize("encoding", ["", "identity", " Identity "])
def test_a_body_that_is_not_encoded_may_say_so(ada: Caller, tally: str, encoding: str) -> None:
    assert ada.ask("POST", f"/v1/matches/{tally}/actions", data=b'{"type": "roll"}', Content_Encoding=encoding).status_code == 200


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON", 'application/json;charset="UTF-8"'])
def test_json_may_name_its_charset(ada: Caller, tally: str, kind: str) -> None:
    assert ada.ask("POST", f"/v1/matches/{tally}/actions", data=b'{"type": "roll"}', Content_Type=kind).status_code == 200


@each("path", ["/v1/players", "/v1/matches", "/v1/matches/{}/actions", "/v1/matches/{}/seats/two"])
def test_a_body_over_the_limit_is_413(ada: Caller, tally: str, path: str, settings: Settings) -> None:
    refused = ada.ask("POST", path.format(tally), data=b'{"name": "' + b"x" * settings.body_limit + b'"}')
    assert (refused.status_code, refused.json["code"]) == (413, "too_large")


def test_a_wrong_method_is_405_and_the_answer_lists_the_right_ones(ada: Caller, tally: str) -> None:
    for method, path, allowed in (
        ("DELETE", f"/v1/matches/{tally}", "GET, HEAD, OPTIONS"),
        ("PUT", f"/v1/matches/{tally}/state", "GET, HEAD, OPTIONS"),
        ("GET", f"/v1/matches/{tally}/actions", "OPTIONS, POST"),
        ("PATCH", "/v1/matches", "GET, HEAD, OPTIONS, POST"),
        ("TRACE", "/v1/games", "GET, HEAD, OPTIONS"),
        ("BREW", "/v1/games", "GET, HEAD, OPTIONS"),
    ):
        refused = ada.ask(method, path)
        assert (refused.status_code, refused.json["code"]) == (405, "wrong_method")
        assert refused.headers["Allow"] == allowed


def test_every_get_answers_head_and_options(anybody: Caller, tally: str) -> None:
    for path in ("/v1/games", f"/v1/matches/{tally}", f"/v1/matches/{tally}/state", f"/v1/matches/{tally}/entries", "/healthz", "/docs"):
        head, whole = anybody.ask("HEAD", path), anybody.get(path)
        assert (head.status_code, head.data) == (200, b"")
        assert head.headers["Content-Length"] == str(len(whole.data))
        options = anybody.ask("OPTIONS", path)
        assert (options.status_code, options.data, options.headers["Allow"]) == (204, b"", "GET, HEAD, OPTIONS")
        assert "Content-Type" not in options.headers


def test_head_does_not_wait(anybody: Caller, tally: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("service.http.following.Follower.step")
    others = streams_open()
    for path in ("entries?after=3&wait=5", "stream?after=3"):
        answer = anybody.ask("HEAD", f"/v1/matches/{tally}/{path}")
        assert (answer.status_code, answer.data) == (200, b"")
    assert streams_open() <= others


def test_options_name_the_methods_of_a_path_and_only_of_one_that_exists(anybody: Caller, tally: str) -> None:
    for path, allowed in (("/v1/matches", "GET, HEAD, OPTIONS, POST"), (f"/v1/matches/{tally}/actions", "OPTIONS, POST")):
        assert anybody.ask("OPTIONS", path).headers["Allow"] == allowed
    refused = anybody.ask("OPTIONS", "/nothing")
    assert (refused.status_code, refused.json["code"]) == (404, "no_such_path")


def test_a_malformed_query_is_400(anybody: Caller, tally: str) -> None:
    versions = ("at=0", "at=-1", "at=1.5", "at=x", "at=" + "9" * 17, "at=%00", "at=1&at=2")
    for query in (*versions, "viewer=%00", "viewer=RED", "viewer=red%0A", "viewer=", "x=1"):
        refused = anybody.get(f"/v1/matches/{tally}/state?{query}")
        assert (query, refused.status_code, refused.json["code"]) == (query, 400, "bad_query")


def test_an_answer_repeats_little_of_a_large_request(anybody: Caller, ada: Caller, tally: str) -> None:
    many = {f"field{number}": 1 for number in range(7000 // 2)}
    answers = [
        anybody.get(f"/v1/matches/{tally}/state?" + "&".join(f"x{number}=" for number in range(500))),
        anybody.get(f"/v1/matches/{tally}/state?{'y' * 4000}=1"),
        anybody.get(f"/v1/matches/{tally}/state?{'y' * 2000}=1&{'y' * 2000}=1"),
        ada.post("/v1/players", many),
        ada.post("/v1/players", {"z" * 60_000: 1}),
    ]
    for answer in answers:
        assert answer.status_code == 400
        assert 1 <= len(answer.json["errors"]) <= 10
        assert len(answer.data) < 2000


def test_a_line_end_after_a_correct_text_is_refused(ada: Caller, ben: Caller) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]
    seat = f"/v1/matches/{match}/seats/blue"
    for refused in (ben.post(seat, {"contribution": "c0ffee\n"}), ben.post("/v1/players", {"name": "Ada\n"})):
        assert (refused.status_code, refused.json["code"]) == (400, "bad_body")
    assert ben.post(seat, {"contribution": "c0ffee"}).status_code == 200


def test_digits_of_other_scripts_are_refused(anybody: Caller, tally: str) -> None:
    assert anybody.get(f"/v1/matches/{tally}/state?at=\u0663").status_code == 400


def test_every_problem_has_the_members_of_rfc_9457_and_a_code_of_the_list(anybody: Caller, ada: Caller, tally: str) -> None:
    for refused in (anybody.get("/nothing"), anybody.get("/v1/players/me"), ada.get(f"/v1/matches/{tally}/audit"), ada.act(tally, [])):
        problem = refused.json
        assert {"type", "title", "status", "code", "detail"} <= set(problem)
        assert problem["code"] in CODES
        assert problem["status"] == refused.status_code == CODES[problem["code"]].status


def test_while_the_store_is_unavailable_the_answer_is_503_and_service_resumes_afterwards(tmp_path: Path, settings: Settings) -> None:
    store = embedded.start(tmp_path, embedded.STORE, "always")
    platform = open_platform(Stored(store_url=store.url, queue_url=store.url, data=tmp_path))
    client = create_app(platform, settings).test_client()
    ada = Caller(client, Caller(client).post("/v1/players", {"name": "Ada"}).json["key"])
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]
    store.stop()
    assert ada.get("/readyz").json["code"] == "not_ready"
    for refused in (ada.get(f"/v1/matches/{match}/state"), ada.act(match, {"type": "end_moves"}), ada.get("/metrics")):
        assert (refused.status_code, refused.json["code"], refused.headers["Retry-After"]) == (503, "store_away", "1")
    assert ada.get("/healthz").status_code == 200
    again = embedded.start(tmp_path, embedded.STORE, "always")
    assert ada.get(f"/v1/matches/{match}").json["id"] == match
    assert ada.get("/readyz").status_code == 200
    platform.close()
    again.stop()


def test_a_store_of_another_format_that_comes_later_is_not_used_and_readyz_says_why(tmp_path: Path, settings: Settings) -> None:
    store = embedded.start(tmp_path, embedded.STORE, "always")
    store.stop()
    platform = open_platform(Stored(store_url=store.url, queue_url=store.url, data=tmp_path), patient=True)
    client = Caller(create_app(platform, settings).test_client())
    assert client.get("/readyz").json["detail"] == "Waiting for the store: it does not answer."
    again = embedded.start(tmp_path, embedded.STORE, "always")
    with redis.Redis.from_url(embedded.keeper_url(tmp_path)) as keeper:
        keeper.execute_command(embedded.renamed(tmp_path)["SET"], "{store}:begun", "3 16")
    for refused in (client.get("/v1/matches"), client.post("/v1/players", {"name": "Ada"})):
        assert (refused.status_code, refused.json["code"]) == (503, "store_away")
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json["code"]) == (503, "not_ready")
    assert ready.json["detail"] == f"Waiting for an operator. {library.other_format('The store')}."
    platform.close()
    again.stop()


RAW = {
    "a length that is wrong": b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{",
    "a length below zero": b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: -1\r\n\r\n",
    "no length": b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\r\n",
    "a path of bytes": b"GET /v1/\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
    "a header of bytes": b"GET /v1/players/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\xfe\r\n\r\n",
    "an id of bytes": b"GET /v1/games HTTP/1.1\r\nHost: x\r\nX-Request-Id: \xff\r\n\r\n",
    "an open escape": b"GET /v1/games/%zz HTTP/1.1\r\nHost: x\r\n\r\n",
    "a foreign host": b"GET http://elsewhere/v1/games/chess HTTP/1.1\r\nHost: elsewhere\r\n\r\n",
}


@pytest.mark.parametrize("name", RAW)
def test_raw_nonsense_causes_no_server_error(live: Live, platform: Platform, name: str) -> None:
    parts = urlsplit(live.url)
    with socket.create_connection((parts.hostname, parts.port), 5) as line:
        line.sendall(RAW[name])
        line.shutdown(socket.SHUT_WR)
        answer = line.recv(65536)
    if answer:
        assert answer.split(b" ", 2)[1][:1] in (b"2", b"4"), answer


def test_a_body_in_chunks_is_read(live: Live, platform: Platform) -> None:
    parts = urlsplit(live.url)
    line = http.client.HTTPConnection(parts.hostname, parts.port, timeout=5)
    line.request("POST", "/v1/players", iter([b'{"name":', b'"Ada"}']), {"Content-Type": "application/json"}, encode_chunked=True)
    assert line.getresponse().status == 201


def test_a_body_in_chunks_over_the_limit_is_413(live: Live, platform: Platform) -> None:
    parts = urlsplit(live.url)

    def chunks() -> Iterator[bytes]:
        for _ in range(20):
            yield b" " * 8192

    line = http.client.HTTPConnection(parts.hostname, parts.port, timeout=5)
    line.request("POST", "/v1/players", chunks(), {"Content-Type": "application/json"}, encode_chunked=True)
    assert line.getresponse().status == 413


STRANGE_HEADS = {
    "a header in no encoding": (b"GET /nothing HTTP/1.1\r\nHost: x\r\nX-A: \xff\xfe\r\n\r\n", "no_such_path"),
    "a key in no encoding": (b"GET /v1/players/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\r\n\r\n", "bad_key"),
    "a media type in no encoding": (
        b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Type: \xff/\xff\r\nContent-Length: 2\r\n\r\n{}",
        "not_json",
    ),
    "a version in no encoding": (
        b"GET /v1/matches/maaaaaaaaaaaaaaaa/stream HTTP/1.1\r\nHost: x\r\nLast-Event-ID: \xff\r\n\r\n",
        "no_such_match",
    ),
    "a path in no encoding": (b"GET /v1/games/%ff%fe HTTP/1.1\r\nHost: x\r\n\r\n", "no_such_game"),
    "no host": (b"GET /nothing HTTP/1.1\r\n\r\n", "no_such_path"),
    "a malformed host": (b"GET /nothing HTTP/1.1\r\nHost: a b/<>\r\n\r\n", "no_such_path"),
    "an unknown expectation": (
        b"POST /v1/players HTTP/1.1\r\nHost: x\r\nExpect: 200-maybe\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n{",
        "bad_json",
    ),
    "a malformed chunk": (
        b"POST /v1/players HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\nzz\r\n\r\n",
        "bad_json",
    ),
    "an unknown method": (b"BREW /v1/games HTTP/1.1\r\nHost: x\r\n\r\n", "wrong_method"),
    "OPTIONS *": (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "no_such_path"),
}


@pytest.mark.parametrize("name", STRANGE_HEADS)
def test_a_strange_head_is_answered_by_a_problem_with_an_id(live: Live, name: str) -> None:
    head, code = STRANGE_HEADS[name]
    lines, body = sent(live, head)
    assert b"content-type: application/problem+json" in lines
    assert any(line.startswith(b"x-request-id: ") for line in lines)
    assert b"x-content-type-options: nosniff" in lines
    assert f'"code":"{code}"'.encode() in body


@pytest.mark.parametrize(
    "head",
    [
        b"GARBAGE\r\n\r\n",
        b"GET /nothing HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
        b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused_by_the_web_server(live: Live, head: bytes) -> None:
    """docs/api.md says so: these answers are not the service's, and empty."""
    lines, body = sent(live, head)
    assert lines[0].split()[1] in (b"400", b"414", b"431")
    assert body == b""


def sent(live: Live, head: bytes) -> tuple[list[bytes], bytes]:
    """Send bytes to the server. Return the lines of the answer's head in lower case, and its body."""
    parts = urlsplit(live.url)
    with socket.create_connection((parts.hostname, parts.port), 10) as line:
        line.sendall(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
        answer = b"".join(iter(lambda: line.recv(65_536), b""))
    top, _, body = answer.partition(b"\r\n\r\n")
    return top.lower().split(b"\r\n"), body


def test_a_range_is_answered_with_the_whole(anybody: Caller) -> None:
    for given in ("bytes=0-9", "bytes=999999999-", "bytes=x", "lines=1-2"):
        answer = anybody.get("/docs/assets/swagger-ui.css", Range=given)
        assert (answer.status_code, len(answer.data)) == (200, len(anybody.get("/docs/assets/swagger-ui.css").data))
