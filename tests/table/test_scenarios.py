"""The scenarios of the table, and what they must cover."""

from __future__ import annotations

import re

import pytest
import yaml

from table.data import FOLDER
from table.deeds import DEEDS
from table.facts import FACTS
from table.refusals import REFUSALS
from tests.table.recording import SCENARIOS
from tools.scenarios import failures, rules_of

RULES = re.findall(r"^- \*\*(TBL-[A-Z]+-\d+)\*\*", (FOLDER / "RULES.md").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("scenario", [pytest.param(scenario, id=scenario["id"]) for scenario in SCENARIOS])
def test_scenario_passes(scenario):
    assert list(failures(rules_of(scenario, FOLDER / "scenarios.yaml"), scenario)) == []


def test_every_rule_has_a_scenario():
    shown = {rule for scenario in SCENARIOS for rule in scenario["rules"]}
    assert sorted(shown) == sorted(RULES)


def test_every_rule_id_is_in_a_docstring():
    docstrings = "".join("".join(re.findall(r'"""(.*?)"""', path.read_text(encoding="utf-8"), re.DOTALL)) for path in FOLDER.glob("*.py"))
    assert sorted(set(re.findall(r"TBL-[A-Z]+-\d+", docstrings))) == sorted(RULES)


def test_every_refusal_code_is_reached_by_a_scenario():
    reached = {step.get("refused") for scenario in SCENARIOS for step in scenario["steps"]}
    assert [code for code in (*REFUSALS, "bad_action", "bad_options") if code not in reached] == []


def test_every_refusal_code_action_and_event_is_in_the_contract():
    contract = (FOLDER / "CONTRACT.md").read_text(encoding="utf-8")
    assert [name for name in (*REFUSALS, *DEEDS, *FACTS) if f"`{name}" not in contract] == []


def test_every_field_of_an_action_or_event_says_what_it_is():
    fields = [*(deed.fields for deed in DEEDS.values()), *(fields for _, fields in FACTS.values())]
    assert [name for shapes in fields for name, shape in shapes.items() if not shape.schema.get("description")] == []


def test_a_scenario_of_the_table_that_fails_says_why():
    (wrong,) = yaml.safe_load(
        """
- id: TBL-S-99
  rules: [TBL-SEA-01]
  given: {table: {game: war, seats: {red: me, blue: open}, creator: ada}}
  steps: [{player: bob, do: {type: take_seat, seat: blue}, then: {/table/roster/blue: {player: cyd}}}]
"""
    )
    expected = 'step 1: expected /table/roster/blue {"player": "cyd"}, got {"player": "bob"}'
    assert list(failures(rules_of(wrong, FOLDER), wrong)) == [expected]
