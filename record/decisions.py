"""Decisions: the actions of seats in the game, each with the position before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from games.kernel import Game
from record.entries import Entry
from record.positions import Position, follow
from table.rules import is_table_action


class Decision(NamedTuple):
    """The entry of an action of a seat, and the position in which the seat decided."""

    before: Position
    entry: Entry


def decisions(games: Mapping[str, Game], entries: Iterable[Entry], position: Position | None = None) -> Iterator[Decision]:
    """Yield the decisions in entries that begin a match, or that follow a `position`.

    An action of the system for a seat whose time ran out is not a decision.

    >>> from games import GAMES
    >>> from record.example import ENTRIES
    >>> [(each.entry.version, each.entry.actor, each.before.version) for each in decisions(GAMES, ENTRIES)]
    [(3, 'blue', 2)]
    """
    for entry in entries:
        if position is not None and entry.actor in position.to_act and entry.actor in position.roster and not is_table_action(entry.action):
            yield Decision(position, entry)
        game = games[entry.events[0]["game"] if position is None else position.game]
        position = follow(game.of_revision(entry.revision) or game, position, entry)
