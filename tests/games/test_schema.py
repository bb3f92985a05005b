"""Shapes: the JSON Schema of each, what a view has instead, and the sentence for a value that has another shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from games import schema
from games.schema import Malformed, Schema, Shape

NAME = schema.text("^[a-z]$", "a name")
COLOUR = schema.ids(["red", "blue"], "a colour")
COUNT = schema.whole(0, 3)
HIDDEN = schema.veiled(schema.listing(COLOUR, about="the deck"), schema.COUNTED)
PATTERN = {"pattern": "^[a-z]$"}
NAME_SCHEMA = {"type": "string", "pattern": "^[a-z]$", "description": "a name"}
COLOUR_SCHEMA = {"type": "string", "enum": ["red", "blue"], "description": "a colour"}
COUNT_SCHEMA = {"type": "integer", "minimum": 0, "maximum": 3}
HIDDEN_SCHEMA = {"type": "array", "items": COLOUR_SCHEMA, "description": "the deck"}
HIDDEN_SEEN = {"anyOf": [{"type": "array", "items": COLOUR_SCHEMA}, {"type": "integer", "minimum": 0}], "description": "the deck"}


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (schema.text(), {"type": "string"}),
        (schema.text(longest=5), {"type": "string", "maxLength": 5}),
        (NAME, NAME_SCHEMA),
        (COLOUR, COLOUR_SCHEMA),
        (schema.known(["red", "blue"], "a colour"), COLOUR_SCHEMA),
        (schema.flag(), {"type": "boolean"}),
        (schema.flag("whether"), {"type": "boolean", "description": "whether"}),
        (schema.always("x", "the x"), {"type": "string", "const": "x", "description": "the x"}),
        (schema.always(True), {"type": "boolean", "enum": [True]}),
        (schema.always(3), {"type": "integer", "enum": [3]}),
        (schema.whole(), {"type": "integer"}),
        (schema.whole(0, about="a number"), {"type": "integer", "minimum": 0, "description": "a number"}),
        (schema.whole(high=0), {"type": "integer", "maximum": 0}),
        (COUNT, COUNT_SCHEMA),
        (schema.counts(schema.text()), {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}}),
        (
            schema.counts(NAME, 1, "counts"),
            {
                "type": "object",
                "propertyNames": PATTERN,
                "additionalProperties": {"type": "integer", "minimum": 1},
                "description": "counts",
            },
        ),
        (
            schema.mapping(COLOUR, COUNT, "by colour"),
            {
                "type": "object",
                "propertyNames": {"enum": ["red", "blue"]},
                "additionalProperties": COUNT_SCHEMA,
                "description": "by colour",
            },
        ),
        (schema.listing(COLOUR), {"type": "array", "items": COLOUR_SCHEMA}),
        (
            schema.listing(COLOUR, 1, 2, "colours"),
            {"type": "array", "items": COLOUR_SCHEMA, "minItems": 1, "maxItems": 2, "description": "colours"},
        ),
        (schema.listing(COLOUR, high=0), {"type": "array", "items": COLOUR_SCHEMA, "maxItems": 0}),
        (
            schema.record({"a": NAME, "b": schema.optional(COUNT)}, "both"),
            {
                "type": "object",
                "properties": {"a": NAME_SCHEMA, "b": COUNT_SCHEMA},
                "required": ["a"],
                "additionalProperties": False,
                "description": "both",
            },
        ),
        (schema.nullable(COUNT), {"anyOf": [COUNT_SCHEMA, {"type": "null"}]}),
        (schema.nullable(schema.flag("whether")), {"anyOf": [{"type": "boolean"}, {"type": "null"}], "description": "whether"}),
        (schema.either(schema.flag(), COUNT, about="one"), {"anyOf": [{"type": "boolean"}, COUNT_SCHEMA], "description": "one"}),
        (schema.defaulting(COUNT, 2), {**COUNT_SCHEMA, "default": 2}),
        (schema.described(NAME, "another"), {**NAME_SCHEMA, "description": "another"}),
        (schema.anything("any"), {"type": "object", "additionalProperties": True, "description": "any"}),
        (schema.unchecked({"type": "number"}, "a number"), {"type": "number", "description": "a number"}),
    ],
)
def test_a_shape_has_its_schema(shape: Shape, expected: Schema) -> None:
    assert shape.schema == shape.seen == expected


@pytest.mark.parametrize(
    ("shape", "around"),
    [
        (HIDDEN, lambda inner: inner),
        (schema.optional(HIDDEN), lambda inner: inner),
        (schema.mapping(NAME, HIDDEN), lambda inner: {"type": "object", "propertyNames": PATTERN, "additionalProperties": inner}),
        (schema.listing(HIDDEN), lambda inner: {"type": "array", "items": inner}),
        (
            schema.record({"a": HIDDEN}),
            lambda inner: {"type": "object", "properties": {"a": inner}, "required": ["a"], "additionalProperties": False},
        ),
        (schema.either(HIDDEN, COUNT), lambda inner: {"anyOf": [inner, COUNT_SCHEMA]}),
        (schema.defaulting(HIDDEN, 1), lambda inner: {**inner, "default": 1}),
        (schema.described(HIDDEN, "cards"), lambda inner: {**inner, "description": "cards"}),
    ],
)
def test_a_view_may_have_something_else_in_its_place(shape: Shape, around: Callable[[Schema], Schema]) -> None:
    assert shape.schema == around(HIDDEN_SCHEMA)
    assert shape.seen == around(HIDDEN_SEEN)


def test_only_some_fields_may_be_missing() -> None:
    assert [shape.needed for shape in (NAME, COLOUR, HIDDEN, schema.nullable(NAME), schema.record({}))] == [True] * 5
    missing = schema.optional(NAME)
    assert [shape.needed for shape in (missing, schema.defaulting(NAME, "a"), schema.described(missing, "b"))] == [False] * 3
    assert not schema.veiled(missing, schema.BLANK).needed
    assert schema.optional(NAME).clean("a") == "a"


@pytest.mark.parametrize(
    ("shape", "given", "reason"),
    [
        (NAME, 1, "expected a string"),
        (schema.text(longest=2), "abc", "expected at most 2 characters"),
        (schema.known(["red"], "a colour"), "blue", "'blue' is not a colour"),
        (schema.known(["red"], "a colour"), 1, "expected a string"),
        (schema.flag(), 1, "expected true or false"),
        (schema.always("x"), "y", "expected 'x'"),
        (schema.always(1), True, "expected 1"),
        (schema.always(1), 1.0, "expected 1"),
        (schema.whole(), "1", "expected a whole number"),
        (schema.whole(), 1.5, "expected a whole number"),
        (schema.whole(), True, "expected a whole number"),
        (schema.whole(2), 1, "expected a number of at least 2"),
        (schema.whole(0), -1.0, "expected a number of at least 0"),
        (schema.counts(NAME), [], "expected an object of counts"),
        (schema.counts(NAME), {"a": -1}, "a: expected a number of at least 0"),
        (schema.counts(NAME), {1: 1}, "expected a string"),
        (schema.mapping(NAME, COUNT), [], "expected an object"),
        (schema.mapping(NAME, COUNT), {"a": "b"}, "a: expected a whole number"),
        (schema.mapping(NAME, COUNT), {1: 1}, "expected a string"),
        (schema.listing(COUNT), {}, "expected a list"),
        (schema.listing(COUNT), [1, "b"], "1: expected a whole number"),
        (schema.record({"a": COUNT}), [], "expected an object"),
        (schema.record({"a": COUNT}), {"a": 1, "b": 2}, "unknown field 'b'"),
        (schema.record({"a": COUNT}), {}, "missing field 'a'"),
        (schema.record({"a": schema.record({"b": COUNT})}), {"a": {"b": None}}, "a: b: expected a whole number"),
        (schema.nullable(COUNT), "a", "expected a whole number, or expected null"),
        (schema.either(schema.flag(), COUNT), "a", "expected true or false, or expected a whole number"),
    ],
)
def test_a_malformed_value_is_refused_with_a_sentence(shape: Shape, given: Any, reason: str) -> None:
    with pytest.raises(Malformed) as malformed:
        shape.clean(given)
    assert str(malformed.value) == reason


@pytest.mark.parametrize(
    ("shape", "given", "cleaned"),
    [
        (schema.text(longest=3), "abc", "abc"),
        (schema.known(["red"], "a colour"), "red", "red"),
        (schema.always("x"), "x", "x"),
        (schema.whole(2, 3), 2.0, 2),
        (schema.whole(2, 3), 9, 9),
        (schema.counts(NAME), {"a": 1, "b": 0, "c": 2.0}, {"a": 1, "c": 2}),
        (schema.mapping(NAME, COUNT), {"a": 0, "b": 2.0}, {"a": 0, "b": 2}),
        (schema.listing(COUNT), [0, 2.0], [0, 2]),
        (schema.record({"a": schema.optional(COUNT), "b": COUNT}), {"b": 2.0}, {"b": 2}),
        (schema.nullable(COUNT), None, None),
        (schema.nullable(COUNT), 2.0, 2),
        (schema.either(schema.always("x"), schema.flag()), False, False),
        (HIDDEN, ["red"], ["red"]),
        (schema.anything(), {"a": object}, {"a": object}),
    ],
)
def test_a_value_of_the_shape_is_cleaned(shape: Shape, given: Any, cleaned: Any) -> None:
    assert repr(shape.clean(given)) == repr(cleaned)


def test_the_first_option_above_its_most_is_told() -> None:
    rows = {"a": {"max": 3}, "b": {}, "c": {"max": 5}}
    assert schema.beyond({"a": 3, "b": 99, "c": 5}, rows) is None
    assert schema.beyond({"a": 3, "b": 99, "c": 6}, rows) == "c: expected a number of at most 5"
