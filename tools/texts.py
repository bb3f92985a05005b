"""The texts of every catalogue: `./run texts` finds those of code, templates, modules and data, and writes them into the PO files.

Texts that are new stand there untranslated, and those that are gone are taken out. So translating is filling what is empty. A text belongs
to the catalogue of its game, to that of the table, or else to that of the pages, `web/<language>.po`.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

from events.errors import ERRORS
from games import GAMES
from games.kernel import SHARED_REFUSALS, Game
from games.picture import Picture, picture
from record.guides import FILE as GUIDE
from service.http.limits import SCOPES, UNITS
from service.http.problems import OWN
from service.pages.creating import label_of
from table.data import LEVELS
from table.refusals import REFUSALS, Kind
from web.languages import ENGLISH, LANGUAGES, TABLE, WEB
from web.look import SHARED

ROOT = WEB.parent
_STRING = r'"(?:[^"\\]|\\.)*"'
CALLS = re.compile(rf"(?<![\w$])(?:(?<!\.)|(?<=\.\.\.))t(?P<kind>\.n|\.around|)\(\s*(?P<one>{_STRING})(?:,\s*(?P<many>{_STRING}))?")
"""The calls of web/static/language.js in a module. Their texts are literals."""
FIELD = re.compile(r"\{[^}]*\}")
"""What a deed counts, such as `unit to` in `{to:unit to}`."""
COMMENTS = re.compile(r"^\s*(?://|/?\*).*$|(?<=[;{},]) // .*$", re.MULTILINE)


class Text(NamedTuple):
    """A text: its English, its English for several or "", and the files in which it stands, with blanks between them."""

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
            words = [argument.value for argument in call.args[:2] if isinstance(argument, jinja2.nodes.Const)]
            if isinstance(call.node, jinja2.nodes.Name) and call.node.name in ("_", "ngettext") and words:
                yield Text(words[0], words[1] if call.node.name == "ngettext" else "", f"web/{path.relative_to(WEB)}")


def of_code(*paths: Path) -> Iterator[Text]:
    """Yield the texts that functions of games/sentences.py are called with, as literals, in files and folders."""
    for path in chain.from_iterable([path] if path.is_file() else sorted(path.rglob("*.py")) for path in paths):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            words = [argument.value for argument in call.args if isinstance(argument, ast.Constant) and isinstance(argument.value, str)]
            where = str(path.relative_to(ROOT))
            if words and call.func.id in ("say", "Sentence"):
                yield Text(words[0], "", where)
            elif len(words) > 1 and call.func.id == "say_many":
                yield Text(words[0], words[1], where)
            elif words and call.func.id == "counted":
                yield Text(words[0], words[1] if len(words) > 1 else f"{words[0]}s", where)


def of_verifier() -> Iterator[Text]:
    """Yield what verify.mjs says that it has not checked, as far as it says it without facts. The page that checks files shows it."""
    path = ROOT / "verify" / "verify.mjs"
    for literal in re.findall(r'"(?:[^"\\\n]|\\.)*"', COMMENTS.sub("", path.read_text("utf-8"))):
        if re.fullmatch(r'"[A-Z][^:`]{5,}: .+[.]"', literal):
            yield Text(json.loads(literal), "", "verify/verify.mjs")


def of_kinds(kinds: Iterable[Kind], where: str) -> Iterator[Text]:
    """Yield the titles and the sentences of problems."""
    for kind in kinds:
        yield Text(kind.title, "", where)
        yield Text(kind.detail, "", where)


def of_picture(own: Picture, where: str) -> Iterator[Text]:
    """Yield the texts of a picture. The word of an id is counted if another id, with an s, has the word for several."""
    counted = {f"{id}s" for id in own.words if own.several(id)}
    yield from [Text(word, own.several(id), where) for id, word in own.words.items() if id not in counted]
    texts = [own.goal, own.length, own.weight, *own.deeds.values(), *own.asks.values(), *own.terms.values()]
    texts += [telling.sentence for telling in own.news.values()]
    texts += [text for crest in own.crests.values() for text in (crest.name, crest.letter)]
    yield from [Text(text, "", where) for text in [*texts, *_in_map(own.map, "")]]
    yield from [Text(noun, many, where) for noun, many in own.nouns.items()]


def _in_map(value: Any, name: str) -> Iterator[str]:
    """Yield the texts in a map, which is the game's own: names, labels, and what has several words."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _in_map(inner, key)
    elif isinstance(value, str) and (name in ("name", "label") or re.search(r"[a-z] [a-z{]", value)):
        yield value


def of_game(game: Game) -> Iterator[Text]:
    """Yield the texts of a game."""
    folder = game.folder.relative_to(ROOT)
    yield Text(game.title, "", f"{folder}/__init__.py")
    yield from [Text(text, "", f"{folder}/__init__.py") for text in game.refusals.values()]
    yield from of_picture(picture(game.folder), f"{folder}/picture.json")
    for name, schema in game.options.schema["properties"].items():
        yield Text(label_of(name), "", f"{folder}/data.json")
        yield Text(schema.get("description", ""), "", f"{folder}/data.json")
    data = json.loads((game.folder / "data.json").read_text("utf-8"))
    yield from [Text(text, "", f"{folder}/data.json") for text in _in_data(data)]
    guide = json.loads((game.folder / GUIDE).read_text("utf-8")) if (game.folder / GUIDE).exists() else {"moves": [], "otherwise": {}}
    steps = [*guide["moves"], *guide["otherwise"].values()]
    yield from [Text(step["text"], "", f"{folder}/{GUIDE}") for step in steps if "text" in step]
    yield from of_code(game.folder)


