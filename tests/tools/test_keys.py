"""`./run keys`: it shows the keys by which the server signs, and makes new ones; `./run serve` says what is wrong with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from events.modules import python_environment
from events.notary import signer
from events.notary.signer import PRIVATE
from tools.keys import main


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WARLEDGER_KEYS", "WARLEDGER_NAME", "WARLEDGER_DATA"):
        monkeypatch.delenv(name, raising=False)


def test_keys_are_shown_and_rotated(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    data = ["--data", str(tmp_path)]
    assert main(data) == 1
    assert "the first start of the service makes them" in capsys.readouterr().err
    assert not (tmp_path / "keys").exists()
    first = signer.opened(tmp_path / "keys")
    assert main(data) == 0
    shown = capsys.readouterr().out
    assert f"{first.signing.verifier.vkey}  from 20" in shown
    assert shown.endswith("until now\n")
    assert main(["rotate", "--name", "games.example.org", *data]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "games.example.org" in lines[0]
    assert lines[1].startswith(first.signing.verifier.vkey)
    assert not lines[1].endswith("now")
    assert lines[2].startswith("games.example.org+")
    secret = signer.opened(tmp_path / "keys").signing._private.encode().hex()
    assert secret not in shown + "".join(lines)
    monkeypatch.setenv("WARLEDGER_KEYS", str(tmp_path / "keys"))
    assert main([]) == 0
    assert "games.example.org" in capsys.readouterr().out


def test_rotate_makes_the_first_key_and_what_cannot_be_done_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = ["--keys", str(tmp_path / "new")]
    assert main(["rotate", *keys]) == 0
    assert main(["rotate", "--name", "two words", *keys]) == 2
    assert "cannot be the name" in capsys.readouterr().err
    (tmp_path / "new" / PRIVATE).write_text("{")
    for command in ([], ["rotate"]):
        assert main([*command, *keys]) == 2
        assert f"{PRIVATE} is damaged" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--name", "x", *keys])


def test_serve_does_not_start_with_keys_of_another_name_and_says_why(tmp_path: Path) -> None:
    signer.opened(tmp_path / "keys", "games.example.org")
    command = [sys.executable, "-m", "service.supervisor.serve", "--port", "0", "--data", str(tmp_path)]
    environment = {**python_environment(), "WARLEDGER_NAME": "another"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "belong to games.example.org, not to another" in ended.stderr
    assert not (tmp_path / "store").exists()
