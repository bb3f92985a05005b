"""Every kind of tampering is found by `./run verify`, at the version and with the code that docs/auditing.md names; honest files hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.evidence.tampering import KINDS, NODE, PYTHON
from tools import verify


def verified(vectors: Path, case: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, Any]]]:
    """Return the exit code of the command and its verdicts."""
    arguments = [str(vectors / file) for file in case["files"]]
    arguments += [f"--key={key}" for key in case["keys"]]
    arguments += [f"--witness={witness}" for witness in case["witnesses"]]
    for option, name in (("receipt", "receipts"), ("checkpoint", "checkpoints"), ("consistency", "consistency"), ("log", "logs")):
        arguments += [f"--{option}={vectors / file}" for file in case[name]]
    if case["now"] is not None:
        arguments.append(f"--now={case['now']}")
    if case["decisions"]:
        arguments += ["--decisions", "--cores=1"]
    code = verify.main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def wrong_under_python(vectors: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return each case that is not as its index says, with what was due and what was found."""
    wrong = []
    for case in json.loads((vectors / "index.json").read_text()):
        code, verdicts = verified(vectors, case, capsys)
        found = [(finding["version"], finding["code"]) for verdict in verdicts for finding in verdict["findings"]]
        expected = case["expected"]
        if expected is None:
            if code or found:
                wrong.append((case["name"], found))
        elif PYTHON in case["verifiers"]:
            due = (expected["version"], expected["code"])
            earlier = [version for version, _ in found if version is not None and version < (expected["version"] or 0)]
            if code != 1 or due not in found or earlier:
                wrong.append((case["name"], due, found[:5]))
    return list(map(str, wrong))


def test_every_case_is_as_its_index_says(vectors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert wrong_under_python(vectors, capsys) == []


def test_there_are_enough_kinds_of_tampering_and_each_is_tried(vectors: Path) -> None:
    index = json.loads((vectors / "index.json").read_text())
    tried = {case["name"].split("-")[-1] for case in index}
    unseen = {f"{kind.name}_unseen" for kind in KINDS if kind.needs}
    assert {kind.name for kind in KINDS} | {"honest", "honest_record"} | unseen == tried
    assert sum(NODE in kind.verifiers for kind in KINDS) >= 60
