"""openapi.yaml describes exactly what the service does."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema_rs import Draft202012Validator, meta
from openapi_spec_validator import validate
from openapi_spec_validator.schemas import get_schema_content_v31

from games import GAMES
from games.kernel import SHARED_REFUSALS, Game
from service.api.openapi import described, in_yaml
from service.api.routes import OPERATIONS
from service.api.shapes import prefix
from service.http.problems import CODES
from table.deeds import BEGINNINGS, DEEDS
from table.facts import FACTS
from table.session import BY_SYSTEM
from tests.conftest import ALL_GAMES

FILE = Path(__file__).parents[2] / "openapi.yaml"


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return yaml.load(FILE.read_text("utf-8"), yaml.CSafeLoader)


def referred(description: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of the description, or that to which it refers."""
    found: Any = part
    if "$ref" in part:
        found = description
        for name in part["$ref"].split("/")[1:]:
            found = found[name]
    return found


def test_the_file_is_up_to_date() -> None:
    assert FILE.read_text("utf-8") == in_yaml(described()), "run `./run openapi`"


def test_it_is_openapi_3_1(description: dict[str, Any]) -> None:
    assert description["openapi"].startswith("3.1")
    Draft202012Validator(get_schema_content_v31()).validate(description)


@pytest.mark.soak
@pytest.mark.parametrize("games", [GAMES, ALL_GAMES])
def test_its_schemas_references_and_parameters_are_valid_with_another_game_too(games: dict[str, Game]) -> None:
    validate(described(games))


def test_every_component_is_a_json_schema(description: dict[str, Any]) -> None:
    for schema in description["components"]["schemas"].values():
        meta.validate(schema)


def test_every_operation_documents_all_its_problem_codes(description: dict[str, Any]) -> None:
    for operation in OPERATIONS:
        responses = description["paths"][operation.path][operation.method.lower()]["responses"]
        for code in operation.all_problems():
            named = referred(description, responses.get(str(CODES[code].status), responses["default"]))
            example = referred(description, named["content"]["application/problem+json"]["examples"][code])
            assert example["value"]["type"] == f"/v1/problems/{code}"
            assert f"`{code}`" in named["description"]


def test_every_code_belongs_to_some_operation() -> None:
    found = {code for operation in OPERATIONS for code in operation.all_problems()}
    assert set(CODES) - found == {"no_such_path", "wrong_method"}


def kinds(schemas: dict[str, Any], union: str, by: str) -> list[str]:
    """Return the `type` of every part of a union."""
    return [schemas[part["$ref"].split("/")[-1]]["properties"]["type"]["const"] for part in schemas[union][by]]


@pytest.mark.parametrize("game", GAMES)
def test_each_action_event_and_document_of_a_game_is_a_schema_of_its_own(description: dict[str, Any], game: str) -> None:
    schemas = description["components"]["schemas"]
    own = prefix(GAMES[game])
    assert kinds(schemas, f"{own}Action", "oneOf") == list(GAMES[game].deeds())
    assert list(schemas[f"{own}Action"]["discriminator"]["mapping"]) == list(GAMES[game].deeds())
    assert kinds(schemas, f"{own}GameEvent", "anyOf") == list(GAMES[game].events)
    parts = [part["$ref"].split("/")[-1] for part in schemas[f"{own}Event"]["anyOf"]]
    assert parts == [f"{own}GameEvent", "TableEvent", "OtherType"]
    assert {f"{own}View", f"{own}Options", f"{own}Entry", f"{own}Played", f"{own}Choices"} <= set(schemas)
    assert set(schemas[f"{own}RefusalCode"]["anyOf"][0]["enum"]) == set(GAMES[game].refusals)
    assert set(schemas["RefusalCode"]["anyOf"][0]["enum"]) == set(SHARED_REFUSALS)


def test_the_actions_of_the_table_are_schemas_that_all_games_share(description: dict[str, Any]) -> None:
    schemas = description["components"]["schemas"]
    assert kinds(schemas, "TableEvent", "anyOf") == list(FACTS)
    mapping = schemas["TableAction"]["discriminator"]["mapping"]
    assert list(mapping) == [kind for kind, deed in DEEDS.items() if kind not in BEGINNINGS and deed.by != BY_SYSTEM]
    for name, place in mapping.items():
        assert schemas[place.split("/")[-1]]["properties"]["type"]["const"] == name


def test_a_list_of_actions_has_none_of_the_table(description: dict[str, Any]) -> None:
    validator = Draft202012Validator({"$ref": "#/components/schemas/Actions", "components": description["components"]})
    take, turn = {"type": "take_seat", "seat": "red"}, {"type": "end_turn"}
    assert [validator.is_valid(body) for body in (take, turn, [turn], [turn, turn])] == [True] * 4
    assert [validator.is_valid(body) for body in ([take], [turn, take], [take, take], [])] == [False] * 4


def test_examples_of_bodies_match_their_schemas(description: dict[str, Any]) -> None:
    for methods in description["paths"].values():
        for operation in methods.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                for example in content.get("examples", {}).values():
                    Draft202012Validator({**content["schema"], "components": description["components"]}).validate(example["value"])


