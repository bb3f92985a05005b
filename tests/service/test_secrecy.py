"""Two positions that differ only in hidden information give a viewer the same bytes, on every route."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from events import recall
from events.platform import Platform
from games import GAMES
from games.chance import Drawn
from games.kernel import legal
from games.lifecycle import PREPARED
from record.entries import START, Entry, blind_key, link, parse
from service import sight
from service.app import create_app
from service.http.settings import Settings
from table.rules import is_table_action
from tests.conftest import Servers
from tests.service.conftest import Caller, played_on

Opener = Callable[[], Platform]
RECEIPT = re.compile(
    rb"(receipt/v1(?:\\n|\n)\w+(?:\\n|\n)[0-9]+(?:\\n|\n))[0-9a-f]{64}"
    rb"((?:\\n|\n)[0-9]+(?:\\n|\n){2}\xe2\x80\x94 \S+ )[A-Za-z0-9+/]+="
)
DOSSIER = re.compile(
    rb"(dossier/v1\\n\w+\\n[0-9]+\\n\w+\\n)[0-9a-f]{64}(\\n\\n\xe2\x80\x94 \S+ )[A-Za-z0-9+/]+=",
)
SIDE_LOG = re.compile(rb'^\{[^\n]*"line":"(?:refused|refusals_dropped|read)"[^\n]*\}\n', re.MULTILINE)
LINES = re.compile(rb'("line":"end","lines":)[0-9]+')
WRITTEN = re.compile(rb'^\{"at":[0-9]+,"blind"')
SIGNED_TAG = re.compile(r'^("[0-9]+-)[A-Za-z0-9+/]{22}')


def replace_entries(servers: Servers, platform: Platform, match: str, entries: list[Entry]) -> None:
    """Replace the entries of a match, with a new chain of digests under the same secret, and delete its snapshots and request ids."""
    keys = platform.store.keys.of(match)
    for key in (keys.stream, keys.snapshots, keys.requests):
        servers.keeper.delete(key)
    digest, blind = START, blind_key(secret_of(platform, match))
    for entry in entries:
        linked, stored = link(digest, entry, blind)
        servers.keeper.xadd(keys.stream, {"e": stored, "m": b"m" * 8}, id=f"{entry.version}-0")
        digest = linked.digest


def secret_of(platform: Platform, match: str) -> bytes:
    """Return the secret of a match."""
    return bytes.fromhex(platform.store.log.load(match).secret or "")


def answers(caller: Caller, match: str, versions: int, *seats: str) -> Iterator[tuple[str, Any]]:
    """Yield the answers that a caller gets about a match from every route that reads, refusals included."""
    base = f"/v1/matches/{match}"
    viewers = ["", "viewer=spectator", "viewer=auditor", *(f"viewer={seat}" for seat in seats)]
    for viewer in viewers:
        yield f"state of {viewer}", comparable(caller.get(f"{base}/state?{viewer}"))
        yield f"picture of {viewer}", comparable(caller.get(f"{base}/state.svg?{viewer}"))
        yield f"dossier of {viewer}", comparable(caller.get(f"{base}/dossier?{viewer}"))
        yield f"frames of {viewer}", comparable(caller.get(f"{base}/frames?after={max(0, versions - 6)}&{viewer}"))
        for pointer in ("", "/to_act"):
            yield f"why of {viewer}: {pointer}", comparable(caller.get(f"{base}/why?pointer={pointer}&limit=3&{viewer}"))
        for proof in (0, 1):
            path = f"{base}/entries?proof={proof}&{viewer}"
            yield path, comparable(caller.get(path))
            yield f"{path} in lines", comparable(caller.get(path, Accept="application/x-ndjson"))
            path = f"{base}/stream?seconds=0&proof={proof}&{viewer}"
            yield path, comparable(caller.get(path))
        for version in range(1, versions + 1):
            path = f"{base}/state?at={version}&{viewer}"
            yield path, comparable(caller.get(path))
            yield f"{path} as a board", comparable(caller.get(path, Accept="text/plain"))
            if version % 8 == 0 or version == versions:
                yield f"{path} as a picture", comparable(caller.get(path, Accept="image/svg+xml"))
    for version in (1, versions, versions + 1):
        yield f"receipt of {version}", comparable(caller.get(f"{base}/receipts/{version}"))
        yield f"receipt of {version} alone", comparable(caller.get(f"{base}/receipts/{version}", Accept="text/plain"))
    for path in (
        base,
        f"{base}/choices",
        f"{base}/audit",
        f"{base}/record",
        f"{base}/disputes",
        f"{base}/analysis",
        f"{base}/hint",
        f"{base}/choices?seat={seats[-1]}",
        "/v1/matches",
    ):
        yield path, comparable(caller.get(path))
    mine = f"viewer={seats[-1]}"
    for path in (
        f"/m/{match}",
        f"/m/{match}?{mine}",
        f"/m/{match}/words",
        f"/m/{match}/words?{mine}",
        f"/embed/{match}",
        "/?part=list&mine=1",
    ):
        yield path, comparable(page_for(caller, path))
    yield "304", comparable(caller.get(f"{base}/state", If_None_Match=f'"{versions}"'))


def page_for(caller: Caller, path: str) -> Any:
    """Return a page of HTML, which openapi.yaml does not describe, as a script with the caller's key would get it."""
    return caller.client.get(path, headers={"Authorization": f"Bearer {caller.key}"} if caller.key else {})


