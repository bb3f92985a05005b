"""Write the typed state document of each game, from its shape: `./run documents`.

`games/<game>/document.py` holds a TypedDict for every object in the document, so that mypy checks the rules against it. A test compares
the files with what this module writes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from games import GAMES
from games.kernel import Game
from games.schema import Schema

HEAD = '''"""The state document of {title} as types. Written by `./run documents` from the shape in state.py; do not edit."""

from __future__ import annotations

from typing import {names}

import games.kernel

'''
PLAIN = {"string": "str", "integer": "int", "boolean": "bool", "null": "None"}


class Types:
    """The TypedDicts of one document, as they are found."""

    def __init__(self) -> None:
        self.classes: dict[str, str] = {}

    def named(self, schema: Schema, name: str) -> str:
        """Return the Python type of a value; `name` is for the TypedDict of an object with fixed fields."""
        if "anyOf" in schema:
            return " | ".join(dict.fromkeys(self.named(part, name) for part in schema["anyOf"]))
        if "const" in schema or "enum" in schema:
            values = schema.get("enum", [schema.get("const")])
            return " | ".join(sorted({type(value).__name__ for value in values}))
        if schema["type"] == "array":
            return f"list[{self.named(schema['items'], singular(name))}]"
        if schema["type"] == "object":
            return self.record(schema, name) if "properties" in schema else f"dict[str, {self.values(schema, name)}]"
        return PLAIN[schema["type"]]

    def values(self, schema: Schema, name: str) -> str:
        """Return the type of the values of an object whose keys are ids."""
        inner = schema["additionalProperties"]
        return "Any" if isinstance(inner, bool) else self.named(inner, singular(name))

    def record(self, schema: Schema, name: str) -> str:
        """Return the name of the TypedDict for an object with fixed fields, and keep its text."""
        fields = {}
        for key, value in schema["properties"].items():
            kind = self.named(value, camel(key))
            fields[key] = kind if key in schema["required"] else f"NotRequired[{kind}]"
        if all(key.isidentifier() and key not in KEYWORDS for key in fields):
            text = f"class {{}}(TypedDict):\n{comment(schema, name)}" + "".join(f"    {key}: {kind}\n" for key, kind in fields.items())
        else:
            pairs = ", ".join(f'"{key}": {quoted(kind)}' for key, kind in fields.items())
            text = f'{{}} = TypedDict("{{}}", {{{{{pairs}}}}})\n'
        return self.keep(name, text)

    def keep(self, name: str, text: str) -> str:
        """Keep the text of a TypedDict under a name that no other has."""
        free = name
        while self.classes.get(free, text) != text:
            free += "_"
        self.classes[free] = text
        return free


KEYWORDS = {"from", "class", "in", "is", "not", "and", "or"}


def quoted(kind: str) -> str:
    """Return a type as a string, for the functional form of a TypedDict."""
    return f'"{kind}"'


def comment(schema: Schema, name: str) -> str:
    """Return the docstring of a TypedDict, from the description of its shape."""
    about = schema.get("description", f"`{name}` in the state document")
    return f'    """{about[0].upper()}{about[1:].rstrip(".")}."""\n\n'


def singular(name: str) -> str:
    """`Regions` as `Region`: the name for one of many."""
    return name[:-3] + "y" if name.endswith("ies") else name[:-1] if name.endswith("s") else f"{name}Row"


def camel(key: str) -> str:
    """`score_sheet` as `ScoreSheet`."""
    return "".join(part.capitalize() for part in key.split("_"))


def written(game: Game) -> str:
    """Return the text of a game's document.py."""
    types = Types()
    types.record(game.document.schema, "State")
    body = "".join(f"\n{text.replace('{}', name).replace('{{', '{').replace('}}', '}')}\n" for name, text in types.classes.items())
    used = [name for name in ("Any", "NotRequired", "TypedDict") if f"{name}" in body]
    return f"{HEAD.format(title=game.title, names=', '.join(used))}{body}\nMatch = games.kernel.Match[State]\n"


def files() -> Iterator[tuple[Any, str]]:
    """Yield the path of each game's document.py and the text that belongs there."""
    for game in GAMES.values():
        yield game.folder / "document.py", written(game)


def main() -> int:
    """Write the document.py of every game."""
    for path, text in files():
        path.write_text(text, encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
