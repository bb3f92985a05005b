"""The form of a new match. It has everything that a request may have: its fields follow from the shapes of the table and of each game."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from games.kernel import Game
from games.profiles import Part
from games.sentences import say
from service.api.rulings import option_rows
from service.http.limits import LONGEST_NAME
from service.pages.html import Pages, ai_name, game_in_brief, look_of, seat_name, shown
from table import data
from table.settings import (
    ACCEPTED,
    ALL,
    CLOCK_GIVEN,
    DISPUTE_DAYS,
    FORFEIT,
    NONE,
    REQUIRED,
    SKIP,
    SPECTATORS_GIVEN,
    SUBSTITUTE,
    TIME_OUT_GIVEN,
    WAIT,
)
from web.languages import Words

CLOCKS = {
    "": say("three days a turn"),
    "none": say("none"),
    "per_action": say("for each action"),
    "bank": say("for the whole match"),
    "days": say("by correspondence"),
}
POLICIES = {
    SUBSTITUTE: say("the AI plays until they return"),
    FORFEIT: say("the seat forfeits"),
    SKIP: say("the seat is skipped"),
    WAIT: say("the others vote"),
}


class Told(NamedTuple):
    """How the form shows a number of a clock: its label, and what it is at first.

    `usual`: what the API takes if it is left out; None if it must be given. `unit`: how many of the API's units one of the form's has.
    """

    label: str
    first: int | str = ""
    usual: int | str | None = None
    unit: int = 1


TOLD: Mapping[str, Mapping[str, Told]] = {
    "none": {"claim_days": Told(say("Days after which those who wait may claim the match"), usual="")},
    "per_action": {"seconds": Told(say("Seconds for each action"), 60)},
    "bank": {
        "seconds": Told(say("Minutes for each seat"), 20, unit=60),
        "increment": Told(say("Seconds more after each turn"), 10),
        "delay": Told(say("Seconds of each turn that cost nothing"), usual=0),
    },
    "days": {"hours": Told(say("Hours for each turn"), data.USUAL_HOURS), "vacation_days": Told(say("Days of vacation"), usual=0)},
}
"""By kind of clock, its fields."""

PROFILES = {"rulebook": say("As in the rulebook"), "balanced": say("Balanced")}
"""House profiles by name."""

_BARE: Mapping[str, Any] = {"about": "", "readings": [], "rule": None}


def form_of(pages: Pages) -> dict[str, Any]:
    """Return the form as its template expects it."""
    time_out = TIME_OUT_GIVEN.schema["properties"]
    late = SPECTATORS_GIVEN.schema["anyOf"][1]["properties"]["delay"]
    levels = {level: ai_name(level) for level in pages.service.levels}
    return {
        "games": [_game(game) for game in pages.service.games.values()],
        "levels": [{"id": level, "ai": ai_name(level), **told._asdict()} for level, told in pages.service.levels.items()],
        "clock": _chosen(
            "clock.kind",
            say("Clock"),
            CLOCKS,
            "",
            say("Alone you play without one. Without one, who must act forfeits after 60 days without play."),
        ),
        "clocks": {kind: list(_numbers(kind, schema)) for kind, schema in _kinds()},
        "time_outs": [
            _chosen("time_out.policy", say("When the time of a seat runs out"), POLICIES, data.POLICY),
            _chosen("time_out.level", say("The AI that plays meanwhile"), levels, data.LEVEL),
            _number("time_out.in_a_row", say("Time-outs in a row that end it"), data.USUAL_IN_A_ROW, time_out["in_a_row"]),
            _chosen(
                "time_out.then", say("And then"), {SUBSTITUTE: say("the AI plays to the end"), FORFEIT: say("the seat forfeits")}, data.THEN
            ),
        ],
        "spectators": _chosen(
            "spectators",
            say("Who watches"),
            {ALL: say("everybody"), "": say("everybody, some moves late"), NONE: say("nobody until it is over")},
            ALL,
        ),
        "late": _number("spectators.delay", say("How many moves late"), None, late) | {"first": 20},
        "disputes": _number("dispute_days", say("Days that a dispute may hold up"), data.USUAL_WAIT_DAYS, DISPUTE_DAYS.schema),
        "profiles": PROFILES,
        "required": REQUIRED,
        "accepted": ACCEPTED,
        "name": LONGEST_NAME,
        "tags": data.MOST_TAGS,
    }


def _kinds() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the kinds of clocks, each with the schemas of its fields."""
    for schema in CLOCK_GIVEN.schema["anyOf"]:
        fields = dict(schema["properties"])
        yield fields.pop("kind")["const"], fields


