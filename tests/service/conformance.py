"""Checks an answer against the descriptions: its status, media type, headers and JSON, and the events of a stream."""

from __future__ import annotations

import json
import re
from collections.abc import Container
from functools import cache
from string import Formatter
from typing import Any
from urllib.parse import quote

import jsonschema_rs
from werkzeug.test import TestResponse

from games.kernel import SHARED_REFUSALS
from service.api import asyncapi
from service.api.openapi import RESPONSE_HEADERS, described
from service.http.cors import ON_ANY_ANSWER
from service.http.problems import CODES, RETRY_AFTER
from service.http.problems import MEDIA_TYPE as PROBLEM
from service.http.responses import EVENT_STREAM
from tests.conftest import ALL_GAMES
from web.languages import words_of
from web.look import look

HERE, STREAMS = "urn:warledger:openapi", "urn:warledger:asyncapi"
EXPOSED = {*(name for name, _ in RESPONSE_HEADERS.values()), *ON_ANY_ANSWER}
# By the scripts of any page (Fetch, "CORS-safelisted response-header name").
READABLE = {"Cache-Control", "Content-Language", "Content-Length", "Content-Type"}
FOR_OTHERS = {
    "Accept-Encoding",
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
    "Content-Encoding",
    "Content-Security-Policy",
    "Referrer-Policy",
    "Vary",
    "X-Accel-Buffering",
    "X-Content-Type-Options",
}
"""What browsers and proxies act on, and scripts need not read."""

ANYWHERE = {"no_such_path", "wrong_method", "too_many_requests"}  # the codes with which a path that has no operation may answer


@cache
def description() -> dict[str, Any]:
    """Return the description of a service that also has the test game, as exact as the shapes are: without what may come some day."""
    return described(ALL_GAMES, opened=False)


@cache
def documents() -> jsonschema_rs.Registry:
    """Return the description as a document that validators refer to, so that they share it."""
    return jsonschema_rs.Registry([(HERE, description()), (STREAMS, of_streams())], draft=jsonschema_rs.Draft202012)


@cache
def of_streams() -> dict[str, Any]:
    """Return the description of the streams of the same service, as exact as the shapes are."""
    return asyncapi.described(description(), ALL_GAMES)


@cache
def validator(pointer: str, document: str = HERE) -> jsonschema_rs.Draft202012Validator:
    """Return a validator of the schema at a place in a description."""
    return jsonschema_rs.Draft202012Validator({"$ref": f"{document}#{pointer}"}, registry=documents())


@cache
def paths() -> list[tuple[re.Pattern[str], str, Any]]:
    """Return the described paths, each with its pattern and its methods."""
    described = description()["paths"].items()
    return [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path.replace("{tile}", ".+"))), path, methods) for path, methods in described]


@cache
def operation(method: str, path: str) -> str | None:
    """Return the described path that a request's path belongs to, or None if it has no such method."""
    return next((template for pattern, template, methods in paths() if method.lower() in methods and pattern.fullmatch(path)), None)


def escaped(part: str) -> str:
    """Return a key as part of a JSON Pointer in a URI."""
    return quote(part.replace("~", "~0").replace("/", "~1"), safe="~")


