"""Shapes: the JSON Schema of each, what a view has instead, and the sentence for a value that has another shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from games import schema
from games.schema import Malformed, Schema, Shape

Make = Callable[[], Shape]  # Tests make their shapes themselves, because a mutant does not change what was made during collection.

PATTERN = {"pattern": "^[a-z]$"}
NAME_SCHEMA = {"type": "string", "pattern": "^[a-z]$", "description": "a name"}
COLOUR_SCHEMA = {"type": "string", "enum": ["red", "blue"], "description": "a colour"}
COUNT_SCHEMA = {"type": "integer", "minimum": 0, "maximum": 3}
HIDDEN_SCHEMA = {"type": "array", "items": COLOUR_SCHEMA, "description": "the deck"}
HIDDEN_SEEN = {"anyOf": [{"type": "array", "items": COLOUR_SCHEMA}, {"type": "integer", "minimum": 0}], "description": "the deck"}


def name() -> Shape:
    return schema.text("^[a-z]$", "a name")


def colour() -> Shape:
    return schema.ids(["red", "blue"], "a colour")


def count() -> Shape:
    return schema.whole(0, 3)


def hidden() -> Shape:
    return schema.veiled(schema.listing(colour(), about="the deck"), schema.COUNTED)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (schema.text, {"type": "string"}),
        (lambda: schema.text(longest=5), {"type": "string", "maxLength": 5}),
        (name, NAME_SCHEMA),
        (colour, COLOUR_SCHEMA),
        (lambda: schema.known(["red", "blue"], "a colour"), COLOUR_SCHEMA),
        (schema.flag, {"type": "boolean"}),
        (lambda: schema.flag("whether"), {"type": "boolean", "description": "whether"}),
        (lambda: schema.always("x", "the x"), {"type": "string", "const": "x", "description": "the x"}),
        (lambda: schema.always(True), {"type": "boolean", "enum": [True]}),
        (lambda: schema.always(3), {"type": "integer", "enum": [3]}),
        (schema.whole, {"type": "integer"}),
        (lambda: schema.whole(0, about="a number"), {"type": "integer", "minimum": 0, "description": "a number"}),
        (lambda: schema.whole(high=0), {"type": "integer", "maximum": 0}),
        (count, COUNT_SCHEMA),
        (lambda: schema.counts(schema.text()), {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}}),
        (
            lambda: schema.counts(name(), 1, "counts"),
            {
                "type": "object",
                "propertyNames": PATTERN,
                "additionalProperties": {"type": "integer", "minimum": 1},
                "description": "counts",
            },
        ),
        (
            lambda: schema.mapping(colour(), count(), "by colour"),
            {
                "type": "object",
                "propertyNames": {"enum": ["red", "blue"]},
                "additionalProperties": COUNT_SCHEMA,
                "description": "by colour",
            },
        ),
        (lambda: schema.listing(colour()), {"type": "array", "items": COLOUR_SCHEMA}),
        (
            lambda: schema.listing(colour(), 1, 2, "colours"),
            {"type": "array", "items": COLOUR_SCHEMA, "minItems": 1, "maxItems": 2, "description": "colours"},
        ),
        (lambda: schema.listing(colour(), high=0), {"type": "array", "items": COLOUR_SCHEMA, "maxItems": 0}),
        (
            lambda: schema.record({"a": name(), "b": schema.optional(count())}, "both"),
            {
                "type": "object",
                "properties": {"a": NAME_SCHEMA, "b": COUNT_SCHEMA},
                "required": ["a"],
                "additionalProperties": False,
                "description": "both",
            },
        ),
        (lambda: schema.nullable(count()), {"anyOf": [COUNT_SCHEMA, {"type": "null"}]}),
        (lambda: schema.nullable(schema.flag("whether")), {"anyOf": [{"type": "boolean"}, {"type": "null"}], "description": "whether"}),
        (lambda: schema.either(schema.flag(), count(), about="one"), {"anyOf": [{"type": "boolean"}, COUNT_SCHEMA], "description": "one"}),
        (lambda: schema.defaulting(count(), 2), {**COUNT_SCHEMA, "default": 2}),
        (lambda: schema.described(name(), "another"), {**NAME_SCHEMA, "description": "another"}),
        (lambda: schema.anything("any"), {"type": "object", "additionalProperties": True, "description": "any"}),
        (lambda: schema.unchecked({"type": "number"}, "a number"), {"type": "number", "description": "a number"}),
    ],
)
def test_a_shape_has_its_schema(make: Make, expected: Schema) -> None:
    shape = make()
    assert shape.schema == shape.seen == expected


@pytest.mark.parametrize(
    ("make", "around"),
    [
        (hidden, lambda inner: inner),
        (lambda: schema.optional(hidden()), lambda inner: inner),
        (
            lambda: schema.mapping(name(), hidden()),
            lambda inner: {"type": "object", "propertyNames": PATTERN, "additionalProperties": inner},
        ),
        (lambda: schema.listing(hidden()), lambda inner: {"type": "array", "items": inner}),
        (
            lambda: schema.record({"a": hidden()}),
            lambda inner: {"type": "object", "properties": {"a": inner}, "required": ["a"], "additionalProperties": False},
        ),
        (lambda: schema.either(hidden(), count()), lambda inner: {"anyOf": [inner, COUNT_SCHEMA]}),
        (lambda: schema.defaulting(hidden(), 1), lambda inner: {**inner, "default": 1}),
        (lambda: schema.described(hidden(), "cards"), lambda inner: {**inner, "description": "cards"}),
    ],
)
def test_a_view_may_have_something_else_in_its_place(make: Make, around: Callable[[Schema], Schema]) -> None:
    shape = make()
    assert shape.schema == around(HIDDEN_SCHEMA)
    assert shape.seen == around(HIDDEN_SEEN)


def test_only_some_fields_may_be_missing() -> None:
    assert [shape.needed for shape in (name(), colour(), hidden(), schema.nullable(name()), schema.record({}))] == [True] * 5
    missing = schema.optional(name())
    assert [shape.needed for shape in (missing, schema.defaulting(name(), "a"), schema.described(missing, "b"))] == [False] * 3
    assert not schema.veiled(missing, schema.BLANK).needed
    assert schema.optional(name()).clean("a") == "a"


@pytest.mark.parametrize(
    ("make", "given", "reason"),
    [
        (name, 1, "expected a string"),
        (lambda: schema.text(longest=2), "abc", "expected at most 2 characters"),
        (lambda: schema.known(["red"], "a colour"), "blue", "'blue' is not a colour"),
        (lambda: schema.known(["red"], "a colour"), 1, "expected a string"),
        (schema.flag, 1, "expected true or false"),
        (lambda: schema.always(True), 1, "expected True"),
        (lambda: schema.always("x"), "y", "expected 'x'"),
        (lambda: schema.always(1), True, "expected 1"),
        (lambda: schema.always(1), 1.0, "expected 1"),
        (schema.whole, "1", "expected a whole number"),
        (schema.whole, 1.5, "expected a whole number"),
        *((schema.whole, given, "expected a whole number") for given in (True, None, float("inf"), float("nan"))),
        (lambda: schema.whole(2), 1, "expected a number of at least 2"),
        (lambda: schema.whole(0), -1.0, "expected a number of at least 0"),
        (lambda: schema.counts(name()), [], "expected an object of counts"),
        (lambda: schema.counts(name()), {"a": -1}, "a: expected a number of at least 0"),
        (lambda: schema.counts(name()), {1: 1}, "expected a string"),
        (lambda: schema.mapping(name(), count()), [], "expected an object"),
        (lambda: schema.mapping(name(), count()), {"a": "b"}, "a: expected a whole number"),
        (lambda: schema.mapping(name(), count()), {1: 1}, "expected a string"),
        (lambda: schema.listing(count()), {}, "expected a list"),
        (lambda: schema.listing(count()), [1, "b"], "1: expected a whole number"),
        (lambda: schema.record({"a": count()}), [], "expected an object"),
        (lambda: schema.record({"a": count()}), {"a": 1, "b": 2}, "unknown field 'b'"),
        (lambda: schema.record({"a": count()}), {}, "missing field 'a'"),
        (lambda: schema.record({"a": schema.record({"b": count()})}), {"a": {"b": None}}, "a: b: expected a whole number"),
        (lambda: schema.nullable(count()), "a", "expected a whole number, or expected null"),
        (lambda: schema.either(schema.flag(), count()), "a", "expected true or false, or expected a whole number"),
    ],
)
def test_a_malformed_value_is_refused_with_a_sentence(make: Make, given: Any, reason: str) -> None:
    with pytest.raises(Malformed) as malformed:
        make().clean(given)
    assert str(malformed.value) == reason


@pytest.mark.parametrize(
    ("make", "given", "cleaned"),
    [
        (lambda: schema.text(longest=3), "abc", "abc"),
        (lambda: schema.known(["red"], "a colour"), "red", "red"),
        (lambda: schema.always("x"), "x", "x"),
        (lambda: schema.whole(2, 3), 2.0, 2),
        (lambda: schema.whole(2, 3), 9, 9),
        (lambda: schema.counts(name()), {"a": 1, "b": 0, "c": 2.0}, {"a": 1, "c": 2}),
        (lambda: schema.mapping(name(), count()), {"a": 0, "b": 2.0}, {"a": 0, "b": 2}),
        (lambda: schema.listing(count()), [0, 2.0], [0, 2]),
        (lambda: schema.record({"a": schema.optional(count()), "b": count()}), {"b": 2.0}, {"b": 2}),
        (lambda: schema.nullable(count()), None, None),
        (lambda: schema.nullable(count()), 2.0, 2),
        (lambda: schema.either(schema.always("x"), schema.flag()), False, False),
        (hidden, ["red"], ["red"]),
        (schema.anything, {"a": object}, {"a": object}),
    ],
)
def test_a_value_of_the_shape_is_cleaned(make: Make, given: Any, cleaned: Any) -> None:
    assert repr(make().clean(given)) == repr(cleaned)


def test_an_option_is_from_its_least_to_its_most() -> None:
    shape = schema.settings({"c": {"type": "integer", "min": 3, "max": 5}}, {"c": "a number"})["c"]
    assert [shape.clean(number) for number in (3, 5)] == [3, 5]
    for number, reason in ((2, "at least 3"), (6, "at most 5"), (True, "a whole number")):
        with pytest.raises(schema.Malformed, match=reason):
            shape.clean(number)
