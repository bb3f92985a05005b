"""What workers decide in a real store is kept with the entries, shown to nobody while the match runs, and holds when it is run again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from structlog.testing import CapturingLogger

from events import play, recall
from events.audit import audit
from events.due import owed
from events.platform import Platform
from events.rebuild import derive
from events.store.client import RedisClient
from record.dossiers.verifying import Source, verify
from record.entries import parse
from record.thinking.again import Decisions
from record.thoughts import Decision, decision_in
from service.app import create_app
from service.http.settings import Settings
from tests.conftest import ALL_GAMES, Servers
from tests.events.keyspace import projections
from tests.service.conftest import Caller
from tools.decisions import run_again
from workers import jobs


@pytest.fixture(autouse=True)
def _bound(platform: Platform) -> None:
    jobs.bind(platform)


def served(platform: Platform, match: str, versions: int) -> list[Decision]:
    """Let workers play a match up to about a version, or until a player must act. Return the decisions that are kept."""
    while recall.position(platform, match).version < versions:
        due = owed(recall.position(platform, match))
        if not due or due[0].kind == "deadline":
            break
        jobs.carry_out(platform, due[0])
    entries = map(parse, platform.store.log.read_all(match))
    return [decision for entry in entries if (decision := decision_in(entry)) is not None]


@pytest.mark.parametrize("levels", [("random", "greedy"), ("strong", "novice")])
def test_what_workers_decide_is_kept_and_holds(platform: Platform, ann: str, levels: tuple[str, str]) -> None:
    seats = dict(zip(("one", "two"), [f"ai:{level}" for level in levels], strict=True))
    match = play.create(platform, ann, "tally", seats, {}).match
    kept = served(platform, match, 16)
    found = Decisions()
    report = audit(platform, match, watch=found)
    outcome = run_again(found, 1, ALL_GAMES)
    assert (report.findings, outcome.findings, outcome.unchecked) == ([], [], [])
    assert outcome.run == len(kept) >= 5
    assert not derive(platform, match)[0].requests, "a decision is no request of anybody"


def test_what_is_kept_stands_in_the_log_of_the_match_and_nowhere_else(
    platform: Platform, ann: str, servers: Servers, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = CapturingLogger()
    monkeypatch.setattr("workers.jobs.log", logger)
    match = play.create(platform, ann, "tally", {"one": "ai:strong", "two": "me"}, {}).match
    kept = served(platform, match, 12)
    assert len(kept) > 3
    beside = repr(projections(RedisClient(servers.store_url))).encode()
    queued = b"".join(servers.queue.dump(key) or b"" for key in servers.queue.keys("*"))
    printed = b"".join(capfdbinary.readouterr()) + repr(logger.calls).encode()
    assert b"step_done" in printed
    for decision in kept:
        for secret in (decision["saw"], decision["weights"], f'"spent":{decision["spent"]}'):
            assert secret.encode() not in beside + queued + printed


def test_when_the_match_is_over_everybody_has_what_is_needed_to_run_it_again(
    platform: Platform, ann: str, another_platform: Callable[[], Platform]
) -> None:
    match = play.create(platform, ann, "tally", {"one": "ai:strong", "two": "ai:random"}, {}).match
    kept = served(platform, match, 1000)
    stranger = Caller(create_app(another_platform(), Settings(log_requests=False)).test_client())
    whole = stranger.get(f"/v1/matches/{match}/record").json  # held to openapi.yaml
    assert [entry["request"] for entry in whole["entries"] if "request" in entry] == kept
    for what in ("record", "dossier"):
        answer = stranger.get(f"/v1/matches/{match}/{what}", Accept="application/x-ndjson")
        assert answer.status_code == 200
        found = Decisions()
        (verdict,) = verify([Source(what, lambda lines=answer.data: lines.splitlines(keepends=True))], ALL_GAMES, watches=[found])
        outcome = run_again(found, 1, ALL_GAMES)
        assert (verdict.findings, outcome.findings, outcome.run) == ([], [], len(kept))
