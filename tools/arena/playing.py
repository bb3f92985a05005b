"""Play one match of an arena: ask levels and programs, keep their time, and write the dossier."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from events.notary.signer import Signer
from events.timing.clock import wall_time
from games import GAMES
from games.choices import with_counts
from games.kernel import SYSTEM, Action, Refused
from players import budget_of, question_of
from record.allowances import ALLOWANCES, halvings
from record.entries import NotCanonical, canonical
from record.rules import content_hash
from record.thinking import decide
from table.clocks import deadline_of
from table.deadlines import next_deed
from tools.arena.ledger import Ledger
from tools.arena.plan import ORGANISER, Bot, Plan, Planned
from tools.arena.programs import Line, Program, greeted, parsed, wait

LONGEST = 100_000  # entries of a match
RESIGN = "resign"
LONGEST_FAULT = 200  # characters


class Failed(NamedTuple):
    """How a program failed in a match: its bot, a sentence, and the end of its standard error."""

    bot: str
    sentence: str
    errors: str


class Played(NamedTuple):
    """A match that was played: its dossier, the name and version of each program by bot, and how bots failed.

    The dossier is empty if the match was not played to its end, because a player of a service did not come.
    """

    dossier: bytes
    programs: dict[str, dict[str, str]]
    failed: list[Failed]


def play(plan: Plan, planned: Planned, signer: Signer, memory: int = 0) -> Played:
    """Play a match of the plan whose bots are levels and programs. `memory`: bytes of address space of each program, 0 for no bound.

    A program that cannot be started, ends, closes its pipes or answers what the rules refuse resigns. One whose time runs out forfeits by
    the clock of the match.
    """
    started = time.monotonic_ns() // 1_000_000
    began = wall_time()

    def now() -> int:
        return began + time.monotonic_ns() // 1_000_000 - started

    ledger = Ledger(GAMES[plan.game], plan.match_id(planned), plan.secret(planned), now)
    table = _Table(plan, planned, ledger, now)
    try:
        table.sit_down(memory)
        while not ledger.position.ended:
            assert ledger.position.version < LONGEST, "the match does not end"
            table.step()
        table.say_goodbye()
    finally:
        for program in table.programs.values():
            program.close()
    return Played(ledger.dossier(signer), table.about, table.failed)


class _Table:
    """The bots around one match."""

    def __init__(self, plan: Plan, planned: Planned, ledger: Ledger, now: Callable[[], int]) -> None:
        self.plan, self.planned, self.ledger, self.now = plan, planned, ledger, now
        self.programs: dict[str, Program] = {}  # by seat
        self.about: dict[str, dict[str, str]] = {}
        self.failed: list[Failed] = []
        self._asked: dict[str, list[list[Any] | None]] = {}  # by seat, the choices of its open questions; None for one that is past

    def sit_down(self, memory: int) -> None:
        """Create the match and start the programs. The match starts when the last of them has a seat."""
        ledger, seats = self.ledger, self.planned.seats
        ledger.create(ORGANISER, self.plan.creation(self.planned))
        for seat, bot in seats.items():
            if bot.program:
                self._start(seat, bot, memory)
        for seat, bot in seats.items():
            if bot.program:
                ledger.at_table(bot.who, {"type": "take_seat", "seat": seat})
        for seat, bot in seats.items():
            if bot.program and seat not in self.programs:
                self._resign(seat)

    def _start(self, seat: str, bot: Bot, memory: int) -> None:
        """Start the program of a seat, and note if it cannot be."""
        try:
            program = Program(bot.program, memory)
        except OSError as reason:
            self.failed.append(Failed(bot.name, f"cannot be started: {reason.strerror}", ""))
            return
        self.programs[seat], self._asked[seat] = program, []
        about = greeted(program, hello(self.plan, self.ledger.position.match, list(self.planned.seats), seat, self.ledger.seed(seat)))
        if about:
            self.about[bot.name] = about
        else:
            self._note_fault(seat, program.fault)
            program.kill()
            del self.programs[seat]

    def step(self) -> None:
        """Let the system or a level act, or else wait for a program or for the time."""
        position, seats = self.ledger.position, self.planned.seats
        to_act = position.to_act
        if SYSTEM in to_act:
            self.ledger.advance()
            return
        level = next((seat for seat in to_act if seats[seat].level), None)
        if level is not None:
            self._think(level, seats[level].level)
            return
        for seat in to_act:
            if not [asked for asked in self._asked[seat] if asked is not None]:
                self._ask(seat)
        due = next_deed(position.table, position.document, position.at, position.played)
        assert due is not None, "programs have clocks"
        moment, action = due
        line = wait([self.programs[seat] for seat in to_act], time.monotonic() + (moment + 1 - self.now()) / 1000)
        received = self.now() if line is None else self.now() - round((time.monotonic() - line.at) * 1000)
        acting = None if line is None else next(seat for seat in to_act if self.programs[seat] is line.program)
        if received > moment:
            self.ledger.at_table(SYSTEM, action)
            self._leave_out(action["seat"], "let its time run out")
            if acting == action["seat"] or acting not in self.ledger.position.to_act:
                line = None
        if line is not None and acting is not None:
            self._take(acting, line, received)
        self._forget_questions()

    def _think(self, seat: str, level: str) -> None:
        """Let a level decide, with the iterations that it would have in a service with this clock."""
        ledger, position = self.ledger, self.ledger.position
        question = question_of(ledger.game, position.document, seat, position.memory)
        times = halvings(level, position.table["clock"], ledger.turn(seat)) if level in ALLOWANCES else 0
        thought, decision = decide(question, level, budget_of(question, level).halved(times), ledger.seed(seat))
        ledger.play(seat, thought.action, decision=decision)

    def _ask(self, seat: str) -> None:
        """Send a program its question."""
        position, game = self.ledger.position, self.ledger.game
        question = question_of(game, position.document, seat, position.memory)
        deadline = deadline_of(position.table, seat)
        choices = list(map(with_counts, question.choices))
        self._asked[seat].append(choices)
        self.programs[seat].send(
            {
                "question": position.version,
                "seat": seat,
                "milliseconds": None if deadline is None else max(0, deadline - self.now()),
                "view": question.view,
                "choices": choices,
                "memory": question.memory,
            }
        )

    def _take(self, seat: str, line: Line, received: int) -> None:
        """Take the line of a program: play its answer, or resign for it."""
        if line.fault:
            self._resign(seat, line.fault)
            return
        choices = self._asked[seat].pop(0) if self._asked[seat] else None
        if choices is None:
            return  # the answer to a question that is past
        try:
            action = chosen(line.line, choices)
        except BadAnswer as reason:
            self._resign(seat, str(reason))
            return
        try:
            if action == {"type": RESIGN}:
                self._resign(seat)
            else:
                self.ledger.play(seat, action, received=received)
        except Refused as refused:
            self.ledger.note_refused(seat, refused, action)
            self._resign(seat, f"answered what the rules refuse ({refused.code})")

    def _resign(self, seat: str, fault: str = "") -> None:
        """Resign for a seat. `fault`: how its program failed, if it did."""
        if not self.ledger.position.ended:
            self.ledger.at_table(seat, {"type": RESIGN})
        if fault:
            self._leave_out(seat, fault)

    def _leave_out(self, seat: str, fault: str) -> None:
        """Kill the program of a seat that has failed, and note why."""
        self._note_fault(seat, fault)
        self.programs[seat].fault = fault
        self.programs[seat].kill()

    def _note_fault(self, seat: str, fault: str) -> None:
        errors = self.programs[seat].errors.decode(errors="replace")
        self.failed.append(Failed(self.planned.seats[seat].name, fault, errors))

    def _forget_questions(self) -> None:
        """Mark the questions of seats that need not act any more. Their answers are skipped."""
        to_act = self.ledger.position.to_act
        for seat, asked in self._asked.items():
            if seat not in to_act:
                self._asked[seat] = [None] * len(asked)

    def say_goodbye(self) -> None:
        """Tell the programs how the match has ended."""
        for program in self.programs.values():
            if not program.fault:
                program.send({"over": self.ledger.position.document["outcome"]})


class BadAnswer(Exception):
    """A line is no answer. The text says why, as a sentence without a subject."""


def chosen(line: bytes, choices: list[Any]) -> Action:
    """Return the action in an answer: `{"choice": 3}`, with `choose` for counts, or `{"action": {…}}`. Raises BadAnswer.

    >>> choices = [{"action": {"type": "roll"}}, {"action": {"type": "add", "by": 1}, "choose": {"by": [1, 3]}}]
    >>> chosen(b'{"choice": 1, "choose": {"by": 2}}', choices), chosen(b'{"choice": 1}', choices)
    ({'type': 'add', 'by': 2}, {'type': 'add', 'by': 1})
    >>> chosen(b'{"choice": 2}', choices)
    Traceback (most recent call last):
    tools.arena.playing.BadAnswer: answered with choice 2 of 0 to 1
    """
    answer = parsed(line)
    if answer is None or ("choice" in answer) == ("action" in answer):
        raise BadAnswer('answered with something else than {"choice": number} or {"action": object}')
    place, more = answer.get("choice"), answer.get("choose", {})
    try:
        canonical(answer)
    except NotCanonical as reason:
        raise BadAnswer(f"answered with what no record can hold: {reason}"[:LONGEST_FAULT]) from None
    if "action" in answer:
        if not isinstance(answer["action"], dict):
            raise BadAnswer("answered with an action that is no object")
        return dict(answer["action"])
    if type(place) is not int or not 0 <= place < len(choices):
        raise BadAnswer(f"answered with choice {place!r} of 0 to {len(choices) - 1}"[:LONGEST_FAULT])
    if not isinstance(more, dict):
        raise BadAnswer("answered with a `choose` that is no object")
    return {**choices[place]["action"], **more}


def hello(plan: Plan, match: str, seats: list[str], seat: str, seed: int) -> dict[str, Any]:
    """Return what a program is told first: which match it plays, which seat of the `seats`, and by which rules and clock.

    `seed` is for what the program draws: with the same arena it is the same.
    """
    game = GAMES[plan.game]
    rules = {"game": plan.game, "revision": game.revision, "rules": content_hash(game), "options": game.with_defaults(plan.options)}
    return {**rules, "match": match, "seats": seats, "seat": seat, "clock": plan.clock, "seed": seed % (1 << 53)}
