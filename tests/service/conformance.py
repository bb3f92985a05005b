"""Checks an answer against the OpenAPI description: its status, media type, headers and JSON."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any
from urllib.parse import quote

import jsonschema_rs
from werkzeug.test import TestResponse

from service.api.openapi import described
from tests.conftest import ALL_GAMES

HERE = "urn:warledger:openapi"
ANYWHERE = {"no_such_path", "wrong_method", "too_many_requests"}  # the codes with which a path that has no operation may answer


@cache
def description() -> dict[str, Any]:
    """Return the description of a service that also has the test game."""
    return described(ALL_GAMES)


@cache
def documents() -> jsonschema_rs.Registry:
    """Return the description as a document that validators refer to, so that they share it."""
    return jsonschema_rs.Registry([(HERE, description())], draft=jsonschema_rs.Draft202012)


@cache
def validator(pointer: str) -> jsonschema_rs.Draft202012Validator:
    """Return a validator of the schema at a place in the description."""
    return jsonschema_rs.Draft202012Validator({"$ref": f"{HERE}#{pointer}"}, registry=documents())


@cache
def operation(method: str, path: str) -> str | None:
    """Return the described path that a request's path belongs to, or None if it has no such method."""
    for template, methods in description()["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template.replace("{tile}", ".+")), path) and method.lower() in methods:
            return str(template)
    return None


def escaped(part: str) -> str:
    """Return a key as part of a JSON Pointer in a URI."""
    return quote(part.replace("~", "~0").replace("/", "~1"), safe="~")


def check(method: str, path: str, answer: TestResponse) -> None:
    """Fail unless the answer is as described."""
    found = operation("GET" if method == "HEAD" else method, path.split("?")[0])
    if found is None:
        if answer.mimetype == "application/problem+json" and method != "HEAD":
            assert answer.json["code"] in ANYWHERE
            validator("/components/schemas/Problem").validate(answer.json)
        return
    verb = "get" if method == "HEAD" else method.lower()
    responses = description()["paths"][found][verb]["responses"]
    response = responses.get(str(answer.status_code))
    assert response is not None, f"{method} {path} answers {answer.status_code}, which is not described"
    for name in response.get("headers", {}):
        assert name in answer.headers, f"{method} {path}: {answer.status_code} without {name}"
    if answer.mimetype in response.get("x-preferred-media-types", ()):
        return
    content = response.get("content", {})
    if not content:
        assert not answer.mimetype, f"{method} {path} answers in {answer.mimetype}"
        return
    assert answer.mimetype in content, f"{method} {path} answers in {answer.mimetype}"
    place = f"/paths/{escaped(found)}/{verb}/responses/{answer.status_code}/content/{escaped(answer.mimetype)}/schema"
    if method != "HEAD" and answer.mimetype in ("application/json", "application/problem+json"):
        validator(place).validate(json.loads(answer.data))