def comparable(answer: Any) -> tuple[int, bytes, list[tuple[str, str]]]:
    """Return the status, body and headers of an answer, without the request id, which is random.

    Digests and leaves cover hidden information by salted hashes, so a constant takes their place, and that of a signature over them.
    Salts stay: a salt where another position has a leaf is a difference. The side log of a match is that of all positions tried so far.
    """
    body = re.sub(rb'"(digest|leaf)":"[0-9a-f]{64}"', rb'"\1":"-"', answer.data)
    body = WRITTEN.sub(b'{"at":0,"blind"', DOSSIER.sub(rb"\1-\2-", RECEIPT.sub(rb"\1-\2-", body)))
    body = LINES.sub(rb"\1-", SIDE_LOG.sub(b"", body))
    headers = [(name, SIGNED_TAG.sub(r"\1", value)) for name, value in answer.headers if name != "X-Request-Id"]
    return answer.status_code, body, sorted(headers)


def acts(caller: Caller, match: str, actions: list[Any]) -> list[Any]:
    """Return how each action is refused: with a wrong If-Match, and in a list that fails as a whole; and what trying it shows."""
    found = []
    tries = f"/v1/matches/{match}/tries"
    for action in actions[:: len(actions) // 8 + 1]:
        found.append(comparable(caller.post(tries, action)))
        found.append(comparable(caller.post(tries, [action, action], If_Match='"2"')))
    for action in actions:
        found.append(comparable(caller.act(match, action, If_Match='"9999"')))
        found.append(comparable(caller.act(match, [action, {"type": "nonsense"}])))
    return found


def callers(app: Any, *known: Caller) -> list[Caller]:
    return [Caller(app.test_client()), *(Caller(app.test_client(), caller.key) for caller in known)]


def hidden_deck(platform: Platform, match: str, dice: random.Random) -> list[Any]:
    """Return the entries of a match of War! with the unseen part of the deck in another order."""
    entries = [parse(stored) for stored in platform.store.log.read_all(match)]
    left = len(recall.position(platform, match).document["deck"])
    found = []
    for entry in entries:
        events = []
        for event in entry.events:
            if event["type"] == "deck_built":
                deck = event["deck"]
                event = {**event, "deck": deck[:-left] + dice.sample(deck[-left:], left)}
            events.append(event)
        found.append(entry._replace(events=events))
    return found


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2))])
def test_the_order_of_the_deck_is_hidden_everywhere(
    platform: Platform,
    another_platform: Opener,
    servers: Servers,
    settings: Settings,
    ada: Caller,
    ben: Caller,
    cleo: Caller,
    seed: int,
) -> None:
    dice = random.Random(seed)
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]
    ben.post(f"/v1/matches/{match}/seats/blue")
    played_on(platform, match, dice, 14 + 12 * seed)
    versions = recall.position(platform, match).version
    seen = []
    for entries in (None, hidden_deck(platform, match, dice)):
        if entries is not None:
            replace_entries(servers, platform, match, entries)
        other = another_platform()
        people = callers(create_app(other, settings), ada, ben, cleo)
        seen.append([list(answers(caller, match, versions, "red", "blue")) for caller in people])
        actor = recall.position(other, match).to_act[0]
        if actor == "system":
            continue
        position = recall.position(other, match)
        listed = [choice["action"] for choice in legal(GAMES["war"], position.document, actor)]
        seen[-1].append(acts(people[1 if actor == "red" else 2], match, listed))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.soak), 2])
