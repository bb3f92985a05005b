"""What a match that is over counts as for the player of a seat (TBL-RES-03)."""

from __future__ import annotations

from typing import Any

import pytest

from table.results import RESULTS, places_of, results_of
from table.state import BLANK

WIN: dict[str, Any] = {"winners": ["red"], "reason": "last_seat", "scores": {}}
VOID: dict[str, Any] = {"winners": [], "reason": "void", "scores": {}}
DRAW: dict[str, Any] = {"winners": ["red", "blue"], "reason": "draw", "scores": {}}
SHARED: dict[str, Any] = {"winners": ["red", "blue"], "reason": "crystals", "scores": {}}


@pytest.mark.parametrize(
    ("outcome", "changes", "red", "blue"),
    [
        (WIN, {}, ("over", "won"), ("over",)),
        (SHARED, {}, ("over", "won"), ("over", "won")),
        (DRAW, {}, ("drawn",), ("drawn",)),
        (VOID, {}, ("void",), ("void",)),
        ({**VOID, "reason": "ruling"}, {}, ("void",), ("void",)),
        ({**WIN, "reason": "ruling"}, {}, ("over", "won"), ("over",)),
        (WIN, {"substitutes": {"red": "expert"}, "held": {"red": "end"}}, ("over", "stood_in"), ("over",)),
        (WIN, {"substitutes": {"red": "expert"}}, ("over", "stood_in"), ("over",)),
        (WIN, {"substitutes": {"blue": "expert"}}, ("over", "won"), ("over",)),
        (WIN, {"overruled": {"dispute": 1, "remedy": "void"}}, ("void",), ("void",)),
        (WIN, {"overruled": {"dispute": 1, "remedy": "forfeit", "seat": "red"}}, ("over",), ("over",)),
        (WIN, {"overruled": {"dispute": 1, "remedy": "forfeit", "seat": "blue"}}, ("over", "won"), ("over",)),
        (WIN, {"practice": True}, (), ()),
    ],
)
def test_what_somebody_else_has_won_or_nobody_has_is_counted_apart(
    outcome: dict[str, Any], changes: dict[str, Any], red: tuple[str, ...], blue: tuple[str, ...]
) -> None:
    table: Any = {**BLANK, **changes}
    assert (results_of(table, outcome, "red"), results_of(table, outcome, "blue")) == (red, blue)
    assert {*red, *blue} <= set(RESULTS)


@pytest.mark.parametrize(
    ("outcome", "changes", "red", "blue"),
    [
        (WIN, {}, 1, 2),
        (SHARED, {}, 1, 1),
        (DRAW, {}, 1, 1),
        (WIN, {"substitutes": {"red": "expert"}}, 3, 2),  # who has left comes after who has stayed
        (WIN, {"substitutes": {"blue": "expert"}}, 1, 3),
        (WIN, {"overruled": {"dispute": 1, "remedy": "forfeit", "seat": "red"}}, 3, 2),
        (WIN, {"overruled": {"dispute": 1, "remedy": "forfeit", "seat": "blue"}}, 1, 3),
        (VOID, {}, None, None),
        ({**VOID, "reason": "ruling"}, {}, None, None),
        ({**WIN, "reason": "ruling"}, {}, 1, 2),
        (WIN, {"overruled": {"dispute": 1, "remedy": "void"}}, None, None),
    ],
)
def test_ratings_count_places(outcome: dict[str, Any], changes: dict[str, Any], red: int | None, blue: int | None) -> None:
    table: Any = {**BLANK, "roster": {"red": {}, "blue": {}}, **changes}
    places = places_of(table, outcome)
    assert (places.get("red"), places.get("blue")) == (red, blue)