def test_every_success_has_an_example_from_a_real_run_that_matches_its_schema(description: dict[str, Any]) -> None:
    """`./run openapi --play` writes them. Answers of one component share an example."""
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            for status, response in operation["responses"].items():
                for content in referred(description, response).get("content", {}).values() if status < "3" else ():
                    [example] = content["examples"].values()
                    schema = {**content["schema"], "components": description["components"]}
                    assert Draft202012Validator(schema).is_valid(referred(description, example)["value"]), f"{method} {path} {status}"


def test_examples_of_problems_match_their_schema(description: dict[str, Any]) -> None:
    validator = Draft202012Validator({"$ref": "#/components/schemas/Problem", "components": description["components"]})
    met = {code for operation in OPERATIONS for code in operation.all_problems()}
    found = dict(examples(description))
    assert met <= set(found)
    for code in met:
        validator.validate(found[code]["value"])
        assert not set("{}") & set(found[code]["value"]["detail"])


def examples(part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every example within the description that is not a reference, with its name."""
    for key, inner in part.items() if isinstance(part, dict) else ():
        if key == "examples" and isinstance(inner, dict):  # those of a schema are a list
            yield from ((name, one) for name, one in inner.items() if "$ref" not in one)
        else:
            yield from examples(inner)


def test_an_example_that_one_place_has_stands_there(description: dict[str, Any]) -> None:
    counts = Counter(re.findall(r"#/components/examples/(\w+)", FILE.read_text("utf-8")))
    assert set(counts) == set(description["components"]["examples"])
    assert min(counts.values()) > 1


def properties(schema: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every property within a schema, with its place."""
    if isinstance(schema, list):
        for part in schema:
            yield from properties(part, place)
    elif isinstance(schema, dict):
        for key, part in schema.items():
            if key != "properties":
                yield from properties(part, place)
                continue
            for name, one in part.items():
                yield f"{place}/{name}", one
                yield from properties(one, f"{place}/{name}")


def test_everything_has_a_description(description: dict[str, Any]) -> None:
    schemas = description["components"]["schemas"]
    found = dict(schemas)
    for name, schema in schemas.items():
        found |= dict(properties(schema, name))
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            found[f"{method} {path}"] = operation
            found |= {f"{method} {path} {place}": one for place, one in enumerate(operation.get("parameters", ())) if "$ref" not in one}
            found |= {f"{method} {path} {status}": one for status, one in operation["responses"].items() if "$ref" not in one}
    for kind in ("headers", "securitySchemes", "parameters", "responses"):
        found |= {f"{kind} {name}": one for name, one in description["components"][kind].items()}
    found |= {f"tag {tag['name']}": tag for tag in description["tags"]}
    assert len(found) > 1400
    # What only refers to a component is described there, and a constant is what it says.
    plain = (["$ref"], ["const"])
    assert [name for name, one in found.items() if not one.get("description", "").strip() and list(one) not in plain] == []


def test_no_property_has_a_default_that_makes_it_required(description: dict[str, Any]) -> None:
    """Client generators take a property with a `default` for a required one. A component of its own may have one."""
    for name, schema in description["components"]["schemas"].items():
        assert [place for place, one in properties(schema, name) if "default" in one] == []


@pytest.mark.parametrize("game", GAMES)
def test_every_option_has_the_default_that_a_new_match_has(description: dict[str, Any], game: str) -> None:
    schemas = description["components"]["schemas"]
    filled_in = {name: row["default"] for name, row in json.loads((GAMES[game].folder / "data.json").read_bytes())["options"].items()}
    own = prefix(GAMES[game])
    options = schemas[f"{own}Options"]["properties"]
    assert {name: schemas[one["$ref"].split("/")[-1]]["default"] for name, one in options.items()} == filled_in
    assert {name: one["default"] for name, one in GAMES[game].options.schema["properties"].items()} == filled_in


def test_answers_in_json_have_no_other_media_type(description: dict[str, Any]) -> None:
    """A client generator takes the union of all media types for the type of an answer."""
    for methods in description["paths"].values():
        for operation in methods.values():
            for response in operation["responses"].values():
                assert "application/json" not in response.get("content", {}) or len(response["content"]) == 1


def test_every_component_is_used(description: dict[str, Any]) -> None:
    for kind in ("schemas", "parameters", "responses", "headers", "examples"):
        assert set(description["components"][kind]) == set(re.findall(rf"#/components/{kind}/(\w+)", FILE.read_text("utf-8")))


def test_what_recurs_stands_once(description: dict[str, Any]) -> None:
    rows = [row for methods in description["paths"].values() for row in methods.values()]
    inline = [json.dumps(one) for row in rows for one in row.get("parameters", ()) if "$ref" not in one]
    inline += [json.dumps(one) for row in rows for status, one in row["responses"].items() if status >= "3" and "$ref" not in one]
    assert len(inline) == len(set(inline))


def test_an_operation_without_a_named_security_takes_a_key_or_none(description: dict[str, Any]) -> None:
    assert description["security"] == [{}, {"key": []}]
    for operation in OPERATIONS:
        named = {"none": [], "optional": None, "needed": [{"key": []}]}
        row = description["paths"][operation.path][operation.method.lower()]
        assert row.get("security") == named[operation.key]
        assert row.get("x-scope") == (operation.scope if operation.key == "needed" else None)


def test_it_is_short(description: dict[str, Any]) -> None:
    """A description that people read, and that clients fetch."""
    assert len(FILE.read_bytes()) <= 500_000
