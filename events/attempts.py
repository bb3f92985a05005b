"""Attempts: what a list of actions would lead to, without writing it and without any dice."""

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
    """The position before a list of actions, an entry for each that was carried out, and the position after them.

    `reveals`: the last action was not carried out, because it draws chance or reveals something. It can be sent as the last of the list.
    Entries and position after are nobody's: they have no digest and no dice, and of the position only what a seat is shown is meant.
    """

    before: Position
    entries: list[Entry]
    after: Position
    reveals: bool


class _Draws(Exception):
    """An action draws chance."""


def attempt(platform: Platform, before: Position, seat: str, actions: Sequence[Any]) -> Attempt:
    """Carry out the game's actions of a seat on a position of its match, and write nothing. The clock stands still meanwhile.

    Nothing that the seat cannot know comes out: an action that draws chance or reveals something is not carried out, and nothing can follow
    it, as in a list that is played. Raises Refused by the rules, NotStarted, MatchClosed, BadList, MustBeLast, RulesMissing.
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
    """Return the entry of an action and the position after it, or None if it reveals something. Raises Refused, and _Draws."""
    match, table = table_rules.play(game, before.table, before.document, seat, action, Drawn(_no_number), before.at, owner=True)
    if any(event["type"] in game.reveals for event in match.events):
        return None
    try:
        events = orjson.loads(canonical(match.events))  # in the order in which an entry has them
    except NotCanonical as reason:
        raise Refused(no("bad_action", reason=str(reason))) from None
    entry = Entry(before.match, before.version + 1, seat, match.action, events, game.revision, before.rules, before.at, None, "")
    return entry, moved(game, before, entry, table, match.state, remembered(game, before.memory, events))


def _no_number(below: int) -> int:
    raise _Draws
