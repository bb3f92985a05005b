"""Encode documents and actions as vectors of numbers, from the JSON Schemas of the game. Every place of a vector has a label.

| value | places |
| --- | --- |
| a flag, a whole number | one: 0 or 1, or the number |
| one of some ids | one for each id: 1 for this id |
| a list of such ids | one for each id: how often it occurs; the order is lost |
| a list of numbers | two: how many, and their sum |
| an object | its members in the order of the schema; for each optional key, also 1 if it is there |
| an object with keys of a pattern, such as tiles | `SLOTS` entries in the order of the keys: 1 if it is there, its key, its value |
| a text of a pattern, such as `c12` | two: the letter from 1, the number |
| a value of one of several kinds | for each kind that is not an id: 1 if the value is of this kind; then the places of the kind |
| free text | none |

Values that are null, missing or hidden become zeros.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from games.kernel import Action, Game

SLOTS = 36  # tiles of the largest map of War!
_CELL = re.compile(r"([a-z])(\d+)")

Schema = dict[str, Any]
Write = Callable[[Any, list[float], int], None]


class Part(NamedTuple):
    """The encoding of the values of a schema: the label of each place, and `write(value, vector, place)`, which writes from a place on."""

    labels: list[str]
    write: Write


def part_of(schema: Schema, name: str) -> Part:
    """Return the encoding of the values of a schema. Every label begins with `name`."""
    if "anyOf" in schema:
        return _alternatives([kind for kind in _kinds(schema) if kind.get("type") != "null"], name)
    if "const" in schema or "enum" in schema:
        return _one_of(_ids(schema), name)
    kind = schema["type"]
    if kind in ("boolean", "integer"):
        return Part([name], _number)
    if kind == "array":
        return _list(schema["items"], name)
    if kind == "object":
        return _object(schema, name)
    return Part([f"{name}.letter", f"{name}.number"], _cell) if "pattern" in schema else Part([], _nothing)


def _kinds(schema: Schema) -> list[Schema]:
    return [kind for one in schema["anyOf"] for kind in (_kinds(one) if "anyOf" in one else [one])]


def _ids(schema: Schema) -> list[Any]:
    return list(schema["enum"]) if "enum" in schema else [schema["const"]]


def _nothing(value: Any, vector: list[float], place: int) -> None:
    pass


def _number(value: Any, vector: list[float], place: int) -> None:
    vector[place] = float(value)


def _cell(value: Any, vector: list[float], place: int) -> None:
    found = _CELL.fullmatch(value)
    if found:
        vector[place], vector[place + 1] = ord(found[1]) - ord("a") + 1.0, float(found[2])


def _one_of(values: list[Any], name: str) -> Part:
    places = {value: place for place, value in enumerate(values)}

    def write(value: Any, vector: list[float], place: int) -> None:
        vector[place + places[value]] = 1.0

    return Part([f"{name}={value}" for value in values], write)


def _list(items: Schema, name: str) -> Part:
    if "enum" in items:
        places = {value: place for place, value in enumerate(items["enum"])}

        def count(value: Any, vector: list[float], place: int) -> None:
            for item in value:
                vector[place + places[item]] += 1.0

        return Part([f"{name} has {value}" for value in places], count)

    def add(value: Any, vector: list[float], place: int) -> None:
        vector[place], vector[place + 1] = float(len(value)), float(sum(value))

    return Part([f"{name}.length", f"{name}.sum"], add)


def _object(schema: Schema, name: str) -> Part:
    if "properties" in schema:
        needed = set(schema.get("required", ()))
        return _members({key: (f"{name}.{key}".removeprefix("."), inner, key not in needed) for key, inner in schema["properties"].items()})
    inner, keys = schema["additionalProperties"], schema["propertyNames"]
    if "enum" in keys:
        return _members({key: (f"{name}.{key}", inner, inner.get("type") != "integer") for key in keys["enum"]})
    return _slots(inner, name)


def _members(members: dict[str, tuple[str, Schema, bool]]) -> Part:
    """Return the encoding of an object with known keys. `members`: by key, the label, the schema, and True if the key is optional."""
    labels: list[str] = []
    parts: list[tuple[str, int, bool, Write]] = []
    for key, (label, schema, optional) in members.items():
        part = part_of(schema, label)
        parts.append((key, len(labels), optional, part.write))
        labels += [f"{label} is there", *part.labels] if optional else part.labels

    def write(value: Any, vector: list[float], place: int) -> None:
        for key, start, optional, inner in parts:
            if key in value and value[key] is not None:
                if optional:
                    vector[place + start] = 1.0
                inner(value[key], vector, place + start + optional)

    return Part(labels, write)


def _slots(schema: Schema, name: str) -> Part:
    """Return the encoding of an object with keys of a pattern: up to `SLOTS` entries in the order of the keys."""
    part = part_of(schema, "")
    inner, size = part.write, 3 + len(part.labels)
    each = [" is there", ".letter", ".number", *part.labels]

    def write(value: Any, vector: list[float], place: int) -> None:
        for slot, key in enumerate(sorted(value)[:SLOTS]):
            start = place + slot * size
            vector[start] = 1.0
            _cell(key, vector, start + 1)
            inner(value[key], vector, start + 3)

    return Part([f"{name}[{slot}]{label}" for slot in range(SLOTS) for label in each], write)


def _alternatives(kinds: list[Schema], name: str) -> Part:
    labels: list[str] = []
    parts: list[tuple[Schema, int, bool, Write]] = []
    for kind in kinds:
        part = part_of(kind, name)
        marked = not ("enum" in kind or "const" in kind)
        parts.append((kind, len(labels), marked, part.write))
        labels += [f"{name} is {kind['type']}", *part.labels] if marked else part.labels

    def write(value: Any, vector: list[float], place: int) -> None:
        for kind, start, marked, inner in parts:
            if _is(kind, value):
                if marked:
                    vector[place + start] = 1.0
                inner(value, vector, place + start + marked)
                return

    return Part(labels, write)


_TYPES: dict[str, type] = {"boolean": bool, "integer": int, "array": list, "object": dict, "string": str}


def _is(kind: Schema, value: Any) -> bool:
    if "enum" in kind or "const" in kind:
        return value in _ids(kind)
    return isinstance(value, _TYPES[kind["type"]]) and (kind["type"] == "boolean") == isinstance(value, bool)


def views_of(game: Game) -> Part:
    """Return how the views of a game are written."""
    return part_of(game.document.seen, "")


def actions_of(game: Game) -> Part:
    """Return how the actions of a game are written: their type, then every field. Types share the places of fields that are alike."""
    deeds = game.deeds()
    kinds = _one_of(list(deeds), "type")
    labels = list(kinds.labels)
    places: dict[str, int] = {}
    fields: dict[tuple[str, str], tuple[int, Write]] = {}
    for kind, deed in deeds.items():
        for field, shape in deed.fields.items():
            part = part_of(shape.schema, field)
            alike = json.dumps([field, part.labels])
            if alike not in places:
                places[alike] = len(labels)
                labels += [f"{field} is there", *part.labels]
            fields[kind, field] = (places[alike], part.write)

    def write(value: Action, vector: list[float], place: int) -> None:
        kinds.write(value["type"], vector, place)
        for field, given in value.items():
            if field != "type" and given is not None:
                start, inner = fields[value["type"], field]
                vector[place + start] = 1.0
                inner(given, vector, place + start + 1)

    return Part(labels, write)


def vector(part: Part, value: Any) -> list[float]:
    """Return a value as a vector."""
    numbers = [0.0] * len(part.labels)
    part.write(value, numbers, 0)
    return numbers
