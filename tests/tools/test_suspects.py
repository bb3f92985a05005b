"""`./run suspects`: planted players who know too much are found, honest ones are not, and dice that were loaded are noticed."""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from games import GAMES
from games.chance import Drawn
from games.kernel import SYSTEM, Action, Branch, State, legal
from players.greedy import completions
from tests.archive.recording import Recorded
from tests.archive.writing import write_archive
from tests.tools import power
from tests.tools.seers import HONEST, SEER, played
from tools import suspects
from tools.records import BadRecord, Record
from tools.significance import chi_square_tail, corrected, sum_tail
from tools.suspects import DICE, DICE_AHEAD, DRAWS, SIGHT, Group, about_draws, about_play, alternatives, scored, watch

FEW = 10


@pytest.mark.soak
def test_one_who_knows_the_dice_is_found_and_the_opponent_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (tmp_path / "planted.xz").open("wb") as file:
        write_archive(file, (played("war", seed, DICE_AHEAD) for seed in range(FEW)))
    assert suspects.main([str(tmp_path), "--json", "--cores", "1"]) == 1
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {answer["who"] for answer in found if answer["suspicious"]} == {SEER}
    assert found[0]["question"] == DICE_AHEAD
    assert found[0]["value"] > 3
    assert {(answer["who"], answer["question"]) for answer in found} >= {(HONEST, DICE_AHEAD), ("system", DRAWS)}


