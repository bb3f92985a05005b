"""Dossiers: everything about a match in one signed file, in full or as the caller may see it."""

from __future__ import annotations

from collections.abc import Generator

import structlog
from flask import Response

from events import recall
from events.dossier_writing import write
from events.errors import PlatformError
from events.notary import server_log
from games.kernel import AUDITOR, SPECTATOR
from record.dossiers.lines import WHOLE
from record.positions import Position
from service import sight
from service.api.audits import count_audit
from service.api.operations import Answer, Call, Operation, as_text
from service.api.sidelog import note_dossier
from service.context import Service
from service.http.keys import Caller
from service.http.places import HeldBody
from service.http.problems import Problem
from service.http.responses import NDJSON, TEXT, also_as, private
from service.http.schemas import DossierQuery

log = structlog.get_logger("service")


def get_dossier(service: Service, call: Call, match: str) -> Response:
    """Return the dossier of a match: in full for callers who may audit it, else as the caller may see the match."""
    logs = server_log.all_shown(service.platform)  # before the position
    newest = recall.position(service.platform, match)
    viewer = _viewer_of(newest, call.caller, call.query.get("viewer"))
    response = also_as(TEXT, private(Response(mimetype=NDJSON)), call.header("Accept"))
    response.headers["Content-Disposition"] = f'attachment; filename="{match}.ndjson"'
    count_audit(service, call)
    if call.environ["REQUEST_METHOD"] == "HEAD":
        return response
    position = sight.seen(service.platform, newest, call.caller)
    place = service.answers.take(call.caller.id, call.environ)
    try:
        note_dossier(service, newest, call.caller, AUDITOR if viewer == WHOLE else viewer)
        chunks = write(service.platform, position, viewer, logs)
        first = next(chunks)  # an error before the first line is answered as a problem
    except BaseException:
        place.give_back()
        raise
    body = HeldBody(place, _rest(service, call, newest, viewer, first, chunks))
    response.response = body
    response.call_on_close(body.close)
    return response


def _viewer_of(position: Position, caller: Caller, asked: str | None) -> str:
    """Return the viewer of the dossier. Raise Problem `no_such_seat` or `hidden_view`."""
    if asked is None and sight.may_audit(position, caller):
        return WHOLE
    if asked == WHOLE:
        if not sight.may_audit(position, caller):
            raise Problem("hidden_view", viewer=asked)
        return asked
    if asked == AUDITOR:
        raise sight.no_such_seat(position, asked)
    return sight.viewer_of(position, caller, asked)


def _rest(
    service: Service, call: Call, position: Position, viewer: str, first: bytes, chunks: Generator[bytes, None, None]
) -> Generator[bytes, None, None]:
    """Yield the bytes of a dossier while the caller may see them. A dossier that breaks off lacks its last line; verifiers report that."""
    yield first
    if not _still_may(service, call, position, viewer):
        return
    try:
        for chunk in chunks:
            yield chunk
            if not _still_may(service, call, position, viewer):
                return
    except PlatformError as reason:
        log.warning("dossier_broken_off", match=position.match, code=reason.code)


def _still_may(service: Service, call: Call, position: Position, viewer: str) -> bool:
    """Return True if the caller may still see the match as this viewer. A match that is over hides nothing."""
    if position.ended or (viewer == SPECTATOR and position.begun is None):
        return True
    caller = service.keys.renewed(call.header("Authorization"))
    if caller is None:
        return False
    try:
        now = recall.position(service.platform, position.match)
        _viewer_of(now, caller, viewer)
    except (Problem, PlatformError):
        return False
    return viewer == SPECTATOR or sight.follows(now, caller)


OPERATIONS = (
    Operation(
        "get_dossier", "GET", "/v1/matches/{match}/dossier", "history", "Get everything about a match in a signed file", get_dossier,
        {
            200: Answer("The dossier, one JSON object a line. A dossier without its last line is incomplete.", as_text(NDJSON, TEXT)),
        },
        "Anybody can check the file offline with `./run verify` or `verify/verify.mjs` (docs/auditing.md). It has the entries with their "
        "digests, who had each seat, refused actions, what staff saw, the receipt, the leaves of the server's log, and a signature "
        "over everything. Anybody gets the full dossier when the match is over. Referees who do not play in the match get it at any time; "
        "that is recorded first. Before the end, players and spectators get what they may see, with proofs. A dossier counts towards the "
        "limit of audits.",
        key="optional", query=DossierQuery(),
    ),
)  # fmt: skip
