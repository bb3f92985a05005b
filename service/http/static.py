"""Static files: modules, styles and icons of the pages, and the client for pages of other origins.

The addresses of the pages' files share one mark, so that a page never mixes two releases. Those of the client stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, Protocol

from flask import Flask, Response, abort, request

from games.kernel import Game
from service.http.middleware import info_of
from service.http.responses import JSON, SVG, empty_response, names_tag
from web.page import crest_style

KINDS = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".json": JSON,
    ".svg": SVG,
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
# Comments that are lines of their own, but for licences; indents; empty lines. Inside a line nothing is taken out: it may be a text.
_UNREAD = re.compile(rb"^[ \t]*(?://.*|/\*[^!](?s:.*?)\*/[ \t]*)\n|^[ \t]+|^\n", re.MULTILINE)
_IMPORTS = re.compile(r'^import\b[^;"(]*"\./([\w.]+)"', re.MULTILINE).findall
FOREVER = "public, max-age=31536000, immutable"
CRESTS = "crests.css"
ICON = "icon.svg"
ICONS = (ICON, "icon.png")
STATIC = Path(__file__).parents[2] / "web" / "static"
VERIFIER = Path(__file__).parents[2] / "verify" / "verify.mjs"  # the file that people run with Node
CLIENT = Path(__file__).parents[2] / "sdk" / "js"


def of_pages(games: Mapping[str, Game]) -> dict[str, bytes]:
    """Return the files of the pages by name. Modules are sent without comments and indents, which are a sixth of what a browser loads."""
    found = {path.name: short(path) for path in sorted(STATIC.iterdir()) if path.suffix in KINDS}
    return {**found, VERIFIER.name: VERIFIER.read_bytes(), CRESTS: "".join([crest_style(game) for game in games.values()]).encode()}


def short(path: Path) -> bytes:
    """Return a file as it is sent."""
    content = path.read_bytes()
    return _UNREAD.sub(b"", content) if path.suffix == ".js" else content


def of_client() -> dict[str, bytes]:
    """Return the modules of the JavaScript client by name (sdk/js)."""
    return {path.name: path.read_bytes() for path in sorted(CLIENT.glob("*.js"))}


class Made(NamedTuple):
    """A file that is made when it is first asked for. `source`: the bytes that it follows from."""

    source: bytes
    make: Callable[[], bytes]


class Files:
    """Static files by name. `folder`: the path of all of them, with the mark of their content."""

    def __init__(self, files: Mapping[str, bytes | Made]) -> None:
        self._files = dict(files)
        self.mark = mark_of({name: file.source if isinstance(file, Made) else file for name, file in files.items()})
        self.folder = f"/static/{self.mark}"

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def paths(self) -> list[str]:
        """Return the paths of the modules, the styles and the icons."""
        return [f"{self.folder}/{name}" for name in self._files if name.endswith((".js", ".css")) or name in ICONS]

    def imported(self, name: str) -> list[str]:
        """Return the modules that a module imports at once, and that these import, so that a page can ask for all of them together."""
        found: list[str] = [name]
        for module in found:
            found += [other for other in _IMPORTS(self._content(module).decode()) if other not in found]
        return found[1:]

    def _content(self, name: str) -> bytes:
        file = self._files[name]
        if isinstance(file, Made):
            file = self._files[name] = file.make()
        return file

    def response(self, mark: str, name: str) -> Response:
        """Return a file, or 404. Without the present mark, as from a page of before a new release, caches must ask each time."""
        if name not in self._files:
            abort(404)
        if names_tag(request.headers.get("If-None-Match"), self.mark):
            response = empty_response(304)
        else:
            response = Response(self._content(name), mimetype=KINDS[Path(name).suffix])
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
    """Add a route to Flask that serves files. `path`: with `<name>`, and perhaps `<mark>`. Everybody may see them."""

    def served(name: str, mark: str = "") -> Response:
        info = info_of(request.environ)
        info.operation, info.open = "static", True
        return files.response(mark, name)

    app.add_url_rule(path, f"files{path.partition('/<')[0]}", served)
