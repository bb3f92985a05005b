"""The levels that search: the same question and seed give the same answer, everywhere, interrupted or not, in bounded memory."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from games import GAMES
from games.chance import Chance, Drawn
from games.choices import admits
from games.kernel import SYSTEM, Game, carry_out, legal
from players import LEVELS, budget_of, choose, flat, plans, question_of
from players.evaluation import features_of, share_of, value_of
from players.level import Budget, Question, Thought
from players.luck import split_mix
from players.plans import plan_of, weights_of
from players.searching import METHODS, search
from players.tree import tree
from players.turns import Node, Turns
from tests.conftest import ALL_GAMES
from tests.tally import TALLY

SEARCHING = ("strong", "expert")
BY_TURNS = [GAMES["war_of_civilizations"], GAMES["war_of_the_worlds"]]


def drawn(seed: Any) -> Drawn:
    """Return chance as the service makes it: numbers that follow from `random()` alone."""
    source = random.Random(seed).random
    return Drawn(lambda below: int(source() * below))


def question(game: Game, seed: int) -> Question:
    """Return a question with several choices from the middle of a greedy match."""
    steps = 4 if game is TALLY else 40
    chance = drawn(seed)
    state = game.begin(list(game.seats.ids[: game.seats.least]), {})
    for step in range(400):
        actor = state["to_act"][0]
        if actor != SYSTEM and step >= steps and len(legal(game, state, actor)) > 2:
            return question_of(game, state, actor)
        action = legal(game, state, actor)[0]["action"] if actor == SYSTEM else choose(game, "greedy", state, actor, chance)
        state = carry_out(game, state, actor, action, chance).state
    raise AssertionError("the match has no such position")


def thought(asked: Question, level: str, most: int = 8, seed: Any = 4) -> Thought:
    return LEVELS[level](asked, budget_of(asked, level, lambda spent: spent < most), drawn(seed))


@pytest.mark.parametrize("level", SEARCHING)
@pytest.mark.parametrize("game", ALL_GAMES.values(), ids=list(ALL_GAMES))
def test_every_game_has_a_plan_of_a_known_method_for_each_number_of_seats(game: Game, level: str) -> None:
    for seats in range(game.seats.least, game.seats.most + 1):
        plan = plan_of(game.id, level, seats)
        assert plan is not None
        assert plan.method in METHODS
        assert plan.iterations > 0
        assert weights_of(game.id, seats) is not None


@pytest.mark.parametrize("game", ALL_GAMES.values(), ids=list(ALL_GAMES))
def test_weights_name_features_and_phases_that_exist(game: Game) -> None:
    for seats in range(game.seats.least, game.seats.most + 1):
        for level in SEARCHING:
            for seat in game.seats.ids:
                item = weights_of(game.id, seats, level, seat)
                assert item is not None
                assert list(item["weights"]) == item["phases"]
                for row in item["weights"].values():
                    assert set(row) <= set(features_of(game).names)


def test_a_level_and_a_seat_may_have_weights_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    general, own = {"seats": [2]}, {"seats": [2], "levels": ["expert"], "sides": ["one"]}
    monkeypatch.setattr(plans, "_data", lambda game: {"worth": [own, general]})
    assert weights_of("any", 2) is weights_of("any", 2, "strong", "one") is weights_of("any", 2, "expert", "two") is general
    assert weights_of("any", 2, "expert", "one") is own
    assert weights_of("any", 3, "expert", "one") is None


@pytest.mark.parametrize("game", ALL_GAMES.values(), ids=list(ALL_GAMES))
def test_the_same_seed_gives_the_same_thought_and_a_stop_changes_nothing_but_its_length(game: Game) -> None:
    asked = question(game, 1)
    once = thought(asked, "strong")
    assert once == thought(asked, "strong")
    assert any(admits(choice, once.action) for choice in asked.choices)
    assert once.spent <= 8, "a method may also decide at first sight, with none"
    plan = plan_of(game.id, "strong", len(asked.view["seats"]))
    assert plan is not None
    again = LEVELS["strong"](asked, Budget(plan.iterations, lambda spent: spent < once.spent), drawn(4))
    assert again == once


@pytest.mark.parametrize("game", ALL_GAMES.values(), ids=list(ALL_GAMES))
def test_a_thought_orders_what_it_compared(game: Game) -> None:
    found = thought(question(game, 2), "expert")
    assert found.options[0].action == found.action
    assert all(0.0 <= option.worth <= 1.0 and option.tries >= 0 for option in found.options)
    assert len({repr(option.action) for option in found.options}) == len(found.options) > 1


def test_a_search_that_is_stopped_at_once_still_answers() -> None:
    asked = question(TALLY, 3)
    found = LEVELS["strong"](asked, Budget(100, lambda spent: False), drawn(1))
    assert any(admits(choice, found.action) for choice in asked.choices)
    assert found.spent == 1


@pytest.mark.parametrize("game", [TALLY, GAMES["war_of_the_worlds"]], ids=repr)
def test_a_tree_holds_no_more_nodes_than_it_may(game: Game) -> None:
    asked = question(game, 5)
    plan = plan_of("default", "strong", 2)
    assert plan is not None
    value = value_of(game, 2)
    free = METHODS["tree"](asked, Budget(40), drawn(1), plan, value)
    bound = METHODS["tree"](asked, Budget(40), drawn(1), plan._replace(settings={**plan.settings, "nodes": 3}), value)
    assert free.nodes > bound.nodes == 3
    assert bound.spent == free.spent == 40


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("game", BY_TURNS, ids=repr)
def test_the_end_of_a_turn_is_judged_by_the_outlook_of_the_other_seat_and_the_next_turn_by_the_own_one(game: Game, sign: int) -> None:
    """The outlook here is all but one number for every beginning of a turn, so that a value shows which seat it was judged for."""
    asked = question(game, 2)
    plan = plan_of(game.id, "expert", 2)
    assert plan is not None
    assert plan.outlook is not None
    figure = "turn" if game.id == "war_of_civilizations" else "aliens"
    outlook = {phase: {**dict.fromkeys(row, 1e-6), figure: 0.5 * sign} for phase, row in plan.outlook.items()}
    mover = [0.5 + 0.5 * share for share in (0.5 / 1.25**0.5, -0.5 / 1.25**0.5)][sign < 0]
    seats = [asked.seat, next(seat for seat in asked.view["seats"] if seat != asked.seat)]
    own, other = (mover if game.id == "war_of_civilizations" or seat == "aliens" else 1 - mover for seat in seats)
    ends = plan._replace(outlook=outlook, settings={**plan.settings, "replies": 0})
    ended = METHODS["turns"](asked, Budget(400), drawn(1), ends, value_of(game, 2))
    assert ended.options[0].worth == pytest.approx(1 - other, abs=1e-3)
    replies = plan._replace(outlook=outlook, settings={**plan.settings, "beam": 75, "replies": 4, "each": 1, "rounds": 2, "ahead": 1})
    replied = METHODS["turns"](asked, Budget(400), drawn(1), replies, value_of(game, 2))
    assert replied.options[0].worth == pytest.approx(own, abs=1e-3)
    assert replied.spent > 10


def test_a_beam_goes_on_as_long_as_the_turn_and_each_action_is_a_stage_of_it() -> None:
    asked = question(TALLY, 3)
    plan = plan_of("default", "strong", 2)
    beam = plan_of("war_of_the_worlds", "expert", 2)
    assert plan is not None
    assert beam is not None
    found = []
    for width in (1000, 1):
        settings = {**beam.settings, "samples": 6, "replies": 0, "rest": width}
        found.append(METHODS["turns"](asked, Budget(10_000), drawn(1), plan._replace(settings=settings), value_of(TALLY, 2)))
    wide, narrow = found
    assert wide.nodes > narrow.nodes
    assert wide.options[0].worth >= narrow.options[0].worth


def test_an_action_whose_counts_are_drawn_in_another_order_is_the_same_action_of_a_tree() -> None:
    game = GAMES["war"]
    plan = plan_of("any", "strong", 2)
    assert plan is not None
    assert plan.method == "tree"
    for seed in range(2):
        found = tree(question(game, seed), Budget(100), drawn(1), plan, value_of(game, 2)).options
        assert len({json.dumps(option.action, sort_keys=True) for option in found}) == len(found)


@pytest.mark.parametrize("game", BY_TURNS, ids=lambda game: game.id)
def test_an_action_that_is_appraised_alone_is_played_on_through_replies(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the actions are that a level compares: an analysis appraises by what the level decides by."""
    level = "strong" if game.id == "war_of_civilizations" else "expert"
    asked = question(game, 2)
    played_on: list[Node] = []
    replied = Turns.replied

    def watched(self: Turns, node: Node, chance: Chance) -> float:
        played_on.append(node)
        return replied(self, node, chance)

    monkeypatch.setattr(Turns, "replied", watched)
    one = asked._replace(choices=[choice for choice in asked.choices if "choose" not in choice][:1])
    search(level, always=True)(one, Budget(2 * budget_of(asked, level).iterations), drawn(1))
    assert played_on


