"""Every match ends by a rule, whoever vanishes, in whichever phase (TBL-TIM-02, TBL-TIM-09, TBL-TIM-10, TBL-VOT-05)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from typing import Any

import pytest

from games import GAMES
from games.kernel import SYSTEM, Game, State, any_action, carry_out
from table import rules
from table.clocks import after_entry
from table.deadlines import next_deed
from table.document import Table
from table.session import NewMatch, Now, Session
from table.votes import voters as may_all_vote
from tests.games.matches import BOUND, Start, walk
from tests.games.recording import scenario_steps
from tests.table.going_on import CLOCKS, COMMITMENT, PLAYERS, POLICIES, dice, settings_of

NO_CLOCK, *WITH_CLOCK = (clock for clock in CLOCKS if "claim_days" not in clock)
GAME = pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in GAMES.values()])
POLICY = pytest.mark.parametrize("policy", [pytest.param(policy, id=policy["policy"]) for policy in POLICIES])
WALKS = 12  # matches in which positions are looked for before scenarios are


@cache
def by_phase(game_id: str) -> dict[str, State]:
    """Return a position of each phase of a game: from a random match with three seats if one comes there, else from a scenario."""
    game = GAMES[game_id]
    seats = list(game.seats.ids[: min(3, game.seats.most)])
    found: dict[str, State] = {}
    for seed in range(WALKS):
        for played in walk(Start(game, seats, {}, seed)):
            found.setdefault(played.before["phase"], played.before)
    for step in scenario_steps(game):
        state = step.before
        if state["outcome"] is None and len(game.playing(state)) > 1:
            found.setdefault(state["phase"], state)
    return found


def table_of(game: Game, state: State, clock: dict[str, Any], policy: dict[str, Any]) -> Table:
    """Return the table of a match with a player for each seat."""
    session = Session(game, new=NewMatch(COMMITMENT))
    least = list(game.seats.ids[: game.seats.least])
    create = {"type": "create_match", "game": game.id, "seats": dict.fromkeys(least, "me"), "options": {}, **settings_of(clock, policy)}
    rules.carry_out(session, PLAYERS[0], create)
    roster = {seat: {"player": f"p{number:0>16}"} for number, seat in enumerate(state["seats"])}
    seats = session.table["clocks"]["seats"]
    clocks = {seat: next(iter(seats.values())) for seat in roster} if seats else {}
    table: Table = {**session.table, "roster": roster, "clocks": {"returned": 0, "seats": clocks}}  # type: ignore[typeddict-item]
    return after_entry(table, table, [], state["to_act"], "", 0, 0)


def played_on(game: Game, table: Table, state: State, vanishing: Callable[[int], set[str]], will: random.Random) -> tuple[str, list[str]]:
    """Play a match on in which seats never act again: before each step those that `vanishing(number of the step)` names.

    Return why it ended, and the types of the actions of the system at the table.
    """
    now, deeds = 0, list[str]()
    chance = dice(will.random())
    for number in count():
        if state["outcome"] is not None:
            return state["outcome"]["reason"], deeds
        assert number < BOUND, "the match does not end"
        before, was_to_act, vanished = table, list(state["to_act"]), vanishing(number)
        there = [seat for seat in was_to_act if seat == SYSTEM or seat not in vanished or seat in table["substitutes"]]
        voters = [(seat, about) for about in table["votes"] for seat in game.playing(state) if may_vote(table, seat, about, vanished)]
        actor = ""
        if there:
            actor = will.choice(there)
            action = any_action(game, state, actor, will.randrange)
            assert action is not None
            assert rules.play_refusal(table, state, actor, now, owner=actor not in table["substitutes"]) is None
            match = carry_out(game, state, actor, action, chance)
            follows = rules.play_follows(table, match.state, actor)
            assert not follows or table["votes"] or table["held"]
            session = Session(game, table, match.state)
            for event in follows:
                session.emit(**event)
        else:
            due = next_deed(table, state, now, now)
            assert due is not None, "nobody is there, and nothing is to come"
            moment, action = due
            if voters and will.random() < 0.8:
                actor, about = will.choice(voters)
                decisions = ["forfeit", "substitute", *(["void"] if len(may_all_vote(Session(game, table, state), about)) > 1 else [])]
                action, moment = {"type": "vote", "seat": about, "for": will.choice(decisions)}, now
            else:
                actor = SYSTEM
                deeds.append(action["type"])
            last, now = now, max(now, moment + 1) if actor == SYSTEM else now
            session = Session(game, table, state, now=Now(now, last, number + 2, 1, chance))
            rules.carry_out(session, actor, action)
            actor = ""
        table, state = session.table, session.state
        table = after_entry(before, table, was_to_act, state["to_act"], actor, now, now)
    raise AssertionError


def may_vote(table: Table, seat: str, about: str, vanished: set[str]) -> bool:
    """Return True if the player of a seat is there to vote about another."""
    late = seat in table["votes"] or seat in table["substitutes"] or seat in vanished
    return not late and seat not in table["votes"][about]["votes"]


def cases(game: Game) -> Iterator[tuple[State, set[str]]]:
    """Yield each position with each seat that vanishes in it, and with all."""
    for state in by_phase(game.id).values():
        seats = game.playing(state)
        yield from ((state, {seat}) for seat in seats)
        yield state, set(seats)


@GAME
def test_there_are_positions_in_every_phase(game: Game) -> None:
    assert set(by_phase(game.id)) == set(game.phases) - {"over"}


@POLICY
@pytest.mark.parametrize(
    "game", [pytest.param(game, id=name, marks=() if name == "war" else pytest.mark.soak) for name, game in GAMES.items()]
)
def test_a_match_with_a_clock_ends_whoever_vanishes(game: Game, policy: dict[str, Any]) -> None:
    deeds = set()
    for number, (state, vanished) in enumerate(cases(game)):
        clock = WITH_CLOCK[number % len(WITH_CLOCK)]
        reason, done = played_on(game, table_of(game, state, clock, policy), state, lambda _, gone=vanished: gone, random.Random(number))
        deeds |= set(done)
        if vanished == set(game.playing(state)) and policy["policy"] == "forfeit":
            assert reason == "forfeited" or done[-1:] == ["time_out"]
    assert deeds == ({"time_out", "end_vote"} if policy["policy"] == "wait" else {"time_out"})


@POLICY
def test_a_match_of_six_seats_ends_of_which_five_vanish_one_after_the_other(policy: dict[str, Any]) -> None:
    game = GAMES["war_of_civilizations"]
    seats = list(game.seats.ids[:6])
    state = game.begin(seats, {})
    table = table_of(game, state, WITH_CLOCK[0], policy)
    reason, done = played_on(game, table, state, lambda number: set(seats[: min(5, number // 30)]), random.Random(6))
    assert done.count("time_out") >= (1 if policy["policy"] == "wait" else 5), "a vote may end the match at once"
    assert policy["policy"] != "forfeit" or reason == "forfeited"


@GAME
def test_a_match_without_a_clock_ends_when_all_have_vanished(game: Game) -> None:
    """After sixty days without play those forfeit who must act (TBL-TIM-10)."""
    reasons = set()
    for number, (state, vanished) in enumerate(cases(game)):
        if len(vanished) > 1 and SYSTEM not in state["to_act"]:
            reason, done = played_on(game, table_of(game, state, NO_CLOCK, {}), state, lambda _, gone=vanished: gone, random.Random(number))
            assert set(done) == {"abandon"}
            reasons.add(reason)
            assert reason != "void" or state["to_act"] == game.playing(state) or len(done) > 1
    assert "forfeited" in reasons
