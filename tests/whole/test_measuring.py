"""Measurements: `./run bench` runs and compares with its targets, and the figures of `./run simulate` are right."""

from __future__ import annotations

import json
import random
import signal
import socket
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from benchmarks import __main__ as bench
from benchmarks import load, mixed, peers
from benchmarks.load import Conversation, Lines, request
from benchmarks.pairs import Figure, figure, interleaved
from benchmarks.place import Run
from events.modules import python_environment
from tests.whole.conftest import until
from tools.processes import family, lives
from tools.simulate import Plan, interval, play
from tools.words import phrase

BENCH = [sys.executable, "-m", "benchmarks", "--pairs", "1", "--seconds", "0.2"]


@pytest.mark.parametrize(
    ("part", "name", "target"),
    [
        pytest.param("fair", "an AI turn beside 5 matches, due to appended", "<= 250", marks=pytest.mark.soak),
        pytest.param("http", "war, 1 connection / bare endpoint", ">= 0.9", marks=pytest.mark.soak),
        pytest.param("load", "p99 of an action / of the bare endpoint, 128 connections, 0 streams", "<= 3", marks=pytest.mark.soak),
    ],
)
def test_bench_prints_every_figure_with_its_spread_and_its_target(part: str, name: str, target: str, tmp_path: Path) -> None:
    output = tmp_path / "bench.json"
    command = [*BENCH, "--matches", "40", "--turns", "8", "--crowd", "5", part, "--json", str(output)]
    ended = subprocess.run(command, cwd="/", env=python_environment(), capture_output=True, text=True)
    assert output.exists(), ended.stderr
    report = json.loads(output.read_text())
    assert report["machine"]["cores"] >= 1
    for line in report["figures"]:
        assert line["low"] <= line["median"] <= line["high"]
        assert line["name"] in ended.stdout
    targets = {line["name"]: line["target"] for line in report["figures"] if line["target"]}
    assert targets[name] == target


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills the children of a killed process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_bench_that_is_ended_leaves_nothing_running(number: signal.Signals, tmp_path: Path) -> None:
    environment = {**python_environment(), "TMPDIR": str(tmp_path)}
    command = [*BENCH, "fair", "--json", str(tmp_path / "bench.json")]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert any("beside it run" in line for line in process.stdout)
    children = [child.number for child in family(process.pid)]
    assert len(children) > 8
    process.send_signal(number)
    process.communicate()
    until(lambda: not [child for child in children if lives(child)], message="a process has outlived the bench")


def test_a_part_that_fails_keeps_its_rows_and_the_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(run: Run) -> Iterator[Figure]:
        yield figure("one", [1], "s")
        raise AssertionError("the server closed the connection")

    def working(run: Run) -> Iterator[Figure]:
        yield figure("two", [2], "s", least=1)
        saved = json.loads(output.read_text())
        assert [row["name"] for row in saved["figures"]] == ["one", "two"]

    output = tmp_path / "bench.json"
    monkeypatch.setattr(bench, "PARTS", {"failing": failing, "working": working})
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert bench.main(["--json", str(output)]) == 1
    finally:
        signal.signal(signal.SIGTERM, before)
    report = json.loads(output.read_text())
    assert [(row["part"], row["name"], row["met"]) for row in report["figures"]] == [("failing", "one", None), ("working", "two", True)]
    assert report["failed"] == {"failing": "AssertionError('the server closed the connection')"}


def test_the_page_names_every_part_and_gets_the_tables_of_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = bench.DOCUMENT.read_text()
    assert [part for part in bench.PARTS if f"`{part}`" not in page] == []
    rows = [{"part": "one", **figure(name, [1.0, 250.0, 3.0], "ms", most=most)._asdict()} for name, most in (("slow", 2), ("quick", 4))]
    report, copy = tmp_path / "report.json", tmp_path / "performance.md"
    report.write_text(json.dumps({"machine": {"cores": 2}, "pairs": 3, "beside": {"one": ["2 web"]}, "figures": rows, "failed": {}}))
    copy.write_text("# Performance\n" + bench.TABLES + "old\n")
    monkeypatch.setattr(bench, "DOCUMENT", copy)
    assert bench.main(["--document", str(report)]) == 0
    text = copy.read_text()
    assert text.startswith("# Performance\n" + bench.TABLES)
    assert "old" not in text
    assert "| slow | 3 | 1 to 250 | ms | <= 2 (missed) |\n| quick | 3 | 1 to 250 | ms | <= 4 (met) |" in text


