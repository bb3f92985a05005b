"""Audit a match on the server, and export its record for an independent audit."""

from __future__ import annotations

import threading

from flask import Response

from events import recall
from events.audit import audit, record_header
from events.lists import standing_of
from games import patterns
from games.schema import anything, described, either, flag, ids, listing, nullable, optional, record, text
from record.trail import BROKEN, KEPT, PARTLY, TRUSTED, UNDISCLOSED, VERIFIED, as_json
from service import sight
from service.api.operations import Answer, Call, Operation, in_json
from service.api.shapes import CONTENT_HASH, COUNT, DIGEST, MATCH_ID, SIGNED, TIME, VERSION, growing, named, versions
from service.api.sidelog import note_whole
from service.context import Service
from service.http.addresses import address_of
from service.http.keys import ADMIN
from service.http.problems import Problem
from service.http.responses import JSON, NDJSON, json_response, prefers, private

# An audit needs much CPU, and anybody may ask for one. So a process runs one at a time, and few callers wait for their turn.
_AUDITING = threading.BoundedSemaphore(1)


def get_audit(service: Service, call: Call, match: str) -> Response:
    """Audit a match. Return the report."""
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
    """Return every entry of a match in full, as it is stored."""
    check_may_audit(service, call, match)
    count_audit(service, call)
    note_whole(service, match, call.caller, "record")
    header = record_header(service.platform, match)
    # Read everything before answering: a body that breaks off would look like a record that ends there.
    entries = list(service.platform.store.log.read_all(match))
    check_may_audit(service, call, match)
    if prefers(call.header("Accept"), NDJSON):
        response = Response(b"".join(line + b"\n" for line in (header, *entries)), mimetype=NDJSON)
    else:
        response = Response(b'{"entries":[%b],%b' % (b",".join(entries), header[1:]), mimetype=JSON)
    return private(response, "Authorization, Accept")


def count_audit(service: Service, call: Call) -> None:
    """Count an audit towards its limit. Raise Problem `too_many_requests`."""
    if call.caller != ADMIN:
        call.info.used = service.throttle.count("audits", address_of(call.environ))


def check_may_audit(service: Service, call: Call, match: str) -> None:
    """Raise Problem `audit_closed` unless the caller may audit.

    Referees without a seat in the match may audit it even if its position cannot be read. So damaged matches can be audited, too.
    """
    caller = service.keys.caller_now(call.header("Authorization"))
    platform = service.platform
    standing = standing_of(platform, match) if caller.referees and caller.id is not None else None
    plays = standing is not None and any(occupant.get("player") == caller.id for occupant in standing["seats"].values())
    if caller.referees and not plays:
        return
    if not sight.may_audit(recall.position(platform, match), caller):
        raise Problem("audit_closed")


