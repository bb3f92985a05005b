"""Puzzles: decisions of finished matches, for others to find the best action. A worker makes them and judges what is tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
from flask import Response

from events import puzzles, recall
from events.attempts import attempt
from events.errors import NoMatch
from events.store.queue.studies import puzzle_of
from games.choices import with_counts
from games.kernel import Game, Refused, admit, legal
from games.schema import Shape, anything, described, flag, ids, listing, nullable, record, text
from games.sentences import say
from record.decisions import Decision
from record.positions import Position
from record.puzzles import DIFFICULTIES, LEVEL, Puzzle, Weighed, id_of, text_of, weighed
from service import sight
from service.api.frames import TOLD
from service.api.game_shapes import game_actions
from service.api.operations import Answer, Body, Call, Operation, in_json
from service.api.pictures import drawing
from service.api.playing import choice
from service.api.shapes import (
    COUNT,
    GAME_ID,
    MATCH_ID,
    NEXT,
    PLAYER_ID,
    PLAYERS,
    PUZZLE_ID,
    SEAT,
    SHARE,
    TIME,
    VERSION,
    by_game,
    extending,
    named,
    of_match,
)
from service.api.studies import HINT_WAITING, asked, waiting
from service.context import Service
from service.http.problems import Problem, refusal_problem
from service.http.responses import empty_response, json_response, private
from service.http.schemas import PuzzleQuery, PuzzlesQuery
from web.look import look
from web.news import entry_in_words, news, rules_of


def make_puzzle(service: Service, call: Call, match: str) -> Response:
    """Begin a puzzle of a decision, unless there is one. Return the puzzle, or 202 until a worker has made it."""
    at = call.query["version"] - 1
    newest = recall.position(service.platform, match)
    if not puzzles.is_open(newest):
        raise Problem("analysis_closed")
    recall.check_version(newest, at + 1)
    known = service.platform.store.puzzles.get(id_of(match, at))
    if known is not None:
        return private(json_response(shown(service, known)))
    decided = puzzles.decision(service.platform, match, at)
    if decided is None:
        raise Problem("no_puzzle", version=at + 1)
    before, entry = decided
    recall.rules_of(service.platform, before)
    work = puzzle_of(match, at, call.caller.player(), service.platform.clock.now())
    study = asked(service, call, work)
    if study.answer is None:
        return waiting(work, {"match": match, "game": before.game, "version": at, "seat": entry.actor, "level": LEVEL})
    made = orjson.loads(study.answer)
    found = service.platform.store.puzzles.get(made["id"]) if made else None
    if found is None:
        raise Problem("no_puzzle", version=at + 1)
    return private(json_response(shown(service, found)))


def get_puzzle(service: Service, call: Call, puzzle: str) -> Response:
    """Return a puzzle with the choices of its seat."""
    return private(json_response(shown(service, found(service, puzzle)[0])))


def found(service: Service, id: str) -> tuple[Puzzle, Decision]:
    """Return a puzzle with its decision. Raise Problem `no_such_puzzle`, also if its match is gone or no longer open."""
    kept = service.platform.store.puzzles.get(id)
    decided = None
    if kept is not None:
        try:
            decided = puzzles.decision(service.platform, kept.match, kept.at)
        except NoMatch:
            decided = None
    if kept is None or decided is None:
        raise Problem("no_such_puzzle", puzzle=id)
    return kept, decided


def shown(service: Service, puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle with the choices of its seat, and nothing that answers it."""
    before = recall.state_at(service.platform, puzzle.match, puzzle.at)
    game = recall.rules_of(service.platform, before)
    choices = list(map(with_counts, legal(game, before.document, puzzle.seat)))
    return {**summary(puzzle), "players": service.directory.company([puzzle.by]).players, "choices": choices}


