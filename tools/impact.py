"""Show what the present rules would change in recorded matches: `./run impact RECORDS`.

The newest rules decide every action of every match again, whatever revision the match began with. For each match, the output names the
first action that would go otherwise, and whether the result would change. To find the result, the match is played on from that action with
its own dice and its recorded actions, as far as the present rules allow.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from games import GAMES
from games.drawing import legible
from games.kernel import Event, Game, Refused
from record.entries import Entry, Unreadable, parse
from record.trail import Trail
from table.rules import follows_the_end
from tools.records import BadRecord, Record, read

SAME = "same"
CHANGES = "changes"
OPEN = "open"

Outcome = Mapping[str, Any] | None


class Difference(NamedTuple):
    """An action that would go otherwise, and how, in a sentence."""

    version: int
    actor: str
    action: str
    how: str


class Impact(NamedTuple):
    """What the present rules would change in a match.

    `first`: the first action that would go otherwise, or None. `result`: `same`, `changes`, or `open` if the record cannot be continued
    beyond the version `until`. `recorded` and `present` are the outcomes, or None for an unfinished match. `undecided`: how many entries
    could not be decided, because they draw and the secret is not known, or because their rules are newer than these.
    """

    match: str
    game: str
    revision: int
    entries: int
    undecided: int
    first: Difference | None
    result: str
    until: int
    recorded: Outcome
    present: Outcome


class Retelling(Trail):
    """A match that the present rules decide again. It leaves the record at the first action that goes otherwise."""

    def __init__(self, games: Mapping[str, Game], record: Record) -> None:
        super().__init__(present(games), record.secret, record.match)
        self.difference: Difference | None = None
        self.undecided = 0
        self.ended = False  # the match is over, or it cannot go on

    def tell(self, entry: Entry) -> None:
        """Decide the action of the next entry again."""
        if self.position is not None and self.position.ended and not follows_the_end(entry.action):
            if self.difference is None:
                self._differs_in(entry, "it would come after the end of the match")
            self.ended = True
            return
        self.version = entry.version
        try:
            again, documents = self._decide_again(entry)
        except Refused as refused:
            self._stop(entry, f"the rules refuse it: {refused.code}")
            return
        except Exception as reason:  # noqa: BLE001 - other rules may not know what this match is made of, and fail in any way
            self._stop(entry, f"the rules fail: {type(reason).__name__}: {reason}")
            return
        if documents is None:
            self.undecided += 1
        elif self.difference is None and (how := different(entry, again)) is not None:
            self._differs_in(entry, how)
        self._go_on(again, documents)

    def _stop(self, entry: Entry, why: str) -> None:
        if self.difference is None:
            self._differs_in(entry, why)
        self.lost = self.ended = True

    def _differs_in(self, entry: Entry, how: str) -> None:
        self.difference = Difference(entry.version, entry.actor, str(entry.action.get("type")), how)


def present(games: Mapping[str, Game]) -> dict[str, Game]:
    """Return games in which the newest rules replace those of every earlier revision."""
    return {
        id: game._replace(earlier={number: game._replace(revision=number) for number in range(game.revision)}) for id, game in games.items()
    }


def impact(games: Mapping[str, Game], record: Record) -> Impact:
    """Return what the present rules would change in a match. Raises BadRecord."""
    try:
        entries = list(map(parse, record.raws))
        game = entries[0].events[0]["game"]
    except (Unreadable, LookupError, TypeError) as reason:
        raise BadRecord(f"The record of {record.match} cannot be read: {reason}.") from None
    if game not in games:
        raise BadRecord(f"The match {record.match} is of a game that is not here, {game}.")
    retelling = Retelling(games, record)
    for entry in entries:
        retelling.tell(entry)
        if retelling.ended:
            break
    recorded = outcome_of(entries)
    now = retelling.position.document["outcome"] if retelling.position is not None else None
    if retelling.difference is None:
        now = recorded
    result = OPEN if retelling.lost else SAME if now == recorded else CHANGES
    return Impact(
        record.match,
        game,
        entries[0].revision,
        len(entries),
        retelling.undecided,
        retelling.difference,
        result,
        retelling.version,
        recorded,
        now,
    )


def outcome_of(entries: list[Entry]) -> Outcome:
    """Return the outcome at the end of a record, or None."""
    for event in (event for entry in reversed(entries) for event in entry.events):  # only disputes follow the end
        if event["type"] == "match_ended":
            return {name: event[name] for name in ("winners", "reason", "scores")}
    return None


def different(entry: Entry, again: Entry) -> str | None:
    """Return how an entry would differ, as a clause, or None if it would be the same."""
    if again.action != entry.action:
        return "the action would be recorded otherwise"
    if again.events == entry.events:
        return None
    for place, (was, now) in enumerate(zip_longest(entry.events, again.events), 1):
        if was == now:
            continue
        if was is None:
            return f"event {place}, {now['type']}, would be new"
        if now is None:
            return f"event {place}, {was['type']}, would be missing"
        if was["type"] != now["type"]:
            return f"event {place} would be {now['type']}, not {was['type']}"
        return f"event {place}, {was['type']}: {_field(was, now)}"
    return None


def _field(was: Event, now: Event) -> str:
    """Return the first field in which two events of a type differ, with both values."""
    path, one, other = next(_fields("", was, now))
    return f"{path} would be {_short(other)}, not {_short(one)}"


def _fields(path: str, was: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(was, dict) and isinstance(now, dict):
        for name in sorted(was.keys() | now.keys()):
            if was.get(name, _NONE) != now.get(name, _NONE):
                yield from _fields(f"{path}.{name}" if path else str(name), was.get(name), now.get(name))
    else:
        yield path, was, now


_NONE = object()


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def as_text(found: Impact) -> str:
    """Return a line of text about a match that would go otherwise."""
    assert found.first is not None, "only a match that would go otherwise has a line"
    first = found.first
    ends = {
        SAME: "the result would be the same",
        CHANGES: f"the result would change from {_in_words(found.recorded)} to {_in_words(found.present)}",
        OPEN: f"the record cannot be continued beyond version {found.until}",
    }
    where = f"version {first.version}, {first.actor}: {first.action}"
    return legible(f"{found.match} ({found.game}, revision {found.revision}), {where}: {first.how}; {ends[found.result]}")


def _in_words(outcome: Outcome) -> str:
    if outcome is None:
        return "an unfinished match"
    scores = ", ".join(f"{seat} {score}" for seat, score in outcome["scores"].items())
    return f"{' and '.join(outcome['winners']) or 'nobody'} by {outcome['reason']}" + (f" ({scores})" if scores else "")


def main(arguments: list[str] | None = None) -> int:
    """Print what would change. Return 0 if nothing would change, 1 if something would, 2 if a file cannot be read."""
    parser = argparse.ArgumentParser(prog="./run impact", description="Show what the present rules would change in recorded matches.")
    parser.add_argument("records", nargs="+", type=Path, metavar="RECORDS", help="dossiers, records, archives, or folders of them")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each match that would go otherwise")
    options = parser.parse_args(arguments)
    number = undecided = 0
    changed: list[Impact] = []
    try:
        for record in read(options.records):
            found = impact(GAMES, record)
            number += 1
            undecided += found.undecided
            if found.first is not None:
                changed.append(found)
                shown = {**found._asdict(), "first": found.first._asdict()}
                print(json.dumps(shown) if options.json else as_text(found))
    except (BadRecord, OSError) as reason:
        print(reason, file=sys.stderr)
        return 2
    if not options.json:
        results, still = (sum(each.result == kind for each in changed) for kind in (CHANGES, OPEN))
        print(f"{number} matches; {len(changed)} would go otherwise, {results} with another result; {still} could not be continued.")
        if undecided:
            print(f"{undecided} entries could not be decided: their secret is not known, or their rules are newer.")
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main())
