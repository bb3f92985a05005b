"""Write the first report on a dispute: the facts for the referee and the seats (TBL-DIS-06).

The refused actions are the only part that not every seat may see. Each seat is shown its own (table/rules.py).
"""

from __future__ import annotations

from typing import Any

from events import play, recall
from events.audit import audit
from events.due import NotDue
from events.platform import Platform
from games.kernel import SPECTATOR, SYSTEM, Game, Refused
from record.entries import Entry, parse
from record.positions import Position
from table import rules as table_rules
from table.clocks import remaining

AROUND = 4  # versions before the disputed one, and after it
LONGEST_AUDIT = 20_000  # versions; a referee audits a longer match, because it takes too long for a worker
MOST_ROLLS = 12  # of an entry
MOST_FINDINGS = 20
MOST_REFUSED = 10  # of a seat, so that the actions of one seat do not depend on another


def attach(platform: Platform, match: str, number: int) -> play.Played:
    """Make the report on a dispute and append it. Raises NotDue if there is one, NoMatch, StoreUnavailable."""
    position = recall.position(platform, match)
    action = {"type": "attach_report", "dispute": number, "report": report(platform, position, number)}
    try:
        return play.act_at_table(platform, match, SYSTEM, action)
    except Refused:
        raise NotDue(match) from None


def report(platform: Platform, position: Position, number: int) -> dict[str, Any]:
    """Return the report on a dispute. `position`: the newest one. Raises NotDue if there is no such dispute, StoreUnavailable."""
    disputes = position.table["disputes"]
    if not 0 < number <= len(disputes):
        raise NotDue(position.match)
    version, game = disputes[number - 1]["version"], recall.rules_of(platform, position)
    before = max(0, version - AROUND - 1)
    entries = [parse(raw) for raw in platform.store.log.read(position.match, before, version + AROUND - before)]
    then = recall.state_at(platform, position.match, version)
    return {
        "version": position.version,
        "audit": _audited(platform, position),
        "entries": [_recorded(game, entry) for entry in entries],
        "clocks": {seat: remaining(then.table, seat, then.at) for seat in then.table["clocks"]["seats"]},
        "refused": _refused(platform, position.match, version),
    }


def _refused(platform: Platform, match: str, version: int) -> list[dict[str, Any]]:
    """Return the newest refused actions of each seat around a version, in order."""
    by_seat: dict[str, list[int]] = {}
    refused = [each for each in platform.sidelog.refusals(match).refused if abs(each.version - version) <= AROUND]
    for place, each in enumerate(refused):
        by_seat.setdefault(each.seat, []).append(place)
    kept = sorted(place for places in by_seat.values() for place in places[-MOST_REFUSED:])
    return [{"seat": each.seat, "version": each.version, "at": each.at, "code": each.code} for each in map(refused.__getitem__, kept)]


def _audited(platform: Platform, position: Position) -> dict[str, Any]:
    """Return the findings of an audit of the match, unless the match is too long for a worker."""
    if position.version > LONGEST_AUDIT:
        return {"state": "too_long", "findings": [], "found": 0}
    found = audit(platform, position.match).findings
    named = [{"version": finding.version, "code": finding.code} for finding in found[:MOST_FINDINGS]]
    return {"state": "fails" if found else "holds", "findings": named, "found": len(found)}


def _recorded(game: Game, entry: Entry) -> dict[str, Any]:
    """Return an entry in short form, with its public rolls."""
    rolls = [table_rules.shown(game, event, SPECTATOR) for event in entry.events if event["type"] in game.rolls]
    return {
        "version": entry.version,
        "actor": entry.actor,
        "action": entry.action["type"],
        "at": entry.at,
        "digest": entry.digest,
        "rolls": rolls[:MOST_ROLLS],
    }
