"""Every scenario of every game by its id, and what the scenarios must cover."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from games.kernel import SHARED_REFUSALS, Game
from tests.games.matches import ALL, HERE, scenarios
from tools.scenarios import GameRules, failures, main, prefix

BOTH = [pytest.param(game, scenario, id=scenario["id"]) for game in ALL for scenario in scenarios(game)]
GAMES = [pytest.param(game, id=game.id) for game in ALL]


def rules(game: Game) -> list[str]:
    text = (game.folder / "RULES.md").read_text(encoding="utf-8")
    return re.findall(rf"^- \*\*({prefix(game)}[A-Z]+-\d+)\*\*", text, re.MULTILINE)


@pytest.mark.parametrize(("game", "scenario"), BOTH)
def test_scenario_passes(game, scenario):
    assert list(failures(GameRules(game), scenario)) == []


@pytest.mark.parametrize("game", GAMES)
def test_no_two_scenarios_have_one_id(game):
    named = [scenario["id"] for scenario in scenarios(game)]
    assert len(set(named)) == len(named)


@pytest.mark.parametrize("game", GAMES)
def test_every_rule_has_a_scenario_or_a_reason(game):
    structural = yaml.safe_load((HERE / game.id / "structural.yaml").read_text(encoding="utf-8"))
    shown = {rule for scenario in scenarios(game) for rule in scenario["rules"]}
    assert [rule for rule in rules(game) if rule not in shown and rule not in structural] == []
    assert [rule for rule in structural if rule in shown or rule not in rules(game)] == []


@pytest.mark.parametrize("game", GAMES)
def test_every_rule_id_is_in_a_docstring(game):
    docstrings = "".join(
        "".join(re.findall(r'"""(.*?)"""', path.read_text(encoding="utf-8"), re.DOTALL)) for path in game.folder.rglob("*.py")
    )
    named = set(re.findall(rf"{prefix(game)}[A-Z]+-\d+", docstrings))
    assert [rule for rule in rules(game) if rule not in named] == []
    assert sorted(named - set(rules(game))) == []


@pytest.mark.parametrize("game", GAMES)
def test_every_refusal_code_is_reached_by_a_scenario(game):
    reached = {step.get("refused") for scenario in scenarios(game) for step in scenario["steps"]}
    assert [code for code in {*game.refusals, *SHARED_REFUSALS} if code not in reached] == []


@pytest.mark.parametrize("game", GAMES)
def test_every_refusal_code_event_and_action_is_in_the_contract(game):
    contract = (game.folder / "CONTRACT.md").read_text(encoding="utf-8")
    assert [name for name in (*game.refusals, *SHARED_REFUSALS, *game.events, *game.deeds()) if f"`{name}" not in contract] == []


def ids_of(value: Any) -> Iterator[str]:
    """Yield the ids of cards, tokens and places in data.json: keys of their tables, by side or not, and each `id` in a list."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        if key in ("cards", "regions", "buildings", "locations", "clans") and isinstance(inner, dict):
            for name, row in inner.items():
                if isinstance(row, dict):
                    by_side = row and all(isinstance(item, dict) for item in row.values())
                    yield from row if by_side else (name,)
        if isinstance(inner, list):
            yield from (row["id"] for row in inner if isinstance(row, dict) and "id" in row)
        yield from ids_of(inner)


def test_ids_are_found_in_data():
    data = {"locations": {"isle": {"of": 1}}, "clans": {"tiger": {"start": {"x": 1}}}, "cards": [{"id": "sail"}], "phases": ["x"]}
    assert list(ids_of(data)) == ["isle", "start", "sail"]


@pytest.mark.parametrize("game", GAMES)
def test_the_code_contains_no_id_of_the_data(game):
    found = set(ids_of(json.loads((game.folder / "data.json").read_text(encoding="utf-8")))) - set(game.phases)
    for path in game.folder.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert [name for name in sorted(found) if re.search(rf"""['"]{re.escape(name)}['"]""", text)] == [], path.name


