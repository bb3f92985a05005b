"""Entries, page by page."""

from __future__ import annotations

from collections.abc import Generator

from flask import Response

from events import recall
from games.kernel import Game
from games.schema import Shape, described, either, listing, optional, record, text
from service import sight
from service.api import longpoll
from service.api.game_shapes import declared
from service.api.operations import Answer, Call, Operation
from service.api.shapes import (
    CONTENT_HASH,
    COUNT,
    DIGEST,
    PLAYERS,
    TIME,
    VERSION,
    VIEWER,
    by_game,
    camel,
    extending,
    growing,
    named,
    of_match,
    versions,
)
from service.api.sidelog import note_entries
from service.context import Service
from service.http.addresses import address_of
from service.http.keys import Caller
from service.http.places import HeldBody
from service.http.problems import Problem
from service.http.responses import JSON, NDJSON, prefers, private, sorted_json
from service.http.schemas import EntriesQuery
from service.shown_entries import ShownEntry
from table.state import delay


def get_entries(service: Service, call: Call, match: str) -> Response:
    """Return a page of entries. With `wait`, return the next entry as soon as it exists."""
    newest = recall.position(service.platform, match)
    viewer = sight.viewer_of(newest, call.caller, call.query.get("viewer"))
    position, hides = sight.seen(service.platform, newest, call.caller), delay(newest.table) != 0
    call.info.open = sight.is_open(newest, viewer)
    game = recall.rules_of(service.platform, position)
    after, limit, seconds, proof = call.query["after"], call.query["limit"], call.query["wait"], call.query["proof"]
    recall.check_version(position, after)
    in_lines = prefers(call.header("Accept"), NDJSON)
    response = Response(mimetype=NDJSON if in_lines else JSON)

    def renewed() -> Caller | None:
        return service.keys.renewed(call.header("Authorization"), address_of(call.environ))

    def last_seen(caller: Caller | None) -> int:
        return sight.horizon(service.platform, caller, match, viewer, hides)

    def read() -> list[ShownEntry]:
        found = service.entries.read(game, match, after, limit, viewer, proof) if not hides or last_seen(renewed()) > after else []
        caller = renewed()
        last = last_seen(caller)
        if last == 0:
            raise Problem("hidden_view", viewer=viewer)
        found = [entry for entry in found if entry.version <= last]
        if found:
            note_entries(service, match, caller, viewer, found[-1].version)
        return found

    def page(found: list[ShownEntry]) -> bytes:
        if in_lines:
            return b"".join(entry.json + b"\n" for entry in found)
        company = service.directory.company(sight.players_at(position).union(*(entry.players for entry in found)))
        version = found[-1].version if found else after
        rest = sorted_json({"game": game.id, "match": match, "players": company.players, "version": version, "viewer": viewer})
        return b'{"after":%d,"entries":[%b],%b' % (after, b",".join(entry.json for entry in found), rest[1:])

    def page_after_waiting() -> Generator[bytes, None, None]:
        yield page((yield from longpoll.wait_for_entries(service, match, seconds, read)))

    found = read()
    if found or not seconds or call.environ["REQUEST_METHOD"] == "HEAD" or position.ended:
        response.set_data(page(found))
    else:
        body = HeldBody(service.streams.take(call.caller.id, call.environ), page_after_waiting())
        response.response = body
        response.call_on_close(body.close)
    return private(response, "Authorization, Accept")


_PART = named(
    "ProofPart",
    growing(
        either(
            record(
                {"salt": described(DIGEST, "The salt, in hex.")},
                "The part is shown whole. Its leaf is the SHA-256 of the salt and the part.",
            ),
            record({"leaf": described(DIGEST, "The leaf, in hex.")}, "Something of the part is hidden. This is its leaf."),
            about="What is needed for one part of an entry: its salt or its leaf.",
        )
    ),
)
_PROOF = named(
    "Proof",
    record(
        {
            "format": described(COUNT, "The format of the entry, 2."),
            "rules": described(CONTENT_HASH, "The content hash of the rules that decided the entry."),
            "action": described(_PART, "The proof of the action."),
            "request": described(_PART, "The proof of the request, which no viewer sees."),
            "events": listing(_PART, about="One for each event."),
        },
        "What is needed to compute the digest of an entry from what its viewer sees (docs/auditing.md).",
    ),
)


_ENTRY = named(
    "EntryBase",
    record(
        {
            "version": versions("The version of the match after this entry."),
            "actor": text(about="A seat or `system`. For actions of the table: the id of a player."),
            "revision": described(COUNT, "The revision of the rules that decided it."),
            "at": TIME,
            "digest": described(DIGEST, "Covers this entry and all before it (docs/auditing.md)."),
            "secret": optional(described(DIGEST, "The secret of the match, in hex. Only the entry that ended the match has it.")),
            "proof": optional(described(_PROOF, "Only if it was asked for with `proof=true`.")),
        },
        "What the entries of all games have.",
    ),
)


def entry(game: Game) -> Shape:
    """Return the shape of an entry, as its viewer may see it."""
    own = declared(game)
    return named(
        f"{camel(game.id)}Entry",
        extending(
            _ENTRY,
            {
                "action": described(own.accepted, "The accepted action. Only its `type` if the viewer may not know the rest."),
                "events": listing(own.event, about="What followed from the action, in order."),
            },
            f"One accepted action of a match of {game.title} with the events that followed, as its viewer may see it.",
        ),
    )


def _entries(game: Game) -> Shape:
    """Return the shape of a page of entries."""
    return record(
        {
            **of_match(game),
            "viewer": VIEWER,
            "after": described(VERSION, "The version after which the entries come."),
            "version": described(VERSION, "The version of the last entry here, or `after` if there is none. Continue after it."),
            "entries": listing(entry(game), about="The entries, oldest first."),
            "players": PLAYERS,
        },
        f"Entries of a match of {game.title}, oldest first.",
    )


ENTRIES = by_game("Entries", "Entries of a match, oldest first.", _entries)

OPERATIONS = (
    Operation(
        "get_entries", "GET", "/v1/matches/{match}/entries", "history", "Get entries: actions with the events that followed",
        get_entries,
        {200: Answer("The entries.", {JSON: ENTRIES}, preferred=(NDJSON,))},
        "With `Accept: application/x-ndjson` the answer has one entry a line. With `wait` the answer comes as soon as there is an entry "
        "after `after`. It is empty if the time is up before. An `after` that the match has not reached is 404.",
        key="optional", query=EntriesQuery(),
    ),
)  # fmt: skip
