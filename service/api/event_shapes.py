"""The events of each stream: what they are called, and the shape and an example of their data.

The stream of a match has entries (`service/api/entries.py`), that of a player has notices (`record/notices.py`). openapi.yaml and the
description in AsyncAPI (`service/api/asyncapi.py`) are written from the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from games.schema import Shape, listing, record, text, unchecked, whole
from record.notices import KINDS, Kind, Notice
from service.api.entries import entry
from service.api.matches import AT_TABLE_FIELDS
from service.api.shapes import EXAMPLES, EXTENDS, SEAT, Described, Games, camel, growing, named, union, versions
from service.http.responses import EVENT_STREAM


class StreamEvent(NamedTuple):
    """A kind of event: when it comes, the shape of its data, and an example of them. `id`: what its id is, or "" if it has none."""

    about: str
    shape: Shape
    example: dict[str, Any]
    id: str


Events = Callable[[Games], Mapping[str, StreamEvent]]
"""The events of a stream by name. They depend on the games."""


def in_stream(data: Callable[[Games], Shape], about: str) -> Mapping[str, Described]:
    """Return the content of an answer with server-sent events. `data`: the shape of what its events have as `data`."""

    def text(games: Games) -> Shape:
        return unchecked({"type": "string", "contentMediaType": EVENT_STREAM, "contentSchema": data(games).schema}, about)

    return {EVENT_STREAM: text}


# ---------------------------------------------------------------- the stream of a match

_CLOCKS = named(
    "StreamClocks",
    record({"version": versions("The version of the match."), "clocks": AT_TABLE_FIELDS["clocks"]}, "The clocks at a version."),
)
_PHRASE = named("StreamPhrase", record({"seat": SEAT, "phrase": text(about="As it was sent.")}, "What a seat says."))
_HERE = named(
    "StreamHere",
    record({"seats": listing(SEAT, about="Seats."), "watching": whole(0, about="How many others watch.")}, "Whose players are there."),
)
_END = named("StreamEnd", record({"version": versions("The version of the last entry.")}, "The end of a match."))


def _entry(games: Games) -> Shape:
    parts = [entry(game).schema for game in games.values()]
    return named("Entry", growing(unchecked({"anyOf": parts}, "An action with the events that followed, as its viewer may see it.")))


def match_events(games: Games) -> Mapping[str, StreamEvent]:
    """Return the events of the stream of a match."""
    shown = orjson.loads(EXAMPLES.read_bytes())["Entries"]["entries"][0]
    clock = {"left": 86_400_000, "deadline": 1_767_484_927_500, "late": 0}
    return {
        "entry": StreamEvent("An entry, as `get_entries` has it.", _entry(games), shown, "the version of the entry"),
        "clocks": StreamEvent(
            "The clocks after the newest entry, in a match with clocks that hides nothing from you.",
            _CLOCKS,
            {"version": 3, "clocks": {"red": clock}},
            "",
        ),
        "phrase": StreamEvent("A set phrase, if you asked for `phrases`.", _PHRASE, {"seat": "red", "phrase": "good_luck"}, ""),
        "here": StreamEvent("Who is there, if you asked for `here`.", _HERE, {"seats": ["red"], "watching": 2}, ""),
        "over": StreamEvent("The match is over, and you have its last entry. The stream ends.", _END, {"version": 4}, ""),
    }


def match_data(games: Games) -> Shape:
    """Return the shape of what the events of the stream of a match have as data."""
    parts = [event.shape.schema for event in match_events(games).values()]
    return growing(unchecked({"anyOf": parts}, "What an event `entry`, `clocks`, `phrase`, `here` or `over` has."))


# ---------------------------------------------------------------- the stream of a player

_IDENTITY = ("match", "version", "index", "game", "at")
_MOMENT = "a moment in milliseconds since 1970: send it as `Last-Event-ID` to get what you missed since"


def _identity() -> Shape:
    """Return the shape of the members that every notice has, apart from its `type`."""
    schema = next(iter(KINDS.values())).shape.schema
    properties = {name: schema["properties"][name] for name in _IDENTITY}
    return named("AnyNotice", unchecked({**schema, "properties": properties, "required": list(_IDENTITY)}, "What every notice has."))


def _example(kind: str, row: Kind) -> dict[str, Any]:
    return Notice(kind, "maaaaaaaaaaaaaaaa", "war", 42, 3, 1_767_484_800_000, (), None, row.example).body


def _shape(kind: str, row: Kind, whole: Shape) -> Shape:
    schema = {**row.shape.schema, EXTENDS: whole.schema["$ref"]}
    return named(camel("notice", kind), unchecked(schema))


def _notices() -> dict[str, StreamEvent]:
    whole = _identity()
    return {kind: StreamEvent(row.about, _shape(kind, row, whole), _example(kind, row), _MOMENT) for kind, row in KINDS.items()}


NOTICES: Mapping[str, StreamEvent] = _notices()
"""What players are told, by kind."""

NOTICE = named(
    "Notice",
    growing(union({kind: event.shape for kind, event in NOTICES.items()}, "What a player or an organiser is told of a match."), "type"),
)

_READY = StreamEvent(
    "All that waited, or that was missed, has been sent. It comes again if the server may have missed something.",
    record({}, "Nothing."),
    {},
    _MOMENT,
)


def player_events(games: Games) -> Mapping[str, StreamEvent]:
    """Return the events of the stream of a player."""
    return {**NOTICES, "ready": _READY}


def player_data(games: Games) -> Shape:
    """Return the shape of what the events of the stream of a player have as data, except `ready`."""
    return NOTICE


STREAMS: Mapping[str, Events] = {"get_stream": match_events, "get_my_stream": player_events}
"""The events of each stream, by its operation."""
