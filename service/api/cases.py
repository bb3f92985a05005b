"""The case of a dispute: what a referee needs to rule, told from the entries around the disputed version, as the caller may see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jsonpointer import JsonPointer

from events import recall
from events.reports import AROUND
from events.why import search, value
from games.kernel import Game
from games.schema import described, listing, mapping, nullable, optional, record, text, unchecked, whole
from record.entries import Entry, parse
from record.positions import Position, follow, level_of
from service import sight
from service.api.shapes import ANY_TEXT, PLAYER_ID, RULE_IDS, TIME, VIEWER, named, versions
from service.api.why import CHANGES, VALUE, field, told_change
from service.context import Service
from service.http.directory import Company
from table.clocks import remaining
from web.look import look
from web.news import entry_in_words, faces, news, rules_of

MOST_CHANGES = 5  # of the disputed field


def case(
    service: Service,
    seen: Position,
    dispute: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    viewer: str,
    company: Company,
    language: str,
) -> dict[str, Any]:
    """Return the case of a dispute as a viewer may see it. Raise StoreUnavailable.

    `seen`: the newest position that the caller may see. `steps`: those of the dispute, as the caller may see them.
    """
    platform, version = service.platform, dispute["version"]
    game = recall.rules_of(platform, seen)
    start = max(0, version - AROUND - 1)
    last = min(seen.version, version + AROUND)
    position = recall.state_at(platform, seen.match, start) if start else None
    told: list[dict[str, Any]] = []
    boards: dict[str, list[str] | None] = {"before": None, "after": None}
    for entry in [parse(raw) for raw in platform.store.log.read(seen.match, start, last - start)]:
        before, position = position, follow(game, position, entry)
        told.append(_told(game, before, position, entry, viewer, language))
        if entry.version in (version - 1, version):
            boards["before" if entry.version < version else "after"] = sight.board(game, position, viewer, company, language)
    return {"viewer": viewer, "entries": told, **boards, "why": _why(service, game, seen, version, steps, viewer, language)}


def _told(game: Game, before: Position | None, after: Position, entry: Entry, viewer: str, language: str) -> dict[str, Any]:
    """Return an entry in sentences, with the faces of its dice, the clocks after it, and who got the receipt of it."""
    looks, shown = look(game, language), sight.shown(game, entry, viewer)
    scene = looks.shown(game.scene(sight.view_read(game, after, viewer)))
    happened = []
    for event in shown["events"]:
        text, dice = " ".join(news(scene, [event], looks).sentences), faces(event, looks)
        if text or dice:
            happened.append({"text": text, "dice": dice})
    return {
        "version": entry.version,
        "at": entry.at,
        "actor": entry.actor,
        "happened": happened or [{"text": " ".join(entry_in_words((), entry.actor, entry.action, looks)), "dice": {}}],
        "rules": rules_of(entry.action, shown["events"], looks),
        "clocks": {seat: remaining(after.table, seat, after.at) for seat in after.table["clocks"]["seats"]},
        "receipt": _acted(before, after, entry.actor),
    }


def _acted(before: Position | None, after: Position, actor: str) -> str | None:
    """Return the player who acted, and so was given the receipt of the entry; None for the system and for artificial players."""
    if actor in after.roster:
        by_level = before is not None and level_of(before, actor) is not None
        return None if by_level else after.roster[actor].get("player")
    return actor if actor in sight.players_at(after) else None


def _why(
    service: Service, game: Game, seen: Position, version: int, steps: Sequence[Mapping[str, Any]], viewer: str, language: str
) -> dict[str, Any] | None:
    """Return why the disputed field has its value, or None if the dispute names none that the viewer may know."""
    named_field = next(_fields(steps), None)
    if named_field is None:
        return None
    pointer = JsonPointer(named_field)
    found = search(service.platform, game, seen.match, pointer, viewer, version, MOST_CHANGES)
    now = value(game, recall.state_at(service.platform, seen.match, version).document, pointer, viewer)
    return {
        "pointer": named_field,
        **field("value", now),
        "changes": [told_change(game, change, viewer, language) for change in found.changes],
    }


def _fields(steps: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from (step["event"]["field"] for step in steps if step["event"].get("field"))


_HAPPENED = named(
    "Happened",
    record(
        {
            "text": text(about="In sentences."),
            "dice": mapping(ANY_TEXT, listing(unchecked({"type": "integer"})), "The faces of its dice, by what they were thrown for."),
        },
        "A part of an entry, in sentences.",
    ),
)
_ENTRY = named(
    "CaseEntry",
    record(
        {
            "version": versions("The version of the entry."),
            "at": TIME,
            "actor": text(about="Who acted: a seat, `system`, or the id of a player."),
            "happened": listing(_HAPPENED, about="What happened."),
            "rules": RULE_IDS,
            "clocks": mapping(ANY_TEXT, whole(0), "The milliseconds that each seat with a clock had left."),
            "receipt": nullable(described(PLAYER_ID, "The player who acted, and was given the receipt; null for the system and AI seats.")),
        },
        "An entry around the disputed version.",
    ),
)
_BOARD = nullable(listing(ANY_TEXT, about="Lines of text; null if there is no such version."))
_FIELD = named(
    "CaseField",
    record({"pointer": text(about="The field, as a JSON Pointer."), "value": VALUE, "changes": CHANGES}, "The field that a dispute names."),
)
CASE = optional(
    described(
        named(
            "DisputeCase",
            record(
                {
                    "viewer": VIEWER,
                    "entries": listing(_ENTRY, high=2 * AROUND + 1, about="The entries around the disputed version."),
                    "before": described(_BOARD, "The board before the disputed version."),
                    "after": described(_BOARD, "The board at the disputed version."),
                    "why": nullable(described(_FIELD, "Why the field that the dispute names has its value; null if it names none.")),
                },
                "What a referee needs to rule, as you may see it.",
            ),
        ),
        "Only with `case`, of that dispute.",
    )
)
