"""What nobody has seen at a position is drawn anew where a match goes on from it by a ruling (DIS-13).

Cards have been seen since. Without that, whoever saw them would know the order of a deck.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from games.chance import Chance
from games.kernel import SPECTATOR, Game, Memory, State


def drawn_anew(game: Game, document: State, chance: Chance, memory: Memory) -> State:
    """Return a document in which what no seat sees is drawn anew. Every seat sees the same as before (TBL-DIS-13).

    It depends on nothing else: the document that is returned gives itself again. `memory`: what everybody who had watched remembers.
    """
    return game.guess(seen_by_some(game, document), SPECTATOR, chance, memory)


def seen_by_some(game: Game, document: State) -> State:
    """Return the document without what no seat sees: the views of all seats in one."""
    return _merged([game.view(document, seat) for seat in document["seats"]], document)


def _merged(views: Sequence[Any], whole: Any) -> Any:
    """Return what some of the views show of a value, and `whole` if one shows all of it."""
    if any(view == whole and type(view) is type(whole) for view in views):
        return whole
    if isinstance(whole, dict):
        shown = [view for view in views if isinstance(view, dict)]
        if shown:
            return {name: _merged([view[name] for view in shown if name in view], whole.get(name)) for name in shown[0]}
    if isinstance(whole, list):
        rows = [view for view in views if isinstance(view, list) and len(view) == len(whole)]
        if rows:
            return [_merged([row[place] for row in rows], one) for place, one in enumerate(whole)]
    return views[0]
