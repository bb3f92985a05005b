"""How to read what the server lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from . import types

ENDED = ("match_ended", "match_closed")
C = TypeVar("C", bound=Mapping[str, object])


class News(NamedTuple):
    """An event of a player's stream: its kind, such as `turn`, its id, from which a stream resumes, and its data.

    The event `ready` says that all that waited has come. It has no data: `{}`.
    """

    kind: str
    id: str
    data: types.Notice


def in_the_game(choices: Sequence[C]) -> list[C]:
    """Return the choices of the game, without those of the table, such as resigning.

    >>> in_the_game([{"action": {"type": "end_turn"}}, {"action": {"type": "resign"}, "at_table": True}])
    [{'action': {'type': 'end_turn'}}]
    """
    return [choice for choice in choices if "at_table" not in choice]


def acted(given: Mapping[str, object] | Sequence[Mapping[str, object]]) -> Any:
    """Return the action of a choice; an action, or a list of them, as it is.

    >>> acted({"action": {"type": "end_turn"}}), acted([{"action": {"type": "roll"}}, {"type": "end_turn"}])
    ({'type': 'end_turn'}, [{'type': 'roll'}, {'type': 'end_turn'}])
    """
    if isinstance(given, Mapping):
        action = given.get("action")
        return action if "type" not in given and isinstance(action, Mapping) else given
    if isinstance(given, str):  # type: ignore[unreachable]
        raise TypeError(f"an action is an object such as {{'type': 'end_turn'}}, not the text {given!r}")
    return [acted(one) for one in given]


def has_ended(entry: types.Entry) -> bool:
    """Return whether a match may be over after an entry."""
    return any(event["type"] in ENDED for event in entry["events"])
