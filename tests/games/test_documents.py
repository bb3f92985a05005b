"""The files that hold the state documents as types."""

from __future__ import annotations

import ast

import pytest

from games import GAMES
from games.schema import mapping, record, text, whole
from tools.documents import Types, files, typed_dict, written


def test_generated_files_are_those_that_follow_from_the_code():
    """The formatter has changed the Python files, so they are compared as trees."""
    for path, expected in files():
        found = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            found, expected = ast.dump(ast.parse(found)), ast.dump(ast.parse(expected))
        assert found == expected, f"{path.name}: run ./run documents"


def types_of(**fields):
    """Return the texts of the classes for a document with these fields."""
    types = Types()
    types.record(record(fields).schema, (), "State")
    return [text for _, text in types.classes.values()]


def test_objects_of_one_name_are_one_class_only_if_their_fields_are_the_same():
    sides = {"a": record({"side": record({"x": whole()})}), "b": record({"side": record({"y": whole()})})}
    assert [found.splitlines()[0] for found in types_of(**sides)] == [
        "class Side(TypedDict):",
        "class A(TypedDict):",
        "class BSide(TypedDict):",
        "class B(TypedDict):",
        "class State(TypedDict):",
    ]
    same = {"a": record({"side": record({"x": whole()}), "to": text()}), "b": record({"side": record({"x": whole()})})}
    assert [found.splitlines()[0] for found in types_of(**same)].count("class Side(TypedDict):") == 1
    with pytest.raises(ValueError, match="BSide"):
        types_of(**sides, b_side=record({"z": whole()}))


def test_what_all_games_have_is_inherited_unless_a_game_has_an_outcome_of_its_own():
    game = GAMES["war"]
    assert "class Outcome" not in written(game)
    assert "class State(kernel.Shared):" in written(game)
    scores = game.document.schema["properties"]["outcome"]
    other = {
        **scores,
        "anyOf": [
            {**scores["anyOf"][0], "title": "Outcome", "properties": {"reason": {"type": "string"}}, "required": []},
            *scores["anyOf"][1:],
        ],
    }
    schema = {**game.document.schema, "properties": {**game.document.schema["properties"], "outcome": other}}
    text = written(game._replace(document=game.document._replace(schema=schema)))
    assert "class Outcome(TypedDict):" in text
    assert "class State(TypedDict):" in text
    assert "to_act: list[str]" in text


def test_a_keyword_as_a_field_takes_the_functional_form():
    inner = mapping(text(), record({"from": text(), "units": whole()}))
    first, last = types_of(attacks=inner)
    assert first == '# The object at `attacks.*`.\nAttack = TypedDict("Attack", {"from": str, "units": int})'
    assert last.endswith("    attacks: dict[str, Attack]")


def test_an_object_without_fields_is_a_class_with_a_docstring_only():
    assert typed_dict("Options", {}, "the object at `options`") == 'class Options(TypedDict):\n    """The object at `options`."""'
