"""What becomes of the others when a seat is skipped or leaves: the promises of a game to those who stay.

Worths are compared in units of a usual change: how much the worth of a seat changes in a turn of the match that the position is from.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any

from games.choices import complete
from games.kernel import SYSTEM, Action, Game, Refused, Seat, State, carry_out, legal, withdraw
from tools.fairness.cases import Played
from tools.fairness.line import Budget, Case, Noted, patch_to, policy
from tools.fairness.promises import Broken
from tools.scenarios import DEFAULT, LEAVE, Scenario

HARM = 5.0
"""By how many usual changes a default action may harm the others more than the most harmless action."""

SHIFT = 2.0
"""By how many usual changes it may matter to another seat when a seat leaves."""

DICE = 2
"""With how many dice a comparison is made. The others must be worse off with each."""

ROUNDS = 1
ALTERNATIVES = 30
MOST_DEFAULTS = 20
MOST_OF_A_TURN = 60


class Course:
    """A game that goes on from a position, and what has been done, as the steps of a scenario."""

    def __init__(self, budget: Budget, game: Game, state: State, seed: str) -> None:
        self.budget, self.game, self.before, self.state = budget, game, state, state
        self.chance = Noted(f"dice {seed}")
        self.seed = seed
        self.steps: list[Scenario] = []

    def act(self, seat: Seat, action: Action) -> None:
        """Carry out an action, LEAVE or DEFAULT. Raises Refused, Spent."""
        self.budget.spend()
        if action == LEAVE:
            match = withdraw(self.game, self.state, seat, self.chance)
        else:
            chosen = self.game.default(self.state, seat) if action == DEFAULT else action
            match = carry_out(self.game, self.state, seat, chosen, self.chance)
        self.state = match.state
        self.steps.append({"seat": seat, "do": action})

    def plays_on(self, seat: Seat) -> bool:
        """Return True if a seat has to act and is in play."""
        return self.state["outcome"] is None and seat in self.state["to_act"]

    def skip(self, seat: Seat) -> None:
        """Let a seat do its default actions as long as it has to act."""
        for _ in range(MOST_DEFAULTS):
            if not self.plays_on(seat):
                return
            self.act(seat, DEFAULT)

    def go_on(self, skipped: Seat, shared: Collection[str]) -> None:
        """Let everybody play on until what is under way is over, such as a battle, or else the turn; one seat does its default actions."""
        case, active = Case(self.game, {}, self.seed, None, frozenset()), self.before["active"]
        under_way = self.before["phase"] in shared
        for number in range(MOST_OF_A_TURN):
            state = self.state
            if state["outcome"] is not None or state["active"] != active or (under_way and state["phase"] not in shared):
                return
            actor = state["to_act"][0]
            self.act(actor, DEFAULT if actor == skipped else policy(case, state, actor, number))

    def worth(self, seat: Seat) -> float:
        """Return what the position is worth to a seat."""
        return self.game.worth(self.state, seat)

    def scenario(self, id: str) -> Scenario:
        """Return the course as a scenario of the game, with what it comes to."""
        steps = [*self.steps[:-1], {**self.steps[-1], "then": {"/outcome": self.state["outcome"], "/active": self.state["active"]}}]
        chance = {"chance": self.chance.draws} if self.chance.draws else {}
        given = {"patch": patch_to(self.game, self.before)}
        return {"id": id, "game": self.game.id, "rules": [], "given": given, **chance, "steps": steps}


def skipped(budget: Budget, match: Played, state: State) -> Iterator[Broken]:
    """Yield each seat whose default actions harm the others more than something else that is as short, or end the match. Raises Spent.

    Nobody is blamed for an action that says nothing but that the seat goes no further, such as the end of its turn.
    """
    for seat in state["to_act"]:
        if seat == SYSTEM or len(match.game.default(state, seat)) == 1:
            continue
        found = [_skipped(budget, match, state, seat, number) for number in range(DICE)]
        if all(found):
            more, course, milder = found[0]
            why = f"{seat}, which does nothing, harms the others by {more:.1f} usual turns more than with {milder}"
            yield Broken("skipped", state["phase"], why, course.scenario("FAIR-skipped"))


def _skipped(budget: Budget, match: Played, state: State, seat: Seat, number: int) -> Any:
    """Return by how many usual changes the default actions harm more than the mildest alternative, their course, and that alternative; or
    None if they do not."""
    game, seed, most = match.game, f"{match.seed} {number}", HARM * match.typical
    course = Course(budget, game, state, seed)
    course.skip(seat)
    harm, ended = _harm(course, seat), course.state["outcome"] is not None
    if harm <= most:
        return None
    for action in _alternatives(game, state, seat, random.Random(seed)):
        other = Course(budget, game, state, seed)
        with suppress(Refused):
            other.act(seat, action)
            other.skip(seat)
            if (ended or len(other.steps) <= len(course.steps)) and harm - _harm(other, seat) > most:
                return (harm - _harm(other, seat)) / match.typical, course, action
    return None


def _harm(course: Course, seat: Seat) -> float:
    """Return what the others have lost since a course began."""
    others = [other for other in course.game.playing(course.before) if other != seat]
    return sum(course.game.worth(course.before, other) - course.worth(other) for other in others)


def _alternatives(game: Game, state: State, seat: Seat, will: random.Random) -> list[Action]:
    """Return some legal actions of a seat."""
    choices = legal(game, state, seat)
    will.shuffle(choices)
    return [
        complete(each["action"], each["choose"], will.randrange) if "choose" in each else each["action"] for each in choices[:ALTERNATIVES]
    ]


def leaving(budget: Budget, match: Played, state: State) -> Iterator[Broken]:
    """Yield each seat that makes another one richer or poorer by leaving now, and not when what is under way is over. Raises Spent.

    Something is under way in a phase in which others than the active seat decide, such as a battle. Nobody may lose what it would bring. To
    gain by it is no fault: who leaves a contest has lost it. In every other phase the active seat should gain nothing by the end of its
    turn. It may lose the plans that it had for the leaver, for nobody has a right to these.
    """
    game = match.game
    playing = game.playing(state)
    if len(playing) < 3:
        return  # the match is over when one of two leaves
    under_way = state["phase"] in match.shared

    def go_on(course: Course, seat: Seat) -> None:
        course.go_on(seat, match.shared)

    for seat in playing:
        found: list[tuple[dict[Seat, float], Course]] = []
        for number in range(DICE):
            now = _leaves(budget, match, state, seat, number, [_leave, go_on])
            later = _leaves(budget, match, state, seat, number, [go_on, _leave])
            if now.state["outcome"] is not None or later.state["outcome"] is not None:
                break
            taking_part = {step["seat"] for step in later.steps} - {seat} if under_way else {state["active"]} - {seat}
            found.append(({other: (now.worth(other) - later.worth(other)) / match.typical for other in taking_part}, now))
        for other in playing if len(found) == DICE else ():
            shifts = [shift[other] for shift, _ in found if other in shift]
            more = "loses" if under_way else "gains"
            if len(shifts) == DICE and (max(shifts) < -SHIFT if under_way else min(shifts) > SHIFT):
                until = "after what is under way" if under_way else "at the end of the turn"
                why = f"{other} {more} {abs(shifts[0]):.1f} usual turns because {seat} leaves now, and not {until}"
                yield Broken("leaving", f"{state['phase']} {more}", why, found[0][1].scenario("FAIR-leaving"))


def order(budget: Budget, match: Played, state: State) -> Iterator[Broken]:
    """Yield each seat whose leaving lets one of the others begin more rounds than another, if they began equally many. Raises Spent."""
    game, playing = match.game, match.game.playing(state)
    if len(playing) < 3 or _uneven(_beginnings(Course(budget, game, state, match.seed), playing)):
        return
    for seat in playing:
        course, others = Course(budget, game, state, match.seed), [other for other in playing if other != seat]
        course.act(seat, LEAVE)
        begun = _beginnings(course, others)
        if _uneven(begun):
            yield Broken("order", "", f"after {seat} has left, rounds are begun by {' '.join(begun)}", course.scenario("FAIR-order"))


def _beginnings(course: Course, seats: Sequence[Seat]) -> list[Seat]:
    """Return who begins each of the next rounds, in which nobody decides anything."""
    begun: list[Seat] = []
    number = course.state["round"]
    while course.state["outcome"] is None and len(begun) < ROUNDS * len(seats) * len(course.before["seats"]):
        actor = course.state["to_act"][0]
        course.act(actor, legal(course.game, course.state, SYSTEM)[0]["action"] if actor == SYSTEM else DEFAULT)
        if course.state["round"] != number and course.state["active"] is not None:
            number = course.state["round"]
            begun.append(course.state["active"])
    return begun


def _uneven(begun: Sequence[Seat]) -> bool:
    """Return True if one seat has begun two more rounds than another."""
    often = Counter(begun).values()
    return len(often) < 2 or max(often) - min(often) > 1


def _leave(course: Course, seat: Seat) -> None:
    if course.state["outcome"] is None and seat in course.game.playing(course.state):
        course.act(seat, LEAVE)


def _leaves(budget: Budget, match: Played, state: State, seat: Seat, number: int, parts: list[Callable[[Course, Seat], None]]) -> Course:
    """Return the course after both parts: leaving, and the rest of the turn."""
    course = Course(budget, match.game, state, f"{match.seed} {number}")
    for part in parts:
        part(course, seat)
    return course
