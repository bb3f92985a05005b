"""The page of a player: matches, results by game and seat, ratings and form. It shows what everybody may know, whoever asks."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from flask import Response, request

from events import accounts, lists
from events.errors import NoSuchPlayer
from games.sentences import say
from service.http.keys import Caller
from service.http.languages import page_language
from service.http.parsing import parse_query
from service.http.schemas import PlayerPageQuery
from service.pages.html import Pages, crests_of, game_in_brief, html_response, seat_name
from service.pages.lobby import PAGE, matches_shown
from table.results import BY_SUBSTITUTE, DRAWN, NOT_COUNTED, PLAYED, RESULTS, WON, results_of
from web.languages import day_of

WINDOW = 50
"""The newest finished matches, from which results by seat and the form are counted. So a page costs the same however many there are."""
FORM = 10

LOST = "lost"
_NONE = dict.fromkeys(("matches", *RESULTS[1:]), 0)
_QUERY = PlayerPageQuery()


class Finished(NamedTuple):
    """A finished match of a player: the seat, and the result: WON, LOST, BY_SUBSTITUTE, DRAWN or NOT_COUNTED."""

    match: str
    game: str
    seat: str
    result: str


def player_page(pages: Pages, caller: Caller, player: str) -> Response:
    """Return the page of a player. With a cursor it lists older finished matches. Raise NoSuchPlayer."""
    service, query = pages.service, parse_query(_QUERY, request.environ)
    found = service.directory.account(player)
    if found is None:
        raise NoSuchPlayer(player=player)
    values: dict[str, Any] = {
        "player": player,
        "name": found.player.name,
        "called": found.player.name or say("Somebody who has left"),
        "since": None if found.player.created is None else time.strftime("%Y-%m-%d", time.gmtime(found.player.created / 1000)),
        "since_day": "" if found.player.created is None else day_of(found.player.created, page_language(request.environ)),
        **crests_of(pages, *service.games.values()),
    }
    cursor = query.get("cursor")
    if cursor is not None:
        more = _matches(pages, player, query["status"], PAGE, cursor)
        return html_response(pages, "player.html", {**values, "older": True, "lists": [_list(pages, player, query["status"], more)]})
    going, over = (_matches(pages, player, status, most) for status, most in (("playing", PAGE), ("over", WINDOW)))
    counted = finished_of(player, over.standings)
    values |= {
        "older": False,
        "lists": [_list(pages, player, status, page) for status, page in (("playing", going), ("over", over)) if page.standings],
        "results": _results(pages, player, counted),
        "form": [one._asdict() for one in counted[:FORM]],
        "streak": streak(counted),
        "window": WINDOW if over.cursor else None,
    }
    return html_response(pages, "player.html", values)


def _matches(pages: Pages, player: str, status: str, most: int, cursor: str | None = None) -> lists.Page:
    """Return the newest matches of a player with a status, as everybody may see them."""
    return lists.matches(pages.service.platform, {"player": player, "status": status}, most, cursor)


def _list(pages: Pages, player: str, status: str, page: lists.Page) -> dict[str, Any]:
    """Return a list of matches as the template expects it: at most PAGE of them, and the address of the older ones."""
    shown = page.standings[:PAGE]
    cursor = page.cursor if len(shown) == len(page.standings) else f"{shown[-1]['created']}.{shown[-1]['id']}"
    following = None if cursor is None else f"/p/{player}?{urlencode({'status': status, 'cursor': cursor})}"
    return {"status": status, "matches": matches_shown(pages, shown, Caller()), "following": following}


def finished_of(player: str, standings: Iterable[Mapping[str, Any]]) -> list[Finished]:
    """Return the finished matches of a player that are no practice, the one that ended last first (TBL-RES-03)."""
    found = []
    for standing in sorted(standings, key=lambda one: -one["updated"]):
        outcome = standing["outcome"]
        table: Any = {**standing, "overruled": outcome.get("overruled")}
        for seat, who in standing["seats"].items():
            results = results_of(table, outcome, seat) if who.get("player") == player else ()
            if results:
                found.append(Finished(standing["id"], standing["game"], seat, LOST if results == (PLAYED,) else results[-1]))
    return found


def streak(counted: Iterable[Finished]) -> int:
    """Return how many of the newest matches in a row were won. What does not count breaks no streak.

    >>> streak([Finished("m", "war", "red", result) for result in ("won", "void", "won", "lost", "won")])
    2
    """
    won = 0
    for one in counted:
        if one.result == WON:
            won += 1
        elif one.result != NOT_COUNTED:
            break
    return won


def _results(pages: Pages, player: str, counted: Iterable[Finished]) -> list[dict[str, Any]]:
    """Return the results of a player game by game: all of them, the ratings, and those of some matches by seat."""
    service = pages.service
    totals = accounts.finished(service.platform, player)
    ratings = service.platform.store.ratings.of_player(player, list(service.games))
    by_seat = Counter([(one.game, one.seat, one.result) for one in counted])
    found = []
    for id, game in service.games.items():
        if id not in totals and id not in ratings:
            continue
        rating = ratings.get(id)
        seats = []
        for seat in game.seats.ids:
            numbers = {result: by_seat[id, seat, result] for result in (WON, LOST, BY_SUBSTITUTE, DRAWN)}
            if any(numbers.values()):
                seats.append({"id": seat, "name": seat_name(game, seat), "won": numbers[WON], "of": sum(numbers.values())})
        found.append(
            {**game_in_brief(game), **_NONE, **totals.get(id, {}), "rating": None if rating is None else rating.as_json(), "seats": seats}
        )
    return found
