"""Analysis: what a level thinks of decisions that were taken, and where a match turned.

A decision is judged by what its seat knew: the level sees the question that the seat had, and nothing else. So bad luck is no error, and
neither is a choice that only somebody who saw the hidden cards could have known to be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from games.chance import Chance
from games.kernel import Action, Seat, total
from players.level import Budget, Level, Question

APPRAISAL = 2  # times the iterations of the level, for each of the two actions that are compared
ERROR = 0.05  # a turning point is a decision that lost at least this share of a victory
MOST_ERRORS = 8  # of them, the greatest
CLEAR = 0.1  # by how much a seat must be ahead of the expected winner to become it
DIGITS = 4  # of a worth, after the point


class Judgement(NamedTuple):
    """What a level thinks of a decision: the share of a victory that it expects for the seat, 0 to 1, by what the seat knew.

    `best`: what the level would have done. `before`: what it expects after that. `chosen`: what it expects after what was done, before any
    dice of it fall. `spent`: iterations.
    """

    best: Action
    before: float
    chosen: float
    spent: int


class Judged(NamedTuple):
    """A decision of a match with the judgement on it. `version` is that of its entry."""

    version: int
    seat: Seat
    action: Action
    best: Action
    before: float
    chosen: float

    @property
    def loss(self) -> float:
        """The share of a victory that the decision lost.

        >>> Judged(12, "red", {"type": "end_moves"}, {"type": "move", "from": "a1"}, before=0.62, chosen=0.5).loss
        0.12
        """
        return rounded(self.before - self.chosen)


def judge(question: Question, action: Action, iterations: int, level: Level, search: Level, chance: Callable[[], Chance]) -> Judgement:
    """Return what a level thinks of an action that a seat took, which is legal.

    `iterations`: of the level's own search, in which the action is a candidate, too. What the level prefers and what was done are then
    appraised, each alone, with `APPRAISAL` times as many: in a search a bad action has few tries, and the best of many estimates is too
    high. If what was done then turns out no worse, it counts as the best. `search`: the level, made to search even where there is only one
    action. `chance`: gives the same random numbers each time, so that both actions have the same luck.
    """
    asked = question
    if not any(choice["action"] == action and "choose" not in choice for choice in question.choices):
        asked = question._replace(choices=[*question.choices, {"action": action}])
    thought = level(asked, Budget(iterations), chance())
    best, spent = thought.action, thought.spent
    worths: list[float] = []
    for each in (action,) if best == action else (action, best):
        worth, used = appraised(question, each, iterations, search, chance())
        spent += used
        worths.append(worth)
    chosen, before = worths[0], worths[-1]
    return Judgement(best, before, chosen, spent) if before > chosen else Judgement(action, chosen, chosen, spent)


def appraised(question: Question, action: Action, iterations: int, search: Level, chance: Chance) -> tuple[float, int]:
    """Return what a level expects after an action that it looks at alone, and the iterations. The arguments are those of `judge`."""
    thought = search(question._replace(choices=[{"action": action}]), Budget(iterations * APPRAISAL), chance)
    return rounded(thought.options[0].worth), thought.spent


def summary(seats: Sequence[Seat], judged: Iterable[Judged], winners: Sequence[Seat]) -> dict[str, Any]:
    """Return the analysis of a match as JSON: every decision that was judged, each seat in figures, and where the match turned.

    `judged`: in the order of the match. `winners`: of the match; they share a victory.

    >>> good = Judged(9, "red", {"type": "stop"}, {"type": "stop"}, 0.6, 0.6)
    >>> bad = Judged(10, "blue", {"type": "roll"}, {"type": "stop"}, 0.5, 0.4)
    >>> found = summary(["red", "blue"], [good, bad], ["red"])
    >>> found["seats"]["blue"]
    {'decisions': 1, 'agreed': 0, 'lost': 0.1, 'greatest': 0.1}
    >>> [(point["version"], point["kind"]) for point in found["turning_points"]]
    [(10, 'error')]
    """
    found = list(judged)
    after = _afterwards(found, {seat: rounded(1 / len(winners)) if seat in winners else 0.0 for seat in seats})
    expected = _expectations(seats, found, winners)
    decisions = [
        {
            "version": each.version,
            "seat": each.seat,
            "action": each.action,
            "best": each.best,
            "before": each.before,
            "chosen": each.chosen,
            "loss": each.loss,
            "after": after[place],
            "expected": expected[place],
        }
        for place, each in enumerate(found)
    ]
    return {
        "seats": {seat: _figures([each for each in found if each.seat == seat]) for seat in seats},
        "decisions": decisions,
        "turning_points": sorted([*_errors(found), *_leads(found, expected)], key=lambda point: (point["version"], point["kind"])),
    }


def _figures(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return a seat in figures: decisions that were judged, those in which it did what the level would, and what it lost."""
    losses = [each.loss for each in judged]
    return {
        "decisions": len(judged),
        "agreed": losses.count(0.0),
        "lost": rounded(total(losses)),
        "greatest": max(losses, default=0.0),
    }


