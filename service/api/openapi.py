"""Build the OpenAPI description from the operations and the games. `./run openapi` writes openapi.yaml; a test compares the two."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import orjson
import yaml
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter

from games import GAMES, patterns
from games.kernel import Game
from games.schema import Schema, ids, text, whole
from service.api.components import Components, shared
from service.api.operations import UNCHANGED, UNGUESSABLE, Operation
from service.api.problem_shapes import problem
from service.api.routes import OPERATIONS
from service.api.shapes import (
    EXAMPLES,
    HOOK_ID,
    KEY_ID,
    MATCH_ID,
    PLAYER_ID,
    PUZZLE_ID,
    SEAT,
    Component,
    camel,
    prefix,
    reference,
    schema_of,
    versions,
)
from service.http.problems import CODES, MEDIA_TYPE, RETRY_AFTER
from service.http.responses import JSON
from service.http.schemas import (
    HookBody,
    HookChangeBody,
    HookRotationBody,
    KeyBody,
    NameBody,
    PhraseBody,
    PlayerBody,
    RoleBody,
    SeatBody,
    SigningKeyBody,
)

TITLE = "Warledger"
VERSION = "0.1.0"
ABOUT = """\
Board games over HTTP. Every match is a ledger of actions and events that can be replayed and audited.