_ASKED_BY = named(
    "AskedBy",
    record(
        {"id": text(about="Its Idempotency-Key."), "fingerprint": text(about="The SHA-256 of what it asked for, in hex.")},
        "The request that caused an entry.",
    ),
)
_AI_DECISION = named(
    "AiDecision",
    record(
        {
            "level": text(about="The level that decided."),
            "players": described(COUNT, "The revision of the artificial players."),
            "weights": described(DIGEST, "The SHA-256 of their plans and weights for the game."),
            "saw": text(patterns.anchored(patterns.SAW), "The SHA-256 of all that the level saw, its first 16 digits (docs/auditing.md)."),
            "budget": described(COUNT, "The iterations that the level was allowed."),
            "spent": described(COUNT, "The iterations that it used."),
        },
        "How an artificial player decided. With the secret of the match anybody can repeat the decision.",
    ),
)
_ENTRY = named(
    "RecordEntry",
    record(
        {
            "match": MATCH_ID,
            "version": versions("The version of the match after this entry."),
            "actor": text(about="A seat or `system`. For actions of the table: the id of a player."),
            "action": anything("The accepted action."),
            "events": listing(anything(), about="What followed from the action, in order."),
            "format": described(COUNT, "The format of the entry, 3."),
            "revision": described(COUNT, "The revision of the rules that decided it."),
            "rules": described(CONTENT_HASH, "The content hash of the rules that decided it."),
            "at": TIME,
            "request": optional(
                growing(either(_ASKED_BY, _AI_DECISION, about="What caused the entry: a request with a key, or an artificial player."))
            ),
            "digest": described(DIGEST, "Covers this entry and all before it."),
            "secret": optional(described(DIGEST, "The secret of the match. Only the entry that ended the match has it.")),
            "signed": optional(SIGNED),
        },
        "An entry in full (docs/auditing.md).",
    ),
)
RECORD = named(
    "Record",
    record(
        {
            "match": MATCH_ID,
            "blind": described(nullable(DIGEST), "The key of all salts. null while a seat is open."),
            "entries": listing(_ENTRY, about="Canonical JSON, byte for byte as it is stored."),
        },
        "The full record of a match.",
    ),
)
_FINDING = named(
    "Finding",
    record(
        {
            "version": described(VERSION, "The version of the entry."),
            "code": text(about="What is wrong, as a stable code (docs/auditing.md)."),
            "detail": text(about="What is wrong, in a sentence."),
        },
        "Something that an audit found wrong.",
    ),
)
AUDIT = named(
    "Audit",
    record(
        {
            "ok": flag("Whether the audit found nothing wrong."),
            "match": MATCH_ID,
            "game": text(about="The id of the game."),
            "versions": described(VERSION, "How many entries were audited."),
            "digest": described(DIGEST, "The digest of the last entry, which covers all entries."),
            "chain": named("ChainState", ids([VERIFIED, UNDISCLOSED], "Whether the digests were checked, or cannot be checked yet.")),
            "commitment": named(
                "CommitmentState", ids([KEPT, BROKEN, UNDISCLOSED], "Whether the secret has the published hash, or is not published yet.")
            ),
            "published": text(about="The hash of the secret in the first entry. Compare it with the one that you noted."),
            "dice": named(
                "DiceState",
                ids([VERIFIED, PARTLY, UNDISCLOSED], "Whether all draws were checked, some, or none as the secret is not published yet."),
            ),
            "revisions": listing(COUNT, about="The revisions of the rules that the entries name."),
            "rules": listing(CONTENT_HASH, about="The content hashes of the rules that the entries name."),
            "rules_here": described(CONTENT_HASH, "The content hash of the rules of this server."),
            "replayed_only": described(
                COUNT, "How many entries were replayed but not decided again, because of other rules or an unpublished secret."
            ),
            "origin": nullable(
                described(
                    named("OriginState", ids([VERIFIED, TRUSTED], "Whether the origin of a practice match was compared.")),
                    "Whether the first position of a practice match was compared with its origin, or trusted because the origin was not "
                    "available. null for other matches.",
                )
            ),
            "signed": described(COUNT, "How many entries their actors have signed."),
            "signatures": nullable(
                described(
                    named("SignaturesState", ids([VERIFIED, UNDISCLOSED], "Whether every signature of an actor could be checked.")),
                    "Whether every signature of an actor could be checked. null if there is none.",
                )
            ),
            "findings": listing(_FINDING, about="Everything that the audit found wrong."),
        },
        "The report of an audit.",
    ),
)

OPERATIONS = (
    Operation(
        "get_audit", "GET", "/v1/matches/{match}/audit", "history", "Audit a match", get_audit,
        {200: in_json("The report.", AUDIT)},
        "Replays the match, decides every action again with the recorded dice, and compares the results. The report names the version of "
        "each difference. Anybody may audit a match that is over, without a key. Referees who do not play in the match may audit it at "
        "any time. Each process of the server runs one audit at a time.",
        key="optional", problems=("audit_closed",),
    ),
    Operation(
        "get_record", "GET", "/v1/matches/{match}/record", "history", "Get the full record, for an audit of your own", get_record,
        {
            200: Answer(
                "The entries in full, and the key of the salts. With `Accept: application/x-ndjson` the first line has the key, and each "
                "further line has an entry.",
                {JSON: RECORD}, preferred=(NDJSON,),
            )
        },
        "Everything that `audit` reads, for an independent audit (docs/auditing.md). Only for callers who may audit.",
        key="optional", problems=("audit_closed",),
    ),
)  # fmt: skip
