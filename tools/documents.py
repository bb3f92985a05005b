"""Generate texts from the code: documents as types, tables of limits and draws, a page of operations. `./run documents`.

The `document.py` of each folder has a TypedDict for every object in the document, so that mypy can check the rules. A test compares the
files with the output of this module. The output has the format of `ruff format`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from keyword import iskeyword
from pathlib import Path
from textwrap import wrap
from types import MappingProxyType
from typing import Any

import table.state
from games import GAMES
from games.kernel import Game, Outcome, Shared
from games.schema import Schema
from games.sentences import counted
from record.notices import KINDS
from service.api.openapi import described
from service.http import limits
from table.data import FOLDER

LINE = 140
PLACE = Path(__file__).resolve().parent.parent
API = PLACE / "docs/api.md"
OPERATING = PLACE / "docs/operating.md"
AUDITING = PLACE / "docs/auditing.md"
VERIFIER = PLACE / "verify/verify.mjs"
EXAMPLES = PLACE / "docs/operations.md"
INDENT = " " * 4
ROOT = "State"
SHARED = Shared.__name__
TABLE = "Table"
HEAD = '''"""The {document} as types. `./run documents` writes this file from the shape of the document."""

from __future__ import annotations

from typing import {names}
'''
EXAMPLES_HEAD = """\
# Every operation, with a request and its answer

Look up here what an operation is sent and what it answers. [api.md](api.md) says how they work
together, and `openapi.yaml` says exactly what each one takes. The answers are of a real run; long
texts, lists and maps are cut short. `./run openapi --play` plays it, and `./run documents` writes
this page. A request with a body has `Content-Type: application/json`, and one that needs a key
`Authorization: Bearer wl_…`.
"""
KERNEL = "\nfrom games import kernel\n"
MATCH = f"\n\nMatch = kernel.Match[{ROOT}]\n"
PLAIN = {"string": "str", "integer": "int", "boolean": "bool", "null": "None"}


class Types:
    """The TypedDicts of one document. `classes`: by name, the fields and the text of each. Inner classes come before outer ones."""

    def __init__(self) -> None:
        self.classes: dict[str, tuple[Mapping[str, str], str]] = {}

    def named(self, schema: Schema, path: tuple[str, ...], name: str) -> str:
        """Return the Python type of the value at `path`. `name`: of its TypedDict, if it is an object with fixed fields."""
        if "anyOf" in schema and all("properties" in part for part in schema["anyOf"]):
            return self.record(_merged(schema), path, schema.get("title", name))
        if "anyOf" in schema:
            return " | ".join(dict.fromkeys(self.named(part, path, name) for part in schema["anyOf"]))
        if "const" in schema or "enum" in schema:
            values = schema.get("enum", [schema.get("const")])
            return " | ".join(sorted({type(value).__name__ for value in values}))
        if schema["type"] == "array":
            return f"list[{self.named(schema['items'], (*path, '*'), singular(name))}]"
        if schema["type"] != "object":
            return PLAIN[schema["type"]]
        if "properties" in schema:
            return self.record(schema, path, schema.get("title", name))
        values = schema["additionalProperties"]
        return f"dict[str, {'Any' if isinstance(values, bool) else self.named(values, (*path, '*'), singular(name))}]"

    def record(self, schema: Schema, path: tuple[str, ...], name: str) -> str:
        """Add the TypedDict of an object with fixed fields, and return its name. Raises ValueError if no name is free."""
        fields = {}
        for key, value in schema["properties"].items():
            kind = self.named(value, (*path, key), camel(key))
            fields[key] = kind if key in schema["required"] else f"NotRequired[{kind}]"
        about = schema.get("description", f"the object at `{'.'.join(path)}`")
        qualified = "".join(camel(part) for part in path if part != "*")
        for free in (name, qualified):
            if free not in self.classes:
                self.classes[free] = fields, typed_dict(free, fields, about)
            if self.classes[free][0] == fields:
                return free
        raise ValueError(f"{'.'.join(path)}: {name} and {qualified} are taken")


def typed_dict(name: str, fields: Mapping[str, str], about: str, base: str = "TypedDict") -> str:
    """Return the text of a TypedDict, which inherits from `base`. A key that is a keyword, such as `from`, needs the functional form."""
    about = about[0].upper() + about[1:] + ("" if about.endswith((".", "!")) else ".")
    if all(key.isidentifier() and not iskeyword(key) for key in fields):
        lines = wrap(f'"""{about}"""', LINE, initial_indent=INDENT, subsequent_indent=INDENT)
        members = ["", *[f"{INDENT}{key}: {kind}" for key, kind in fields.items()]] if fields else []
        return "\n".join([f"class {name}({base}):", *lines, *members])
    comment = "\n".join(wrap(about, LINE, initial_indent="# ", subsequent_indent="# "))
    pairs = [f'"{key}": {kind}' for key, kind in fields.items()]
    line = f'{name} = TypedDict("{name}", {{{", ".join(pairs)}}})'
    if len(line) > LINE:
        rows = "".join(f"{INDENT * 2}{pair},\n" for pair in pairs)
        line = f'{name} = TypedDict(\n{INDENT}"{name}",\n{INDENT}{{\n{rows}{INDENT}}},\n)'
    return f"{comment}\n{line}"


def singular(name: str) -> str:
    """Return the singular of a name: `Region` for `Regions`, `ScoreSheetRow` for `ScoreSheet`."""
    return name[:-3] + "y" if name.endswith("ies") else name[:-1] if name.endswith("s") else f"{name}Row"


def camel(key: str) -> str:
    """Return a key as the name of a class: `ScoreSheet` for `score_sheet`."""
    return "".join(part.capitalize() for part in key.split("_"))


def written(game: Game) -> str:
    """Return the text of a game's document.py. Fields that all games share are in games/kernel.py."""
    schema = {"description": f"the state of a match of {game.title}", **game.document.schema}
    head, body = _text(schema, ROOT, f"state document of {game.title}", {"Outcome": fields_of(Outcome), ROOT: fields_of(Shared)})
    return head + KERNEL + body + MATCH


