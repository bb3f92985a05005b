"""The schemas of what the service sends, by the name that they have among the components of openapi.yaml.

Here are one game's: its actions, events, document and view, and the answers that hold them; what is the same in every game is in
service/envelopes.py. Within a game, actions and events are told apart by `type`; answers of different games by `game`. Two games may well
share a `type` such as `end_turn`, so the union of all actions is an `anyOf` over the games (docs/decisions/0032).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from games.kernel import SHARED_REFUSALS, Game
from games.schema import always, record
from service.schemas import LARGEST, MATCH_ID

Schema = dict[str, Any]

SEAT: Schema = {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,31}$"}
VERSION: Schema = {"type": "integer", "minimum": 0, "maximum": LARGEST, "description": "How many entries the match has by then."}
TIME: Schema = {"type": "integer", "minimum": 0, "description": "Milliseconds since 1970-01-01T00:00Z."}
DIGEST: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
WHOLE: Schema = {"type": "integer", "minimum": 0}
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
    kinds = {**dict(zip(game.events, events, strict=True)), "match_created": f"{own}MatchCreatedEvent", "seat_taken": "SeatTakenEvent"}
    found = {
        **actions,
        f"{own}Action": union(dict(zip(game.deeds(), actions, strict=True)), f"An action of {game.title}"),
        **events,
        f"{own}MatchCreatedEvent": _match_created(own),
        f"{own}Event": union(kinds, f"A fact of a match of {game.title}, as its viewer may see it."),
        f"{own}Options": game.options.schema,
        f"{own}Document": game.document.schema,
        f"{own}View": game.document.seen,
        f"{own}RefusalCode": {
            "type": "string",
            "enum": list({**SHARED_REFUSALS, **game.refusals}),
            "description": f"Why {game.title} refuses.",
        },
        f"{own}NewMatch": _new_match(game, own),
        f"{own}State": _state(game, own),
        f"{own}Entry": _entry(game, own),
        f"{own}Entries": _entries(game, own),
        f"{own}Played": _played(game, own),
    }
    return _with_names(own, found, {f"{own}Seat": list(game.seats.ids)})


def union(parts: Mapping[str, str], about: str, key: str = "type") -> Schema:
    """One of several components, told apart by the value of `key`."""
    mapping = {kind: f"#/components/schemas/{name}" for kind, name in parts.items()}
    return {
        "description": about,
        "oneOf": [ref(name) for name in parts.values()],
        "discriminator": {"propertyName": key, "mapping": mapping},
    }


def _match_created(own: str) -> Schema:
    return told(
        {
            "type": {"type": "string", "const": "match_created"},
            "game": {"type": "string"},
            "seats": {"type": "object", "additionalProperties": ref("Occupant")},
            "commitment": {**DIGEST, "description": "SHA-256 of the match's secret, in hex."},
            "document": ref(f"{own}View"),
        },
        "A match was created.",
    )


def _state(game: Game, own: str) -> Schema:
    return told(
        {**_match(game), "version": VERSION, "viewer": {"type": "string"}, "view": ref(f"{own}View")},
        f"A match of {game.title} at a version, as its viewer may see it.",
    )


def _entry(game: Game, own: str) -> Schema:
    return told(
        {
            "version": {**VERSION, "minimum": 1},
            "actor": {"type": "string", "description": "A seat, `system`, or for `create_match` and `take_seat` a player's id."},
            "action": {**ANYTHING, "description": "As it was accepted; its `type` alone where it holds what its viewer may not know."},
            "events": listed(ref(f"{own}Event")),
            "rules": {**WHOLE, "description": "The revision of the rules by which it was decided."},
            "at": TIME,
            "digest": {**DIGEST, "description": "For an auditor: SHA-256 over the digest before and this entry (docs/auditing.md)."},
        },
        f"One accepted action of a match of {game.title} with the facts that followed, as its viewer may see it.",
        optional=("digest",),
    )


def _entries(game: Game, own: str) -> Schema:
    return told(
        {
            **_match(game),
            "viewer": {"type": "string"},
            "after": VERSION,
            "version": {**VERSION, "description": "The version of the last entry here; `after` if there is none. Go on from it."},
            "entries": listed(ref(f"{own}Entry")),
        },
        f"Entries of a match of {game.title}, oldest first.",
    )


def _played(game: Game, own: str) -> Schema:
    return told(
        {
            **_match(game),
            "seat": SEAT,
            "first": {**VERSION, "minimum": 1, "description": "The version of the first action's entry."},
            "version": {**VERSION, "minimum": 1, "description": "The version of the last action's entry, and of the match then."},
            "round": {"type": "integer"},
            "phase": {"type": "string"},
            "active": blank_or(SEAT),
            "to_act": listed({"type": "string"}),
            "outcome": blank_or(ref("Outcome")),
            "entries": listed(ref(f"{own}Entry"), "An entry for each action, as your seat may see it."),
            "choices": listed(ref("Choice"), "What your seat may do next."),
        },
        f"What followed from your actions in a match of {game.title}.",
    )


def _match(game: Game) -> dict[str, Schema]:
    return {"match": {"type": "string", "pattern": MATCH_ID}, "game": {"type": "string", "const": game.id}}


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
    """The schema with references for its lists of ids, and in the words that every reader of openapi.yaml understands."""
    if isinstance(schema, list):
        return [_referred(item, names) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if _is_enum(schema) and tuple(schema["enum"]) in names:
        return ref(names[tuple(schema["enum"])])
    told = {key: inner if key == "propertyNames" else _referred(inner, names) for key, inner in schema.items()}
    if told.get("type") == "integer" and "enum" not in told:
        # What is beyond cannot be counted exactly in every language and is refused before the rules see it.
        told = {"minimum": -LARGEST, "maximum": LARGEST, **told}
    if "anyOf" in told:
        # Makers of clients try one part after the other, but give up at a `const` that differs.
        told["anyOf"] = [
            {**{key: value for key, value in part.items() if key != "const"}, "enum": [part["const"]]} if "const" in part else part
            for part in told["anyOf"]
        ]
    return told
