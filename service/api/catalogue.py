"""The catalogue: games with their rules, data and JSON Schemas; limits; kinds of problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import marshmallow
import orjson
from flask import Response

from events.errors import NoGame
from games.kernel import SHARED_REFUSALS, Game
from games.schema import (
    Schema,
    anything,
    described,
    either,
    flag,
    ids,
    listing,
    mapping,
    nullable,
    record,
    text,
    whole,
)
from service.api.game_shapes import action_schemas, event_schemas, table_action_schemas, table_event_schemas
from service.api.operations import TEXT_SCHEMA, UNCHANGED, Answer, Call, Operation, as_text, in_json
from service.api.problem_shapes import KIND, KINDS, SCOPE
from service.api.rulings import RULES as ENGLISH_RULES
from service.api.rulings import rulebook, rules_in, rulings
from service.api.shapes import ANY_TEXT, COUNT, GAME_ID, LEVEL, REVISION, SEAT, extending, named
from service.context import Service
from service.http.limits import UNITS, published
from service.http.problems import CODES, Problem
from service.http.responses import CSS, SVG, XML, also_as, json_response, markdown_response, public
from service.http.schemas import LookQuery
from table.data import FOLDER, Level
from table.refusals import REFUSALS
from web.languages import ENGLISH, LANGUAGES, Words, words_of
from web.look import all_definitions, look, stylesheet


def list_games(service: Service, call: Call) -> Response:
    """Return every game in brief."""
    return json_response({"games": [game_in_brief(game, call.language) for game in service.games.values()]})


def get_game(service: Service, call: Call, game: str) -> Response:
    """Return a game."""
    return json_response(game_in_full(_game(service, game), service.levels, call.language))


def get_rules(service: Service, call: Call, game: str) -> Response:
    """Return the rules of a game."""
    found = _game(service, game)
    return json_response({"game": found.id, "revision": found.revision, "rules": rules(found, call.language)})


def get_rulings(service: Service, call: Call, game: str) -> Response:
    """Return the rulings of a game."""
    found = _game(service, game)
    return json_response({"game": found.id, "revision": found.revision, "rulings": rulings(found.folder, call.language)})


def get_rule(service: Service, call: Call, game: str, rule: str) -> Response:
    """Return one rule. Raise Problem `no_such_rule`."""
    for found in rules(_game(service, game), call.language):
        if found["id"] == rule:
            return json_response(found)
    raise Problem("no_such_rule")


def get_rulebook(service: Service, call: Call, game: str) -> Response:
    """Return RULES.md of a game."""
    return _book(_game(service, game).folder, call)


def get_contract(service: Service, call: Call, game: str) -> Response:
    """Return CONTRACT.md of a game."""
    return markdown_response((_game(service, game).folder / "CONTRACT.md").read_text("utf-8"))


def get_data(service: Service, call: Call, game: str) -> Response:
    """Return data.json of a game, with its seats and the defaults of its options."""
    found = _game(service, game)
    seats = found.seats
    return json_response(
        {
            "game": found.id,
            "revision": found.revision,
            "seats": list(seats.ids),
            "least_seats": seats.least,
            "most_seats": seats.most,
            "options": found.with_defaults({}),
            "data": orjson.loads((found.folder / "data.json").read_bytes()),
        }
    )


def get_table_data(service: Service, call: Call) -> Response:
    """Return data.json of the table."""
    return json_response({"data": orjson.loads((FOLDER / "data.json").read_bytes())})


def get_table_rulebook(service: Service, call: Call) -> Response:
    """Return RULES.md of the table."""
    return _book(FOLDER, call)


def get_table_contract(service: Service, call: Call) -> Response:
    """Return CONTRACT.md of the table."""
    return markdown_response((FOLDER / "CONTRACT.md").read_text("utf-8"))


def get_schema(service: Service, call: Call, game: str) -> Response:
    """Return the JSON Schemas of a game."""
    return json_response(schemas(_game(service, game)))


def get_stylesheet(service: Service, call: Call, game: str) -> Response:
    """Return the stylesheet for the fragments of a game's pictures."""
    return Response(stylesheet(look(_drawn(service, call, game))), mimetype=CSS)


def get_definitions(service: Service, call: Call, game: str) -> Response:
    """Return the SVG definitions that the fragments of a game's pictures refer to."""
    found = _drawn(service, call, game)
    defined = all_definitions(look(found, call.language), found.seats.ids)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0">{defined}</svg>'
    return also_as(XML, Response(svg, mimetype=SVG), call.header("Accept"))