def test_what_cannot_be_looked_into_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = played("war", 1)
    wrong = record._replace(raws=[raw.replace(b'"at":', b'"at":1') for raw in record.raws])
    with pytest.raises(BadRecord, match="fails an audit"):
        watch(GAMES, wrong)
    (tmp_path / "wrong.json").write_bytes(b"\n".join(wrong.raws))
    (tmp_path / "running.json").write_bytes(b"\n".join(record.raws[:9]))
    assert suspects.main([str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert told.err.splitlines()[0] == f"Left out: The secret of {record.match} is not known."
    assert told.err.splitlines()[1].startswith(f"Left out: {record.match} fails an audit (")
    assert told.out.startswith("2 matches, 2 left out; 0 questions, 0 suspicious answers.\n")


def test_matches_with_dice_that_everybody_knows_are_left_out() -> None:
    asked = {"game": "war", "seats": {"red": "me", "blue": "me"}, "options": {}, "dice": "0a" * 32}
    match = Recorded(GAMES["war"], random.Random(1), {"type": "create_match", **asked})
    match.act_at_table("red", {"type": "resign"}, match.now.at)
    with pytest.raises(BadRecord, match="Everybody knows the dice"):
        watch(GAMES, match.record())


@pytest.mark.parametrize(
    ("below", "loaded", "found"),
    [
        (6, lambda will: will.randrange(6), False),
        (6, lambda will: min(will.randrange(6), will.randrange(7)), True),
        (20, lambda will: will.randrange(20), False),
        (20, lambda will: max(will.randrange(20), will.randrange(20)), True),
        (7, lambda will: will.randrange(7), False),
        (7, lambda will: 3, True),
        (1_000_000, lambda will: will.randrange(1_000_000), False),
        (1_000_000, lambda will: will.randrange(900_000), True),
    ],
)
def test_loaded_dice_are_noticed(below: int, loaded: object, found: bool) -> None:
    assert callable(loaded)
    will = random.Random(7)
    (answer,) = about_draws("war", "p", {Group("attack", 0, below): [loaded(will) for _ in range(600)], Group("move", 1, 2): [1] * 9})
    assert (answer.number, answer.freedom) == (600, min(below, 10) - 1)
    assert (answer.probability < 0.001) is found
    assert list(about_draws("war", "p", {Group("move", 1, 2): [1] * 9})) == []


@pytest.mark.parametrize("seed", range(20))
def test_scores_are_nothing_on_average_if_every_future_is_as_likely(seed: int) -> None:
    """That is all that the null hypothesis needs: a score does not depend on which future is the true one, and they add up to 0."""
    will = random.Random(seed)
    futures = [[will.choice([0.0, 0.2, will.random()]) for _ in range(4)] for _ in range(6)]
    for lucky in suspects.LUCKY.values():
        (scores,) = scored(futures, lucky)
        assert math.fsum(scores) == pytest.approx(0, abs=1e-12)
        order = will.sample(range(6), 6)
        assert scored([futures[place] for place in order], lucky) == [pytest.approx([scores[place] for place in order])]


def test_a_choice_that_is_the_best_anyway_tells_only_by_how_well_it_turns_out() -> None:
    assert scored([[2.0, 0.0], [4.0, 0.0]]) == []
    assert scored([[2.0, 0.0], [4.0, 0.0]], lucky=0.3) == [pytest.approx([-0.3, 0.3])]


def decision(phase: str) -> suspects.Decision:
    """Return a decision of War! in a phase, after play in which nobody decided, with the lowest counts of each choice."""
    game, chance = GAMES["war"], Drawn(random.Random(1).randrange)
    branch = Branch(game, game.begin(["red", "blue"], {}), chance)
    while branch.state["phase"] != phase:
        actor = branch.state["to_act"][0]
        branch.play(actor, {"type": "advance"} if actor == SYSTEM else game.default(branch.state, actor))
    seat = branch.state["to_act"][0]
    actions = [action for choice in legal(game, branch.state, seat) for action in completions(choice, 2, chance)]
    return suspects.Decision(game, branch.state, {}, seat, 5, actions, lambda version: random.Random(version).randrange)


def tells(decision: suspects.Decision, question: str) -> bool:
    """Return True if a decision is scored for a question."""
    chance = Drawn(random.Random(2).randrange)
    return bool(suspects.scores_of([decision], chance, 1.0, (question,))[question])


def test_dice_are_a_question_where_they_fall_at_once_or_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """An action that leads to no draw is tried once, and not with all other throws."""
    moves = decision("moves")
    attacks = [action for action in moves.actions if action["type"] == "move" and leads_to_dice(moves, action)]
    quiet = [action for action in moves.actions if not leads_to_dice(moves, action)]
    assert attacks
    assert len(quiet) > 3
    tried: list[Action] = []
    played = suspects.state_after

    def counted(*given: Any) -> State:
        tried.append(given[1])
        return played(*given)

    monkeypatch.setattr(suspects, "state_after", counted)
    assert not tells(moves._replace(actions=quiet[:4]), DICE_AHEAD)
    assert len(tried) == 1 + 4
    assert not tells(moves._replace(actions=[*attacks, *quiet]), DICE)
    tried.clear()
    assert tells(moves._replace(actions=[attacks[0], quiet[0]]), DICE_AHEAD)
    assert (tried.count(attacks[0]), tried.count(quiet[0])) == (1 + 1 + suspects.OTHERS[DICE_AHEAD], 1)


def leads_to_dice(moves: suspects.Decision, action: Action) -> bool:
    """Return True if dice fall soon after an action of a decision."""
    return suspects._leads_to_draws(moves._replace(actions=[action]), Drawn(random.Random(3).randrange))


def test_decisions_that_show_hidden_cards_come_first() -> None:
    chance = Drawn(random.Random(1).randrange)
    draw, placement = decision("draw"), decision("placement")
    assert suspects._first([placement, draw], lambda one: suspects._shows(one, chance)) == [draw, placement]


def test_of_many_matches_fewer_decisions_are_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suspects, "game_of", lambda record: record.match)
    many, few = Record("war", [], None), Record("war_of_the_worlds", [], None)
    assert suspects.shares_for([many] * 100 + [few] * 20) == [0.5] * 100 + [1.0] * 20


def test_play_is_judged_by_what_could_have_been() -> None:
    decision = [3.0, *[-1 / 3] * 9]  # the true future is the only one of ten that fits
    assert list(about_play("war", "p", SIGHT, [[decision]] * 2)) == []
    (found,) = about_play("war", "p", SIGHT, [[decision]] * 3)
    assert (found.number, found.freedom, found.effect) == (3, 3, 3.0)
    assert found.probability == pytest.approx(0.001, rel=0.1)  # all three of three: 1 in 10 each
    (honest,) = about_play("war", "p", SIGHT, [[decision]] + [[sorted(decision)]] * 9)
    assert honest.probability == pytest.approx(1 - 0.9**10, rel=0.1)


def test_decisions_that_go_together_count_less() -> None:
    """In a match of ten decisions that are all good or all bad there is hardly more than one."""
    good, bad = [1.0, -1.0], [-1.0, 1.0]
    together = [[good] * 10] * 12 + [[bad] * 10] * 4
    apart = [[good] * 7 + [bad] * 3] * 8 + [[good] * 8 + [bad] * 2] * 8
    (dependent,) = about_play("war", "p", SIGHT, together)
    (independent,) = about_play("war", "p", SIGHT, apart)
    assert (dependent.effect, independent.effect) == (0.5, 0.5)
    assert independent.probability < 1e-8
    assert 0.001 < dependent.probability < 0.05


def test_a_line_says_how_strong_the_evidence_can_be() -> None:
    (question,) = {name for game, name in suspects.EFFECTS if game == "war" and name == DICE_AHEAD}
    (few,) = about_play("war", "p", question, [[[1.0, -1.0]], [[-1.0, 1.0]]] * 3)
    (many,) = about_play("war", "p", question, [[[1.0, -1.0]], [[-1.0, 1.0]]] * 30)
    assert "one who always knows would be named with" in suspects.as_text(few, 11)
    assert "one who always knows would be named with 100%" in suspects.as_text(many, 11)
    rising = [suspects.power(0.5, matches, 11) for matches in (5, 14, 50, 200)]
    assert all(less < more for less, more in pairwise(rising))


def test_alternatives_are_of_different_types() -> None:
    game, chance = GAMES["war_of_the_worlds"], Drawn(random.Random(1).randrange)
    branch = Branch(game, game.begin(["aliens", "humans"], {}), chance)
    branch.play("system", {"type": "advance"})
    chosen = {"type": "end_turn"}
    found = alternatives(game, branch.state, "aliens", chosen, chance)
    types = {choice["action"]["type"] for choice in legal(game, branch.state, "aliens")} - {"end_turn"}
    assert {action["type"] for action in found[: len(types)]} == types
    assert chosen not in found


@pytest.mark.parametrize(
    ("tail_of", "value", "freedom", "tail"),
    [
        (chi_square_tail, 3.841459, 1, 0.05),
        (chi_square_tail, 5.991465, 2, 0.05),
        (chi_square_tail, 7.814728, 3, 0.05),
        (chi_square_tail, 24.99579, 15, 0.05),
        (chi_square_tail, 124.3421, 100, 0.05),
        (chi_square_tail, 0, 3, 1),
        (chi_square_tail, 359.906, 300, 0.01),
    ],
)
def test_tails_of_distributions(tail_of: Callable[[float, int], float], value: float, freedom: int, tail: float) -> None:
    """Values of printed tables."""
    assert tail_of(value, freedom) == pytest.approx(tail, rel=1e-4)


def test_the_approximation_goes_on_where_the_sum_ends() -> None:
    for value in (250.0, 300.0, 340.0, 400.0):
        below, beyond = chi_square_tail(value, 300), chi_square_tail(value, 302)
        assert below < chi_square_tail(value, 301) < beyond
        assert math.isclose(chi_square_tail(value, 301), (below + beyond) / 2, rel_tol=0.02, abs_tol=1e-6)


@pytest.mark.parametrize(("coins", "heads"), [(5, 5), (10, 9), (40, 20), (40, 30), (200, 150)])
def test_tails_of_sums(coins: int, heads: int) -> None:
    exact = sum(math.comb(coins, number) for number in range(heads, coins + 1)) / 2**coins
    assert sum_tail([[-1.0, 1.0]] * coins, 2 * heads - coins) == pytest.approx(exact, rel=0.15)


def test_many_tests_are_corrected() -> None:
    assert corrected([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert corrected([0.5, 0.9]) == [1.0, 1.0]
    assert corrected([]) == []


@pytest.mark.soak
@pytest.mark.parametrize("game", GAMES)
def test_planted_players_are_found_and_honest_ones_are_not(game: str) -> None:
    """It prints the table of docs/auditing.md."""
    found = list(power.measure(game, 60, os.cpu_count() or 1))
    print("", power.head(), *map(power.row, found), sep="\n")  # noqa: T201
    for one in found:
        effects = suspects.EFFECTS.get((one.game, one.question))
        if effects is not None:
            assert one.effect == pytest.approx(effects[power.SHARES.index(one.share)], abs=0.5)
    for size in (14, 50):
        named, low = power.alarms(found, size)
        print(f"{size} honest matches: {named:.1%} of sets name anybody, {low:.1%} of answers have p <= 0.01")  # noqa: T201
        assert named <= 0.01
