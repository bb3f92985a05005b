"""The catalogue: which games can be played, by which rules, and what their JSON looks like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from flask import Response

from games.kernel import SHARED_REFUSALS, Game
from games.schema import always, record
from service.operations import Answer, Asked, Operation
from service.problems import CODES, Problem
from service.responses import in_json, in_markdown
from service.shapes import ref

_RULE = re.compile(r"^- \*\*(?P<id>[A-Z]{2,4}-[A-Z]{2,4}-[0-9]{2})\*\* (?P<text>.+)$")
_MARK = re.compile(r"\[(?P<source>[SPR])[^\]]*\]")


def operations(games: Mapping[str, Game], levels: Mapping[str, str]) -> list[Operation]:
    """What can be asked about the games."""

    def game_of(game: str) -> Game:
        found = games.get(game)
        if found is None:
            raise Problem("no_such_game")
        return found

    def list_games(asked: Asked) -> Response:
        return in_json({"games": [in_brief(game) for game in games.values()]})

    def get_game(asked: Asked, game: str) -> Response:
        return in_json(in_full(game_of(game), levels))

    def get_rules(asked: Asked, game: str) -> Response:
        found = game_of(game)
        return in_json({"game": found.id, "revision": found.revision, "rules": rules(found)})

    def get_rule(asked: Asked, game: str, rule: str) -> Response:
        for found in rules(game_of(game)):
            if found["id"] == rule:
                return in_json(found)
        raise Problem("no_such_rule")

    def get_rulebook(asked: Asked, game: str) -> Response:
        return in_markdown((game_of(game).folder / "RULES.md").read_text("utf-8"))

    def get_contract(asked: Asked, game: str) -> Response:
        return in_markdown((game_of(game).folder / "CONTRACT.md").read_text("utf-8"))

    def get_schema(asked: Asked, game: str) -> Response:
        return in_json(schemas(game_of(game)))

    text = {"text/markdown": {"type": "string"}}
    unknown = ("no_such_game",)
    return [
        Operation("list_games", "GET", "/v1/games", "games", "List the games", list_games, {200: _answer("The games.", "Games")}),
        Operation(
            "get_game", "GET", "/v1/games/{game}", "games", "Get a game: seats, options, artificial players, refusals", get_game,
            {200: _answer("The game.", "Game")}, problems=unknown,
        ),
        Operation("get_rules", "GET", "/v1/games/{game}/rules", "games", "Get the rules, one by one", get_rules,
                  {200: _answer("The rules.", "Rules")}, problems=unknown),
        Operation("get_rule", "GET", "/v1/games/{game}/rules/{rule}", "games", "Get one rule", get_rule,
                  {200: _answer("The rule.", "Rule")}, problems=("no_such_game", "no_such_rule")),
        Operation("get_rulebook", "GET", "/v1/games/{game}/rulebook", "games", "Get the rules as a text", get_rulebook,
                  {200: Answer("RULES.md of the game.", text)}, problems=unknown),
        Operation("get_contract", "GET", "/v1/games/{game}/contract", "games", "Get the JSON of the game in words", get_contract,
                  {200: Answer("CONTRACT.md of the game.", text)}, problems=unknown),
        Operation("get_schema", "GET", "/v1/games/{game}/schema", "games", "Get the JSON Schemas of the game", get_schema,
                  {200: _answer("The schemas.", "GameSchema")}, problems=unknown),
    ]  # fmt: skip


def problem_operations() -> list[Operation]:
    """What can be asked about the ways in which requests fail."""

    def list_problems(asked: Asked) -> Response:
        return in_json({"problems": [_kind(code) for code in CODES]})

    def get_problem(asked: Asked, code: str) -> Response:
        if code not in CODES:
            raise Problem("no_such_problem")
        return in_json(_kind(code))

    return [
        Operation("list_problems", "GET", "/v1/problems", "server", "List the ways in which requests fail", list_problems,
                  {200: _answer("Every kind of problem.", "ProblemKinds")}),
        Operation("get_problem", "GET", "/v1/problems/{code}", "server", "Get one kind of problem", get_problem,
                  {200: _answer("The kind of problem.", "ProblemKind")}, problems=("no_such_problem",)),
    ]  # fmt: skip


def _kind(code: str) -> dict[str, Any]:
    status, title, detail = CODES[code]
    return {"code": code, "status": status, "title": title, "detail": detail}


def _answer(about: str, name: str) -> Answer:
    return Answer(about, {"application/json": ref(name)})


def in_brief(game: Game) -> dict[str, Any]:
    """A game as the list of games has it."""
    return {
        "id": game.id,
        "title": game.title,
        "seats": list(game.seats.ids),
        "least_seats": game.seats.least,
        "most_seats": game.seats.most,
        "revision": game.revision,
    }


def in_full(game: Game, levels: Mapping[str, str]) -> dict[str, Any]:
    """A game with its options, artificial players and refusals."""
    return {
        **in_brief(game),
        "options": game.options.schema,
        "levels": [{"id": level, "seat": f"ai:{level}", "about": about} for level, about in levels.items()],
        "refusals": {**SHARED_REFUSALS, **game.refusals},
    }


def schemas(game: Game) -> dict[str, Any]:
    """The JSON Schemas of a game; an event's is that of the event as a viewer may see it."""
    actions = {kind: record({"type": always(kind), **deed.fields}).schema for kind, deed in game.deeds().items()}
    events = {kind: record({"type": always(kind), **fields}).seen for kind, fields in game.events.items()}
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
    """The rules of a game, read from its RULES.md."""
    return _rules((game.folder / "RULES.md").read_text("utf-8"))


@lru_cache(maxsize=16)
def _rules(written: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    section = ""
    inside = False
    for line in written.splitlines():
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
        mark = _MARK.search(each["text"])
        each["source"] = mark["source"] if mark else None
    return found
