"""The levels of War! in order: `strong` beats `greedy`, and a decision follows from the question, the seed and the iterations alone."""

from __future__ import annotations

import random
from functools import cache
from itertools import count

import pytest

from games import GAMES
from games.chance import Drawn
from games.choices import admits
from games.kernel import SYSTEM, Action, Memory, Seat, State, any_action, carry_out, legal
from players import LEVELS, budget_of, choose, question_of
from players.evaluation import outlook_of, value_of
from players.flat import actions, flat
from players.level import Budget, Question, Thought, is_forced
from players.plans import plan_of
from players.searching import search
from players.war.features import phase
from players.war.outlook import phase as turn_phase
from tools.simulate import Plan, course, interval, play

WAR = GAMES["war"]
STEP = 17  # actions from one question of the sample to the next


@cache
def questions(seats: int = 2) -> list[Question]:
    """Return decisions of a match between greedy seats: placement, cards, moves and draws among them."""
    number = random.Random(5).randrange
    state = WAR.begin(list(WAR.seats.ids[:seats]), {})
    found: list[Question] = []
    for step in range(7 * STEP):
        actor = state["to_act"][0]
        if actor == SYSTEM:
            action = legal(WAR, state, SYSTEM)[0]["action"]
        else:
            action = choose(WAR, "greedy", state, actor, Drawn(number))
            question = question_of(WAR, state, actor)
            if step % STEP == 5 and len(question.choices) > 1:
                found.append(question)
        state = carry_out(WAR, state, actor, action, Drawn(number)).state
    return found


@cache
def late_questions() -> list[Question]:
    """Return decisions between several actions from the last turns of a match at first sight."""
    number = random.Random(5).randrange
    found: list[Question] = []

    def decide(state: State, seat: Seat, memory: Memory) -> Action:
        question = question_of(WAR, state, seat, memory)
        if len(state["deck"]) + len(state["row"]) <= 4 and not is_forced(question.choices):
            found.append(question)
        return LEVELS["strong"](question, budget_of(question, "strong"), Drawn(number)).action

    for _ in course(WAR, WAR.begin(["red", "blue"], {}), decide, Drawn(number)):
        pass
    return found


def thought(question: Question, level: str, seed: int, most: int = 16) -> Thought:
    """Return what a level thinks of a question, interrupted after so many iterations."""
    return LEVELS[level](question, budget_of(question, level, lambda spent: spent < most), Drawn(random.Random(seed).randrange))


@pytest.mark.parametrize(
    ("level", "seats"),
    [("expert", 2), *(pytest.param(*other, marks=pytest.mark.soak) for other in (("strong", 2), ("strong", 4), ("expert", 4)))],
)
def test_a_decision_follows_from_question_and_seed(seats: int, level: str) -> None:
    asked = questions(seats)
    assert len(asked) > 4
    for question in asked:
        found = thought(question, level, 1)
        assert found == thought(question, level, 1)
        assert any(admits(choice, found.action) for choice in question.choices)
        assert found.options[0].action == found.action
        assert all(0 <= option.worth <= 1 for option in found.options)
        assert sum(option.tries for option in found.options) <= found.spent


def played_on(question: Question, most: int, iterations: int = 48) -> Thought:
    """Return what the method thinks of a question if it plays several candidates on, interrupted after so many iterations."""
    plan = plan_of("war", "expert", 2)
    assert plan is not None
    plan = plan._replace(settings={**plan.settings, "gap": 1.0, "moves": 8})
    budget = Budget(iterations, lambda spent: spent < most)
    return flat(question, budget, Drawn(random.Random(2).randrange), plan, value_of(WAR, 2))


def test_an_interrupted_search_answers_with_its_best_so_far() -> None:
    for question in questions()[::3]:
        whole = played_on(question, 1000)
        assert 0 < whole.spent <= 48
        assert sum(option.tries for option in whole.options) == whole.spent
        for most in (0, 1, 5, whole.spent):
            found = played_on(question, most)
            assert found.spent == most
            assert found == played_on(question, found.spent)


def test_an_action_that_was_not_played_on_is_never_taken_for_one_that_was() -> None:
    for question in questions():
        found = played_on(question, 1000)
        assert found.options[0].tries == max(option.tries for option in found.options)


def test_an_action_without_an_alternative_is_appraised_where_the_next_turn_begins() -> None:
    for question in questions()[::2]:
        choice = {"action": played_on(question, 0).action}
        appraised = search("strong", always=True)(question._replace(choices=[choice]), Budget(6), Drawn(random.Random(1).randrange))
        assert (appraised.spent, len(appraised.options), appraised.options[0].tries) == (6, 1, 6)


