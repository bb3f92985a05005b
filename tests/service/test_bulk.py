"""Bulk files over HTTP: their bytes are those of the records, a download goes on where it broke off, and anybody can check it."""

from __future__ import annotations

import gzip
import io
from hashlib import sha256
from typing import Any

import orjson
import pytest

from events import play
from events.notary import collecting, sequencing
from events.platform import Platform
from evidence import checkpoints, tree
from evidence.notes import opened as opened_note
from evidence.notes import parse_vkey
from service.app import create_app
from service.http.limits import AMOUNTS
from service.http.settings import Settings
from tests.service.conftest import Caller
from tests.service.test_table import opened, take

NDJSON = "application/x-ndjson"


def finished(platform: Platform, ada: Caller, ben: Caller) -> str:
    """Play a match to its end, by resigning, and return its id."""
    match = opened(ada, one="me", two="open")
    ben.act(match, take("two"))
    play.act_at_table(platform, match, "two", {"type": "resign"})
    return match


def collected(platform: Platform, monkeypatch: pytest.MonkeyPatch, month: str = "2999-01") -> None:
    """Collect all that has ended, and let the month be over."""
    for now in (collecting.month_of(platform.clock.now()), month):
        monkeypatch.setattr(collecting, "month_of", lambda moment, now=now: now)
        while sequencing.sequence(platform).added:
            pass
        while collecting.collect(platform):
            pass
    while sequencing.sequence(platform).added:
        pass


def test_a_part_has_the_bytes_of_the_records(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, anybody: Caller, ada: Caller, ben: Caller
) -> None:
    assert anybody.get("/v1/bulk").json == {"files": []}
    matches = [finished(platform, ada, ben) for _ in range(3)]
    opened(ada, one="me", two="open")
    collected(platform, monkeypatch)
    (file,) = anybody.get("/v1/bulk").json["files"]
    path = f"/v1/bulk/{file['game']}/{file['month']}"
    assert (file["game"], file["matches"], file["parts"], file["complete"]) == ("tally", 3, 1, True)
    part = anybody.get(f"{path}/1")
    assert (part.status_code, part.mimetype, part.headers["Accept-Ranges"]) == (200, NDJSON, "bytes")
    records = {match: anybody.get(f"/v1/matches/{match}/record", Accept=NDJSON).data for match in matches}
    begun = [orjson.loads(line)["match"] for line in part.data.splitlines() if line.startswith(b'{"blind"')]
    assert part.data == b"".join(records[match] for match in begun)
    assert sorted(begun) == sorted(matches)


def test_anybody_can_check_a_file_against_the_log(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, anybody: Caller, ada: Caller, ben: Caller
) -> None:
    monkeypatch.setattr(collecting, "LARGE", 2000)
    for _ in range(4):
        finished(platform, ada, ben)
    collected(platform, monkeypatch)
    path = "/v1/bulk/{game}/{month}".format(**anybody.get("/v1/bulk").json["files"][0])
    listed: list[Any] = []
    page = anybody.get(f"{path}?limit=1").json
    while True:
        listed += page["list"]
        if page["next"] is None:
            break
        page = anybody.get(f"{path}?limit=1&cursor={page['next']}").json
    assert [part["part"] for part in listed] == list(range(1, page["parts"] + 1))
    assert len(listed) > 1
    digest = bytes(32)
    for part in listed:
        content = anybody.get(f"{path}/{part['part']}").data
        assert (len(content), sha256(content).hexdigest()) == (part["bytes"], part["sha256"])
        digest = sha256(digest + sha256(content).digest()).digest()
    leaf = page["leaf"]
    assert digest.hex() == page["digest"] == leaf["leaf"]["digest"]
    keys = [parse_vkey(key["vkey"]) for key in anybody.get("/.well-known/warledger-keys").json["keys"]]
    proof = checkpoints.parse_proof(leaf["proof"])
    checkpoint = checkpoints.parse(opened_note(proof.note, keys).text)
    raw = orjson.dumps(leaf["leaf"], option=orjson.OPT_SORT_KEYS)
    assert tree.is_included(tree.leaf_hash(raw), leaf["index"], checkpoint.size, proof.path, checkpoint.root)


def test_a_download_goes_on_where_it_broke_off(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, anybody: Caller, ada: Caller, ben: Caller
) -> None:
    finished(platform, ada, ben)
    collected(platform, monkeypatch)
    path = "/v1/bulk/{game}/{month}/1".format(**anybody.get("/v1/bulk").json["files"][0])
    whole = anybody.get(path)
    size, tag = len(whole.data), whole.headers["ETag"]
    assert tag == f'"{sha256(whole.data).hexdigest()}"'
    for asked, expected in (
        ("bytes=100-", whole.data[100:]),
        ("bytes=100-199", whole.data[100:200]),
        (f"bytes=100-{size * 2}", whole.data[100:]),
    ):
        rest = anybody.get(path, Range=asked, If_Range=tag)
        assert (rest.status_code, rest.data, rest.headers["ETag"]) == (206, expected, tag)
        assert rest.headers["Content-Range"] == f"bytes 100-{100 + len(expected) - 1}/{size}"
    for headers in (
        {"Range": f"bytes={size}-"},
        {"Range": "bytes=9-1"},
        {"Range": "lines=1-"},
        {"Range": "bytes=1-", "If_Range": '"other"'},
    ):
        assert (anybody.get(path, **headers).status_code, anybody.get(path, **headers).data) == (200, whole.data)
    assert anybody.get(path, If_None_Match=tag).status_code == 304
    zipped = anybody.get(path, Accept_Encoding="gzip")
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert gzip.GzipFile(fileobj=io.BytesIO(zipped.data)).read() == whole.data
    assert whole.headers["Cache-Control"].startswith("public")


@pytest.mark.parametrize("path", ["tally/2026-13", "tally/2020-01", "tally/2020-01/1", "tally/x", "chess/2020-01"])
def test_there_are_no_other_files(anybody: Caller, path: str) -> None:
    answer = anybody.get(f"/v1/bulk/{path}")
    assert (answer.status_code, answer.json["code"]) == (404, "no_such_game" if path.startswith("chess") else "no_bulk_file")


def test_there_are_no_other_parts_and_a_limit(
    platform: Platform, settings: Settings, monkeypatch: pytest.MonkeyPatch, anybody: Caller, ada: Caller, ben: Caller
) -> None:
    finished(platform, ada, ben)
    collected(platform, monkeypatch)
    path = "/v1/bulk/{game}/{month}".format(**anybody.get("/v1/bulk").json["files"][0])
    for part in ("0", "2", "x", "01", "-1", "9" * 20):
        assert anybody.get(f"{path}/{part}").json["code"] == "no_bulk_file"
    few = Caller(create_app(platform, settings._replace(limits={**AMOUNTS, "bulk": 1})).test_client())
    answers = [few.get(f"{path}/1") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]
    assert answers[1].json["limit"] == "bulk"
    assert few.get(f"{path}/1", If_None_Match=answers[0].headers["ETag"]).status_code == 304


def test_nothing_of_a_match_that_goes_on_is_in_a_file(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, anybody: Caller, ada: Caller, ben: Caller
) -> None:
    """Two worlds that differ in how far a match has come give the same files."""
    finished(platform, ada, ben)
    going = opened(ada, one="me", two="open")
    ben.act(going, take("two"))
    collected(platform, monkeypatch)
    before = anybody.get("/v1/bulk").data
    play.act_at_table(platform, going, "one", {"type": "offer", "what": "void"})
    collected(platform, monkeypatch, "2999-02")
    assert anybody.get("/v1/bulk").data == before