def test_what_a_seat_may_not_see_is_hidden_everywhere(
    platform: Platform, another_platform: Opener, servers: Servers, settings: Settings, ada: Caller, ben: Caller, game: str, seed: int
) -> None:
    """A position of a match and the game's own guess of it, which one seat cannot distinguish."""
    dice = random.Random(seed)
    rules = GAMES[game]
    first, second = rules.seats.ids[:2]
    match = ada.post("/v1/matches", {"game": game, "seats": {first: "me", second: "open"}}).json["id"]
    ben.post(f"/v1/matches/{match}/seats/{second}")
    begun, joined = (parse(stored) for stored in platform.store.log.read_all(match))
    played_on(platform, match, dice, 10 + 25 * seed)
    document = recall.position(platform, match).document
    for viewer, caller in ((first, ada), (second, ben), ("spectator", None)):
        eyes = rules.view(document, viewer)
        seen = []
        for truth in (document, rules.guess(eyes, viewer, Drawn(dice.randrange))):
            created, prepared = begun.events
            assert prepared["type"] == PREPARED
            replace_entries(servers, platform, match, [begun._replace(events=[created, {**prepared, "document": truth}]), joined])
            app = create_app(another_platform(), settings)
            asker = Caller(app.test_client(), caller.key if caller else None)
            seen.append(list(answers(asker, match, 2, first, second)))
            listed = [choice["action"] for choice in legal(rules, truth, viewer)] if viewer in truth["to_act"] else []
            seen[-1] += acts(asker, match, [*listed, *wrong(rules)])
        assert seen[0] == seen[1]


def decided(entries: list[Entry], decision: dict[str, Any] | None, seat: str) -> list[Entry]:
    """Return the entries of a match with what is kept of the decisions of an artificial player."""
    by_it = [entry.actor == seat and not is_table_action(entry.action) for entry in entries]
    assert sum(by_it) > 2
    return [entry._replace(request=decision) if its else entry for entry, its in zip(entries, by_it, strict=True)]


def test_what_is_kept_of_decisions_is_hidden_everywhere_while_a_match_runs(
    platform: Platform, another_platform: Opener, servers: Servers, ada: Caller, capfdbinary: Any
) -> None:
    """Nothing and much: nobody who plays or watches can tell them apart, by content, headers, sizes or log lines."""
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:strong"}}).json["id"]
    played_on(platform, match, random.Random(2), 12)
    entries = [parse(stored) for stored in platform.store.log.read_all(match)]
    much = {"level": "strong", "players": 98765, "weights": "c3" * 32, "saw": "d4" * 32, "budget": 9876543210, "spent": 9876543210}
    seen, lines = [], []
    for decision in (None, much):
        replace_entries(servers, platform, match, decided(entries, decision, "blue"))
        app = create_app(another_platform(), Settings(log_requests=True))
        capfdbinary.readouterr()
        seen.append([list(answers(caller, match, len(entries), "red", "blue")) for caller in callers(app, ada)])
        lines.append(re.sub(rb'"(at|ms|request)":("[^"]*"|[0-9.]+)', b"", capfdbinary.readouterr().out))
    assert seen[0] == seen[1]
    assert lines[0] == lines[1] != b""
    assert not re.search(rb"(c3){8}|(d4){8}|9876543210", repr(seen[1]).encode() + lines[1])


