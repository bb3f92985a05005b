"""The shapes of answers: how a view describes what it builds, and what many views share (docs/decisions/0003).

A shape is exact: `record` names every member, `ids` every value. That is what tests hold answers against. openapi.yaml is written from the
same shapes and says less, since answers may grow (docs/decisions/0085): see `service/api/components.py`.

`named` gives a shape a name in the description. Whoever refers to it has its schema at hand, so only what is used is described:

>>> from games.schema import record, whole
>>> point = named("Point", record({"x": whole(0)}, "A point."))
>>> point.schema["$ref"], point.schema["$ref"].schema["properties"]
('#/components/schemas/Point', {'x': {'type': 'integer', 'minimum': 0}})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Self

from games import patterns
from games.kernel import Game
from games.schema import Fields, Schema, Shape, always, described, ids, listing, mapping, nullable, record, text, unchecked, whole
from service.http.limits import LONGEST_NAME
from service.http.schemas import LARGEST, NAME
from table.data import LEVELS
from table.state import DISPUTE_NUMBER, DISPUTE_TEXT, PROPOSAL

GROWS = "x-grows"
"""In a union of answers: the member by which parts are told apart, or "". The description adds a part for what it does not know."""

EXTENDS = "x-extends"
"""In an object of answers: the component whose members it has, too. The description refers to it."""

Games = Mapping[str, Game]
Described = Shape | Schema | Callable[[Games], Shape]
"""What an answer or a body looks like. What depends on the games is a function of them."""


class Component(str):
    """A reference to a component, with the schema that the component has. `both`: it is the same in requests and in answers."""

    __slots__ = ("both", "name", "schema")
    name: str
    schema: Schema
    both: bool

    def __new__(cls, name: str, schema: Schema, *, both: bool = False) -> Self:
        """Return the reference to a component."""
        made = super().__new__(cls, f"#/components/schemas/{name}")
        made.name, made.schema, made.both = name, schema, both
        return made


def named(name: str, shape: Shape, *, both: bool = False) -> Shape:
    """Return a shape as a component of the description. `both`: it is the same in requests and in answers, as an action is."""
    return unchecked({"$ref": Component(name, shape.schema, both=both)})


def schema_of(given: Described, games: Games) -> Schema:
    """Return the schema of what an answer or a body looks like."""
    if isinstance(given, Shape):
        return given.schema
    return given if isinstance(given, dict) else given(games).schema


def reference(name: str) -> Schema:
    """Return a reference to a component that is described elsewhere."""
    return {"$ref": f"#/components/schemas/{name}"}


def camel(*words: str) -> str:
    """Return words as the name of a component.

    >>> camel("war_of_the_worlds", "end_turn")
    'WarOfTheWorldsEndTurn'
    """
    return "".join(part.capitalize() for word in words for part in word.split("_"))


def union(parts: Mapping[str, Shape], about: str, key: str = "type") -> Shape:
    """Return the shape of one of several components. `key` is the discriminator; `parts` has the component for each of its values."""
    return unchecked(
        {
            "oneOf": [part.schema for part in parts.values()],
            "discriminator": {"propertyName": key, "mapping": {value: part.schema["$ref"] for value, part in parts.items()}},
        },
        about,
    )


def growing(shape: Shape, key: str = "") -> Shape:
    """Return a union to which answers may add parts. `key`: the member by which they are told apart, if there is one."""
    return unchecked({**shape.schema, GROWS: key})


def extending(whole: Shape, fields: Fields, about: str) -> Shape:
    """Return the shape of an object that has all members of another one, which is a component, and further ones."""
    component = whole.schema["$ref"]
    schema = record(fields, about).schema
    properties = {**component.schema["properties"], **schema["properties"]}
    required = [*component.schema["required"], *(name for name in schema["required"] if name not in component.schema["required"])]
    return unchecked({**schema, "properties": properties, "required": required, EXTENDS: component})


def by_game(name: str, about: str, make: Callable[[Game], Shape]) -> Callable[[Games], Shape]:
    """Return what is described for each game on its own, by `game`."""

    def described_for(games: Games) -> Shape:
        parts = {game.id: named(f"{camel(game.id)}{name}", make(game)) for game in games.values()}
        return named(name, growing(union(parts, about, "game"), "game"))

    return described_for


def of_match(game: Game) -> dict[str, Shape]:
    """Return the first fields of an answer about a match of a game."""
    return {"match": MATCH_ID, "game": always(game.id)}


def versions(about: str) -> Shape:
    """Return the shape of the version of an entry, which is at least 1."""
    return whole(1, LARGEST, about)


ANY_TEXT = text()
SEAT = text(patterns.anchored(patterns.SEAT), "A seat of the match's game.")
MATCH_ID = text(patterns.anchored(patterns.MATCH), "The id of the match.")
PLAYER_ID = text(patterns.anchored(patterns.PLAYER), "The id of a player.")
KEY_ID = text(patterns.anchored(patterns.KEY), "The id of a key.")
GAME_ID = text(about="The id of the game.")
DIGEST = text(patterns.anchored(patterns.DIGEST), "A SHA-256, in hex.")
CONTENT_HASH = text(patterns.anchored(patterns.CONTENT_HASH), "A content hash of rules.")
RULE_ID = text(patterns.anchored(patterns.RULE))
VERSION = whole(0, LARGEST, "How many entries the match has at this point.")
TIME = whole(0, about="Milliseconds since 1970-01-01T00:00Z.")
COUNT = whole(0)
SHARE = unchecked({"type": "number", "minimum": 0, "maximum": 1}, "A share of a victory.")
RECEIPT = text(about="The receipt of this version: a signed note with its digest. Keep it (docs/auditing.md).")
VIEWER = named("Viewer", text(about="Who sees it like this: a seat, `spectator` or `auditor`."))
ROUND = named("Round", whole(1, LARGEST, "The number of the round, from 1."))
PHASE = text(about="The kind of decision that is due, a word of the game.")
ACTIVE = nullable(described(SEAT, "The seat whose turn it is, or null."))
UPDATED = described(TIME, "When the match last changed, in milliseconds since 1970-01-01T00:00Z.")
TO_ACT = named("ToAct", listing(ANY_TEXT, about="The actors who must decide now: seats or `system`. Empty when the match is over."))
LEVEL = named("LevelId", ids(LEVELS, "A level of play."))
PLAYERS = named(
    "PlayerNames",
    mapping(
        PLAYER_ID,
        named("PlayerName", record({"name": nullable(text(about="The name. It is null if the player is deleted."))}, "A player.")),
        "The players whom the answer names, by id.",
    ),
)
NEXT = nullable(text(about="The `cursor` of the next page; null after the last one."))
OUTCOME_REACHED = named(
    "Outcome",
    unchecked(
        {
            "type": "object",
            "properties": {
                "winners": listing(SEAT, about="One seat, or those that share the victory.").schema,
                "reason": text(about="Why the match is over, a word of the game.").schema,
                "scores": {"type": "object", "additionalProperties": True, "description": "Points by seat."},
            },
            "required": ["winners", "reason"],
            "additionalProperties": True,
        },
        "Who won, and why.",
    ),
)
OUTCOME = nullable(described(OUTCOME_REACHED, "Who won, and why; null while the match goes on."))
COMMON = {
    "SeatId": SEAT,
    "MatchId": MATCH_ID,
    "PlayerId": PLAYER_ID,
    "KeyId": KEY_ID,
    "Digest": DIGEST,
    "ContentHash": CONTENT_HASH,
    "DisputeNumber": DISPUTE_NUMBER,
    "WrittenText": DISPUTE_TEXT,
    "Proposal": PROPOSAL,
    "LevelId": ids(LEVELS, "A level of play."),
    "Name": unchecked({"type": "string", "minLength": 1, "maxLength": LONGEST_NAME, "pattern": patterns.anchored(NAME)}, "A name."),
}
"""What has a component of its own wherever it occurs, in the shapes of games and of the table too."""
