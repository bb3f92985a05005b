"""The shapes of answers: how a view describes its answer, and the shapes that many views share (docs/decisions/0003).

A shape is exact: `record` names every member, `ids` every value. Tests check answers against the shapes. openapi.yaml is written from the
same shapes but promises less, since answers may grow (docs/decisions/0085): see `service/api/components.py`.

`named` gives a shape a name in the description. A reference carries its schema, so the description has only what is used:

>>> from games.schema import record, whole
>>> point = named("Point", record({"x": whole(0)}, "A point."))
>>> point.schema["$ref"], point.schema["$ref"].schema["properties"]
('#/components/schemas/Point', {'x': {'type': 'integer', 'minimum': 0}})
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from games import lifecycle, patterns
from games.kernel import Game
from games.schema import Fields, Schema, Shape, always, described, ids, listing, mapping, nullable, record, text, unchecked, whole
from service.http.limits import LONGEST_NAME
from service.http.schemas import LARGEST, NAME
from table.data import LEVELS
from table.state import DISPUTE_NUMBER, DISPUTE_TEXT, OVERRULED, PROPOSAL

EXAMPLES = Path(__file__).parent / "examples.json"
"""Answers of a real run, by name. `./run openapi --play` writes them (tools/examples.py)."""

GROWS = "x-grows"
"""In a union of answers: the member that tells the parts apart, or "". The description adds a part for unknown values."""

EXTENDS = "x-extends"
"""In an object of answers: the component that it extends. The description refers to it."""

Games = Mapping[str, Game]
Described = Shape | Schema | Callable[[Games], Shape]
"""The shape or the schema of an answer or a body. If it depends on the games, it is a function of them."""


class Component(str):
    """A reference to a component, with its schema. `both`: the component is the same in requests and answers."""

    __slots__ = ("both", "name", "schema")
    name: str
    schema: Schema
    both: bool

    def __new__(cls, name: str, schema: Schema, *, both: bool = False) -> Self:
        """Return a reference to the component with this name."""
        made = super().__new__(cls, f"#/components/schemas/{name}")
        made.name, made.schema, made.both = name, schema, both
        return made


def named(name: str, shape: Shape, *, both: bool = False) -> Shape:
    """Return a shape as a component of the description. `both`: it is the same in requests and answers, as an action is."""
    return unchecked({"$ref": Component(name, shape.schema, both=both)})


def schema_of(given: Described, games: Games) -> Schema:
    """Return the schema of an answer or a body."""
    if isinstance(given, Shape):
        return given.schema
    return given if isinstance(given, dict) else given(games).schema


def reference(name: str) -> Schema:
    """Return a reference to a component that is described elsewhere."""
    return {"$ref": f"#/components/schemas/{name}"}


def camel(*words: str) -> str:
    """Return the name of a component made of words.

    >>> camel("war_of_the_worlds", "end_turn")
    'WarOfTheWorldsEndTurn'
    """
    return "".join(part.capitalize() for word in words for part in word.split("_"))


def prefix(game: Game) -> str:
    """Return what the names of a game's components begin with: the code in the ids of the rules that its deeds carry out, or else its id.

    >>> from games import GAMES
    >>> [prefix(game) for game in GAMES.values()]
    ['War', 'Wow', 'Woc']
    """
    named_rules = (_CODE_OF_RULES.search(deed.act.__doc__ or "") for deed in game.deeds().values())
    return next((found[1].capitalize() for found in named_rules if found), camel(game.id))


_CODE_OF_RULES = re.compile(r"\b([A-Z]{2,4})-[A-Z]{2,4}-[0-9]{2}\b")


def union(parts: Mapping[str, Shape], about: str, key: str = "type") -> Shape:
    """Return the shape of a union of components. `key` is the discriminator; `parts` has a component for each of its values."""
    return unchecked(
        {
            "oneOf": [part.schema for part in parts.values()],
            "discriminator": {"propertyName": key, "mapping": {value: part.schema["$ref"] for value, part in parts.items()}},
        },
        about,
    )


def growing(shape: Shape, key: str = "") -> Shape:
    """Return a union that may get further parts in answers. `key`: the member that tells the parts apart, if there is one."""
    return unchecked({**shape.schema, GROWS: key})


def extending(whole: Shape, fields: Fields, about: str) -> Shape:
    """Return the shape of an object with the members of a component, `whole`, and further members."""
    component = whole.schema["$ref"]
    schema = record(fields, about).schema
    properties = {**component.schema["properties"], **schema["properties"]}
    required = [*component.schema["required"], *(name for name in schema["required"] if name not in component.schema["required"])]
    return unchecked({**schema, "properties": properties, "required": required, EXTENDS: component})


def by_game(name: str, about: str, make: Callable[[Game], Shape]) -> Callable[[Games], Shape]:
    """Return a union with a component for each game. `game` is the discriminator."""

    def described_for(games: Games) -> Shape:
        parts = {game.id: named(f"{prefix(game)}{name}", make(game)) for game in games.values()}
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
PUZZLE_ID = text(patterns.anchored(patterns.PUZZLE), "The id of the puzzle.")
HOOK_ID = text(patterns.anchored(patterns.HOOK), "The id of a webhook.")
KEY_ID = text(patterns.anchored(patterns.KEY), "The id of a key.")
GAME_ID = text(about="The id of the game.")
DIGEST = text(patterns.anchored(patterns.DIGEST), "A SHA-256, in hex.")
CONTENT_HASH = text(patterns.anchored(patterns.CONTENT_HASH), "A content hash of rules.")
RULE_ID = text(patterns.anchored(patterns.RULE))
RULE_IDS = named("RuleIds", listing(RULE_ID, about="The ids of the rules behind it (`get_rule`)."))
VERSION = whole(0, LARGEST, "How many entries the match has.")
TIME = whole(0, about="Milliseconds since 1970-01-01T00:00Z.")
COUNT = whole(0)
REVISION = described(COUNT, "The revision of the game's rules. It rises when a ruling changes play.")
SHARE = unchecked({"type": "number", "minimum": 0, "maximum": 1}, "A share of a victory.")
SIGNED = named(
    "Signed",
    record(
        {
            "key": text(patterns.anchored(patterns.SIGNING_KEY), "The public Ed25519 key, in base64."),
            "seen": versions("The version that the actor saw."),
            "place": whole(1, about="Which action of its request this is."),
            "count": whole(1, about="How many actions the request had."),
            "signature": text(patterns.anchored(patterns.SIGNATURE), "The signature of the statement of the move, in base64."),
        },
        "The actor's signature (docs/auditing.md). An unsigned entry has none.",
    ),
)
RECEIPT = text(about="The receipt of this version: a signed note with its digest. Keep it (docs/auditing.md).")
VIEWER = named("Viewer", text(about="The viewer: a seat, `spectator` or `auditor`."))
ROUND = lifecycle.ROUND
PHASE = text(about="The kind of decision that is due, an id of the game.")
ACTIVE = nullable(described(SEAT, "The seat whose turn it is, or null."))
UPDATED = described(TIME, "When the match last changed, in milliseconds since 1970.")
TO_ACT = named("ToAct", listing(ANY_TEXT, about="The actors who must decide now: seats or `system`. Empty when the match is over."))
LEVEL = named("LevelId", ids(LEVELS, "A level of play."))
PLAYERS = named(
    "PlayerNames",
    mapping(
        PLAYER_ID,
        named("PlayerName", record({"name": nullable(text(about="The name; null for a deleted player."))}, "A player.")),
        "The players in the answer, by id.",
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
                "reason": text(about="Why the match is over, an id of the game.").schema,
                "scores": {"type": "object", "additionalProperties": True, "description": "Points by seat."},
                "overruled": OVERRULED.schema,
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
    "HookId": HOOK_ID,
    "PuzzleId": PUZZLE_ID,
    "Digest": DIGEST,
    "ContentHash": CONTENT_HASH,
    "DisputeNumber": DISPUTE_NUMBER,
    "WrittenText": DISPUTE_TEXT,
    "Proposal": PROPOSAL,
    "Moment": TIME,
    "Round": ROUND,
    "Revision": REVISION,
    "LevelId": ids(LEVELS, "A level of play."),
    "Name": unchecked({"type": "string", "minLength": 1, "maxLength": LONGEST_NAME, "pattern": patterns.anchored(NAME)}, "A name."),
}
"""Shapes that are a component wherever they occur, also in the shapes of games and of the table."""
