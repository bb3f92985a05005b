"""The texts of pages in their catalogue: `./run texts` finds those of templates and modules, and writes them into web/<language>.po.

Texts that are new stand in it untranslated, and those that are gone are taken out. So translating is filling what is empty.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import jinja2
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

WEB = Path(__file__).parents[1] / "web"
_STRING = r'"(?:[^"\\]|\\.)*"'
CALLS = re.compile(rf"(?<![\w$])(?:(?<!\.)|(?<=\.\.\.))t(?P<kind>\.n|\.around|)\(\s*(?P<one>{_STRING})(?:,\s*(?P<many>{_STRING}))?")
"""The calls of web/static/language.js in a module. Their texts are literals."""
COMMENTS = re.compile(r"^\s*(?://|/?\*).*$|(?<=[;{},]) // .*$", re.MULTILINE)


class Text(NamedTuple):
    """A text: its English, its English for several or "", and the file in which it stands."""

    one: str
    many: str
    file: str


def of_modules() -> Iterator[Text]:
    """Yield the texts of the modules and of the service worker."""
    for path in sorted([*WEB.glob("static/*.js"), *WEB.glob("worker/worker.js")]):
        for call in CALLS.finditer(COMMENTS.sub("", path.read_text("utf-8"))):
            many = json.loads(call["many"]) if call["kind"] == ".n" else ""
            yield Text(json.loads(call["one"]), many, f"web/{path.relative_to(WEB)}")


def of_templates() -> Iterator[Text]:
    """Yield the texts of the templates."""
    environment = jinja2.Environment(autoescape=True)
    for path in sorted(WEB.glob("pages/*.html")):
        tree = environment.parse(path.read_text("utf-8"))
        for call in tree.find_all(jinja2.nodes.Call):
            if isinstance(call.node, jinja2.nodes.Name) and call.node.name in ("_", "ngettext"):
                words = [argument.value for argument in call.args[:2] if isinstance(argument, jinja2.nodes.Const)]
                yield Text(words[0], words[1] if call.node.name == "ngettext" else "", f"web/{path.relative_to(WEB)}")


def renewed(path: Path, texts: Iterable[Text]) -> Catalog:
    """Return the catalogue in a file with these texts, translated as far as the file has them."""
    with path.open("rb") as file:
        before = read_po(file, locale=path.stem)
    after = Catalog(locale=path.stem, header_comment="", fuzzy=False)
    for one, many, where in texts:
        known = before.get(one)
        after.add((one, many) if many else one, known.string if known and bool(many) == known.pluralizable else None, [(where, 0)])
    return after


def written(catalog: Catalog) -> bytes:
    """Return a catalogue as a PO file: no header but what gettext needs, and each text with the files in which it stands."""
    out = io.BytesIO()
    write_po(out, catalog, width=140, omit_header=True, include_lineno=False)
    head = f'"Language: {catalog.locale}\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n"Plural-Forms: {catalog.plural_forms}\\n"\n'
    return f'msgid ""\nmsgstr ""\n{head}\n'.encode() + out.getvalue()
