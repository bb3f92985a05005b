"""Decisions: the entries of a match by which seats acted in the game, each with the position before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from games.kernel import Game
from record.entries import Entry
from record.positions import Position, follow
from table.rules import is_table_action


class Decision(NamedTuple):
    """An action of a seat in the game, and the position in which it was decided."""

    before: Position
    entry: Entry


def decisions(games: Mapping[str, Game], entries: Iterable[Entry], position: Position | None = None) -> Iterator[Decision]:
    """Yield the decisions among entries that follow a position, or that begin a match.

    What the system did for a seat whose time had run out is no decision.
    """
    for entry in entries:
        if position is not None and entry.actor in position.to_act and entry.actor in position.roster and not is_table_action(entry.action):
            yield Decision(position, entry)
        game = games[entry.events[0]["game"] if position is None else position.game]
        position = follow(game.of_revision(entry.revision) or game, position, entry)
