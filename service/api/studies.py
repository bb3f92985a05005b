"""Studies: hints for practice, and analyses of matches that are over. A worker computes the answer, and the caller polls for it."""

from __future__ import annotations

import orjson
from flask import Response

from events import recall
from events.deciding import check_started
from events.due import PUZZLE, Owed
from events.store.queue.studies import BOUNDS, Study, analysis_of, hint_for
from games.kernel import Game
from games.schema import Shape, described, either, ids, listing, mapping, optional, record, text, unchecked
from record.positions import Position
from service import sight
from service.api.game_shapes import declared
from service.api.operations import Call, Operation, in_json
from service.api.shapes import (
    ANY_TEXT,
    COUNT,
    DIGEST,
    GAME_ID,
    MATCH_ID,
    OUTCOME_REACHED,
    SEAT,
    SHARE,
    VERSION,
    by_game,
    extending,
    growing,
    named,
    of_match,
    prefix,
    versions,
)
from service.context import Service
from service.http.problems import Problem, refusal_problem
from service.http.quotas import quota_reached
from service.http.responses import JSON, json_response, private, sorted_json
from service.http.schemas import AnalysisQuery, HintQuery
from table.rules import play_refusal

AGAIN = {"hint": "1", "analysis": "5", "puzzle": "1"}  # seconds after which to ask again
LONGEST = 5000  # versions of a match that is analysed

_UNITS = {"hint": "hints", "analysis": "analyses", "puzzle": "puzzles"}


def get_hint(service: Service, call: Call, match: str) -> Response:
    """Return what a level would play for the caller's seat, or 202 until a worker has the answer."""
    position = recall.position(service.platform, match)
    seat, level = sight.seat_of(position, call.caller, call.query.get("seat")), call.query["level"]
    if not position.table["practice"]:
        raise Problem("not_practice")
    game = recall.rules_of(service.platform, position)
    _check_decides(game, position, seat)
    work = hint_for(match, position.version, seat, level, call.caller.player(), service.platform.clock.now())
    study = asked(service, call, work)
    about = {"match": match, "game": game.id, "version": position.version, "seat": seat, "level": level}
    if study.answer is None:
        return waiting(work, about)
    return private(json_response(about | orjson.loads(study.answer)))


def _check_decides(game: Game, position: Position, seat: str) -> None:
    """Raise Problem unless the seat, one of the caller's, must act now."""
    check_started(position)
    refusal = play_refusal(position.table, position.document, seat, position.at, owner=True)
    if refusal is not None:
        raise refusal_problem(game, refusal)
    if seat not in position.to_act:
        raise Problem("nothing_to_decide", seat=seat)


def begin_analysis(service: Service, call: Call, match: str) -> Response:
    """Begin the analysis of a match that is over, unless it has begun. Return the analysis if it is finished, or 202."""
    position = _over(service, match)
    work = analysis_of(match, call.query["level"], call.caller.player(), service.platform.clock.now())
    call.info.open = True
    response = _analysis(position, work, asked(service, call, work))
    if response.status_code == 202:
        response.headers["Location"] = f"/v1/matches/{match}/analysis?level={work.target}"
    return response


def get_analysis(service: Service, call: Call, match: str) -> Response:
    """Return the analysis of a match that is over, or 202 until it is finished. Raise Problem `no_analysis`."""
    position = _over(service, match)
    work = analysis_of(match, call.query["level"], "", service.platform.clock.now())
    study = service.platform.studies.look(work)
    if study is None:
        raise Problem("no_analysis")
    _keep_going(service, work, study)
    call.info.open = True
    return _analysis(position, work, study)


def _over(service: Service, match: str) -> Position:
    """Return the last position of a match that can be analysed. Raise Problem `analysis_closed` or `analysis_too_long`."""
    position = recall.position(service.platform, match)
    if not position.ended or position.document["outcome"] is None:
        raise Problem("analysis_closed")
    if position.version > LONGEST:
        raise Problem("analysis_too_long", limit=LONGEST)
    recall.rules_of(service.platform, position)
    return position


def _analysis(position: Position, work: Owed, study: Study) -> Response:
    if study.answer is not None:
        return private(Response(sorted_json(orjson.loads(study.answer)), mimetype=JSON))
    reached = 0 if study.last is None else orjson.loads(study.last)["version"]
    about = {"match": position.match, "game": position.game, "level": work.target, "version": reached, "versions": position.version}
    return waiting(work, about)


