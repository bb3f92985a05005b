"""Clocks: how much time each seat has left. They follow from the entries of a match alone (TBL-CLK-02).

Nothing ticks. A clock is what was left at a moment, and since when it has run. All moments are in milliseconds since 1970.

The clock of a seat runs while its decision is awaited. Such a time without a break is a *stretch*. The first `free` milliseconds of a
stretch cost nothing, then the bank is used. All kinds of clocks are made of these two:

| kind | free | bank |
| --- | --- | --- |
| `per_action` | the seconds; each action begins a new stretch | nothing |
| `bank` | the delay | the seconds; the end of each stretch adds the increment |
| `days` | the hours | the vacation |
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_not
from typing import Any

from table.data import DAY_MS, HOUR_MS, RETURNING_MS, SECOND_MS
from table.document import Clock, SeatClock, Table
from table.settings import BANK, DAYS, NONE, PER_ACTION
from table.state import DISPUTED, OPEN, PAUSED, STARTED

Seat = str


def at_start(clock: Clock, seats: Sequence[Seat]) -> dict[Seat, SeatClock]:
    """Return the clock of each seat at the start of a match; none for a match without clocks (TBL-CLK-01)."""
    if clock["kind"] == NONE:
        return {}
    return {seat: {"bank": _bank(clock), "free": _free(clock), "since": None, "late": 0} for seat in seats}


def after_entry(before: Table, after: Table, was_to_act: Sequence[Seat], to_act: Sequence[Seat], actor: Seat, at: int, now: int) -> Table:
    """Return the table with the clocks that follow from an entry; the same object if none changes.

    (TBL-CLK-02, TBL-CLK-03, TBL-CLK-04, TBL-CLK-06, TBL-CLK-08)

    `before`, `after`: the table before the entry, and after all its facts are folded. `was_to_act`, `to_act`: who had to act in the game
    before it, and who has to act after it. `actor`: the seat whose action of the game the entry is, or "" for every other entry. `at`: the
    moment of the entry. `now`: the latest moment of this entry and of all before it. Call it once for each entry.
    """
    clocks = after["clocks"]["seats"]
    if not clocks:
        return after
    changed: dict[Seat, SeatClock] = {}
    for seat in was_to_act if was_to_act == to_act else {*was_to_act, *to_act}:
        clock = clocks.get(seat)
        if clock is not None:
            then = _after(before, after, seat, clock, seat in was_to_act, seat in to_act, actor == seat, at if actor == seat else now)
            if then is not clock:
                changed[seat] = then
    if not changed:
        return after
    return {**after, "clocks": {"returned": after["clocks"]["returned"], "seats": {**clocks, **changed}}}


def _after(
    before: Table, after: Table, seat: Seat, clock: SeatClock, was_to_act: bool, to_act: bool, acted: bool, moment: int
) -> SeatClock:
    """Return the clock of a seat after an entry; the same object if it does not change.

    `acted`: whether the entry is an action of the game by the seat. `moment`: when the seat's time until this entry ends.
    """
    acted = acted and seat not in after["substitutes"]
    awaited = to_act and _is_awaited(after, seat)
    runs = awaited and (after["phase"] == STARTED or goes_on_disputed(after, seat))
    late = clock["late"]
    kind = after["clock"]["kind"]
    anew = late > before["clocks"]["seats"].get(seat, clock)["late"] or (acted and kind == PER_ACTION)
    since = clock["since"]
    bank, free = clock["bank"], clock["free"]
    if since is not None:
        ends = anew or not awaited
        if runs and not ends:
            return clock if not (acted and late) else {"bank": bank, "free": free, "since": since, "late": 0}
        used = max(0, moment - since)
        bank, free = max(0, bank - max(0, used - free)), max(0, free - used)
    else:
        ends = was_to_act and not awaited and _is_awaited(before, seat)  # while the match is paused or disputed
    if ends:
        bank, free = bank + _increment(after["clock"]), _free(after["clock"])
    return {"bank": bank, "free": free, "since": moment if runs else None, "late": 0 if acted else late}


def _is_awaited(table: Table, seat: Seat) -> bool:
    """Return True if the decision of a seat that is to act is awaited from its player, perhaps after a pause or a dispute (TBL-CLK-02).

    It is not while an artificial player has taken over, or while the others vote about the seat.
    """
    return table["phase"] in (STARTED, PAUSED, DISPUTED) and seat not in table["substitutes"] and seat not in table["votes"]


def goes_on_disputed(table: Table, seat: Seat) -> bool:
    """Return True if the clock of a seat goes on in a match that is frozen: the seat has disputed, and no referee has taken the case
    (TBL-DIS-15)."""
    return (
        table["phase"] == DISPUTED
        and table["paused_until"] is None
        and any(one["seat"] == seat and one["state"] == OPEN and one["freezes"] and one["taken"] is None for one in table["disputes"])
    )


def refill(table: Table, seat: Seat, round: int) -> dict[str, Any] | None:
    """Return how the bank of a seat is refilled for a player who comes to it in a round of the game, or None if it is not (TBL-TIM-11).

    The first time it then holds a minute, or what the match began with if that is less; each later time half as much. It is refilled once
    a round at most, and only if it holds less.
    """
    clock = table["clocks"]["seats"].get(seat)
    if clock is None or table["clock"]["kind"] != BANK:
        return None
    before = table["refills"].get(seat)
    if before is not None and before["round"] == round:
        return None
    times = 1 if before is None else before["times"] + 1
    bank = min(RETURNING_MS, _bank(table["clock"])) >> (times - 1)
    return {"bank": bank, "round": round, "times": times} if bank > clock["bank"] else None


def shifted(clock: SeatClock, start: int, end: int) -> SeatClock:
    """Return a clock to which the time from `start` to `end` is given back, as far as it ran then (TBL-CLK-07)."""
    since = clock["since"]
    if since is None or end <= since:
        return clock
    return {**clock, "since": since + end - max(since, start)}


def deadline_of(table: Table, seat: Seat) -> int | None:
    """Return the moment when the time of a seat has run out, or None if its clock does not run (TBL-CLK-05)."""
    clock = table["clocks"]["seats"].get(seat)
    return None if clock is None or clock["since"] is None else clock["since"] + clock["free"] + clock["bank"]


def deadlines(table: Table) -> dict[Seat, int]:
    """Return the deadline of each seat whose clock runs."""
    return {
        seat: clock["since"] + clock["free"] + clock["bank"]
        for seat, clock in table["clocks"]["seats"].items()
        if clock["since"] is not None
    }


def in_order(table: Table, seats: Sequence[Seat]) -> list[tuple[int, Seat]]:
    """Return the deadlines of the seats whose clocks run, in the order in which they count: of those at the same moment first that of the
    seat whose clock has run longer, then that of the first in turn order (TBL-TIM-12). `seats`: all seats, in turn order."""
    running = deadlines(table)
    found = [(running[seat], seat) for seat in seats if seat in running]
    if len(found) > 1:
        clocks = table["clocks"]["seats"]
        found.sort(key=lambda one: (one[0], clocks[one[1]]["since"]))
    return found


def remaining(table: Table, seat: Seat, at: int) -> int:
    """Return the milliseconds that a seat with a clock has left at a moment: until its deadline, or for its next turn."""
    clock = table["clocks"]["seats"][seat]
    used = 0 if clock["since"] is None else max(0, at - clock["since"])
    return max(0, clock["free"] + clock["bank"] - used)


def only_clocks_differ(before: Table, after: Table) -> bool:
    """Return True if no fact of the table lies between two tables, one of which follows from the other: at most clocks differ.

    Both have the same members in the same order, since a later table is a copy in which some are replaced.
    """
    if before is after:
        return True
    differing = sum(map(is_not, before.values(), after.values()))
    return differing == 0 or (differing == 1 and before["clocks"] is not after["clocks"])


def _bank(clock: Clock) -> int:
    """Return what is in the bank at the start, in milliseconds."""
    kind = clock["kind"]
    return clock["seconds"] * SECOND_MS if kind == BANK else clock["vacation_days"] * DAY_MS if kind == DAYS else 0


def _free(clock: Clock) -> int:
    """Return what costs nothing at the start of each stretch, in milliseconds."""
    kind = clock["kind"]
    return clock["delay"] * SECOND_MS if kind == BANK else clock["hours"] * HOUR_MS if kind == DAYS else clock["seconds"] * SECOND_MS


def _increment(clock: Clock) -> int:
    """Return what the bank gains at the end of each stretch, in milliseconds."""
    return clock["increment"] * SECOND_MS if clock["kind"] == BANK else 0
