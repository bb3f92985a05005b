"""The OpenAPI components of one game: its actions, events, document and view, and the answers that contain them.

service/api/shared_components.py has the components that all games share. Within a game, `type` is the discriminator of actions and events.
Between games, `game` is the discriminator of answers. Two games may share a `type` such as `end_turn`. So the union of all actions is an
`anyOf` over the games (docs/decisions/0032).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from games import patterns
from games.kernel import RESTORED, SHARED_REFUSALS, Game
from games.lifecycle import PREPARED
from games.schema import (
    Fields,
    Schema,
    Shape,
    always,
    described,
    either,
    flag,
    ids,
    listing,
    mapping,
    nullable,
    optional,
    record,
    text,
    unchecked,
    whole,
)
from service.http.schemas import LARGEST
from table.deeds import BEGINNINGS, DEEDS
from table.facts import FACTS as TABLE_EVENTS
from table.rules import is_for_seats
from table.session import BY_SYSTEM

ANY_TEXT = text()
SEAT = text(patterns.anchored(patterns.SEAT), "A seat of the match's game.")
MATCH_ID = text(patterns.anchored(patterns.MATCH), "The id of the match.")
PLAYER_ID = text(patterns.anchored(patterns.PLAYER), "The id of a player.")
KEY_ID = text(patterns.anchored(patterns.KEY), "The id of a key.")
DIGEST = text(patterns.anchored(patterns.DIGEST), "A SHA-256, in hex.")
CONTENT_HASH = text(patterns.anchored(patterns.CONTENT_HASH), "A content hash of rules.")
VERSION = whole(0, LARGEST, "How many entries the match has at this point.")
TIME = whole(0, about="Milliseconds since 1970-01-01T00:00Z.")
COUNT = whole(0)
SHARE = unchecked({"type": "number", "minimum": 0, "maximum": 1}, "A share of a victory.")
TO_ACT = "The actors who must decide now: seats or `system`. Empty when the match is over."
RECEIPT = text(about="The receipt of this version: a signed note with its digest. Keep it (docs/auditing.md).")
VIEWER = text(about="Who sees it like this: a seat, `spectator` or `auditor`.")
ROUND = whole(1, LARGEST, "The number of the round, from 1.")
PHASE = text(about="The kind of decision that is due, a word of the game.")
ACTIVE = nullable(described(SEAT, "The seat whose turn it is, or null."))


def reference(name: str) -> Schema:
    """Return a reference to a component."""
    return {"$ref": f"#/components/schemas/{name}"}


def ref(name: str) -> Shape:
    """Return the shape of a component."""
    return unchecked(reference(name))


WHOLE_DOCUMENTS = {
    PREPARED: "The first document of the match, as its viewer may see it.",
    RESTORED: "The document of the earlier version, as its viewer may see it.",
}
AT_TABLE: Fields = {
    "clocks": mapping(ANY_TEXT, ref("SeatClock"), "The clock of each seat; empty in a match without clocks."),
    "offers": mapping(ANY_TEXT, ref("OpenOffer"), "The open offers, by what is offered: draw, void, pause, resume or takeback."),
    "offers_made": mapping(ANY_TEXT, whole(1), "How many offers each seat has made; seats that made none are left out."),
    "votes": mapping(ANY_TEXT, ref("OpenVote"), "The open votes, by the seat whose time has run out."),
    "substitutes": mapping(
        ANY_TEXT, text(about="The level of play."), "The seats that an artificial player plays until their owners return."
    ),
    "handovers": mapping(ANY_TEXT, PLAYER_ID, "The seats that are offered to a player, each with that player."),
    "paused_until": nullable(described(TIME, "When the pause ends at the latest; null if the match is not paused.")),
    "disputes": listing(ref("DisputeStanding"), about="The disputes, in the order of their numbers from 1, without texts."),
    "disputed_since": nullable(described(TIME, "Since when the match is frozen by a dispute; null if it is not.")),
    "continued": nullable(described(ref("Continued"), "By a ruling, how the match goes on in another one; null otherwise.")),
}
OUTCOME = nullable(described(ref("Outcome"), "Who won, and why; null while the match goes on."))


def versions(about: str) -> Shape:
    """Return the shape of the version of an entry, which is at least 1."""
    return whole(1, LARGEST, about)


def camel(*words: str) -> str:
    """Return `war_of_the_worlds`, `end_turn` as `WarOfTheWorldsEndTurn`."""
    return "".join(part.capitalize() for word in words for part in word.split("_"))


def union(parts: Mapping[str, str], about: str, key: str = "type") -> Shape:
    """Return the shape of one of several components. `key` is the discriminator; `parts` names the component for each of its values."""
    return unchecked(
        {
            "oneOf": [reference(name) for name in parts.values()],
            "discriminator": {"propertyName": key, "mapping": {kind: reference(name)["$ref"] for kind, name in parts.items()}},
        },
        about,
    )


def summary(function: Callable[..., Any]) -> str:
    """Return the docstring of a deed or a fact as one line. It describes the action or the event in the API."""
    return " ".join((function.__doc__ or "").split())


def action_schema(kind: str, fields: Fields, about: str) -> Schema:
    """Return the schema of one action."""
    return record({"type": always(kind, "The type of the action."), **fields}, about).schema


def event_shape(kind: str, fields: Fields, about: str) -> Shape:
    """Return the shape of one event."""
    return record({"type": always(kind, "The type of the event."), **fields}, about)


def table_action_schemas() -> dict[str, Schema]:
    """Return the schema of each action at the table of a match, by type. Creating a match is another request."""
    return {kind: action_schema(kind, deed.fields, summary(deed.act)) for kind, deed in DEEDS.items() if kind not in BEGINNINGS}


def chosen_at_table() -> dict[str, str]:
    """Return the component of each action that a player may choose at the table, by type. The others are the system's."""
    return {kind: camel(kind) for kind, deed in DEEDS.items() if kind not in BEGINNINGS and deed.by != BY_SYSTEM}