Get a key with `POST /v1/players`, create or join a match, read `state` and `choices`, submit an action, follow `entries` or `stream`.
Anybody may read what a spectator may see, without a key. Every failure is `application/problem+json` with a stable `code`.
A schema that belongs to one game has its code in front of its name: {codes}.
"""

CONTACT = {"name": "The operator of this server"}
LICENSE = {"name": "All rights reserved", "identifier": "LicenseRef-All-Rights-Reserved"}

WIDTH = 2000
SHORT = 10000  # what has at most so many characters has no line for each of its parts
LONG = SHORT + 1  # an operation has a line for each of its parts, however short they are

TILE = "^(x[0-9]{3}/){0,5}[0-9]{3}([.]p/[1-9][0-9]{0,2})?$"

ID_SCHEMAS: Mapping[str, Schema] = {
    "match": MATCH_ID.schema,
    "puzzle": PUZZLE_ID.schema,
    "player": PLAYER_ID.schema,
    "key": KEY_ID.schema,
    "signing_key": text(patterns.anchored(patterns.SIGNING_KEY_IN_PATH)).schema,
    "hook": HOOK_ID.schema,
    "delivery": text("^[a-z0-9_-]{1,100}$").schema,
    "seat": SEAT.schema,
    "version": versions("A version.").schema,
    "dispute": whole(1, 999).schema,
    "rule": text(patterns.anchored(patterns.RULE)).schema,
    "code": text(patterns.anchored(patterns.CODE)).schema,
    "level": text("^[0-9]{1,2}$").schema,
    "month": text(patterns.anchored(patterns.MONTH)).schema,
    "part": whole(1, 999_999_999).schema,
    "tile": text(TILE).schema,
}
ID_DESCRIPTIONS = {
    "match": "A match's id.",
    "puzzle": "A puzzle's id.",
    "player": "A player's id.",
    "key": "A key's id, which is part of its text.",
    "signing_key": "A signing key, in base64url without padding.",
    "hook": "A webhook's id.",
    "delivery": "The id of a message.",
    "game": "A game's id.",
    "seat": "A seat.",
    "version": "A version of the match.",
    "dispute": "The number of a dispute in its match, from 1.",
    "rule": "A rule's id.",
    "code": "A problem's code.",
    "level": "The level of a tile. A hash of level 0 covers one leaf; each further level covers 256 times as many.",
    "month": "A month, such as `2026-11`.",
    "part": "The number of a part of the file, from 1.",
    "tile": "The number of a tile, such as `000` or `x001/x234/067`. A partial tile adds `.p/` and its width.",
}

REQUEST_HEADERS: Mapping[str, dict[str, Any]] = {
    "If-Match": {
        "description": 'Act only if the match is still at this version, written as its ETag: `"41"`. Otherwise the answer is 412.',
        "schema": text(patterns.anchored(f"{patterns.VERSION_TAG}|{patterns.VERSION}|[*]")).schema,
    },
    "If-None-Match": {
        "description": "The ETag of the answer that you have. If nothing has changed, the answer is 304.",
        "schema": text().schema,
    },
    "Idempotency-Key": {
        "description": "An id of your choice, new for each request. If you repeat a request with its id, you get the first answer again.",
        "schema": text(patterns.anchored(patterns.REQUEST)).schema,
    },
    "Warledger-Signature": {
        "description": "Your signatures of the actions (docs/api.md): `key=:<public key>:, seen=41, "
        'digest="<digest of version 41>", signatures=(:<one for each action>:)`. `seen` acts like `If-Match`.',
        "schema": text().schema,
    },
    "Prefer": {
        "description": "`return=minimal`: answer with the receipt alone, as text. Its version is in the ETag.",
        "schema": text().schema,
    },
    "Range": {
        "description": "`bytes=1000-` or `bytes=1000-1999`: only these bytes of the part. The answer is then 206.",
        "schema": text().schema,
    },
    "If-Range": {"description": "The ETag of the part. `Range` counts only if it is still that one.", "schema": text().schema},
    "Last-Event-ID": {
        "description": "The `id` of the last event that you have. The stream continues after it.",
        "schema": text(patterns.anchored(patterns.VERSION)).schema,
    },
}

# By the name of the component. OpenAPI allows no hyphens there.
RESPONSE_HEADERS: Mapping[str, tuple[str, str]] = {
    "ETag": ("ETag", "The version of the match, or a digest of the content, in quotation marks."),
    "Location": ("Location", "The address of what was created."),
    "AcceptRanges": ("Accept-Ranges", "`bytes`: the request may have a `Range`."),
    "ContentRange": ("Content-Range", "Which bytes these are, and of how many: `bytes 1000-1999/1048576`."),
    "RetryAfter": ("Retry-After", "After how many seconds to try again."),
    "Authenticate": ("WWW-Authenticate", "How to send a key."),
    "RateLimit": ("RateLimit", 'What is left of a limit: `"actions";r=0;t=3` (draft-ietf-httpapi-ratelimit-headers-11).'),
    "RateLimitPolicy": (
        "RateLimit-Policy",
        'The limit: `"actions";q=5000;w=10`, which is 5,000 in 10 seconds. `GET /v1/limits` explains it.',
    ),
}

# Example facts for the sentences of problems, by name. FACTS_OF has those that differ by code.
FACTS: Mapping[str, Any] = {
    "actor": "red", "digest": "c0" * 32,
    "allowed": "GET, HEAD, OPTIONS", "amount": 5000, "dispute": 2, "encoding": "gzip", "expected": 40, "first": 38, "game": "war",
    "games": ", ".join(sorted(GAMES)), "header": "If-Match", "last": 41, "limit": 3, "match": "m234567abcdefghij", "needed": "referees",
    "month": "2026-11", "number": 2, "player": "p234567abcdefghij", "puzzle": "m234567abcdefghij-57",
    "pointer": "/regions/atlantis", "request": "robot",
    "retry_after": 3, "revision": 7, "scope": "player", "seat": "red",
    "seats": "blue, green", "setting": "clock.seconds", "unit": "requests", "until": 1795363302729, "version": 41, "viewer": "blue",
    "what": "draw", "whose": "caller", "window": 10,
}  # fmt: skip
FACTS_OF: Mapping[str, Mapping[str, Any]] = {
    "bad_body": {"reason": "seats: Missing data for required field"},
    "bad_header": {"reason": 'it must be a version, as in "41"'},
    "bad_json": {"reason": "unexpected end of data"},
    "bad_list": {"reason": "an action of the table is sent alone"},
    "bad_query": {"reason": "limit: Must be greater than or equal to 1 and less than or equal to 100"},
    "bad_hook_url": {"reason": "it begins with https://"},
    "scope_needed": {"scope": "play"},
    "no_such_game": {"game": "chess"},
    "no_such_version": {"version": 99},
    "not_in_log": {"reason": "it has no such tile yet"},
    "analysis_too_long": {"limit": 5000},
    "no_such_past": {"version": 99},
    "still_seated": {"limit": 100},
    "too_many_hooks": {"limit": 10},
    "too_many_keys": {"limit": 20},
    "too_many_signing_keys": {"limit": 20},
    "too_many_offers": {"limit": 20},
    "too_large": {"limit": 65_536},
    "address_too_long": {"limit": 4096},
    "against_the_rules": {"sentence": "red cannot act now; it is the turn of blue."},
    "bad_remedy": {"reason": "the match is over, so nothing is played on"},
    "bad_settings": {"reason": "it must be 5 to 5184000"},
    "quota_reached": {"limit": "open_matches", "amount": 200, "unit": "matches"},
    "too_many_at_once": {"limit": 4, "what": "requests whose body is being received"},
    "too_many_requests": {"limit": "requests"},
    "too_many_streams": {"limit": 32, "what": "streams and long polls"},
    "header_too_large": {"limit": 4096},
    "not_ready": {"what": "the store: it is loading its data"},
}

TAGS = {
    "players": "Players and their keys.",
    "hooks": "Webhooks: what happens in matches, sent to an address of yours.",
    "games": "The games, their rules and their JSON Schemas.",
    "matches": "Create, find and join matches.",
    "play": "Play: the state of a match, the choices of a seat, and actions.",
    "puzzles": "Puzzles from finished matches.",
    "disputes": "Disputes about matches, and the referees' desk.",
    "history": "The entries of a match, past and new, and its audit.",
    "log": "The log of the server: one Merkle tree with the digests of all matches, as c2sp.org/tlog-tiles serves it.",
    "server": "The server itself.",
}


def described(games: Mapping[str, Game] = GAMES, *, opened: bool = True) -> dict[str, Any]:
    """Return the description of the API in OpenAPI 3.1. `opened`: answers may grow, as in the published description."""
    plugin = MarshmallowPlugin(schema_name_resolver=lambda schema: "")  # an object in a body is described there
    spec = APISpec(
        TITLE,
        VERSION,
        "3.1.0",
        plugins=[plugin],
        info={
            "description": ABOUT.format(codes=", ".join(f"`{prefix(game)}` is {game.title}" for game in games.values())),
            "contact": CONTACT,
            "license": LICENSE,
        },
        servers=[{"url": "/", "description": "This server."}],
        # An operation without `security` takes a key or none. Client generators would require even an optional one that it names.
        security=[{}, {"key": []}],
        tags=[{"name": name, "description": about} for name, about in TAGS.items()],
    )
    converter = plugin.converter
    assert converter is not None
    components = Components(opened=opened)
    for name, body in (
        ("PlayerRequest", PlayerBody),
        ("NameRequest", NameBody),
        ("PhraseRequest", PhraseBody),
        ("RoleRequest", RoleBody),
        ("KeyRequest", KeyBody),
        ("SigningKeyRequest", SigningKeyBody),
        ("HookRequest", HookBody),
        ("HookChangeRequest", HookChangeBody),
        ("HookRotationRequest", HookRotationBody),
        ("SeatRequestBody", SeatBody),
    ):
        components.found[name] = components.request({"description": body.__doc__, **converter.schema2jsonschema(body())})
    spec.components.security_scheme("key", {"type": "http", "scheme": "bearer", "description": "The key of a player, or the admin key."})
    for name, (_, about) in RESPONSE_HEADERS.items():
        spec.components.header(name, {"description": about, "schema": text().schema, "required": name not in SOMETIMES})
    met = {code for operation in OPERATIONS for code in operation.all_problems()}
    for code in CODES:
        if code in met:
            spec.components.example(code, {"value": _example(code)})
    bodies = {
        operation.id: components.request(schema_of(operation.body.documented, games))
        for operation in OPERATIONS
        if operation.body is not None
    }
    components.answer(problem(games).schema)
    for name, value in orjson.loads(EXAMPLES.read_bytes()).items():
        spec.components.example(name, {"value": value})
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        answers = {str(status): _answer(operation, status, components, games) for status in operation.answers}
        row = _operation(operation, converter, games, bodies.get(operation.id), answers)
        paths.setdefault(operation.path, {})[operation.method.lower()] = row
    schemas = shared(components.found) if opened else components.found
    for name in sorted(schemas):
        spec.components.schema(name, component=schemas[name])
    operations = [row for methods in paths.values() for row in methods.values()]
    for name, parameter in _shared("parameters", operations, _name_of_parameter).items():
        spec.components.parameter(name, parameter["in"], parameter)
    for name, response in _shared("responses", operations, _name_of_response).items():
        spec.components.response(name, response)
    for path, methods in paths.items():
        spec.path(path, operations=methods)
    description: dict[str, Any] = spec.to_dict()
    _inline_examples(description)
    return description


def in_yaml(description: Mapping[str, Any]) -> str:
    """Return the description as openapi.yaml has it. Short parts, and lists of plain values, share lines."""
    return yaml.dump(description, Dumper=_Compact, sort_keys=False, allow_unicode=True, width=WIDTH)


class _Compact(yaml.SafeDumper):
    """YAML without anchors. Short or plain parts share lines, but those of operations. Texts keep their line breaks."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent what continues on the next line once, however deep in braces it is."""
        within = self.flow_level - (not isinstance(self.event, yaml.ScalarEvent))
        super().increase_indent(flow, indentless or (flow and within > 0))

    def represent_str(self, data: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", data, style="|" if "\n" in data else None)

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        node = super().represent_mapping(tag, mapping, flow_style)
        length = sum(_length(key) + _length(value) + 4 for key, value in node.value)
        return _laid_out(node, length if "operationId" not in mapping else LONG, [value for _, value in node.value])

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> yaml.SequenceNode:
        node = super().represent_sequence(tag, sequence, flow_style)
        return _laid_out(node, sum(_length(item) + 2 for item in node.value), node.value)


_Compact.add_representer(str, _Compact.represent_str)


def _laid_out(node: Any, length: int, parts: list[Any]) -> Any:
    node.length = length
    node.flow_style = length <= SHORT or all(map(_is_plain, parts))
    return node


def _is_plain(node: Any) -> bool:
    """Return True if a node is a value, or a map of one plain value, such as a reference."""
    return isinstance(node, yaml.ScalarNode) or (len(node.value) == 1 and isinstance(node.value[0], tuple) and _is_plain(node.value[0][1]))


def _length(node: Any) -> int:
    """Return roughly how many characters a node has on one line."""
    return len(node.value) + 2 if isinstance(node, yaml.ScalarNode) else node.length


def _operation(
    operation: Operation, converter: OpenAPIConverter, games: Mapping[str, Game], body: Schema | None, answers: Mapping[str, Any]
) -> dict[str, Any]:
    parameters = [_path_parameter(part[1:-1], games) for part in operation.path.split("/") if part.startswith("{")]
    if operation.query is not None:
        parameters += _query_parameters(operation, converter)
    parameters += [_header_parameter(operation, name) for name in operation.headers]
    row: dict[str, Any] = {
        "operationId": operation.id,
        "summary": operation.summary,
        "description": operation.about,
        "tags": [operation.tag],
    }
    if operation.key == "needed":
        row["security"] = [{"key": []}]
        if operation.scope is not None:
            row["x-scope"] = operation.scope  # linters allow scopes only for OAuth
    elif operation.key == "none":
        row["security"] = []
    if parameters:
        row["parameters"] = parameters
    if operation.body is not None:
        content: dict[str, Any] = {"schema": body}
        if operation.body.examples:
            content["examples"] = {name: {"value": value} for name, value in operation.body.examples.items()}
        row["requestBody"] = {"required": operation.body.required, "content": {"application/json": content}}
    failures = {str(status): _failure(codes) for status, codes in _groups([operation]).items() if not _is_usual(codes)}
    row["responses"] = {**answers, **failures, "default": _failure_anywhere()}
    for status, links in operation.links.items():
        row["responses"][status]["links"] = links
    return row


def _query_parameters(operation: Operation, converter: OpenAPIConverter) -> list[dict[str, Any]]:
    assert operation.query is not None
    found = []
    for parameter in converter.schema2parameters(operation.query, location="query"):
        parameter.setdefault("description", parameter.get("schema", {}).pop("description", None))
        if not parameter["required"]:
            del parameter["required"]  # false is the default
        found.append(parameter)
    return found


def _path_parameter(name: str, games: Mapping[str, Game]) -> dict[str, Any]:
    schema = ID_SCHEMAS.get(name) or ids(games).schema
    schema = {key: part for key, part in schema.items() if key != "description"}  # the parameter has it
    return {"name": name, "in": "path", "required": True, "description": ID_DESCRIPTIONS[name], "schema": schema}


def example_name(operation: Operation, status: int) -> str | None:
    """Return the name of an answer's example: that of its component, or else of the operation. None without content.

    Answers with the same component share an example.
    """
    content = operation.answers[status].content
    if not content:
        return None
    component = schema_of(content[JSON], GAMES).get("$ref") if JSON in content else None
    return component.name if isinstance(component, Component) else operation.id


def _header_parameter(operation: Operation, name: str) -> dict[str, Any]:
    found = {"name": name, "in": "header", **REQUEST_HEADERS[name]}
    if name == "Idempotency-Key" and operation.key != "needed":
        found["description"] += f" Whoever knows it can get the answer and its key. So it has at least {UNGUESSABLE} characters."
        found["schema"] = found["schema"] | {"minLength": UNGUESSABLE}
    return found | {"required": True} if name in operation.needed_headers else found


def _answer(operation: Operation, status: int, components: Components, games: Mapping[str, Game]) -> dict[str, Any]:
    answer = operation.answers[status]
    response: dict[str, Any] = {"description": answer.about}
    if answer.preferred:
        response["x-preferred-media-types"] = list(answer.preferred)
    if answer.headers:
        response["headers"] = dict(_header(name) for name in answer.headers)
    if answer.content:
        name = example_name(operation, status)
        examples = {"examples": {name: {"$ref": f"#/components/examples/{name}"}}}
        response["content"] = {
            kind: {"schema": components.answer(schema_of(shape, games)), **examples} for kind, shape in answer.content.items()
        }
    return response


def _header(component: str) -> tuple[str, dict[str, Any]]:
    """Return the name of a response header, and a reference to its component."""
    return RESPONSE_HEADERS[component][0], {"$ref": f"#/components/headers/{component}"}


def _shared(kind: str, operations: list[dict[str, Any]], name_of: Callable[[Any], str | None]) -> dict[str, Any]:
    """Replace parameters or responses that recur by the names of components. apispec refers to them. Return the components by name."""
    places: dict[str, list[tuple[Any, Any]]] = {}
    for row in operations:
        holder = row.get(kind, [])
        for key in holder if isinstance(holder, dict) else range(len(holder)):
            places.setdefault(json.dumps(holder[key]), []).append((holder, key))
    found: dict[str, Any] = {}
    for content, alike in places.items():
        name = name_of(json.loads(content))
        if name is None or len(alike) == 1:
            continue
        number = sum(other.rstrip("0123456789") == name for other in found) + 1
        name = name if number == 1 else f"{name}{number}"
        found[name] = json.loads(content)
        for holder, key in alike:
            holder[key] = name
    return found


def _inline_examples(description: dict[str, Any]) -> None:
    """Put each example that is referred to once where it is referred to."""
    examples = description["components"]["examples"]
    places: dict[str, list[dict[str, Any]]] = {}

    def find(part: Any) -> None:
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            if isinstance(inner, dict) and str(inner.get("$ref")).startswith(_EXAMPLE):
                places.setdefault(inner["$ref"].removeprefix(_EXAMPLE), []).append(inner)
            else:
                find(inner)

    find([description["paths"], description["components"]["responses"]])
    for name, found in places.items():
        if len(found) == 1:
            del found[0]["$ref"]
            found[0].update(examples.pop(name))


_EXAMPLE = "#/components/examples/"


def _name_of_parameter(parameter: Mapping[str, Any]) -> str:
    return camel(*parameter["name"].lower().split("-"))


def _name_of_response(response: Mapping[str, Any]) -> str | None:
    """Return the name of the component for a failure, a 304, or an answer in JSON. Return None for other answers."""
    if response["description"] == UNCHANGED.about:
        return "Unchanged"
    if response == _failure_anywhere():
        return "AnyFailure"
    if JSON in response.get("content", {}):
        return response["content"][JSON]["schema"].get("$ref", "").rpartition("/")[2] or None
    codes = response.get("content", {}).get(MEDIA_TYPE, {}).get("examples", {})
    first, *others = map(camel, codes or ("",))
    return (f"{first}OrOthers" if others else first) or None


SOMETIMES = ("Authenticate", "RateLimit", "RateLimitPolicy")
"""The headers of answers that are not in each answer that names them."""

ANYWHERE: Mapping[int, tuple[str, ...]] = {
    400: ("bad_query", "bad_body", "bad_json", "bad_request"),
    401: ("bad_key", "no_key"),
    403: ("no_player", "scope_needed"),
    413: (),
    414: (),
    415: (),
    429: ("too_many_at_once", "too_many_requests"),
    431: (),
    500: (),
    503: ("archive_away", "archive_damaged", "busy", "log_damaged", "rules_missing", "secret_lost", "store_away"),
}
"""The statuses of failures that every operation may have, each with its usual codes, or with none if all are usual.

The description has them once, as the default. An operation with further codes of a status has a response for them all.
"""


def _is_usual(codes: tuple[str, ...]) -> bool:
    """Return True if the default describes the failures of an operation with these codes, which have one status."""
    usual = ANYWHERE.get(CODES[codes[0]].status)
    return usual is not None and (not usual or set(codes) <= set(usual))


def _groups(operations: Iterable[Operation]) -> dict[int, tuple[str, ...]]:
    """Return the codes that operations may fail with, by status."""
    met = {code for operation in operations for code in operation.all_problems()}
    found: dict[int, tuple[str, ...]] = {}
    for code in CODES:
        if code in met:
            found[CODES[code].status] = (*found.get(CODES[code].status, ()), code)
    return found


@cache
def _failure_anywhere() -> dict[str, Any]:
    """Return the response of the failures that every operation may have."""
    groups = _groups(OPERATIONS)
    usual = {status: codes or groups[status] for status, codes in ANYWHERE.items()}
    response = _failure(tuple(code for codes in usual.values() for code in codes))
    about = "; ".join(f"{status}: {', '.join(f'`{code}`' for code in codes)}" for status, codes in usual.items())
    response["headers"] = dict(map(_header, SOMETIMES))
    return response | {"description": f"Any operation may fail so. {about}. `Retry-After` says when to try again, where that is known."}


def _failure(codes: tuple[str, ...]) -> dict[str, Any]:
    """Return the response of a failure. All `codes` have the same status, or headers that no failure needs."""
    status = CODES[codes[0]].status
    examples = {code: {"$ref": f"#/components/examples/{code}"} for code in codes}
    response: dict[str, Any] = {"description": ", ".join(f"`{code}`" for code in codes)}
    if status == 401:
        response["headers"] = dict([_header("Authenticate")])
    elif status == 429:
        response["headers"] = dict(map(_header, ("RetryAfter", "RateLimit", "RateLimitPolicy")))
    elif all(code in RETRY_AFTER for code in codes):
        response["headers"] = dict([_header("RetryAfter")])
    response["content"] = {MEDIA_TYPE: {"schema": reference("Problem"), "examples": examples}}
    return response


def _example(code: str) -> dict[str, Any]:
    """Return an example of the problem with a code."""
    status, title, detail = CODES[code]
    facts = {**FACTS, **FACTS_OF.get(code, {})}
    problem = {"type": f"/v1/problems/{code}", "title": title, "status": status, "code": code, "detail": detail.format_map(facts)}
    if code == "against_the_rules":
        return problem | {"code": "not_your_turn", "game": "war", "rule": None, "facts": {"actor": "red", "to_act": "blue"}}
    return problem
