"""Deadlines: what the system does at the table of a match once a moment has passed, such as a time-out.

It is done in one append with the expected version, so that of two workers one does it. No deadline overtakes a request that was received
before it, or an outage: the time that the outage took is given back first, and then the deadline is another one.
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
        decided.append(deciding.decide_at_table(platform, later, SYSTEM, due[1], None, None))
    if not decided:
        raise NotDue(match)
    return play.write_once(platform, cached, decided)


def _prepare(platform: Platform, position: Position, action: Action) -> None:
    """Do in another match what an action of the system needs there first. It can be done again, if this process ends before it is noted.

    Raises StoreUnavailable.
    """
    origin = position.table["origin"]
    if action["type"] == "begin_continuation":
        play.begin_continuation(platform, position)
    if action["type"] == "open_origin" and origin is not None:
        play.open_record(platform, origin["match"])


def has_passed(platform: Platform, moment: int) -> bool:
    """Return True if a moment has passed, no request that was received until then is still being carried out, and no outage goes on.

    All outages until then are known afterwards. Raises StoreUnavailable.
    """
    now = platform.clock.now()
    if now <= moment:
        return False
    platform.pulse.refresh(moment)
    return moment < settled(platform, now)


def settled(platform: Platform, now: int) -> int:
    """Return the moment until which deadlines count, as far as this process knows: `now` at the latest, and 0 while an outage goes on."""
    floor = None if platform.pulse.is_disturbed else platform.pulse.floor(now)
    return 0 if floor is None else floor


def _next(position: Position) -> tuple[int, Action] | None:
    return next_deed(position.table, position.document["outcome"] is not None, position.at)
