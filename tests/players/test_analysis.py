"""Analysis: a decision is judged by what its seat knew, and a match is summed up as its judgements say."""

from __future__ import annotations

import random
from functools import partial

import pytest

from games import GAMES
from games.chance import Chance, Drawn
from games.kernel import Action
from players.analysis import Judged, Judgement, judge, summary
from players.level import Budget, Option, Question, Thought
from record.decisions import decisions
from record.thinking.judging import judged
from tests.archive.recording import recorded
from tests.tally import TALLY

ADD: Action = {"type": "add", "by": 3, "stay": True}
ROLL: Action = {"type": "roll"}


class Scripted:
    """A level that gives worths to complete actions: others if there is only one. It remembers what it was asked, and how."""

    def __init__(self, many: dict[str, float], alone: dict[str, float]) -> None:
        self.many = many
        self.alone = alone
        self.asked: list[tuple[list[Action], int, int]] = []

    def __call__(self, question: Question, budget: Budget, chance: Chance) -> Thought:
        actions = [choice["action"] for choice in question.choices if "choose" not in choice]
        self.asked.append((actions, budget.iterations, chance.number(1000)))
        worths = self.alone if len(question.choices) == 1 else self.many
        options = sorted((Option(action, worths[action["type"]], 5) for action in actions), key=lambda option: -option.worth)
        return Thought(options[0].action, budget.iterations, 1, tuple(options))

    def judge(self, action: Action) -> Judgement:
        return judge(question(), action, 7, self, self, lambda: Drawn(random.Random(1).randrange))


def question() -> Question:
    """Return a question with a complete choice and two open ones, of which the level above thinks only if they are added."""
    choices = [{"action": ROLL}, {"action": {"type": "add", "stay": False}, "choose": {"by": [1, 3]}}]
    return Question(TALLY, {"seats": ["one", "two"]}, [*choices, {**choices[1], "action": {"type": "add", "stay": True}}], "one", {})


def test_what_was_done_and_what_is_better_are_appraised_alone_with_the_same_luck() -> None:
    level = Scripted({"roll": 0.9, "add": 0.2}, {"roll": 0.6, "add": 0.5})
    assert level.judge(ADD) == Judgement(ROLL, 0.6, 0.5, 35)
    assert [asked[:2] for asked in level.asked] == [([ROLL, ADD], 7), ([ADD], 14), ([ROLL], 14)]
    assert len({luck for _, _, luck in level.asked}) == 1


def test_what_the_level_would_do_too_loses_nothing() -> None:
    level = Scripted({"roll": 0.9, "add": 0.2}, {"roll": 0.6})
    assert level.judge(ROLL) == Judgement(ROLL, 0.6, 0.6, 21)
    assert [asked[:2] for asked in level.asked] == [([ROLL], 7), ([ROLL], 14)]


def test_what_proves_better_when_both_are_appraised_is_no_error() -> None:
    assert Scripted({"roll": 0.9, "add": 0.2}, {"roll": 0.6, "add": 0.61}).judge(ADD) == Judgement(ADD, 0.61, 0.61, 35)


def test_a_match_is_summed_up() -> None:
    found = summary(
        ["one", "two"],
        [
            Judged(3, "one", ADD, ADD, 0.5, 0.5),
            Judged(4, "one", ROLL, ADD, 0.7, 0.66),
            Judged(6, "two", ROLL, ADD, 0.35, 0.05),
            Judged(7, "two", ROLL, ROLL, 0.6, 0.6),
            Judged(9, "one", ROLL, ADD, 0.4, 0.35),
        ],
        ["two"],
    )
    assert found["seats"] == {
        "one": {"decisions": 3, "agreed": 1, "lost": 0.09, "greatest": 0.05},
        "two": {"decisions": 2, "agreed": 1, "lost": 0.3, "greatest": 0.3},
    }
    assert [each["after"] for each in found["decisions"]] == [0.7, 0.4, 0.6, 1.0, 0.0]
    assert [each["expected"]["one"] for each in found["decisions"]] == [0.5, 0.6, 0.675, 0.55, 0.4]
    assert found["turning_points"] == [
        {"version": 6, "kind": "error", "seat": "two", "loss": 0.3},
        {"version": 9, "kind": "error", "seat": "one", "loss": 0.05},
        {"version": 9, "kind": "lead", "seat": "two", "from": "one"},
    ], "the lead changes when another seat is clearly ahead, and at 7 it is not"


def test_what_seats_can_expect_is_the_mean_of_what_those_who_still_decide_think() -> None:
    a, b, c = (partial(Judged, action=ADD, best=ADD, chosen=0.0, seat=seat) for seat in "abc")
    found = summary(["a", "b", "c"], [a(1, before=0.5), b(2, before=0.6), c(3, before=0.0), a(4, before=0.2), b(5, before=0.9)], ["b"])
    shares = [list(each["expected"].values()) for each in found["decisions"]]
    assert shares[0] == [0.3889, 0.3056, 0.3056], "a says 50, 25 and 25 %, the others have said nothing yet"
    assert shares[1] == [pytest.approx((0.5 + 0.4 * 0.56 + 1 / 3) / 3, abs=1e-4), 0.3944, pytest.approx(0.2533, abs=1e-3)]
    assert shares[4][1] == 0.9, "only b still decides"
    assert shares[3][2] < shares[2][2] < shares[1][2], "c is out"
    assert summary(["a", "b"], [], ["a"])["turning_points"] == []


@pytest.mark.parametrize("id", GAMES)
def test_a_judgement_does_not_change_when_hidden_things_do(id: str) -> None:
    game, judgements, hidden = GAMES[id], 0, 0
    for place, decision in enumerate(decisions(GAMES, recorded(game, 3, 150).entries)):
        if place % 9:
            continue
        before, entry = decision
        truth = game.guess(game.view(before.document, entry.actor), entry.actor, Drawn(random.Random(place).randrange), before.memory)
        one = judged(game, decision, "strong", 2)
        assert judged(game, decision._replace(before=before._replace(document=truth)), "strong", 2) == one
        judgements += one is not None
        hidden += truth != before.document
    assert judgements > 3
    assert hidden > 3 or id == "war_of_civilizations", "there, little but bids is hidden"
