"""The components of each game for the description: its actions, events, view, options and seats.

Within a game, `type` tells actions and events apart. Between games, `game` tells answers apart. Two games may share a `type` such as
`end_turn`. So the union of all actions is an `anyOf` over the games (docs/decisions/0032).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from events.play import LONGEST_LIST
from games.kernel import RESTORED, Game
from games.lifecycle import PREPARED, ROUND
from games.schema import (
    Fields,
    Schema,
    Shape,
    always,
    anything,
    described,
    either,
    ids,
    listing,
    mapping,
    nullable,
    optional,
    record,
    unchecked,
)
from service.api.shapes import LEVEL, PLAYER_ID, SEAT, Component, Games, camel, growing, named, prefix, union
from table.deeds import BEGINNINGS, DEEDS
from table.facts import FACTS as TABLE_EVENTS
from table.rules import is_for_seats
from table.session import BY_SYSTEM
from table.settings import CLOCK, CLOCK_GIVEN, SPECTATORS, TIME_OUT, TIME_OUT_GIVEN
from table.state import REPORT

WHOLE_DOCUMENTS = {
    PREPARED: "The first document of the match, as its viewer may see it.",
    RESTORED: "The document of the earlier version, as its viewer may see it.",
}


def summary(function: Callable[..., Any]) -> str:
    """Return the docstring of a deed or a fact as one line. It describes the action or the event in the API."""
    return " ".join((function.__doc__ or "").split())


def action_schema(kind: str, fields: Fields, about: str) -> Schema:
    """Return the schema of one action."""
    return record({"type": always(kind), **fields}, about).schema


def event_shape(kind: str, fields: Fields, about: str) -> Shape:
    """Return the shape of one event."""
    return record({"type": always(kind), **fields}, about)


def table_action_schemas() -> dict[str, Schema]:
    """Return the schema of each action of the table, by type, without those that create a match."""
    return {kind: action_schema(kind, deed.fields, summary(deed.act)) for kind, deed in DEEDS.items() if kind not in BEGINNINGS}


def table_event_schemas() -> dict[str, Schema]:
    """Return the schema of each event of the table, by type."""
    return {kind: event_shape(kind, fields, summary(fact)).seen for kind, (fact, fields) in TABLE_EVENTS.items()}


def action_schemas(game: Game) -> dict[str, Schema]:
    """Return the schema of each action of a game, by type."""
    return {kind: action_schema(kind, deed.fields, _meaning(game, kind)) for kind, deed in game.deeds().items()}


def event_schemas(game: Game) -> dict[str, Schema]:
    """Return the schema of each event of a game as a viewer may see it, by type."""
    return {kind: event_shape(kind, fields, summary(game.facts[kind])).seen for kind, fields in game.events.items()}


def _meaning(game: Game, kind: str) -> str:
    """Return what an action does. It may differ from phase to phase, as with `advance`."""
    meanings: dict[str, list[str]] = {}
    for phase, deeds in game.phases.items():
        if kind in deeds:
            meanings.setdefault(summary(deeds[kind].act), []).append(f"`{phase}`")
    if len(meanings) == 1:
        return next(iter(meanings))
    return " ".join(f"In the phase {' or '.join(phases)}: {meaning}" for meaning, phases in meanings.items())


# ---------------------------------------------------------------- the table


def _settings(clock: Shape, suffix: str, *, both: bool) -> Shape:
    """Return the shape of the clock of a match. `kind` decides its fields. `both`: answers show it as requests have it."""
    parts = {part["properties"]["kind"]["const"]: part for part in clock.schema["anyOf"]}
    kinds = {kind: named(f"{camel(kind)}Clock{suffix}", unchecked(part), both=both) for kind, part in parts.items()}
    about = "The clock of each seat. `kind` decides its other fields. Default: 3 `days` if several people may play, else none."
    return named(f"Clock{suffix}", growing(union(kinds, about, "kind"), "kind"))


CLOCK_CHOSEN = _settings(CLOCK, "", both=False)
CLOCK_REQUEST = _settings(CLOCK_GIVEN, "Request", both=True)
TIME_OUT_CHOSEN = named("TimeOutSettings", unchecked(TIME_OUT.schema["anyOf"][-1], "What a time-out does."))
TIME_OUT_REQUEST = named("TimeOutRequest", described(TIME_OUT_GIVEN, "What a time-out does. Only with a clock."))
SPECTATORS_SEE = named(
    "Spectators",
    described(SPECTATORS, "What spectators see before the match is over: all (the default), none, or all but the newest `delay` versions."),
)


OCCUPANT = named(
    "Occupant",
    growing(
        either(
            record({"player": PLAYER_ID}, "A player."),
            record({"ai": LEVEL}, "An artificial player, by level."),
            record({"open": always(True, "The seat is open.")}, "Nobody yet."),
            about="Who has a seat: a player, an artificial player, or nobody yet.",
        )
    ),
)
_REPORT = named("Report", described(REPORT, "The first report about a dispute. The service writes it."))


def _with_parts(schema: Schema, clock: Shape, time_out: Shape) -> Schema:
    """Return the schema of an action or an event of the table, with references to components for its parts."""
    parts = {
        "clock": clock,
        "time_out": time_out,
        "spectators": SPECTATORS_SEE,
        "report": nullable(_REPORT),
        "roster": mapping(SEAT, OCCUPANT),
    }
    properties = {
        name: described(parts[name], one["description"]).schema if name in parts else one for name, one in schema["properties"].items()
    }
    return {**schema, "properties": properties}


TABLE_ACTIONS = {kind: named(camel(kind), unchecked(schema), both=True) for kind, schema in table_action_schemas().items()}

CHOSEN_AT_TABLE = named(
    "TableAction",
    union(
        {kind: TABLE_ACTIONS[kind] for kind in TABLE_ACTIONS if DEEDS[kind].by != BY_SYSTEM},
        "An action of a player or a seat at the table.",
    ),
)


def _shown_at_table(kind: str) -> Shape:
    """Return an action of the table as entries show it. Some actions show only their type to spectators."""
    deed = DEEDS[kind]
    if kind in BEGINNINGS:
        schema = action_schema(kind, deed.fields, summary(deed.act))
        return named(camel(kind), unchecked(_with_parts(schema, CLOCK_REQUEST, TIME_OUT_REQUEST)))
    if not is_for_seats({"type": kind}):
        return TABLE_ACTIONS[kind]
    about = f"`{kind}`, as entries show it. Until the match is over, spectators may see only its `type`."
    fields = {name: optional(shape) for name, shape in deed.fields.items()}
    schema = _with_parts(action_schema(kind, fields, about), CLOCK_REQUEST, TIME_OUT_REQUEST)
    return named(f"Shown{camel(kind)}", unchecked(schema))


SHOWN_AT_TABLE = named(
    "AcceptedTableAction", union({kind: _shown_at_table(kind) for kind in DEEDS}, "An accepted action at the table, as entries show it.")
)
TABLE_EVENTS_SHOWN = {
    kind: named(f"{camel(kind)}Event", unchecked(_with_parts(schema, CLOCK_CHOSEN, TIME_OUT_CHOSEN)))
    for kind, schema in table_event_schemas().items()
}
TABLE_EVENT = named("TableEvent", union(TABLE_EVENTS_SHOWN, "An event of the table, as its viewer may see it."))


# ---------------------------------------------------------------- a game


class Declared(NamedTuple):
    """The components of one game. `action`: an action of the game. `choice`: or of the table. `accepted`: an action as entries show it."""

    action: Shape
    choice: Shape
    accepted: Shape
    event: Shape
    view: Shape
    options: Shape
    seat: Shape


_DECLARED: dict[str, tuple[Game, Declared]] = {}
"""The components of the game that was last declared under each id. A description asks for them at a hundred places."""


def declared(game: Game) -> Declared:
    """Return the components of a game, with a name for every list of ids that occurs more than once."""
    known = _DECLARED.get(game.id)
    if known is None or known[0] is not game:
        known = _DECLARED[game.id] = game, _declared(game)
    return known[1]


def _declared(game: Game) -> Declared:
    own = prefix(game)
    schemas: dict[str, Schema] = {
        **{f"action {kind}": schema for kind, schema in action_schemas(game).items()},
        **{f"event {kind}": schema for kind, schema in event_schemas(game).items()},
        "options": game.options.schema,
        "view": game.document.seen,
    }
    taken = {f"{own}{camel(kind)}" for kind in game.deeds()} | {f"{own}{name}" for name in ("View", "Options", "Action", "Event")}
    schemas, seat = _with_names(own, taken, schemas, game.seats.ids)
    options, shown = _options(own, schemas["options"]), schemas["view"]["properties"]
    given = anything(shown["options"].get("description", "")).schema
    view = named(f"{own}View", unchecked({**schemas["view"], "properties": {**shown, "options": given}}))
    for kind, about in WHOLE_DOCUMENTS.items():
        whole = schemas[f"event {kind}"]
        properties = {**whole["properties"], "document": described(view, about).schema}
        schemas[f"event {kind}"] = {**whole, "properties": properties}
    actions = {kind: named(f"{own}{camel(kind)}", unchecked(schemas[f"action {kind}"]), both=True) for kind in game.deeds()}
    redacted = [named(f"{own}Redacted", _redacted(game))] if game.redacted else []
    events = {
        kind: named(f"{'' if _is_common(fields) else own}{camel(kind)}Event", unchecked(schemas[f"event {kind}"]))
        for kind, fields in game.events.items()
    }
    action = named(f"{own}Action", union(actions, f"An action of {game.title}."))
    about = f"An event of {game.title}, as its viewer may see it."
    event = named(f"{own}Event", growing(either(named(f"{own}GameEvent", union(events, about)), TABLE_EVENT, about=about), "type"))
    return Declared(
        action=action,
        choice=growing(either(action, CHOSEN_AT_TABLE), "type"),
        accepted=growing(either(action, *redacted, SHOWN_AT_TABLE), "type"),
        event=event,
        view=view,
        options=options,
        seat=seat,
    )


def _is_common(fields: Fields) -> bool:
    """Return whether an event has nothing of its game, such as seats. All games share the component of such an event."""
    return bool(fields) and all(shape is ROUND for shape in fields.values())


def _redacted(game: Game) -> Shape:
    """Return the shape of an action of which other viewers see its type alone, because an event of it hides something from them."""
    kinds = ids([kind for kind in game.deeds() if kind in game.redacted], "All of it that is shown.")
    return record({"type": kinds}, "An action as viewers other than its seat may see it.")


def _options(own: str, schema: Schema) -> Shape:
    """Return the shape of the options. Each option with a default becomes a component.

    Client generators treat a property with an inline `default` as required, in requests too.
    """
    properties = {
        name: described(named(f"{own}Option{camel(name)}", unchecked(option)), option["description"]).schema
        if "default" in option
        else option
        for name, option in schema["properties"].items()
    }
    return named(f"{own}Options", unchecked({**schema, "properties": properties}))


def game_action(games: Games) -> Shape:
    """Return the shape of an action of the match's game, for a request body."""
    return named("GameAction", either(*(declared(game).action for game in games.values()), about="An action of the match's game."))