def asked(service: Service, call: Call, work: Owed) -> Study:
    """Return a study. Begin it for the caller if it does not exist.

    Raise Problem `no_key`, `too_many_requests`, `quota_reached` or `thinking_failed`.
    """
    studies = service.platform.studies
    study = studies.look(work)
    if study is None:
        if not work.creator:
            raise Problem("no_key")
        call.info.used = service.throttle.spend(
            ("puzzle_tries" if work.kind == PUZZLE and work.target else _UNITS[work.kind], work.creator)
        )
        limit = f"{_UNITS[work.kind]}_at_once"
        at_once = service.quotas.amount(limit)
        study = studies.begin(work, at_once)
        if study is None:
            raise quota_reached(limit, at_once or BOUNDS[work.kind].keep, at_once or BOUNDS[work.kind].keep)
    _keep_going(service, work, study)
    return study


def _keep_going(service: Service, work: Owed, study: Study) -> None:
    """Enqueue a study unless it is finished, still waits, or is with a worker. So a study that the queue has lost goes on.

    Raise Problem `thinking_failed` if the study has failed.
    """
    if study.answer == b"":
        raise Problem("thinking_failed")
    if study.answer is None:
        service.platform.jobs.push_again([work._replace(creator=study.asker)])


def waiting(work: Owed, about: dict[str, object]) -> Response:
    """Return that a study is not finished, and when to ask again. `about`: what the answer says."""
    response = private(json_response(about, 202))
    response.headers["Retry-After"] = AGAIN[work.kind]
    return response


HINT_WAITING = named(
    "HintWaiting",
    record(
        {
            "match": MATCH_ID,
            "game": GAME_ID,
            "version": described(VERSION, "The version that is thought about."),
            "seat": described(SEAT, "The seat that must act."),
            "level": text(about="The level of play that thinks."),
        },
        "A hint or a puzzle that is not ready yet.",
    ),
)
ANALYSIS_WAITING = named(
    "AnalysisWaiting",
    record(
        {
            "match": MATCH_ID,
            "game": GAME_ID,
            "level": text(about="The level of play that rates the decisions."),
            "version": described(VERSION, "The version up to which decisions are rated."),
            "versions": described(VERSION, "How many versions the match has."),
        },
        "An analysis that is not finished yet.",
    ),
)


def _action(game: Game, about: str) -> Shape:
    return described(
        named(f"{prefix(game)}Decided", growing(either(declared(game).action, about="An action that was compared."), "type")), about
    )


_OPTION = named(
    "HintOptionBase",
    record(
        {
            "worth": described(
                SHARE,
                "What the level expects after the action: about the share of a victory if `tries` is above 0, otherwise a value that only "
                "orders the actions. Worths never rise down the list: an action that was searched less than a better one is never shown as "
                "better.",
            ),
            "tries": described(COUNT, "How often it was tried."),
        },
        "How a level rates an action.",
    ),
)
_HINT = named(
    "HintBase",
    record(
        {
            "match": MATCH_ID,
            "version": described(VERSION, "The version that the hint is for."),
            "seat": described(SEAT, "Your seat."),
            "level": described(ANY_TEXT, "The level of play that gives the hint."),
            "iterations": described(COUNT, "The iterations of the search; 0 for a level that does not search."),
        },
        "What every hint has.",
    ),
)


def _hint(game: Game) -> Shape:
    """Return the shape of a hint."""
    option = extending(_OPTION, {"action": _action(game, "The action.")}, "An action that the level compared with others.")
    return extending(
        _HINT,
        {
            **of_match(game),
            "action": _action(game, "What the level would play."),
            "options": listing(option, about="The actions that it compared, best first; empty for a level that does not search."),
        },
        f"What a level would play in a practice match of {game.title}.",
    )


_ANALYST = named(
    "Analyst",
    record(
        {
            "level": text(about="The level of play."),
            "players": described(COUNT, "The revision of the artificial players. It rises when a level decides differently."),
            "weights": described(DIGEST, "The digest of their plans and weights for the game."),
        },
        "The level that rated the decisions of a match.",
    ),
)
_SEAT_ANALYSIS = named(
    "SeatAnalysis",
    record(
        {
            "decisions": described(COUNT, "Its decisions between several actions."),
            "agreed": described(COUNT, "The decisions that were as good as the level's choice."),
            "lost": unchecked({"type": "number", "minimum": 0}, "The sum of its losses."),
            "greatest": described(SHARE, "The greatest of them."),
        },
        "Figures about the decisions of a seat.",
    ),
)
_TURNING_POINT = named(
    "TurningPoint",
    record(
        {
            "version": described(VERSION, "The version of the decision."),
            "kind": named(
                "TurningPointKind",
                ids(["error", "lead"], "`error`: one of the greatest losses. `lead`: another seat became the expected winner."),
            ),
            "seat": described(SEAT, "The seat with the loss, or the new expected winner."),
            "loss": optional(described(SHARE, "The loss, of an error.")),
            "from": optional(described(SEAT, "The expected winner before.")),
        },
        "A version at which the match turned.",
    ),
)


