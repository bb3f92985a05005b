"""Python in the reader's tab: Pyodide, if the operator has fetched it, runs the rules of the games there (docs/decisions/0069)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from flask import Response, abort, request

from record.rules import code_of
from service.http.responses import GZIPPED, empty_response, names_tag, takes

ROOT = Path(__file__).parents[2]
VERSION = "314.0.7"
LIST = "package.json"
WASM = "pyodide.asm.wasm"
NAMES = ("pyodide.mjs", "pyodide.asm.mjs", WASM, "python_stdlib.zip", "pyodide-lock.json")
COMPRESSED = f"{WASM}.gz"  # compressed in advance, because it is too large to be compressed for each reader
WORKER = "deciding.js"
RULES = "rules.zip"

KINDS = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
    ".zip": "application/zip",
    ".json": "application/json",
}
FOREVER = "public, max-age=31536000, immutable"
NOTHING = "default-src 'none'; sandbox"
POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"  # of the worker alone

_RULES = ("*.py", "RULES.md", "data.json", "picture.json")
_CORE = (
    "__init__", "allowances", "dice", "dossiers/__init__", "dossiers/lines", "dossiers/records", "entries", "json_text", "keyed",
    "notices", "positions", "questions", "redeciding", "rules", "shown", "signatures", "thoughts", "trail",
)  # fmt: skip


class Pyodide:
    """The files that the worker loads, by name. They share one mark in their addresses, a digest of their contents."""

    def __init__(self, fetched: Path) -> None:
        self._fetched = fetched
        self._made = {WORKER: (ROOT / "web" / "worker" / WORKER).read_bytes(), RULES: rules_archive()}
        self.mark = sha256(repr((VERSION, sorted(self._made.items()))).encode()).hexdigest()[:12]
        self.folder = f"/pyodide/{self.mark}"

    def response(self, mark: str, name: str) -> Response:
        """Return a file. The address with an older mark gets the present file, and caches must not keep that. Abort with 404."""
        if name not in self._made and name not in NAMES:
            abort(404)
        zipped = name == WASM and takes(request.headers.get("Accept-Encoding"), "gzip")
        if names_tag(request.headers.get("If-None-Match"), self.mark):
            response = empty_response(304)
        else:
            response = Response(self._content(COMPRESSED if zipped else name), mimetype=KINDS[Path(name).suffix])
            if zipped:
                response.headers["Content-Encoding"] = "gzip"
                response.headers["Vary"] = "Accept-Encoding"
        response.headers["ETag"] = f'"{self.mark}{GZIPPED if zipped else ""}"'
        response.headers["Cache-Control"] = FOREVER if mark == self.mark else "no-cache"
        response.headers["Content-Security-Policy"] = POLICY if name == WORKER else NOTHING
        return response

    def _content(self, name: str) -> bytes:
        try:
            return self._made[name] if name in self._made else (self._fetched / name).read_bytes()
        except OSError:  # the folder was removed after the start
            abort(404)


def at_hand(folder: Path) -> Pyodide | None:
    """Return Pyodide if the folder has every file of version VERSION, or None."""
    try:
        version = json.loads((folder / LIST).read_text(encoding="utf-8"))["version"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    whole = version == VERSION and all((folder / name).is_file() for name in (*NAMES, COMPRESSED))
    return Pyodide(folder) if whole else None


def rules_archive() -> bytes:
    """Return a zip of the installed rules and of the code that runs them. The same files give the same bytes."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name, path in sorted(_modules()):
            archive.writestr(ZipInfo(name), code_of(path), ZIP_DEFLATED)
    return buffer.getvalue()


def _modules() -> Iterator[tuple[str, Path]]:
    """Yield the name and the path of each file of the zip. All files that the content hash of the rules covers are among them."""
    found = [path for folder in ("games", "table") for pattern in _RULES for path in (ROOT / folder).rglob(pattern)]
    found += [ROOT / "record" / f"{name}.py" for name in _CORE]
    found += [ROOT / "evidence" / f"{name}.py" for name in ("__init__", "running", "statements")]
    yield from ((path.relative_to(ROOT).as_posix(), path) for path in found)