def game_actions(games: Games) -> Shape:
    """Return the shape of one action of the match's game, or a list of them, for a request body."""
    about = "One action of the match's game, or a list of them."
    return named("GameActions", either(game_action(games), _list(games), about=about))


def actions(games: Games) -> Shape:
    """Return the shape of one action, or a list of them, for a request body."""
    about = "One action, or a list of actions of the game: all are carried out, or none. Each action becomes an entry."
    return named("Actions", either(game_action(games), CHOSEN_AT_TABLE, _list(games), about=about))


def _list(games: Games) -> Shape:
    return listing(game_action(games), 1, LONGEST_LIST)


def _with_names(own: str, taken: set[str], found: dict[str, Schema], seats: Sequence[str]) -> tuple[dict[str, Schema], Shape]:
    """Return the schemas with a component for every list of ids that occurs more than once. Return the reference to the seats, too.

    A component takes the most frequent name of the fields that have the list, and their most frequent description. A field keeps its own
    description beside the reference.
    """
    places: dict[tuple[str, ...], Counter[str]] = {}
    meanings: dict[tuple[str, ...], Counter[str]] = {tuple(seats): Counter({"A seat.": 1})}
    for schema in found.values():
        for key, enum in _enums(schema, ""):
            values = tuple(enum["enum"])
            places.setdefault(values, Counter())[key] += 1
            meanings.setdefault(values, Counter())[enum.get("description", f"One of the {key}.")] += 1
    names = {tuple(seats): f"{own}Seat"}
    taken |= {*names.values()}
    for values, keys in places.items():
        if values in names or sum(keys.values()) < 2:
            continue
        key = min(keys, key=lambda key: (-keys[key], key))
        name = next(name for name in (f"{own}{camel(key)}", *(f"{own}{camel(key)}Id{n or ''}" for n in range(99))) if name not in taken)
        names[values] = name
        taken.add(name)
    abouts = {values: max(counted, key=lambda about: (counted[about], about)) for values, counted in meanings.items()}
    parts = {values: Component(name, ids(values, abouts[values]).schema) for values, name in names.items()}
    return {name: _referred(schema, parts) for name, schema in found.items()}, unchecked({"$ref": parts[tuple(seats)]})


def _enums(schema: Any, key: str) -> Iterator[tuple[str, Schema]]:
    """Yield every list of ids within a schema, with the name of the field that has it."""
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


def _referred(schema: Any, parts: Mapping[tuple[str, ...], Component]) -> Any:
    """Return the schema with references in place of its lists of ids."""
    if isinstance(schema, list):
        return [_referred(item, parts) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if _is_enum(schema) and tuple(schema["enum"]) in parts:
        about = {"description": schema["description"]} if "description" in schema else {}
        return {"$ref": parts[tuple(schema["enum"])], **about}
    return {key: inner if key == "propertyNames" else _referred(inner, parts) for key, inner in schema.items()}
