"""The report on a dispute tells what artificial players thought around the version, made again from their record."""

from __future__ import annotations

from typing import Any

import pytest

from events.due import REPORT, REPORT_MS, REVIEW_MS, owed
from games import GAMES
from record.example import RAWS
from record.trail import audit_entries
from tests.conftest import ALL_GAMES
from tests.record.thinking.serving import Served
from workers.reviewing import Reviewed


def reviewed(served: Served, version: int, **more: Any) -> list[dict[str, Any]]:
    """Return the decisions around a version of a match."""
    found = Reviewed(ALL_GAMES, version, 2, **more)
    audit_entries(ALL_GAMES, served.raws, served.secret.hex(), watch=found)
    return found.told()


def test_a_decision_of_the_example_is_the_same_when_it_is_made_again() -> None:
    found = Reviewed(GAMES, 4, 4)
    assert audit_entries(GAMES, RAWS, watch=found).ok
    (one,) = found.told()
    assert (one["version"], one["seat"], one["level"], one["again"]) == (3, "blue", "greedy", "same")
    assert Reviewed(GAMES, 9, 4).told() == []


def test_a_search_tells_what_it_considered_and_only_what_is_near_is_looked_into() -> None:
    served = Served("tally", {"one": "strong", "two": "random"})
    served.go_on(12)
    found = reviewed(served, 8)
    assert {one["version"] for one in found} <= {6, 7, 8, 9, 10}
    assert {one["again"] for one in found} == {"same"}
    options = [option for one in found if one["level"] == "strong" for option in one["options"]]
    assert options
    assert all(0 <= option["worth"] <= 1000 and option["tries"] > 0 for option in options)


@pytest.mark.parametrize(("seconds", "again"), [(0.0, "not_run"), (60.0, "differs")])
def test_what_differs_is_told_and_what_there_is_no_time_for_is_not_looked_into(seconds: float, again: str) -> None:
    served = Served("tally", {"one": "greedy", "two": "random"}, options={"target": 1000})
    served.go_on(6)
    found = Reviewed(ALL_GAMES, 6, 4, seconds)

    def cheating(acted: Any) -> None:
        found(acted._replace(seed=acted.seed + 1) if acted.level == "random" else acted)

    audit_entries(ALL_GAMES, served.raws, served.secret.hex(), watch=cheating)
    assert again in {one["again"] for one in found.told()}


@pytest.mark.parametrize(("other", "longer"), [("random", REVIEW_MS), ("me", 0)])
def test_the_lease_of_a_report_is_longer_where_there_are_decisions_to_make_again(other: str, longer: int) -> None:
    served = Served("tally", {"one": "me", "two": other})
    served.go_on(4)
    served.act_at_table("one", {"type": "dispute", "version": 3, "text": "The die."}, served.now.at)
    (work,) = [work for work in owed(served.now) if work.kind == REPORT]
    assert work.lease_ms == REPORT_MS * served.now.version + longer