def wrong(rules: Any) -> list[Any]:
    """Return actions that are refused in every position: one of each type, without fields."""
    return [{"type": kind} for kind in rules.deeds()]


def test_a_list_cannot_be_used_to_look_at_the_dice(ada: Caller, anybody: Caller, platform: Platform, tally: str) -> None:
    """Every list with a draw before its end is refused in the same bytes."""
    second = [{"type": "add", "by": by, "stay": True} for by in range(6)] + [{"type": "draw"}, {"type": "roll"}, {"type": "?"}]
    assert len({ada.act(tally, [{"type": "roll"}, action]).data for action in second}) == 1
    assert len({ada.act(tally, [{"type": "draw"}, action]).data for action in second}) == 1


def test_a_log_line_has_no_query_no_body_and_nothing_from_inside_the_match(
    platform: Platform, another_platform: Opener, servers: Servers, ada: Caller, ben: Caller, capfdbinary: Any
) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]
    ben.post(f"/v1/matches/{match}/seats/blue")
    played_on(platform, match, random.Random(1), 30)
    versions = recall.position(platform, match).version
    lines = []
    for entries in (None, hidden_deck(platform, match, random.Random(5))):
        if entries is not None:
            replace_entries(servers, platform, match, entries)
        people = callers(create_app(another_platform(), Settings(log_requests=True)), ada, ben)
        capfdbinary.readouterr()
        for caller in people:
            list(answers(caller, match, versions, "red", "blue"))
        lines.append(re.sub(rb'"(at|ms|request)":("[^"]*"|[0-9.]+)', b"", capfdbinary.readouterr().out))
    assert len(lines[0].splitlines()) > 100
    assert lines[0] == lines[1]
    assert b"viewer" not in lines[0]
    assert b"tile" not in lines[0]


def test_everybody_gets_every_digest_with_its_entry_and_nowhere_else(
    platform: Platform, ada: Caller, anybody: Caller, cleo: Caller, tally: str
) -> None:
    digests = [parse(stored).digest.encode() for stored in platform.store.log.read_all(tally)]
    for caller in (ada, anybody, cleo):
        for version, digest in enumerate(digests, 1):
            assert re.findall(rb"[0-9a-f]{64}", caller.get(f"/v1/matches/{tally}/receipts/{version}").data) == [digest]
        for path in ("/entries", "/stream?seconds=0"):
            assert re.findall(rb'"digest":"([^"]*)"', caller.get(f"/v1/matches/{tally}{path}").data) == digests
        for path in ("", "/state", "/state.svg", "/choices", "/audit", "/record"):
            body = caller.get(f"/v1/matches/{tally}{path}").data
            assert not any(digest in body for digest in digests)


def test_an_action_is_hidden_together_with_its_event(platform: Platform, ada: Caller, anybody: Caller, tally: str) -> None:
    """If an event is shown in part, everybody but its actor sees only the type of its action, unless it never has more than its type."""
    game = platform.games["tally"]
    bare = parse(next(platform.store.log.read_all(tally, 2)))
    assert sight.shown(game, bare, "two")["action"] is bare.action
    entry = bare._replace(actor="one", action={"type": "add", "by": 2, "stay": True})
    assert sight.shown(game, entry, "two")["action"] == {"type": "add"}
    assert sight.shown(game, entry, "spectator")["action"] == {"type": "add"}
    assert sight.shown(game, entry, "one")["action"] == entry.action
    assert sight.shown(game, entry, "auditor")["action"] == entry.action
