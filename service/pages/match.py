"""The page of a match, and its board for an iframe in another site. Both show what a spectator sees; scripts then fetch the rest.

A browser sends no key when its reader follows a link. So the HTML of a page never holds what only a player may see.
"""

from __future__ import annotations

import re
from typing import Any

import orjson
from flask import Response, request
from markupsafe import Markup

from events import recall
from events.due import thinking_of
from games.kernel import SPECTATOR, Game
from games.picture import picture
from record.positions import Position
from service import sight
from service.api.pictures import last_events
from service.api.sidelog import note_view
from service.http.directory import Company
from service.http.keys import NOBODY, Caller
from service.http.languages import page_language
from service.http.parsing import parse_query
from service.http.problems import Problem
from service.http.responses import JSON, sorted_json, tagged
from service.http.schemas import MatchPageQuery, WordsQuery
from service.kept import of_position
from service.pages.html import AI_WORDS, Pages, game_in_brief, html_response, look_of, page_response, rendered, seat_name, shown
from service.pages.lobby import occupant
from service.pages.seating import table_of
from web.drawing import Drawing
from web.languages import forms
from web.look import all_definitions
from web.page import sheet_svg
from web.picture import PAGE, draw

EXTRAS = ("analysing.js", "auditing.js", "pictures.js")  # optional scripts: the page loads those that exist
_NUMBERED = re.compile(r"^\d+: ")
_PAGE_QUERY = MatchPageQuery()
_WORDS_QUERY = WordsQuery()


def match_page(pages: Pages, caller: Caller, match: str) -> Response:
    """Return the page of a match. The address may name a version and a viewer; a viewer that the caller may not use becomes a spectator."""
    service, query = pages.service, parse_query(_PAGE_QUERY, request.environ)
    newest = recall.position(service.platform, match)
    seen = sight.seen(service.platform, newest, caller)
    viewer = _viewer(newest, caller, query.get("viewer"))
    if query["part"] == "table":
        note_view(service, newest, caller, viewer, seen.version)
        company = service.directory.company(sight.players_at(seen))
        return html_response(pages, "table.html", table_of(pages, seen, caller, company.name))
    position = seen if query.get("at") is None else recall.state_at(service.platform, match, min(query["at"], seen.version))
    note_view(service, newest, caller, viewer, position.version)
    asked, origin = query.get("viewer") or "", service.addresses.origin(request.environ)
    company = service.directory.company(sight.players_at(seen))
    names = tuple([company.name(player) for player in company.players])
    key = of_position("page", position, viewer, (seen.digest, asked, origin, names, page_language(request.environ)))
    return page_response(service.kept.made(key, lambda: _match_html(pages, seen, position, viewer, asked, origin, company)))


def _match_html(pages: Pages, seen: Position, position: Position, viewer: str, asked: str, origin: str, company: Company) -> bytes:
    """Return the HTML of a match at a position, through a viewer's eyes. `seen`: the newest position that the caller may see."""
    service = pages.service
    game = recall.rules_of(service.platform, position)
    view = sight.view_read(game, position, viewer)
    looks = look_of(game)
    drawing = draw(game, view, last_events(service, game, position, viewer), PAGE, told=False, language=looks.say.language)
    seats = [
        {
            "id": seat,
            "name": seat_name(game, seat),
            "player": shown(occupant(seen.roster[seat], company.name, seat_name(game, seat)), looks.say),
            "person": seen.roster[seat].get("player"),
            "ground": looks.crest(seat).ground,
        }
        for seat in seen.document["seats"]
    ]
    values = {
        "match": seen.match,
        "origin": origin,
        "address": f"{origin}/m/{seen.match}",
        "description": f"{drawing.title}. {', '.join([': '.join((seat['name'], seat['player'])) for seat in seats])}.",
        "newest": seen.version,
        "at": position.version,
        "viewer": asked,
        "words": orjson.dumps(words_of_view(game, view)).decode(),
        "seats": orjson.dumps(seats).decode(),
        "modules": pages.files.imported("match.js"),
        "extras": " ".join([name for name in EXTRAS if name in pages.files]),
        "seat_list": seats,
        "thinking": None if (thinking := thinking_of(position)) is None else thinking.seat,
        **drawn(game, drawing),
        "news": drawing.news.sentences,
        "waits": seen.status == "open",
        **table_of(pages, seen, NOBODY, company.name),
    }
    return rendered(pages, "match.html", values, audits=True)


