"""The log of the server over HTTP: what anybody fetches and checks, what a hidden match tells, and which answers caches may keep."""

from __future__ import annotations

import base64
import json
import random
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from events import play, recall
from events.notary import highwater, sequencing, server_log
from events.notary.leaves import HOUR_MS
from events.platform import Platform
from events.rebuild import rebuild
from events.store.server_logs import Logged, NewLeaf
from evidence import checkpoints, showing, tiles, tree
from evidence.checkpoints import Checkpoint
from evidence.notes import opened, parse_vkey
from record.dossiers.verifying import Source, verify
from record.entries import canonical
from tests.conftest import ALL_GAMES, Servers
from tests.service.conftest import Caller, played_on
from tests.service.secrecy import replace_entries
from tests.service.test_secrecy import hidden_deck
from tests.service.test_spectators import LATE, hidden
from tools.asking import Server
from tools.scans import Scan
from tools.watching import Watch
from tools.witness import State

ADD = {"type": "add", "by": 1, "stay": True}


@pytest.fixture(autouse=True)
def _new_marks(platform: Platform) -> None:
    """The store is emptied for each test; what was signed before is forgotten."""
    (platform.settings.keys_folder / highwater.FILE).unlink(missing_ok=True)


def checkpoint(caller: Caller) -> Checkpoint:
    """Return the checkpoint that is served, after checking its signature."""
    answer = caller.get("/log/checkpoint")
    keys = caller.get("/.well-known/warledger-keys").json["keys"]
    return checkpoints.parse(opened(answer.text, [parse_vkey(key["vkey"]) for key in keys]).text)


def fetch(caller: Caller, size: int) -> tiles.Fetch:
    """Return the function that fetches tiles of a log with `size` leaves."""

    def fetched(level: int, number: int, width: int) -> list[bytes]:
        there = tiles.width_of(level, number, size)
        suffix = "" if there == tiles.WIDTH else f".p/{there}"
        return tiles.hashes(caller.get(f"/log/tile/{level}/{tiles.path(number)}{suffix}").data)

    return fetched


def test_anybody_can_check_the_whole_log(platform: Platform, anybody: Caller, ada: Caller) -> None:
    assert anybody.get("/log/checkpoint").json["code"] == "not_in_log"
    sequencing.sequence(platform)
    assert checkpoint(anybody) == Checkpoint(platform.signer.name, 0, tree.EMPTY)
    made = [play.create(platform, ada.id, "tally", {"one": "me", "two": "open"}, {}).match for _ in range(300)]
    while sequencing.sequence(platform).added:
        pass
    found = checkpoint(anybody)
    assert found.size == 300
    bundle = anybody.get("/log/entries/000")
    assert bundle.data == anybody.get("/log/tile/entries/000").data
    rest = anybody.get("/log/tile/entries/001.p/44")
    everything = [*tiles.unbundled(bundle.data), *tiles.unbundled(rest.data)]
    assert tree.hash_of(tiles.leaf_hashes(everything)) == found.root
    assert sorted(json.loads(leaf)["match"] for leaf in everything) == sorted(made)
    node = tiles.node_of(fetch(anybody, 300))
    assert tree.hash_of_span(tree.Span(0, 300), node) == found.root
    assert tree.is_included(tree.leaf_hash(everything[7]), 7, 300, tree.proof(tree.inclusion_spans(7, 300), node), found.root)
    for answer in (bundle, anybody.get("/log/tile/0/000"), anybody.get("/log/consistency?from=7&to=300")):
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    for answer in (rest, anybody.get("/log/tile/1/000.p/1"), anybody.get("/log/checkpoint")):
        assert answer.headers["Cache-Control"] == "public, max-age=2"
    assert anybody.get("/log/checkpoint").content_type == "text/plain; charset=utf-8"


def test_consistency_is_proved_between_any_two_sizes(platform: Platform, anybody: Caller, ada: Caller) -> None:
    roots = []
    for _ in range(9):
        sequencing.sequence(platform)
        roots.append(checkpoint(anybody).root)
        ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}})
    for second in range(9):
        for first in range(second + 1):
            answer = anybody.get(f"/log/consistency?from={first}&to={second}").json
            path = [base64.b64decode(each) for each in answer["hashes"]]
            assert tree.is_consistent(first, roots[first], second, roots[second], path)
    for query, status in (("from=3&to=99", 404), ("from=5&to=3", 404), ("from=-1&to=3", 400), ("from=1", 400), ("from=x&to=y", 400)):
        assert anybody.get(f"/log/consistency?{query}").status_code == status