def _afterwards(judged: Sequence[Judged], results: Mapping[Seat, float]) -> list[float]:
    """Return for each decision what its seat expected when it decided next, or its result: dice, opponents and what was revealed count."""
    following = dict(results)
    found: list[float] = []
    for each in reversed(judged):
        found.append(following[each.seat])
        following[each.seat] = each.before
    return found[::-1]


def _expectations(seats: Sequence[Seat], judged: Sequence[Judged], winners: Sequence[Seat]) -> list[dict[Seat, float]]:
    """Return for each decision the share of a victory that each seat could expect then: the mean of the latest opinions of all seats that
    decide then or later.

    The opinion of a seat that decides is `before` of the judgement for itself. The others share the rest in proportion to what they could
    expect before; a seat that neither decides again nor wins gets nothing. A mean is taken because each seat knows other cards, and a
    search tends to overrate the seat that is to act: by the opinion of one seat alone the lead would change with every turn.
    """
    last = {each.seat: place for place, each in enumerate(judged)}
    expected = dict.fromkeys(seats, 1 / len(seats))
    opinions = dict.fromkeys(seats, expected)
    found: list[dict[Seat, float]] = []
    for place, each in enumerate(judged):
        others = [seat for seat in seats if seat != each.seat]
        others = [seat for seat in others if last.get(seat, -1) > place or seat in winners] or others
        rest = total([expected[seat] for seat in others])
        opinion = {**dict.fromkeys(seats, 0.0), each.seat: each.before}
        for seat in others:
            opinion[seat] = (1 - each.before) * (expected[seat] / rest if rest > 0 else 1 / len(others))
        opinions[each.seat] = opinion
        asked = [seat for seat in seats if last.get(seat, -1) >= place]
        expected = {seat: total([opinions[other][seat] for other in asked]) / len(asked) for seat in seats}
        found.append({seat: rounded(share) for seat, share in expected.items()})
    return found


def _errors(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Return the decisions that lost most."""
    errors = sorted((each for each in judged if each.loss >= ERROR), key=lambda each: (-each.loss, each.version, each.seat))
    return [{"version": each.version, "kind": "error", "seat": each.seat, "loss": each.loss} for each in errors[:MOST_ERRORS]]


def _leads(judged: Sequence[Judged], expected: Sequence[Mapping[Seat, float]]) -> list[dict[str, Any]]:
    """Return where another seat becomes the expected winner: there it can expect more than the one so far, by `CLEAR` at least."""
    found: list[dict[str, Any]] = []
    leader: Seat | None = None
    for each, shares in zip(judged, expected, strict=True):
        first = max(shares, key=lambda seat: shares[seat])
        if leader is None:
            second = max((share for seat, share in shares.items() if seat != first), default=0.0)
            leader = first if shares[first] >= second + CLEAR else None
        elif shares[first] >= shares[leader] + CLEAR:
            found.append({"version": each.version, "kind": "lead", "seat": first, "from": leader})
            leader = first
    return found


def rounded(worth: float) -> float:
    """Return a worth with as many digits as an analysis tells.

    >>> rounded(1 / 3)
    0.3333
    """
    return round(worth, DIGITS)
