"""Two positions that differ only in what a viewer may not know give that viewer the same bytes, by every route."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from events import recall
from events.entries import START, parse, seal
from events.platform import Platform
from events.positions import CREATED
from games import GAMES
from games.chance import Drawn
from games.kernel import legal
from service import sight
from service.app import create_app
from service.settings import Settings
from tests.conftest import Servers
from tests.service.conftest import Caller, played_on

Houses = Callable[[], Platform]


def retold(servers: Servers, platform: Platform, match: str, entries: list[Any]) -> None:
    """Put other entries in the place of a match's, with a chain of digests of their own, and let everything be forgotten."""
    keys = platform.store.keys(match)
    for key in (keys.stream, keys.snapshots, keys.requests):
        servers.keeper.delete(key)
    digest = START
    for entry in entries:
        sealed, wire = seal(digest, entry)
        servers.keeper.xadd(keys.stream, {"e": wire}, id=f"{entry.version}-0")
        digest = sealed.digest


def answers(caller: Caller, match: str, versions: int, *seats: str) -> Iterator[tuple[str, Any]]:
    """What one caller is told about a match, by every route that only reads; and how it is refused."""
    base = f"/v1/matches/{match}"
    viewers = ["", "viewer=spectator", "viewer=auditor", *(f"viewer={seat}" for seat in seats)]
    for viewer in viewers:
        yield from (
            (path, told(caller.get(path)))
            for path in (f"{base}/state?{viewer}", f"{base}/entries?{viewer}", f"{base}/stream?seconds=0&{viewer}")
        )
        path = f"{base}/entries?{viewer}"
        yield f"{path} in lines", told(caller.get(path, Accept="application/x-ndjson"))
        for version in range(1, versions + 1):
            path = f"{base}/state?at={version}&{viewer}"
            yield path, told(caller.get(path))
            yield f"{path} as a board", told(caller.get(path, Accept="text/plain"))
    for path in (base, f"{base}/choices", f"{base}/audit", f"{base}/record", f"{base}/choices?seat={seats[-1]}", "/v1/matches"):
        yield path, told(caller.get(path))
    yield "304", told(caller.get(f"{base}/state", If_None_Match=f'"{versions}"'))


def told(answer: Any) -> tuple[int, bytes, list[tuple[str, str]]]:
    """All that an answer tells: status, body, headers; but for the id of the request, which is random."""
    return answer.status_code, answer.data, sorted((name, value) for name, value in answer.headers if name != "X-Request-Id")


def acts(caller: Caller, match: str, actions: list[Any]) -> list[Any]:
    """How each action is refused, with the version so stale that none is carried out, and as it would be."""
    found = []
    for action in actions:
        found.append(told(caller.act(match, action, If_Match='"9999"')))
        found.append(told(caller.act(match, [action, {"type": "nonsense"}])))
    return found


def callers(app: Any, *known: Caller) -> list[Caller]:
    return [Caller(app.test_client()), *(Caller(app.test_client(), caller.key) for caller in known)]


def hidden_deck(platform: Platform, match: str, dice: random.Random) -> list[Any]:
    """The entries of a match of War! with the part of the deck that nobody has seen in another order."""
    entries = [parse(wire) for wire in platform.store.read_all(match)]
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


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_deck_shows_nowhere(
    platform: Platform, another_platform: Houses, servers: Servers, settings: Settings, ada: Caller, ben: Caller, cleo: Caller, seed: int
) -> None:
    dice = random.Random(seed)
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]
    ben.post(f"/v1/matches/{match}/seats/blue")
    played_on(platform, match, dice, 14 + 12 * seed)
    versions = recall.position(platform, match).version
    seen = []
    for entries in (None, hidden_deck(platform, match, dice)):
        if entries is not None:
            retold(servers, platform, match, entries)
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
@pytest.mark.parametrize("seed", range(3))
def test_what_a_seat_cannot_see_shows_nowhere(
    platform: Platform, another_platform: Houses, servers: Servers, settings: Settings, ada: Caller, ben: Caller, game: str, seed: int
) -> None:
    """A position somewhere in a match, and another that one seat cannot tell from it: the game's own guess."""
    dice = random.Random(seed)
    rules = GAMES[game]
    first, second = rules.seats.ids[:2]
    match = ada.post("/v1/matches", {"game": game, "seats": {first: "me", second: "open"}}).json["id"]
    ben.post(f"/v1/matches/{match}/seats/{second}")
    begun, joined = (parse(wire) for wire in platform.store.read_all(match))
    played_on(platform, match, dice, 10 + 25 * seed)
    document = recall.position(platform, match).document
    for viewer, caller in ((first, ada), (second, ben), ("spectator", None)):
        eyes = rules.view(document, viewer)
        seen = []
        for truth in (document, rules.guess(eyes, viewer, Drawn(dice.randrange))):
            event = {**begun.events[0], "document": truth}
            assert event["type"] == CREATED
            retold(servers, platform, match, [begun._replace(events=[event]), joined])
            app = create_app(another_platform(), settings)
            asker = Caller(app.test_client(), caller.key if caller else None)
            seen.append(list(answers(asker, match, 2, first, second)))
            listed = [choice["action"] for choice in legal(rules, truth, viewer)] if viewer in truth["to_act"] else []
            seen[-1] += acts(asker, match, [*listed, *wrong(rules)])
        assert seen[0] == seen[1]


