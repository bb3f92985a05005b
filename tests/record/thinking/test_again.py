"""Decisions of artificial players are run again from the record: honest ones hold, and every kind of cheating is found at its version."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from games import GAMES
from games.kernel import Action, State, any_action
from players import REVISION, budget_of
from players.level import Budget
from record import thinking
from record.entries import canonical, parse
from record.json_text import loads
from record.thinking.again import Decisions
from record.thoughts import Decision, decision_in
from record.trail import audit_entries
from tests.archive.writing import write_archive
from tests.conftest import ALL_GAMES
from tests.record.thinking.serving import Cheat, Served
from tools.decisions import run_again
from tools.records import read

ARCHIVE = Path(__file__).parents[2] / "archive" / "0001.xz"

Found = list[tuple[int, str]]


def codes(served: Served) -> Found:
    """Return what is found when the decisions of a match are run again. The record itself holds."""
    report, outcome = served.audited()
    assert report.findings == []
    return [(finding.version, finding.code) for finding in outcome.findings]


@pytest.mark.parametrize("level", ["random", "novice", "greedy", "strong", "expert"])
def test_honest_decisions_hold_whatever_the_level(level: str) -> None:
    served = Served("tally", {"one": level, "two": "random"})
    served.go_on(5 if level == "expert" else 12)
    report, outcome = served.audited()
    kept = [decision for entry in map(parse, served.raws) if (decision := decision_in(entry)) is not None]
    assert (report.ok, outcome.findings, outcome.unchecked) == (True, [], [])
    assert outcome.run == len(kept) >= 4
    assert level in {decision["level"] for decision in kept} <= {level, "random"}
    assert {decision["players"] for decision in kept} == {REVISION}


def test_a_substitute_decides_by_its_level_too() -> None:
    settings = {"clock": {"kind": "per_action", "seconds": 30}, "time_out": {"policy": "substitute", "level": "greedy"}}
    served = Served("tally", {"one": "me", "two": "random"}, **settings)
    served.go_on(1)
    served.act_at_table("system", {"type": "time_out", "seat": "one"}, served.now.at + 31_000)
    served.go_on(8)
    report, outcome = served.audited()
    assert (report.ok, outcome.findings, outcome.unchecked) == (True, [], [])
    levels = {entry.actor: decision["level"] for entry in map(parse, served.raws) if (decision := decision_in(entry)) is not None}
    assert levels == {"one": "greedy", "two": "random"}


@pytest.mark.parametrize("clock", [None, {"kind": "bank", "seconds": 60}, {"kind": "per_action", "seconds": 5}])
def test_budgets_fall_in_long_turns_and_with_the_clock_and_still_hold(clock: dict[str, Any] | None) -> None:
    settings = {} if clock is None else {"clock": clock}
    served = Served("tally", {"one": "strong", "two": "strong"}, options={"target": 1000}, **settings)
    served.go_on(14)
    report, outcome = served.audited()
    assert (report.ok, outcome.findings, outcome.unchecked) == (True, [], [])
    budgets = {decision["budget"] for entry in served.entries if (decision := decision_in(entry)) is not None}
    whole = budget_of(served.question("one"), "strong").iterations
    assert budgets - {whole} <= {Budget(whole).halved(times).iterations for times in range(1, 7)}
    assert budgets != {whole}


def another_action(served: Served, seat: str) -> tuple[Action, Decision]:
    """Play another action that the rules admit, and keep the honest decision."""
    action, decision = served.honest(seat)
    for _ in range(9):
        other = any_action(served.game, served.now.document, seat, served.will.randrange)
        if other is not None and other != action:
            return other, decision
    return action, decision


def another_seed(served: Served, seat: str) -> tuple[Action, Decision]:
    """Try seeds until the level rolls."""
    question, level = served.question(seat), served.level(seat)
    for seed in range(30):
        thought, decision = thinking.decide(question, level, served.budget(seat), seed)
        if thought.action["type"] == "roll":
            break
    return thought.action, decision


def more_thinking(served: Served, seat: str) -> tuple[Action, Decision]:
    """Search more than the level does, and say so."""
    return served.honest(seat, Budget(served.budget(seat).iterations + 1))


def half_the_thinking(served: Served, seat: str) -> tuple[Action, Decision]:
    """Search half as much as is due, and say so."""
    return served.honest(seat, Budget(served.budget(seat).iterations // 2))


def less_thinking(served: Served, seat: str) -> tuple[Action, Decision]:
    """Search less than the level does, and say that it was the whole budget."""
    action, decision = served.honest(seat, Budget(2))
    whole = served.budget(seat).iterations
    return action, {**decision, "budget": whole, "spent": whole}


def more_spent(served: Served, seat: str) -> tuple[Action, Decision]:
    """Say that more was spent than there was."""
    action, decision = served.honest(seat)
    return action, {**decision, "spent": decision["spent"] + 1}


def the_truth_as_its_view(served: Served, seat: str) -> tuple[Action, Decision]:
    """Show the level the whole truth."""
    question, level = served.question(seat)._replace(view=served.now.document), served.level(seat)
    thought, decision = thinking.decide(question, level, served.budget(seat), served.seed(seat))
    return thought.action, decision


def other_choices(served: Served, seat: str) -> tuple[Action, Decision]:
    """Hide a choice from the level."""
    question, level = served.question(seat), served.level(seat)
    question = question._replace(choices=question.choices[:-1] or question.choices)
    thought, decision = thinking.decide(question, level, served.budget(seat), served.seed(seat))
    return thought.action, decision


CHEATS: list[tuple[Cheat, str, set[str]]] = [
    (another_action, "strong", {"decision_differs"}),
    (another_seed, "random", {"decision_differs"}),
    (more_thinking, "strong", {"budget_differs"}),
    (half_the_thinking, "strong", {"budget_differs"}),
    (less_thinking, "strong", {"decision_differs"}),
    (more_spent, "strong", {"budget_differs"}),
    (the_truth_as_its_view, "strong", {"saw_differs"}),
    (other_choices, "strong", {"saw_differs"}),
]


@pytest.mark.parametrize(("cheat", "level", "expected"), [pytest.param(*row, id=row[0].__name__) for row in CHEATS])
def test_every_kind_of_cheating_is_found_at_its_version(cheat: Cheat, level: str, expected: set[str]) -> None:
    """The server has good digests, and every action is one that the rules admit."""
    served = Served("tally", {"one": level, "two": "greedy"}, cheat.__name__)
    served.go_on(3)

    def sometimes(match: Served, seat: str) -> tuple[Action, Decision | None]:
        return cheat(match, seat) if seat == "one" else match.honest(seat)

    cheated = served.go_on(8, sometimes)
    found = codes(served)
    assert cheated, "otherwise the test tries nothing"
    if cheat is less_thinking:  # what was played may be what the whole search plays, too
        assert {version for version, _ in found} <= set(cheated)
        assert found
    else:
        assert {version for version, _ in found} == set(cheated)
    assert expected <= {code for _, code in found} <= expected | {"decision_differs"}


def test_a_level_that_knows_the_hidden_state_is_found_where_it_uses_it() -> None:
    """The server keeps the honest digest of the view, and lets the level guess right every time."""
    served = Served("war_of_civilizations", dict.fromkeys(GAMES["war_of_civilizations"].seats.ids[:2], "greedy"))

    def seer(match: Served, seat: str) -> tuple[Action, Decision]:
        truth: State = match.now.document
        question, level = match.question(seat), match.level(seat)
        knowing = question._replace(game=question.game._replace(guess=lambda *given, **named: truth))
        thought, decision = thinking.decide(knowing, level, served.budget(seat), match.seed(seat))
        return thought.action, decision

    cheated = served.go_on(60, seer)
    assert cheated
    assert codes(served) == [(version, "decision_differs") for version in cheated]


@pytest.mark.parametrize(("change", "code"), [({"level": "greedy"}, "level_differs"), (None, "decision_missing")])
def test_a_decision_of_another_level_or_none_is_found(change: dict[str, Any] | None, code: str) -> None:
    served = Served("tally", {"one": "random", "two": "random"})
    served.go_on(5)
    (version,) = served.go_on(1, lambda match, seat: (match.honest(seat)[0], change and {**match.honest(seat)[1], **change}))
    served.go_on(4)
    report, outcome = served.audited()
    assert [(finding.version, finding.code) for finding in (*report.findings, *outcome.findings)] == [(version, code)]


def test_a_decision_where_no_artificial_player_acts_is_found_without_a_secret() -> None:
    other = Served("tally", {"one": "random", "two": "random"})
    other.go_on(2)
    served = Served("tally", {"one": "me", "two": "random"})
    served.go_on(1)
    served.decision = decision_in(other.entries[-1])
    served.play("one", {"type": "add", "by": 1, "stay": False}, served.now.at)
    report, _ = served.audited(secret=False)
    assert [finding.code for finding in report.findings] == ["level_differs"]


@pytest.mark.parametrize("member", ["budget", "level", "players", "saw", "spent", "weights"])
@pytest.mark.parametrize("wrong", [None, True, -1, [], "x", "gone"])
def test_a_decision_of_another_shape_is_found(member: str, wrong: Any) -> None:
    served = Served("tally", {"one": "random", "two": "random"})
    served.go_on(2)
    action, decision = served.honest("two" if served.now.to_act == ["two"] else "one")
    served.decision = {**decision, member: wrong}
    if wrong == "gone":
        del served.decision[member]
    served.play(served.now.to_act[0], action, served.now.at, owner=False)
    report, outcome = served.audited()
    assert [finding.code for finding in report.findings] == ["level_differs" if (member, wrong) == ("level", "x") else "not_canonical"]
    assert outcome.run == served.now.version - 3


def stopped_early(served: Served, seat: str) -> tuple[Action, Decision]:
    """Stop the search after three iterations."""
    whole = served.budget(seat).iterations
    return served.honest(seat, Budget(whole, lambda spent: spent < 3))


def other_players(served: Served, seat: str) -> tuple[Action, Decision]:
    """Say that another program has decided."""
    return another_action(served, seat)[0], {**served.honest(seat)[1], "players": REVISION + 1}


def other_weights(served: Served, seat: str) -> tuple[Action, Decision]:
    """Say that other weights have decided."""
    return another_action(served, seat)[0], {**served.honest(seat)[1], "weights": "ab" * 32}


@pytest.mark.parametrize(
    ("serve", "run", "sentence"),
    [
        (stopped_early, True, "whether time was really short: the server stopped"),
        (other_players, False, f"by revision {REVISION + 1} of the players, not by revision {REVISION}, which is here"),
        (other_weights, False, "by other plans and weights, with the digest"),
    ],
)
def test_what_cannot_be_checked_is_counted(serve: Cheat, run: bool, sentence: str) -> None:
    served = Served("tally", {"one": "strong", "two": "strong"})
    served.go_on(3)
    honest = len(served.decided())
    served.go_on(5, serve)
    versions = served.decided()
    report, outcome = served.audited()
    assert (report.ok, outcome.findings) == (True, [])
    assert outcome.run == (len(versions) if run else honest)
    (said,) = outcome.unchecked
    assert sentence in said
    assert outcome.interrupted == (versions[honest:] if serve is stopped_early else [])
    assert f"{len(versions) - honest} decisions, the first of version {versions[honest]}," in said


def test_records_of_which_no_decision_is_kept_hold_but_for_their_decisions() -> None:
    older = next(record for record in read([ARCHIVE]) if b'"ai"' in record.raws[0] and len(record.raws) > 30)
    found = Decisions()
    report = audit_entries(ALL_GAMES, older.raws[:30], older.secret, watch=found)
    outcome = run_again(found, 1, ALL_GAMES)
    assert (report.ok, outcome.run, outcome.unchecked) == (True, 0, [])
    assert {finding.code for finding in outcome.findings} == {"decision_missing"}


def test_an_archive_has_decisions_as_they_are() -> None:
    served = Served("war", {"red": "greedy", "blue": "random"})
    served.go_on(12)
    packed = BytesIO()
    assert write_archive(packed, [served.record()]) == 1, "it reads what it has written, and compares"


def test_without_the_secret_nothing_is_run_and_what_is_missing_is_found_all_the_same() -> None:
    served = Served("tally", {"one": "random", "two": "random"})
    served.go_on(1)
    served.go_on(4, lambda match, seat: (match.honest(seat)[0], None))
    _, outcome = served.audited()
    missing = [(version, "decision_missing") for version in range(3, 7)]
    assert (outcome.run, [(finding.version, finding.code) for finding in outcome.findings]) == (0, missing)
    served.go_on(2)
    _, outcome = served.audited(secret=False)
    assert (outcome.run, [(finding.version, finding.code) for finding in outcome.findings]) == (0, missing)
    (said,) = outcome.unchecked
    assert said.startswith("2 decisions, the first of version 7, whose seeds follow from the secret")


@pytest.mark.soak
@pytest.mark.parametrize("game", list(GAMES))
def test_whole_matches_of_every_level_hold(game: str) -> None:
    """Positions come from memory or, now and then, from a snapshot, in which members stand in another order."""
    ids = GAMES[game].seats.ids
    for number, levels in enumerate((["novice", "greedy"], ["strong", "greedy"], ["random", "novice", "greedy", "strong"])):
        served = Served(game, dict(zip(ids, levels, strict=False)), number)
        while served.now.to_act:
            served.go_on(1)
            if served.now.version % 7 == 0:
                now = served.now
                served.positions[-1] = now._replace(document=loads(canonical(now.document)), memory=loads(canonical(now.memory)))
        report, outcome = served.audited()
        assert (report.ok, outcome.findings, outcome.unchecked) == (True, [], [])
        assert outcome.run > 50
