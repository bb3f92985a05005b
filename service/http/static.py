"""Static files of the pages: modules, styles, icons. Their addresses share one mark, so that a page never mixes two releases."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from flask import Flask, Response, abort, request

from games.kernel import Game
from service.http.middleware import info_of
from service.http.responses import SVG, empty_response, names_tag
from web.page import crest_style

KINDS = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": SVG}
FOREVER = "public, max-age=31536000, immutable"
CRESTS = "crests.css"
ICON = "icon.svg"
STATIC = Path(__file__).parents[2] / "web" / "static"
VERIFIER = Path(__file__).parents[2] / "verify" / "verify.mjs"  # the file that people run with Node


class Files:
    """The static files by name. `folder`: the path of all of them, with the mark of their content."""

    def __init__(self, games: Mapping[str, Game]) -> None:
        self._files = {path.name: path.read_bytes() for path in sorted(STATIC.iterdir()) if path.suffix in KINDS}
        self._files[VERIFIER.name] = VERIFIER.read_bytes()
        self._files[CRESTS] = "".join([crest_style(game) for game in games.values()]).encode()
        self.mark = mark_of(self._files)
        self.folder = f"/static/{self.mark}"

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def response(self, mark: str, name: str) -> Response:
        """Return a file, or 404. With an older mark, as from a page loaded before a new release, caches must revalidate it each time."""
        if name not in self._files:
            abort(404)
        if names_tag(request.headers.get("If-None-Match"), self.mark):
            response = empty_response(304)
        else:
            response = Response(self._files[name], mimetype=KINDS[Path(name).suffix])
        response.headers["ETag"] = f'"{self.mark}"'
        response.headers["Cache-Control"] = FOREVER if mark == self.mark else "no-cache"
        response.headers["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        return response


def mark_of(files: Mapping[str, bytes]) -> str:
    """Return a mark of the names and the contents of files."""
    return sha256(b"".join(sha256(part).digest() for name in sorted(files) for part in (name.encode(), files[name]))).hexdigest()[:12]


class Served(Protocol):
    """Files whose addresses have a mark of their content."""

    def response(self, mark: str, name: str) -> Response:
        """Return the file with this name. An older mark gets the present file."""


def mount(app: Flask, path: str, files: Served) -> None:
    """Add a route to Flask that serves files below a path. Everybody may see them."""

    def served(mark: str, name: str) -> Response:
        info = info_of(request.environ)
        info.operation, info.open = "static", True
        return files.response(mark, name)

    app.add_url_rule(f"{path}/<mark>/<name>", f"files{path}", served)
