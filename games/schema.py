"""Shapes: what a JSON value may look like, as a JSON Schema (2020-12) and as a check.

`clean` checks a value of an action. It returns the value in the form that the rules expect, or raises `Malformed`. Most ids are checked for
their type only: if an id names nothing, the rules refuse it with a code of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

Schema = dict[str, Any]


class Malformed(Exception):
    """A value that does not have the expected shape. The text says where and why."""


class Shape(NamedTuple):
    """One kind of JSON value.

    `schema`: the schema of the full value. `seen`: the schema of the value in a view or a shown event. `needed`: True if a record must have
    the field.
    """

    schema: Schema
    seen: Schema
    clean: Callable[[Any], Any]
    needed: bool = True


Fields = Mapping[str, Shape]


def _plain(schema: Schema, clean: Callable[[Any], Any]) -> Shape:
    return Shape(schema, schema, clean)


def text(pattern: str | None = None, about: str | None = None, longest: int | None = None) -> Shape:
    """Return the shape of a string. The pattern is documented but not enforced. The length is enforced."""

    def clean(given: Any) -> str:
        cleaned = _clean_text(given)
        if longest is not None and len(cleaned) > longest:
            raise Malformed(f"expected at most {longest} characters")
        return cleaned

    schema: Schema = {"type": "string", **({"pattern": pattern} if pattern else {}), **({"maxLength": longest} if longest else {})}
    return _plain(_about(schema, about), clean)


def ids(values: Iterable[str], about: str | None = None) -> Shape:
    """Return the shape of one of the strings `values`. The values are documented but not enforced."""
    return _plain(_about({"type": "string", "enum": list(values)}, about), _clean_text)


def known(values: Iterable[str], about: str) -> Shape:
    """Return the shape of one of the strings `values`, which is enforced. `about` says what each is, such as `a seat`."""
    names = list(values)
    allowed = frozenset(names)

    def clean(given: Any) -> str:
        cleaned = _clean_text(given)
        if cleaned not in allowed:
            raise Malformed(f"{cleaned!r} is not {about}")
        return cleaned

    return ids(names, about)._replace(clean=clean)


def flag(about: str | None = None) -> Shape:
    """Return the shape of true or false."""
    return _plain(_about({"type": "boolean"}, about), _clean_flag)


def always(value: Any, about: str | None = None) -> Shape:
    """Return the shape of one constant."""

    def clean(given: Any) -> Any:
        if type(given) is not type(value) or given != value:
            raise Malformed(f"expected {value!r}")
        return given

    kind = {bool: "boolean", str: "string", int: "integer"}[type(value)]
    schema = {"type": kind, "enum": [value]} if kind != "string" else {"type": kind, "const": value}
    return _plain(_about(schema, about), clean)


def whole(low: int | None = None, high: int | None = None, about: str | None = None) -> Shape:
    """Return the shape of a whole number. The lower bound is enforced, the upper one only documented."""
    schema: Schema = {"type": "integer"}
    if low is not None:
        schema["minimum"] = low
    if high is not None:
        schema["maximum"] = high

    def clean(given: Any) -> int:
        if isinstance(given, float) and given.is_integer():
            given = int(given)
        if not isinstance(given, int) or isinstance(given, bool):
            raise Malformed("expected a whole number")
        if low is not None and given < low:
            raise Malformed(f"expected a number of at least {low}")
        return given

    return _plain(_about(schema, about), clean)


def counts(keys: Shape, low: int = 0, about: str | None = None) -> Shape:
    """Return the shape of an object from ids to whole numbers. `clean` drops entries of 0."""
    number = whole(0)

    def clean(given: Any) -> dict[str, int]:
        if not isinstance(given, dict):
            raise Malformed("expected an object of counts")
        cleaned = {}
        for key, value in given.items():
            keys.clean(key)
            count = _within(key, number, value)
            if count:
                cleaned[key] = count
        return cleaned

    return _plain(_about(_mapping_schema(keys.schema, {"type": "integer", "minimum": low}), about), clean)


def mapping(keys: Shape, values: Shape, about: str | None = None) -> Shape:
    """Return the shape of an object from ids to values of one shape."""

    def clean(given: Any) -> dict[str, Any]:
        if not isinstance(given, dict):
            raise Malformed("expected an object")
        return {keys.clean(key): _within(key, values, value) for key, value in given.items()}

    return Shape(_about(_mapping_schema(keys.schema, values.schema), about), _about(_mapping_schema(keys.seen, values.seen), about), clean)


def listing(items: Shape, low: int = 0, high: int | None = None, about: str | None = None) -> Shape:
    """Return the shape of a list of values of one shape. Its length is documented but not enforced."""
    size: Schema = {**({"minItems": low} if low else {}), **({"maxItems": high} if high is not None else {})}

    def clean(given: Any) -> list[Any]:
        if not isinstance(given, list):
            raise Malformed("expected a list")
        return [_within(str(place), items, item) for place, item in enumerate(given)]

    return Shape(
        _about({"type": "array", "items": items.schema, **size}, about),
        _about({"type": "array", "items": items.seen, **size}, about),
        clean,
    )


def record(fields: Fields, about: str | None = None) -> Shape:
    """Return the shape of an object with exactly these fields. Only those that are `optional` may be missing."""

    def schema(properties: Schema) -> Schema:
        return _about(
            {
                "type": "object",
                "properties": properties,
                "required": [name for name, shape in fields.items() if shape.needed],
                "additionalProperties": False,
            },
            about,
        )

    needed = [name for name, shape in fields.items() if shape.needed]

    def clean(given: Any) -> dict[str, Any]:
        if not isinstance(given, dict):
            raise Malformed("expected an object")
        for name in given:
            if name not in fields:
                raise Malformed(f"unknown field {name!r}")
        for name in needed:
            if name not in given:
                raise Malformed(f"missing field {name!r}")
        return {name: _within(name, fields[name], value) for name, value in given.items()}

    full, seen = {name: shape.schema for name, shape in fields.items()}, {name: shape.seen for name, shape in fields.items()}
    return Shape(schema(full), schema(seen), clean)


def optional(shape: Shape) -> Shape:
    """Return the same shape for a field that may be missing."""
    return shape._replace(needed=False)


def defaulting(shape: Shape, default: Any) -> Shape:
    """Return the same shape for a field that may be missing and then has a default. The default is documented, not filled in."""
    return shape._replace(schema={**shape.schema, "default": default}, seen={**shape.seen, "default": default}, needed=False)


def nullable(shape: Shape) -> Shape:
    """Return the shape of the same value or null. It has the description of the value."""
    return either(_bare(shape), Shape({"type": "null"}, {"type": "null"}, _clean_null), about=shape.schema.get("description"))


def either(*shapes: Shape, about: str | None = None) -> Shape:
    """Return the shape of a value that has one of several shapes. `clean` takes the first that accepts the value."""

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


def settings(rows: Mapping[str, Mapping[str, Any]], about: Mapping[str, str]) -> dict[str, Shape]:
    """Return the shapes of a game's options, from their rows in data.json: each true or false, or a whole number from `min` to `max`. Both
    bounds are enforced.

    >>> rows = {"pirates": {"type": "boolean"}, "rounds": {"type": "integer", "min": 5, "max": 200}}
    >>> shapes = settings(rows, {"pirates": "whether there are pirates", "rounds": "the last round"})
    >>> shapes["pirates"].clean(True), shapes["rounds"].clean(50)
    (True, 50)
    """
    return {
        name: flag(about[name]) if row["type"] == "boolean" else _bounded(row["min"], row["max"], about[name]) for name, row in rows.items()
    }


def _bounded(low: int, high: int, about: str) -> Shape:
    number = whole(low, high, about)

    def clean(given: Any) -> int:
        cleaned: int = number.clean(given)
        if cleaned > high:
            raise Malformed(f"expected a number of at most {high}")
        return cleaned

    return number._replace(clean=clean)


def described(shape: Shape, about: str) -> Shape:
    """Return the same shape with another description."""
    return shape._replace(schema=_about(shape.schema, about), seen=_about(shape.seen, about))


def unchecked(schema: Schema, about: str | None = None) -> Shape:
    """Return a shape from a JSON Schema. Its values are documented, not checked."""
    return _plain(_about(schema, about), _clean_nothing)


def anything(about: str | None = None) -> Shape:
    """Return the shape of an object with any fields."""
    return unchecked({"type": "object", "additionalProperties": True}, about)


def veiled(shape: Shape, as_: Schema) -> Shape:
    """Return a shape that a view may replace by `as_`, such as a count or null. It has the description of the value."""
    seen = _about({"anyOf": [_bare(shape).seen, as_]}, shape.seen.get("description"))
    return Shape(shape.schema, seen, shape.clean, shape.needed)


COUNTED: Schema = {"type": "integer", "minimum": 0}
BLANK: Schema = {"type": "null"}


def _about(schema: Schema, about: str | None) -> Schema:
    return {**schema, "description": about} if about else schema


def _bare(shape: Shape) -> Shape:
    """Return the same shape without its description, for a shape around it that has the description instead."""
    schema, seen = ({key: value for key, value in one.items() if key != "description"} for one in (shape.schema, shape.seen))
    return shape._replace(schema=schema, seen=seen)


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
        raise Malformed("expected a string")
    return given


def _clean_flag(given: Any) -> Any:
    if not isinstance(given, bool):
        raise Malformed("expected true or false")
    return given


def _clean_null(given: Any) -> Any:
    if given is not None:
        raise Malformed("expected null")
    return None


def _clean_nothing(given: Any) -> Any:
    return given
