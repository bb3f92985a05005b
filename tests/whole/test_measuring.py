"""Measurements: `./run bench` runs and compares with its targets, and the figures of `./run simulate` are right."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.pairs import figure, interleaved
from tools import private
from tools.simulate import Plan, interval, play
from tools.words import phrase


@pytest.mark.parametrize(
    ("part", "name", "target"),
    [
        ("fair", "an AI turn beside 5 matches, due to appended", "<= 250"),
        pytest.param("http", "war, 1 connection / bare endpoint", ">= 0.9", marks=pytest.mark.soak),
    ],
)
def test_bench_prints_every_figure_with_its_spread_and_its_target(part: str, name: str, target: str, tmp_path: Path) -> None:
    output = tmp_path / "bench.json"
    small = ["--pairs", "1", "--seconds", "0.2", "--matches", "40", "--turns", "8", "--crowd", "5"]
    small += [part, "--json"]
    command = [sys.executable, "-m", "benchmarks", *small, str(output)]
    ended = subprocess.run(command, cwd="/", env=private.python_environment(), capture_output=True, text=True)
    assert output.exists(), ended.stderr
    report = json.loads(output.read_text())
    assert report["machine"]["cores"] >= 1
    for line in report["figures"]:
        assert line["low"] <= line["median"] <= line["high"]
        assert line["name"] in ended.stdout
    targets = {line["name"]: line["target"] for line in report["figures"] if line["target"]}
    assert targets[name] == target


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