def check(method: str, path: str, answer: TestResponse) -> None:
    """Fail unless the answer is as described, and pages of other origins can read all its headers."""
    found = operation("GET" if method == "HEAD" else method, path.split("?")[0])
    if found is None:
        if answer.mimetype == PROBLEM and method != "HEAD":
            validator("/components/schemas/Problem").validate(answer.json)
            check_problem(f"{method} {path}", answer, ANYWHERE)
        return
    unreadable = set(answer.headers.keys()) - EXPOSED - READABLE - FOR_OTHERS
    assert not unreadable, f"{method} {path}: no page of another origin can read {unreadable}"
    verb = "get" if method == "HEAD" else method.lower()
    responses = description()["paths"][found][verb]["responses"]
    named = str(answer.status_code) if str(answer.status_code) in responses or answer.status_code < 400 else "default"
    assert named in responses, f"{method} {path} answers {answer.status_code}, which is not described"
    place, response = resolved(f"/paths/{escaped(found)}/{verb}/responses/{named}", responses[named])
    for name, header in response.get("headers", {}).items():
        if resolved("", header)[1]["required"]:
            assert name in answer.headers, f"{method} {path}: {answer.status_code} without {name}"
    if answer.mimetype in response.get("x-preferred-media-types", ()):
        return
    content = response.get("content", {})
    if not content:
        assert not answer.mimetype, f"{method} {path} answers in {answer.mimetype}"
        return
    assert answer.mimetype in content, f"{method} {path} answers in {answer.mimetype}"
    if method == "GET" and answer.mimetype == EVENT_STREAM and "seconds=0" in path:  # it has ended
        check_stream(description()["paths"][found][verb]["operationId"], answer.text)
    if method != "HEAD" and answer.mimetype in ("application/json", PROBLEM):
        validator(f"{place}/content/{escaped(answer.mimetype)}/schema").validate(json.loads(answer.data))
        if answer.mimetype == PROBLEM:
            check_problem(f"{method} {path}", answer, content[PROBLEM]["examples"])


def check_stream(operation: str, text: str) -> list[str]:
    """Fail unless each event in the text of a stream is as described. Return the names of the events."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if "data" in fields:
            data, name = json.loads(fields.pop("data")), fields["event"]
            message = of_streams()["channels"][operation]["messages"][name]["$ref"].removeprefix("#")
            validator(f"{message}/payload", STREAMS).validate(data)
            validator(f"{message}/headers", STREAMS).validate(fields)
            found.append(name)
    return found


def check_problem(asked: str, answer: TestResponse, examples: Container[str]) -> None:
    """Fail unless a problem has the kind, the sentence and the headers that are documented."""
    problem = answer.json
    kind = problem["type"].rpartition("/")[2]
    assert kind in examples, f"{asked} answers {kind}, which is not described"
    language = answer.headers["Content-Language"]
    words = look(ALL_GAMES[problem["game"]], language).say if "game" in problem else words_of(language)
    assert (problem["status"], problem["title"]) == (CODES[kind].status, words(CODES[kind].title))
    if kind == "against_the_rules":
        game = ALL_GAMES[problem["game"]]
        assert says(words(game.refusals.get(problem["code"]) or SHARED_REFUSALS[problem["code"]]), problem["detail"]), problem
    else:
        assert problem["code"] == kind
        assert says(words(CODES[kind].detail), problem["detail"]), problem
    if kind in RETRY_AFTER or answer.status_code == 429:
        assert int(answer.headers["Retry-After"]) > 0
    if answer.status_code == 401:
        assert answer.headers["WWW-Authenticate"]
    if kind in ("too_many_requests", "quota_reached"):
        assert answer.headers["RateLimit"].startswith(f'"{problem["limit"]}"')
        assert answer.headers["RateLimit-Policy"].startswith(f'"{problem["limit"]}"')


@cache
def pattern(sentence: str) -> re.Pattern[str]:
    """Return the pattern of a sentence: any text for each fact in braces."""
    return re.compile(
        "".join(re.escape(text) + (".*" if fact is not None else "") for text, fact, _, _ in Formatter().parse(sentence)), re.DOTALL
    )


def says(sentence: str, detail: str) -> bool:
    """Return True if a detail is a sentence with the facts of a case."""
    return pattern(sentence).fullmatch(detail) is not None


def resolved(place: str, part: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a part of the description and its place, or those to which it refers."""
    if "$ref" not in part:
        return place, part
    place = part["$ref"].removeprefix("#")
    found: Any = description()
    for name in place.split("/")[1:]:
        found = found[name]
    return place, found
