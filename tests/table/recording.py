"""The refusals of the table's scenarios, as they are recorded in refusals.txt: the code, the rule and the sentence of each.

`python -m tests.table.recording` writes the file. Look at what changes in it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from games.chance import Drawn, Scripted
from games.documents import clone
from games.kernel import Refusal, Refused
from table.data import FOLDER
from table.rules import sentence
from tools.scenarios import TableRules, rules_of

RECORD = Path(__file__).parent / "refusals.txt"
SCENARIOS: list[dict[str, Any]] = yaml.load((FOLDER / "scenarios.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)


class Found(NamedTuple):
    """A step of a scenario that is refused, and why."""

    scenario: str
    number: int
    step: dict[str, Any]
    refusal: Refusal
    sentence: str


def found() -> Iterator[Found]:
    """Yield every step that is refused."""
    for scenario in SCENARIOS:
        rules = rules_of(scenario, FOLDER)
        assert isinstance(rules, TableRules)
        state = rules.start(scenario["given"])
        chance = Scripted(clone(scenario.get("chance") or []), Drawn(random.Random(str(scenario["id"])).randrange))
        for number, step in enumerate(scenario["steps"], 1):
            try:
                _, state = rules.act(state, step, chance)
            except Refused as refused:
                yield Found(scenario["id"], number, step, refused.refusal, sentence(rules.game, refused.refusal))


def as_lines(one: Found) -> str:
    """Return two lines: the step, and why it is refused."""
    actor = one.step.get("player") or one.step["seat"]
    return f"{one.scenario} {one.number} {actor} {json.dumps(one.step['do'])}\n    {one.refusal.code} {one.refusal.rule} {one.sentence}\n"


if __name__ == "__main__":
    RECORD.write_text("".join(map(as_lines, found())), encoding="utf-8")
