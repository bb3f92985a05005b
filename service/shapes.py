"""The schemas of what the service sends, by the name that they have among the components of openapi.yaml.

`platform` describes what is the same in every game, `of_game` one game's actions, events, document and view. A game's union of actions
is told apart by `type`; the unions over all games by nothing but their shapes (docs/decisions/0103), since two games may well share a
`type` such as `end_turn`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from events.play import LONGEST_LIST
from games.kernel import SHARED_REFUSALS, Game
from games.schema import always, record
from service.problems import CODES
from service.schemas import CONTRIBUTION, LARGEST, MATCH_ID, PLAYER_ID

Schema = dict[str, Any]

SEAT: Schema = {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,31}$"}
VERSION: Schema = {"type": "integer", "minimum": 0, "maximum": LARGEST, "description": "How many entries the match has by then."}
TIME: Schema = {"type": "integer", "minimum": 0, "description": "Milliseconds since 1970-01-01T00:00Z."}
DIGEST: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
ANYTHING: Schema = {"type": "object", "additionalProperties": True}


def ref(name: str) -> Schema:
    """A reference to a component."""
    return {"$ref": f"#/components/schemas/{name}"}


def listed(items: Schema, about: str | None = None) -> Schema:
    """A list."""
    return {"type": "array", "items": items, **({"description": about} if about else {})}


def told(fields: Mapping[str, Schema], about: str, optional: tuple[str, ...] = ()) -> Schema:
    """An object with these fields and no other."""
    return {
        "type": "object",
        "description": about,
        "properties": dict(fields),
        "required": [name for name in fields if name not in optional],
        "additionalProperties": False,
    }


def blank_or(schema: Schema) -> Schema:
    """This, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def camel(*words: str) -> str:
    """`war_of_the_worlds`, `end_turn` as `WarOfTheWorldsEndTurn`."""
    return "".join(part.capitalize() for word in words for part in word.split("_"))


def of_game(game: Game) -> dict[str, Schema]:
    """The components of one game: each action, event and refusal code, its options, document and view."""
    own = camel(game.id)
    actions = {f"{own}{camel(kind)}": record({"type": always(kind), **deed.fields}).schema for kind, deed in game.deeds().items()}
    events = {f"{own}{camel(kind)}Event": record({"type": always(kind), **fields}).seen for kind, fields in game.events.items()}
    found = {
        **actions,
        f"{own}Action": _union(actions, list(game.deeds()), f"An action of {game.title}"),
        **events,
        f"{own}Event": _union(events, list(game.events), f"An event of {game.title}, as its viewer may see it"),
        f"{own}Options": game.options.schema,
        f"{own}Document": game.document.schema,
        f"{own}View": game.document.seen,
        f"{own}RefusalCode": {
            "type": "string",
            "enum": list({**SHARED_REFUSALS, **game.refusals}),
            "description": f"Why {game.title} refuses.",
        },
        f"{own}NewMatch": _new_match(game, own),
    }
    return _with_names(own, found, {f"{own}Seat": list(game.seats.ids)})


def _union(parts: Mapping[str, Schema], kinds: list[str], about: str) -> Schema:
    mapping = {kind: f"#/components/schemas/{name}" for kind, name in zip(kinds, parts, strict=True)}
    return {"description": about, "oneOf": [ref(name) for name in parts], "discriminator": {"propertyName": "type", "mapping": mapping}}


def _new_match(game: Game, own: str) -> Schema:
    who = ref("SeatRequest")
    return told(
        {
            "game": {"type": "string", "const": game.id},
            "seats": {
                "type": "object",
                "description": "Who sits where, in order round the table.",
                "properties": dict.fromkeys(game.seats.ids, who),
                "minProperties": game.seats.least,
                "maxProperties": game.seats.most,
                "additionalProperties": False,
            },
            "options": ref(f"{own}Options"),
        },
        f"A match of {game.title} to be.",
        optional=("options",),
    )