def test_a_failing_scenario_prints_one_line(tmp_path, capsys):
    wrong = tmp_path / "scenarios.yaml"
    wrong.write_text(
        """
- id: WAR-S-90
  title: nobody may place on a symbol
  rules: [WAR-STA-02]
  given: {patch: {phase: placement, active: red, to_act: [red]}}
  steps:
    - {seat: red, do: {type: place_unit, tile: b2}}
- id: WAR-S-91
  title: a turn of the tables
  rules: [WAR-STA-02]
  given: {patch: {phase: placement, active: red, to_act: [red]}}
  steps:
    - {seat: red, do: {type: place_unit, tile: b2}, refused: not_brown, then: {/phase: placement}}
    - {seat: red, do: {type: place_unit, tile: a2}, then: {/reserve/red: 18}, legal_lacks: [{type: place_unit, tile: c1}]}
- id: WAR-S-92
  title: this one passes
  rules: [WAR-CMP-01]
  given: {new_match: {seats: [red, blue], options: {}}}
  steps: []
"""
    )
    assert main([str(wrong)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "WAR-S-90: step 1: expected acceptance, got not_brown"
    assert lines[1].startswith("WAR-S-91: step 2: expected /reserve/red 18, got 19")
    assert lines[2:] == ["1 passed, 2 failed"]


def test_a_patch_may_leave_out_null_and_hidden_pointers_are_checked(tmp_path, capsys):
    file = tmp_path / "scenarios.yaml"
    file.write_text(
        """
- id: WOC-S-901
  given: &battle
    patch:
      phase: bids
      to_act: [fox, rhino]
      players:
        fox: {ammo: 2, fleets: {fox_home: {capital: 1}, rhino_east: {destroyer: 1}}}
        rhino: {ammo: 1, fleets: {rhino_home: {capital: 1}, rhino_east: {gunboat: 1}}}
      turn: {action: move, actions_used: 1, mover: {from: rhino_north, at: rhino_east, ships: {destroyer: 1}, steps_left: 0}}
      battle: {at: rhino_east, kind: fleet, attacker: fox, defender: rhino, from: rhino_north, hostages: {}, bids: {}, ability_used: []}
  steps:
    - {seat: fox, do: {type: bid, ammo: 2, cards: []}, then: {/battle/result: null}}
    - {seat: rhino, do: {type: bid, ammo: 0, cards: []}, then: {/battle: null}}
- id: WOC-S-902
  given: *battle
  steps:
    - {seat: fox, do: {type: bid, ammo: 2, cards: []}}
  views:
    - {seat: rhino, hidden: [/battle/bids/fox]}
- id: WOC-S-903
  given: *battle
  steps:
    - {seat: fox, do: {type: bid, ammo: 2, cards: []}}
  views:
    - {seat: fox, hidden: [/battle/bids/fox]}
"""
    )
    assert main([str(file)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "WOC-S-903: view of fox: expected /battle/bids/fox hidden, got its content",
        "2 passed, 1 failed",
    ]


def test_the_cases_that_the_format_leaves_open(tmp_path, capsys):
    file = tmp_path / "war.yaml"
    file.write_text(
        """
- id: a match that cannot be created is refused, as its set-up would be
  given: {new_match: {seats: [red, blue], options: {map_number: -1}}}
  steps: [{seat: system, do: {type: advance}, refused: bad_options}]
- id: options may stand beside a new match
  given: {options: {first_seat: blue, map_number: 1}, new_match: {seats: [red, blue]}}
  steps: [{seat: system, do: {type: advance}, then: {/active: blue, /map_number: 1}}]
- id: where nothing is, nothing is learnt
  given: {patch: {deck: []}}
  views: [{seat: red, hidden: [/deck/0]}]
- id: what is gone is null
  given: {patch: {}}
  steps: [{seat: blue, do: {type: end_moves}, refused: not_your_turn, then: {/combat/blue: null}}]
- id: what never was is not null
  given: {patch: {}}
  steps: [{seat: blue, do: {type: end_moves}, refused: not_your_turn, then: {/combats/blue: null}}]
- id: nothing is behind the end of a list
  given: {patch: {deck: []}}
  steps: [{seat: blue, do: {type: end_moves}, refused: not_your_turn, then: {/deck/-: [], /deck/0: 1}}]
- id: a pointer begins with a slash
  given: {patch: {}}
  steps: [{seat: blue, do: {type: end_moves}, refused: not_your_turn, then: {deck: []}}]
- id: what is no scenario
  given: {patch: [1]}
- id: a match that cannot be created holds nothing else
  given: {new_match: {seats: [red], options: {}}}
  steps: [{seat: system, do: {type: advance}}]
"""
    )
    assert main([str(file)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "what never was is not null: step 1: expected /combats/blue null, got nothing",
        "nothing is behind the end of a list: step 1: expected /deck/- [], got nothing",
        "a pointer begins with a slash: Location must start with /",
        "what is no scenario: `given` and its `patch` are objects, `rules` is a list",
        "a match that cannot be created holds nothing else: its match cannot be created: bad_options",
        "4 passed, 5 failed",
    ]


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tools.scenarios", str(tmp_path / "none.yaml")],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == "0 passed, 0 failed\n"
    assert "cannot be read" in done.stderr
