"""Write the first report on a dispute: what no entry tells the referee and the seats (TBL-DIS-06).

Seats may see of the refused actions and the decisions only their own (table/rules.py). What entries tell is read from them
(service/api/cases.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from events import play, recall
from events.audit import audit
from events.due import NotDue
from events.platform import Platform
from games.kernel import SYSTEM, Game, Refused
from record.entries import canonical
from record.positions import Position
from record.trail import Acted

AROUND = 4  # versions before the disputed one, and after it
LONGEST_AUDIT = 20_000  # versions; a referee audits a longer match, because it takes too long for a worker
MOST_FINDINGS = 20
MOST_REFUSED = 10  # of a seat, so that the actions of one seat do not depend on another
LARGEST_REFUSED = 300  # bytes of a refused action


class Thinking(Protocol):
    """What artificial players thought around a version. The audit of a match calls it with each of their actions, in order."""

    def __call__(self, acted: Acted) -> None:
        """Take notice of an action of an artificial player."""

    def told(self) -> list[dict[str, Any]]:
        """Return the decisions around the version as the report has them."""


Thinker = Callable[[Mapping[str, Game], int, int], Thinking]
"""Returns the `Thinking` of some games around a version, and so many versions before and after it."""


def attach(platform: Platform, match: str, number: int, thinker: Thinker) -> play.Played:
    """Make the report on a dispute and append it. Raises NotDue if there is one, NoMatch, StoreUnavailable."""
    position = recall.position(platform, match)
    action = {"type": "attach_report", "dispute": number, "report": report(platform, position, number, thinker)}
    try:
        return play.act_at_table(platform, match, SYSTEM, action)
    except Refused:
        raise NotDue(match) from None


def report(platform: Platform, position: Position, number: int, thinker: Thinker) -> dict[str, Any]:
    """Return the report on a dispute. `position`: the newest one. Raises NotDue if there is no such dispute, StoreUnavailable."""
    disputes = position.table["disputes"]
    if not 0 < number <= len(disputes):
        raise NotDue(position.match)
    version = disputes[number - 1]["version"]
    thinking = thinker(platform.games, version, AROUND)
    audited = _audited(platform, position, thinking)
    refused = _refused(platform, position.match, version)
    return {"version": position.version, "audit": audited, "refused": refused, "decisions": thinking.told()}


def _refused(platform: Platform, match: str, version: int) -> list[dict[str, Any]]:
    """Return the newest refused actions of each seat around a version, in order."""
    by_seat: dict[str, list[int]] = {}
    refused = [each for each in platform.sidelog.refusals(match).refused if abs(each.version - version) <= AROUND]
    for place, each in enumerate(refused):
        by_seat.setdefault(each.seat, []).append(place)
    kept = sorted(place for places in by_seat.values() for place in places[-MOST_REFUSED:])
    found = []
    for each in map(refused.__getitem__, kept):
        told = {"seat": each.seat, "version": each.version, "at": each.at, "code": each.code, "rule": each.rule}
        small = each.action is not None and len(canonical(each.action)) <= LARGEST_REFUSED
        found.append({**told, "action": each.action} if small else told)
    return found


def _audited(platform: Platform, position: Position, thinking: Thinking) -> dict[str, Any]:
    """Return the findings of an audit of the match, unless the match is too long for a worker."""
    if position.version > LONGEST_AUDIT:
        return {"state": "too_long", "findings": [], "found": 0}
    found = audit(platform, position.match, watch=thinking).findings
    named = [{"version": finding.version, "code": finding.code} for finding in found[:MOST_FINDINGS]]
    return {"state": "fails" if found else "holds", "findings": named, "found": len(found)}
