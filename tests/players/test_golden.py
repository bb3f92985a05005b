"""The levels answer as they did when golden.json was written, in every process and under every hash seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from players import LEVELS, REVISION
from tests.players.golden import FILE

ROOT = Path(__file__).parents[2]
GOLDEN = json.loads(FILE.read_text())
RAISE = (
    "A level answers otherwise than before, or has another budget. Raise players.REVISION, and then write the file anew: "
    "python -m tests.players.golden"
)
ANEW = "The rules or the weights are others. Write the file anew: python -m tests.players.golden"


def test_levels_answer_as_they_did_under_every_hash_seed() -> None:
    command = [sys.executable, "-m", "tests.players.golden", "--print"]
    running = [
        subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE)
        for seed in ("1", "2024")
    ]
    printed = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0], "a level fails; standard error says where"
    one, other = map(json.loads, printed)
    assert one == other, "two hash seeds give two answers: something depends on the order of a set"
    assert one["budgets"] == GOLDEN["budgets"] or GOLDEN["players"] != REVISION, RAISE
    for now, then in zip(one["decisions"], GOLDEN["decisions"], strict=True):
        known = {name: then[name] for name in ("game", "seats", "moment", "level", "saw", "budget")}
        assert {name: now[name] for name in known} == known, ANEW
        if now != then:
            assert one["weights"] != GOLDEN["weights"] or GOLDEN["players"] != REVISION, RAISE
    assert one == GOLDEN, ANEW


def test_every_level_is_among_them() -> None:
    assert {decision["level"] for decision in GOLDEN["decisions"]} == set(LEVELS)