def table_event_schemas() -> dict[str, Schema]:
    """Return the schema of each event of the table, by type."""
    return {kind: event_shape(kind, fields, summary(fact)).seen for kind, (fact, fields) in TABLE_EVENTS.items()}


def shown_at_table() -> dict[str, str]:
    """Return the component of each action at the table as entries show it, by type. Of some, spectators may see the type alone."""
    return {kind: f"Shown{camel(kind)}" if is_for_seats({"type": kind}) else camel(kind) for kind in DEEDS if kind not in BEGINNINGS}


def redacted_table_action_schemas() -> dict[str, Schema]:
    """Return the schemas of the actions at the table of which spectators may see the type alone, by component."""
    about = "Spectators may see its `type` alone until the match is over."
    return {
        f"Shown{camel(kind)}": action_schema(
            kind, {name: optional(shape) for name, shape in deed.fields.items()}, f"{summary(deed.act)} {about}"
        )
        for kind, deed in DEEDS.items()
        if is_for_seats({"type": kind})
    }


def action_schemas(game: Game) -> dict[str, Schema]:
    """Return the schema of each action of a game, by type."""
    return {kind: action_schema(kind, deed.fields, _meaning(game, kind)) for kind, deed in game.deeds().items()}


def _meaning(game: Game, kind: str) -> str:
    """Return what an action does. Deeds of one type may differ from phase to phase, as `advance` does."""
    meanings: dict[str, list[str]] = {}
    for phase, deeds in game.phases.items():
        if kind in deeds:
            meanings.setdefault(summary(deeds[kind].act), []).append(f"`{phase}`")
    if len(meanings) == 1:
        return next(iter(meanings))
    return " ".join(f"In the phase {' or '.join(phases)}: {meaning}" for meaning, phases in meanings.items())


def event_schemas(game: Game) -> dict[str, Schema]:
    """Return the schema of each event of a game as a viewer may see it, by type."""
    return {kind: event_shape(kind, fields, summary(game.facts[kind])).seen for kind, fields in game.events.items()}


