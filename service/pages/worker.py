"""The service worker of the pages (web/worker/worker.js): it shows what players are called for, and keeps opened replays."""

from __future__ import annotations

import functools
from pathlib import Path

from flask import Flask, Response, request

from service.http.middleware import info_of
from service.http.responses import public, sorted_json
from service.http.static import short
from service.pages.html import Pages
from service.pages.texts import texts_name, texts_of_scripts
from web.languages import ENGLISH, LANGUAGES
from web.look import look

PATH = "/worker.js"  # of the root, since a worker has a say in what is below its own folder
POLICY = "default-src 'none'; connect-src 'self'"

_SOURCE = Path(__file__).parents[2] / "web" / "worker" / "worker.js"


def mount(app: Flask, pages: Pages) -> None:
    """Add the service worker to the Flask application. Everybody may see it. Browsers ask for a newer one at each page."""
    made = functools.cache(lambda language: script(pages, language))

    def served() -> Response:
        info = info_of(request.environ)
        info.operation, info.open = "static", True
        asked = request.args.get("language")
        content = made(asked if asked in LANGUAGES else ENGLISH)
        response = public(Response(content, mimetype="text/javascript"), request.headers.get("If-None-Match"))
        response.headers.update({"Cache-Control": "no-cache", "Content-Security-Policy": POLICY})
        return response

    app.add_url_rule(PATH, "files/worker", served)


def script(pages: Pages, language: str) -> bytes:
    """Return the script in a language, with what follows from the release in front of it."""
    games = {game.id: look(game, language).say(game.title) for game in pages.service.games.values()}
    source, files, texts = short(_SOURCE), pages.files.paths(), {}
    if language != ENGLISH:
        files.append(f"{pages.files.folder}/{texts_name(language)}")
        texts = texts_of_scripts(language, [source])
    release = {"mark": f"{pages.files.mark}-{language}", "folder": pages.files.folder, "files": files, "games": games, "texts": texts}
    return b"const RELEASE=" + sorted_json(release) + b";\n" + source
