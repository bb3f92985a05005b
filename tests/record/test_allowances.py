"""Allowances: how many iterations a decision gets follows from the entries before it, and everybody comes to the same number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import players
from events.due import ANALYSIS, HINT, KINDS
from players import plans
from players.level import Budget
from record.allowances import ALLOWANCES, FULL, HALVINGS, LEAST_PACE, WINDOW, Turn, halvings, spare, turn_of
from record.entries import Entry
from table.document import Clock


def entries(*made: tuple[str, int]) -> list[Entry]:
    """Entries in order, each with its moment in ms: a decision of an actor, or an action of the table if that is "table"."""
    return [
        Entry("m", version, actor, {"type": "return_time" if actor == "table" else "add"}, [], 1, "", at, None, "")
        for version, (actor, at) in enumerate(made, 1)
    ]


def test_exactly_the_levels_with_plans_have_an_allowance() -> None:
    files = [plans.DEFAULT, *plans.FOLDER.glob("*/plans.json")]
    planned = {level for file in files for level in json.loads(file.read_text())["levels"]}
    assert ALLOWANCES.keys() == planned


@pytest.mark.parametrize("level", ALLOWANCES)
def test_a_search_ends_before_its_step_is_ended_and_that_before_its_lease(level: str) -> None:
    allowance = ALLOWANCES[level]
    assert LEAST_PACE <= allowance.pace <= allowance.seconds
    assert allowance.seconds + 2 <= allowance.limit
    assert (allowance.limit + 2) * 1000 <= allowance.lease_ms


@pytest.mark.parametrize("kind", [HINT, ANALYSIS])
def test_a_part_of_a_study_is_ended_before_another_worker_may_begin_it(kind: str) -> None:
    assert (KINDS[kind].seconds + 2) * 1000 <= KINDS[kind].patience_ms


def test_the_guide_for_operators_has_the_allowances() -> None:
    text = (Path(players.__file__).parents[1] / "docs" / "operating.md").read_text()
    for level, (seconds, limit, lease_ms, pace) in ALLOWANCES.items():
        assert f"\n| `{level}` | {pace} s | after {seconds} s | after {limit} s | for {lease_ms // 1000} s |\n" in text


def test_late_in_a_long_turn_decisions_are_shorter_and_the_turn_has_an_end() -> None:
    times = [halvings("expert", {"kind": "none"}, Turn(decisions, 0)) for decisions in range(WINDOW)]
    assert times == [min(HALVINGS, decisions // FULL) for decisions in range(WINDOW)]
    assert times[0] == 0
    assert sum(0.5**each for each in times[: FULL * HALVINGS]) < 2 * FULL


CLOCKS: list[tuple[Clock, int, int, int]] = [
    ({"kind": "per_action", "seconds": 30}, 0, 15_000, 0),
    ({"kind": "per_action", "seconds": 30}, 100_000, 15_000, 0),
    ({"kind": "per_action", "seconds": 29}, 0, 14_500, 1),
    ({"kind": "per_action", "seconds": 5}, 0, 2500, 3),
    ({"kind": "bank", "seconds": 960, "increment": 0, "delay": 0}, 0, 15_000, 0),
    ({"kind": "bank", "seconds": 960, "increment": 0, "delay": 0}, 1, 14_999, 1),
    ({"kind": "bank", "seconds": 960, "increment": 0, "delay": 0}, 15_000, 7500, 1),
    ({"kind": "bank", "seconds": 960, "increment": 0, "delay": 0}, 30_000, 0, HALVINGS),
    ({"kind": "bank", "seconds": 960, "increment": 0, "delay": 0}, 99_000, 0, HALVINGS),
    ({"kind": "bank", "seconds": 320, "increment": 10, "delay": 0}, 0, 10_000, 1),
    ({"kind": "bank", "seconds": 320, "increment": 0, "delay": 20}, 0, 15_000, 0),
    ({"kind": "days", "hours": 1, "vacation_days": 0}, 60_000, 1_770_000, 0),
]


@pytest.mark.parametrize(("clock", "used", "left", "expected"), CLOCKS)
def test_with_a_clock_the_iterations_follow_what_is_left_of_a_turn(clock: Clock, used: int, left: int, expected: int) -> None:
    """The expert has 15 seconds for a decision."""
    assert spare(clock, used) == left
    assert halvings("expert", clock, Turn(3, used)) == expected
    assert expected == HALVINGS or ALLOWANCES["expert"].seconds * 1000 / 2**expected <= left


def test_without_a_clock_no_time_counts() -> None:
    assert spare({"kind": "none"}, 5000) is None
    assert halvings("expert", {"kind": "none"}, Turn(0, 10**9)) == 0


def test_a_long_turn_and_a_quick_clock_do_not_add_up() -> None:
    quick: Clock = {"kind": "per_action", "seconds": 10}
    assert [halvings("expert", quick, Turn(decisions, 0)) for decisions in (0, FULL, 2 * FULL, 3 * FULL)] == [2, 2, 2, 3]


def test_halving_leaves_an_iteration() -> None:
    def halved(budget: Budget, most: int) -> list[int]:
        return [budget.halved(times).iterations for times in range(most + 1)]

    assert halved(Budget(400), HALVINGS) == [400, 200, 100, 50, 25, 12, 6]
    assert halved(Budget(5), 3) == [5, 2, 1, 1]
    assert halved(Budget(100, least=25), 3) == [100, 50, 25, 25]
    assert Budget(20, least=25).halved(3).iterations == 20
    assert Budget(0, least=25).halved(3).iterations == 0, "a level that does not search"


def test_a_turn_is_what_one_seat_has_done_alone() -> None:
    assert turn_of([], "one") == (0, 0)
    assert turn_of(entries(("one", 100), ("two", 300)), "one") == (0, 0)
    assert turn_of(entries(("two", 100), ("one", 300), ("one", 350)), "one") == (2, 250)
    assert turn_of(entries(("one", 100), ("system", 300), ("one", 350)), "one") == (1, 50)
    assert turn_of(entries(("two", 100), ("one", 300), ("table", 9000), ("one", 9010), ("table", 9999)), "one") == (2, 210)
    assert turn_of(entries(("two", 100), ("one", 90)), "one") == (1, 0), "a clock of another process was behind"


def test_a_turn_is_looked_at_in_a_bounded_number_of_entries() -> None:
    assert turn_of(entries(*[("one", 10 * number) for number in range(200)]), "one") == (WINDOW, 10 * (WINDOW - 1))
    assert turn_of(entries(("one", 1), *[("table", 2)] * WINDOW), "one") == (0, 0)
