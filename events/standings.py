"""Standings: what the lobby, "my turns" and lists of results say of a match, and in which indexes it belongs."""

from __future__ import annotations

from typing import Any

from events.entries import canonical
from events.positions import Position
from events.reactions import owed
from events.store import Changes

Standing = dict[str, Any]


def standing(position: Position) -> Standing:
    """A match in a list: public things only, and nothing that changes with every version."""
    document = position.document
    return {
        "id": position.match,
        "game": position.game,
        "status": position.status,
        "created": position.created,
        "creator": position.creator,
        "options": document["options"],
        "order": document["seats"],
        "seats": position.roster,
        "round": document["round"],
        "phase": document["phase"],
        "active": document["active"],
        "to_act": position.to_act,
        "outcome": document["outcome"],
        "commitment": position.commitment,
        "secret": position.secret,
    }


def indexes(position: Position) -> set[str]:
    """The indexes that a match belongs to."""
    roster = position.roster
    return {
        "all",
        f"status:{position.status}",
        f"game:{position.game}",
        *(f"player:{holder['player']}" for holder in roster.values() if "player" in holder),
        *(f"acts:{roster[actor]['player']}" for actor in position.to_act if "player" in roster.get(actor, {})),
    }


def changes(before: Position | None, after: Position) -> Changes:
    """What must change in lists and in what is due, when a match moves from one position to another."""
    if before is None:
        return _all_of(after, {})
    old, new = before.document, after.document
    if (
        old["to_act"] == new["to_act"]
        and old["phase"] == new["phase"]
        and old["round"] == new["round"]
        and old["active"] == new["active"]
        and old["outcome"] is new["outcome"]
        and old["seats"] == new["seats"]
        and before.roster is after.roster
    ):
        return _SAME if owed(after) is None else Changes(due=str(after.at))
    return _all_of(after, dict.fromkeys(indexes(before), False))._replace(due=_due(before, after))


_SAME = Changes()


def _due(before: Position | None, after: Position) -> str:
    if owed(after) is not None:
        return str(after.at)
    return "-" if before is not None and owed(before) is not None else ""


def _all_of(after: Position, left: dict[str, bool]) -> Changes:
    belongs = indexes(after)
    moves = dict.fromkeys(sorted(belongs - left.keys()), True) | dict.fromkeys(sorted(left.keys() - belongs), False)
    return Changes(due=_due(None, after), standing=canonical(standing(after)), indexes=moves, created=after.created)
