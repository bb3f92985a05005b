"""`./run verify` asks the services that the reader trusts for the state of their logs, and no others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from evidence import showing
from evidence.notes import COSIGNATURE, SigningKey
from tests.evidence.small import BEGIN, END, dossier
from tests.tools.served import LOG, OTHER, Log, sealed
from tools import services, verify
from tools.asking import Server

URL = "https://log.example"
LEAVES = [BEGIN, END, *(sealed(str(place)) for place in range(300))]

Serve = Callable[[Log | None], list[str]]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Serve:
    """Return a function that serves a log at URL, or nothing, and returns the list of the addresses that are asked from then on."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def serving(log: Log | None) -> list[str]:
        asked: list[str] = []

        def answer(request: httpx.Request) -> httpx.Response:
            asked.append(str(request.url))
            return httpx.Response(503) if log is None else log.answer(request)

        monkeypatch.setattr("tools.present.Server", lambda url: Server(url, httpx.MockTransport(answer)))
        return asked

    return serving


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A dossier that was written when the log had two leaves."""
    (tmp_path / "file").write_bytes(dossier(Log(0, leaves=LEAVES).at(2), [0, 1]))
    return tmp_path / "file"


def test_no_service_is_asked_that_the_reader_has_not_named(serve: Serve, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = serve(Log(0, leaves=LEAVES))
    assert verify.main([str(file)]) == 0
    assert asked == []
    assert "not checked: whether the keys in the file are those of the server" in capsys.readouterr().out
    assert verify.main(["--trust", URL]) == 0
    assert LOG.verifier.vkey in capsys.readouterr().out
    stranger = Log(0, leaves=LEAVES)
    stranger.key = SigningKey("stranger.example", bytes(32))
    finding = showing.of_fork(Log(0, leaves=LEAVES[:1]).at(1).note, Log(0, leaves=LEAVES[1:2]).note, [], [LOG.verifier.vkey])
    (file.parent / "finding").write_text(finding)
    assert verify.main([str(file.parent / "finding"), "--offline"]) == 1
    assert "whether the keys in the file" not in capsys.readouterr().out, "the keys are known"
    del asked[:]
    text = file.read_bytes().replace(b'"name":"log.example"', b'"name":"stranger.example"')
    file.write_bytes(text)
    verify.main([str(file)])
    assert asked == [], "also if others are trusted"


def test_a_service_that_is_trusted_says_how_its_log_went_on(serve: Serve, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    serve(Log(0, leaves=LEAVES).at(100))
    assert verify.main(["--trust", URL]) == 0
    asked = serve(Log(0, leaves=LEAVES))
    capsys.readouterr()
    assert verify.main([str(file), "--json"]) == 0
    (verdict,) = json.loads(capsys.readouterr().out)
    assert not [text for text in verdict["unchecked"] if "keys in the file" in text or "continues that of" in text]
    assert f"{URL}/log/consistency?from=2&to=302" in asked
    assert services.load()[0].note == Log(0, leaves=LEAVES).note, "the newest checkpoint is kept"
    assert all(address.startswith(f"{URL}/log/") for address in asked), "nothing says which match is looked at"
    asked = serve(Log(0, leaves=LEAVES))
    assert verify.main([str(file), "--offline"]) == 0
    said = capsys.readouterr().out
    assert asked == []
    assert "whether the keys in the file" not in said, "the keys are known"


def test_a_checkpoint_that_the_reader_kept_is_connected_with_the_file(
    serve: Serve, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kept").write_text(Log(0, leaves=LEAVES).at(200).note)
    command = [str(file), "--checkpoint", str(tmp_path / "kept")]
    serve(Log(0, leaves=LEAVES))
    assert verify.main(command) == 0
    assert "not checked: whether the log of 200 leaves continues that of 2" in capsys.readouterr().out
    assert verify.main([*command, "--url", URL]) == 0
    assert "continues that of" not in capsys.readouterr().out
    assert services.load() == []
    (tmp_path / "kept").write_text(Log(0, leaves=[*LEAVES[1:], b"x"]).at(200).note)
    assert verify.main([*command, "--url", URL]) == 1
    assert "checkpoint_forked" in capsys.readouterr().out


def test_a_file_under_the_name_of_a_service_needs_its_keys(serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    serve(Log(0, leaves=LEAVES))
    assert verify.main(["--trust", URL]) == 0
    text = dossier(Log(0, leaves=LEAVES).at(2), [0, 1], key=OTHER)
    (tmp_path / "file").write_bytes(text)
    assert verify.main([str(tmp_path / "file")]) == 1
    assert "wrong_key" in capsys.readouterr().out


def test_a_service_that_has_forked_its_log_is_shown_up(serve: Serve, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    serve(Log(0, leaves=LEAVES).at(200))
    assert verify.main(["--trust", URL]) == 0
    other = Log(0, leaves=[*LEAVES[:150], sealed("other"), *LEAVES[151:]])
    serve(other)
    capsys.readouterr()
    assert verify.main([str(file), "--json"]) == 1
    verdict, fork = json.loads(capsys.readouterr().out)
    assert verdict["ok"]
    assert [finding["code"] for finding in fork["findings"]] == ["checkpoint_forked"]
    shown = showing.check(Path(fork["name"]).read_text(encoding="utf-8"), [LOG.verifier])
    assert [checkpoint.size for checkpoint in shown.checkpoints] == [200, 302]
    assert services.load()[0].note == Log(0, leaves=LEAVES).at(200).note, "what was seen first is kept"


def test_a_service_that_is_away_is_told(serve: Serve, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    serve(Log(0, leaves=LEAVES))
    assert verify.main(["--trust", URL]) == 0
    serve(None)
    assert verify.main([str(file)]) == 0
    told = capsys.readouterr().out
    assert f"not checked: the present state of the log: {URL}/log/checkpoint answers with 503" in told
    (kept,) = services.load()
    assert f"; it last showed one at {kept.seen}" in told
    assert verify.main(["--trust", "https://nowhere.example"]) == 2


def test_a_checkpoint_of_a_service_needs_the_quorum_too(serve: Serve, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    witness = SigningKey("w.example", bytes(32), COSIGNATURE)
    cosigned = Log(0, leaves=LEAVES)
    cosigned.witnesses = [witness]
    file.write_bytes(dossier(cosigned.at(2), [0, 1]))
    serve(Log(0, leaves=LEAVES))
    assert verify.main([str(file), "--url", URL, "--witness", witness.verifier.vkey]) == 0
    assert "not checked: the present state of the log: its checkpoint has 0 of the 1 cosignatures" in capsys.readouterr().out


def test_a_log_under_another_name_begins_anew(serve: Serve, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A service that takes another name publishes all its keys, and begins another log."""
    service = services.Trusted(URL, (LOG.verifier, SigningKey("new.example", bytes(32)).verifier), Log(0, leaves=LEAVES).note)
    serve(None)
    services.keep(service)
    renamed = Log(0, leaves=LEAVES[:1])
    renamed.key, renamed.origin = SigningKey("new.example", bytes(32)), "new.example"
    serve(renamed)
    assert verify.main([str(file)]) == 0
    assert "not checked: the checkpoint of the log new.example that you have" in capsys.readouterr().out
    assert services.load()[0].note == renamed.note


def test_what_is_kept_of_services_must_be_readable(serve: Serve, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    serve(None)
    services.folder().mkdir(parents=True)
    (services.folder() / "services.json").write_text("torn")
    assert verify.main([str(file)]) == 2
    assert "services.json cannot be read" in capsys.readouterr().err