def match_words(pages: Pages, caller: Caller, match: str) -> Response:
    """Return the names of everything in the caller's picture of a match. Scripts describe choices with them."""
    query = parse_query(_WORDS_QUERY, request.environ)
    newest = recall.position(pages.service.platform, match)
    viewer = sight.viewer_of(newest, caller, query.get("viewer"))
    position = sight.seen(pages.service.platform, newest, caller)
    note_view(pages.service, newest, caller, viewer, position.version)
    game = recall.rules_of(pages.service.platform, position)
    language = page_language(request.environ)
    words = pages.service.kept.made(
        of_position("words", position, viewer, (language,)),
        lambda: sorted_json(words_of_view(game, sight.view_read(game, position, viewer))),
    )
    return tagged(Response(words, mimetype=JSON), f"{position.version}-{viewer}-{language}")


def embed_page(pages: Pages, caller: Caller, match: str) -> Response:
    """Return the board of a match alone, for an iframe in another site."""
    service = pages.service
    newest = recall.position(service.platform, match)
    position = sight.seen(service.platform, newest, caller)
    note_view(service, newest, caller, SPECTATOR, position.version)
    html = service.kept.made(
        of_position("embed", position, SPECTATOR, (page_language(request.environ),)), lambda: _embed_html(pages, position)
    )
    return page_response(html, ancestors="*")


def _embed_html(pages: Pages, position: Position) -> bytes:
    """Return the HTML of the board at a position."""
    service = pages.service
    game = recall.rules_of(service.platform, position)
    view = sight.view_read(game, position, SPECTATOR)
    looks = look_of(game)
    drawing = draw(game, view, last_events(service, game, position, SPECTATOR), PAGE, language=looks.say.language)
    values = {
        "match": position.match,
        "newest": position.version,
        "title": drawing.title,
        **drawn(game, drawing),
    }
    return rendered(pages, "embed.html", values)


def drawn(game: Game, drawing: Drawing) -> dict[str, Any]:
    """Return what the templates that show a board need of a drawing: its sheets, the definitions and the mark of the look, and the game."""
    looks = look_of(game)
    return {
        "game": game_in_brief(game),
        "look": looks.mark,
        "definitions": Markup(f'<svg width="0" height="0">{all_definitions(looks, game.seats.ids)}</svg>'),
        "heading": Markup(sheet_svg(drawing.heading)),
        "board": Markup(sheet_svg(drawing.board)),
        "fight": Markup(sheet_svg(drawing.fight) if drawing.fight is not None else ""),
        "panels": Markup("".join([sheet_svg(sheet) for sheet in drawing.panels])),
    }


def _viewer(newest: Position, caller: Caller, asked: str | None) -> str:
    """Return the viewer that an address names, or SPECTATOR if the caller may not use it."""
    try:
        return sight.viewer_of(newest, caller, asked)
    except Problem:
        return SPECTATOR


def words_of_view(game: Game, view: Any) -> dict[str, Any]:
    """Return `names`, the words for each id, and `options`, the text of each option of a card by the card's id and the option's number.

    `deeds`, `asks` and `terms` are those of the picture, `counts` the forms of nouns for numbers, and `rules` the ids of the rules of each
    type of action.
    """
    looks = look_of(game)
    scene, own = looks.shown(game.scene(view)), looks.picture
    names = {id: looks.say(name) for id, name in AI_WORDS.items()} | {**looks.shared.words, **own.words}
    names |= {seat: seat_name(game, seat) for seat in game.seats.ids}
    names |= {piece.id: looks.say(piece.name) for piece in scene.pieces} | {place.id: place.name for place in scene.places}
    cards = [card for panel in scene.panels for hand in panel.hands for card in hand.cards]
    names |= {card.id: card.name for card in cards}
    options = {
        card.id: {str(number): _NUMBERED.sub("", told) for number, told in zip(card.options, card.text, strict=True)}
        for card in cards
        if card.options
    }
    return {
        "names": names,
        "options": options,
        "deeds": own.deeds,
        "asks": own.asks,
        "terms": own.terms,
        "counts": _counts(game, looks.say.language),
        "rules": {kind: own.rules[kind] for kind in game.deeds() if kind in own.rules},
    }


def _counts(game: Game, language: str) -> dict[str, dict[str, str]]:
    """Return the forms of nouns by category: of those that deeds count, such as "unit to", and of ids whose plural has a name."""
    own = picture(game.folder)
    counted = {noun: (noun, many) for noun, many in own.nouns.items()}
    counted |= {id: (name, many) for id, name in own.words.items() if (many := own.several(id))}
    return {id: forms(language, one, many, game.folder) for id, (one, many) in counted.items()}