def fields_of(kind: Any) -> dict[str, str]:
    """Return the fields of a handwritten TypedDict, each with the text of its type."""
    texts = {key: annotation.__forward_arg__ for key, annotation in kind.__annotations__.items()}
    return {key: text.replace("Seat", "str") for key, text in texts.items()}


def _text(schema: Schema, root: str, document: str, shared: Mapping[str, Mapping[str, str]] = MappingProxyType({})) -> tuple[str, str]:
    """Return the head of a document.py, and its classes. Classes inherit the fields that `shared` has for them."""
    types = Types()
    types.record(schema, (), root)
    if any(types.classes[name][0] != fields for name, fields in shared.items() if name != root):
        shared = {}
    written = []
    for name, (fields, text) in types.classes.items():
        inherited = shared.get(name, {})
        if inherited and inherited.items() <= fields.items():
            own = {key: kind for key, kind in fields.items() if key not in inherited}
            if own:
                written.append(typed_dict(name, own, schema["description"], f"kernel.{SHARED}"))
        else:
            written.append(text)
    body = "".join(f"\n\n{text}\n" for text in written)
    used = [name for name in ("Any", "NotRequired", "TypedDict") if re.search(rf"\b{name}\b", body)]
    return HEAD.format(document=document, names=", ".join(used)), body


def _merged(schema: Schema) -> Schema:
    """Return one object schema for a choice of several objects. Every field is optional."""
    fields = {key: value for part in schema["anyOf"] for key, value in part["properties"].items()}
    return {**schema, "properties": fields, "required": []}


