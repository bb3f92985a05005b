"""Render templates as pages. The content security policy of a page lets it load files from this server alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from flask import Response, request
from markupsafe import Markup, escape

from games.kernel import Game
from games.sentences import Sentence, say
from record.guides import FILE as GUIDE
from service.api.operations import problem_of
from service.context import Service
from service.http.languages import page_language
from service.http.middleware import info_of
from service.http.problems import CODES, Problem
from service.http.static import CRESTS, Files
from service.pages.pyodide import Pyodide
from service.pages.texts import manifest_name, texts_name
from table.data import LEVELS
from web.languages import ENGLISH, LANGUAGES, Words, own_name, words_of
from web.look import Look, look
from web.page import crests

HTML = "text/html"
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; manifest-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
)


@jinja2.pass_context
def _say(context: jinja2.runtime.Context, text: str, **facts: Any) -> Markup:
    """Return a text of a template in the language of the page. The names of its facts, which may be elements, are in braces."""
    words = words_of(context["language"])
    return _filled(words, words(text), facts)


@jinja2.pass_context
def _say_many(context: jinja2.runtime.Context, one: str, many: str, number: int, **facts: Any) -> Markup:
    """Return a text of a template in the form for a number."""
    words = words_of(context["language"])
    return _filled(words, words(Sentence(one, {}, many, number)), facts)


def _filled(words: Words, template: str, facts: Mapping[str, Any]) -> Markup:
    return escape(template).format_map({name: shown(fact, words) for name, fact in facts.items()})


@jinja2.pass_context
def _shown(context: jinja2.runtime.Context, value: Any) -> Any:
    """Return what a template shows of a value: a sentence in the language of the page."""
    return shown(value, words_of(context["language"]))


def shown(value: Any, words: Words) -> Any:
    """Return what a page shows of a value: a sentence in a language. Anything else stays, such as the name of a player."""
    return words(value) if isinstance(value, Sentence) else value


_templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parents[2] / "web" / "pages"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
    finalize=_shown,
)
_templates.globals.update({"_": _say, "ngettext": _say_many})


class Pages(NamedTuple):
    """What the views of pages share."""

    service: Service
    files: Files
    pyodide: Pyodide | None


def html_response(
    pages: Pages, template: str, values: Mapping[str, Any], status: int = 200, ancestors: str = "'none'", audits: bool = False
) -> Response:
    """Return a page.

    `ancestors`: the pages that may show it in a frame. `audits`: the page checks matches, with Pyodide if that is installed.
    """
    return page_response(rendered(pages, template, values, audits), status, ancestors)


def rendered(pages: Pages, template: str, values: Mapping[str, Any], audits: bool = False) -> bytes:
    """Return the HTML of a page. `audits`: as for `html_response`."""
    games = [game_in_brief(game) for game in pages.service.games.values()]
    language = page_language(request.environ)
    shared = {
        "here": "",
        "games": games,
        "static": pages.files.folder,
        "language": language,
        "languages": {code: own_name(code) for code in LANGUAGES} if len(LANGUAGES) > 1 else {},
        "texts": "" if language == ENGLISH else f"{pages.files.folder}/{texts_name(language)}",
        "manifest": manifest_name(language),
    }
    shared["pyodide"] = pages.pyodide.folder if audits and pages.pyodide else ""
    return _templates.get_template(template).render({**shared, **values}).encode()


def page_response(content: bytes, status: int = 200, ancestors: str = "'none'") -> Response:
    """Return a page with rendered content. `ancestors`: as for `html_response`."""
    response = Response(content, status, mimetype=HTML)
    response.headers["Content-Security-Policy"] = POLICY.format(ancestors=ancestors)
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["Cache-Control"] = "private, no-cache"
    response.headers["Content-Language"] = page_language(request.environ)
    response.headers["Vary"] = "Authorization, Accept-Language, Cookie"
    return response


def look_of(game: Game) -> Look:
    """Return the look of a game in the language of the page."""
    return look(game, page_language(request.environ))


def crests_of(pages: Pages, *games: Game) -> dict[str, Any]:
    """Return what a template needs to show the badges of the seats of games: the badges, in the language of the page, and their style."""
    language = page_language(request.environ)
    return {
        "crests": Markup("".join([crests(game, language) for game in games])),
        "crests_style": f"{pages.files.folder}/{CRESTS}",
    }


def game_in_brief(game: Game) -> dict[str, Any]:
    """Return the id, the title and the short name of a game, its goal, length and weight in a sentence each, and whether it has a guide."""
    told = look_of(game)
    return {
        "id": game.id,
        "title": told.say(game.title),
        "short": told.word(game.id),
        "goal": told.picture.goal,
        "length": told.picture.length,
        "weight": told.picture.weight,
        "guided": (game.folder / GUIDE).exists(),
    }


def ai_name(level: str) -> Sentence:
    """Return an artificial player by the name of its level."""
    return say("AI, {level}", level=LEVELS[level].name)


AI_WORDS = {f"ai_{level}": ai_name(level) for level in LEVELS}
"""Artificial players by id, for scripts of pages."""


def seat_name(game: Game, seat: str) -> str:
    """Return the name of a seat in the language of the page."""
    return look_of(game).crest(seat).name


def page(pages: Pages, view: Callable[..., Response]) -> Callable[..., Response]:
    """Return a Flask view for a page. The view identifies the caller, and answers an error with a page.

    A browser sends no key when its reader follows a link. Such a page shows what a spectator sees. Scripts can send a key.
    """

    def answer(**ids: str) -> Response:
        info = info_of(request.environ)
        info.operation = "page"
        info.open = "HTTP_AUTHORIZATION" not in request.environ
        try:
            caller = pages.service.keys.caller(request.environ)
            info.player = caller.id
            return view(pages, caller, **ids)
        except Exception as error:  # noqa: BLE001 - no error is swallowed: the page shows it, and it is logged
            problem = problem_of(error, info.id)
        info.code = problem.code
        return _failure(pages, problem)

    return answer


def _failure(pages: Pages, problem: Problem) -> Response:
    kind = CODES[problem.kind]
    return html_response(pages, "failure.html", {"title": kind.title, "detail": problem.detail}, kind.status)