def _in_data(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of data.json: the readings of options, and the names and the texts of what has its own."""
    for option in data.get("options", {}).values():
        if isinstance(option, dict):
            yield from [" ".join(said.split()) for _, said in option.get("readings", ())]
            yield option.get("balance") or ""
    yield from data.get("sketch", {}).get("tokens", {}).values()
    waiting = [value for name, value in data.items() if name not in ("options", "sources")]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            yield from [value[key] for key in ("name", "text", "short") if isinstance(value.get(key), str)]
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def of_table() -> Iterator[Text]:
    """Yield the texts of the table, and those that all games share."""
    yield from of_kinds(REFUSALS.values(), "table/refusals.py")
    yield from [Text(text, "", "games/kernel.py") for text in SHARED_REFUSALS.values()]
    yield from [Text(text, "", "table/data.json") for level in LEVELS.values() for text in (level.name, level.about)]
    yield from of_picture(SHARED, "web/table.json")
    yield from of_code(TABLE, ROOT / "games" / "kernel.py")


def of_pages() -> Iterator[Text]:
    """Yield the texts of the pages, of pictures, and of what the platform and HTTP say."""
    yield from of_modules()
    yield from of_templates()
    yield from of_kinds(OWN.values(), "service/http/problems.py")
    yield from of_kinds(ERRORS.values(), "events/errors.py")
    yield from [Text(text, "", "service/http/limits.py") for text in (*UNITS, *SCOPES, "caller")]
    yield from of_verifier()
    yield from of_code(*[ROOT / place for place in ("web", "service", "events", "record", "games/sentences.py", "games/drawing.py")])


def texts_by_folder() -> dict[Path, list[Text]]:
    """Return the texts of each catalogue by its folder, each text once, in their order."""
    found = {game.folder: merged(of_game(game)) for game in GAMES.values()}
    return {**found, TABLE: merged(of_table()), WEB: merged(of_pages())}


def merged(texts: Iterable[Text]) -> list[Text]:
    """Return texts once. One that stands somewhere with a form for several has it."""
    found: dict[str, Text] = {}
    for text in texts:
        if re.search(r"[^\W\d_]", text.one):
            before = found.get(text.one, text)
            files = dict.fromkeys([*before.file.split(), text.file])
            found[text.one] = Text(text.one, before.many or text.many, " ".join(files))
    return list(found.values())


def kept(path: Path) -> Catalog:
    """Return the catalogue in a file, or an empty one if there is no file."""
    if not path.exists():
        return Catalog(locale=path.stem)
    with path.open("rb") as file:
        return read_po(file, locale=path.stem)


def renewed(path: Path, texts: Iterable[Text]) -> Catalog:
    """Return the catalogue in a file with these texts, translated as far as the file has them. New ones come last."""
    before = kept(path)
    order = {message.id if isinstance(message.id, str) else message.id[0]: place for place, message in enumerate(before)}
    after = Catalog(locale=path.stem, header_comment="", fuzzy=False)
    for one, many, where in sorted(texts, key=lambda text: order.get(text.one, len(order))):
        known = before.get(one)
        said = known.string if known and bool(many) == known.pluralizable else None
        after.add((one, many) if many else one, said, [(file, 0) for file in where.split()])
    return after


def written(catalog: Catalog) -> bytes:
    """Return a catalogue as a PO file: no header but what gettext needs, and each text with the files in which it stands."""
    out = io.BytesIO()
    write_po(out, catalog, width=140, omit_header=True, include_lineno=False)
    head = f'"Language: {catalog.locale}\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n"Plural-Forms: {catalog.plural_forms}\\n"\n'
    return f'msgid ""\nmsgstr ""\n{head}\n'.encode() + out.getvalue()


def is_translated(message: Message) -> bool:
    """Return True if a text has every form in the language of its catalogue."""
    forms = (message.string,) if isinstance(message.string, str) else message.string or ()
    return bool(forms) and all(forms)


def main(arguments: list[str] | None = None) -> int:
    """Write the catalogues of every language. Return the exit status: 1 if texts are not translated."""
    parser = argparse.ArgumentParser(prog="./run texts", description="Write the texts of this program into the catalogues (PO files).")
    parser.add_argument("language", nargs="*", help="the code of a language that begins, such as de")
    languages = [*[language for language in LANGUAGES if language != ENGLISH], *parser.parse_args(arguments).language]
    empty = 0
    for folder, texts in texts_by_folder().items():
        for language in dict.fromkeys(languages):
            path = folder / f"{language}.po"
            catalog = renewed(path, texts)
            path.write_bytes(written(catalog))
            missing = sum(bool(message.id) and not is_translated(message) for message in catalog)
            empty += missing
            print(f"{path.relative_to(ROOT)}: {len(texts)} texts, {missing} not translated.")
    return int(empty > 0)


if __name__ == "__main__":
    sys.exit(main())
