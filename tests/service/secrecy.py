"""The law of secrecy over HTTP: two positions that differ only in what a caller may not know give the caller the same bytes.

`READS` has what is asked at each route that reads, and `written` carries out actions. The routes come from the application, and those from
the table of operations: `unproven` names every route that has no pairs here and no reason in `NOTHING_HIDDEN` either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from flask import Flask

from events.platform import Platform
from events.store.packed import Turn, pack, unpack
from record.entries import START, Entry, blind_key, link
from tests.conftest import Servers
from tests.service.conftest import Caller

RECEIPT = re.compile(
    rb"(receipt/v1(?:\\n|\n)\w+(?:\\n|\n)[0-9]+(?:\\n|\n))[0-9a-f]{64}"
    rb"((?:\\n|\n)[0-9]+(?:(?:\\n|\n)[a-z0-9]+){0,5}(?:\\n|\n){2}\xe2\x80\x94 \S+ )[A-Za-z0-9+/]+="
)
DOSSIER = re.compile(
    rb"(dossier/v1\\n\w+\\n[0-9]+\\n\w+\\n)[0-9a-f]{64}(\\n\\n\xe2\x80\x94 \S+ )[A-Za-z0-9+/]+=",
)
SIDE_LOG = re.compile(rb'^\{[^\n]*"line":"(?:refused|refusals_dropped|reads?)"[^\n]*\}\n', re.MULTILINE)
LINES = re.compile(rb'("line":"end","lines":)[0-9]+')
WRITTEN = re.compile(rb'^\{"at":[0-9]+,"blind"')
MOMENT = re.compile(rb"^id: [0-9]{13}$", re.MULTILINE)  # of a player's own stream; those of a match are versions
SIGNED_TAG = re.compile(r'^("[0-9]+-)[A-Za-z0-9+/]{22}')
OF_REQUESTS = ("X-Request-Id", "RateLimit")
NOBODY = "viewer=nobody"
DRAWN = 8  # one of so many versions is asked for as a board and as a picture; `./run soak` asks for all
ACTED = 40  # actions of a list that are sent at most; all of them in the soak


class Ask(NamedTuple):
    """A request."""

    path: str
    headers: Mapping[str, str] = {}
    method: str = "GET"
    body: Any = None


class About(NamedTuple):
    """What is asked about: a match up to a version, through the eyes of everybody and of these seats."""

    match: str
    versions: int
    seats: tuple[str, ...]

    @property
    def viewers(self) -> list[str]:
        """Queries that name a viewer, or none."""
        return ["", "viewer=spectator", "viewer=auditor", *(f"viewer={seat}" for seat in self.seats), NOBODY]


def once(path: str) -> Callable[[About], Iterator[Ask]]:
    """Ask for a path, with a query that does not exist as well."""

    def asks(about: About) -> Iterator[Ask]:
        asked = path.format(match=about.match, seat=about.seats[-1])
        yield Ask(asked)
        yield Ask(f"{asked}{'&' if '?' in asked else '?'}nonsense=1")

    return asks


def through_all_eyes(path: str, *queries: str, **headers: str) -> Callable[[About], Iterator[Ask]]:
    """Ask for a path with each of the queries and each viewer, and again with these headers."""

    def asks(about: About) -> Iterator[Ask]:
        for query in queries or ("",):
            for viewer in about.viewers:
                asked = f"{path.format(match=about.match)}?{query.format(late=max(0, about.versions - 6))}&{viewer}"
                yield Ask(asked)
                if headers:
                    yield Ask(asked, headers)

    return asks


def state(about: About) -> Iterator[Ask]:
    """Ask for every version in JSON, and for some as boards and as pictures, which are drawn from the same view."""
    path = f"/v1/matches/{about.match}/state"
    yield Ask(path, {"If_None_Match": f'"{about.versions}"'})
    for viewer in about.viewers:
        yield Ask(f"{path}?{viewer}")
        for version in range(1, about.versions + 1) if viewer != NOBODY else ():
            asked = f"{path}?at={version}&{viewer}"
            yield Ask(asked)
            if version % DRAWN == 0 or version == about.versions:
                yield from (Ask(asked, {"Accept": "text/plain"}), Ask(asked, {"Accept": "image/svg+xml"}))


def receipts(about: About) -> Iterator[Ask]:
    """Ask for the receipts of the first version, the last one and the next one."""
    for version in (1, about.versions, about.versions + 1):
        path = f"/v1/matches/{about.match}/receipts/{version}"
        yield from (Ask(path), Ask(path, {"Accept": "text/plain"}))


def lists(about: About) -> Iterator[Ask]:
    """Ask for the matches that there are, and for those of the caller."""
    for query in ("", "?status=playing", "?player=me", "?to_act=me", "?creator=me&tag=cup", "?creator=me&updated_since=0", "?limit=0"):
        yield Ask(f"/v1/matches{query}")


def pages(path: str, *queries: str) -> Callable[[About], Iterator[Ask]]:
    """Ask for a page as it is, through the eyes of a seat, and with each of the queries."""
    return lambda about: (Ask(f"{path.format(match=about.match)}?{query}") for query in ("", f"viewer={about.seats[-1]}", *queries))


def posted(path: str, body: Any = None) -> Callable[[About], Iterator[Ask]]:
    """Send a body that is refused in a match that is being played."""
    return lambda about: iter([Ask(path.format(match=about.match, seat=about.seats[-1]), {}, "POST", body and body(about))])


def own_stream(about: About) -> Iterator[Ask]:
    """Ask what waits for the caller, as player and as organiser, and what was told since a week ago."""
    for query in ("", "&created=true", "&nonsense=1"):
        for headers in ({}, {"Last-Event-ID": "1"}):
            yield Ask(f"/v1/players/me/stream?seconds=0{query}", headers)


MATCH = "/v1/matches/{match}"
READS: Mapping[str, Callable[[About], Iterator[Ask]]] = {
    "get_match": once(MATCH),
    "list_matches": lists,
    "get_state": state,
    "get_picture": through_all_eyes(f"{MATCH}/state.svg"),
    "get_dossier": through_all_eyes(f"{MATCH}/dossier"),
    "get_frames": through_all_eyes(f"{MATCH}/frames", "after={late}"),
    "get_why": through_all_eyes(f"{MATCH}/why", "pointer=&limit=3", "pointer=/to_act&limit=3"),
    "get_entries": through_all_eyes(f"{MATCH}/entries", "proof=false", "proof=true", Accept="application/x-ndjson"),
    "get_stream": through_all_eyes(f"{MATCH}/stream", "seconds=0&proof=false", "seconds=0&proof=true"),
    "get_receipt": receipts,
    "get_choices": lambda about: (ask for query in ("", "?seat={seat}", "?blocked=true") for ask in once(f"{MATCH}/choices{query}")(about)),
    "get_audit": once(f"{MATCH}/audit"),
    "get_record": once(f"{MATCH}/record"),
    "get_leaves": once(f"{MATCH}/leaves"),
    "get_reads": once(f"{MATCH}/reads"),
    "get_disputes": once(f"{MATCH}/disputes"),
    "get_analysis": once(f"{MATCH}/analysis"),
    "begin_analysis": posted(f"{MATCH}/analysis"),
    "get_hint": once(f"{MATCH}/hint"),
    "make_puzzle": posted(f"{MATCH}/puzzles?version=3"),
    "list_puzzles": once("/v1/puzzles"),
    "get_puzzle": once("/v1/puzzles/{match}-2"),
    "try_puzzle": posted("/v1/puzzles/{match}-2/tries"),
    "join_match": posted(f"{MATCH}/seats/{{seat}}"),
    "say_phrase": posted(f"{MATCH}/phrases", lambda about: {"phrase": "hello"}),
    "create_round": lambda about: iter(
        [Ask("/v1/rounds", {"Idempotency_Key": "round"}, "POST", {"matches": [{"fork_of": about.match, "at": 2}]})]
    ),
    "create_match": posted("/v1/matches", lambda about: {"fork_of": about.match, "at": 2}),
    "get_my_stream": own_stream,
    "page /": lambda about: (
        Ask(f"/?{query}") for query in ("", "part=list&mine=true", "part=list&invited=true", "part=list&status=playing")
    ),
    "page /puzzles": lambda about: iter([Ask("/puzzles")]),
    "page /puzzles/<puzzle>": pages("/puzzles/{match}-2"),
    "page /m/<match>": pages("/m/{match}", "at=3"),
    "page /m/<match>/words": pages("/m/{match}/words"),
    "page /embed/<match>": pages("/embed/{match}"),
    "page /oembed": lambda about: iter([Ask(f"/oembed?url={quote(f'http://localhost/m/{about.match}')}")]),
    "page /games/<game>": lambda about: iter([Ask("/games/war")]),
    "page /m/<match>/disputes/<dispute>": pages("/m/{match}/disputes/1"),
    "page /disputes": lambda about: iter([Ask("/disputes")]),
    "page /games/<game>/rulings": lambda about: iter([Ask("/games/war/rulings")]),
}
"""What is asked at each route that answers without writing, the pages for people included. The last ones refuse while a match is played."""

ONLY_REFUSED: Mapping[str, str] = {
    "get_audit": "Who may audit a match that is being played may know everything.",
    "get_record": "It is open when the match is over, and everybody may know everything.",
    "get_analysis": "Matches are analysed when they are over, and everybody may know everything.",
    "begin_analysis": "Matches are analysed when they are over, and everybody may know everything.",
    "get_hint": "Hints are for practice. tests/service/test_studies.py has pairs of practice matches.",
    **dict.fromkeys(
        ("make_puzzle", "get_puzzle", "try_puzzle", "page /puzzles/<puzzle>"),
        "Puzzles are of matches that are over, and of what a seat knew. tests/service/test_puzzles.py has pairs.",
    ),
    "join_match": "Seats are taken before anything is hidden.",
    "create_match": "A match can be gone on with from a position when it is over, and everybody may know everything.",
}
"""Routes of `READS` that never answer with success while a match is played."""

WRITES = ("try_actions", "act", "raise_dispute", "state_side", "get_desk", "rule_dispute", "appeal_ruling")
"""Operations that `acts` and `written` carry out."""

NOTHING_HIDDEN: Mapping[str, Iterable[str]] = {
    "The page of a player lists what the lobby lists for everybody; tests/service/test_clubs.py has a hidden match.": ("page /p/<player>",),
    "An account has nothing of a match but how many are over, and how.": (
        *("list_ratings", "create_player", "get_me", "rename_me", "delete_me", "get_player", "change_role", "get_key"),
        *("list_my_keys", "create_my_key", "get_my_key", "revoke_my_key", "rotate_my_key", "list_keys", "create_key", "revoke_key"),
        *("list_my_signing_keys", "list_signing_keys", "register_signing_key", "revoke_signing_key"),
    ),
    "A webhook lists what it has sent; tests/service/test_hooks.py has pairs of that.": (
        *("list_my_hooks", "create_my_hook", "get_my_hook", "change_my_hook", "delete_my_hook", "rotate_my_hook", "test_my_hook"),
        *("list_my_deliveries", "send_my_delivery_again"),
    ),
    "It says that a puzzle is gone.": ("delete_puzzle",),
    "Rules and pictures of games are the same for every match.": (
        *("list_games", "get_game", "get_rules", "get_rulings", "get_rule", "get_rulebook", "get_contract", "get_data", "get_schema"),
        *("get_table_rulebook", "get_table_contract", "get_table_data", "get_stylesheet", "get_definitions"),
    ),
    "The log has digests, which cover what is hidden by salted leaves (docs/auditing.md); test_ledger.py has pairs of leaves.": (
        *("get_checkpoint", "get_log_tile_entries", "get_log_entries", "get_log_tile", "get_consistency"),
    ),
    "Bulk files have what is over and open to everybody; test_bulk.py has a match that goes on beside them.": (
        *("list_bulk", "get_bulk_file", "get_bulk_part"),
    ),
    "The service says this of itself.": ("list_limits", "list_problems", "get_problem", "get_server_keys", "get_health", "get_readiness"),
    "It counts what all processes have done; test_bidding.py has pairs of its numbers.": ("get_metrics",),
    "Actions that were refused are shown to their own seats; test_beside.py has what others get.": ("get_refusals",),
    "Files and descriptions are the same for everybody.": (
        *("page /check", "files", "docs", "docs_asset", "openapi_json", "openapi_yaml", "asyncapi_json"),
    ),
}
"""The routes without pairs, by the reason."""


def routes(app: Flask) -> set[str]:
    """Return the routes of an application: ids of operations, and the names of what is mounted beside them."""
    return {re.sub("^files/.*", "files", rule.endpoint) for rule in app.url_map.iter_rules()}


def known() -> list[str]:
    """Return every route that has pairs, or a reason for having none."""
    return [*READS, *WRITES, *(route for group in NOTHING_HIDDEN.values() for route in group)]


def unproven(app: Flask) -> set[str]:
    """Return the routes of an application without pairs and without a reason for having none."""
    return routes(app) - set(known())


def answers(caller: Caller, match: str, versions: int, *seats: str) -> Iterator[tuple[str, Any]]:
    """Yield the answers that a caller gets about a match from every route that reads, refusals included."""
    for route, asks in READS.items():
        for ask in asks(About(match, versions, seats)):
            yield f"{route}: {ask}", comparable(sent(caller, route, ask))


def sent(caller: Caller, route: str, ask: Ask) -> Any:
    """Send a request, and return the answer. Raise AssertionError if it does not belong to the route."""
    endpoint, _ = caller.client.application.url_map.bind("localhost").match(ask.path.split("?")[0], ask.method)
    assert endpoint == route, f"{ask} is not answered by {route}"
    if route.startswith("page "):  # openapi.yaml does not describe it
        return caller.client.get(ask.path, headers={"Authorization": f"Bearer {caller.key}"} if caller.key else {})
    return caller.post(ask.path, ask.body, **ask.headers) if ask.method == "POST" else caller.get(ask.path, **ask.headers)


def comparable(answer: Any) -> tuple[int, bytes, list[tuple[str, str]]]:
    """Return the status, body and headers of an answer, without those of the request: its id is random, and requests are counted.

    Digests and leaves cover hidden information by salted hashes, so a constant takes their place, and that of a signature over them.
    Salts stay: a salt where another position has a leaf is a difference. Refused actions are those in all positions tried so far.
    """
    body = re.sub(rb'"(digest|leaf)":"[0-9a-f]{64}"', rb'"\1":"-"', answer.data)
    body = WRITTEN.sub(b'{"at":0,"blind"', DOSSIER.sub(rb"\1-\2-", RECEIPT.sub(rb"\1-\2-", body)))
    body = MOMENT.sub(b"id: -", LINES.sub(rb"\1-", SIDE_LOG.sub(b"", body)))
    headers = [(name, SIGNED_TAG.sub(r"\1", value)) for name, value in answer.headers if name not in OF_REQUESTS]
    return answer.status_code, body, sorted(headers)


def acts(caller: Caller, match: str, actions: list[Any]) -> list[Any]:
    """Return how each action is refused: with a wrong If-Match, and in a list that fails as a whole; and what trying it shows."""
    found = []
    tries = f"/v1/matches/{match}/tries"
    for action in actions[:: len(actions) // 8 + 1]:
        found.append(comparable(caller.post(tries, action)))
        found.append(comparable(caller.post(tries, [action, action], If_Match='"2"')))
    for action in actions[:: len(actions) // ACTED + 1]:
        found.append(comparable(caller.act(match, action, If_Match='"9999"')))
        found.append(comparable(caller.act(match, [action, {"type": "nonsense"}])))
    return found


def written(one: Caller, two: Caller, referee: Caller, match: str, action: Any) -> Iterator[tuple[str, Any]]:
    """Yield the answers to an action of a seat, to an offer, and to a dispute from its beginning to the appeal. All must succeed."""
    disputes = f"/v1/matches/{match}/disputes"
    story: list[tuple[str, Caller, str, Any]] = [
        ("act", one, f"/v1/matches/{match}/actions", action),
        ("act", two, f"/v1/matches/{match}/actions", {"type": "offer", "what": "void"}),
        ("raise_dispute", two, disputes, {"version": 3, "text": "The shuffle was no shuffle.", "field": "/deck"}),
        ("state_side", one, f"{disputes}/1/statements", {"text": "It was one."}),
        ("get_desk", referee, "/v1/disputes", None),
        ("get_disputes", one, f"{disputes}?case=1", None),
        ("get_disputes", two, f"{disputes}?case=1", None),
        ("rule_dispute", referee, f"{disputes}/1/ruling", {"verdict": "rejected", "text": "The record holds."}),
        ("appeal_ruling", two, f"{disputes}/1/appeal", {"text": "It does not."}),
    ]
    for route, caller, path, body in story:
        answer = sent(caller, route, Ask(path) if body is None else Ask(path, {}, "POST", body))
        assert answer.status_code < 300, answer.text
        yield route, comparable(answer)


def callers(app: Any, *known: Caller) -> list[Caller]:
    """Return callers of an application: nobody, and those who have keys."""
    return [Caller(app.test_client()), *(Caller(app.test_client(), caller.key) for caller in known)]


def replace_entries(servers: Servers, platform: Platform, match: str, entries: list[Entry]) -> None:
    """Replace the entries of a match, with a new chain of digests under the same secret. Delete its snapshots, request ids and reads.

    Each answers the request of the one before it. All say whose turn it is, for lists, as the newest one did before.
    """
    keys, standing = platform.store.keys.of(match), platform.store.lists.standings([match])[0]
    turn = None if standing is None else Turn(*[standing[name] for name in Turn._fields])
    tags = {id: unpack(fields[b"e"], match, int(id.partition(b"-")[0])).tag for id, fields in servers.keeper.xrange(keys.stream)}
    for key in (keys.stream, keys.snapshots, keys.requests, keys.reads):
        servers.keeper.delete(key)
    digest, blind = START, blind_key(secret_of(platform, match))
    for entry in entries:
        linked, stored = link(digest, entry, blind)
        id = f"{entry.version}-0"
        item = pack(stored, match, entry.version, tag=tags.get(id.encode(), b""), turn=turn)
        servers.keeper.xadd(keys.stream, {"e": item}, id=id)
        digest = linked.digest


def secret_of(platform: Platform, match: str) -> bytes:
    """Return the secret of a match."""
    return bytes.fromhex(platform.store.log.load(match).secret or "")