def judged(question: Question, monkeypatch: pytest.MonkeyPatch, **settings: object) -> tuple[list[State], Thought]:
    """Return the positions that an outlook judges when candidates are played on with other settings, and what is thought."""
    plan = plan_of("war", "expert", 2)
    assert plan is not None
    found: list[State] = []

    def value(state: State, seat: Seat) -> float:
        found.append({**state})
        return 0.5

    with monkeypatch.context() as other:
        other.setattr("players.flat.outlook_of", lambda game, weights: outlook_of(game, weights)._replace(value=value))
        changed = plan._replace(settings={**plan.settings, "gap": 1.0, **settings})
        thought = flat(question, Budget(24), Drawn(random.Random(3).randrange), changed, value_of(WAR, 2))
    return found, thought


def test_candidates_are_judged_where_so_many_further_turns_have_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    for question in questions()[::2]:
        rival = next(seat for seat in question.view["seats"] if seat != question.seat)
        one, two = (judged(question, monkeypatch, turns=turns, played_out=[])[0] for turns in (1, 2))
        if question.view["phase"] != "placement":  # after which the first seat begins, whoever placed last
            assert {state["active"] for state in one} == {rival}
            assert {state["active"] for state in two} == {question.seat}
        assert min(state["round"] for state in two) >= max(state["round"] for state in one)
        assert max(state["turn"]["moves"] for state in [*one, *two]) == 0


def test_in_the_last_turns_candidates_are_played_to_the_end_of_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    question = next(asked for asked in reversed(late_questions()) if asked.view["final_turns"] is None)
    left = turn_phase({**question.view, "deck": [""] * question.view["deck"]})
    assert left == "to 4 turns"
    found, thought = judged(question, monkeypatch, turns=1, played_out=[left])
    assert found == []
    assert {round(option.worth * option.tries, 9) % 0.5 for option in thought.options if option.tries} == {0.0}, "victories and defeats"
    assert judged(question, monkeypatch, turns=1, played_out=["2 turns"])[0]


@pytest.mark.parametrize("seats", [pytest.param(2, marks=pytest.mark.soak), 3])
def test_expert_plays_on_wherever_it_can_judge_the_end(seats: int) -> None:
    number = random.Random(5).randrange
    state = WAR.begin(list(WAR.seats.ids[:seats]), {})
    spent: dict[str, set[bool]] = {"early": set(), "late": set(), "final": set()}
    for step in count():
        if state["outcome"] is not None:
            break
        actor = state["to_act"][0]
        question = question_of(WAR, state, actor) if actor != SYSTEM else None
        if question is not None and len(question.choices) > 1 and (step % 4 == 0 or phase(state) == "final"):
            spent[phase(state)].add(thought(question, "expert", 1).spent > 0)
        action = choose(WAR, "greedy", state, actor, Drawn(number)) if question is not None else legal(WAR, state, SYSTEM)[0]["action"]
        state = carry_out(WAR, state, actor, action, Drawn(number)).state
    assert True in spent["final"]
    assert (True in spent["early"], True in spent["late"]) == (seats == 2, seats == 2)


def test_listed_actions_are_legal_different_and_not_too_many() -> None:
    number = random.Random(8).randrange
    state = WAR.begin(["red", "blue"], {})
    for _ in range(150):
        actor = state["to_act"][0]
        for choice in legal(WAR, state, actor):
            listed = list(actions(choice, 7, Drawn(number)))
            assert 0 < len(listed) <= 7
            assert all(admits(choice, action) for action in listed)
            assert all(action not in listed[:place] for place, action in enumerate(listed))
        action = any_action(WAR, state, actor, number)
        assert action is not None
        state = carry_out(WAR, state, actor, action, Drawn(number)).state
        if state["outcome"] is not None:
            break


def wins(levels: tuple[str, ...], matches: int, seed: str) -> int:
    """Return how many of some matches, with seats drawn, are won by the first level."""
    plan = Plan("war", levels, seed, {}, shuffle=True)
    return sum(result.seats[0] in result.winners for result in (play(plan, number) for number in range(matches)))


def test_strong_beats_greedy_in_a_few_matches() -> None:
    assert wins(("strong", "greedy"), 4, "short") >= 2


@pytest.mark.soak
def test_strong_beats_greedy() -> None:
    assert interval(wins(("strong", "greedy"), 400, "ladder"), 400)[0] >= 0.75


@pytest.mark.soak
def test_strong_holds_its_own_against_three_greedy_seats() -> None:
    assert wins(("strong", "greedy", "greedy", "greedy"), 200, "ladder") >= 0.45 * 200


@pytest.mark.soak
def test_expert_beats_strong() -> None:
    assert wins(("expert", "strong"), 100, "ladder") >= 0.6 * 100