def _drawn(service: Service, call: Call, game: str) -> Game:
    """Return the revision of a game whose look has the mark that the caller names, or the newest revision."""
    newest, asked = _game(service, game), call.query.get("look")
    known = (newest, *newest.earlier.values()) if asked is not None else ()
    return next((one for one in known if any(look(one, language).mark == asked for language in LANGUAGES)), newest)


def list_limits(service: Service, call: Call) -> Response:
    """Return every limit."""
    return json_response({"limits": published(service.settings.limits, service.settings)})


def list_problems(service: Service, call: Call) -> Response:
    """Return every kind of problem."""
    return json_response({"problems": [_problem_kind(code, call.language) for code in CODES]})


def get_problem(service: Service, call: Call, code: str) -> Response:
    """Return one kind of problem. Raise Problem `no_such_problem`."""
    if code not in CODES:
        raise Problem("no_such_problem")
    return json_response(_problem_kind(code, call.language))


def _book(folder: Path, call: Call) -> Response:
    book = rulebook(folder, call.language)
    return markdown_response(book.read_text("utf-8"), ENGLISH if book.name == ENGLISH_RULES else call.language)


def _game(service: Service, game: str) -> Game:
    found = service.games.get(game)
    if found is None:
        raise NoGame(game, service.games)
    return found


def _problem_kind(code: str, language: str) -> dict[str, Any]:
    kind, say = CODES[code], words_of(language)
    return {"code": code, "status": kind.status, "title": say(kind.title), "detail": say(kind.detail)}


def game_in_brief(game: Game, language: str) -> dict[str, Any]:
    """Return a game as the list of games shows it."""
    looks = look(game, language)
    told = looks.picture
    return {
        "id": game.id,
        "title": looks.say(game.title),
        "goal": told.goal,
        "length": told.length,
        "weight": told.weight,
        "seats": list(game.seats.ids),
        "least_seats": game.seats.least,
        "most_seats": game.seats.most,
        "revision": game.revision,
    }


def game_in_full(game: Game, levels: Mapping[str, Level], language: str) -> dict[str, Any]:
    """Return a game with its options, artificial players and refusals."""
    say = look(game, language).say
    refusals = {**SHARED_REFUSALS, **game.refusals, **{code: kind.detail for code, kind in REFUSALS.items()}}
    return {
        **game_in_brief(game, language),
        "options": _said(game.options.schema, say),
        "profiles": {name: [part._asdict() for part in parts] for name, parts in game.profiles.items()},
        "levels": [
            {"id": level, "seat": f"ai:{level}", "name": say(told.name), "about": say(told.about)} for level, told in levels.items()
        ],
        "refusals": {code: say(text) for code, text in refusals.items()},
    }


def _said(options: Schema, say: Words) -> Schema:
    """Return the schema of options with the description of each in a language."""
    named = {name: {**schema, "description": say(schema.get("description", ""))} for name, schema in options["properties"].items()}
    return {**options, "properties": named}


def schemas(game: Game) -> dict[str, Any]:
    """Return the JSON Schemas of a game and of the table. Events have the shape that viewers see."""
    actions = {**action_schemas(game), **table_action_schemas()}
    events = {**event_schemas(game), **table_event_schemas()}
    return {
        "game": game.id,
        "document": game.document.schema,
        "view": game.document.seen,
        "options": game.options.schema,
        "action": {"oneOf": [{"$ref": f"#/actions/{kind}"} for kind in actions]},
        "event": {"oneOf": [{"$ref": f"#/events/{kind}"} for kind in events]},
        "actions": actions,
        "events": events,
    }


def rules(game: Game, language: str) -> list[dict[str, Any]]:
    """Return the rules of a game and then those of the table, parsed from RULES.md, or from that of a language if there is one."""
    return [rule for folder in (game.folder, FOLDER) for rule in rules_in(rulebook(folder, language))]


def _reading(
    id: str,
    path: str,
    summary: str,
    view: Callable[..., Response],
    answer: Answer,
    about: str,
    tag: str = "games",
    query: marshmallow.Schema | None = None,
    said: bool = True,
) -> Operation:
    """Return an operation whose answer caches may keep: it is the same for everybody, and changes only with the server."""

    def cached(service: Service, call: Call, **ids: str) -> Response:
        call.info.open = True
        return public(view(service, call, **ids), call.header("If-None-Match"))

    answers = {200: answer._replace(headers=("ETag",)), 304: UNCHANGED}
    return Operation(id, "GET", path, tag, summary, cached, answers, about, query=query, headers=("If-None-Match",), said=said)


