"""Reviewing: make the decisions of artificial players around a disputed version again, for the report on the dispute (TBL-DIS-06)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from games.kernel import Game, admit
from players import question_of
from players.level import Budget
from record.entries import canonical
from record.thinking import decide
from record.thinking.again import Decisions, Task
from record.trail import Acted
from table.state import DIFFERS, NOT_RUN, SAME
from workers.brake import is_ending
from workers.studying import in_order

SECONDS = 10.0  # for the decisions of a report; those that are left are not looked into
MOST_OPTIONS = 5
LARGEST_OPTION = 300  # bytes of the action of an option


class Reviewed:
    """The decisions around a version. An audit calls it with each action of an artificial player. `seconds`: how long `told` may take."""

    def __init__(self, games: Mapping[str, Game], version: int, around: int, seconds: float = SECONDS) -> None:
        self._games = games
        self._version = version
        self._around = around
        self._seconds = seconds
        self._found = Decisions()
        self._rows: dict[int, dict[str, Any]] = {}

    def __call__(self, acted: Acted) -> None:
        """Take notice of an action of an artificial player."""
        entry = acted.entry
        if abs(entry.version - self._version) <= self._around:
            self._rows[entry.version] = {
                "version": entry.version, "seat": entry.actor, "level": acted.level, "again": NOT_RUN, "options": [],
            }  # fmt: skip
            self._found(acted)

    def told(self) -> list[dict[str, Any]]:
        """Return the decisions in order. Those nearest to the version are made again first, while there is time."""
        until = time.monotonic() + self._seconds
        for task in sorted(self._found.tasks, key=lambda task: abs(task.version - self._version)):
            self._rows[task.version] |= _again(self._games, task, until)
        return [row for _, row in sorted(self._rows.items())]


def _again(games: Mapping[str, Game], task: Task, until: float) -> dict[str, Any]:
    """Make a decision again. Return the members that tell of it, or none if there was no time. `until`: in seconds of time.monotonic."""
    game, spent = games[task.game].of_revision(task.revision), task.decision["spent"]
    assert game is not None, "the rules of a task are here"

    def in_time() -> bool:
        return time.monotonic() < until and not is_ending()

    if not in_time():
        return {}
    question = question_of(game, task.document, task.seat, task.memory)
    budget = Budget(task.decision["budget"], lambda done: done < spent and in_time())
    thought, again = decide(question, task.decision["level"], budget, task.seed)
    if thought.spent < spent and not in_time():
        return {}
    options = [
        {"action": option["action"], "worth": round(1000 * min(1.0, max(0.0, option["worth"]))), "tries": option["tries"]}
        for option in in_order(thought.options[:MOST_OPTIONS])
        if len(canonical(option["action"])) <= LARGEST_OPTION
    ]
    same = again["saw"] == task.decision["saw"] and canonical(admit(game, thought.action)) == canonical(task.action)
    return {"again": SAME if same else DIFFERS, "options": options}
