"""The catalogue: the games, their rules and their JSON Schemas, and the kinds of problems."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from flask import Response

import table.rules
from games import patterns
from games.kernel import SHARED_REFUSALS, Game
from service.context import Service
from service.game_components import action_schemas, event_schemas, table_action_schemas, table_event_schemas
from service.operations import TEXT_SCHEMA, Answer, Call, Operation, in_json
from service.problems import CODES, Problem
from service.responses import json_response, markdown_response
from table.data import FOLDER

_RULE = re.compile(rf"^- \*\*(?P<id>{patterns.RULE})\*\* (?P<text>.+)$")
_SOURCE = re.compile(r"\[(?P<source>[SPR])[^\]]*\]")


def list_games(service: Service, call: Call) -> Response:
    """Return every game in brief."""
    return json_response({"games": [game_in_brief(game) for game in service.games.values()]})


def get_game(service: Service, call: Call, game: str) -> Response:
    """Return a game."""
    return json_response(game_in_full(_game(service, game), service.levels))


def get_rules(service: Service, call: Call, game: str) -> Response:
    """Return the rules of a game."""
    found = _game(service, game)
    return json_response({"game": found.id, "revision": found.revision, "rules": rules(found)})


def get_rule(service: Service, call: Call, game: str, rule: str) -> Response:
    """Return one rule."""
    for found in rules(_game(service, game)):
        if found["id"] == rule:
            return json_response(found)
    raise Problem("no_such_rule")


def get_rulebook(service: Service, call: Call, game: str) -> Response:
    """Return RULES.md of a game."""
    return markdown_response((_game(service, game).folder / "RULES.md").read_text("utf-8"))


def get_contract(service: Service, call: Call, game: str) -> Response:
    """Return CONTRACT.md of a game."""
    return markdown_response((_game(service, game).folder / "CONTRACT.md").read_text("utf-8"))


def get_table_rulebook(service: Service, call: Call) -> Response:
    """Return RULES.md of the table."""
    return markdown_response((FOLDER / "RULES.md").read_text("utf-8"))


def get_table_contract(service: Service, call: Call) -> Response:
    """Return CONTRACT.md of the table."""
    return markdown_response((FOLDER / "CONTRACT.md").read_text("utf-8"))


def get_schema(service: Service, call: Call, game: str) -> Response:
    """Return the JSON Schemas of a game."""
    return json_response(schemas(_game(service, game)))


def list_problems(service: Service, call: Call) -> Response:
    """Return every kind of problem."""
    return json_response({"problems": [_problem_kind(code) for code in CODES]})


def get_problem(service: Service, call: Call, code: str) -> Response:
    """Return one kind of problem."""
    if code not in CODES:
        raise Problem("no_such_problem")
    return json_response(_problem_kind(code))


def _game(service: Service, game: str) -> Game:
    found = service.games.get(game)
    if found is None:
        raise Problem("no_such_game")
    return found


def _problem_kind(code: str) -> dict[str, Any]:
    return {"code": code, **CODES[code]._asdict()}


def game_in_brief(game: Game) -> dict[str, Any]:
    """Return a game as the list of games shows it."""
    return {
        "id": game.id,
        "title": game.title,
        "seats": list(game.seats.ids),
        "least_seats": game.seats.least,
        "most_seats": game.seats.most,
        "revision": game.revision,
    }


def game_in_full(game: Game, levels: Mapping[str, str]) -> dict[str, Any]:
    """Return a game with its options, artificial players and refusals."""
    return {
        **game_in_brief(game),
        "options": game.options.schema,
        "levels": [{"id": level, "seat": f"ai:{level}", "about": about} for level, about in levels.items()],
        "refusals": {**SHARED_REFUSALS, **game.refusals, **table.rules.REFUSALS},
    }


def schemas(game: Game) -> dict[str, Any]:
    """Return the JSON Schemas of a game and of the table. An event's schema is that of the event as a viewer may see it."""
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


def rules(game: Game) -> list[dict[str, Any]]:
    """Return the rules of a game, and those of the table after them, read from their RULES.md."""
    return [rule for folder in (game.folder, FOLDER) for rule in _parsed_rules((folder / "RULES.md").read_text("utf-8"))]


@lru_cache(maxsize=16)
def _parsed_rules(markdown: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    section = ""
    inside = False
    for line in markdown.splitlines():
        rule = _RULE.match(line)
        if line.startswith("#"):
            section, inside = line.lstrip("# ").strip(), False
        elif rule:
            found.append({"id": rule["id"], "section": section, "source": None, "text": rule["text"]})
            inside = True
        elif inside and line.startswith("  "):
            found[-1]["text"] += " " + line.strip()
        else:
            inside = False
    for each in found:
        mark = _SOURCE.search(each["text"])
        each["source"] = mark["source"] if mark else None
    return found


_MARKDOWN = {"text/markdown": TEXT_SCHEMA}

OPERATIONS = (
    Operation("list_games", "GET", "/v1/games", "games", "List the games", list_games, {200: in_json("The games.", "Games")}),
    Operation(
        "get_game", "GET", "/v1/games/{game}", "games", "Get a game: seats, options, artificial players, refusals", get_game,
        {200: in_json("The game.", "Game")}, problems=("no_such_game",),
    ),
    Operation(
        "get_rules", "GET", "/v1/games/{game}/rules", "games", "Get the rules, one by one", get_rules,
        {200: in_json("The rules.", "Rules")}, problems=("no_such_game",),
    ),
    Operation(
        "get_rule", "GET", "/v1/games/{game}/rules/{rule}", "games", "Get one rule", get_rule,
        {200: in_json("The rule.", "Rule")}, problems=("no_such_game", "no_such_rule"),
    ),
    Operation(
        "get_rulebook", "GET", "/v1/games/{game}/rulebook", "games", "Get the rules as a text", get_rulebook,
        {200: Answer("RULES.md of the game.", _MARKDOWN)}, problems=("no_such_game",),
    ),
    Operation(
        "get_contract", "GET", "/v1/games/{game}/contract", "games", "Get the description of the game's JSON as a text", get_contract,
        {200: Answer("CONTRACT.md of the game.", _MARKDOWN)}, problems=("no_such_game",),
    ),
    Operation(
        "get_table_rulebook", "GET", "/v1/table/rulebook", "games", "Get the rules of the table, which hold for every match, as a text",
        get_table_rulebook, {200: Answer("RULES.md of the table.", _MARKDOWN)},
    ),
    Operation(
        "get_table_contract", "GET", "/v1/table/contract", "games", "Get the description of the table's JSON as a text",
        get_table_contract, {200: Answer("CONTRACT.md of the table.", _MARKDOWN)},
    ),
    Operation(
        "get_schema", "GET", "/v1/games/{game}/schema", "games", "Get the JSON Schemas of the game", get_schema,
        {200: in_json("The schemas.", "GameSchema")}, problems=("no_such_game",),
    ),
)  # fmt: skip

PROBLEM_OPERATIONS = (
    Operation(
        "list_problems", "GET", "/v1/problems", "server", "List the kinds of problems", list_problems,
        {200: in_json("Every kind of problem.", "ProblemKinds")},
    ),
    Operation(
        "get_problem", "GET", "/v1/problems/{code}", "server", "Get one kind of problem", get_problem,
        {200: in_json("The kind of problem.", "ProblemKind")}, problems=("no_such_problem",),
    ),
)  # fmt: skip