def _with_names(own: str, found: dict[str, Schema], known: Mapping[str, list[str]]) -> dict[str, Schema]:
    """The same components, with every list of ids that stands in several places made a component of its own, named for where it stands."""
    places: dict[tuple[str, ...], Counter[str]] = {}
    for schema in found.values():
        for key, values in _enums(schema, ""):
            places.setdefault(values, Counter())[key] += 1
    names = {tuple(values): name for name, values in known.items()}
    taken = {*found, *names.values()}
    for values, keys in places.items():
        if values in names or sum(keys.values()) < 2:
            continue
        key = min(keys, key=lambda key: (-keys[key], key))
        name = next(name for name in (f"{own}{camel(key)}", *(f"{own}{camel(key)}Id{n or ''}" for n in range(99))) if name not in taken)
        names[values] = name
        taken.add(name)
    named = {name: _referred(schema, names) for name, schema in found.items()}
    return {**{name: {"type": "string", "enum": list(values)} for values, name in names.items()}, **named}


def _enums(schema: Any, key: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(schema, list):
        for item in schema:
            yield from _enums(item, key)
        return
    if not isinstance(schema, dict):
        return
    if _is_enum(schema) and key:
        yield key, tuple(schema["enum"])
        return
    for name, inner in schema.get("properties", {}).items():
        yield from _enums(inner, name)
    for part in ("anyOf", "oneOf"):
        yield from _enums(schema.get(part), key)
    yield from _enums(schema.get("items"), key.removesuffix("s"))
    yield from _enums(schema.get("additionalProperties"), key.removesuffix("s"))


def _is_enum(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "string" and len(schema.get("enum", ())) > 1


def _referred(schema: Any, names: Mapping[tuple[str, ...], str]) -> Any:
    if isinstance(schema, list):
        return [_referred(item, names) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if _is_enum(schema) and tuple(schema["enum"]) in names:
        return ref(names[tuple(schema["enum"])])
    return {key: inner if key == "propertyNames" else _referred(inner, names) for key, inner in schema.items()}


def platform(games: Mapping[str, Game], levels: list[str]) -> dict[str, Schema]:
    """The components that are the same in every game, and the unions over the games."""
    own = [camel(game) for game in games]
    whole = {"type": "integer", "minimum": 0}
    return {
        "Action": {"description": "An action of the match's game.", "anyOf": [ref(f"{name}Action") for name in own]},
        "Actions": {
            "description": "One action, or several that are carried out all or none, each as an entry of its own.",
            "anyOf": [ref("Action"), {"type": "array", "items": ref("Action"), "minItems": 1, "maxItems": LONGEST_LIST}],
        },
        "NewMatch": {
            "description": "A match to be.",
            "oneOf": [ref(f"{name}NewMatch") for name in own],
            "discriminator": {"propertyName": "game", "mapping": {game: ref(f"{camel(game)}NewMatch")["$ref"] for game in games}},
        },
        "SeatRequest": {
            "type": "string",
            "enum": ["me", "open", *(f"ai:{level}" for level in levels)],
            "description": "`me`: the caller; `open`: whoever takes it; `ai:<level>`: an artificial player.",
        },
        "View": {
            "description": "The match's document as its viewer may see it.",
            "oneOf": [ref(f"{name}View") for name in own],
            "discriminator": {"propertyName": "game", "mapping": {game: ref(f"{camel(game)}View")["$ref"] for game in games}},
        },
        "Event": {
            "description": "A fact: of the platform or of the match's game, as its viewer may see it.",
            "anyOf": [ref("PlatformEvent"), *(ref(f"{name}Event") for name in own)],
        },
        "PlatformEvent": {
            "description": "A fact about the match as such.",
            "oneOf": [ref("MatchCreatedEvent"), ref("SeatTakenEvent")],
            "discriminator": {
                "propertyName": "type",
                "mapping": {"match_created": ref("MatchCreatedEvent")["$ref"], "seat_taken": ref("SeatTakenEvent")["$ref"]},
            },
        },
        "MatchCreatedEvent": told(
            {
                "type": {"type": "string", "const": "match_created"},
                "game": {"type": "string"},
                "options": ANYTHING,
                "seats": {"type": "object", "additionalProperties": ref("Holder")},
                "commitment": {**DIGEST, "description": "SHA-256 of the match's secret, in hex."},
                "document": ref("View"),
            },
            "A match was created.",
        ),
        "SeatTakenEvent": told(
            {
                "type": {"type": "string", "const": "seat_taken"},
                "seat": SEAT,
                "player": {"type": "string", "pattern": PLAYER_ID},
                "contribution": blank_or({"type": "string", "pattern": CONTRIBUTION}),
            },
            "A player took an open seat.",
        ),
        "Holder": {
            "description": "Who holds a seat: a player, an artificial player, or nobody yet.",
            "anyOf": [
                told({"player": {"type": "string", "pattern": PLAYER_ID}}, "A player."),
                told({"ai": {"type": "string", "enum": levels}}, "An artificial player, by level."),
                told({"open": {"type": "boolean", "const": True}}, "Nobody yet."),
            ],
        },
        "Player": told(
            {
                "id": blank_or({"type": "string", "pattern": PLAYER_ID}),
                "name": {"type": "string"},
                "role": {"type": "string", "enum": ["player", "referee", "admin"]},
            },
            "A player. The holder of the admin key has no id.",
        ),
        "NewPlayer": told(
            {
                "id": {"type": "string", "pattern": PLAYER_ID},
                "name": {"type": "string"},
                "role": {"type": "string", "enum": ["player", "referee", "admin"]},
                "key": {"type": "string", "description": "The bearer key. It is shown this once and stored as a hash only."},
            },
            "A player, just made, and the key.",
        ),
        "Level": told(
            {
                "id": {"type": "string", "enum": levels},
                "seat": {"type": "string", "description": "What to write for a seat when creating a match."},
                "about": {"type": "string"},
            },
            "An artificial player.",
        ),
        "GameInBrief": told(
            {
                "id": {"type": "string"},
                "title": {"type": "string"},
                "seats": {"type": "array", "items": SEAT},
                "least_seats": whole,
                "most_seats": whole,
                "revision": whole,
            },
            "A game in brief.",
        ),
        "Game": told(
            {
                "id": {"type": "string"},
                "title": {"type": "string"},
                "seats": {"type": "array", "items": SEAT},
                "least_seats": whole,
                "most_seats": whole,
                "revision": {**whole, "description": "The revision of its rules; it rises when a ruling changes play."},
                "options": {**ANYTHING, "description": "JSON Schema of the options of a match."},
                "levels": listed(ref("Level"), "The artificial players."),
                "refusals": {
                    "type": "object",
                    "additionalProperties": {"type": "string"},
                    "description": "Every code of its refusals with its sentence; in braces, the facts of the case.",
                },
            },
            "A game: who can play it and how it can be set up.",
        ),
        "Games": told({"games": listed(ref("GameInBrief"))}, "The games that can be played here."),
        "Rule": told(
            {
                "id": {"type": "string"},
                "section": {"type": "string"},
                "source": blank_or({"type": "string", "description": "S: stated in the rulebook; P: a public source; R: a ruling."}),
                "text": {"type": "string", "description": "In Markdown."},
            },
            "One rule.",
        ),
        "Rules": told(
            {"game": {"type": "string"}, "revision": whole, "rules": listed(ref("Rule"))}, "The rules of a game, in their order."
        ),
        "GameSchema": told(
            {
                "game": {"type": "string"},
                **{
                    name: {**ANYTHING, "description": "JSON Schema (2020-12)."}
                    for name in ("document", "view", "options", "action", "event")
                },
                "actions": {"type": "object", "additionalProperties": ANYTHING, "description": "JSON Schema of each action, by its type."},
                "events": {
                    "type": "object",
                    "additionalProperties": ANYTHING,
                    "description": "JSON Schema of each event as shown, by its type.",
                },
            },
            "What the JSON of a game looks like.",
        ),
        "Outcome": {
            "type": "object",
            "description": "Who has won, and why.",
            "properties": {
                "winners": listed(SEAT),
                "reason": {"type": "string"},
                "scores": {"type": "object", "additionalProperties": True},
            },
            "required": ["winners", "reason"],
            "additionalProperties": True,
        },
        "Choice": told(
            {
                "action": {**ANYTHING, "description": "Complete, unless `choose` names fields that are still to be chosen."},
                "choose": {
                    "type": "object",
                    "description": "By field: what may be chosen.",
                    "additionalProperties": {"anyOf": [ref("Range"), ref("Counts")]},
                },
            },
            "A legal choice. Without `choose`, submit `action` as it is.",
            optional=("choose",),
        ),
        "Range": {
            "type": "array",
            "items": {"type": "integer"},
            "minItems": 2,
            "maxItems": 2,
            "description": "The lowest and the highest number that may be chosen.",
        },
        "Counts": told(
            {"each": {"type": "object", "additionalProperties": ref("Range")}, "total": ref("Range")},
            "Counts of like things: each within its range, their sum within `total`.",
        ),
        "Choices": told(
            {
                "match": {"type": "string", "pattern": MATCH_ID},
                "version": VERSION,
                "seat": SEAT,
                "to_act": listed({"type": "string"}, "The actors who must decide now: seats, `system`, or nobody when it is over."),
                "choices": listed(ref("Choice")),
            },
            "What a seat may do now; nothing if it is not to act.",
        ),
        "State": told(
            {"match": {"type": "string", "pattern": MATCH_ID}, "version": VERSION, "viewer": {"type": "string"}, "view": ref("View")},
            "A match at a version, as a viewer may see it.",
        ),
        "Entry": told(
            {
                "version": {**VERSION, "minimum": 1},
                "actor": {"type": "string", "description": "A seat, `system`, or for `create_match` and `take_seat` a player's id."},
                "action": {**ANYTHING, "description": "As it was accepted; `type` alone where it holds what its viewer may not know."},
                "events": listed(ref("Event")),
                "rules": {**whole, "description": "The revision of the rules by which it was decided."},
                "at": TIME,
                "digest": {
                    **DIGEST,
                    "description": "For those who may audit: SHA-256 over the digest before and this entry (docs/auditing.md).",
                },
            },
            "One accepted action with the facts that followed, as its viewer may see it.",
            optional=("digest",),
        ),
        "Entries": told(
            {
                "match": {"type": "string", "pattern": MATCH_ID},
                "viewer": {"type": "string"},
                "after": VERSION,
                "version": {**VERSION, "description": "The version of the last entry here; `after` if there is none. Go on from it."},
                "entries": listed(ref("Entry")),
            },
            "Entries of a match, oldest first.",
        ),
        "Played": told(
            {
                "match": {"type": "string", "pattern": MATCH_ID},
                "seat": SEAT,
                "first": {**VERSION, "minimum": 1, "description": "The version of the first action's entry."},
                "version": {**VERSION, "minimum": 1, "description": "The version of the last action's entry, and of the match then."},
                "round": {"type": "integer"},
                "phase": {"type": "string"},
                "active": blank_or(SEAT),
                "to_act": listed({"type": "string"}),
                "outcome": blank_or(ref("Outcome")),
                "entries": listed(ref("Entry"), "An entry for each action, as your seat may see it."),
                "choices": listed(ref("Choice"), "What your seat may do next."),
            },
            "What followed from your actions.",
        ),
        "Standing": told(_standing(games), "Where a match stands, for lists."),
        "Match": told(
            {**_standing(games), "version": VERSION, "rules": {**whole, "description": "The revision of the rules it is played by."}},
            "Where a match stands, with its version.",
        ),
        "Matches": told(
            {"matches": listed(ref("Standing")), "next": blank_or({"type": "string", "description": "The `cursor` of the next page."})},
            "Matches, newest first.",
        ),
        "Finding": told(
            {"version": VERSION, "code": {"type": "string"}, "detail": {"type": "string"}},
            "Something that is not as it should be.",
        ),
        "Audit": told(
            {
                "ok": {"type": "boolean"},
                "match": {"type": "string", "pattern": MATCH_ID},
                "game": {"type": "string"},
                "versions": VERSION,
                "digest": {**DIGEST, "description": "The digest of the last entry, which binds all of them."},
                "commitment": {"type": "string", "enum": ["kept", "broken", "sealed"]},
                "dice": {"type": "string", "enum": ["verified", "sealed"]},
                "rules": listed(whole, "The revisions of the rules that the entries name."),
                "findings": listed(ref("Finding"), "What is not as it must be; empty when all is well."),
            },
            "The report of an audit.",
        ),
        "Health": told({"status": {"type": "string", "enum": ["ok"]}}, "All is well."),
        "Problem": _problem(own),
        "ProblemCode": {"type": "string", "enum": [*CODES], "description": "Why the platform refuses."},
        "ProblemKind": told(
            {"code": ref("ProblemCode"), "status": {"type": "integer"}, "title": {"type": "string"}, "detail": {"type": "string"}},
            "One kind of problem: its status, its title, and its sentence with the facts of a case in braces.",
        ),
        "ProblemKinds": told({"problems": listed(ref("ProblemKind"))}, "Every kind of problem."),
    }


def _standing(games: Mapping[str, Game]) -> dict[str, Schema]:
    return {
        "id": {"type": "string", "pattern": MATCH_ID},
        "game": {"type": "string", "enum": list(games)},
        "status": {"type": "string", "enum": ["open", "playing", "over"]},
        "created": TIME,
        "creator": {"type": "string", "pattern": PLAYER_ID},
        "options": ANYTHING,
        "order": listed(SEAT, "The seats, in turn order."),
        "seats": {"type": "object", "additionalProperties": ref("Holder"), "description": "Who holds each seat."},
        "round": {"type": "integer"},
        "phase": {"type": "string"},
        "active": blank_or(SEAT),
        "to_act": listed(
            {"type": "string"}, "The actors who must decide now: seats or `system`; nobody while a seat is open or when it is over."
        ),
        "outcome": blank_or(ref("Outcome")),
        "commitment": {**DIGEST, "description": "SHA-256 of the match's secret, in hex; published before anybody joined."},
        "secret": blank_or({**DIGEST, "description": "The secret, in hex, once the match is over."}),
    }


def _problem(own: list[str]) -> Schema:
    return told(
        {
            "type": {"type": "string", "format": "uri-reference", "description": "Where the kind of problem is explained."},
            "title": {"type": "string"},
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "code": {"anyOf": [ref("ProblemCode"), *(ref(f"{name}RefusalCode") for name in own)], "description": "Stable; to act upon."},
            "detail": {"type": "string", "description": "What was asked and what holds, in a sentence."},
            "errors": listed(
                told({"where": {"type": "string"}, "what": {"type": "string"}}, "What is wrong in one place."),
                "Where a request is malformed.",
            ),
            "version": {**VERSION, "description": "When stale: the version of the match now."},
            "game": {"type": "string", "description": "When refused by the rules: the game."},
            "rule": blank_or({"type": "string", "description": "When refused by the rules: the id of the rule, if one is named."}),
            "facts": {**ANYTHING, "description": "When refused by the rules: the facts of the case."},
            "place": {"type": "integer", "minimum": 0, "description": "When one of a list of actions is refused: which, from 0."},
        },
        "Why a request failed (RFC 9457).",
        optional=("errors", "version", "game", "rule", "facts", "place"),
    )
