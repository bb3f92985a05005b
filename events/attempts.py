"""Try a list of actions without writing anything and without rolling dice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from events import recall
from events.deciding import check_started
from events.errors import BadList, MustBeLast
from events.platform import Platform
from events.play import LONGEST_LIST
from games.chance import Drawn
from games.kernel import Game, Refused, no, remembered
from record.entries import Entry, NotCanonical, canonical
from record.positions import Position, moved
from table import rules as table_rules


class Attempt(NamedTuple):
    """The position before a list of actions, an entry for each carried-out action, and the position after them.

    `reveals`: the last action was not carried out, because it draws chance or reveals something. It can be played as the last of a list.
    The entries have no digest and no dice. Use the position after them only for the view of a seat.
    """

    before: Position
    entries: list[Entry]
    after: Position
    reveals: bool


class _Draws(Exception):
    """An action draws chance."""


def attempt(platform: Platform, before: Position, seat: str, actions: Sequence[Any]) -> Attempt:
    """Carry out game actions of a seat on a position, and write nothing. No time passes for the clock.

    The seat learns nothing hidden: an action that draws chance or reveals something is not carried out. As in a played list, nothing can
    follow it. Raises Refused by the rules, NotStarted, MatchClosed, BadList, MustBeLast, RulesMissing.
    """
    if not 1 <= len(actions) <= LONGEST_LIST:
        raise BadList(reason=f"it holds 1 to {LONGEST_LIST} actions")
    check_started(before)
    game = recall.rules_of(platform, before)
    after, entries = before, list[Entry]()
    for place, action in enumerate(actions):
        try:
            step = _step(game, after, seat, action)
        except Refused as refused:
            raise Refused(refused.refusal, place) from None
        except _Draws:
            step = None
        if step is None:
            if place + 1 < len(actions):
                raise MustBeLast(place)
            return Attempt(before, entries, after, True)
        entries.append(step[0])
        after = step[1]
    return Attempt(before, entries, after, False)


def _step(game: Game, before: Position, seat: str, action: Any) -> tuple[Entry, Position] | None:
    """Return the entry of an action and the position after it, or None if it reveals something. Raises Refused, _Draws."""
    match, table = table_rules.play(
        game, before.table, before.document, seat, action, Drawn(_no_number), before.at, owner=True, signed=True
    )
    if any(event["type"] in game.reveals for event in match.events):
        return None
    try:
        events = orjson.loads(canonical(match.events))  # with members in the order of an entry
    except NotCanonical as reason:
        raise Refused(no("bad_action", reason=str(reason))) from None
    entry = Entry(before.match, before.version + 1, seat, match.action, events, game.revision, before.rules, before.at, None, "")
    return entry, moved(game, before, entry, table, match.state, remembered(game, before.memory, events))


def _no_number(below: int) -> int:
    raise _Draws
