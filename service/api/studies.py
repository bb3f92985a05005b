"""Studies: hints for practice, and analyses of matches that are over. A worker thinks, and the caller asks until the answer is there."""

from __future__ import annotations

import orjson
from flask import Response

from events import recall
from events.deciding import check_started
from events.due import Owed
from events.store.queue.studies import BOUNDS, Study, analysis_of, hint_for
from games.kernel import Game
from record.positions import Position
from service import sight
from service.api.operations import Call, Operation, in_json
from service.context import Service
from service.http.problems import Problem, refusal_problem
from service.http.responses import JSON, json_response, private, sorted_json
from service.http.schemas import AnalysisQuery, HintQuery
from table.rules import play_refusal
from table.state import is_practice

AGAIN = {"hint": "1", "analysis": "5"}  # seconds after which to ask again
LONGEST = 5000  # versions of a match that is analysed

_UNITS = {"hint": "hints", "analysis": "analyses"}


def get_hint(service: Service, call: Call, match: str) -> Response:
    """Return what a level would do for the caller's seat, or 202 while a worker thinks about it."""
    position = recall.position(service.platform, match)
    seat, level = sight.seat_of(position, call.caller, call.query.get("seat")), call.query["level"]
    if not is_practice(position.table):
        raise Problem("not_practice")
    game = recall.rules_of(service.platform, position)
    _check_decides(game, position, seat)
    work = hint_for(match, position.version, seat, level, call.caller.player(), service.platform.clock.now())
    study = _asked(service, call, work)
    about = {"match": match, "game": game.id, "version": position.version, "seat": seat, "level": level}
    if study.answer is None:
        return _waiting(work, about)
    return private(json_response(about | orjson.loads(study.answer)))


def _check_decides(game: Game, position: Position, seat: str) -> None:
    """Raise a problem unless a seat of the caller must act."""
    check_started(position)
    refusal = play_refusal(position.table, position.document, seat, position.at, owner=True)
    if refusal is not None:
        raise refusal_problem(game, refusal)
    if seat not in position.to_act:
        raise Problem("nothing_to_decide", seat=seat)


def begin_analysis(service: Service, call: Call, match: str) -> Response:
    """Begin the analysis of a match that is over, unless it has begun. Return 202, or the analysis if it is there."""
    position = _over(service, match)
    work = analysis_of(match, call.query["level"], call.caller.player(), service.platform.clock.now())
    call.info.open = True
    response = _analysis(position, work, _asked(service, call, work))
    if response.status_code == 202:
        response.headers["Location"] = f"/v1/matches/{match}/analysis?level={work.target}"
    return response


def get_analysis(service: Service, call: Call, match: str) -> Response:
    """Return the analysis of a match that is over, or 202 while it is made."""
    position = _over(service, match)
    work = analysis_of(match, call.query["level"], "", service.platform.clock.now())
    study = service.platform.studies.look(work)
    if study is None:
        raise Problem("no_analysis")
    _keep_going(service, work, study)
    call.info.open = True
    return _analysis(position, work, study)


def _over(service: Service, match: str) -> Position:
    """Return a match that can be analysed. Raise Problem `analysis_closed` or `analysis_too_long`."""
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
    return _waiting(work, about)


def _asked(service: Service, call: Call, work: Owed) -> Study:
    """Return a study, and begin it for the caller if need be. Raise Problem `too_many_requests` or `too_many_at_once`."""
    studies = service.platform.studies
    study = studies.look(work)
    if study is None:
        call.info.used = service.throttle.spend((_UNITS[work.kind], work.creator))
        study = studies.begin(work)
        if study is None:
            raise Problem("too_many_at_once", limit=BOUNDS[work.kind].at_once, what=f"{_UNITS[work.kind]} that wait", whose="player")
    _keep_going(service, work, study)
    return study


def _keep_going(service: Service, work: Owed, study: Study) -> None:
    """Let a study wait for a worker, unless it is done, waits already, or a worker has it. So what the queue has lost goes on.

    Raise Problem `thinking_failed` if it has failed.
    """
    if study.answer == b"":
        raise Problem("thinking_failed")
    if study.answer is None:
        service.platform.jobs.push_again([work._replace(creator=study.asker)])


def _waiting(work: Owed, about: dict[str, object]) -> Response:
    response = private(json_response(about, 202))
    response.headers["Retry-After"] = AGAIN[work.kind]
    return response


OPERATIONS = (
    Operation(
        "get_hint", "GET", "/v1/matches/{match}/hint", "play", "Ask what to do, in a practice match", get_hint,
        {
            200: in_json("The hint.", "Hint"),
            202: in_json("A worker thinks about it. Ask again.", "HintWaiting", ("RetryAfter",)),
        },
        "What a level of play would do for your seat, and what it thinks of the choices, by your seat's view alone: it knows nothing that "
        "you do not know. In practice matches only. The answer is kept for some minutes, and for you alone.",
        key="needed", by="player", query=HintQuery(),
        plays="asks", problems=("not_practice", "nothing_to_decide", "thinking_failed"),
    ),
    Operation(
        "begin_analysis", "POST", "/v1/matches/{match}/analysis", "history", "Ask for the analysis of a match that is over", begin_analysis,
        {
            200: in_json("The analysis, which is there already.", "Analysis"),
            202: in_json("It has begun. Ask with GET until it is there.", "AnalysisWaiting", ("RetryAfter", "Location")),
        },
        "A worker judges every decision of the match (docs/ai.md): what it was worth to its seat before and after, by what the seat knew, "
        "and what would have been better. Everybody with a key may ask for it, and everybody may read it. It is made once for each level, "
        "kept for a week, and is the same whenever it is made. What nobody asks for ends.",
        key="needed", by="player", query=AnalysisQuery(),
        problems=("analysis_closed", "analysis_too_long", "thinking_failed"),
    ),
    Operation(
        "get_analysis", "GET", "/v1/matches/{match}/analysis", "history", "Get the analysis of a match that is over", get_analysis,
        {
            200: in_json("The analysis.", "Analysis"),
            202: in_json("It is being made. Ask again.", "AnalysisWaiting", ("RetryAfter",)),
        },
        "The analysis that somebody has asked for with `POST`.",
        key="optional", query=AnalysisQuery(),
        problems=("no_analysis", "analysis_closed", "analysis_too_long", "thinking_failed"),
    ),
)  # fmt: skip