def files() -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of each generated file."""
    for game in GAMES.values():
        yield game.folder / "document.py", written(game)
    yield FOLDER / "document.py", "".join(_text(table.state.DOCUMENT.schema, TABLE, "document of the table"))
    yield API, _between(API, "notices", notices_documented())
    yield OPERATING, _between(OPERATING, "limits", limits.documented())
    yield AUDITING, _between(AUDITING, "draws", draws_documented())
    yield VERIFIER, _between(VERIFIER, "draws", draws_in_javascript())
    yield EXAMPLES, operations_documented(described())


def _between(path: Path, name: str, lines: Iterable[str]) -> str:
    """Return the text of a file with these lines between two comments, which name the generated part."""
    found = re.compile(rf"(?<={name}: written by `./run documents`)( -->)?\n.*?(?=[^\n]*end of {name})", re.DOTALL)
    text, times = found.subn(lambda head: "".join(f"{line}\n" for line in [head[1] or "", *lines]), path.read_text(encoding="utf-8"))
    assert times == 1, f"{path.name} has one place for the {name}"
    return text


def notices_documented() -> Iterator[str]:
    """Yield the lines of the table for docs/api.md: what players are told, and the members that only its kind has."""
    yield from ("| event | its own members | when |", "| --- | --- | --- |")
    common = set.intersection(*(set(row.shape.schema["properties"]) for row in KINDS.values()))
    for kind, row in KINDS.items():
        own = [f"`{name}`" for name in row.shape.schema["properties"] if name not in common]
        yield f"| `{kind}` | {', '.join(own)} | {row.about} |"


def draws_documented() -> Iterator[str]:
    """Yield the lines of the table for docs/auditing.md: which events show which draws."""
    yield from ("| game | event | draws, in this order |", "| --- | --- | --- |")
    for game in GAMES.values():
        if game.draws == {}:
            yield f"| `{game.id}` | | none: this game only shuffles |"
        for kind, draw in (game.draws or {}).items():
            dice = f"dice of {draw.sides} sides: {', '.join(f'`{pointer}`' for pointer in draw.dice)}" if draw.dice else ""
            numbers = f"{counted(draw.numbers, 'number')}, not to be checked without the rules" if draw.numbers else ""
            cards = f"`{draw.shuffled}`"
            shuffled = f"a shuffle: n − 1 numbers for n cards in {cards}; if the event is redacted, {cards} is n" if draw.shuffled else ""
            yield f"| `{game.id}` | `{kind}` | {'; '.join(filter(None, (dice, numbers, shuffled)))} |"


def draws_in_javascript() -> Iterator[str]:
    """Yield the lines of the same table for verify/verify.mjs, which has no rules and reads no other file."""
    yield "const DRAWS = {"
    for game in GAMES.values():
        if game.draws is not None:
            rows = {kind: {name: value for name, value in draw._asdict().items() if value} for kind, draw in game.draws.items()}
            yield f"  {game.id}: {{{'' if rows else '},'}"
            yield from (f"    {kind}: {json.dumps(row)}," for kind, row in rows.items())
            if rows:
                yield "  },"
    yield "};"


def operations_documented(description: Mapping[str, Any]) -> str:
    """Return docs/operations.md: a request and an answer of each operation in a description in OpenAPI."""
    lines = EXAMPLES_HEAD.splitlines()
    for tag in description["tags"]:
        lines += ["", f"## {tag['name'].capitalize()}", *wrap(tag["description"], 100)]
        for path, operations in description["paths"].items():
            for method, operation in operations.items():
                if operation["tags"] == [tag["name"]]:
                    lines += ["", f"### {operation['summary']}", *_exchange(description, f"{method.upper()} {path}", operation)]
    return "\n".join(lines) + "\n"


def _exchange(description: Mapping[str, Any], request: str, operation: Mapping[str, Any]) -> Iterator[str]:
    """Yield a request with the first example of its body, and the first example of its first success."""
    yield from ("```", request)
    for content in operation.get("requestBody", {"content": {}})["content"].values():
        yield from _lines(_example(description, content))
    status = min(status for status in operation["responses"] if status.startswith("2"))
    contents = operation["responses"][status].get("content", {})
    kind = next(iter(contents), None)
    yield f"→ {status}{f' {kind}' if kind else ''}"
    if kind is not None:
        yield from _lines(_example(description, contents[kind]))
    yield "```"


def _example(description: Mapping[str, Any], content: Mapping[str, Any]) -> Any:
    """Return the first example of a body."""
    example = next(iter(content["examples"].values()))
    while "$ref" in example:
        example = description["components"]["examples"][example["$ref"].rpartition("/")[2]]
    return example["value"]


def _lines(value: Any) -> Iterator[str]:
    """Yield a text as it is, and JSON with a line for each member of an object that is long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict) and len(text) > 100:
        members = [f"  {json.dumps(name)}: {json.dumps(member, ensure_ascii=False)}" for name, member in value.items()]
        text = "{\n" + ",\n".join(members) + "\n}"
    yield from text.rstrip("\n").splitlines()


def main(arguments: list[str] | None = None) -> int:
    """Write every file whose text, or a part of it, follows from the code."""
    for path, text in files():
        path.write_text(text, encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