def components(game: Game) -> dict[str, Schema]:
    """Return the components of one game, by name."""
    own = camel(game.id)
    actions = {f"{own}{camel(kind)}": schema for kind, schema in action_schemas(game).items()}
    events = {f"{own}{camel(kind)}Event": schema for kind, schema in event_schemas(game).items()}
    for kind, about in WHOLE_DOCUMENTS.items():
        whole = {**game.events[kind], "document": described(ref(f"{own}View"), about)}
        events[f"{own}{camel(kind)}Event"] = event_shape(kind, whole, summary(game.facts[kind])).schema
    kinds = {**dict(zip(game.events, events, strict=True)), **{kind: f"{camel(kind)}Event" for kind in TABLE_EVENTS}}
    deeds = {kind: f"{own}{camel(kind)}" for kind in game.deeds()}
    at_table = shown_at_table()
    chosen = chosen_at_table()
    redacted = {kind: f"{own}Shown{camel(kind)}" for kind in game.deeds() if kind in game.redacted}
    answers = {
        f"{own}Action": union(deeds, f"An action of {game.title}"),
        f"{own}PlayerAction": union({**deeds, **chosen}, f"An action in a match of {game.title}: of the game or of the table."),
        f"{own}EntryAction": union(
            {**deeds, **redacted, **at_table, **{kind: camel(kind) for kind in BEGINNINGS}},
            f"An accepted action in a match of {game.title}. Only its `type` if the viewer may not know the rest.",
        ),
        **{name: _redacted(game, kind) for kind, name in redacted.items()},
        f"{own}Choice": _choice(game, own),
        f"{own}Choices": _choices(game, own),
        f"{own}Event": union(kinds, f"An event of a match of {game.title}, as its viewer may see it."),
        f"{own}RefusalCode": ids({**SHARED_REFUSALS, **game.refusals}, f"Why {game.title} refuses."),
        f"{own}NewMatch": _new_match(game, own),
        f"{own}State": _state(game, own),
        f"{own}Entry": _entry(game, own),
        f"{own}Entries": _entries(game, own),
        f"{own}Played": _played(game, own),
        f"{own}Tried": _tried(game, own),
        f"{own}Hint": _hint(game, own),
        f"{own}Analysis": _analysis(game, own),
    }
    found = {
        **actions,
        **events,
        **{name: shape.schema for name, shape in answers.items()},
        **_options(game, own),
        f"{own}View": game.document.seen,
    }
    return _with_names(own, found, {f"{own}Seat": list(game.seats.ids)})


def _state(game: Game, own: str) -> Shape:
    return record(
        {
            **_match(game),
            "version": VERSION,
            "viewer": VIEWER,
            "view": described(ref(f"{own}View"), "The state document as the viewer may see it."),
            **AT_TABLE,
            "players": described(ref("PlayerNames"), "The players whom the answer names, by id."),
        },
        f"A match of {game.title} at a version, as its viewer may see it.",
    )


def _tried(game: Game, own: str) -> Shape:
    return record(
        {
            **_match(game),
            "seat": described(SEAT, "Your seat."),
            "version": described(VERSION, "The version from which it was tried."),
            "tried": described(COUNT, "How many of the actions were carried out."),
            "reveals": flag(
                "Whether the last action was left out, because it draws chance or reveals something. It can be sent as the last of a list."
            ),
            "view": described(ref(f"{own}View"), "The state document after the actions, as your seat would see it."),
            "choices": listing(ref(f"{own}Choice"), about="What you could do next in the game."),
            "frame": described(ref("TriedFrame"), "What would change in the picture of `version`, and the actions in sentences."),
        },
        f"What actions of yours would lead to in a match of {game.title}. Nothing was written.",
    )


def _hint(game: Game, own: str) -> Shape:
    option = record(
        {
            "action": described(ref(f"{own}Action"), "The action."),
            "worth": described(
                SHARE,
                "What the level expects after it: about the share of a victory if `tries` is above 0, otherwise a value that only orders "
                "the actions. The best is first, and worths never rise: an action that was followed less far than a better one is told as "
                "no better.",
            ),
            "tries": described(COUNT, "How often it was tried."),
        },
        "An action that the level has compared with others.",
    )
    return record(
        {
            **_match(game),
            "version": described(VERSION, "The version at which it is given."),
            "seat": described(SEAT, "Your seat."),
            "level": described(ANY_TEXT, "The level of play that gives it."),
            "action": described(ref(f"{own}Action"), "What the level would do."),
            "iterations": described(COUNT, "How often it has tried something; 0 for a level that does not search."),
            "options": listing(option, about="The actions that it has compared, the best first; empty for a level that does not search."),
        },
        f"What a level of play would do in a practice match of {game.title}.",
    )