def test_mixed_traffic_has_its_shares_and_waits_only_when_a_turn_is_needed() -> None:
    class Ready:
        def conversation(self, with_key: bool) -> Conversation:
            for number in range(8000):
                assert with_key
                assert (yield b"action") == (200, b"%d" % number)
                if number == 3500:
                    yield None  # as an answer, and again when it is asked anew
                    yield None

    traffic = object.__new__(mixed.Traffic)
    traffic._dice, traffic.matches, traffic._keys = random.Random(1), ["m1", "m2"], ["a key"]
    took: dict[str, list[float]] = defaultdict(list)
    talk = traffic._conversation(Ready(), took)  # type: ignore[arg-type]
    asked, done, pauses = next(talk), 0, 0
    while done < 7000:
        if asked is None:
            pauses, asked = pauses + 1, next(talk)
        elif asked == b"action":
            done, asked = done + 1, talk.send((200, b"%d" % done))
        else:
            assert asked.startswith((b"GET /v1/matches/m", b"GET /v1/matches?game="))
            asked = talk.send((200, b"{}"))
    talk.close()
    total = sum(map(len, took.values()))
    assert pauses == 1
    assert {kind: round(len(found) / total, 2) for kind, found in took.items()} == mixed.MIX


def test_a_load_opens_its_connections_anew_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server closes what is idle, and a slow machine takes long between two windows."""
    opened: list[socket.socket] = []

    def serve() -> None:
        for _ in range(4):
            line, _ = server.accept()
            opened.append(line)
            Thread(target=answer, args=(line,), daemon=True).start()

    def answer(line: socket.socket) -> None:
        while line.recv(4096):
            line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def conversation(turns: list[int]) -> Conversation:
        while True:
            while not turns:
                yield None
            assert (yield request("GET", f"/{turns.pop()}")) == (200, b"ok")

    with socket.create_server(("127.0.0.1", 0)) as server:
        accepting = Thread(target=serve, daemon=True)
        accepting.start()
        turns = list(range(10))
        with Lines(server.getsockname(), [conversation(turns) for _ in range(2)]) as lines:
            assert lines.drive(60.0).requests == 10
            for line in opened:
                line.shutdown(socket.SHUT_RDWR)
            monkeypatch.setattr(load, "IDLE", -1.0)
            turns += range(6)
            again = lines.drive(60.0)
            assert again.requests == 6
            assert again.late <= 1
        accepting.join()
    assert len(opened) == 4


def test_what_cannot_be_had_is_left_out_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "peer"
    assert not peers.installed(folder, "this", ["no-such-program"])
    assert not peers.installed(folder, "this", [sys.executable, "-c", "import sys; sys.exit('no such package')"])
    assert capsys.readouterr().out == "  skipped: there is no no-such-program\n  skipped: it cannot be installed: no such package\n"
    assert peers.installed(folder, "this", [sys.executable, "-c", ""])
    assert peers.installed(folder, "this", ["no-such-program"])
    assert not peers.installed(folder, "that", ["no-such-program"])


def test_pairs_are_interleaved_and_each_begins_with_the_other_side() -> None:
    calls: list[str] = []

    def side(name: str) -> float:
        calls.append(name)
        return len(calls)

    mine, other = interleaved(lambda: side("ours"), lambda: side("theirs"), 3)
    assert calls == ["ours", "theirs", "theirs", "ours", "ours", "theirs"]
    assert (mine, other) == ([1, 4, 5], [2, 3, 6])


def test_a_figure_compares_its_median_with_its_target() -> None:
    assert figure("rate", [3, 1, 2], "1/s", least=2).met is True
    assert figure("rate", [3, 1, 2], "1/s", least=2.5).met is False
    assert figure("time", [3, 1, 2], "s", most=1.5).met is False
    assert figure("size", [3, 1, 2], "bytes").met is None


@pytest.mark.parametrize(("wins", "matches", "low", "high"), [(8, 10, 0.4902, 0.9433), (0, 10, 0.0, 0.2775), (50, 100, 0.4038, 0.5962)])
def test_intervals_are_those_of_wilson(wins: int, matches: int, low: float, high: float) -> None:
    assert interval(wins, matches) == pytest.approx((low, high), abs=5e-5)


def test_the_order_of_turns_may_be_drawn_besides_the_seats() -> None:
    """With it a level begins in about half of the matches, and keeps its seat in all of them."""
    fixed = Plan("war_of_civilizations", ("random", "greedy"), "s", {}, shuffle=True)
    drawn = fixed._replace(any_order=True)
    pairs = [(play(fixed, number), play(drawn, number)) for number in range(6)]
    assert all(one.seats == other.seats for one, other in pairs)
    assert 0 < sum(one == other for one, other in pairs) < 6


def test_a_fact_in_words_names_its_fields() -> None:
    assert phrase({"type": "units_placed", "seat": "red", "units": {"f1": 1}, "card": None}) == "units placed: seat red, f1 1"
    assert phrase({"type": "end_moves"}) == "end moves"
