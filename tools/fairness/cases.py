"""Where the search begins: positions from matches that are played for it, at tables of every kind."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from games.chance import Drawn
from games.kernel import SYSTEM, Game, Seat, State, any_action, carry_out
from tools.fairness.line import Budget, Case, patch_to, policy

PLAYERS = tuple("p" + letter * 16 for letter in "abcdef")
LONGEST = 3000
WHIMS = 0.3
"""The share of actions in a match that are drawn, so that it comes to positions that good play avoids."""

CLOCKS: Sequence[Mapping[str, Any]] = (
    {},
    {"clock": {"kind": "none"}},
    *({"clock": {"kind": "bank", "seconds": 60}, "time_out": {"policy": policy}} for policy in ("substitute", "wait", "skip", "forfeit")),
    {"clock": {"kind": "per_action", "seconds": 60}},
    {"clock": {"kind": "days", "hours": 24}},
)
"""The settings of a table: those of a match for which nothing is chosen, and others."""


class Played(NamedTuple):
    """A match that was played: its positions, its winners, and how much the worth of a seat changes in a turn, in the median. `shared`: the
    phases in which seats decide whose turn it is not."""

    game: Game
    seed: str
    positions: list[State]
    winners: list[Seat]
    typical: float
    shared: frozenset[str]


def played(game: Game, seats: int, seed: str, budget: Budget) -> Played:
    """Play a match to its end, mostly well, with some of the options that are off by default. Raises Spent."""
    whims = random.Random(f"whims {seed}")
    options = {
        name: True for name, shape in game.options.schema["properties"].items() if shape.get("default") is False and whims.random() < 0.5
    }
    state = game.begin(list(game.seats.ids[:seats]), options)
    case = Case(game, {}, seed, None, frozenset())
    positions: list[State] = []
    changes: list[float] = []
    at_turn: State = None
    for number in range(LONGEST):
        if state["outcome"] is not None:
            break
        budget.spend()
        actor = whims.choice(state["to_act"])
        if actor != SYSTEM:
            positions.append(state)
        whim = any_action(game, state, actor, whims.randrange) if actor != SYSTEM and whims.random() < WHIMS else None
        before, state = (
            state,
            carry_out(
                game, state, actor, whim or policy(case, state, actor, number), Drawn(random.Random(f"{seed} {number}").randrange)
            ).state,
        )
        if state["active"] != before["active"]:
            if at_turn is not None:
                changes += [abs(game.worth(state, seat) - game.worth(at_turn, seat)) for seat in state["seats"] if state["outcome"] is None]
            at_turn = state
    outcome = state["outcome"] or {"winners": state["seats"]}
    shared = frozenset(state["phase"] for state in positions if state["active"] is not None and state["to_act"] != [state["active"]])
    return Played(game, seed, positions, outcome["winners"], statistics.median(changes) if changes else 1.0, shared)


def sizes(game: Game) -> list[int]:
    """Return the numbers of seats of the matches that are searched: the least, and three."""
    return sorted({game.seats.least, min(3, game.seats.most)})


def losers(match: Played, state: State, budget: Budget) -> frozenset[Seat]:
    """Return the seats that lost the match, and lose it once more when everybody plays on from a position with other dice."""
    game, seed = match.game, f"again {match.seed}"
    case = Case(game, {}, seed, None, frozenset())
    for number in range(LONGEST):
        if state["outcome"] is not None:
            winners = {*match.winners, *state["outcome"]["winners"]}
            return frozenset(seat for seat in state["seats"] if seat not in winners)
        budget.spend()
        actor = state["to_act"][0]
        state = carry_out(game, state, actor, policy(case, state, actor, number), Drawn(random.Random(f"{seed} {number}").randrange)).state
    return frozenset()


def tables(match: Played, state: State, loses: frozenset[Seat]) -> Iterator[Case]:
    """Yield cases that begin at a position: for people, with all of them or without one who has gone, and against artificial players."""
    playing = match.game.playing(state)
    for settings, gone in product(CLOCKS, [None, *playing]):
        yield _case(match, state, loses, dict(zip(state["seats"], PLAYERS, strict=False)), settings, gone)
    for seat in sorted(loses & set(playing)):
        seats = {other: PLAYERS[0] if other == seat else "ai:greedy" for other in state["seats"]}
        yield _case(match, state, loses, seats, {"clock": {"kind": "none"}}, None)


def _case(
    match: Played, state: State, loses: frozenset[Seat], seats: Mapping[Seat, str], settings: Mapping[str, Any], away: Seat | None
) -> Case:
    """Return a case. `seats`: who has each seat. The first of PLAYERS creates the match, the others take their seats."""
    asked = {seat: "me" if who == PLAYERS[0] else "open" if who in PLAYERS else who for seat, who in seats.items()}
    table = {"game": match.game.id, "creator": PLAYERS[0], "seats": asked, "options": state["options"], **settings}
    taken = {seat: who for seat, who in seats.items() if who in PLAYERS[1:]}
    given = {"table": {**table, "taken": taken}, "patch": patch_to(match.game, state)}
    return Case(match.game, given, match.seed, away, loses)
