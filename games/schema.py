"""Shapes: what a JSON value may look like, said once and used twice.

A shape holds the JSON Schema (2020-12) of a value and, for what comes in with an action, `clean`: the value as the rules want it, or
`Malformed`. Most ids are checked for their type only; whether they name something is for the rules to say, with a code of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

Schema = dict[str, Any]


class Malformed(Exception):
    """A value that does not have the shape asked for; the text says where and why."""


class Shape(NamedTuple):
    """One kind of JSON value.

    `schema`: of the value in full. `seen`: of the value as a view or a shown event may hold it. `needed`: whether a record must have it.
    """

    schema: Schema
    seen: Schema
    clean: Callable[[Any], Any]
    needed: bool = True


Fields = Mapping[str, Shape]


def _plain(schema: Schema, clean: Callable[[Any], Any]) -> Shape:
    return Shape(schema, schema, clean)


def text(pattern: str | None = None, about: str | None = None, longest: int | None = None) -> Shape:
    """A string; the pattern is told, not checked, the number of characters is."""

    def clean(given: Any) -> str:
        cleaned = _clean_text(given)
        if longest is not None and len(cleaned) > longest:
            raise Malformed(f"a text of at most {longest} characters belongs here")
        return cleaned

    schema: Schema = {"type": "string", **({"pattern": pattern} if pattern else {}), **({"maxLength": longest} if longest else {})}
    return _plain(_about(schema, about), clean)


def ids(values: Iterable[str], about: str | None = None) -> Shape:
    """One of the strings `values`; that it is one of them is told, not checked."""
    return _plain(_about({"type": "string", "enum": list(values)}, about), _clean_text)


def known(values: Iterable[str], about: str) -> Shape:
    """One of the strings `values`, each of which is `about`; that it is one of them is checked."""
    names = list(values)
    among = frozenset(names)

    def clean(given: Any) -> str:
        cleaned = _clean_text(given)
        if cleaned not in among:
            raise Malformed(f"{cleaned!r} is not {about}")
        return cleaned

    return ids(names, about)._replace(clean=clean)


def flag(about: str | None = None) -> Shape:
    """True or false."""
    return _plain(_about({"type": "boolean"}, about), _clean_flag)


def always(value: Any) -> Shape:
    """This value and no other."""

    def clean(given: Any) -> Any:
        if type(given) is not type(value) or given != value:
            raise Malformed(f"only {value!r} may stand here")
        return given

    kind = {bool: "boolean", str: "string", int: "integer"}[type(value)]
    return _plain({"type": kind, "enum": [value]} if kind != "string" else {"type": kind, "const": value}, clean)


def whole(low: int | None = None, high: int | None = None, about: str | None = None) -> Shape:
    """A whole number; a lower bound is checked, an upper one told only."""
    schema: Schema = {"type": "integer"}
    if low is not None:
        schema["minimum"] = low
    if high is not None:
        schema["maximum"] = high

    def clean(given: Any) -> int:
        if isinstance(given, float) and given.is_integer():
            given = int(given)
        if not isinstance(given, int) or isinstance(given, bool):
            raise Malformed("a whole number belongs here")
        if low is not None and given < low:
            raise Malformed(f"a number of at least {low} belongs here")
        return given

    return _plain(_about(schema, about), clean)


def counts(keys: Shape, low: int = 0, about: str | None = None) -> Shape:
    """An object from ids to whole numbers; entries of 0 are the same as none and are dropped."""
    one = whole(0)

    def clean(given: Any) -> dict[str, int]:
        if not isinstance(given, dict):
            raise Malformed("an object of counts belongs here")
        cleaned = {}
        for key, value in given.items():
            keys.clean(key)
            number = _within(key, one, value)
            if number:
                cleaned[key] = number
        return cleaned

    return _plain(_about(_mapping_schema(keys.schema, {"type": "integer", "minimum": low}), about), clean)


def mapping(keys: Shape, values: Shape, about: str | None = None) -> Shape:
    """An object from ids to values of one shape."""

    def clean(given: Any) -> dict[str, Any]:
        if not isinstance(given, dict):
            raise Malformed("an object belongs here")
        return {keys.clean(key): _within(key, values, value) for key, value in given.items()}

    return Shape(_about(_mapping_schema(keys.schema, values.schema), about), _about(_mapping_schema(keys.seen, values.seen), about), clean)


def listing(items: Shape, low: int = 0, high: int | None = None, about: str | None = None) -> Shape:
    """A list of values of one shape; its length is told, not checked."""
    size: Schema = {**({"minItems": low} if low else {}), **({"maxItems": high} if high is not None else {})}

    def clean(given: Any) -> list[Any]:
        if not isinstance(given, list):
            raise Malformed("a list belongs here")
        return [_within(str(place), items, item) for place, item in enumerate(given)]

    return Shape(
        _about({"type": "array", "items": items.schema, **size}, about),
        _about({"type": "array", "items": items.seen, **size}, about),
        clean,
    )


def record(fields: Fields, about: str | None = None) -> Shape:
    """An object with exactly these fields, of which those that are `optional` may be missing."""

    def schema(seen: bool) -> Schema:
        return _about(
            {
                "type": "object",
                "properties": {name: shape.seen if seen else shape.schema for name, shape in fields.items()},
                "required": [name for name, shape in fields.items() if shape.needed],
                "additionalProperties": False,
            },
            about,
        )

    needed = [name for name, shape in fields.items() if shape.needed]

    def clean(given: Any) -> dict[str, Any]:
        if not isinstance(given, dict):
            raise Malformed("an object belongs here")
        for name in given:
            if name not in fields:
                raise Malformed(f"it has no field {name!r}")
        for name in needed:
            if name not in given:
                raise Malformed(f"the field {name!r} is missing")
        return {name: _within(name, fields[name], value) for name, value in given.items()}

    return Shape(schema(False), schema(True), clean)


def optional(shape: Shape) -> Shape:
    """The same shape, for a field that may be missing."""
    return shape._replace(needed=False)


def nullable(shape: Shape) -> Shape:
    """The same shape, or null."""
    return either(shape, Shape({"type": "null"}, {"type": "null"}, _clean_null))


def either(*shapes: Shape, about: str | None = None) -> Shape:
    """One of several shapes, the first that fits."""

    def clean(given: Any) -> Any:
        reasons = []
        for shape in shapes:
            try:
                return shape.clean(given)
            except Malformed as reason:
                reasons.append(str(reason))
        raise Malformed(", or ".join(reasons))

    return Shape(
        _about({"anyOf": [shape.schema for shape in shapes]}, about), _about({"anyOf": [shape.seen for shape in shapes]}, about), clean
    )


def beyond(options: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]) -> str | None:
    """What is wrong with options above the `max` of their rows in data.json; None where nothing is."""
    for name, value in options.items():
        most = rows[name].get("max")
        if most is not None and value > most:
            return f"{name}: a number of at most {most} belongs here"
    return None


def veiled(shape: Shape, as_: Schema) -> Shape:
    """A shape that a view may replace by `as_`, such as a count or null."""
    return Shape(shape.schema, {"anyOf": [shape.seen, as_]}, shape.clean, shape.needed)


COUNTED: Schema = {"type": "integer", "minimum": 0}
BLANK: Schema = {"type": "null"}


def _about(schema: Schema, about: str | None) -> Schema:
    return {**schema, "description": about} if about else schema


def _mapping_schema(keys: Schema, values: Schema) -> Schema:
    names = {key: value for key, value in keys.items() if key in ("enum", "pattern")}
    return {"type": "object", **({"propertyNames": names} if names else {}), "additionalProperties": values}


def _within(place: str, shape: Shape, value: Any) -> Any:
    try:
        return shape.clean(value)
    except Malformed as reason:
        raise Malformed(f"{place}: {reason}") from None


def _clean_text(given: Any) -> str:
    if not isinstance(given, str):
        raise Malformed("a string belongs here")
    return given


def _clean_flag(given: Any) -> Any:
    if not isinstance(given, bool):
        raise Malformed("true or false belongs here")
    return given


def _clean_null(given: Any) -> Any:
    if given is not None:
        raise Malformed("null belongs here")
    return None