def _analysis(game: Game, own: str) -> Shape:
    decision = record(
        {
            "version": versions("The version of the entry."),
            "seat": described(SEAT, "The seat that decided."),
            "action": described(ref(f"{own}Action"), "What it did."),
            "best": described(ref(f"{own}Action"), "What the level would have done. The same where it found nothing better."),
            "before": described(SHARE, "What the level expects with its own choice."),
            "chosen": described(SHARE, "What it expects after what the seat did, before any dice of it fall."),
            "loss": described(SHARE, "The difference: an error of the seat."),
            "after": described(SHARE, "What it expects when the seat decides next, or the result. Dice and other seats count here."),
            "expected": mapping(ANY_TEXT, SHARE, "What each seat could expect at this decision."),
        },
        "A decision, and what the level thinks of it by what the seat knew then. Worths are shares of a victory, from 0 to 1.",
    )
    return record(
        {
            **_match(game),
            "by": described(ref("Analyst"), "What has judged."),
            "outcome": described(ref("Outcome"), "Who won, and why."),
            "seats": mapping(ANY_TEXT, ref("SeatAnalysis"), "Each seat in figures."),
            "decisions": listing(decision, about="Every decision between several actions, in the order of the match."),
            "turning_points": listing(ref("TurningPoint"), about="Where the match turned, in its order."),
        },
        f"The analysis of a match of {game.title} that is over.",
    )


def _entry(game: Game, own: str) -> Shape:
    return record(
        {
            "version": versions("The version of the match after this entry."),
            "actor": text(about="A seat or `system`. For actions of the table: the id of a player."),
            "action": described(ref(f"{own}EntryAction"), "The accepted action. Only its `type` if the viewer may not know the rest."),
            "events": listing(ref(f"{own}Event"), about="What followed from the action, in order."),
            "revision": described(COUNT, "The revision of the rules that decided it."),
            "at": TIME,
            "digest": described(DIGEST, "Covers this entry and all before it (docs/auditing.md)."),
            "secret": optional(described(DIGEST, "The secret of the match, in hex. Only the entry that ended the match has it.")),
            "proof": optional(described(ref("Proof"), "Only if it was asked for with `proof=true`.")),
        },
        f"One accepted action of a match of {game.title} with the events that followed, as its viewer may see it.",
    )


def _entries(game: Game, own: str) -> Shape:
    return record(
        {
            **_match(game),
            "viewer": VIEWER,
            "after": described(VERSION, "The version after which the entries come."),
            "version": described(VERSION, "The version of the last entry here, or `after` if there is none. Continue after it."),
            "entries": listing(ref(f"{own}Entry"), about="The entries, oldest first."),
            "players": described(ref("PlayerNames"), "The players whom the answer names, by id."),
        },
        f"Entries of a match of {game.title}, oldest first.",
    )


def _played(game: Game, own: str) -> Shape:
    return record(
        {
            **_match(game),
            "seat": nullable(described(SEAT, "The seat that acted. For an action of the table: a seat that you now have, or null.")),
            "first": versions("The version of the first action's entry."),
            "version": versions("The version of the last action's entry, which is the version of the match after your actions."),
            "round": ROUND,
            "phase": PHASE,
            "active": ACTIVE,
            "to_act": listing(ANY_TEXT, about=TO_ACT),
            "outcome": OUTCOME,
            **AT_TABLE,
            "entries": listing(ref(f"{own}Entry"), about="One entry for each action, as your seat may see it."),
            "choices": listing(ref(f"{own}Choice"), about="What you may do next."),
            "receipt": RECEIPT,
        },
        f"What followed from your actions in a match of {game.title}.",
    )


def _options(game: Game, own: str) -> dict[str, Schema]:
    """Return the schema of the options, with a component of its own for each that has a default.

    Client generators take a property that has a `default` itself for a required one, in requests too.
    """
    schema, properties, found = game.options.schema, {}, {}
    for name, option in schema["properties"].items():
        if "default" in option:
            part = f"{own}Option{camel(name)}"
            found[part], properties[name] = option, {**reference(part), "description": option["description"]}
        else:
            properties[name] = option
    return {f"{own}Options": {**schema, "properties": properties}, **found}


def _choice(game: Game, own: str) -> Shape:
    return record(
        {
            "action": described(
                ref(f"{own}PlayerAction"), "A complete legal action. Submit it as it is. If there is `choose`, it has the least counts."
            ),
            "choose": optional(
                mapping(
                    ANY_TEXT,
                    either(ref("Range"), ref("Counts")),
                    "By field of `action`: the values that you may choose instead. Every combination is legal.",
                )
            ),
            "at_table": optional(always(True, "The action is one of the table, such as `resign`. Actions of the game do not have this.")),
        },
        f"A legal choice in a match of {game.title}.",
    )