MISSING = (
    ["0/001", "0/000", "0/000.p/256", "0/000.p/5", "0/x000/001", "0/0", "0/000/", "9/000", "64/000", "-1/000", "00/000", "x/000",
     "entries/000", "entries/000.p/3", "entries/x001/000", "0/000.p/2/3", "0/%00", "99999999999999999999/000", "0/x999/x999/x999/999"]
)  # fmt: skip


def test_what_the_log_does_not_have_is_not_found(platform: Platform, anybody: Caller, ada: Caller) -> None:
    for _ in range(2):
        ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}})
    sequencing.sequence(platform)
    assert anybody.get("/log/tile/0/000.p/2").status_code == anybody.get("/log/tile/0/000.p/1").status_code == 200
    for path in MISSING:
        assert (path, anybody.get(f"/log/tile/{path}").status_code) == (path, 404)


def test_the_leaves_of_a_match_come_with_proofs(platform: Platform, anybody: Caller, ada: Caller, tally: str) -> None:
    sequencing.sequence(platform)
    ada.post(f"/v1/matches/{tally}/actions", {"type": "resign"})
    sequencing.sequence(platform)
    found = checkpoint(anybody)
    leaves = anybody.get(f"/v1/matches/{tally}/leaves").json["leaves"]
    assert [leaf["leaf"]["kind"] for leaf in leaves] == ["begin", "end"]
    for leaf in leaves:
        proof = checkpoints.parse_proof(leaf["proof"])
        raw = json.dumps(leaf["leaf"], sort_keys=True, separators=(",", ":")).encode()
        assert checkpoints.of_note(proof.note)[0] == found
        assert checkpoints.includes(found, proof, raw)
    page = anybody.get(f"/v1/matches/{tally}/leaves?limit=1").json
    assert page["leaves"] == leaves[:1]
    page = anybody.get(f"/v1/matches/{tally}/leaves?limit=1&cursor={page['next']}").json
    assert (page["leaves"], page["next"]) == (leaves[1:], None)
    assert anybody.get("/v1/matches/m" + "a" * 16 + "/leaves").json["code"] == "no_such_match"
    for query in ("limit=0", "limit=101", "cursor=-1", "cursor=x", "cursor=0"):
        assert anybody.get(f"/v1/matches/{tally}/leaves?{query}").status_code == 400


