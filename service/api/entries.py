"""The entries of a match, page by page."""

from __future__ import annotations

import time
from functools import partial
from typing import NamedTuple

from flask import Response

from events import recall
from events.errors import PlatformError
from games.kernel import Game
from games.schema import Shape, described, either, listing, optional, record, text
from record.positions import Position
from service import sight
from service.api.game_shapes import declared
from service.api.operations import Answer, Call, Operation
from service.api.shapes import (
    CONTENT_HASH,
    COUNT,
    DIGEST,
    MATCH_ID,
    PLAYERS,
    SIGNED,
    TIME,
    VERSION,
    VIEWER,
    by_game,
    extending,
    growing,
    named,
    of_match,
    prefix,
    versions,
)
from service.api.sidelog import note_entries, note_view
from service.api.viewing import Viewing, plays, viewing
from service.context import Service
from service.http.following import Displaced, Follower, Round, Steps, Wake, follow
from service.http.problems import Problem
from service.http.responses import JSON, NDJSON, prefers, private, sorted_json
from service.http.schemas import EntriesQuery
from service.kept import of_position
from service.shown_entries import ShownEntry


def get_entries(service: Service, call: Call, match: str) -> Response:
    """Return a page of entries. With `wait`, return the next entry as soon as it exists."""
    newest = recall.position(service.platform, match)
    viewer = sight.viewer_of(newest, call.caller, call.query.get("viewer"))
    position = sight.seen(service.platform, newest, call.caller)
    call.info.open = sight.is_open(newest, viewer)
    after, limit, seconds, proof = call.query["after"], call.query["limit"], call.query["wait"], call.query["proof"]
    recall.check_version(position, after)
    in_lines = prefers(call.header("Accept"), NDJSON)
    response = private(Response(mimetype=NDJSON if in_lines else JSON), "Authorization, Accept")
    page = _Page(service, position.game, match, viewer, after, in_lines, frozenset(sight.players_at(position)))
    last = min(position.version, after + limit)
    if last > after or not seconds or call.environ["REQUEST_METHOD"] == "HEAD" or position.ended:
        if last > after:
            note_view(service, newest, call.caller, viewer, last)
        response.set_data(page.written(last, _between(service, newest, viewer, after, last, proof)))
        return response
    place = service.streams.take(call.caller.id, call.environ, plays(newest, call.caller))
    until = time.monotonic() + min(seconds, service.settings.wait_limit)
    return follow(response, call.environ, Follower(place, partial(_steps, viewing(service, call, newest, viewer), page, limit, until)))


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


class _Page(NamedTuple):
    """A page of entries after a version. `players`: those that the match names."""

    service: Service
    game: str
    match: str
    viewer: str
    after: int
    in_lines: bool
    players: frozenset[str]

    def written(self, last: int, entries: bytes) -> bytes:
        """Return the body of an answer with entries up to `last`, which are given as `_written`."""
        named, *lines = entries.split(b"\n")
        if self.in_lines:
            return b"".join([line + b"\n" for line in lines])
        company = self.service.directory.company(self.players.union(named.decode().split()))
        rest = {"game": self.game, "match": self.match, "players": company.players, "version": last, "viewer": self.viewer}
        return b'{"after":%d,"entries":[%b],%b' % (self.after, b",".join(lines), sorted_json(rest)[1:])


def _steps(view: Viewing, page: _Page, limit: int, until: float, wake: Wake) -> Steps:
    """Yield the page as soon as there is an entry after its version, or the time is up.

    The answer has begun, so it can no longer be a problem. If one comes up it has no entries, and the client's next request hears of it.
    """
    round = Round()
    try:
        round = yield 0.0
        with view.service.hub.watch(view.match, wake) as watch:
            while not (found := _read(view, round, page.after, limit)) and time.monotonic() < until and not watch.removed:
                round = yield until
    except (PlatformError, Problem, Displaced):
        found = []
    last = found[-1].version if found else page.after
    yield round.share((*page[1:], last, view.proof), lambda: page.written(last, _written(found)))


def _read(view: Viewing, round: Round, after: int, limit: int) -> list[ShownEntry]:
    """Return the entries after a version that the caller may see now. Raise Problem `hidden_view`."""
    look = partial(view.service.entries.read, view.game, view.match, after, limit, view.viewer, view.proof)
    found = round.share(("read", view.match, after, limit, view.viewer, view.proof), look) if view.may_be_new(round, after) else []
    caller = view.caller(round)
    last = view.horizon(round, caller, found[-1].version if found else 0)
    if last == 0:
        raise Problem("hidden_view", viewer=view.viewer)
    found = [entry for entry in found if entry.version <= last]
    if found:
        note_entries(view.service, view.match, caller, view.viewer, found[-1].version)
    return found


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
            "format": described(COUNT, "The format of the entry, 3."),
            "rules": described(CONTENT_HASH, "The content hash of the rules that decided the entry."),
            "action": described(_PART, "The proof of the action."),
            "request": described(_PART, "The proof of the request, which no viewer sees."),
            "signed": described(_PART, "The proof of `signed`, which is null if the entry has none."),
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
            "signed": optional(SIGNED),
            "proof": optional(described(_PROOF, "Only if it was asked for with `proof=true`.")),
        },
        "What every entry has.",
    ),
)


def entry(game: Game) -> Shape:
    """Return the shape of an entry, as its viewer may see it."""
    own = declared(game)
    return named(
        f"{prefix(game)}Entry",
        extending(
            _ENTRY,
            {
                "action": described(own.accepted, "The accepted action. Only its `type` if the viewer may not know the rest."),
                "events": listing(own.event, about="What followed from the action, in order."),
            },
            f"An accepted action of {game.title} with the events that followed, as its viewer may see it.",
        ),
    )


_PAGE = named(
    "EntriesBase",
    record(
        {
            "match": MATCH_ID,
            "viewer": VIEWER,
            "after": described(VERSION, "The entries come after this version."),
            "version": described(VERSION, "The version of the last entry here, or `after` if there is none. Continue after it."),
            "players": PLAYERS,
        },
        "What every page of entries has.",
    ),
)


def _entries(game: Game) -> Shape:
    """Return the shape of a page of entries."""
    return extending(
        _PAGE,
        {**of_match(game), "entries": listing(entry(game), about="The entries, oldest first.")},
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
