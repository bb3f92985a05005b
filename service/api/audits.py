"""Audits: the report about a match, and the record for an audit of one's own."""

from __future__ import annotations

import threading

from flask import Response

from events import recall
from events.audit import audit, record_header
from events.lists import standing_of
from games.schema import anything, described, either, flag, ids, listing, nullable, optional, record, text
from record.trail import BROKEN, KEPT, PARTLY, TRUSTED, UNDISCLOSED, VERIFIED, as_json
from service import sight
from service.api.operations import Answer, Call, Operation, in_json
from service.api.shapes import CONTENT_HASH, COUNT, DIGEST, MATCH_ID, TIME, VERSION, growing, named, versions
from service.api.sidelog import note_whole
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


_ASKED_BY = named(
    "AskedBy",
    record(
        {"id": text(about="Its Idempotency-Key."), "fingerprint": text(about="A SHA-256 of what it asked for, in hex.")},
        "The request that caused an entry.",
    ),
)
_AI_DECISION = named(
    "AiDecision",
    record(
        {
            "level": text(about="The level that decided."),
            "players": described(COUNT, "The revision of the artificial players that decided."),
            "weights": described(DIGEST, "A SHA-256 of their plans and weights for the game."),
            "saw": described(DIGEST, "A SHA-256 of all that the level was shown (docs/auditing.md)."),
            "budget": described(COUNT, "The iterations that the level had for the decision."),
            "spent": described(COUNT, "The iterations that it did."),
        },
        "The decision of an artificial player. With the secret of the match anybody can run it again.",
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
            "format": described(COUNT, "The format of the entry, 2."),
            "revision": described(COUNT, "The revision of the rules that decided it."),
            "rules": described(CONTENT_HASH, "The content hash of the rules that decided it."),
            "at": TIME,
            "request": optional(
                growing(either(_ASKED_BY, _AI_DECISION, about="What asked for it: a request that had a key, or an artificial player."))
            ),
            "digest": described(DIGEST, "Covers this entry and all before it."),
            "secret": optional(described(DIGEST, "The secret of the match. Only the entry that ended the match has it.")),
        },
        "An entry in full (docs/auditing.md).",
    ),
)
RECORD = named(
    "Record",
    record(
        {
            "match": MATCH_ID,
            "blind": described(nullable(DIGEST), "The key of the salts of all entries; null while a seat is open."),
            "entries": listing(_ENTRY, about="Canonical JSON, byte for byte as it is stored."),
        },
        "The full record of a match.",
    ),
)
_FINDING = named(
    "Finding",
    record(
        {
            "version": described(VERSION, "The version of the entry that it is about."),
            "code": text(about="What is wrong, as a stable code (docs/auditing.md)."),
            "detail": text(about="What is wrong, in a sentence."),
        },
        "Something that is wrong.",
    ),
)
AUDIT = named(
    "Audit",
    record(
        {
            "ok": flag("Whether nothing is wrong."),
            "match": MATCH_ID,
            "game": text(about="The id of the game."),
            "versions": described(VERSION, "How many entries were audited."),
            "digest": described(DIGEST, "The digest of the last entry, which covers all entries."),
            "chain": named("ChainState", ids([VERIFIED, UNDISCLOSED], "Whether the digests were checked, or could not be yet.")),
            "commitment": named(
                "CommitmentState", ids([KEPT, BROKEN, UNDISCLOSED], "Whether the secret has the published hash, or is not told yet.")
            ),
            "published": text(about="The hash of the secret in the first entry. Compare it with the one that you noted."),
            "dice": named(
                "DiceState",
                ids([VERIFIED, PARTLY, UNDISCLOSED], "Whether all draws were checked, some, or none because the secret is not told yet."),
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
                    "Whether the position from which a practice match began was compared with that of its origin, or was taken on "
                    "trust because that match was not at hand. null for any other match.",
                )
            ),
            "findings": listing(_FINDING, about="Everything that is wrong. Empty if all is well."),
        },
        "The report of an audit.",
    ),
)

OPERATIONS = (
    Operation(
        "get_audit", "GET", "/v1/matches/{match}/audit", "history", "Audit a match", get_audit,
        {200: in_json("The report.", AUDIT)},
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
                {JSON: RECORD}, preferred=(NDJSON,),
            )
        },
        "Everything that `audit` reads, for an independent audit (docs/auditing.md). Only for callers who may audit.",
        key="optional", problems=("audit_closed",),
    ),
)  # fmt: skip