def wrong(rules: Any) -> list[Any]:
    """Actions that are refused for what they are, whatever is hidden: of each type, with nothing in them."""
    return [{"type": kind} for kind in rules.deeds()]


def test_a_list_gives_no_peek_at_the_dice(ada: Caller, anybody: Caller, platform: Platform, tally: str) -> None:
    """Whatever a list would have led to, it is refused in the same bytes."""
    second = [{"type": "add", "by": by, "stay": True} for by in range(6)] + [{"type": "draw"}, {"type": "roll"}, {"type": "?"}]
    assert len({ada.act(tally, [{"type": "roll"}, action]).data for action in second}) == 1
    assert len({ada.act(tally, [{"type": "draw"}, action]).data for action in second}) == 1


def test_a_log_line_holds_no_query_no_body_and_nothing_of_the_match(
    platform: Platform, another_platform: Houses, servers: Servers, ada: Caller, ben: Caller, capfdbinary: Any
) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]
    ben.post(f"/v1/matches/{match}/seats/blue")
    played_on(platform, match, random.Random(1), 30)
    versions = recall.position(platform, match).version
    lines = []
    for entries in (None, hidden_deck(platform, match, random.Random(5))):
        if entries is not None:
            retold(servers, platform, match, entries)
        people = callers(create_app(another_platform(), Settings(log_requests=True)), ada, ben)
        capfdbinary.readouterr()
        for caller in people:
            list(answers(caller, match, versions, "red", "blue"))
        lines.append(re.sub(rb'"(at|ms|request)":("[^"]*"|[0-9.]+)', b"", capfdbinary.readouterr().out))
    assert len(lines[0].splitlines()) > 100
    assert lines[0] == lines[1]
    assert b"viewer" not in lines[0]
    assert b"tile" not in lines[0]


def test_no_digest_is_shown_to_whoever_may_not_audit(platform: Platform, ada: Caller, anybody: Caller, cleo: Caller, tally: str) -> None:
    digests = [parse(wire).digest.encode() for wire in platform.store.read_all(tally)]
    for caller in (ada, anybody, cleo):
        for path in ("", "/state", "/entries", "/stream?seconds=0", "/choices", "/audit", "/record"):
            body = caller.get(f"/v1/matches/{tally}{path}").data
            assert not any(digest in body for digest in digests)


def test_what_an_action_tells_is_hidden_with_its_event(platform: Platform, ada: Caller, anybody: Caller, tally: str) -> None:
    """Where an event is shown in part, its action is shown by its type alone, but to its own actor."""
    game = platform.games["tally"]
    entry = parse(next(platform.store.read_all(tally, 2)))._replace(actor="one", action={"type": "advance", "sealed": 4})
    assert sight.shown(game, entry, "two")["action"] == {"type": "advance"}
    assert sight.shown(game, entry, "spectator")["action"] == {"type": "advance"}
    assert sight.shown(game, entry, "one")["action"] == entry.action
    assert sight.shown(game, entry, "auditor")["action"] == entry.action
