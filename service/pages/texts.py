"""The files of the pages in other languages than English: the texts of scripts, and the manifest of the installed app.

They follow from web/<language>.po, and are made when somebody asks for them first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import orjson

from service.http.static import Made
from web.languages import ENGLISH, LANGUAGES, WEB, forms, texts

MANIFEST = "app.webmanifest"


def texts_name(language: str) -> str:
    """Return the name of the file with the texts of scripts in a language."""
    return f"{language}.json"


def manifest_name(language: str) -> str:
    """Return the name of the manifest in a language."""
    return MANIFEST if language == ENGLISH else f"app.{language}.webmanifest"


def made_files(files: Mapping[str, bytes]) -> dict[str, Made]:
    """Return the files of all languages by name. `files`: those of the pages in English."""
    scripts = [content for name, content in files.items() if name.endswith((".js", ".mjs"))]
    found = {}
    for language in LANGUAGES:
        if language != ENGLISH:
            source = (WEB / f"{language}.po").read_bytes()
            found[texts_name(language)] = Made(source, lambda to=language: orjson.dumps(texts_of_scripts(to, scripts)))  # type: ignore[misc]
            found[manifest_name(language)] = Made(source, lambda to=language: manifest(to, files[MANIFEST]))  # type: ignore[misc]
    return found


def texts_of_scripts(language: str, scripts: Iterable[bytes]) -> dict[str, str | dict[str, str]]:
    """Return the texts that stand as literals in scripts, by their English. A text with a number has a form for each category of CLDR."""
    every = b"\n".join(scripts)
    found: dict[str, str | dict[str, str]] = {}
    for english, many, text in texts(language):
        if json.dumps(english, ensure_ascii=False).encode() in every:
            found[english] = forms(language, english, many) if many else text
    return found


def manifest(language: str, content: bytes) -> bytes:
    """Return the manifest of the app in a language."""
    told = orjson.loads(content)
    said = {english: text for english, _, text in texts(language)}
    return orjson.dumps({**told, "lang": language, "description": said.get(told["description"], told["description"])})
