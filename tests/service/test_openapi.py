"""openapi.yaml says exactly what the service does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from events.platform import Platform
from games import GAMES
from games.kernel import SHARED_REFUSALS
from service.app import described, operations
from service.openapi import written
from service.problems import CODES
from service.settings import Settings
from tests.conftest import ALL_GAMES

FILE = Path(__file__).parents[2] / "openapi.yaml"


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    return yaml.load(FILE.read_text("utf-8"), yaml.CSafeLoader)


def test_the_file_is_what_the_code_says() -> None:
    assert FILE.read_text("utf-8") == written(described()), "run `./run openapi`"


def test_it_is_openapi_3_1(told: dict[str, Any]) -> None:
    assert told["openapi"].startswith("3.1")
    validate(told)


def test_it_stays_right_with_another_game() -> None:
    validate(described(ALL_GAMES))


def test_every_component_is_a_json_schema(told: dict[str, Any]) -> None:
    for schema in told["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_operation_names_all_its_failures_with_every_code(told: dict[str, Any], platform: Platform) -> None:
    for operation in operations(platform, Settings()):
        responses = told["paths"][operation.path][operation.method.lower()]["responses"]
        for code in operation.all_problems():
            named = responses[str(CODES[code].status)]
            assert code in named["content"]["application/problem+json"]["examples"]
            assert f"`{code}`" in named["description"]


def test_every_code_can_come_from_some_operation(platform: Platform) -> None:
    found = {code for operation in operations(platform, Settings()) for code in operation.all_problems()}
    assert set(CODES) - found == {"no_such_path", "wrong_method"}


@pytest.mark.parametrize("game", GAMES)
def test_each_action_event_and_document_of_a_game_is_a_schema_of_its_own(told: dict[str, Any], game: str) -> None:
    schemas = told["components"]["schemas"]
    own = "".join(part.capitalize() for part in game.split("_"))
    for kind, union in (("Action", GAMES[game].deeds()), ("Event", [*GAMES[game].events, "match_created", "seat_taken"])):
        assert schemas[f"{own}{kind}"]["discriminator"]["propertyName"] == "type"
        mapping = schemas[f"{own}{kind}"]["discriminator"]["mapping"]
        assert list(mapping) == list(union)
        for name, place in mapping.items():
            assert schemas[place.split("/")[-1]]["properties"]["type"]["const"] == name
    assert {f"{own}Document", f"{own}View", f"{own}Options", f"{own}Entry", f"{own}Played"} <= set(schemas)
    assert set(schemas[f"{own}RefusalCode"]["enum"]) == {*SHARED_REFUSALS, *GAMES[game].refusals}


def test_examples_of_bodies_fit_their_schemas(told: dict[str, Any]) -> None:
    for methods in told["paths"].values():
        for operation in methods.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                for example in content.get("examples", {}).values():
                    Draft202012Validator({**content["schema"], "components": told["components"]}).validate(example["value"])


def test_examples_of_problems_fit_their_schema(told: dict[str, Any]) -> None:
    validator = Draft202012Validator({"$ref": "#/components/schemas/Problem", "components": told["components"]})
    for methods in told["paths"].values():
        for operation in methods.values():
            for response in operation["responses"].values():
                for example in response.get("content", {}).get("application/problem+json", {}).get("examples", {}).values():
                    validator.validate(example["value"])
