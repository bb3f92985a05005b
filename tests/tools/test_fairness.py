"""The prover of fairness finds rules that let a seat gain by not playing, and prints them as scenarios that run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from games import GAMES
from games.kernel import no
from games.war_of_the_worlds.actions import owed_plays
from table.deeds import DEEDS
from table.progress import not_in_play, substitute, void
from tools import scenarios
from tools.fairness import main
from tools.fairness.cases import Played, losers, played, tables
from tools.fairness.departures import leaving, order, skipped
from tools.fairness.line import Budget, Case, Spent
from tools.fairness.promises import Broken
from tools.fairness.searching import searched
from tools.fairness.spoilers import spoiled

BUDGET = 8000
UNLIMITED = 10**9
BANK = {"kind": "bank", "seconds": 60}


@cache
def match(game: str, seats: int, seed: str = "1") -> Played:
    return played(GAMES[game], seats, seed, Budget(UNLIMITED))


@cache
def cases(game: str, seats: int) -> list[Case]:
    """The tables at a late position that a seat has lost."""
    for seed in "12345":
        of = match(game, seats, seed)
        state = of.positions[len(of.positions) * 4 // 5]
        if loses := losers(of, state, Budget(UNLIMITED)):
            return list(tables(of, state, loses))
    raise AssertionError("nobody loses")


def case(settings: Mapping[str, Any], away: int | None = None, artificial: bool = False, seats: int = 2) -> Case:
    """Return the case with some settings. `away`: the number of the seat that has gone; `artificial`: against artificial players."""
    for found in cases("war", seats):
        table = found.given["table"]
        gone = None if away is None else match("war", seats).positions[0]["seats"][away]
        same = {name: table[name] for name in ("clock", "time_out") if name in table} == settings and found.away == gone
        if same and artificial == ("ai:greedy" in table["seats"].values()):
            return found
    raise AssertionError("no such case")


def told(found: Iterator[Broken]) -> Iterator[Broken]:
    """Yield what is broken until the budget is spent."""
    with suppress(Spent):
        yield from found


SUBSTITUTE = {"clock": BANK, "time_out": {"policy": "substitute"}}
WAIT = {"clock": BANK, "time_out": {"policy": "wait"}}
NO_CLOCK = {"clock": {"kind": "none"}}
Patch = pytest.MonkeyPatch


def deed(patch: Patch, kind: str, **parts: Any) -> None:
    """Give a deed of the table other parts."""
    patch.setitem(DEEDS, kind, DEEDS[kind]._replace(**parts))  # type: ignore[arg-type]


def fresh_banks(patch: Patch) -> None:
    patch.setattr("table.leaving.held_refusal", lambda session, seat, rule: None)
    patch.setattr("table.leaving.refilled", lambda session, seat: {"refill": {"bank": 60_000, "round": 1, "times": 1}})
    patch.setattr("table.time_outs.FINALLY", {"substitute": substitute})


def void_when_abandoned(patch: Patch) -> None:
    deed(patch, "abandon", act=lambda session, system, action: void(session))


def no_usual_clock(patch: Patch) -> None:
    void_when_abandoned(patch)
    patch.setattr("table.creating.usual_clock", lambda people: {"kind": "none"})


def clock_stands_while_disputed(patch: Patch) -> None:
    patch.setattr("table.clocks.goes_on_disputed", lambda table, seat: False)


def nobody_resigns_while_disputed(patch: Patch) -> None:
    deed(patch, "resign", refusal=lambda session, seat, action: not_in_play(session, seat))


def shared_disputes(patch: Patch) -> None:
    own = DEEDS["dispute"].refusal

    def refusal(session: Any, seat: str, action: Any) -> Any:
        return own(session, seat, action) or (no("too_many_disputes", "TBL-DIS-04") if len(session.table["disputes"]) > 2 else None)

    deed(patch, "dispute", refusal=refusal)


def second_seats(patch: Patch) -> None:
    patch.setattr("table.handing.has_another", lambda *about: False)


def seats_for_referees(patch: Patch) -> None:
    patch.setattr("table.handing.was_shown", lambda *about: False)


def void_without_a_decision(patch: Patch) -> None:
    deed(patch, "end_vote", act=lambda session, system, action: void(session))


def alone(patch: Patch) -> None:
    patch.setattr("table.offers._alone", lambda session, what, rule: None)


class Fault(NamedTuple):
    """A rule as it was, where it matters, and what the prover says of it."""

    plant: Callable[[Patch], None]
    case: Callable[[], Case]
    promise: str
    way: str
    means: str


FAULTS: Mapping[str, Fault] = {
    "1 whoever returns has a fresh bank": Fault(fresh_banks, lambda: case(SUBSTITUTE), "time", "", "return"),
    "2 a match has no clock unless one is chosen": Fault(no_usual_clock, lambda: case({}), "result", "void by abandon", ""),
    "2 a match that is abandoned is void": Fault(void_when_abandoned, lambda: case(NO_CLOCK), "result", "void by abandon", ""),
    "3 a dispute stops one's own clock": Fault(clock_stands_while_disputed, lambda: case(SUBSTITUTE), "time", "", "dispute"),
    "3 nobody resigns while there is a dispute": Fault(
        nobody_resigns_while_disputed, lambda: case(SUBSTITUTE), "rights", "resign match_disputed", "dispute"
    ),
    "3 all seats share a number of disputes": Fault(
        shared_disputes, lambda: case(NO_CLOCK), "rights", "dispute too_many_disputes", "dispute,withdraw_dispute"
    ),
    "4 a player takes over a second seat": Fault(second_seats, lambda: case(NO_CLOCK), "hands", "has another seat", "hand_over"),
    "4 a referee takes over a seat": Fault(
        seats_for_referees, lambda: case(NO_CLOCK), "hands", "has ruled on a dispute", "dispute,hand_over,rule_dispute"
    ),
    "5 a vote that decides nothing voids the match": Fault(
        void_without_a_decision, lambda: case(WAIT, 1, seats=3), "result", "void by end_vote", ""
    ),
    "6 a seat pauses alone against a substitute": Fault(alone, lambda: case(SUBSTITUTE, 1), "time", "", "offer pause"),
    "6 a seat voids alone against artificial players": Fault(
        alone, lambda: case(NO_CLOCK, artificial=True), "result", "void by offer", "offer void"
    ),
}


QUICK = ("1 whoever returns has a fresh bank", "4 a referee takes over a seat")
"""Faults of two promises. The soak plants all of them."""


def found_at(of: Case, fault: Fault) -> Broken | None:
    """Return what the prover says of a fault at a table, or None."""
    means = frozenset(filter(None, fault.means.split(",")))
    said = (fault.promise, fault.way, means)
    return next((one for one in told(spoiled(Budget(BUDGET), of)) if (one.promise, one.way, one.means) == said), None)


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.soak) for name in FAULTS])
def test_a_rule_of_the_table_as_it_was_is_found_and_as_it_is_is_not(name: str, monkeypatch: Patch) -> None:
    fault = FAULTS[name]
    assert found_at(fault.case(), fault) is None
    fault.plant(monkeypatch)
    found = found_at(fault.case(), fault)
    assert found is not None
    assert list(scenarios.failures(scenarios.TableRules(GAMES["war"]), found.scenario)) == []


def departed(
    search: Callable[[Budget, Played, Any], Iterator[Broken]], game: str, seats: int, seeds: str = "1", wanted: str = "", **rules: Any
) -> Broken | None:
    """Return what is first found broken in the positions of some matches, in a way that begins with a text. `rules`: parts of other
    rules."""
    for of in (match(game, seats, seed) for seed in seeds):
        other = of._replace(game=of.game._replace(**rules))
        for broken in (broken for state in of.positions for broken in search(Budget(UNLIMITED), other, state)):
            if broken.way.startswith(wanted):
                assert list(scenarios.failures(scenarios.GameRules(other.game), broken.scenario)) == []
                return broken
    return None


def first_listed(state: Any, seat: str) -> Any:
    """Return what a seat that is skipped once did in War of the Worlds: the first of its choices that it owes."""
    if state["phase"] != "play":
        return GAMES["war_of_the_worlds"].default(state, seat)
    return next(owed_plays(state, seat), {"type": "end_turn"})


def test_7_a_default_action_that_wins_is_found(monkeypatch: Patch) -> None:
    assert departed(skipped, "war_of_the_worlds", 2, "12") is None
    monkeypatch.setattr("games.war_of_the_worlds.actions.ends_match", lambda state, taken: False)
    found = departed(skipped, "war_of_the_worlds", 2, "12", default=first_listed)
    assert found is not None
    assert found.scenario["steps"][0]["do"] == {"type": "default"}


@pytest.mark.soak
def test_8_a_battle_that_its_loser_leaves_is_found(monkeypatch: Patch) -> None:
    assert departed(leaving, "war_of_civilizations", 3, wanted="bids") is None
    monkeypatch.setattr("games.war_of_civilizations.leaving.concede", lambda match, seat: None)
    assert departed(leaving, "war_of_civilizations", 3, wanted="bids") is not None


def test_8_tiles_that_fall_to_whoever_moves_next_are_found() -> None:
    """The option `garrisons` is the rule that is not so."""
    assert departed(leaving, "war", 3) is not None


def by_number(state: Any) -> list[str]:
    """Return the seats from the one with which a round begins, by the number of the round alone, as it once was."""
    seats: list[str] = state["seats"]
    turned = (state["round"] - 1) % len(seats)
    return seats[turned:] + seats[:turned]


def test_8_a_first_seat_that_does_not_pass_over_who_has_left_is_found(monkeypatch: Patch) -> None:
    of = match("war_of_civilizations", 3)
    state = of.positions[len(of.positions) // 2]
    rotating = {**state, "options": {**state["options"], "first_seat_rotates": True}}
    assert list(order(Budget(UNLIMITED), of, rotating)) == []
    monkeypatch.setattr("games.war_of_civilizations.flow.round_order", by_number)
    assert list(order(Budget(UNLIMITED), of, rotating))


KNOWN: Mapping[str, set[str]] = {
    "war": {"leaving"},  # without `garrisons` tiles fall to whoever moves next; in trial play that did not win more often (WAR-LEA-02)
    "war_of_the_worlds": set(),
    "war_of_civilizations": {"leaving"},  # so does the Isle of Myth, and what else a leaver held
}
"""The promises that a game is known not to keep."""


@pytest.mark.parametrize(
    ("game", "budget"),
    [("war", 1500), *(pytest.param(game, 1_000_000, marks=[pytest.mark.soak, pytest.mark.timeout(7200)]) for game in KNOWN)],
)
def test_nothing_else_is_found(game: str, budget: int) -> None:
    found = [one for one in searched(GAMES[game], budget, "1") if one.promise not in KNOWN[game]]
    assert [(one.why, one.means) for one in found] == []


def test_the_command_prints_scenarios_that_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    printed = []
    for _ in range(2):
        assert main(["war", "--budget", "1000"]) in (0, 1)
        printed.append(capsys.readouterr())
    assert printed[0] == printed[1], "everything follows from the seed"
    assert printed[0].err.startswith("broken promises: ")
    (tmp_path / "found.yaml").write_text(printed[0].out or "[]")
    assert scenarios.main([str(tmp_path / "found.yaml")]) == 0
