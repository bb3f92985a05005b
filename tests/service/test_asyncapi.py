"""The description of the streams in AsyncAPI is valid, complete and true."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from record.notices import KINDS
from service.api import asyncapi, openapi
from service.api.event_shapes import STREAMS
from service.api.routes import OPERATIONS
from tests.conftest import ALL_GAMES
from tests.docs.test_examples import install, npm, run
from tests.service.conformance import check_stream, of_streams
from tests.service.conftest import Caller

SCHEMA = Path(__file__).parent / "asyncapi" / "3.1.0.json.xz"
PARSE = """
import { Parser } from "@asyncapi/parser";
import { readFileSync } from "node:fs";
const { document, diagnostics } = await new Parser().parse(readFileSync("asyncapi.json", "utf8"));
console.log(JSON.stringify({ diagnostics, operations: document.operations().all().map((one) => one.id()) }));
"""


@cache
def of_api() -> dict[str, Any]:
    return openapi.described()


@cache
def description() -> dict[str, Any]:
    return asyncapi.described(of_api())


@cache
def schema() -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator(json.loads(lzma.decompress(SCHEMA.read_bytes())))


def test_it_is_asyncapi_3_1() -> None:
    schema().validate(description())
    assert not schema().is_valid({**description(), "operations": {"get_stream": {"action": "wait"}}})


@pytest.mark.soak
def test_its_parser_finds_nothing(tmp_path: Path) -> None:
    install(tmp_path, "install", "@asyncapi/parser@3.6.6")
    (tmp_path / "asyncapi.json").write_text(json.dumps(description()))
    (tmp_path / "parse.mjs").write_text(PARSE)
    found = json.loads(run(npm().removesuffix("npm") + "node", "parse.mjs", folder=tmp_path))
    assert found == {"diagnostics": [], "operations": [*STREAMS, asyncapi.SEND_HOOK]}


def test_every_stream_is_described() -> None:
    assert set(STREAMS) == {operation.id for operation in OPERATIONS if operation.streams}
    assert {*STREAMS, asyncapi.HOOKS} == set(description()["channels"])
    assert {*STREAMS, asyncapi.SEND_HOOK} == set(description()["operations"])
    assert {*KINDS, "ready"} == set(description()["channels"]["get_my_stream"]["messages"])


def test_it_has_the_components_of_the_api_and_no_others() -> None:
    schemas = description()["components"]["schemas"]
    assert schemas.items() <= of_api()["components"]["schemas"].items()
    named = {reference for reference in references(description()) if reference.startswith("#/components/schemas/")}
    assert named == {f"#/components/schemas/{name}" for name in schemas}


def test_everything_that_it_refers_to_is_there() -> None:
    for reference in references(description()):
        part: Any = description()
        for step in reference.removeprefix("#/").split("/"):
            part = part[step]


@pytest.mark.parametrize("exact", [False, True])
def test_every_message_has_an_example_that_matches_it(exact: bool) -> None:
    found = of_streams() if exact else description()
    for name, message in found["components"]["messages"].items():
        [example] = message["examples"]
        validator = jsonschema_rs.Draft7Validator({**message["payload"], "components": found["components"]})
        assert validator.is_valid(example["payload"]), name


def test_a_notice_that_is_not_described_is_noticed() -> None:
    example = description()["components"]["messages"]["MyStreamTurn"]["examples"][0]["payload"]
    text = f"id: 1\nevent: turn\ndata: {json.dumps(example)}\n\n"
    assert check_stream("get_my_stream", f"retry: 1000\n\n{text}: still here\n\n{text}") == ["turn", "turn"]
    for wrong in ({**example, "more": 1}, {**example, "seat": None}, {**example, "type": "left"}):
        with pytest.raises(jsonschema_rs.ValidationError):
            check_stream("get_my_stream", f"id: 1\nevent: turn\ndata: {json.dumps(wrong)}\n\n")
    with pytest.raises(jsonschema_rs.ValidationError):
        check_stream("get_my_stream", f"event: turn\ndata: {json.dumps(example)}\n\n")


def test_it_is_served(anybody: Caller) -> None:
    answer = anybody.get("/asyncapi.json")
    schema().validate(answer.json)
    assert answer.json == asyncapi.described(anybody.get("/openapi.json").json, ALL_GAMES)
    assert anybody.get("/asyncapi.json", If_None_Match=answer.headers["ETag"]).status_code == 304


def references(part: Any) -> Iterator[str]:
    """Yield every reference in a part of the description."""
    for key, inner in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
        if key == "$ref" and isinstance(inner, str):
            yield inner
        else:
            yield from references(inner)
