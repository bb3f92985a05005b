"""The service worker of the pages (web/worker/worker.js): it shows what players are called for, and keeps opened replays."""

from __future__ import annotations

from pathlib import Path

from flask import Flask, Response, request

from service.http.middleware import info_of
from service.http.responses import public, sorted_json
from service.http.static import short
from service.pages.html import Pages, game_in_brief

PATH = "/worker.js"  # of the root, since a worker has a say in what is below its own folder
POLICY = "default-src 'none'; connect-src 'self'"

_SOURCE = Path(__file__).parents[2] / "web" / "worker" / "worker.js"


def mount(app: Flask, pages: Pages) -> None:
    """Add the service worker to the Flask application. Everybody may see it. Browsers ask for a newer one at each page."""
    content = script(pages)

    def served() -> Response:
        info = info_of(request.environ)
        info.operation, info.open = "static", True
        response = public(Response(content, mimetype="text/javascript"), request.headers.get("If-None-Match"))
        response.headers.update({"Cache-Control": "no-cache", "Content-Security-Policy": POLICY})
        return response

    app.add_url_rule(PATH, "files/worker", served)


def script(pages: Pages) -> bytes:
    """Return the script, with what follows from the release in front of it."""
    games = {game.id: game_in_brief(game)["title"] for game in pages.service.games.values()}
    release = {"mark": pages.files.mark, "files": pages.files.paths(), "games": games}
    return b"const RELEASE=" + sorted_json(release) + b";\n" + short(_SOURCE)