SEATS = {
    "seats": listing(SEAT, about="All seats, in their usual order."),
    "least_seats": described(COUNT, "The least number of seats in a match."),
    "most_seats": described(COUNT, "The largest number of seats in a match."),
}
_BRIEF = named(
    "GameInBrief",
    record(
        {
            "id": GAME_ID,
            "title": text(about="The name of the game."),
            "goal": text(about="What one plays for."),
            "length": text(about="How long a match takes."),
            "weight": text(about="How hard it is to learn."),
            **SEATS,
            "revision": REVISION,
        },
        "A game in brief.",
    ),
)
GAMES = named("GameList", record({"games": listing(_BRIEF, about="Every game.")}, "The games of this server."))
GAME = named(
    "Game",
    extending(
        _BRIEF,
        {
            "options": anything("JSON Schema of the options of a match."),
            "profiles": anything("House profiles: options by name and number of seats."),
            "levels": listing(
                named(
                    "Level",
                    record(
                        {
                            "id": described(LEVEL, "The level of play."),
                            "seat": text(about="The value for a seat when you create a match."),
                            "name": text(about="Its name for people."),
                            "about": text(about="How it plays, in a sentence or two."),
                        },
                        "An artificial player.",
                    ),
                ),
                about="The artificial players.",
            ),
            "refusals": mapping(
                ANY_TEXT, ANY_TEXT, "Every refusal code with its sentence. A name in braces stands for a fact of the case."
            ),
        },
        "A game: its seats, options, artificial players and refusals.",
    ),
)
RULE = named(
    "Rule",
    record(
        {
            "id": text(about="The id of the rule, such as `WAR-MOV-01`."),
            "section": text(about="The heading above it in the rulebook."),
            "source": nullable(text(about="`S`: stated in the rulebook. `P`: a public source. `R`: a ruling. null: none.")),
            "text": text(about="In Markdown."),
        },
        "One rule.",
    ),
)
RULES = named(
    "RuleList",
    record(
        {"game": GAME_ID, "revision": REVISION, "rules": listing(RULE, about="Those of the game, then those of the table.")},
        "The rules of a game, in their order.",
    ),
)
_READING = record(
    {
        "value": described(nullable(either(flag(), whole())), "Of the option."),
        "reading": text(about="What the rule says then."),
        "scenarios": mapping(ANY_TEXT, ANY_TEXT, "Examples, by id."),
    }
)
_RULING = record(
    {
        "id": text(about="Of the rule."),
        "section": text(about="Above it."),
        "text": text(about="The rule."),
        "quoted": listing(ANY_TEXT, about="From the rulebook."),
        "why": nullable(text(about="The reason.")),
        "option": nullable(text(about="It chooses a reading.")),
        "readings": listing(_READING, about="The usual one first."),
        "balance": nullable(text(about="As measured.")),
    }
)
RULINGS = named(
    "RulingList",
    record(
        {"game": GAME_ID, "revision": REVISION, "rulings": listing(_RULING, about="In the order of the rules.")}, "The rulings of a game."
    ),
)


GAME_DATA = named(
    "GameData",
    record(
        {
            "game": GAME_ID,
            "revision": REVISION,
            **SEATS,
            "options": anything("The default of each option."),
            "data": anything("data.json of the game. The contract of the game describes it."),
        },
        "The data of a game.",
    ),
)
TABLE_DATA = named(
    "TableData", record({"data": anything("data.json of the table. The rules of the table refer to it.")}, "The data of the table.")
)
GAME_SCHEMA = named(
    "GameSchema",
    record(
        {
            "game": GAME_ID,
            "document": anything("JSON Schema (2020-12) of the state document."),
            "view": anything("JSON Schema of the state document as viewers see it."),
            "options": anything("JSON Schema of the options of a match."),
            "action": anything("JSON Schema of any action. It refers to `actions`."),
            "event": anything("JSON Schema of any event. It refers to `events`."),
            "actions": mapping(ANY_TEXT, anything(), "JSON Schema of each action, by type."),
            "events": mapping(ANY_TEXT, anything(), "JSON Schema of each event as viewers see it, by type."),
        },
        "The JSON Schemas of a game.",
    ),
)
_LIMIT = named(
    "Limit",
    record(
        {
            "name": text(about="Its name in the headers `RateLimit` and `RateLimit-Policy`, and in problems."),
            "scope": described(
                SCOPE,
                "What the limit applies to: `player`, all keys of a player together; `address`, an IPv4 address or an IPv6 /64 "
                "network; `process`, each process of the server; `request`, each request.",
            ),
            "amount": nullable(whole(0, about="How many. null: this server has no such limit.")),
            "unit": named("LimitUnit", ids(UNITS, "What is counted.")),
            "seconds": nullable(
                whole(1, about="The period in seconds. What was used comes back evenly. null: at one time, or in one request.")
            ),
            "about": text(about="What counts, in a sentence."),
        },
        "A limit.",
    ),
)
LIMITS = named("LimitList", record({"limits": listing(_LIMIT, about="Every limit.")}, "The limits of this server."))

