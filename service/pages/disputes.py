"""The pages of disputes: the referees' desk, and one dispute with its report, its statements and its ruling.

Both hold nothing of a dispute. Scripts ask for it with the reader's key, and show what the reader may see.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from flask import Response

from events import recall
from games.kernel import Game
from service.api.disputes import number_in
from service.http.keys import Caller
from service.pages.html import AI_WORDS, Pages, crests_of, game_in_brief, html_response, look_of, seat_name


def desk_page(pages: Pages, caller: Caller) -> Response:
    """Return the page of the referees' desk. It is the same for everybody."""
    games = list(pages.service.games.values())
    told = {game.id: {**game_in_brief(game), "seats": _seats(game, game.seats.ids)} for game in games}
    values = {
        "here": "disputes",
        "told": orjson.dumps(told).decode(),
        **crests_of(pages, *games),
    }
    return html_response(pages, "disputes.html", values)


def dispute_page(pages: Pages, caller: Caller, match: str, dispute: str) -> Response:
    """Return the page of a dispute. It is the same for every dispute of a match. Raise Problem `no_such_dispute`."""
    number = number_in(dispute)
    newest = recall.position(pages.service.platform, match)
    game = recall.rules_of(pages.service.platform, newest)
    told = look_of(game)
    names = {**{id: told.say(name) for id, name in AI_WORDS.items()}, **told.shared.words, **told.picture.words}
    values = {
        "here": "",
        "match": match,
        "number": number,
        "game": game_in_brief(game),
        "seats": orjson.dumps(_seats(game, newest.document["seats"])).decode(),
        "words": orjson.dumps({"names": names, "options": {}}).decode(),
        **crests_of(pages, game),
    }
    return html_response(pages, "dispute.html", values)


def _seats(game: Game, seats: Sequence[str]) -> dict[str, str]:
    """Return the names of seats by id."""
    return {seat: seat_name(game, seat) for seat in seats}