@pytest.mark.parametrize("spectators", ["none", LATE])
def test_the_leaves_of_a_hidden_match_tell_spectators_nothing(
    platform: Platform, anybody: Caller, ada: Caller, ben: Caller, referee: Caller, spectators: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two matches, of which one has moved on, differ in nothing but ids, digests and the hashes over them."""
    quiet, busy = hidden(ada, ada, ben, spectators), hidden(ada, ada, ben, spectators)
    later = platform.clock.now() + HOUR_MS
    play.play(platform, busy, "system", [{"type": "advance"}])
    play.play(platform, busy, "one", [ADD, ADD])
    sequencing.sequence(platform)
    monkeypatch.setattr(type(platform.clock), "now", lambda clock: later)
    sequencing.sequence(platform)

    def told(caller: Caller, match: str) -> list[Any]:
        leaves = caller.get(f"/v1/matches/{match}/leaves").json["leaves"]
        return [[{name: len(str(value)) for name, value in leaf["leaf"].items()}, leaf.get("opened", "-")] for leaf in leaves]

    for caller in (anybody, referee):
        assert told(caller, quiet) == told(caller, busy)
        assert [opened for _, opened in told(caller, busy)] == ["-", None]
    inside = told(ada, busy)[1][1]
    assert inside["version"] == recall.position(platform, busy).version
    bundle = anybody.get("/log/entries/000.p/4").data
    assert sum(busy.encode() in leaf for leaf in tiles.unbundled(bundle)) == 1, "the leaf of its beginning"


def test_health_and_metrics_say_that_the_log_stands(platform: Platform, anybody: Caller, ada: Caller, tally: str) -> None:
    assert "log_stopped" not in anybody.get("/readyz").json
    sequencing.sequence(platform)
    assert b"warledger_log_size 1.0" in anybody.get("/metrics").data
    assert b"warledger_log_stopped 0.0" in anybody.get("/metrics").data
    mark = highwater.read(platform.settings.keys_folder, platform.signer.name)
    highwater.keep(platform.settings.keys_folder, mark._replace(checkpoint=mark.checkpoint._replace(size=7)))
    assert sequencing.sequence(platform).stopped == "older"
    assert anybody.get("/readyz").json["log_stopped"] == {"why": "older", "signed": 7, "stored": 1}
    assert b"warledger_log_stopped 1.0" in anybody.get("/metrics").data
    assert checkpoint(anybody).size == 1


def test_two_positions_that_differ_in_secret_have_leaves_that_differ_in_digests(
    platform: Platform, servers: Servers, anybody: Caller, ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]
    ben.post(f"/v1/matches/{match}/seats/blue")
    played_on(platform, match, random.Random(4), 8)
    entries = hidden_deck(platform, match, random.Random(5))
    later = platform.clock.now() + HOUR_MS
    monkeypatch.setattr(type(platform.clock), "now", lambda clock: later)

    def logged() -> list[bytes]:
        """Enter the match into an empty log, and return its leaves without their digests."""
        platform.lead.give_up()
        for key in servers.keeper.scan_iter("{log}:*"):
            servers.keeper.delete(key)
        (platform.settings.keys_folder / highwater.FILE).unlink(missing_ok=True)
        rebuild(platform)
        while sequencing.sequence(platform).added:
            pass
        leaves = tiles.unbundled(anybody.get("/log/entries/000.p/2").data)
        assert [leaf["leaf"]["kind"] for leaf in anybody.get(f"/v1/matches/{match}/leaves").json["leaves"]] == ["begin", "hour"]
        return leaves

    before = logged()
    replace_entries(servers, platform, match, entries)
    after = logged()
    assert before != after
    digest = re.compile(rb'"digest":"[0-9a-f]{64}"')
    assert [digest.sub(b"", leaf) for leaf in before] == [digest.sub(b"", leaf) for leaf in after]


def test_a_monitor_finds_a_match_that_its_owner_tells_once_more(platform: Platform, anybody: Caller, ada: Caller, tmp_path: Path) -> None:
    """Over the routes of a service: it is found unasked, the files prove it, and the dossier from before is held against the log."""
    match = play.create(platform, ada.id, "tally", {"one": "me", "two": "me"}, {"target": 1}).match
    play.play(platform, match, "system", [{"type": "advance"}])
    play.play(platform, match, "one", [ADD])
    sequencing.sequence(platform)
    dossier = anybody.get(f"/v1/matches/{match}/dossier").data
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        found = anybody.get(request.url.raw_path.decode())
        return httpx.Response(found.status_code, content=found.data)

    said: list[str] = []
    scan, state = Scan(tmp_path / "scan"), State(tmp_path)
    watch = Watch(Server("http://service", httpx.MockTransport(answer)), lambda _: scan, state.keep_file, [], said.append)
    assert watch.look() == checkpoint(anybody)
    assert said == []
    origin = platform.signer.name
    told = [leaf["leaf"] for leaf in server_log.leaves(platform, match)]
    again = [canonical({**leaf, "digest": 64 * "0"}) for leaf in told]
    forged = [NewLeaf(raw, match, Logged(f"hour:{place}", 0, 1, 64 * "0", 0, 0)) for place, raw in enumerate(again)]
    sequencing.append(platform, origin, platform.store.server_logs.state(origin), [], forged)
    sequencing.sequence(platform)
    watch.look()
    assert [finding.code for finding in scan.found()] == ["begin_twice", "after_end", "end_twice"]
    keys = [parse_vkey(key["vkey"]) for key in anybody.get("/.well-known/warledger-keys").json["keys"]]
    assert showing.check((tmp_path / "begin_twice-0-2").read_text(), keys).finding.subject == match
    source = Source("the dossier", lambda: dossier.splitlines(keepends=True))
    (before,) = verify([source], ALL_GAMES)
    (after,) = verify([source], ALL_GAMES, logs=[scan])
    assert before.ok
    assert [finding.code for finding in after.findings] == ["begin_twice", "after_end", "leaf_differs", "end_twice", "leaf_differs"]
    assert {path.split("/")[1] for path in asked} == {"log", ".well-known"}, "a match that is over is not asked about"
