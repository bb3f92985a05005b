"""What the table promises to everybody who plays on, asked of a line in which a spoiler does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from games.chance import Drawn
from games.kernel import Action, Seat
from record.positions import session_after
from table.clocks import at_start
from table.data import DAY_MS
from table.deeds import DEEDS
from table.rules import is_table_action
from table.state import DISPUTED, PAUSED, player_of
from tools.fairness.line import Line
from tools.scenarios import Scenario

TIMES = 4
"""For how many times its own time a seat may keep others waiting."""

UNLIMITED = 10 * DAY_MS
"""For how long it may in a match without a clock, by anything but its own turn."""

DECLARED = frozenset({"end_vote"})
"""What everybody waits for who agreed to the match."""


class Broken(NamedTuple):
    """A promise that is broken: which, in what way, the whole sentence, and the line as a scenario. `means`: what the spoiler did.

    Of what breaks the same promise in the same way by more means, nobody needs to hear.
    """

    promise: str
    way: str
    why: str
    scenario: Scenario
    means: frozenset[str] = frozenset()

    def is_told_by(self, others: Iterable[Broken]) -> bool:
        """Return True if one of some others says the same, or more: the same promise, broken in the same way by no other means."""
        return any((one.promise, one.way) == (self.promise, self.way) and one.means <= self.means for one in others)


def waited(line: Line, spoiler: Seat) -> int:
    """Return the milliseconds until the system does something, if a spoiler makes other players wait for it; else 0.

    In a match without a clock, nobody promised anything about the length of a turn. A pause may go on for a day after others want to
    play. A dispute may freeze the match for the days that it names, while the clock of its seat would not run anyway.
    """
    due, table = line.due(), line.now.table
    if due is None or due[1]["type"] in DECLARED or not _others(line, spoiler):
        return 0
    stopped = table["phase"] in (PAUSED, DISPUTED)
    if not stopped and (spoiler not in line.document["to_act"] or spoiler in table["substitutes"] or not table["clocks"]["seats"]):
        return 0
    if table["phase"] == PAUSED:
        agreed = DAY_MS
    elif stopped and (spoiler not in line.document["to_act"] or table["paused_until"] is not None):
        agreed = table["dispute_days"] * DAY_MS
    else:
        agreed = 0
    return max(0, due[0] - line.now.at - agreed)


def _others(line: Line, spoiler: Seat) -> list[Seat]:
    """Return the other seats in play that players have."""
    table = line.now.table
    mine = player_of(table, spoiler)
    return [seat for seat in _playing(line) if player_of(table, seat) not in (None, mine)]


def _playing(line: Line) -> list[Seat]:
    return [] if line.document["outcome"] is not None else line.case.game.playing(line.document)


def broken(first: Line, line: Line, spoiler: Seat) -> Iterator[Broken]:
    """Yield the promises that a line breaks. `first`: where the spoiler began."""
    for told in (_result(line, spoiler), _time(line, spoiler), _rights(line, spoiler), _hands(first, line)):
        yield from told


def _told(promise: str, way: str, why: str, line: Line, then: Mapping[str, Any] | None = None) -> Broken:
    return Broken(promise, way, why, line.scenario(f"FAIR-{promise}", then or {}))


def _result(line: Line, spoiler: Seat) -> Iterator[Broken]:
    """Who loses when everybody plays on loses by not playing, too."""
    outcome = line.document["outcome"]
    if outcome is None or spoiler not in line.case.loses:
        return
    last = line.steps[-1]["do"]
    if not outcome["winners"] or (spoiler in outcome["winners"] and line.case.away is None and is_table_action(last)):
        why = f"{spoiler} loses when everybody plays on, and ends the match without playing: {outcome['reason']}"
        yield _told("result", f"{outcome['reason']} by {last['type']}", why, line, {"/game/outcome": outcome})


def _time(line: Line, spoiler: Seat) -> Iterator[Broken]:
    """A seat that keeps another player waiting for several times its own time does not play on as if nothing had happened."""
    start = at_start(line.now.table["clock"], [spoiler]).get(spoiler)
    allowed = UNLIMITED if start is None else TIMES * (start["bank"] + start["free"])
    done = [(step.get("seat"), step["do"]["type"]) for step in line.steps]
    if (spoiler, "dispute") in done and any(step["do"] == {"type": "time_out", "seat": spoiler} for step in line.steps):  # it has paid
        allowed += line.now.table["dispute_days"] * DAY_MS
    if line.held > allowed and line.is_master(spoiler):
        why = f"{spoiler} has held the match up for {line.held // 1000} s without playing, of {allowed // 1000} s, and may still play"
        then = {"/table/substitutes": line.now.table["substitutes"], "/game/to_act": line.document["to_act"]}
        yield _told("time", "", why, line, then)


def _undrawn(below: int) -> int:
    raise AssertionError("nothing is carried out")


def _rights(line: Line, spoiler: Seat) -> Iterator[Broken]:
    """Everybody may resign while the match goes on, and dispute what happened, whatever another seat does."""
    wanted = [(seat, kind) for seat in _others(line, spoiler)[:1] for kind in ("dispute", "resign")]
    session = session_after(line.case.game, line.now, line.now.at, Drawn(_undrawn), lambda version: ({}, {}))
    for seat, kind in [*wanted, (spoiler, "resign")]:
        action: Action = {"type": kind, **({"version": 1, "text": "Something is wrong."} if kind == "dispute" else {})}
        if kind == "resign" and seat not in _playing(line):
            continue
        refusal = DEEDS[kind].refusal(session, seat, action)
        if refusal is not None and refusal.code not in ("too_late", "already_disputed"):
            step = {"seat": seat, "at": line.now.at, "do": action, "refused": refusal.code}
            why = f"{seat} may not {kind} after what {spoiler} has done: {refusal.code}"
            yield _told("rights", f"{kind} {refusal.code}", why, line._replace(steps=(*line.steps, step)))


def _hands(first: Line, line: Line) -> Iterator[Broken]:
    """Nobody comes to play a seat who plays another one, or was shown what the seats may not see."""
    before, after = first.now.table["roster"], line.now.table["roster"]
    shown = {ruling["referee"] for dispute in line.now.table["disputes"] for ruling in dispute["rulings"]}
    for seat, one in after.items():
        player = one.get("player")
        if player is None or before[seat].get("player") == player:
            continue
        if player in shown or any(other.get("player") == player for other in before.values()):
            what = "has ruled on a dispute" if player in shown else "has another seat"
            yield _told("hands", what, f"the seat {seat} is played by {player}, who {what}", line, {f"/table/roster/{seat}": one})
