"""Again: run the decisions of artificial players in a record again, and compare (docs/auditing.md).

Give `Decisions` to an audit, which calls it with each action of an artificial player. `run` then decides one of them again, in any
process. It gets the question of the seat, as the level did, and of the record only what the entry stores about the decision.

>>> from games import GAMES
>>> from record.example import RAWS
>>> from record.trail import audit_entries
>>> found = Decisions()
>>> audit_entries(GAMES, RAWS, watch=found).ok
True
>>> [(task.version, task.seat, task.decision["level"]) for task in found.tasks]
[(3, 'blue', 'greedy')]
>>> found.outcome(run(GAMES, task) for task in found.tasks)
Outcome(run=1, findings=[], interrupted=[], otherwise=[], unchecked=[])

An entry with another action is found.

>>> other = found.tasks[0]._replace(action={"type": "place_unit", "tile": "b1"})
>>> [finding.code for finding in run(GAMES, other).findings]
['decision_differs']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from games.kernel import Action, Game, Memory, Seat, State, admit
from players import LEVELS, REVISION, budget_of, question_of
from players.level import Budget
from players.plans import digest_of
from record.allowances import ALLOWANCES, halvings
from record.entries import canonical
from record.guides import move_of
from record.thinking import decide
from record.thoughts import Decision, decision_in
from record.trail import Acted, Finding


class Task(NamedTuple):
    """A decision to run again.

    `game`, `revision`: its rules. `document`, `memory`: the position. `action`: what the seat did. `decision`: what the entry stores about
    the decision. `halvings`: how often the iterations of the level are halved (record/allowances.py). `seed`: of the decision.
    """

    version: int
    game: str
    revision: int
    seat: Seat
    document: State
    memory: Memory
    action: Action
    decision: Decision
    halvings: int
    seed: int


class Result(NamedTuple):
    """The result of a decision that was run again. `interrupted`: the level was stopped before it finished. `otherwise`: it would have
    decided otherwise if it had finished."""

    version: int
    findings: list[Finding]
    interrupted: bool = False
    otherwise: bool = False


class Outcome(NamedTuple):
    """The result for all decisions of a record.

    `run`: how many were run again. `interrupted`: the versions of decisions that were stopped before the level finished. `otherwise`: the
    versions of those that would have been different if the level had finished. `unchecked`: what could not be checked; each text completes
    the sentence "It was not checked: …".
    """

    run: int
    findings: list[Finding]
    interrupted: list[int]
    otherwise: list[int]
    unchecked: list[str]


class Decisions:
    """The decisions of artificial players in one record: the tasks to run again, and why the others cannot be run."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.findings: list[Finding] = []
        self._left: dict[str, list[int]] = {}  # by reason: the versions that are not run again

    def __call__(self, acted: Acted) -> None:
        """Read the next action of an artificial player."""
        entry, before, game = acted.entry, acted.before, acted.game
        decision = decision_in(entry)
        if decision is None and game is not None and move_of(game, before, entry.actor) == entry.action:
            return  # it followed the guide of the game (TBL-GUI-01)
        if decision is None:
            sentence = f"The level {acted.level} plays the seat, but the entry stores nothing about its decision."
            self.findings.append(Finding(entry.version, "decision_missing", sentence))
            return
        if decision["level"] != acted.level:
            return  # a finding of the audit
        if acted.seed is None:
            self._leave("whose seeds follow from the secret, which is not known until the match is over", entry.version)
        elif game is None:
            self._leave(f"under revision {entry.revision} of the rules, which is not here", entry.version)
        elif decision["players"] != REVISION:
            self._leave(f"by revision {decision['players']} of the players, not by revision {REVISION}, which is here", entry.version)
        elif decision["weights"] != digest_of(game.id):
            self._leave(f"by other plans and weights, with the digest {decision['weights']}", entry.version)
        elif decision["level"] not in LEVELS:
            self._leave(f"of the level {decision['level']}, which is not here", entry.version)
        else:
            times = 0
            if acted.level in ALLOWANCES:
                times = halvings(acted.level, before.table["clock"], acted.turn)
            what = (entry.version, game.id, game.revision, entry.actor, before.document, before.memory, entry.action, decision)
            self.tasks.append(Task(*what, times, acted.seed))

    def _leave(self, why: str, version: int) -> None:
        self._left.setdefault(why, []).append(version)

    def outcome(self, results: Iterable[Result]) -> Outcome:
        """Return the outcome, given the results of all tasks."""
        found = sorted(results, key=lambda result: result.version)
        findings = sorted([*self.findings, *(finding for result in found for finding in result.findings)], key=lambda each: each.version)
        interrupted = [result.version for result in found if result.interrupted]
        otherwise = [result.version for result in found if result.otherwise]
        unchecked = [f"{_counted(versions)} {why}" for why, versions in self._left.items()]
        if interrupted:
            so = f"whether time was really short: the server stopped {_counted(interrupted)} before the level finished"
            unchecked.append(f"{so}; it would have decided otherwise in {len(otherwise)} of {len(interrupted)}")
        return Outcome(len(found), findings, interrupted, otherwise, unchecked)


def _counted(versions: list[int]) -> str:
    """Return in words how many decisions there are, and the version of the first."""
    if len(versions) == 1:
        return f"the decision of version {versions[0]}"
    return f"{len(versions)} decisions, the first of version {min(versions)},"


def run(games: Mapping[str, Game], task: Task) -> Result:
    """Run a decision again, and compare. A tampered record gives a finding, never an exception."""
    try:
        return _run(games, task)
    except Exception as reason:  # noqa: BLE001 - a tampered record can hold a position that no match reaches
        sentence = f"The level cannot decide in this position: {type(reason).__name__}."
        return Result(task.version, [Finding(task.version, "decision_differs", sentence)])


def _run(games: Mapping[str, Game], task: Task) -> Result:
    version, decision = task.version, task.decision
    game = games[task.game].of_revision(task.revision)
    assert game is not None, "the rules of a task are here"
    level, budget, spent = decision["level"], decision["budget"], decision["spent"]
    question = question_of(game, task.document, task.seat, task.memory)
    due = budget_of(question, level).halved(task.halvings).iterations
    if budget != due:
        sentence = f"The level had a budget of {budget} iterations, but {due} were due."
        return Result(version, [Finding(version, "budget_differs", sentence)])
    thought, again = decide(question, level, Budget(budget), task.seed)
    whole, interrupted = thought, spent < thought.spent
    if interrupted:
        thought, _ = decide(question, level, Budget(budget, lambda done: done < spent), task.seed)
    findings: list[Finding] = []
    if again["saw"] != decision["saw"]:
        findings.append(Finding(version, "saw_differs", "What the level saw is not what its seat sees."))
    if thought.spent != spent:
        sentence = f"The record says that the level used {spent} iterations, but it uses {thought.spent}."
        findings.append(Finding(version, "budget_differs", sentence))
    if canonical(admit(game, thought.action)) != canonical(task.action):
        findings.append(Finding(version, "decision_differs", f"The level {level} decides otherwise, given what its seat sees."))
    return Result(version, findings, interrupted, interrupted and whole.action != thought.action)
