"""The audit of a whole store: every match, everything that belongs to no match, and going on after an interruption."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from events import play
from events.errors import StoreUnavailable
from events.keeping import embedded
from events.platform import Platform, Settings, open_platform
from games import GAMES
from games.kernel import any_action
from tests.conftest import Servers
from tools import audit_all


def played(platform: Platform, ann: str, number: int) -> list[str]:
    """Play some short matches and return their ids, in order."""
    dice, made = random.Random(1), []
    for _ in range(number):
        position = play.create(platform, ann, "war", {"red": "me", "blue": "me"}, {})
        for _ in range(6):
            actor = position.to_act[0]
            action = any_action(GAMES["war"], position.document, actor, dice.randrange)
            position = play.play(platform, position.match, actor, [action]).position
        made.append(position.match)
    return sorted(made)


def test_a_sound_store_has_no_findings_and_no_file_is_left(platform: Platform, ann: str, tmp_path: Path) -> None:
    matches = played(platform, ann, 5)
    overview = audit_all.audit_all(platform, tmp_path / "done", 2)
    assert overview == audit_all.Overview([audit_all.Audited(match, 7, []) for match in matches], [])
    assert overview.ok
    assert not (tmp_path / "done").exists()
    assert audit_all.as_json(overview) == {"ok": True, "matches": 5, "entries": 35, "findings": [], "strays": []}


def test_what_is_wrong_with_a_match_and_what_belongs_to_no_match_is_named(
    platform: Platform, ann: str, servers: Servers, tmp_path: Path
) -> None:
    matches, names, keeper = played(platform, ann, 5), platform.store.keys, servers.keeper
    emptied, broken, stranger, odd, _ = matches
    keeper.delete(names.of(emptied).stream)
    keeper.hset(names.of(broken).requests, "p/x", "1:1:")
    keeper.zadd(names.of(stranger).indexes + "player:p" + "z" * 16, {stranger: 1})
    keeper.delete(names.of(odd).standing)
    keeper.rpush(names.of(odd).standing, "a list")  # a type that no script expects
    wrong = next(tag for tag in names.tags() if tag != names.tag(broken))
    keeper.xadd(f"{wrong}:s:{broken}", {"e": b"x"}, id="1-0")
    keeper.zadd(f"{wrong}:due", {f"advance|{broken}|": 1})
    overview = audit_all.audit_all(platform, tmp_path / "done", 2)
    found = {one.match: sorted(finding.code for finding in one.findings) for one in overview.audited if one.findings}
    assert found == {broken: ["request_differs", "wrong_partition"], stranger: ["index_differs"], odd: ["not_auditable"]}
    assert overview.strays[:4] == [
        f"{emptied}: there is a secret and no log in the store.",
        f"{wrong}:s:{broken}: the log is in another partition than its match.",
        f"{wrong}:due: advance|{broken}| belongs into another partition.",
        f"{emptied}: it is listed, or work is due for it, and there is no log.",
    ]
    assert f"{names.of(emptied).standing}: its match has no log, or is in another partition." in overview.strays[4:]
    assert not overview.ok
    text = audit_all.as_text(overview)
    assert f"{stranger}: version 7: index_differs" in text
    assert text.startswith("4 matches with ")


def test_an_interrupted_run_goes_on_where_it_was(platform: Platform, ann: str, servers: Servers, tmp_path: Path) -> None:
    done, moved, new, *_ = matches = played(platform, ann, 4)
    file = tmp_path / "done"
    found = [1, "gap", "found by the run before"]
    file.write_text("\n".join([json.dumps([done, 7, [found]]), json.dumps([moved, 6, [found]]), '["' + new]))
    overview = audit_all.audit_all(platform, file, 1)
    assert [(one.match, [finding.code for finding in one.findings]) for one in overview.audited] == [
        (done, ["gap"]),
        *((match, []) for match in matches[1:]),
    ]
    assert not file.exists()


def test_what_is_done_is_in_the_file_when_a_run_is_interrupted(
    platform: Platform, ann: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matches = played(platform, ann, 3)
    file, results = tmp_path / "done", audit_all._results

    def broken_off(*given):  # type: ignore[no-untyped-def]
        yield next(results(*given))
        raise KeyboardInterrupt

    monkeypatch.setattr(audit_all, "_results", broken_off)
    with pytest.raises(KeyboardInterrupt):
        audit_all.audit_all(platform, file, 1)
    (line,) = file.read_text().splitlines()
    assert json.loads(line) == [matches[0], 7, []]


def test_a_run_goes_on_when_the_store_restarts_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    servers = {name: embedded.start(tmp_path, name, fsync) for name, fsync in ((embedded.STORE, "always"), (embedded.QUEUE, "off"))}
    platform = open_platform(Settings(store_url=servers["store"].url, queue_url=servers["queue"].url, data=tmp_path))
    matches, results = played(platform, "p" + "a" * 16, 12), audit_all._results

    def restarted(*given):  # type: ignore[no-untyped-def]
        found = results(*given)
        yield next(found)
        servers["store"].process.kill()
        servers["store"].process.wait()
        servers["store"] = embedded.start(tmp_path, embedded.STORE, "always")
        yield from found

    monkeypatch.setattr(audit_all, "_results", restarted)
    try:
        overview = audit_all.audit_all(platform, tmp_path / "done", 2)
        assert (overview.ok, [(one.match, one.versions) for one in overview.audited]) == (True, [(match, 7) for match in matches])
    finally:
        platform.close()
        for server in servers.values():
            server.stop()


def test_a_store_that_stays_away_ends_a_run(platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(platform.store.projections, "listed", away)
    monkeypatch.setattr(audit_all, "PATIENCE", 0.0)
    with pytest.raises(StoreUnavailable):
        audit_all.audit_all(platform, tmp_path / "done", 1)