def _numbers(kind: str, fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the fields of a kind of clock."""
    for name, schema in fields.items():
        told = TOLD[kind][name]
        field = _number(f"clock.{name}", told.label, told.usual, schema)
        yield field | {
            "first": told.first if told.usual is None else told.usual,
            "unit": told.unit,
            "minimum": -(-field["minimum"] // told.unit),
            "maximum": field["maximum"] // told.unit,
        }


def _number(name: str, label: str, usual: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a field for a whole number. It is not sent while it is as usual; None: it always is."""
    bounds = {bound: schema.get(bound) for bound in ("minimum", "maximum")}
    return {
        **_BARE,
        "kind": "integer",
        "name": name,
        "label": label,
        "usual": usual,
        "first": "" if usual is None else usual,
        "unit": 1,
        **bounds,
    }


def _chosen(name: str, label: str, values: Mapping[str, str], usual: str, about: str = "") -> dict[str, Any]:
    """Return a field that chooses one of some values, which have words."""
    return {**_BARE, "kind": "choice", "name": name, "label": label, "about": about, "usual": usual, "values": values}


def _game(game: Game) -> dict[str, Any]:
    """Return the part of the form that one game has."""
    seats = game.seats.ids
    usual = ["me", "ai:greedy", *[""] * (len(seats) - 2)]
    rows, options, words = option_rows(game.folder), game.options.schema["properties"], look_of(game).say
    return {
        **game_in_brief(game),
        "may_be_empty": game.seats.least < game.seats.most,
        "seats": [{"id": seat, "name": seat_name(game, seat), "usual": usual[place]} for place, seat in enumerate(seats)],
        "profiles": {name: profile_text(parts, words) for name, parts in game.profiles.items()},
        "options": [_option(game, name, schema, rows.get(name, {})) for name, schema in options.items()],
    }


def profile_text(parts: Iterable[Part], words: Words) -> str:
    """Return what a house profile sets, in words.

    >>> from games import GAMES
    >>> from web.languages import words_of
    >>> [profile_text(parts, words_of("en")) for parts in GAMES["war_of_the_worlds"].profiles.values()]
    ['Every option as it usually is.', 'With 2 seats: Must play: no.']
    """
    told = []
    for part in parts:
        given = [say("{option}: {value}", option=label_of(name), value=told_value(value)) for name, value in part.options.items()]
        told.append(words(say("With {seats} seats: {options}.", seats=", ".join(map(str, part.seats)), options=given)))
    return " ".join(told) or words(say("Every option as it usually is."))


def told_value(value: Any) -> Any:
    """Return a value of an option in words: "yes" and "no" for booleans."""
    return (say("yes") if value else say("no")) if isinstance(value, bool) else value


def label_of(option: str) -> str:
    """Return the label of an option of a game."""
    return option.replace("_", " ").capitalize()


def _option(game: Game, name: str, schema: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field of an option, with the readings of the ruling that it settles. What no simple field fits is written in JSON."""
    kinds, usual, words = [schema, *schema.get("anyOf", ())], schema.get("default"), look_of(game).say
    shared = {
        "name": f"options.{name}",
        "label": words(label_of(name)),
        "about": words(schema.get("description", "")),
        "usual": usual,
    }
    readings = [(str(shown(told_value(value), words)), words(" ".join(said.split()))) for value, said in row.get("readings", ())]
    shared["readings"] = [f"{value[:1].upper()}{value[1:]}: {said}" for value, said in readings]
    shared["rule"] = next(iter(row.get("rules", ())), None)
    if schema.get("type") == "boolean":
        return {**shared, "kind": "boolean"}
    values = [value for kind in kinds for value in kind.get("enum", [kind["const"]] if "const" in kind else [])]
    whole = next((kind for kind in kinds if kind.get("type") == "integer"), None)
    if whole is not None:
        return {**_number("", "", "" if usual is None else usual, whole), **shared, "usual": "" if usual is None else usual}
    some = next((kind for kind in kinds if kind.get("type") == "array" and "enum" in kind["items"]), None)
    if some is not None:
        return {**shared, "kind": "some", "none": look_of(game).word(str(usual)), "values": _words(game, some["items"]["enum"])}
    if len(values) > 1:
        return {**shared, "kind": "choice", "values": _words(game, values)}
    return {**shared, "kind": "json"}


def _words(game: Game, ids: Iterable[str]) -> dict[str, str]:
    """Return the words for ids: of seats, or of anything else in the game."""
    told = look_of(game)
    return {id: seat_name(game, id) if id in game.seats.ids else told.word(id) for id in ids}
