"""Audits: the report about a match, and the record for an audit of one's own."""

from __future__ import annotations

import threading

from flask import Response

from events import recall
from events.audit import audit, record_header
from events.lists import standing_of
from record.trail import as_json
from service import sight
from service.api.beside import note_whole
from service.api.game_components import reference
from service.api.operations import Answer, Call, Operation, in_json
from service.context import Service
from service.http.addresses import address_of
from service.http.keys import ADMIN
from service.http.problems import Problem
from service.http.responses import JSON, NDJSON, json_response, prefers, private

# An audit takes the processor for long, and anybody may ask for one. So a process does one at a time, and few wait for their turn.
_AUDITING = threading.BoundedSemaphore(1)


def get_audit(service: Service, call: Call, match: str) -> Response:
    """Return the report of an audit."""
    check_may_audit(service, call, match)
    count_audit(service, call)
    note_whole(service, match, call.caller, "audit")
    with service.audits.take(call.caller.id, call.environ):
        if not _AUDITING.acquire(timeout=1.0):
            raise Problem("busy")
        try:
            report = as_json(audit(service.platform, match))
        finally:
            _AUDITING.release()
    check_may_audit(service, call, match)
    return private(json_response(report))


def get_record(service: Service, call: Call, match: str) -> Response:
    """Return every entry in full, as it is stored."""
    check_may_audit(service, call, match)
    count_audit(service, call)
    note_whole(service, match, call.caller, "record")
    header = record_header(service.platform, match)
    # Read to the end before answering: a body that breaks off would look like a record that ends there.
    entries = list(service.platform.store.log.read_all(match))
    check_may_audit(service, call, match)
    if prefers(call.header("Accept"), NDJSON):
        response = Response(b"".join(line + b"\n" for line in (header, *entries)), mimetype=NDJSON)
    else:
        response = Response(b'{"entries":[%b],%b' % (b",".join(entries), header[1:]), mimetype=JSON)
    return private(response, "Authorization, Accept")


def count_audit(service: Service, call: Call) -> None:
    """Count an audit for its limit. Raise Problem `too_many_requests`."""
    if call.caller != ADMIN:
        call.info.used = service.throttle.count("audits", address_of(call.environ))


def check_may_audit(service: Service, call: Call, match: str) -> None:
    """Raise Problem `audit_closed` unless the caller may audit.

    A referee without a seat in the match may audit it even if it cannot be read, so that damaged matches can be audited too.
    """
    caller = service.keys.caller(call.header("Authorization"), "optional", address_of(call.environ), "read")
    platform = service.platform
    standing = standing_of(platform, match) if caller.referees and caller.id is not None else None
    plays = standing is not None and any(occupant.get("player") == caller.id for occupant in standing["seats"].values())
    if caller.referees and not plays:
        return
    if not sight.may_audit(recall.position(platform, match), caller):
        raise Problem("audit_closed")


OPERATIONS = (
    Operation(
        "get_audit", "GET", "/v1/matches/{match}/audit", "history", "Audit a match", get_audit,
        {200: in_json("The report.", "Audit")},
        "Replays the match from its stream, decides every action again with the recorded dice, and compares. The report names the version "
        "of each difference. Everybody may audit a match that is over, without a key. Referees who do not play in it may audit it at "
        "any time. A process of the server does one audit at a time.",
        key="optional", problems=("audit_closed",),
    ),
    Operation(
        "get_record", "GET", "/v1/matches/{match}/record", "history", "Get the full record, for an audit of your own", get_record,
        {
            200: Answer(
                "The entries in full, and the key of the salts. With `Accept: application/x-ndjson`, first a line with that key, then one "
                "entry a line.",
                {JSON: reference("Record")}, preferred=(NDJSON,),
            )
        },
        "Everything that `audit` reads, for an independent audit (docs/auditing.md). Only for callers who may audit.",
        key="optional", problems=("audit_closed",),
    ),
)  # fmt: skip
