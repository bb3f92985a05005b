"""The lobby: matches to watch and to join, the caller's own and those with an invitation, and the form that begins one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from flask import Response, request

from events import lists
from games.kernel import Game
from games.sentences import Sentence, say, say_many
from record.guides import NAME as GUIDED
from service.context import Service
from service.http.keys import Caller
from service.http.languages import page_language
from service.http.parsing import parse_query
from service.http.problems import Problem
from service.http.schemas import LobbyQuery
from service.pages.creating import form_of
from service.pages.html import Pages, ai_name, crests_of, game_in_brief, html_response, look_of, seat_name
from service.sight import players_listed
from table.settings import REQUIRED

_STATES = {"open": say("waiting for players"), "over": say("finished")}
PAGE = 12
STATUSES = {"": say("All"), "open": say("Open"), "playing": say("Running"), "over": say("Finished")}
MINUTE, HOUR, DAY = 60, 3600, 86_400
_QUERY = LobbyQuery()


def lobby(pages: Pages, caller: Caller) -> Response:
    """Return the lobby, or only its list of matches with `part=list`, or the form of a new match with `part=form`. Scripts ask for both."""
    service, query = pages.service, parse_query(_QUERY, request.environ)
    if query["part"] == "form":
        return html_response(pages, "create.html", form_of(pages))
    listed = _listed(pages, caller, query)
    if query["part"] == "list":
        return html_response(pages, "list.html", listed)
    games = [_game(game, pages) for game in service.games.values()]
    values = {
        "here": "lobby",
        "games": games,
        **crests_of(pages, *service.games.values()),
        "filters": _filters(service, query),
        **listed,
    }
    return html_response(pages, "lobby.html", values)


def _listed(pages: Pages, caller: Caller, query: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of matches as the template expects it. Raise Problem `no_key` for the caller's own matches without a key."""
    service = pages.service
    filters = {name: query[name] for name in ("status", "game") if query[name]}
    if (query["mine"] or query["invited"]) and caller.role is None:
        raise Problem("no_key")
    if query["invited"]:
        return {"matches": _invitations(pages, caller), "following": None, "nothing": ""}
    if query["mine"]:
        filters["player"] = caller.player()
    asker = lists.Asker(caller.id)
    page = lists.matches(service.platform, filters, PAGE, query.get("cursor"), asker=asker)
    found = matches_shown(pages, [standing for standing in page.standings if standing["status"] != "closed"], caller)
    if query["mine"]:
        found.sort(key=lambda match: not match["mine_to_act"])
    nothing = say("There is no match like that yet. Begin one!")
    older = {name: query[name] for name in ("status", "game") if query[name]}
    older |= {"mine": "true"} if query["mine"] else {}
    following = None if page.cursor is None else f"/?{urlencode({**older, 'cursor': page.cursor})}"
    return {"matches": found, "following": following, "nothing": nothing}


def _invitations(pages: Pages, caller: Caller) -> list[dict[str, Any]]:
    """Return the newest matches with a seat that is kept for the caller, and those in which the caller is offered a seat."""
    asker, platform = lists.Asker(caller.id), pages.service.platform
    asked = [{"invited": caller.player(), "status": "open"}, {"offered": caller.player(), "status": "playing"}]
    return matches_shown(pages, [one for filters in asked for one in lists.matches(platform, filters, PAGE, asker=asker).standings], caller)


def matches_shown(pages: Pages, standings: Sequence[Mapping[str, Any]], caller: Caller) -> list[dict[str, Any]]:
    """Return matches as list.html expects them."""
    company = pages.service.directory.company(player for standing in standings for player in players_listed(standing))
    return [_match(pages, standing, caller, company.name) for standing in standings]


def _match(pages: Pages, standing: Mapping[str, Any], caller: Caller, name: Any) -> dict[str, Any]:
    game = pages.service.games[standing["game"]]
    told = look_of(game)
    running = standing["status"] == "playing"
    mine = [seat for seat, who in standing["seats"].items() if caller.id is not None and who.get("player") == caller.id]
    return {
        "id": standing["id"],
        "game": game.id,
        "title": told.say(game.title),
        "called": GUIDED if standing["name"] == GUIDED else standing["name"],
        "version": standing["version"],
        "thumb": _thumb(pages, standing),
        "status": say("round {number}", number=standing["round"]) if running else _STATES[standing["status"]],
        "phase": told.word(standing["phase"]) if running else "",
        "clock": clock_text(standing["clock"]),
        "hidden": standing["spectators"] != "all" and standing["status"] != "over",
        "code": standing["code_needed"],
        "signed": standing["signed"] == REQUIRED,
        "updated": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(standing["updated"] / 1000)),
        "ago": ago((pages.service.platform.clock.now() - standing["updated"]) / 1000),
        "mine_to_act": running and any(seat in standing["to_act"] for seat in mine),
        "seats": seats_shown(game, standing, caller, name),
    }


