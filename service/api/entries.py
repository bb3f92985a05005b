"""The entries of a match, page by page."""

from __future__ import annotations

from collections.abc import Generator

from flask import Response

from events import recall
from games.kernel import Game
from games.schema import Shape, described, either, listing, optional, record, text
from record.positions import Position
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
from service.api.sidelog import note_entries, note_view
from service.context import Service
from service.http.addresses import address_of
from service.http.keys import Caller
from service.http.places import HeldBody
from service.http.problems import Problem
from service.http.responses import JSON, NDJSON, prefers, private, sorted_json
from service.http.schemas import EntriesQuery
from service.kept import of_position
from service.shown_entries import ShownEntry
from table.state import delay


def get_entries(service: Service, call: Call, match: str) -> Response:
    """Return a page of entries. With `wait`, return the next entry as soon as it exists."""
    newest = recall.position(service.platform, match)
    viewer = sight.viewer_of(newest, call.caller, call.query.get("viewer"))
    position = sight.seen(service.platform, newest, call.caller)
    call.info.open = sight.is_open(newest, viewer)
    after, limit, seconds, proof = call.query["after"], call.query["limit"], call.query["wait"], call.query["proof"]
    recall.check_version(position, after)
    in_lines = prefers(call.header("Accept"), NDJSON)
    response = Response(mimetype=NDJSON if in_lines else JSON)
    last = min(position.version, after + limit)
    if last > after or not seconds or call.environ["REQUEST_METHOD"] == "HEAD" or position.ended:
        if last > after:
            note_view(service, newest, call.caller, viewer, last)
        response.set_data(_page(service, position, viewer, after, last, _between(service, newest, viewer, after, last, proof), in_lines))
    else:
        body = HeldBody(service.streams.take(call.caller.id, call.environ), _page_after_waiting(service, call, position, viewer, in_lines))
        response.response = body
        response.call_on_close(body.close)
    return private(response, "Authorization, Accept")


def _between(service: Service, newest: Position, viewer: str, after: int, last: int, proof: bool) -> bytes:
    """Return the entries after a version up to `last`, as `_written`. They are kept until the match moves on."""

    def read() -> bytes:
        game = recall.rules_of(service.platform, newest)
        return _written(service.entries.read(game, newest.match, after, last - after, viewer, proof) if last > after else [])

    return service.kept.made(of_position("entries", newest, viewer, (after, last, proof)), read)


def _written(found: list[ShownEntry]) -> bytes:
    """Return entries as lines: the players whom they name, between blanks, then each entry."""
    players = {player.encode() for entry in found for player in entry.players}
    return b"\n".join([b" ".join(players), *[entry.json for entry in found]])


def _page(service: Service, position: Position, viewer: str, after: int, last: int, written: bytes, in_lines: bool) -> bytes:
    """Return the body of an answer with the entries after a version up to `last`. `position`: the newest that the caller may see."""
    players, *entries = written.split(b"\n")
    if in_lines:
        return b"".join([entry + b"\n" for entry in entries])
    company = service.directory.company(sight.players_at(position).union(players.decode().split()))
    rest = {"game": position.game, "match": position.match, "players": company.players, "version": last, "viewer": viewer}
    return b'{"after":%d,"entries":[%b],%b' % (after, b",".join(entries), sorted_json(rest)[1:])


def _page_after_waiting(service: Service, call: Call, position: Position, viewer: str, in_lines: bool) -> Generator[bytes, None, None]:
    """Yield the body of an answer as soon as there is an entry after a version, or the time is up. `position`: as for `_page`."""
    match, game, hides = position.match, recall.rules_of(service.platform, position), delay(position.table) != 0
    after, limit, proof = call.query["after"], call.query["limit"], call.query["proof"]

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

    found = yield from longpoll.wait_for_entries(service, match, call.query["wait"], read)
    yield _page(service, position, viewer, after, found[-1].version if found else after, _written(found), in_lines)


_PART = named(
    "ProofPart",
    growing(
        either(
            record(
                {"salt": described(DIGEST, "The salt, in hex.")},
                "The part is shown whole. Its leaf is the SHA-256 of the salt and the part.",
            ),
            record({"leaf": described(DIGEST, "The leaf, in hex.")}, "Something of the part is hidden. This is its leaf."),
            about="The proof of one part of an entry: its salt or its leaf.",
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
        "What you need to compute the digest of an entry from what the viewer sees (docs/auditing.md).",
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
        "What every entry has.",
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
            f"An accepted action of {game.title} with the events that followed, as its viewer may see it.",
        ),
    )


def _entries(game: Game) -> Shape:
    """Return the shape of a page of entries."""
    return record(
        {
            **of_match(game),
            "viewer": VIEWER,
            "after": described(VERSION, "The entries come after this version."),
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
        "after `after`. If none comes in time, it is empty. If the match has not reached `after`, it is 404.",
        key="optional", query=EntriesQuery(),
    ),
)  # fmt: skip