_DECISION = named(
    "DecisionBase",
    record(
        {
            "version": versions("The version of the entry."),
            "seat": described(SEAT, "The seat that decided."),
            "before": described(SHARE, "What the level expects with its own choice."),
            "chosen": described(SHARE, "What it expects after the seat's choice, before its dice are rolled."),
            "loss": described(SHARE, "The difference: the seat's error."),
            "after": described(SHARE, "What it expects at the seat's next decision, or the result. Dice and other seats count here."),
            "expected": mapping(ANY_TEXT, SHARE, "What each seat could expect at this decision."),
        },
        "How a level rates a decision, from what the seat knew then. Worths are shares of a victory, from 0 to 1.",
    ),
)
_ANALYSIS = named(
    "AnalysisBase",
    record(
        {
            "match": MATCH_ID,
            "by": described(_ANALYST, "What rated the decisions."),
            "outcome": described(OUTCOME_REACHED, "Who won, and why."),
            "seats": mapping(ANY_TEXT, _SEAT_ANALYSIS, "Figures about each seat."),
            "turning_points": listing(_TURNING_POINT, about="Where the match turned, in order."),
        },
        "What every analysis has.",
    ),
)


def _analysis_of(game: Game) -> Shape:
    """Return the shape of an analysis."""
    decision = extending(
        _DECISION,
        {
            "action": _action(game, "What the seat played."),
            "best": _action(game, "What the level would have played. The same if it found nothing better."),
        },
        "A decision, and how the level rates it.",
    )
    return extending(
        _ANALYSIS,
        {**of_match(game), "decisions": listing(decision, about="Every decision between several actions, in the order of the match.")},
        f"The analysis of a match of {game.title} that is over.",
    )


HINT = by_game("Hint", "What a level would play for your seat.", _hint)
ANALYSIS = by_game("Analysis", "The analysis of a match that is over.", _analysis_of)

OPERATIONS = (
    Operation(
        "get_hint", "GET", "/v1/matches/{match}/hint", "play", "Ask what to do, in a practice match", get_hint,
        {
            200: in_json("The hint.", HINT),
            202: in_json("The hint is not ready. Ask again.", HINT_WAITING, ("RetryAfter",)),
        },
        "What a level would play for your seat, and how it rates the choices. It sees only your seat's view, so it knows nothing that you "
        "do not know. Only in practice matches. The answer is kept for some minutes, for you alone.",
        key="needed", by="player", query=HintQuery(),
        plays="asks", problems=("not_practice", "nothing_to_decide", "quota_reached", "thinking_failed"),
    ),
    Operation(
        "begin_analysis", "POST", "/v1/matches/{match}/analysis", "history", "Ask for the analysis of a match that is over", begin_analysis,
        {
            200: in_json("The finished analysis.", ANALYSIS),
            202: in_json("The analysis has begun. Ask with GET until it is finished.", ANALYSIS_WAITING, ("RetryAfter", "Location")),
        },
        "A worker rates every decision of the match (docs/ai.md): its worth to the seat before and after, from what the seat knew, and "
        "what would have been better. Anybody with a key may ask for an analysis, and anybody may read it. It is made once for each level "
        "and kept for a week. The result does not depend on when it is made. If nobody asks for it any more, the work stops.",
        key="needed", by="player", query=AnalysisQuery(),
        problems=("analysis_closed", "analysis_too_long", "quota_reached", "thinking_failed"),
    ),
    Operation(
        "get_analysis", "GET", "/v1/matches/{match}/analysis", "history", "Get the analysis of a match that is over", get_analysis,
        {
            200: in_json("The analysis.", ANALYSIS),
            202: in_json("The analysis is not finished. Ask again.", ANALYSIS_WAITING, ("RetryAfter",)),
        },
        "The analysis that somebody asked for with `POST`.",
        key="optional", query=AnalysisQuery(),
        problems=("no_analysis", "analysis_closed", "analysis_too_long", "thinking_failed"),
    ),
)  # fmt: skip
