"""The events of each stream: what they are called, and the shape and an example of their data.

The stream of a match has entries (`service/api/entries.py`), that of a player has notices (`record/notices.py`). openapi.yaml and the
description in AsyncAPI (`service/api/asyncapi.py`) are written from the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from games.schema import Schema, Shape, record, unchecked
from record.notices import KINDS, Kind, Notice
from service.api.shapes import EXTENDS, camel, growing, named, union
from service.http.responses import EVENT_STREAM


class StreamEvent(NamedTuple):
    """A kind of event: when it comes, the shape of its data, and an example of them."""

    about: str
    shape: Shape
    example: dict[str, Any]


def in_stream(data: Shape, about: str) -> Mapping[str, Schema]:
    """Return the content of an answer with server-sent events. `data`: the shape of what its events have as `data`."""
    return {EVENT_STREAM: {"type": "string", "description": about, "contentMediaType": EVENT_STREAM, "contentSchema": data.schema}}


_IDENTITY = ("match", "version", "index", "game", "at")


def _identity() -> Shape:
    """Return the shape of the members that every notice has, apart from its `type`."""
    schema = next(iter(KINDS.values())).shape.schema
    properties = {name: schema["properties"][name] for name in _IDENTITY}
    return named("AnyNotice", unchecked({**schema, "properties": properties, "required": list(_IDENTITY)}, "What every notice has."))


def _shape(kind: str, row: Kind, whole: Shape) -> Shape:
    schema = {**row.shape.schema, "examples": [_example(kind, row)], EXTENDS: whole.schema["$ref"]}
    return named(camel("notice", kind), unchecked(schema))


def _notices() -> dict[str, StreamEvent]:
    whole = _identity()
    return {kind: StreamEvent(row.about, _shape(kind, row, whole), _example(kind, row)) for kind, row in KINDS.items()}


def _example(kind: str, row: Kind) -> dict[str, Any]:
    return Notice(kind, "maaaaaaaaaaaaaaaa", "war", 42, 3, 1_767_484_800_000, (), None, row.example).body


NOTICES: Mapping[str, StreamEvent] = _notices()
"""What players are told, by kind."""

NOTICE = named(
    "Notice",
    growing(union({kind: event.shape for kind, event in NOTICES.items()}, "What a player or an organiser is told of a match."), "type"),
)

READY = StreamEvent(
    "All that waited, or that was missed, has been sent. It comes again if the server may have missed something.",
    record({}, "Nothing."),
    {},
)
