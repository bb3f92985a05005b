"""Carry out deadlines: what the system does at the table of a match when a time has passed, such as a time-out.

Each is one append with the expected version, so only one of two workers succeeds. A request that was received before a deadline comes
first. So does an outage: clocks first get back the time that it took, which moves the deadline.
"""

from __future__ import annotations

from events import deciding, play, recall
from events.due import NotDue
from events.platform import Platform
from games.kernel import SYSTEM, Action
from record.positions import Position
from table.deadlines import next_deed


def meet(platform: Platform, match: str) -> play.Played:
    """Do what is due at the table of a match, in one append. Raises NotDue, Stale, NoMatch, StoreUnavailable."""
    cached = recall.newest(platform, match)
    due = _next(cached.position)
    if due is None or not has_passed(platform, due[0]):
        raise NotDue(match)
    later, decided = deciding.give_back(platform, cached, None)
    due = _next(later.position)
    if due is not None and due[0] < platform.clock.now():
        _prepare(platform, later.position, due[1])
        decided.append(deciding.decide_at_table(platform, later, deciding.Attempt(SYSTEM, due[1])))
    if not decided:
        raise NotDue(match)
    return play.write_once(platform, cached, decided)


def _prepare(platform: Platform, position: Position, action: Action) -> None:
    """Change the other match that an action of the system involves, before the action is appended. It is safe to do this twice.

    Raises StoreUnavailable.
    """
    origin = position.table["origin"]
    if action["type"] == "begin_continuation":
        play.begin_continuation(platform, position)
    if action["type"] == "open_origin" and origin is not None:
        play.open_record(platform, origin["match"])


def has_passed(platform: Platform, moment: int) -> bool:
    """Return True if a moment has passed, every request received before it is done, and no outage lasts.

    After a True, this process knows all outages until that moment. Raises StoreUnavailable.
    """
    now = platform.clock.now()
    if now <= moment:
        return False
    platform.pulse.refresh(moment)
    return moment < settled(platform, now)


def settled(platform: Platform, now: int) -> int:
    """Return the moment until which deadlines count, as far as this process knows: at most `now`, and 0 during an outage."""
    floor = None if platform.pulse.is_disturbed else platform.pulse.floor(now)
    return 0 if floor is None else floor


def _next(position: Position) -> tuple[int, Action] | None:
    return next_deed(position.table, position.document, position.at, position.played)
