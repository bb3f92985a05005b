"""What levels make use of is counted: kinds of action, cards, and moves that are taken back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from games import GAMES
from games.kernel import Event
from players.level import Option
from tools import simulate, use
from tools.simulate import Plan, play


def test_a_decision_counts_what_was_done_and_once_what_was_possible() -> None:
    counted = use.nothing()
    choices: list[Any] = [
        {"action": {"type": "play", "card": "reap", "option": 1, "region": "london"}},
        {"action": {"type": "play", "card": "reap", "option": 1, "region": "wessex"}},
        {"action": {"type": "take", "cards": ["ufo", "reap"]}},
        {"action": {"type": "end_turn"}},
    ]
    use.count_decision(counted, choices, choices[1]["action"])
    use.count_decision(counted, choices, choices[2]["action"])
    assert counted["possible"] == dict.fromkeys(["play", "play reap", "play reap 1", "take", "take ufo", "take reap", "end_turn"], 2)
    assert counted["done"] == dict.fromkeys(["play", "play reap", "play reap 1", "take", "take ufo", "take reap"], 1)


def moved(start: str, goal: str, unit: str = "ufo_1") -> Event:
    return {"type": "unit_moved", "unit": unit, "from": start, "to": goal}


TURN, OTHER = {"type": "turn_started", "seat": "red", "phase": "play"}, {"type": "turn_started", "seat": "blue", "phase": "play"}
SAME, NEXT = "back in the same turn", "back in the next turn"


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([TURN, moved("a", "b"), moved("b", "a")], {"moves": 2, SAME: 1}),
        ([TURN, moved("a", "b"), OTHER, TURN, moved("b", "a")], {"moves": 2, NEXT: 1}),
        ([TURN, moved("a", "b"), OTHER, TURN, OTHER, TURN, moved("b", "a")], {"moves": 2}),
        ([TURN, moved("a", "b"), moved("b", "c"), moved("c", "b"), moved("b", "a")], {"moves": 4, SAME: 2}),
        ([TURN, moved("a", "b"), moved("b", "a"), moved("a", "b")], {"moves": 3, SAME: 2}),
        ([TURN, moved("a", "b"), moved("b", "a", "ufo_2")], {"moves": 2}),
        ([TURN, moved("a", "b"), {"type": "goods_taken", "seat": "red", "from_each": {"b": 2}}, moved("b", "a")], {"moves": 2}),
        ([TURN, moved("a", "b"), {"type": "goods_taken", "seat": "red", "from_each": {"a": 2}}, moved("b", "a")], {"moves": 2, SAME: 1}),
        (
            [TURN, {"type": "made", "from": "a", "to": {"b": 2, "c": 1}}, {"type": "made", "from": "c", "to": {"a": 1}}],
            {"moves": 3, SAME: 1},
        ),
        ([TURN, {"type": "made", "from": "a", "to": {"b": 2}}, {"type": "made", "from": "b", "to": {"a": 1}}], {"moves": 2}),
        ([TURN, {"type": "ransom_offered", "from": "red", "to": "blue", "at": "a"}], {}),
    ],
)
def test_a_move_is_taken_back_if_nothing_happened_where_it_went(events: list[Event], found: dict[str, int]) -> None:
    counted = use.nothing()
    use.Moves(["red", "blue"]).watch("red", events, counted)
    assert counted["moves"] == found


def test_what_another_seat_does_at_the_place_is_a_reason_to_go_back() -> None:
    mine, theirs = use.nothing(), use.nothing()
    moves = use.Moves(["red", "blue"])
    moves.watch("red", [TURN, moved("a", "b"), OTHER], mine)
    moves.watch("blue", [moved("c", "b", "army_1"), TURN], theirs)
    moves.watch("red", [moved("b", "a")], mine)
    assert (mine["moves"], theirs["moves"]) == ({"moves": 2}, {"moves": 1})


def test_what_was_expected_is_compared_with_who_won() -> None:
    """What was judged at first sight, without a try, is no share of a victory."""
    mine, theirs = use.nothing(), use.nothing()
    expected = use.Expected()
    for seat, worth, tries in [("red", 0.95, 3), ("red", 1.0, 1), ("red", 0.3, 2), ("red", 0.5, 0), ("blue", 0.31, 1), ("blue", 0.0, 1)]:
        expected.note(seat, [Option({"type": "pass"}, worth, tries), Option({"type": "stay"}, 0.2, 9)])
    expected.note("red", [])
    expected.count(["blue"], {"red": mine, "blue": theirs})
    assert (mine["expected"], mine["won"]) == ({"0.9": 2, "0.3": 1}, {"0.9": 0, "0.3": 0})
    assert (theirs["expected"], theirs["won"]) == ({"0.3": 1, "0.0": 1}, {"0.3": 1, "0.0": 1})
    found = use.report(GAMES["war"], {"expert": theirs})
    assert found["expert"]["expected"] == {"0.0": {"decisions": 1, "won": 1}, "0.3": {"decisions": 1, "won": 1}}
    assert "expected 0.3 to 0.4 of a victory in 1 decisions, and won 100.0% of them" in use.table(found)


@pytest.mark.soak
def test_a_level_that_searches_is_compared_with_who_won() -> None:
    played = play(Plan("war_of_the_worlds", ("strong", "random"), "expected", {"round_limit": 6}, use=True), 0)
    strong, rival = (played.use[level] for level in ("strong", "random"))
    assert strong["expected"].total() > 20
    assert strong["won"].total() == (strong["expected"].total() if played.winners == [played.seats[0]] else 0)
    assert not rival["expected"]


@pytest.mark.parametrize("game", sorted(GAMES))
def test_matches_are_the_same_with_and_without_counting(game: str) -> None:
    plan = Plan(game, ("random", "random"), "counted", {})
    with_use, without = play(plan._replace(use=True), 0), play(plan, 0)
    assert with_use._replace(use={}) == without
    total = use.added([with_use.use, with_use.use])
    found = use.report(GAMES[game], total)["random"]
    json.dumps(found)
    assert found["decisions"] == sum(row["done"] for row in found["kinds"].values()) > 0
    assert all(row["done"] <= row["possible"] for part in ("kinds", "cards") for row in found[part].values())
    assert sum(row["done"] > 0 for row in found["kinds"].values()) > 2
    assert set(use.known_names(GAMES[game])[1]) <= set(found["cards"])
    text = use.table({"random": found})
    assert "random, " in text
    assert all(f"\n{kind} " in text for kind in found["kinds"])
    assert simulate.table(simulate.summary(plan._replace(use=True), [with_use])).endswith(")")
