"""`./run dossier` writes what `./run verify` accepts, of running matches and of those that are over, and no half of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from events import play
from events.audit import audit
from events.errors import StoreUnavailable
from events.platform import Platform
from events.store.packed import pack
from tests.conftest import Servers
from tests.evidence.drafts import Draft
from tools import dossier, verify


@pytest.fixture
def match(platform: Platform, ann: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A running match in the platform that the command opens."""

    @contextmanager
    def opened(data: Path | None) -> Iterator[Platform]:
        yield platform

    monkeypatch.setattr(dossier, "opened", opened)
    created = play.create(platform, ann, "war", {"red": "me", "blue": "me"}, {})
    play.play(platform, created.match, "system", [{"type": "advance"}])
    return created.match


@pytest.mark.parametrize("viewer", ["all", "red", "spectator"])
def test_what_is_written_is_verified(platform: Platform, ann: str, match: str, tmp_path: Path, viewer: str) -> None:
    file = tmp_path / "dossier"
    assert dossier.main([match, "--to", str(file), "--as", viewer]) == 0
    assert (Draft.read(file.read_bytes()).first["viewer"], Draft.read(file.read_bytes()).first["secret"]) == (viewer, None)
    reads = [(read.reader, read.what, read.number) for read in platform.sidelog.reads(match)]
    assert reads == ([] if viewer == "spectator" else [("admin", "dossier", 1)])
    play.act_at_table(platform, match, "red", {"type": "resign"}, player=ann)
    over = tmp_path / "over"
    assert dossier.main([match, "--to", str(over), "--as", viewer]) == 0
    assert Draft.read(over.read_bytes()).first["secret"]
    assert verify.main([str(file), str(over), "--key", platform.signer.vkeys()[-1]]) == 0


def test_a_practice_match_is_compared_with_its_origin(
    platform: Platform, ann: str, match: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play.act_at_table(platform, match, "red", {"type": "resign"}, player=ann)
    fork = play.fork(platform, ann, match, 2, {"red": "me", "blue": "me"}).match
    files = [tmp_path / "fork", tmp_path / "origin", tmp_path / "another"]
    for one, file in zip((fork, match), files, strict=False):
        assert dossier.main([one, "--to", str(file)]) == 0
    capsys.readouterr()
    assert verify.main([str(files[0])]) == 0
    assert "not checked: the position from which the match begins" in capsys.readouterr().out
    assert verify.main([str(files[0]), str(files[1])]) == 0
    assert "the position from which" not in capsys.readouterr().out
    draft = Draft.read(files[1].read_bytes())
    draft.entries[1]["events"][-1]["seat"] = "blue" if draft.entries[1]["events"][-1].get("seat") != "blue" else "red"
    draft.entries[1]["digest"] = "0" * 64
    files[2].write_bytes(draft.bytes())
    assert verify.main([str(files[0]), str(files[2])]) == 1
    assert "version 1: origin_differs" in capsys.readouterr().out.partition("\n\n")[0]


def test_what_is_not_there_is_said_and_nothing_is_written(match: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["m" + "a" * 16], [match, "--as", "green"]):
        assert dossier.main([*arguments, "--to", str(tmp_path / "dossier")]) == 2
        assert capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [None, b"{"], ids=["an entry", "junk"])
def test_of_a_log_with_a_stray_item_none_is_written_and_an_audit_names_the_item(
    platform: Platform, servers: Servers, match: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    head = platform.store.log.head(match)
    raw = platform.store.log.last([match])[0] if content is None else content
    servers.keeper.xadd(platform.store.keys.of(match).stream, {"e": pack(raw, match, head)}, id=f"{head}-1")
    assert dossier.main([match, "--to", str(tmp_path / "dossier")]) == 2
    assert f"The log of the match {match} is damaged" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert (head + 1, "wrong_id") in [(finding.version, finding.code) for finding in audit(platform, match).findings]


def test_a_dossier_that_breaks_off_is_not_left(match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object) -> Iterator[bytes]:
        yield b"{}"
        raise StoreUnavailable("gone")

    monkeypatch.setattr(dossier, "write", broken)
    assert dossier.main([match, "--to", str(tmp_path / "dossier")]) == 2
    assert not list(tmp_path.iterdir())
