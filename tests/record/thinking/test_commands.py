"""`./run audit FILE --decisions` and `./run verify FILE --decisions`: in several processes, and where there is nothing but the standard
library."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.evidence.test_verify import ROOT, offline
from tests.record.thinking.serving import Served
from tests.record.thinking.test_again import another_action
from tools import audit, decisions, node, verify


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a match that is over, in which a server has played for an artificial player."""
    return written(Served("war", {"red": "greedy", "blue": "me"}), tmp_path_factory.mktemp("honest"))


@pytest.fixture(scope="module")
def cheated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """The same, but the server cheats once; and the version at which it does."""
    served = Served("war", {"red": "greedy", "blue": "me"}, 1)
    served.go_on(20)
    while not (versions := served.go_on(1, another_action)):
        pass
    return written(served, tmp_path_factory.mktemp("cheated")), versions[0]


def written(served: Served, folder: Path) -> Path:
    """Write the record of a match after its player has resigned."""
    served.go_on(30)
    served.act_at_table("blue", {"type": "resign"}, served.now.at)
    (folder / "record.ndjson").write_bytes(b"".join(raw + b"\n" for raw in served.raws))
    return folder / "record.ndjson"


@pytest.mark.parametrize("few", [0, 10_000])
def test_an_audit_runs_decisions_again_in_one_process_or_several(
    cheated: tuple[Path, int], few: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(decisions, "FEW", few)
    file, version = cheated
    assert audit.main([str(file), "--decisions", "--cores", "2", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [(finding["version"], finding["code"]) for finding in report["findings"]] == [(version, "decision_differs")]
    assert (report["decisions"]["run"] > 5, report["decisions"]["unchecked"]) == (True, [])


def test_both_commands_say_what_has_been_run_again(honest: Path, cheated: tuple[Path, int], capsys: pytest.CaptureFixture[str]) -> None:
    file, version = cheated
    assert audit.main([str(honest), "--decisions"]) == 0
    assert " decisions of artificial players run again" in capsys.readouterr().out
    assert verify.main([str(honest), str(file), "--decisions"]) == 1
    said, found = capsys.readouterr().out.split("\n\n")
    assert "everything that was checked holds" in said
    assert " decisions" in next(line for line in said.splitlines() if line.startswith("checked: "))
    assert f"version {version}: decision_differs: The level greedy decides otherwise, given what its seat sees." in found


def test_without_the_option_a_cheater_is_not_found_and_verify_says_so(
    cheated: tuple[Path, int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit.main([str(cheated[0])]) == 0
    assert verify.main([str(cheated[0])]) == 0
    assert "not checked: whether artificial players would decide so again: --decisions runs" in capsys.readouterr().out


def test_nothing_but_the_standard_library_is_needed(cheated: tuple[Path, int], tmp_path: Path) -> None:
    ran = offline([str(cheated[0]), "--decisions", "--json", "--cores", "1"], tmp_path)
    (verdict,) = json.loads(ran.stdout)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert [(finding["version"], finding["code"]) for finding in verdict["findings"]] == [(cheated[1], "decision_differs")]


def test_the_verifier_without_rules_reads_records_with_decisions_and_does_not_judge_them(honest: Path, cheated: tuple[Path, int]) -> None:
    binary = node.binary()
    if binary is None:
        pytest.skip("there is no Node here: install the packages for tests, or Node 20")
    done = subprocess.run([binary, ROOT / "verify/verify.mjs", honest, cheated[0]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Whether artificial players decide so on what they saw: " in done.stdout


def test_all_matches_and_decisions_are_two_commands() -> None:
    with pytest.raises(SystemExit, match="2"):
        audit.main(["--all", "--decisions"])
