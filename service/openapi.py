"""openapi.yaml, made from the operations and the games: `python -m service.openapi > openapi.yaml`; a test compares the two."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import yaml
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter

from games.kernel import Game
from service.envelopes import platform as shared_components
from service.operations import Answer, Operation
from service.problems import CODES, MEDIA_TYPE, RETRY_AFTER
from service.schemas import MATCH_ID, PLAYER_ID, PlayerBody, SeatBody
from service.shapes import of_game, ref

TITLE = "Warledger"
VERSION = "1.0.0"
ABOUT = """\
Board games over HTTP: every match a ledger of actions and facts that can be replayed and audited.

Get a key with `POST /v1/players`, create or join a match, read `state` and `choices`, submit an action, follow `entries` or `stream`.
Reading what a spectator may see needs no key. Every failure is `application/problem+json` with a stable `code`.
"""

IDS: Mapping[str, dict[str, Any]] = {
    "match": {"type": "string", "pattern": MATCH_ID},
    "player": {"type": "string", "pattern": PLAYER_ID},
    "seat": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,31}$"},
    "rule": {"type": "string", "pattern": "^[A-Z]{2,4}-[A-Z]{2,4}-[0-9]{2}$"},
    "code": {"type": "string", "pattern": "^[a-z][a-z_]{0,39}$"},
}
ID_ABOUT = {
    "match": "A match's id.",
    "game": "A game's id.",
    "seat": "A seat.",
    "rule": "A rule's id.",
    "code": "A problem's code.",
}

HEADERS: Mapping[str, dict[str, Any]] = {
    "If-Match": {
        "description": 'Only if the match is still at this version, as an ETag gives it: `"41"`. Otherwise 412.',
        "schema": {"type": "string", "pattern": '^("[0-9]{1,15}"|[0-9]{1,15}|[*])$'},
    },
    "If-None-Match": {
        "description": "The ETag of what you have; if it is still so, the answer is 304.",
        "schema": {"type": "string"},
    },
    "Idempotency-Key": {
        "description": "Yours to choose, new for each request. The same request sent again under it gets the first answer again.",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,64}$"},
    },
    "Last-Event-ID": {
        "description": "The version of the last entry you have; the stream goes on after it.",
        "schema": {"type": "string", "pattern": "^[0-9]{1,15}$"},
    },
}

ANSWER_HEADERS: Mapping[str, dict[str, Any]] = {
    "ETag": {"description": "The version, in quotation marks.", "schema": {"type": "string"}, "required": True},
    "Location": {"description": "Where the match is.", "schema": {"type": "string"}, "required": True},
    "RetryAfter": {"description": "After how many seconds to try again.", "schema": {"type": "string"}, "required": True},
    "Authenticate": {"description": "How to send a key.", "schema": {"type": "string"}, "required": True},
}
HEADER_NAMES = {"RetryAfter": "Retry-After", "Authenticate": "WWW-Authenticate"}

TAGS = {
    "players": "Players and their keys.",
    "games": "The games, their rules and what their JSON looks like.",
    "matches": "Matches: creating, joining, finding.",
    "play": "Playing: what is so, what may be done, doing it.",
    "history": "What has happened, entry by entry, now and as it comes; and the audit.",
    "server": "The server itself.",
}


def spec(operations: list[Operation], games: Mapping[str, Game], levels: list[str]) -> dict[str, Any]:
    """The whole description of the API, OpenAPI 3.1."""
    plugin = MarshmallowPlugin()
    made = APISpec(
        TITLE,
        VERSION,
        "3.1.0",
        plugins=[plugin],
        info={"description": ABOUT},
        servers=[{"url": "/", "description": "This server."}],
        tags=[{"name": name, "description": about} for name, about in TAGS.items()],
    )
    converter = plugin.converter
    assert converter is not None
    components = shared_components(games, levels)
    for game in games.values():
        components |= of_game(game)
    made.components.schema("PlayerRequest", schema=PlayerBody)
    made.components.schema("SeatRequestBody", schema=SeatBody)
    for name in sorted(components):
        made.components.schema(name, component=components[name])
    made.components.security_scheme("key", {"type": "http", "scheme": "bearer", "description": "The key of a player, or the admin key."})
    for name, header in ANSWER_HEADERS.items():
        made.components.header(name, header)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, converter, games)
    for path, methods in paths.items():
        made.path(path, operations=methods)
    written: dict[str, Any] = made.to_dict()
    return written


def _operation(operation: Operation, converter: OpenAPIConverter, games: Mapping[str, Game]) -> dict[str, Any]:
    parameters = [_id(part[1:-1], operation, games) for part in operation.path.split("/") if part.startswith("{")]
    if operation.query is not None:
        parameters += _query(operation, converter)
    parameters += [{"name": name, "in": "header", "required": False, **HEADERS[name]} for name in operation.headers]
    told: dict[str, Any] = {"operationId": operation.id, "summary": operation.summary, "tags": [operation.tag]}
    if operation.about:
        told["description"] = operation.about
    if operation.key == "needed":
        told["security"] = [{"key": []}]
    elif operation.key == "optional":
        told["security"] = [{}, {"key": []}]
    if parameters:
        told["parameters"] = parameters
    if operation.body is not None:
        content: dict[str, Any] = {"schema": operation.body.schema}
        if operation.body.examples:
            content["examples"] = {name: {"value": value} for name, value in operation.body.examples.items()}
        told["requestBody"] = {"required": operation.body.needed, "content": {"application/json": content}}
    told["responses"] = {
        **{str(status): _answer(answer) for status, answer in operation.answers.items()},
        **_problems(operation),
    }
    for status, links in operation.links.items():
        told["responses"][status]["links"] = links
    return told


def _query(operation: Operation, converter: OpenAPIConverter) -> list[dict[str, Any]]:
    assert operation.query is not None
    found = []
    for parameter in converter.schema2parameters(operation.query, location="query"):
        parameter.setdefault("description", parameter.get("schema", {}).pop("description", None))
        found.append(parameter)
    return found


def _id(name: str, operation: Operation, games: Mapping[str, Game]) -> dict[str, Any]:
    schema = IDS.get(name) or {"type": "string", "enum": list(games)}
    return {"name": name, "in": "path", "required": True, "description": ID_ABOUT[name], "schema": schema}


def _answer(answer: Answer) -> dict[str, Any]:
    told: dict[str, Any] = {"description": answer.about}
    if answer.headers:
        told["headers"] = {HEADER_NAMES.get(name, name): {"$ref": f"#/components/headers/{name}"} for name in answer.headers}
    if answer.content:
        told["content"] = {kind: {"schema": schema} for kind, schema in answer.content.items()}
    return told


def _problems(operation: Operation) -> dict[str, Any]:
    """A response for each status of failure, with an example for each code that may come with it."""
    found: dict[str, Any] = {}
    for code in operation.all_problems():
        status, title, detail = CODES[code]
        told = found.setdefault(
            str(status),
            {"description": "", "content": {MEDIA_TYPE: {"schema": ref("Problem"), "examples": {}}}},
        )
        told["description"] = f"{told['description']}, `{code}`" if told["description"] else f"{title}: `{code}`"
        kind = {"type": f"/v1/problems/{code}", "title": title, "status": status, "code": code, "detail": detail}
        if code == "against_the_rules":
            kind = {**kind, "code": "not_your_turn", "detail": "It is not for red to act now; blue must.", "rule": None}
            kind["facts"] = {"actor": "red", "to_act": "blue"}
        told["content"][MEDIA_TYPE]["examples"][code] = {"value": kind}
        if code in RETRY_AFTER:
            told["headers"] = {"Retry-After": {"$ref": "#/components/headers/RetryAfter"}}
        if status == 401:
            told["headers"] = {"WWW-Authenticate": {"$ref": "#/components/headers/Authenticate"}}
    return {status: found[status] for status in sorted(found)}


class _Plain(yaml.SafeDumper):
    """YAML without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def written(described: Mapping[str, Any]) -> str:
    """The description as openapi.yaml holds it."""
    return yaml.dump(described, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=140)


if __name__ == "__main__":
    from service.app import described

    sys.stdout.write(written(described()))
