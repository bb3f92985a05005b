"""`./run suspects`: planted players who see everything are found, honest ones are not, and dice that were loaded are noticed."""

from __future__ import annotations

import json
import math
import multiprocessing
import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from games import GAMES
from tests.archive.writing import write_archive
from tests.tools.seers import HONEST, SEER, played
from tools import suspects
from tools.records import BadRecord, Record
from tools.significance import chi_square_tail, corrected, student_tail
from tools.suspects import DICE, DRAWS, SIGHT, Answer, Group, Play, about_draws, about_ranks, answers, watch

GAME = "war_of_civilizations"  # the game whose hidden parts, sealed bids, change what an action is worth at once
FEW = 18
SET = 50  # matches, within which a seer must be found
POOL = 400
SETS = 2000

Plays = dict[tuple[str, str], Play]


def shown_by(record: Record) -> Plays:
    """Return what one match shows of its players."""
    plays: Plays = defaultdict(Play)
    watch(GAMES, record, plays)
    return plays


def together(matches: Iterable[Plays]) -> Plays:
    """Return what several matches show of their players."""
    merged: Plays = defaultdict(Play)
    for plays in matches:
        for key, play in plays.items():
            for group, drawn in play.draws.items():
                merged[key].draws[group] += drawn
            for question, ranks in play.ranks.items():
                merged[key].ranks[question] += ranks
    return merged


def suspicious(found: Iterable[Answer]) -> list[tuple[str, str]]:
    return [(answer.who, answer.question) for answer in found if answer.suspicious]


def test_a_seer_is_found_and_its_opponent_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (tmp_path / "planted.xz").open("wb") as file:
        write_archive(file, (played(GAME, seed, sees=True) for seed in range(FEW)))
    assert suspects.main([str(tmp_path), "--json"]) == 1
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(answer["who"], answer["question"]) for answer in found if answer["suspicious"]] == [(SEER, SIGHT)]
    assert found[0]["effect"] > 0.6
    assert {(answer["who"], answer["question"]) for answer in found} >= {(HONEST, SIGHT), ("system", DRAWS)}


def test_a_record_that_was_tampered_with_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = played("war", 1, sees=False)
    with pytest.raises(BadRecord, match="fails an audit"):
        shown_by(record._replace(raws=[raw.replace(b'"at":', b'"at":1') for raw in record.raws]))
    (tmp_path / "wrong.json").write_bytes(b"\n".join(raw.replace(b'"at":', b'"at":1') for raw in record.raws))
    assert suspects.main([str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert told.err.startswith(f"Left out: {record.match} fails an audit (")
    assert told.out == "1 matches, 1 left out; 0 questions, 0 suspicious answers at a level of 1%.\n"


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


def test_ranks_are_judged_by_match() -> None:
    """Ten decisions of a match that are all the same count as one."""
    assert list(about_ranks("war", "p", SIGHT, [[1.0]] * 9)) == []
    assert list(about_ranks("war", "p", SIGHT, [[0.5]] * 20)) == []
    will = random.Random(1)
    ranks = [[will.random()] * 10 for _ in range(40)]
    (alike,) = about_ranks("war", "p", SIGHT, ranks)
    (single,) = about_ranks("war", "p", SIGHT, [each[:1] for each in ranks])
    assert alike.value == pytest.approx(single.value)
    (high,) = about_ranks("war", "p", DICE, [[will.uniform(0.3, 1)] * 3 for _ in range(40)])
    assert high.probability < 0.01
    assert high.effect == pytest.approx(0.65, abs=0.1)


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
        (student_tail, 6.313752, 1, 0.05),
        (student_tail, 2.919986, 2, 0.05),
        (student_tail, 2.353363, 3, 0.05),
        (student_tail, 2.131847, 4, 0.05),
        (student_tail, 1.812461, 10, 0.05),
        (student_tail, 2.404892, 49, 0.01),
        (student_tail, 0, 7, 0.5),
    ],
)
def test_tails_of_distributions(tail_of: Callable[[float, int], float], value: float, freedom: int, tail: float) -> None:
    """Values of printed tables."""
    assert tail_of(value, freedom) == pytest.approx(tail, rel=1e-4)
    if tail_of is student_tail:
        assert student_tail(-value, freedom) == pytest.approx(1 - tail, rel=1e-4)


def test_the_approximation_goes_on_where_the_sum_ends() -> None:
    for value in (250.0, 300.0, 340.0, 400.0):
        below, beyond = chi_square_tail(value, 300), chi_square_tail(value, 302)
        assert below < chi_square_tail(value, 301) < beyond
        assert math.isclose(chi_square_tail(value, 301), (below + beyond) / 2, rel_tol=0.02, abs_tol=1e-6)


def test_many_tests_are_corrected() -> None:
    assert corrected([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert corrected([0.5, 0.9]) == [1.0, 1.0]
    assert corrected([]) == []


def pool(game: str, question: str, first: int, matches: int) -> list[Plays]:
    """Return what each of many matches shows, played and watched on all cores. `question`: what the seer knows, if there is one."""
    with multiprocessing.Pool() as workers:
        return workers.starmap(_one, [(game, question, seed) for seed in range(first, first + matches)], chunksize=5)


def _one(game: str, question: str, seed: int) -> Plays:
    return dict(shown_by(played(game, seed, sees=question == SIGHT, knows_dice=question == DICE)))


@pytest.mark.soak
@pytest.mark.parametrize(("game", "known"), [(GAME, SIGHT), ("war", DICE)])
def test_seers_are_found_within_fifty_matches_and_honest_players_are_not(game: str, known: str) -> None:
    """Sets of fifty matches are drawn again and again from pools that were played once, since matches are what is independent.

    The sets share matches, so the share of false alarms scatters more than that of as many independent ones.
    """
    honest, seeing = pool(game, "", 0, POOL), pool(game, known, POOL, POOL // 2)
    will = random.Random(1)
    alarms = sum(bool(suspicious(answers(together(will.sample(honest, SET))))) for _ in range(SETS))
    missed = wrong = 0
    for _ in range(SETS // 4):
        named = suspicious(answers(together(will.sample(seeing, SET))))
        missed += (SEER, known) not in named
        wrong += any(who != SEER for who, _ in named)
    print(f"{alarms} of {SETS} honest sets are suspicious, {missed} of {SETS // 4} seers missed, {wrong} others named")  # noqa: T201
    for question in (DRAWS, DICE, SIGHT):
        print([answer for answer in answers(together(honest)) if answer.question == question])  # noqa: T201
    assert missed == 0
    assert alarms + wrong <= 0.01 * (SETS + SETS // 4)  # the sets that name somebody honest