def _choices(game: Game, own: str) -> Shape:
    return record(
        {
            **_match(game),
            "version": VERSION,
            "seat": nullable(described(SEAT, "Your seat; null if you have none and the match has open ones.")),
            "to_act": listing(ANY_TEXT, about=TO_ACT),
            "choices": listing(ref(f"{own}Choice"), about="Every legal choice: of your seat in the game, and yours at the table."),
        },
        f"What you may do now in a match of {game.title}: as a seat in the game, and at the table.",
    )


def _redacted(game: Game, kind: str) -> Shape:
    """Return the shape of an action of which other viewers may see the type alone."""
    fields = {name: optional(shape) for name, shape in game.deeds()[kind].fields.items()}
    about = f"{_meaning(game, kind)} Other viewers than its seat may see its `type` alone."
    return unchecked(action_schema(kind, fields, about))


def _match(game: Game) -> dict[str, Shape]:
    return {"match": MATCH_ID, "game": always(game.id, "The game of the match.")}


def _new_match(game: Game, own: str) -> Shape:
    seats = record(
        {seat: optional(either(ref("SeatRequest"), ref("Invitation"), about=f"Who takes {seat}.")) for seat in game.seats.ids},
        "Who takes which seat, in any order.",
    )
    order = listing(ids(game.seats.ids), game.seats.least, game.seats.most, "Each seat of the match once, in the order round the table.")
    size = {"minProperties": game.seats.least, "maxProperties": game.seats.most}
    return record(
        {
            "game": always(game.id, "The game of the match."),
            "seats": unchecked({**seats.schema, **size}),
            "options": optional(described(ref(f"{own}Options"), "The options. Those that are left out have their defaults.")),
            "order": optional(order),
            "code": optional(flag("Whether open seats can be taken only with a code. The answer has the code.")),
            "clock": optional(described(ref("ClockRequest"), "The clock of each seat. Left out: none.")),
            "time_out": optional(described(ref("TimeOutRequest"), "What a time-out does. Only with a clock.")),
            "spectators": optional(described(ref("Spectators"), "What spectators see before the match is over. Left out: all.")),
        },
        f"A new match of {game.title}.",
    )


def _with_names(own: str, found: dict[str, Schema], known: Mapping[str, list[str]]) -> dict[str, Schema]:
    """Return the same components, with a component of its own for every list of ids that occurs more than once.

    Its name is the most frequent name of the fields in which the list occurs, its description the most frequent one. A field keeps its own
    description beside the reference.
    """
    places: dict[tuple[str, ...], Counter[str]] = {}
    meanings: dict[tuple[str, ...], Counter[str]] = {}
    for schema in found.values():
        for key, enum in _enums(schema, ""):
            values = tuple(enum["enum"])
            places.setdefault(values, Counter())[key] += 1
            if "description" in enum:
                meanings.setdefault(values, Counter())[enum["description"]] += 1
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
    abouts = {values: max(counted, key=lambda about: (counted[about], about)) for values, counted in meanings.items()}
    return {**{name: ids(values, abouts.get(values)).schema for values, name in names.items()}, **named}


def _enums(schema: Any, key: str) -> Iterator[tuple[str, Schema]]:
    """Yield the schema of every list of ids within a schema, with the name of the field in which it occurs."""
    if isinstance(schema, list):
        for item in schema:
            yield from _enums(item, key)
        return
    if not isinstance(schema, dict):
        return
    if _is_enum(schema) and key:
        yield key, schema
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
    """Return the schema with references for its lists of ids, and in the subset of JSON Schema that client generators understand."""
    if isinstance(schema, list):
        return [_referred(item, names) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if _is_enum(schema) and tuple(schema["enum"]) in names:
        about = {"description": schema["description"]} if "description" in schema else {}
        return {**reference(names[tuple(schema["enum"])]), **about}
    found = {key: inner if key == "propertyNames" else _referred(inner, names) for key, inner in schema.items()}
    if found.get("type") == "integer" and "enum" not in found:
        # Some languages cannot count exactly beyond this. Such numbers are refused before the rules see them.
        found = {"minimum": -LARGEST, "maximum": LARGEST, **found}
    if "anyOf" in found:
        # Client generators try the parts in turn, but fail at a `const` that differs.
        found["anyOf"] = [
            {**{key: value for key, value in part.items() if key != "const"}, "enum": [part["const"]]} if "const" in part else part
            for part in found["anyOf"]
        ]
    return found
