"""The page of a game: its introduction, its options, and every rule with its id as an anchor. The page of its rulings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from flask import Response, request
from markupsafe import Markup, escape

from events import lists
from events.errors import NoGame
from games.kernel import Game
from games.sentences import say
from service.api.rulings import RULES, rulebook, rules_in, rulings
from service.http.keys import Caller
from service.http.languages import page_language
from service.pages.creating import PROFILES, label_of, profile_text, told_value
from service.pages.html import Pages, crests_of, game_in_brief, html_response, look_of, seat_name
from service.pages.lobby import cover
from web.languages import ENGLISH, TABLE

_CODE = re.compile(r"`([^`]+)`")
_STRONG = re.compile(r"\*\*([^*]+)\*\*")
_EMPHASIS = re.compile(r"(?<!\w)\*(\w[^*]*)\*(?!\w)")
_PREFIX = re.compile(r"^[A-Z]{3}: ")
_SOURCE = re.compile(r"^\[[SPR][^\]]*\]\s*")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)|&lt;(https?://[^&]+)&gt;")


def game_page(pages: Pages, caller: Caller, game: str) -> Response:
    """Return the page of a game. Raise NoGame."""
    found = pages.service.games.get(game)
    if found is None:
        raise NoGame(game, pages.service.games)
    language = page_language(request.environ)
    intro, words = list(_intro(found, language)), look_of(found).say
    values = {
        "here": game,
        "game": game_in_brief(found),
        "about": Markup(intro[0]).striptags() if intro else words(found.title),
        "intro": intro,
        "in_english": None if language == ENGLISH else _in_english(found, language),
        "cover": cover(pages, game),
        **crests_of(pages, found),
        "seats": [{"id": seat, "name": seat_name(found, seat)} for seat in found.seats.ids],
        "running": _running(pages, game),
        "options": [
            {
                "label": words(label_of(name)),
                "about": words(schema.get("description", "")),
                "default": look_of(found).word(usual) if isinstance(usual := schema.get("default"), str) else told_value(usual),
            }
            for name, schema in found.options.schema["properties"].items()
        ],
        "sections": list(_sections(found, language)),
        "revision": found.revision,
    }
    return html_response(pages, "game.html", values)


def rulings_page(pages: Pages, caller: Caller, game: str) -> Response:
    """Return the page of the rulings of a game: each with its readings, and examples of them. Raise NoGame."""
    found = pages.service.games.get(game)
    if found is None:
        raise NoGame(game, pages.service.games)
    words, language = look_of(found).say, page_language(request.environ)
    listed = [
        {
            **ruling,
            "text": in_html(_SOURCE.sub("", ruling["text"])),
            "readings": [{**one, "value": told_value(one["value"]), "played": not place} for place, one in enumerate(ruling["readings"])],
        }
        for ruling in rulings(found.folder, language)
    ]
    sections = [{"title": _heading(title), "rulings": list(some)} for title, some in groupby(listed, itemgetter("section"))]
    values = {
        "here": game,
        "game": game_in_brief(found),
        "open": [ruling for ruling in listed if ruling["option"]],
        "sections": sections,
        "profiles": [{"name": PROFILES[name], "about": profile_text(parts, words)} for name, parts in found.profiles.items()],
        "revision": found.revision,
    }
    return html_response(pages, "rulings.html", values)


def _running(pages: Pages, game: str) -> str | None:
    """Return the newest match of the game that can be watched, or None. Running matches come first."""
    for status in ("playing", "over"):
        listed = lists.matches(pages.service.platform, {"game": game, "status": status}, 1, None)
        if listed.standings:
            match: str = listed.standings[0]["id"]
            return match
    return None


def _in_english(game: Game, language: str) -> str | None:
    """Return a sentence about the rules that are not in a language, or None if all are."""
    if rulebook(game.folder, language).name == RULES:
        return say("The rules are in English.")
    return say("The rules of the table, which come last, are in English.") if rulebook(TABLE, language).name == RULES else None


def _intro(game: Game, language: str) -> Iterator[Markup]:
    """Yield the paragraphs of RULES.md before its first section, without lists, tables and notes about the file."""
    text = rulebook(game.folder, language).read_text("utf-8").split("\n## ")[0]
    for paragraph in text.split("\n\n")[1:]:
        if not paragraph.startswith(("Every rule has", "All numbers", "Public sources", "-", "|")):
            yield in_html(" ".join(paragraph.split()))


def _sections(game: Game, language: str) -> Iterator[dict[str, Any]]:
    """Yield the sections of the rules, of the game and then of the table."""
    books = [rulebook(folder, language) for folder in (game.folder, TABLE)]
    sections = [(book, title, list(found)) for book in books for title, found in groupby(rules_in(book), itemgetter("section"))]
    for place, (book, title, found) in enumerate(sections):
        listed = [{"id": rule["id"], "text": in_html(_SOURCE.sub("", rule["text"]))} for rule in found]
        written = ENGLISH if book.name == RULES else language
        yield {"id": f"section-{place}", "title": _heading(title), "language": written, "rules": listed}


def in_html(text: str) -> Markup:
    """Return a line of Markdown as HTML, with emphasis and code. A link becomes its text."""
    safe = str(escape(text))
    safe = _LINK.sub(lambda found: found[1] or found[2], safe)
    strong = _STRONG.sub(r"<strong>\1</strong>", _CODE.sub(r"<code>\1</code>", safe))
    return Markup(_EMPHASIS.sub(r"<em>\1</em>", strong))


def _heading(title: str) -> str:
    """Return the title of a section as people read it: without the prefix of its rules, and without marks of code."""
    words = _PREFIX.sub("", title).replace("`", "")
    return words[:1].upper() + words[1:]