_MARKDOWN = {"text/markdown": TEXT_SCHEMA}

OPERATIONS = (
    _reading(
        "list_games", "/v1/games", "List the games", list_games, in_json("The games.", GAMES),
        "Every game in brief, with its id, its seats and the revision of its rules.",
    ),
    _reading(
        "get_game", "/v1/games/{game}", "Get a game: seats, options, artificial players, refusals", get_game,
        in_json("The game.", GAME), "What you need to create a match of the game, and the sentence of every refusal.",
    ),
    _reading(
        "get_rules", "/v1/games/{game}/rules", "Get the rules, one by one", get_rules, in_json("The rules.", RULES),
        "The rules of the game and of the table, each with the id that refusals name.",
    ),
    _reading(
        "get_rulings", "/v1/games/{game}/rulings", "Get the rulings on the rulebook", get_rulings,
        in_json("The rulings.", RULINGS), "Every rule that is ours, with its readings and its reason.",
    ),
    _reading(
        "get_rule", "/v1/games/{game}/rules/{rule}", "Get one rule", get_rule,
        in_json("The rule.", RULE), "The rule that a refusal names, such as `WAR-MOV-01`.",
    ),
    _reading(
        "get_rulebook", "/v1/games/{game}/rulebook", "Get the rules as a text", get_rulebook,
        Answer("RULES.md of the game.", _MARKDOWN), "The rulebook in Markdown, as people read it.",
    ),
    _reading(
        "get_contract", "/v1/games/{game}/contract", "Get the description of the game's JSON as a text", get_contract,
        Answer("CONTRACT.md of the game.", _MARKDOWN),
        "The state document, every action, every event and every refusal code, and who sees what, in Markdown.", said=False,
    ),
    _reading(
        "get_data", "/v1/games/{game}/data", "Get the data of the game: map, pieces, cards, costs, limits", get_data,
        in_json("The data.", GAME_DATA),
        "Everything countable in the game, and the defaults of its options. The contract of the game refers to it.", said=False,
    ),
    _reading(
        "get_table_rulebook", "/v1/table/rulebook", "Get the rules of the table, which hold for every match, as a text",
        get_table_rulebook, Answer("RULES.md of the table.", _MARKDOWN),
        "The rules about seats, the commitment to the dice and the start of a match, in Markdown.",
    ),
    _reading(
        "get_table_contract", "/v1/table/contract", "Get the description of the table's JSON as a text",
        get_table_contract, Answer("CONTRACT.md of the table.", _MARKDOWN),
        "The table's document, its actions, events and refusal codes, in Markdown.", said=False,
    ),
    _reading(
        "get_table_data", "/v1/table/data", "Get the data of the table: limits, levels of play", get_table_data,
        in_json("The data.", TABLE_DATA), "Everything countable at the table. The rules of the table refer to it.", said=False,
    ),
    _reading(
        "get_schema", "/v1/games/{game}/schema", "Get the JSON Schemas of the game", get_schema,
        in_json("The schemas.", GAME_SCHEMA),
        "The state document, its views, the options, and each action and event of the game and of the table, as JSON Schema (2020-12).",
        said=False,
    ),
    _reading(
        "get_stylesheet", "/v1/games/{game}/look.css", "Get the style of a game's pictures, for pages that show frames", get_stylesheet,
        Answer("The style.", {CSS: TEXT_SCHEMA}),
        "The colours of every class that a fragment may have, light and dark. The `color-scheme` of the page chooses.",
        query=LookQuery(), said=False,
    ),
    _reading(
        "get_definitions", "/v1/games/{game}/look.svg", "Get the definitions of a game's pictures, for pages that show frames",
        get_definitions, Answer("One SVG element that shows nothing.", as_text(SVG, XML)),
        "Every glyph, outline and badge that a fragment may refer to. A page puts the element into its document once.",
        query=LookQuery(),
    ),
)  # fmt: skip

SERVER_OPERATIONS = (
    _reading(
        "list_limits", "/v1/limits", "List the limits of this server", list_limits, in_json("Every limit.", LIMITS),
        "How much a player, an address, a process or a request may use.", tag="server", said=False,
    ),
    _reading(
        "list_problems", "/v1/problems", "List the kinds of problems", list_problems,
        in_json("Every kind of problem.", KINDS),
        "Every problem code, except the refusal codes of the games.", tag="server",
    ),
    _reading(
        "get_problem", "/v1/problems/{code}", "Get one kind of problem", get_problem,
        in_json("The kind of problem.", KIND), "What the `type` of a problem links to.", tag="server",
    ),
)  # fmt: skip
