"""Play matches of an arena on a service. Players of the service sit there with levels, and with the programs of the arena.

The arena has an account that creates the matches, and one for each of its programs. They are in `accounts.json`, beside its keys. A player
is invited, takes the seat, and plays, in whatever way. The service keeps the clocks, draws the dice and signs the dossiers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from events.keeping import durable
from sdk.python.warledger_client import Client, Problem, in_the_game
from tools.arena.plan import Bot, Plan, Planned
from tools.arena.playing import BadAnswer, Failed, Played, chosen, hello
from tools.arena.programs import Line, Program, greeted, wait

ACCOUNTS = "accounts.json"
RECEIPTS = "receipts"
ORGANISER = "Arena"
STARTING = 600.0  # seconds for the players to take their seats
PAUSE = 0.5  # seconds between two looks at a match
WAIT = 20  # seconds of a long poll


def registered(plan: Plan, keys: Path) -> Plan:
    """Make the accounts of an arena on its service. Return the plan with them, and with the key of the service.

    Raises Error, OSError.
    """
    client = Client(plan.service)
    made = {name: client.post("/v1/players", {"name": name}) for name in (ORGANISER, *(bot.name for bot in plan.bots if bot.program))}
    accounts = {name: {"id": account["id"], "key": account["key"]} for name, account in made.items()}
    durable.write(keys / ACCOUNTS, json.dumps(accounts, indent=1).encode())
    published = client.get("/.well-known/warledger-keys")["keys"]
    bots = tuple(bot._replace(player=accounts[bot.name]["id"]) if bot.program else bot for bot in plan.bots)
    return plan._replace(bots=bots, service_key=published[-1]["vkey"])


def with_accounts(bots: Sequence[Bot], plan: Plan) -> tuple[Bot, ...]:
    """Return bots as the command line names them with the accounts that a plan has for them."""
    known = {bot.name: bot.player for bot in plan.bots if bot.program}
    return tuple(bot._replace(player=known.get(bot.name, "")) if bot.program else bot for bot in bots)


def play(plan: Plan, planned: Planned, keys: Path, memory: int = 0) -> Played:
    """Play a match on the service, or go on with it. `memory`: as for matches that are played here.

    Raises Error.
    """
    accounts = json.loads((keys / ACCOUNTS).read_bytes())
    body = {name: value for name, value in plan.creation(planned).items() if name != "type"}
    request = sha256(f"{plan.key} {planned.number}".encode()).hexdigest()[:32]
    organiser = Client(plan.service, accounts[ORGANISER]["key"])
    # The same request gets the same match, so a match that was cut short goes on.
    match: str = organiser.request("POST", "/v1/matches", body=body, headers={"Idempotency-Key": request}).json()["id"]
    table = _Table(plan, planned, match, organiser, {bot.name: accounts[bot.name]["key"] for bot in plan.bots if bot.program}, keys)
    try:
        table.sit_down(memory)
        if table.has_started():
            while table.step():
                pass
            return Played(organiser.fetch(f"/v1/matches/{match}/dossier"), table.about, table.failed)
        absent = ", ".join(table.absent())
        return Played(b"", table.about, [*table.failed, Failed(absent, f"did not take a seat of {match} on {plan.service}", "")])
    finally:
        for program in table.programs.values():
            program.close()


class _Table:
    """The programs of the arena around one match of the service. Their moves are signed, by keys in a folder beside the accounts."""

    def __init__(self, plan: Plan, planned: Planned, match: str, organiser: Client, accounts: dict[str, str], keys: Path) -> None:
        self.plan, self.planned, self.path = plan, planned, f"/v1/matches/{match}"
        self.programs: dict[str, Program] = {}  # by seat
        self.about: dict[str, dict[str, str]] = {}
        self.failed: list[Failed] = []
        self._organiser = organiser
        programs = {seat: bot for seat, bot in planned.seats.items() if bot.program}
        self._seats = {
            seat: Client(plan.service, accounts[bot.name], receipts=keys / RECEIPTS).match(match) for seat, bot in programs.items()
        }
        self._asked: dict[str, list[Any]] = {}  # by seat, the choices of its open question
        self._late: dict[str, int] = {}  # by seat, how many answers will come to questions that are past

    def sit_down(self, memory: int) -> None:
        """Start the programs, and take their seats. One that fails resigns as soon as the match has started."""
        for seat, match in self._seats.items():
            bot = self.planned.seats[seat]
            try:
                program = self.programs[seat] = Program(bot.program, memory)
            except OSError as reason:
                self.failed.append(Failed(bot.name, f"cannot be started: {reason.strerror}", ""))
            else:
                seed = int.from_bytes(sha256(f"{self.plan.seed} {self.path} {seat}".encode()).digest()[:6])
                self.about[bot.name] = greeted(program, hello(self.plan, match.id, list(self.planned.seats), seat, seed))
                if program.fault:
                    self._fail(seat, program.fault)
            if self._standing()["seats"][seat].get("player") != bot.player:
                match.join(seat)

    def has_started(self) -> bool:
        """Wait until everybody has a seat, for a while. Return False if somebody did not come."""
        until = time.monotonic() + STARTING
        while self._standing()["status"] == "open":
            if time.monotonic() > until:
                return False
            time.sleep(PAUSE)
        for seat in self._seats:
            if seat not in self.programs or self.programs[seat].fault:
                self._resign(seat)
        return True

    def absent(self) -> list[str]:
        """Return the bots that have no seat yet."""
        seats = self._standing()["seats"]
        return [bot.name for seat, bot in self.planned.seats.items() if "open" in seats[seat]]

    def step(self) -> bool:
        """Ask the programs that must decide, and play the first answer. Return False once the match is over."""
        standing = self._standing()
        for seat in [seat for seat in self._asked if seat not in standing["to_act"]]:
            self._forget(seat)
        if standing["status"] == "over":
            for match in self._seats.values():
                match.finish()
            return False
        mine = [seat for seat in standing["to_act"] if seat in self.programs and not self.programs[seat].fault]
        if not mine:
            self._organiser.get(f"{self.path}/entries", after=standing["version"], wait=WAIT)
            return True
        for seat in mine:
            if seat not in self._asked:
                self._ask(seat, standing)
        line = wait([self.programs[seat] for seat in mine], time.monotonic() + PAUSE)
        if line is not None:
            self._take(next(seat for seat in mine if self.programs[seat] is line.program), line)
        return True

    def _standing(self) -> dict[str, Any]:
        found: dict[str, Any] = self._organiser.get(self.path)
        return found

    def _ask(self, seat: str, standing: dict[str, Any]) -> None:
        """Send a program its question. The milliseconds are those that the service counts, less those of the way."""
        match = self._seats[seat]
        state, found = match.state(viewer=seat), match.choices(seat)
        choices = in_the_game(found["choices"])
        if not choices:
            return
        self._asked[seat] = list(choices)
        left = standing["clocks"].get(seat, {}).get("left")
        question = {"question": found["version"], "seat": seat, "milliseconds": left}
        self.programs[seat].send({**question, "view": state["view"], "choices": choices, "memory": {}})

    def _take(self, seat: str, line: Line) -> None:
        """Take the line of a program: play its answer, or resign for it."""
        if line.fault:
            self._fail(seat, line.fault)
            self._resign(seat)
            return
        if self._late.get(seat, 0):
            self._late[seat] -= 1
            return
        if seat not in self._asked:
            return
        choices = self._asked.pop(seat)
        try:
            action = chosen(line.line, choices)
        except BadAnswer as reason:
            self._fail(seat, str(reason))
            self._resign(seat)
            return
        try:
            self._seats[seat].act(action, seat=seat)
        except Problem as problem:
            if problem.status in (400, 422):
                self._fail(seat, f"answered what the rules refuse ({problem.code})")
                self._resign(seat)

    def _resign(self, seat: str) -> None:
        """Resign for a seat, unless the match is over for it already."""
        try:
            self._seats[seat].act({"type": "resign"}, seat=seat)
        except Problem as problem:
            if problem.status != 409:
                raise

    def _forget(self, seat: str) -> None:
        """Forget a question: somebody has left, or the time of the seat has run out. Its answer is skipped."""
        del self._asked[seat]
        self._late[seat] = self._late.get(seat, 0) + 1

    def _fail(self, seat: str, fault: str) -> None:
        """Kill the program of a seat, and note why."""
        program = self.programs[seat]
        self.failed.append(Failed(self.planned.seats[seat].name, fault, program.errors.decode(errors="replace")))
        program.fault = fault
        program.kill()
