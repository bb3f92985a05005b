"""Standings: what the lobby, "my turns" and lists of results say of a match, and to which indexes it belongs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from events.due import owed
from events.entries import canonical
from events.positions import Position
from events.store.log import Changes

Standing = dict[str, Any]

# The first parts of the names of indexes that count what a player has created, for quotas.
OPEN = "open"
AI_ONLY = "ai"
UNFINISHED = "unfinished"


def standing(position: Position) -> Standing:
    """Return a match as lists show it: public things only, and nothing that changes with every version."""
    document = position.document
    return {
        "id": position.match,
        "game": position.game,
        "status": position.status,
        "created": position.created,
        "creator": position.table["creator"],
        "options": document["options"],
        "order": document["seats"],
        "seats": position.roster,
        "round": document["round"],
        "phase": document["phase"],
        "active": document["active"],
        "to_act": position.to_act,
        "outcome": document["outcome"],
        "commitment": position.table["commitment"],
        "secret": position.secret,
    }


def indexes(position: Position) -> set[str]:
    """Return the indexes to which a match belongs."""
    roster = position.roster
    return {
        *_counted(position),
        "all",
        f"status:{position.status}",
        f"game:{position.game}",
        *(f"player:{occupant['player']}" for occupant in roster.values() if "player" in occupant),
        *(f"waiting:{occupant['player']}" for occupant in roster.values() if "player" in occupant and position.status == "open"),
        *_results(position),
        *(f"acts:{roster[actor]['player']}" for actor in position.to_act if "player" in roster.get(actor, {})),
    }


def _counted(position: Position) -> Iterator[str]:
    """Yield the indexes that count the match of its creator while it is not over."""
    creator = position.table["creator"]
    if position.status == "over":
        return
    yield f"{UNFINISHED}:{creator}"
    if position.status == "open":
        yield f"{OPEN}:{creator}"
    elif not any("player" in occupant for occupant in position.roster.values()):
        yield f"{AI_ONLY}:{creator}"


def _results(position: Position) -> Iterator[str]:
    """Yield the indexes from which the profiles of players count: matches that are over, and those that were won, by player and game."""
    outcome = position.document["outcome"]
    if outcome is None:
        return
    for seat, occupant in position.roster.items():
        if "player" in occupant:
            yield f"over:{occupant['player']}:{position.game}"
            if seat in outcome["winners"]:
                yield f"won:{occupant['player']}:{position.game}"


def changes(before: Position | None, after: Position) -> Changes:
    """Return what changes in lists and in what is due, when a match moves from one position to another."""
    if before is None:
        return _all_of(None, after, {})
    old, new = before.document, after.document
    if (
        old["to_act"] == new["to_act"]
        and old["phase"] == new["phase"]
        and old["round"] == new["round"]
        and old["active"] == new["active"]
        and old["outcome"] is new["outcome"]
        and old["seats"] == new["seats"]
        and before.table is after.table
    ):
        return Changes(due={work.member: work.due for work in owed(after)})
    return _all_of(before, after, dict.fromkeys(indexes(before), False))


def _all_of(before: Position | None, after: Position, left: dict[str, bool]) -> Changes:
    belongs = indexes(after)
    moves = dict.fromkeys(sorted(belongs - left.keys()), True) | dict.fromkeys(sorted(left.keys() - belongs), False)
    due: dict[str, int | None] = {} if before is None else {work.member: None for work in owed(before)}
    due |= {work.member: work.due for work in owed(after)}
    return Changes(due=due, standing=canonical(standing(after)), indexes=moves, created=after.created)
