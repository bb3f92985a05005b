"""Signatures that another process has checked are not checked again; what it does not call good is."""

from __future__ import annotations

import base64
import json
from multiprocessing import Pipe
from pathlib import Path

import pytest

from evidence.notes import made_by
from record.entries import parse
from record.signatures import statement
from tests.evidence import signed
from tests.signing import Signer
from tools import ahead, verify

MATCH = signed.Match(30)
MOVES = MATCH.moves("red")
BY = dict.fromkeys(MOVES, Signer())


def triples() -> list[tuple[bytes, bytes, bytes]]:
    """Return key, message and signature of each signed move."""
    entries = [parse(raw) for raw in MATCH.entries(BY)[1]]
    found = []
    for entry in entries:
        if entry.signed is not None:
            key, signature = (base64.b64decode(entry.signed[name]) for name in ("key", "signature"))
            found.append((key, statement(entry, entries[entry.version - 2].digest), signature))
    return found


def test_what_was_checked_ahead_is_not_checked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "BLOCK", 4)
    (file := tmp_path / "dossier").write_bytes(signed.dossier(MATCH, BY, {}))
    told, tells = Pipe(duplex=False)
    ahead._check([file], tells)
    asked: list[bytes] = []

    def counted(public: bytes, message: bytes, signature: bytes) -> bool:
        asked.append(signature)
        return made_by(public, message, signature)

    monkeypatch.setattr(ahead, "made_by", counted)
    checks = ahead.Ahead(told)
    assert len(triples()) > 9
    assert all(checks.verifies(*given) for given in triples())
    assert asked == []
    key, message, signature = triples()[0]
    wrong = bytes([signature[0] ^ 1]) + signature[1:]
    assert not checks.verifies(key, message, wrong)
    assert not checks.verifies(key, message + b"\n", signature)
    assert asked == [wrong, signature]


def test_a_file_that_cannot_be_read_ahead_is_checked_all_the_same(tmp_path: Path) -> None:
    (file := tmp_path / "dossier").write_bytes(b'{"line":"entry","entry":1}\n{"action"')
    told, tells = Pipe(duplex=False)
    ahead._check([file], tells)
    assert all(ahead.Ahead(told).verifies(*given) for given in triples())


@pytest.mark.parametrize("least", [0, 10**9])
def test_a_broken_signature_is_found_with_and_without_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], least: int
) -> None:
    monkeypatch.setattr(ahead, "LEAST", least)
    honest, broken = tmp_path / "honest", tmp_path / "broken"
    honest.write_bytes(signed.dossier(MATCH, BY, {}))
    other = BY | {MOVES[3]: _Liar()}
    broken.write_bytes(signed.dossier(MATCH, other, {}))
    assert verify.main(["--offline", "--json", str(honest), str(broken)]) == 1
    good, bad = json.loads(capsys.readouterr().out)
    assert good["checked"]["moves"] == bad["checked"]["moves"] == len(MOVES)
    assert not any(finding["code"] == "move_signature_broken" for finding in good["findings"])
    assert [finding["version"] for finding in bad["findings"] if finding["code"] == "move_signature_broken"] == [MOVES[3]]


class _Liar(Signer):
    """A signer who signs something else."""

    def sign_text(self, text: str) -> str:
        """Return a signature of another text."""
        return super().sign_text(text + "!")
