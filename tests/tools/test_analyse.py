"""`./run analyse`: the same record gives the same analysis, and only matches that are over are analysed."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from games import GAMES
from games.kernel import SYSTEM
from record.decisions import decisions
from record.entries import parse
from table.rules import is_table_action
from tests.archive.writing import write_archive
from tests.tools.seers import played
from tools import analyse as command
from tools.analyse import analyse, as_text
from tools.records import BadRecord, Record


@cache
def record() -> Record:
    return played("war", 3)


@cache
def found() -> dict[str, Any]:
    return analyse(GAMES, record(), "strong", 2)


def test_every_decision_is_judged_once_and_none_of_the_system_or_the_table() -> None:
    entries = list(map(parse, record().raws))
    acted = [entry.version for entry in entries if entry.actor != SYSTEM and not is_table_action(entry.action)]
    assert [decision.entry.version for decision in decisions(GAMES, entries)] == acted
    judged = {each["version"]: each for each in found()["decisions"]}
    assert set(judged) <= set(acted)
    assert len(judged) > len(acted) / 2, "few decisions are forced"
    for version, each in judged.items():
        assert (each["seat"], each["action"]) == (entries[version - 1].actor, entries[version - 1].action)
        assert 0 <= each["chosen"] <= each["before"] <= 1
        assert each["loss"] == pytest.approx(each["before"] - each["chosen"])
        assert sum(each["expected"].values()) == pytest.approx(1, abs=0.001)
        assert (each["loss"] == 0) or (each["best"] != each["action"])
    assert found()["outcome"]["winners"] == [max(found()["seats"], key=lambda seat: found()["decisions"][-1]["expected"][seat])]


def test_the_tool_gives_the_same_on_several_cores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (tmp_path / "one.xz").open("wb") as file:
        write_archive(file, [record()])
    assert command.main([str(tmp_path), "--iterations", "2", "--cores", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == found()


def test_the_table_has_a_line_for_each_decision_and_says_how_to_read_it() -> None:
    text = as_text(found())
    lines = text.splitlines()
    assert len([line for line in lines if line[:7].strip().isdigit()]) == len(found()["decisions"]) + len(found()["turning_points"])
    assert "These are not errors of the seat." in text
    assert lines[-1].endswith(f"won by {found()['outcome']['winners'][0]}.")


def test_what_cannot_be_analysed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = record()._replace(raws=record().raws[:20])
    with pytest.raises(BadRecord, match="is not over"):
        analyse(GAMES, short, "strong", 1)
    with pytest.raises(BadRecord, match="does not compare"):
        analyse(GAMES, record(), "greedy", 1)
    with pytest.raises(BadRecord, match="not here"):
        analyse({}, record(), "strong", 1)
    (tmp_path / "one.json").write_bytes(b"\n".join(short.raws))
    assert command.main([str(tmp_path / "one.json")]) == 2
    assert "is not over" in capsys.readouterr().err
    assert command.main([str(tmp_path / "none.json")]) == 2
    assert "not the id of a match" in capsys.readouterr().err
