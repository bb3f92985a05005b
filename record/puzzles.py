"""Puzzles: a decision of a finished match for others to find. What is judged, and by which numbers, stands here; record/thinking judges.

A puzzle is about one action, also where a turn has several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from games.kernel import Action, Event
from record.entries import canonical

LEVEL = "expert"
"""The level that judges."""

DIFFICULTIES = ("easy", "normal", "hard", "expert")
TOLERANCE = 0.02
"""What an action may cost and still solve a puzzle: a search does not tell such actions apart."""
LEAST = 0.05
"""A puzzle has an action that costs so much, at least."""
CANDIDATES = 12
"""How many actions are judged when a puzzle is made. Others are judged when somebody tries them."""
FEW = 3
"""A puzzle with so many actions, or fewer, is one step easier: some find it by chance."""


class Reply(NamedTuple):
    """What may come after an action, as the seat of the puzzle would be shown it: who acts, the type of the action, and its events."""

    actor: str
    type: str
    events: list[Event]


class Weighed(NamedTuple):
    """An action with the share of a victory that the level expects after it, 0 to 1, and what may follow it."""

    action: Action
    worth: float
    line: Sequence[Reply]


class Puzzle(NamedTuple):
    """A puzzle as it is kept.

    `at`: the version at which the seat must act. `by`: the player who made it. `made`: when, in ms since 1970. `gap`: what the best
    action that does not solve it costs. `weighed`: the actions that were judged, the best first. `tried`, `solved`: how often.
    """

    match: str
    at: int
    game: str
    seat: str
    by: str
    made: int
    difficulty: str
    gap: float
    weighed: Sequence[Weighed]
    tried: int = 0
    solved: int = 0

    @property
    def id(self) -> str:
        """The id: a decision is in one puzzle at most.

        >>> example = Puzzle("maaaaaaaaaaaaaaaa", 57, "war", "red", "p", 0, "hard", 0.1, [])
        >>> example.id
        'maaaaaaaaaaaaaaaa-57'
        """
        return id_of(self.match, self.at)

    @property
    def best(self) -> Weighed:
        """The best action."""
        return self.weighed[0]

    def find(self, action: Action) -> Weighed | None:
        """Return what is known of an action, or None if it was not judged when the puzzle was made."""
        return next((each for each in self.weighed if each.action == action), None)

    def cost(self, worth: float) -> float:
        """Return what an action costs after which a seat can expect so much: 0 if it is better than the best that was known.

        >>> puzzle = Puzzle("m", 57, "war", "red", "p", 0, "hard", 0.1, [Weighed({"type": "stop"}, 0.6, [])])
        >>> puzzle.cost(0.45), puzzle.cost(0.7), puzzle.solves(0.59), puzzle.solves(0.5)
        (0.15, 0, True, False)
        """
        return max(0, round(self.best.worth - worth, 4))

    def solves(self, worth: float) -> bool:
        """Return True if an action after which a seat can expect so much solves the puzzle."""
        return self.cost(worth) <= TOLERANCE


def id_of(match: str, at: int) -> str:
    """Return the id of the puzzle of a position."""
    return f"{match}-{at}"


def text_of(action: Action) -> str:
    """Return an action as text that is the same for equal actions."""
    return canonical(action).decode()


def packed(puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle as JSON, without how often it was tried and solved."""
    found = {**puzzle._asdict(), "weighed": list(map(listed, puzzle.weighed))}
    del found["tried"], found["solved"]
    return found


def unpacked(found: Mapping[str, Any], tried: int = 0, solved: int = 0) -> Puzzle:
    """Return a puzzle from its JSON."""
    return Puzzle(**{**found, "weighed": [weighed(each) for each in found["weighed"]], "tried": tried, "solved": solved})


def listed(weighed: Weighed) -> list[Any]:
    """Return a judged action as JSON."""
    return [weighed.action, weighed.worth, [list(reply) for reply in weighed.line]]


def weighed(found: Sequence[Any]) -> Weighed:
    """Return a judged action from its JSON."""
    action, worth, line = found
    return Weighed(action, worth, [Reply(*reply) for reply in line])
