"""Answers are open and requests are strict (docs/decisions/0085): what the description says of both."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from jsonschema_rs import Draft202012Validator

from games import GAMES
from service.api.shapes import camel, prefix
from table.deeds import DEEDS
from tests.service.test_openapi import FILE

Schema = dict[str, Any]
UNKNOWN = ("Other", "OtherGame", "OtherKind", "OtherType")


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return yaml.load(FILE.read_text("utf-8"), yaml.CSafeLoader)


def name_of(schema: Schema) -> str:
    """Return the name of the component to which a schema refers, or an empty text."""
    return str(schema.get("$ref", "")).rpartition("/")[2]


def parts_of(schema: Schema) -> list[Schema]:
    return [*schema.get("anyOf", ()), *schema.get("oneOf", ())]


class Reached:
    """Every schema that answers or requests lead to, by its place. A component comes once.

    `closed`: lists of ids that allow no other text. `unions`: those of objects that are no part of another union.
    """

    def __init__(self, description: dict[str, Any], *, of_answers: bool) -> None:
        self.components = description["components"]["schemas"]
        self.found: dict[str, Schema] = {}
        self.closed: dict[str, Schema] = {}
        self.unions: dict[str, Schema] = {}
        self._seen: set[tuple[str, bool]] = set()
        for path, methods in description["paths"].items():
            for operation in methods.values():
                for response in operation["responses"].values() if of_answers else [operation.get("requestBody", {})]:
                    for content in response.get("content", {}).values():
                        self._reach(content["schema"], path, False)

    def _reach(self, schema: Any, place: str, inner: bool) -> None:
        """Look at a schema. `inner`: it is part of a union."""
        if not isinstance(schema, dict):
            return
        self.found[place] = schema
        name, parts = name_of(schema), parts_of(schema)
        if name and (name, inner) not in self._seen:
            self._seen.add((name, inner))
            self._reach(self.components[name], name, inner)
        if schema.get("type") == "string" and "enum" in schema:
            self.closed[place] = schema
        if sum(map(self._is_object, parts)) > 1 and not inner:
            self.unions[place] = schema
        open_text = {"type": "string"} in parts
        for number, part in enumerate(parts):
            if not (open_text and "enum" in self.components.get(name_of(part), part)):
                self._reach(part, f"{place}/{number}", True)
        for part in schema.get("allOf", ()):
            self._reach(part, place, False)
        for key, part in schema.get("properties", {}).items():
            self._reach(part, f"{place}.{key}", False)
        for key in ("items", "additionalProperties", "propertyNames"):
            self._reach(schema.get(key), f"{place}.{key}", False)

    def _is_object(self, schema: Schema) -> bool:
        schema = self.components.get(name_of(schema), schema)
        return schema.get("type") == "object" or "allOf" in schema or any(map(self._is_object, parts_of(schema)))


@pytest.fixture(scope="module")
def answers(description: dict[str, Any]) -> Reached:
    return Reached(description, of_answers=True)


@pytest.fixture(scope="module")
def requests(description: dict[str, Any]) -> Reached:
    return Reached(description, of_answers=False)


CLOCKS = {f"{camel(kind)}ClockRequest" for kind in ("none", "per_action", "bank", "days")}
ACTIONS = {*map(camel, DEEDS), *(f"{prefix(GAMES[game])}{camel(kind)}" for game in GAMES for kind in GAMES[game].deeds())}


def of_actions(answers: Reached) -> set[str]:
    """Return the names of the components to which actions refer."""
    return {name_of(one) for place, one in answers.found.items() if place.partition(".")[0] in ACTIONS}


def test_answers_may_have_more_members(answers: Reached) -> None:
    assert len([one for one in answers.found.values() if "properties" in one]) > 400
    closed = ("additionalProperties", "unevaluatedProperties")
    assert [place for place, one in answers.found.items() if any(one.get(key) is False for key in closed)] == []
    named = {place.partition(".")[0] for place, one in answers.found.items() if "enum" in one.get("propertyNames", ())}
    assert named <= ACTIONS | of_actions(answers)


def test_answers_may_have_more_values(description: dict[str, Any], answers: Reached) -> None:
    """An action is the same in both directions, so it says what may be sent. One with anything else is an `OtherType`."""
    assert {place for place in answers.closed if place.partition(".")[0] not in ACTIONS} <= of_actions(answers)
    assert len([one for one in answers.found.values() if {"type": "string"} in parts_of(one)]) > 60


def test_unions_of_answers_have_a_part_for_what_is_not_known(answers: Reached) -> None:
    assert len(answers.unions) > 25
    assert [place for place, one in answers.unions.items() if name_of(parts_of(one)[-1]) not in UNKNOWN] == []
    assert not any("discriminator" in one for one in answers.found.values())


def test_requests_take_nothing_that_is_not_described(description: dict[str, Any], requests: Reached) -> None:
    assert not set(map(name_of, requests.found.values())) & set(UNKNOWN)
    objects = {place: one for place, one in requests.found.items() if "properties" in one}
    open_ones = {place for place, one in objects.items() if one.get("additionalProperties", True) is True}
    assert open_ones <= ACTIONS | CLOCKS  # whose members those who refer to them name, as follows
    for one in requests.found.values():
        if name_of(one) in ACTIONS | CLOCKS:
            assert one["propertyNames"]["enum"] == list(description["components"]["schemas"][name_of(one)]["properties"])


@pytest.mark.parametrize("body", ["Actions", "GameActions"])
def test_actions_take_nothing_that_is_not_described(description: dict[str, Any], body: str) -> None:
    validator = Draft202012Validator({"$ref": f"#/components/schemas/{body}", "components": description["components"]})
    turn, more = {"type": "end_turn"}, {"type": "end_turn", "more": 1}
    assert [validator.is_valid(one) for one in (turn, [turn, turn])] == [True] * 2
    assert [validator.is_valid(one) for one in (more, [turn, more], {"type": "new"}, [{"type": "new"}])] == [False] * 4
    assert not validator.is_valid({"type": "resign", "more": 1})
