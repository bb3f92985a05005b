"""`./run mutate`: its groups name files and tests that exist, and each explained survivor names a function and a reason."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import yaml

from tools.mutate import GROUPS, ROOT, SURVIVORS, _plain, explanations


@pytest.mark.parametrize("name", GROUPS)
def test_the_files_and_the_tests_of_a_group_exist(name: str) -> None:
    group = GROUPS[name]
    for pattern in group.files:
        assert list(Path(ROOT).glob(pattern)), pattern
    for tests in (*group.tests, *group.wider):
        assert (ROOT / tests).exists(), tests


def test_the_rules_of_every_game_are_a_group() -> None:
    mutated = {file for group in GROUPS.values() for pattern in group.files for file in Path(ROOT).glob(pattern)}
    for module in ("actions", "movement", "economy", "battle/record"):
        assert ROOT / "games" / "war_of_civilizations" / f"{module}.py" in mutated, module


def test_each_explained_survivor_names_a_function_and_a_reason() -> None:
    rows = yaml.safe_load((ROOT / SURVIVORS).read_text(encoding="utf-8"))
    for row in rows:
        module, _, names = row["function"].partition(":")
        found = importlib.import_module(module)
        for name in names.split("."):
            found = getattr(found, name)
        assert row["reason"].endswith("."), row
        assert row["removed"] != row["added"], row
    assert explanations().total() == len(rows)


@pytest.mark.parametrize(
    ("mangled", "name"), [("x_act__mutmut_3", "act"), ("x__leap__mutmut_12", "_leap"), ("xǁDrawsǁleap__mutmut_1", "Draws.leap")]
)
def test_a_mutant_tells_the_function_that_it_changes(mangled: str, name: str) -> None:
    assert _plain(mangled) == name