def test_what_is_guessed_in_a_playout_says_nothing_of_its_dice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds n apart give the same numbers n draws later."""
    seeds: list[int] = []

    def noted(seed: int) -> Callable[[int], int]:
        seeds.append(seed)
        return split_mix(seed)

    monkeypatch.setattr(flat, "split_mix", noted)
    thought(question(GAMES["war"], 1), "expert", most=40)
    assert len(seeds) > 20
    for guess, dice in zip(seeds[::2], seeds[1::2], strict=True):
        assert abs(guess - dice) > 2**32


def test_a_forced_decision_takes_no_thought() -> None:
    asked = question(TALLY, 6)
    only = asked._replace(choices=[{"action": {"type": "roll"}}])
    assert LEVELS["expert"](only, Budget(100), drawn(1)) == Thought({"type": "roll"})


def test_shares_of_all_seats_are_even_at_nothing_and_grow_with_the_sum() -> None:
    assert share_of(-1, 1) < share_of(0, 1) < share_of(1, 1), "a seat alone has better and worse positions, too"
    assert [share_of(0.0, seats) for seats in (2, 4)] == [0.5, 0.25]
    assert [share_of(total, 2) for total in (-9.0, -1.0, 1.0, 9.0)] == sorted(share_of(total, 2) for total in (-9.0, -1.0, 1.0, 9.0))
    assert share_of(-3.0, 2) == pytest.approx(1 - share_of(3.0, 2))


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_an_ended_match_is_worth_its_share_of_the_victory(game: Game) -> None:
    state = game.begin(list(game.seats.ids[:2]), {})
    one, two = state["seats"]
    value = value_of(game, 2)
    over = {**state, "outcome": {"winners": [one], "reason": "resigned", "scores": {one: 0, two: 0}}}
    assert [value(over, seat) for seat in (one, two)] == [1.0, 0.0]
    shared = {**state, "outcome": {"winners": [one, two], "reason": "resigned", "scores": {one: 0, two: 0}}}
    assert [value(shared, seat) for seat in (one, two)] == [0.5, 0.5]
