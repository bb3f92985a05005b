"""Compression: what everybody may see is sent as gzip to who takes it, and nothing else is."""

from __future__ import annotations

import gzip
import random

import pytest
from werkzeug.test import TestResponse

from events.platform import Platform
from service.http.responses import takes
from tests.service.conftest import Caller, played_on, worlds

NDJSON = "application/x-ndjson"
OF_A_MATCH = (
    "/state",
    "/state.svg",
    "/state?at=9",
    "/frames?limit=100",
    "/frames?key=false",
    "/why?pointer=/to_act",
    "/entries?proof=true",
)
OF_ALL = (
    *(f"/v1/games/war{part}" for part in ("", "/rules", "/rulebook", "/schema", "/data", "/look.css", "/look.svg")),
    *("/v1/limits", "/v1/problems", "/openapi.json", "/openapi.yaml", "/docs/assets/swagger-ui.css", "/", "/games/war"),
)


@pytest.fixture
def match(platform: Platform, ada: Caller, ben: Caller) -> str:
    return worlds(platform, ada, ben, 20)


def coded(caller: Caller, path: str, accept: str = "gzip, deflate, br", **headers: str) -> TestResponse:
    """Return an answer as a client gets it that takes some content codings. It is not checked against openapi.yaml, being compressed."""
    given = {name.replace("_", "-"): value for name, value in headers.items()} | {"Accept-Encoding": accept}
    if caller.key is not None:
        given["Authorization"] = f"Bearer {caller.key}"
    return caller.client.get(path, headers=given)


def test_what_everybody_may_see_is_compressed(anybody: Caller, match: str) -> None:
    for path in (*OF_ALL, *(f"/v1/matches/{match}{part}" for part in OF_A_MATCH), f"/m/{match}"):
        plain, small = coded(anybody, path, "identity"), coded(anybody, path)
        assert (plain.status_code, small.status_code) == (200, 200), path
        assert "Content-Encoding" not in plain.headers
        assert small.headers["Content-Encoding"] == "gzip", path
        assert gzip.decompress(small.data) == plain.data
        assert len(small.data) < len(plain.data) / 2
        assert int(small.headers["Content-Length"]) == len(small.data)
        for answer in (plain, small):
            assert "Accept-Encoding" in answer.headers["Vary"]
        assert small.mimetype == plain.mimetype


def test_a_compressed_answer_has_an_etag_of_its_own_which_counts_for_both(anybody: Caller, match: str) -> None:
    for path in (f"/v1/matches/{match}/state", f"/v1/matches/{match}/frames", "/v1/games/war/look.css", "/openapi.json"):
        plain, small = coded(anybody, path, "identity"), coded(anybody, path)
        assert small.headers["ETag"] == plain.headers["ETag"][:-1] + '-gzip"'
        for tag in (plain.headers["ETag"], small.headers["ETag"]):
            again = coded(anybody, path, If_None_Match=tag)
            assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", small.headers["ETag"])
            assert coded(anybody, path, "identity", If_None_Match=tag).headers["ETag"] == plain.headers["ETag"]


def test_an_action_may_name_the_version_by_the_etag_of_a_compressed_answer(ada: Caller, anybody: Caller, tally: str) -> None:
    version = anybody.get(f"/v1/matches/{tally}").json["version"]
    add = {"type": "add", "by": 2, "stay": True}
    assert ada.act(tally, add, If_Match=f'"{version - 1}-gzip"').status_code == 412
    assert ada.act(tally, add, If_Match=f'"{version}-gzip"').status_code == 200


def test_what_is_for_its_reader_alone_is_never_compressed(
    anybody: Caller, ada: Caller, referee: Caller, platform: Platform, match: str
) -> None:
    base = f"/v1/matches/{match}"
    for caller, viewer in ((ada, "aliens"), (referee, "aliens"), (referee, "auditor")):
        for part in OF_A_MATCH:
            path = f"{base}{part}{'&' if '?' in part else '?'}viewer={viewer}"
            assert "Content-Encoding" not in coded(caller, path).headers, path
    for path in (base, f"{base}/choices", "/v1/players/me", "/v1/players/me/keys", "/v1/matches"):
        assert "Content-Encoding" not in coded(ada, path).headers, path
    made = ada.client.post(
        "/v1/players", json={"name": "x" * 60}, headers={"Accept-Encoding": "gzip", "Authorization": f"Bearer {ada.key}"}
    )
    assert "Content-Encoding" not in made.headers


def test_a_hidden_match_is_not_compressed_for_those_who_see_more(anybody: Caller, ada: Caller, platform: Platform) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:random"}, "spectators": "none"}).json["id"]
    played_on(platform, match, random.Random(6), 8)
    for path in (f"/v1/matches/{match}/state?viewer=spectator", f"/v1/matches/{match}/frames?viewer=spectator"):
        assert "Content-Encoding" not in coded(ada, path).headers
    ada.act(match, {"type": "resign"})
    for path in (f"/v1/matches/{match}/state?viewer=red", f"/v1/matches/{match}/frames?viewer=auditor"):
        assert coded(ada, path).headers["Content-Encoding"] == "gzip"
        assert coded(anybody, path).data == coded(ada, path).data


def test_small_answers_and_failures_are_sent_as_they_are(anybody: Caller, match: str) -> None:
    for path in ("/v1/games/war/rules/WAR-MOV-01", f"/v1/matches/{match}/frames?after=999", "/v1/games/chess"):
        assert "Content-Encoding" not in coded(anybody, path).headers


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("gzip", True), ("GZIP;q=0.5", True), ("br, gzip", True), ("*", True), ("deflate, *;q=0.1", True), ("gzip;q=0", False),
        ("gzip;q=0, *", False), ("*;q=0", False), ("", False), (None, False), ("identity", False), ("xgzip", False), ("gzip;q=x", False),
    ],
)  # fmt: skip
def test_who_takes_gzip(header: str | None, expected: bool) -> None:
    assert takes(header, "gzip") is expected
