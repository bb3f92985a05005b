"""The side log of a match: refused actions of its seats, and hidden information that staff saw."""

from __future__ import annotations

from flask import Response

from events import recall
from events.lists import standing_of
from events.notary.sidelog import Reads
from evidence.running import EMPTY, Running
from games import patterns
from games.kernel import AUDITOR
from games.schema import anything, described, listing, mapping, nullable, optional, record, text, whole
from record.positions import Position
from service import sight
from service.api.operations import Call, Operation, in_json
from service.api.shapes import DIGEST, MATCH_ID, PLAYER_ID, SEAT, TIME, named, versions
from service.context import Service
from service.http.keys import Caller
from service.http.problems import Problem
from service.http.responses import json_response, private


def note_view(service: Service, position: Position, caller: Caller, viewer: str, version: int | None = None) -> None:
    """Record that staff is about to see more of a match than spectators do. Nothing is recorded about other callers.

    `position`: the newest. `version`: the version that they will see, if it is not the newest. Raise StoreUnavailable.
    """
    if sight.sees_more(position, caller, viewer):
        service.platform.sidelog.note_read(position.match, version or position.version, _reader(caller), f"view:{viewer}")


def note_entries(service: Service, match: str, caller: Caller | None, viewer: str, version: int) -> None:
    """Record that staff is about to see entries up to a version, as `note_view` does. Raise NoMatch, StoreUnavailable."""
    if caller is not None and caller.referees:
        note_view(service, recall.position(service.platform, match), caller, viewer, version)


def note_whole(service: Service, match: str, caller: Caller, what: str) -> None:
    """Record that staff is about to see the record or the audit of a match that is not over, even if the match cannot be read.

    Raise NoMatch, StoreUnavailable.
    """
    if not caller.referees:
        return
    recall.check_id(match)
    standing = standing_of(service.platform, match)
    if standing is None or standing["secret"] is None:
        service.platform.sidelog.note_read(match, service.platform.store.log.head(match), _reader(caller), what)


def note_dossier(service: Service, position: Position, caller: Caller, viewer: str) -> None:
    """Record that staff is about to get a dossier with more of a match than spectators see, as `note_view` does."""
    if sight.sees_more(position, caller, viewer):
        service.platform.sidelog.note_read(position.match, position.version, _reader(caller), "dossier")


def get_reads(service: Service, call: Call, match: str) -> Response:
    """Return what staff saw. Reads reveal how far a match is, so strangers get none while the match is hidden."""
    follows = sight.follows(recall.position(service.platform, match), call.caller)
    found = service.platform.sidelog.all_reads(match) if follows else Reads([], [], EMPTY)
    reads = [read.as_json() for read in found.reads]
    return private(json_response({"match": match, "reads": reads, "running": _running(found.running(match))}))


def get_refusals(service: Service, call: Call, match: str) -> Response:
    """Return the refused actions of the caller's seats, or of all seats if the caller may audit. Raise Problem `hidden_refusals`."""
    position = recall.position(service.platform, match)
    found = service.platform.sidelog.refusals(match)
    if not sight.may_audit(position, call.caller):
        seats = position.seats_of(call.caller.id) if call.caller.id is not None else []
        if not seats:
            raise Problem("hidden_refusals")
        found = found.of(seats)
    note_view(service, position, call.caller, AUDITOR)
    dropped = sum(running.number for running in found.dropped.values())
    refused = [each.as_json() for each in found.refused]
    running = {seat: _running(each) for seat, each in found.running().items()}
    return private(json_response({"match": match, "refused": refused, "dropped": dropped, "running": running}))


def _running(running: Running) -> dict[str, int | str]:
    return {"count": running.number, "hash": running.hash}


def _reader(caller: Caller) -> str:
    return caller.id or "admin"


RUNNING = named(
    "Running", record({"count": whole(0, about="How many."), "hash": DIGEST}, "All of them (docs/auditing.md, Running hashes).")
)
READS = named(
    "ReadList",
    record(
        {
            "match": MATCH_ID,
            "reads": listing(
                named(
                    "Read",
                    record(
                        {
                            "reader": text(patterns.anchored(f"{patterns.PLAYER}|admin"), "The id of the player who saw it, or `admin`."),
                            "what": text(
                                about="`dossier`, `record`, `audit`, or `view:` and a seat, `auditor`, or, if hidden, `spectator`."
                            ),
                            "count": whole(1, about="How many such reads there were."),
                            "first": text(about="The signed note of the first read (docs/auditing.md)."),
                            "newest": text(about="The signed note of the newest read."),
                        },
                        "Reads of one kind by one reader.",
                    ),
                ),
                about="The reads, by reader and kind.",
            ),
            "running": RUNNING,
        },
        "What staff saw of a match.",
    ),
)
REFUSALS = named(
    "Refusals",
    record(
        {
            "match": MATCH_ID,
            "refused": listing(
                named(
                    "RefusedAction",
                    record(
                        {
                            "seat": SEAT,
                            "player": described(PLAYER_ID, "The player who had the seat."),
                            "version": versions("The version of the match when the action was refused."),
                            "at": described(TIME, "When it was received, in milliseconds since 1970."),
                            "action": optional(anything("The action as it was sent, if it has at most 1,000 bytes.")),
                            "sha256": optional(described(DIGEST, "The SHA-256 of the canonical JSON of a larger action.")),
                            "code": text(about="Why it was refused."),
                            "rule": nullable(text(about="The rule that forbids it, or null.")),
                        },
                        "An action of a seat that was refused.",
                    ),
                ),
                about="The refused actions, oldest first.",
            ),
            "dropped": whole(0, about="How many earlier ones were dropped."),
            "running": mapping(SEAT, RUNNING, "By seat."),
        },
        "Refused actions of a match.",
    ),
)

OPERATIONS = (
    Operation(
        "get_reads", "GET", "/v1/matches/{match}/reads", "history", "List what staff saw of a match", get_reads,
        {200: in_json("The reads, by reader and kind.", READS)},
        "Referees who do not play in a match may see its hidden information while it runs. The server signs and records each such read "
        "before it answers. It keeps the first and the newest read of each reader and kind, and their number. Anybody may see them. If the "
        "match hides from spectators, they see them only when it is over, because reads reveal how far it is.",
        key="optional",
    ),
    Operation(
        "get_refusals", "GET", "/v1/matches/{match}/refusals", "history", "List refused actions of seats", get_refusals,
        {200: in_json("The refused actions, oldest first.", REFUSALS)},
        "The newest refused actions of seats, at most 4,000 bytes of a seat, for 30 days after the last one. You see those of your "
        "seats. Referees who do not play in the match see all, and so does everybody when it is over. A refusal appears within a second "
        "after its answer. It is lost if the server is killed before that.",
        key="optional", problems=("hidden_refusals",),
    ),
)  # fmt: skip
