"""Witnesses: they cosign a log that only grows, and find one that shows two histories."""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from evidence import cosigning, showing
from evidence.notes import COSIGNATURE, SigningKey, VerifierKey, parse
from tests.conftest import free_port, within
from tests.tools.served import LOG, OTHER, Log
from tools import witness
from tools.asking import Server
from tools.logs import Unable
from tools.scans import Scan
from tools.watching import ROUNDS, Forked, Older, Watch
from tools.witness import DAY, State, kept_back, main, witness_app

# ---------------------------------------------------------------- a witness that cosigns


@pytest.fixture
def ask(tmp_path: Path) -> Callable[[str], Any]:
    app = witness_app(State(tmp_path), [LOG.verifier])
    return lambda body: app.test_client().post("/add-checkpoint", data=body)


def test_a_witness_cosigns_what_continues_what_it_has_seen(ask: Callable[[str], Any], tmp_path: Path) -> None:
    key, log = State(tmp_path).key(), Log(700)
    old = 0
    for size in (0, 1, 5, 5, 256, 257, 700):
        answer = ask(log.at(size).request(old))
        assert answer.status_code == 200, answer.text
        (signature,) = cosigning.signatures_in(log.checkpoint.text, answer.text)
        moment = cosigning.cosigned_at(key.verifier, log.checkpoint.text, signature)
        assert moment is not None
        assert abs(moment - time.time()) < 60
        old = size
    assert State(tmp_path).key().verifier == key.verifier
    assert (tmp_path / "witness.json").stat().st_mode & 0o077 == 0


def test_a_witness_answers_as_the_specification_says(ask: Callable[[str], Any]) -> None:
    log = Log(700)
    assert ask(log.at(10).request(0)).status_code == 200
    conflict = ask(log.at(20).request(5))
    assert (conflict.status_code, conflict.text, conflict.content_type) == (409, "10\n", "text/x.tlog.size")
    assert ask(log.at(20).request(10, path=())).status_code == 422
    assert ask(log.at(20).request(10, path=log.proof(9))).status_code == 422
    assert ask(log.at(5).request(5).replace("old 5", "old 10")).status_code == 400
    assert ask("old 10\n").status_code == 400
    assert ask("").status_code == 400
    assert ask("x" * 70_000).status_code == 413
    unknown = SigningKey("other.example", b"l" * 32)
    assert ask(log.at(20).request(10, note=unknown.sign(log.checkpoint._replace(origin="other.example").text))).status_code == 404
    assert ask(log.at(20).request(10, note=OTHER.sign(log.checkpoint.text))).status_code == 403
    assert ask(log.at(20).request(10)).status_code == 200


def test_two_witnesses_do_not_both_cosign_a_split_view(tmp_path: Path) -> None:
    """The owner shows one tree to one client and another to another: a client with both cosignatures has the tree of all others."""
    apps = {name: witness_app(State(tmp_path / name), [LOG.verifier]).test_client() for name in ("one", "two")}
    shown = {"one": Log(700, "b"), "two": Log(700, "c")}
    for name, app in apps.items():
        assert app.post("/add-checkpoint", data=shown[name].at(400).request(0)).status_code == 200
    for name, other in (("one", "two"), ("two", "one")):
        split = apps[name].post("/add-checkpoint", data=shown[other].request(400))
        assert split.status_code == 409, "the same size and another root"
        assert apps[name].post("/add-checkpoint", data=shown[other].at(500).request(400)).status_code == 422
        shown[other].at(400)
        (evidence,) = (tmp_path / name).glob("fork-*.json")
        found = showing.check(evidence.read_text(), [LOG.verifier])
        assert {checkpoint.root for checkpoint in found.checkpoints} == {log.checkpoint.root for log in shown.values()}


def test_requests_at_once_never_take_a_witness_back(tmp_path: Path) -> None:
    app, log = witness_app(State(tmp_path), [LOG.verifier]), Log(30)
    bodies = [log.at(size).request(old) for size in range(1, 25) for old in range(size)]

    def send(part: list[str]) -> None:
        for body in part:
            app.test_client().post("/add-checkpoint", data=body)

    threads = [threading.Thread(target=send, args=(bodies[place::4],)) for place in range(4)]
    sizes = []
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        seen = State(tmp_path).seen("log.example")
        sizes.append(0 if seen is None else seen.checkpoint.size)
    assert sizes == sorted(sizes)
    assert sizes[-1] > 0


# ---------------------------------------------------------------- a watch


def watch_over(server: Server, folder: Path, keys: Sequence[VerifierKey] = (), say: Callable[[str], object] = print) -> Watch:
    state = State(folder)
    return Watch(server, lambda origin: Scan(state.scan(origin)), lambda name, text: state.keep_file(name, text), list(keys), say)


def seen_by(folder: Path) -> str:
    return Scan(State(folder).scan("log.example"), readonly=True).note


def test_a_watch_follows_a_log_that_grows(tmp_path: Path) -> None:
    log = Log(700)
    for size in (0, 1, 1, 255, 256, 300, 699, 700):
        assert watch_over(log.at(size).server(), tmp_path, []).look() == log.checkpoint


