"""`./run verify`: where there is neither a store nor a network, what it prints, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evidence.notes import SigningKey
from evidence.statements import parse_receipt
from tests.evidence.drafts import Draft, TestLog
from tools import node, verify

ROOT = Path(__file__).parents[2]
NODE = node.binary() or ""

with_node = pytest.mark.skipif(not NODE, reason="there is no Node here: install the packages for tests, or Node 20")

# Only the standard library, PyNaCl and what that needs can be imported, and no socket can be made.
OFFLINE = """
import importlib.abc, socket, sys
ours = {{"evidence", "games", "players", "record", "table", "tools"}}
class Only(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names | ours | {{"nacl", "cffi", "_cffi_backend", "pycparser"}}:
            raise ImportError(name + " is not installed here")
sys.meta_path.insert(0, Only())
def refuse(*given, **named):
    raise OSError("there is no network here")
socket.socket = socket.create_connection = socket.getaddrinfo = refuse
sys.path += [{root!r}, {site!r}]
from tools.verify import main
code = main({arguments!r})
assert not [name for name in sys.modules if name.partition(".")[0] in ("redis", "httpx", "orjson", "flask")]
sys.exit(code)
"""


def case(vectors: Path, name: str) -> dict[str, Any]:
    """Return what index.json says of a case."""
    return next(one for one in json.loads((vectors / "index.json").read_text()) if one["name"] == name)


def offline(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    script = OFFLINE.format(root=str(ROOT), site=sysconfig.get_path("purelib"), arguments=arguments)
    return subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, cwd=folder)


@pytest.mark.parametrize(("name", "code"), [("war-all-over-honest", 0), ("war-all-over-roll_another_face", 1)])
def test_files_are_verified_without_a_store_and_a_network(vectors: Path, tmp_path: Path, name: str, code: int) -> None:
    arguments = [str(vectors / file) for file in case(vectors, name)["files"]]
    ran = offline([*arguments, "--json"], tmp_path)
    assert (ran.returncode, ran.stderr) == (code, "")
    (verdict,) = json.loads(ran.stdout)
    assert verdict["ok"] is (code == 0)
    assert verdict["kind"] == "dossier"
    assert verdict["checked"]["entries"] == verdict["versions"] > 30


def test_the_verdict_for_people_says_what_was_not_checked(vectors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    honest = case(vectors, "war-seat-running-honest")["files"][0]
    assert verify.main([str(vectors / honest)]) == 0
    said = capsys.readouterr().out
    assert "everything that was checked holds." in said
    assert "not checked: whether the keys in the file are those of the server" in said
    assert "not checked: whether the rules allow the actions: the file has only what red sees" in said
    assert "not checked: the dice: the secret is not known until the match is over" in said


@with_node
def test_the_moment_that_a_file_claims_is_told_and_has_a_bound(vectors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = vectors / case(vectors, "war-seat-running-honest")["files"][0]
    written = Draft.read(file.read_bytes()).first["at"] // 1000
    for seconds, code, said in (
        (3 * 86_400 + 1, 0, ", 3 days ago"),
        (7_201, 0, ", 2 hours ago"),
        (61, 0, ", 1 minute ago"),
        (-60, 1, ", which is yet to come"),
    ):
        now = f"{datetime.fromtimestamp(written + seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
        moment = f"{datetime.fromtimestamp(written, UTC):%Y-%m-%dT%H:%M:%SZ}"
        assert verify.main([str(file), "--now", now]) == code
        printed = capsys.readouterr().out
        assert f"ritten, as the file says, {moment}{said}" in printed
        assert ("time_backwards: The file says that it was written later than now." in printed) is bool(code)
        ran = subprocess.run([NODE, ROOT / "verify/verify.mjs", file, "--now", now], capture_output=True, text=True, check=False)
        assert ran.returncode == code
        assert f"ritten, as the file says, {moment}{said}" in ran.stdout
        assert ("time_backwards: The file says that it was written later than now." in ran.stdout) is bool(code)


@with_node
def test_a_version_of_which_no_leaf_is_due_yet_is_asked_for_later(
    vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = Draft.read((vectors / case(vectors, "war-seat-running-honest")["files"][0]).read_bytes())
    for leaves in (draft.of("leaf"), draft.of("leaf")[:-1]):
        draft.lines = [line for line in draft.lines if line["line"] != "leaf" or line in leaves]
        (tmp_path / "file").write_bytes(draft.bytes())
        verify.main([str(tmp_path / "file")])
        ran = subprocess.run([NODE, ROOT / "verify/verify.mjs", tmp_path / "file"], capture_output=True, text=True, check=False)
        for said in (capsys.readouterr().out, ran.stdout):
            assert (f"hether the log has version {draft.last}: no leaf of it was due" in said) is (len(leaves) == 2)


@with_node
@pytest.mark.parametrize("time", ["now", "2026-01-31", "2026-13-31T12:00:00Z", "1790000000000"])
def test_a_time_that_is_none_is_refused(vectors: Path, time: str) -> None:
    file = vectors / case(vectors, "war-seat-running-honest")["files"][0]
    with pytest.raises(SystemExit) as ended:
        verify.main([str(file), "--now", time])
    assert ended.value.code == 2
    ran = subprocess.run([NODE, ROOT / "verify/verify.mjs", file, "--now", time], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (2, "--now must have the form 2026-01-31T12:00:00Z\n")


def test_findings_are_named_by_version_in_order(vectors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tampered = case(vectors, "war-all-over-roll_another_face")
    assert verify.main([str(vectors / tampered["files"][0])]) == 1
    said = capsys.readouterr().out
    assert "DOES NOT HOLD" in said
    assert f"version {tampered['expected']['version']}: events_differ: " in said


def test_a_receipt_may_be_the_answer_of_the_service(vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tampered = case(vectors, "war-all-running-replace_the_whole_match")
    note = (vectors / tampered["receipts"][0]).read_text()
    (tmp_path / "answer.json").write_text(json.dumps({"match": "m", "version": 1, "receipt": note}))
    assert verify.main([str(vectors / tampered["files"][0]), "--receipt", str(tmp_path / "answer.json")]) == 1
    assert "version 1: receipt_differs" in capsys.readouterr().out


def test_a_receipt_of_another_match_says_nothing(vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = vectors / case(vectors, "war-all-over-honest")["files"][0]
    other = Draft.read((vectors / case(vectors, "war_of_the_worlds-all-over-honest")["files"][0]).read_bytes())
    note = other.of("receipt")[0]["note"]
    assert parse_receipt(note.rpartition("\n\n")[0] + "\n").match == other.match
    (tmp_path / "receipt").write_text(note)
    assert verify.main([str(file), "--receipt", str(tmp_path / "receipt")]) == 0
    assert f"a receipt of the match {other.match}: no file of it was given" in capsys.readouterr().out


def test_a_checkpoint_of_another_log_says_nothing(vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A server that takes another name begins another log. So what was kept of the old one is not silently passed over."""
    file = vectors / case(vectors, "war-all-over-honest")["files"][0]
    other = TestLog(SigningKey("other.example", bytes(range(32))), [b"a leaf"])
    (tmp_path / "checkpoint").write_text(other.checkpoint())
    assert verify.main([str(file), "--checkpoint", str(tmp_path / "checkpoint")]) == 0
    assert "the log other.example that you have: the file shows nothing of that log" in capsys.readouterr().out


@pytest.mark.parametrize("content", [b"", b"\n", b"{", b'{"line":"dossier"}\n', b"\xff\xfe", b"[" * 100_000, b"null\n"])
def test_what_is_no_file_of_ours_is_refused_or_found(tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_bytes(content)
    code = verify.main([str(tmp_path / "file")])
    printed = capsys.readouterr()
    assert code == (1 if content.strip() else 2)
    assert printed.out if code == 1 else printed.err


def test_a_record_may_be_one_json_object(vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = vectors / case(vectors, "war-all-over-honest_record")["files"][0]
    header, *entries = map(json.loads, record.read_bytes().splitlines())
    (tmp_path / "record.json").write_text(json.dumps({"entries": entries, **header}))
    said = []
    for file in (record, tmp_path / "record.json"):
        assert verify.main([str(file)]) == 0
        said.append(capsys.readouterr().out.partition(": ")[2])
    assert said[0] == said[1]
    assert "not checked: signatures of the server: a record has none" in said[0]


def test_what_was_kept_must_be_of_use(vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(vectors / case(vectors, "war-all-over-honest")["files"][0])
    (tmp_path / "empty").write_text("{}")
    for option, given in (
        ("--key", "nonsense"),
        ("--receipt", str(tmp_path / "empty")),
        ("--receipt", str(tmp_path / "nowhere")),
        ("--checkpoint", str(tmp_path / "empty")),
        ("--consistency", str(tmp_path / "empty")),
    ):
        assert verify.main([file, option, given]) == 2
        assert capsys.readouterr().err
