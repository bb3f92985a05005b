"""Build the description of streams and webhooks in AsyncAPI. It has the operations and components of the OpenAPI description."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from events.hooks.messages import TEST
from games import GAMES
from games.kernel import Game
from service.api.event_shapes import NOTICE, NOTICES, STREAMS, StreamEvent
from service.api.openapi import CONTACT, LICENSE, TITLE, VERSION
from service.api.shapes import Component, camel
from service.http.responses import JSON

ABOUT = """\
The streams of Warledger. They are server-sent events over HTTP (`text/event-stream`): ask with GET, and read the answer as it comes.
The payload of a message is the `data` of an event, in JSON. Its headers are the other fields of the event. A stream ends after a while, so
connect again with the last `id` in the header `Last-Event-ID`. Ignore events and members that you do not know.
Webhooks are requests that the server sends to an address of yours: a POST with one message.
All other operations are in `/openapi.json`.
"""

SERVER = {
    "host": "{host}",
    "protocol": "https",
    "description": "This server. A server on your own machine speaks plain HTTP.",
    "variables": {"host": {"description": "The host, and the port if it is not the usual one.", "default": "localhost:8000"}},
}
HOOKS, SEND_HOOK = "hooks", "send_hook"  # the channel of webhooks, and what the server does there
KEY = {"type": "http", "scheme": "bearer", "description": "The key of a player."}


def described(openapi: Mapping[str, Any], games: Mapping[str, Game] = GAMES) -> dict[str, Any]:
    """Return the description of the streams in AsyncAPI 3.1. `openapi`: the description of the API (service/api/openapi.py)."""
    rows = {row["operationId"]: (path, row) for path, methods in openapi["paths"].items() for row in methods.values()}
    channels: dict[str, Any] = {}
    operations: dict[str, Any] = {}
    messages: dict[str, Any] = {}
    for name, events_of in STREAMS.items():
        path, row = rows[name]
        events = {event: camel(name.removeprefix("get_"), event) for event in events_of(games)}
        messages |= {events[event]: _message(event, about) for event, about in events_of(games).items()}
        parameters = [_found(openapi, one) for one in row.get("parameters", ())]
        channels[name] = {
            "address": path,
            "title": row["summary"],
            "servers": [{"$ref": "#/servers/this"}],
            **_path(parameters),
            "messages": {event: {"$ref": f"#/components/messages/{message}"} for event, message in events.items()},
        }
        operations[name] = {
            "action": "send",
            "channel": {"$ref": f"#/channels/{name}"},
            "summary": row["summary"],
            "description": row["description"],
            "messages": [{"$ref": f"#/channels/{name}/messages/{event}"} for event in events],
            **({"security": [{"$ref": "#/components/securitySchemes/key"}]} if "security" in row else {}),
            "bindings": {"http": {"method": "GET", "query": _query(parameters), "bindingVersion": "0.3.0"}},
        }
    messages |= {camel(HOOKS, name): message for name, message in _HOOK_MESSAGES.items()}
    channels[HOOKS] = {
        "address": None,  # a player chooses it
        "title": "Webhooks",
        "messages": {name: {"$ref": f"#/components/messages/{camel(HOOKS, name)}"} for name in _HOOK_MESSAGES},
    }
    operations[SEND_HOOK] = {
        "action": "send",
        "channel": {"$ref": f"#/channels/{HOOKS}"},
        "summary": "Send an event to a webhook",
        "description": rows["create_my_hook"][1]["description"],
        "messages": [{"$ref": f"#/channels/{HOOKS}/messages/{name}"} for name in _HOOK_MESSAGES],
        "bindings": {"http": {"method": "POST", "bindingVersion": "0.3.0"}},
    }
    schemas = openapi["components"]["schemas"]
    used = _with_parts(schemas, [messages, operations])
    return {
        "asyncapi": "3.1.0",
        "info": {
            "title": f"{TITLE}: streams and webhooks",
            "version": VERSION,
            "description": ABOUT,
            "contact": CONTACT,
            "license": {"name": LICENSE["name"]},
        },
        "defaultContentType": JSON,
        "servers": {"this": SERVER},
        "channels": channels,
        "operations": operations,
        "components": {
            "messages": messages,
            "schemas": {name: schemas[name] for name in sorted(used)},
            "securitySchemes": {"key": KEY},
        },
    }


def _message(name: str, event: StreamEvent) -> dict[str, Any]:
    """Return the message of an event."""
    payload = event.shape.schema
    component = payload.get("$ref")
    fields: dict[str, Any] = {"event": {"const": name, "description": "The name of the event."}}
    if event.id:
        fields["id"] = {"type": "string", "description": f"The id of the event: {event.id}."}
    return {
        "name": name,
        "title": name,
        "summary": event.about,
        "headers": {"type": "object", "properties": fields, "required": list(fields)},
        "payload": {"$ref": str(component)} if isinstance(component, Component) else {**payload, "additionalProperties": True},
        "examples": [{"name": name, "payload": event.example}],
    }


_HOOK_HEADERS = {
    "webhook-id": "The same whenever the message is sent again.",
    "webhook-timestamp": "When it is sent, in seconds since 1970.",
    "webhook-signature": "Signatures with blanks between: `v1,…` by each valid secret of the webhook, `v1a,…` by the server's key.",
}


def _hook_message(name: str, about: str, type_of: dict[str, Any], data: dict[str, Any], example: dict[str, Any]) -> dict[str, Any]:
    """Return a message of webhooks. `type_of`, `data`: the schemas of these members of its body. `example`: its data."""
    texts = {
        "type": {"description": "The kind of the event.", **type_of},
        "timestamp": {"type": "string", "format": "date-time", "description": "The moment of the event."},
    }
    return {
        "name": name,
        "title": name,
        "summary": about,
        "headers": {
            "type": "object",
            "properties": {header: {"type": "string", "description": said} for header, said in _HOOK_HEADERS.items()},
            "required": list(_HOOK_HEADERS),
        },
        "payload": {"type": "object", "properties": {**texts, "data": data}, "required": ["type", "timestamp", "data"]},
        "examples": [{"name": name, "payload": {"type": example["type"], "timestamp": "2026-01-04T00:00:00.000Z", "data": example}}],
    }


_HOOK_MESSAGES = {
    "event": _hook_message(
        "event", "What a player or an organiser is told.", {"type": "string"}, {"$ref": str(NOTICE.schema["$ref"])}, NOTICES["turn"].example
    ),
    TEST: _hook_message(
        TEST,
        "A test that the player asked for.",
        {"const": TEST},
        {"type": "object", "description": "`type`, the moment `at`, and `hook`, the id of the webhook."},
        {"type": TEST, "at": 1_767_484_800_000, "hook": "haaaaaaaaaaaaaaaa"},
    ),
}


def _found(openapi: Mapping[str, Any], parameter: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a parameter, or the one that it refers to."""
    found: Mapping[str, Any] = parameter
    if "$ref" in parameter:
        found = openapi["components"]["parameters"][parameter["$ref"].rsplit("/", 1)[1]]
    return found


def _path(parameters: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the parameters of an address, as a channel has them."""
    found = {one["name"]: {"description": one["description"]} for one in parameters if one["in"] == "path"}
    return {"parameters": found} if found else {}


def _query(parameters: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the schema of the query of an operation."""
    found = {one["name"]: {**one["schema"], "description": one["description"]} for one in parameters if one["in"] == "query"}
    return {"type": "object", "properties": found}


def _with_parts(schemas: Mapping[str, Any], roots: Any) -> set[str]:
    """Return the names of the components that something refers to, and of those that these refer to."""
    found: set[str] = set()
    waiting = list(_named(roots))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _named(schemas[name])
    return found


_SCHEMA = re.compile("#/components/schemas/(.+)")


def _named(part: Any) -> Iterator[str]:
    """Yield the names of the components that a part of a description refers to."""
    if isinstance(part, Mapping):
        named = _SCHEMA.fullmatch(str(part.get("$ref", "")))
        if named:
            yield named[1]
    for inner in part.values() if isinstance(part, Mapping) else part if isinstance(part, list) else ():
        yield from _named(inner)