@pytest.mark.parametrize(("old", "new"), [(400, 400), (400, 700), (301, 302), (512, 513)])
def test_a_watch_finds_a_split_view_and_keeps_both_checkpoints(tmp_path: Path, old: int, new: int) -> None:
    seen = Log(700, "b").at(old)
    watch_over(seen.server(), tmp_path, [LOG.verifier]).look()
    with pytest.raises(Forked) as found:
        watch_over(Log(700, "c").at(new).server(), tmp_path, [LOG.verifier]).look()
    shown = showing.check(found.value.proof, [LOG.verifier])
    assert shown.finding.code == "checkpoint_forked"
    assert shown.checkpoints == (seen.checkpoint, Log(700, "c").at(new).checkpoint)
    assert seen_by(tmp_path) == seen.note, "what was seen first is kept"


def test_a_watch_compares_with_what_somebody_else_has_seen(tmp_path: Path) -> None:
    log = Log(700, "b")
    watch = watch_over(log.at(600).server(), tmp_path, [LOG.verifier])
    watch.compare_with(Log(700, "b").at(400).note)
    for size in (400, 600):
        with pytest.raises(Forked):
            watch.compare_with(Log(700, "c").at(size).note)
    with pytest.raises(Unable, match="not signed"):
        watch.compare_with(OTHER.sign(log.checkpoint.text))


def test_a_log_that_stays_older_than_it_was_is_told(tmp_path: Path) -> None:
    said: list[str] = []
    log = Log(700)
    watch_over(log.at(500).server(), tmp_path, []).look()
    watch = watch_over(log.at(400).server(), tmp_path, [], said.append)
    for _ in range(ROUNDS - 1):
        assert watch.look() is None
    with pytest.raises(Older, match="but 500 were seen"):
        watch.look()
    assert len(said) == ROUNDS


def test_what_is_not_signed_or_not_served_is_no_fork_and_is_not_kept(tmp_path: Path) -> None:
    log = Log(700)
    watch_over(log.at(10).server(), tmp_path, [LOG.verifier]).look()
    forged = Log(700, "c").at(400)
    forged.key = OTHER
    missing, changed = Log(700).at(400), Log(700).at(400)
    missing.leaves = missing.leaves[:300]
    changed.leaves[350] = b"other"
    for wrong in (forged, missing, changed):
        with pytest.raises(Unable):
            watch_over(wrong.server(), tmp_path, [LOG.verifier]).look()
    nothing = Server("http://log.example", httpx.MockTransport(lambda request: httpx.Response(500)))
    with pytest.raises(Unable):
        watch_over(nothing, tmp_path, []).look()
    assert seen_by(tmp_path) == Log(700).at(10).note
    State(tmp_path).scan("log.example").write_text("torn" * 1000)
    with pytest.raises(Unable, match="cannot be read"):
        watch_over(log.at(20).server(), tmp_path, []).look()


def test_the_command_says_what_it_finds_and_ends_with_1_for_a_fork(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log(700, "b")

    def opened(url: str) -> Server:
        return log.server()

    monkeypatch.setattr(witness, "Server", opened)
    command = ["watch", "http://log.example", "--once", "--state", str(tmp_path), "--log", LOG.verifier.vkey]
    assert main(command) == 0
    assert "700 leaves" in capsys.readouterr().out
    log = Log(800, "c")
    assert main(command) == 1
    said = capsys.readouterr().out
    assert said.startswith("FORK.")
    assert showing.check(said[said.index("{") :], [LOG.verifier]).checkpoints == (Log(700, "b").checkpoint, log.checkpoint)


def test_a_witness_is_served_by_a_command(tmp_path: Path) -> None:
    port, log = free_port(), Log(700)
    command = [sys.executable, "-m", "tools.witness", "serve", "--port", str(port), "--state", str(tmp_path), "--log", LOG.verifier.vkey]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        url = f"http://127.0.0.1:{port}/add-checkpoint"
        within(20, lambda: _status(url, log.at(5).request(0)) == 200)
        assert _status(url, log.at(9).request(5)) == 200
        assert process.stdout is not None
        assert State(tmp_path).key().verifier.vkey in process.stdout.readline()
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)
    assert State(tmp_path).seen("log.example") == witness.Seen(log.note)


def _status(url: str, body: str) -> int:
    try:
        return httpx.post(url, content=body).status_code
    except httpx.HTTPError:
        return 0


def test_the_cosignature_of_the_specification_is_read(tmp_path: Path) -> None:
    key = SigningKey("witness.example.com/w1", b"w" * 32, COSIGNATURE)
    signature = cosigning.cosign(key, Log(5).checkpoint.text, 1679315147)
    assert len(base64.b64decode(cosigning.lines_of([signature]).split(" ")[2])) == 4 + 8 + 64
    assert parse(cosigning.with_cosignatures(Log(5).note, [signature])).signatures[1] == signature


def test_a_log_that_is_kept_back_is_told_since_when_and_as_an_alarm_after_a_day() -> None:
    reason = Unable("It does not answer.")
    assert kept_back(reason, 0, 5 * DAY) == "It does not answer.", "it never did"
    assert kept_back(reason, DAY, 2 * DAY - 1) == "It does not answer. The log was last seen at 1970-01-02T00:00:00+00:00."
    assert kept_back(reason, DAY, 2 * DAY).startswith("ALARM: It does not answer. The log was last seen at ")