def seats_shown(game: Game, standing: Mapping[str, Any], caller: Caller, name: Callable[[str], str | None]) -> list[dict[str, Any]]:
    """Return the seats of a match in turn order, as templates expect them. `open`: the caller may sit down."""
    kept, outcome, to_act = standing["invited"], standing["outcome"] or {}, standing["to_act"]
    overruled, running = outcome.get("overruled", {}), standing["status"] == "playing"
    sits = caller.id is not None and any(who.get("player") == caller.id for who in standing["seats"].values())
    return [
        {
            "id": seat,
            "name": seat_name(game, seat),
            "open": who.get("open", False) and not sits and kept.get(seat, caller.id) == caller.id,
            "kept": seat in kept,
            "free": who.get("open", False) and seat not in kept,
            "player": name(kept[seat]) or say("nobody") if seat in kept else occupant(who, name, seat_name(game, seat)),
            "person": who.get("player"),
            "offered": caller.id is not None and standing["handovers"].get(seat) == caller.id,
            "acts": running and seat in to_act,
            "won": seat in (outcome.get("winners") or ()) and overruled.get("remedy") != "void" and overruled.get("seat") != seat,
        }
        for seat, who in ((seat, standing["seats"][seat]) for seat in standing["order"])
    ]


def _thumb(pages: Pages, standing: Mapping[str, Any]) -> str | None:
    """Return the address of a small picture: the board, or the cover of the game while the match is open."""
    if standing["status"] == "open":
        return cover(pages, standing["game"])
    language = page_language(request.environ)
    return f"/v1/matches/{standing['id']}/state.svg?shape=board&at={standing['version']}&language={language}"


def cover(pages: Pages, game: str) -> str | None:
    """Return the address of the cover of a game, or None if it has none."""
    name = f"{game}.svg"
    return f"{pages.files.folder}/{name}" if name in pages.files else None


def occupant(who: Mapping[str, Any], name: Callable[[str], str | None], seat: str) -> str:
    """Return the name of the player in a seat, or of the level of the AI, or that the seat is open."""
    if "player" in who:
        return name(who["player"]) or say("somebody who has left")
    return ai_name(who["ai"]) if "ai" in who else say("{seat} is open", seat=seat)


def clock_text(clock: Mapping[str, Any]) -> Sentence | str:
    """Return a clock in words, or "" if there is none."""
    if clock["kind"] == "none":
        return ""
    if clock["kind"] == "days":
        return say("{time} a turn", time=span(clock["hours"] * HOUR))
    time = span(clock["seconds"])
    return say("{time} an action", time=time) if clock["kind"] == "per_action" else say("{time} a seat", time=time)


def span(seconds: float) -> Sentence:
    """Return a duration in words."""
    number, size = _units(seconds)
    return {
        1: say_many("{count} second", "{count} seconds", number, count=number),
        MINUTE: say_many("{count} minute", "{count} minutes", number, count=number),
        HOUR: say_many("{count} hour", "{count} hours", number, count=number),
        DAY: say_many("{count} day", "{count} days", number, count=number),
    }[size]


def _units(seconds: float) -> tuple[int, int]:
    """Return a duration as a number of units of so many seconds. There are at least two of them, or they are seconds."""
    size = next((size for size in (DAY, HOUR, MINUTE) if seconds >= 2 * size), 1)
    return int(seconds // size), size


def ago(seconds: float) -> Sentence:
    """Return how long ago something happened, in words."""
    if seconds < MINUTE:
        return say("just now")
    number, size = _units(seconds)
    return {
        1: say_many("{count} second ago", "{count} seconds ago", number, count=number),
        MINUTE: say_many("{count} minute ago", "{count} minutes ago", number, count=number),
        HOUR: say_many("{count} hour ago", "{count} hours ago", number, count=number),
        DAY: say_many("{count} day ago", "{count} days ago", number, count=number),
    }[size]


def _filters(service: Service, query: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the links that choose which matches are listed."""
    statuses = [(label, {"status": status, "game": query["game"]}, query["status"] == status) for status, label in STATUSES.items()]
    chosen = query["game"]
    games = [
        (game_in_brief(game)["short"], {"status": query["status"], "game": "" if chosen == game.id else game.id}, chosen == game.id)
        for game in service.games.values()
    ]
    return [
        {"label": label, "href": "/?" + urlencode({name: value for name, value in asked.items() if value}), "chosen": yes}
        for label, asked, yes in statuses + games
    ]


def _game(game: Game, pages: Pages) -> dict[str, Any]:
    """Return a game as the lobby shows it."""
    least, most = game.seats.least, game.seats.most
    shown = (
        say("{least} to {most} seats", least=least, most=most)
        if least < most
        else say_many("{count} seat", "{count} seats", most, count=most)
    )
    return {**game_in_brief(game), "seats_text": shown, "cover": cover(pages, game.id)}