def summary(puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle as lists show it."""
    return {
        "id": puzzle.id,
        "match": puzzle.match,
        "game": puzzle.game,
        "at": puzzle.at,
        "seat": puzzle.seat,
        "difficulty": puzzle.difficulty,
        "by": puzzle.by,
        "made": puzzle.made,
        "tried": puzzle.tried,
        "solved": puzzle.solved,
    }


def list_puzzles(service: Service, call: Call) -> Response:
    """Return puzzles, the newest first, and that of today."""
    page = listed(service, **call.query)
    return private(
        json_response(
            {
                "today": None if page.today is None else summary(page.today),
                "puzzles": list(map(summary, page.puzzles)),
                "players": page.players,
                "next": page.next,
            }
        )
    )


class Page(NamedTuple):
    """A page of puzzles, that of today, the names of those who made them, and the cursor of the next page."""

    puzzles: list[Puzzle]
    today: Puzzle | None
    players: Mapping[str, Any]
    next: str | None


def listed(service: Service, limit: int, game: str | None = None, difficulty: str | None = None, cursor: str | None = None) -> Page:
    """Return a page of puzzles, the newest first. Raise NoGame."""
    kept = service.platform.store.puzzles
    games = list(service.games) if game is None else [recall.game_of(service.platform, game).id]
    rows = [row for row in kept.listed(games) if difficulty in (None, row.difficulty)]
    if cursor is not None:
        made, _, id = cursor.partition(".")
        rows = [row for row in rows if row[:2] < (int(made), id)]
    page, today = rows[:limit], puzzles.today(service.platform)
    first = kept.get(today) if today is not None else None
    shown = kept.all([row.id for row in page])
    company = service.directory.company([puzzle.by for puzzle in (*shown, *([first] if first else []))])
    return Page(shown, first, company.players, f"{page[-1].made}.{page[-1].id}" if len(rows) > limit else None)


def try_puzzle(service: Service, call: Call, puzzle: str) -> Response:
    """Judge an action that somebody tries, or tell the best one. Return 202 until a worker has judged it."""
    kept, (before, _) = found(service, puzzle)
    game = recall.rules_of(service.platform, before)
    if call.body == {}:  # so is a body that was left out
        return _judged(game, before, kept, kept.best, call.language, tells=True)
    try:
        action = admit(game, call.body)
        with drawing(service, call):
            attempt(service.platform, before, kept.seat, [action])
    except Refused as refused:
        raise refusal_problem(game, refused.refusal) from None
    tried = kept.find(action)
    if tried is None:
        work = puzzle_of(kept.match, kept.at, call.caller.id or "", service.platform.clock.now(), text_of(action))
        study = asked(service, call, work)
        if study.answer is None:
            return waiting(work, {"match": kept.match, "game": game.id, "version": kept.at, "seat": kept.seat, "level": LEVEL})
        tried = weighed(orjson.loads(study.answer))
    solves = kept.solves(tried.worth)
    if call.caller.id not in (None, kept.by):
        service.platform.store.puzzles.count(puzzle, solves, service.platform.clock.now())
    return _judged(game, before, kept, tried, call.language, tells=solves)


def _judged(game: Game, before: Position, puzzle: Puzzle, tried: Weighed, language: str, tells: bool) -> Response:
    """Return the judgement on an action. `tells`: with the best one."""
    looks = look(game, language)
    scene = looks.shown(game.scene(sight.view_read(game, before, puzzle.seat)))
    line = [
        {
            "actor": reply.actor,
            "text": entry_in_words(news(scene, reply.events, looks).sentences, reply.actor, {"type": reply.type}, looks),
            "rules": rules_of({"type": reply.type}, reply.events, looks),
        }
        for reply in tried.line
    ]
    body = {
        "puzzle": puzzle.id,
        "action": tried.action,
        "solved": puzzle.solves(tried.worth),
        "worth": tried.worth,
        "cost": puzzle.cost(tried.worth),
        "line": line,
        "best": puzzle.best.action if tells else None,
    }
    return private(json_response(body))


def delete_puzzle(service: Service, call: Call, puzzle: str) -> Response:
    """Remove a puzzle. Raise Problem `no_such_puzzle`, `role_needed`."""
    kept = service.platform.store.puzzles.get(puzzle)
    if kept is None:
        raise Problem("no_such_puzzle", puzzle=puzzle)
    if call.caller.role != "admin" and call.caller.id != kept.by:
        raise Problem("role_needed", needed=say("whoever has made it"))
    service.platform.store.puzzles.drop(kept)
    return empty_response(204)


_SUMMARY = named(
    "PuzzleBase",
    record(
        {
            "id": PUZZLE_ID,
            "match": MATCH_ID,
            "game": GAME_ID,
            "at": described(VERSION, "The version of the match at which the seat must act."),
            "seat": described(SEAT, "The seat whose best action is to be found."),
            "difficulty": ids(DIFFICULTIES, "Which level of play finds it: novice, greedy, strong, or none of them."),
            "by": described(PLAYER_ID, "Who made it."),
            "made": TIME,
            "tried": described(COUNT, "How often players have tried it."),
            "solved": described(COUNT, "How often they solved it."),
        },
        "A puzzle.",
    ),
)


def _puzzle(game: Game) -> Shape:
    """Return the shape of a puzzle of a game."""
    more = {**of_match(game), "players": PLAYERS, "choices": listing(choice(game), about="What the seat may do.")}
    return extending(_SUMMARY, more, f"A puzzle of {game.title}.")


PUZZLE = by_game("Puzzle", "A puzzle: find the best action of a seat.", _puzzle)
PUZZLES = named(
    "Puzzles",
    record(
        {
            "today": nullable(described(_SUMMARY, "The puzzle of today in UTC, or null.")),
            "puzzles": listing(_SUMMARY, about="The newest first."),
            "players": PLAYERS,
            "next": NEXT,
        },
        "Puzzles.",
    ),
)
JUDGED = named(
    "JudgedTry",
    record(
        {
            "puzzle": PUZZLE_ID,
            "action": anything("The action that is judged."),
            "solved": flag("Whether it is the best one, or as good."),
            "worth": described(SHARE, "What the seat can expect after it."),
            "cost": described(SHARE, "By how much that is less than after the best one."),
            "line": listing(
                named("LineEntry", record({"actor": text(about="Who acts."), **TOLD}, "An action that may follow.")),
                about="The action and what may follow until the next turn of the seat, if everybody does what looks best at once. It is "
                "played on a guess of what the seat does not know.",
            ),
            "best": nullable(anything("The best action, once the puzzle is solved or given up.")),
        },
        "A try of a puzzle, judged by `expert` from what the seat knew.",
    ),
)

OPERATIONS = (
    Operation(
        "make_puzzle", "POST", "/v1/matches/{match}/puzzles", "puzzles", "Make a puzzle of a decision", make_puzzle,
        {
            200: in_json("The puzzle.", PUZZLE),
            202: in_json("A worker makes it. Ask again.", HINT_WAITING, ("RetryAfter",)),
        },
        "Of a match that is over. `expert` judges the best actions of the seat that decided, from what the seat knew then. The same "
        "decision makes one puzzle. A puzzle is about one action, also where a turn has several.",
        key="needed", by="player", scope="play", query=PuzzleQuery(),
        problems=("analysis_closed", "no_puzzle", "no_such_version", "quota_reached", "thinking_failed"),
    ),
    Operation(
        "list_puzzles", "GET", "/v1/puzzles", "puzzles", "List puzzles, and see today's", list_puzzles,
        {200: in_json("Puzzles.", PUZZLES)},
        "Each game keeps 300. Who has most of them loses the oldest.",
        key="optional", query=PuzzlesQuery(),
    ),
    Operation(
        "get_puzzle", "GET", "/v1/puzzles/{puzzle}", "puzzles", "Get a puzzle", get_puzzle,
        {200: in_json("The puzzle.", PUZZLE)},
        "Find the best of the `choices`. `get_state` and `get_picture` show the match `at` its version, with the seat as `viewer`.",
        key="optional",
    ),
    Operation(
        "delete_puzzle", "DELETE", "/v1/puzzles/{puzzle}", "puzzles", "Remove a puzzle", delete_puzzle,
        {204: Answer("It is gone.")},
        "Only for whoever made it, and for admins.",
        key="needed", scope="play", problems=("role_needed",),
    ),
    Operation(
        "try_puzzle", "POST", "/v1/puzzles/{puzzle}/tries", "puzzles", "Try an action, or give up", try_puzzle,
        {
            200: in_json("What it is worth.", JUDGED),
            202: in_json("A worker judges it. Ask again.", HINT_WAITING, ("RetryAfter",)),
        },
        "Anybody may try. Nothing is written into the match. An action that was not judged before needs a key and a moment. Without a body "
        "the answer tells the best action.",
        key="optional", body=Body(game_actions, required=False, examples={"an action": {"type": "end_moves"}}),
        problems=("against_the_rules", "no_key", "quota_reached", "thinking_failed"), said=True,
    ),
)  # fmt: skip
