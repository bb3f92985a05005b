"""The pages of puzzles: a list, today's first, and one puzzle. They show what everybody may know, whoever asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import orjson
from flask import Response, request

from events import recall
from games.kernel import Game
from games.sentences import Sentence, say
from record.positions import Position
from record.puzzles import DIFFICULTIES, Puzzle
from service import sight
from service.api.pictures import last_events
from service.api.puzzles import found, listed
from service.http.keys import Caller
from service.http.languages import page_language
from service.http.parsing import parse_query
from service.http.schemas import PuzzlesPageQuery
from service.kept import of_position
from service.pages.html import Pages, crests_of, game_in_brief, html_response, look_of, page_response, rendered, seat_name
from service.pages.match import drawn, words_of_view
from table.data import LEVELS
from web.picture import PAGE, draw

MOST = 24
NAMES: Mapping[str, str] = dict(zip(DIFFICULTIES, [LEVELS[level].name for level in ("novice", "greedy", "strong", "expert")], strict=True))
"""The words for each difficulty: the name of the level that finds the answer."""
_QUERY = PuzzlesPageQuery()


def puzzles_page(pages: Pages, caller: Caller) -> Response:
    """Return the list of puzzles."""
    service, query = pages.service, parse_query(_QUERY, request.environ)
    chosen = {name: query[name] for name in ("game", "difficulty") if query.get(name)}
    page = listed(service, MOST, cursor=query.get("cursor"), **chosen)
    values = {
        "here": "puzzles",
        **crests_of(pages, *service.games.values()),
        "today": None if page.today is None or chosen or "cursor" in query else _row(pages, page.today, page.players),
        "puzzles": [_row(pages, puzzle, page.players) for puzzle in page.puzzles],
        "filters": list(_filters(pages, chosen)),
        "following": None if page.next is None else f"/puzzles?{urlencode({**chosen, 'cursor': page.next})}",
    }
    return html_response(pages, "puzzles.html", values)


def _filters(pages: Pages, chosen: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the links that choose which puzzles are listed. A second click on a link takes its choice back."""
    games = [("game", game.id, game_in_brief(game)["short"]) for game in pages.service.games.values()]
    found = []
    for kind, value, label in [*games, *[("difficulty", value, say(name)) for value, name in NAMES.items()]]:
        on = chosen.get(kind) == value
        others = {name: other for name, other in chosen.items() if name != kind}
        asked = urlencode(others if on else {**others, kind: value})
        found.append({"label": label, "href": f"/puzzles?{asked}" if asked else "/puzzles", "chosen": on})
    return found


def _row(pages: Pages, puzzle: Puzzle, players: Mapping[str, Any]) -> dict[str, Any]:
    """Return a puzzle as the list shows it."""
    game = pages.service.games[puzzle.game]
    name = players.get(puzzle.by, {}).get("name")
    picture = {"shape": "board", "at": puzzle.at, "viewer": puzzle.seat, "language": page_language(request.environ)}
    return {
        "id": puzzle.id,
        "title": task(seat_name(game, puzzle.seat)),
        "game": game_in_brief(game)["title"],
        "difficulty": say(NAMES[puzzle.difficulty]),
        "by": name,
        "tried": puzzle.tried,
        "solved": puzzle.solved,
        "thumb": f"/v1/matches/{puzzle.match}/state.svg?{urlencode(picture)}",
    }


def task(seat: str) -> Sentence:
    """Return what a puzzle asks for.

    >>> task("Tiger"), task("Aliens")
    (Sentence("Find Tiger's best turn"), Sentence("Find Aliens' best turn"))
    """
    return say("Find {seat}' best turn", seat=seat) if seat.endswith("s") else say("Find {seat}'s best turn", seat=seat)


def puzzle_page(pages: Pages, caller: Caller, puzzle: str) -> Response:
    """Return the page of a puzzle: the board as the seat saw it. Scripts ask for the choices."""
    service = pages.service
    kept, (before, _) = found(service, puzzle)
    origin = service.addresses.origin(request.environ)
    by = service.directory.company([kept.by]).players[kept.by]["name"]
    key = of_position("puzzle", before, kept.seat, (kept.difficulty, origin, by, page_language(request.environ)))
    return page_response(service.kept.made(key, lambda: _puzzle_html(pages, kept, before, origin, by)))


def _puzzle_html(pages: Pages, puzzle: Puzzle, before: Position, origin: str, by: str | None) -> bytes:
    """Return the HTML of a puzzle. `by`: the name of whoever made it."""
    service = pages.service
    game: Game = recall.rules_of(service.platform, before)
    view, looks = sight.view_read(game, before, puzzle.seat), look_of(game)
    drawing = draw(game, view, last_events(service, game, before, puzzle.seat), PAGE, told=False, language=looks.say.language)
    values = {
        "here": "puzzles",
        "puzzle": puzzle,
        "title": task(seat_name(game, puzzle.seat)),
        "about": drawing.title,
        "difficulty": say(NAMES[puzzle.difficulty]),
        "by": by,
        "address": f"{origin}/puzzles/{puzzle.id}",
        "origin": origin,
        "words": orjson.dumps(words_of_view(game, view)).decode(),
        "seats": orjson.dumps({seat: seat_name(game, seat) for seat in before.document["seats"]}).decode(),
        "modules": pages.files.imported("puzzle.js"),
        **drawn(game, drawing),
    }
    return rendered(pages, "puzzle.html", values)
