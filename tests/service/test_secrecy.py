"""Two positions that differ only in hidden information give a viewer the same bytes, on every route."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from events import recall
from events.notary import sequencing
from events.platform import Platform, open_platform
from events.rebuild import rebuild
from events.timing.clock import Clock
from games import GAMES
from games.chance import Drawn
from games.kernel import legal
from games.lifecycle import PREPARED
from record.entries import Entry, parse
from service import sight
from service.api.operations import Operation, mount
from service.api.routes import OPERATIONS
from service.app import create_app
from service.context import open_service
from service.http.responses import json_response
from service.http.settings import Settings
from table.rules import is_table_action
from tests.conftest import ALL_GAMES, Servers
from tests.service.conftest import Caller, played_on
from tests.service.secrecy import (
    NOTHING_HIDDEN,
    ONLY_REFUSED,
    READS,
    WRITES,
    acts,
    answers,
    callers,
    comparable,
    known,
    replace_entries,
    routes,
    unproven,
    written,
)

Opener = Callable[..., Platform]


@pytest.fixture
def servers(quiet_servers: Servers) -> Servers:
    """Servers to which nobody else gives pulses: while the machine is busy, an outage would give clocks time back in one of two answers."""
    return quiet_servers


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
    sequencing.sequence(platform)
    versions = recall.position(platform, match).version
    seen, moment = [], platform.clock.now()
    for entries in (None, hidden_deck(platform, match, dice)):
        if entries is not None:
            replace_entries(servers, platform, match, entries)
        other = another_platform(moment)
        people = callers(create_app(other, settings), ada, ben, cleo)
        people[2].client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "ru"  # Ben reads Russian
        seen.append([list(answers(caller, match, versions, "red", "blue")) for caller in people])
        actor = recall.position(other, match).to_act[0]
        if actor == "system":
            continue
        position = recall.position(other, match)
        listed = [choice["action"] for choice in legal(GAMES["war"], position.document, actor)]
        seen[-1].append(acts(people[1 if actor == "red" else 2], match, listed))
    assert seen[0] == seen[1]
    answered = {name.split(": ")[0] for history in seen[0][:4] for name, (status, *_) in history if status < 400}
    assert set(READS) - answered == set(ONLY_REFUSED), "a route that only refuses proves little"


@pytest.mark.parametrize("changes", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_face_down_ammunition_is_hidden_everywhere(
    platform: Platform,
    another_platform: Opener,
    servers: Servers,
    settings: Settings,
    ada: Caller,
    ben: Caller,
    cleo: Caller,
    changes: int,
) -> None:
    """Ben begins with more than Ada and a spectator may know of; it is collected, bid and paid in the entries that follow."""
    game = {"game": "war_of_civilizations", "options": {"hidden_ammo": True}, "seats": {"fox": "me", "rhino": "open"}}
    match = ada.post("/v1/matches", game).json["id"]
    ben.post(f"/v1/matches/{match}/seats/rhino")
    dice, entries = random.Random(3), []
    while sum(event["type"] == "ammo_changed" and event["seat"] == "rhino" for entry in entries for event in entry.events) < changes:
        played_on(platform, match, dice, 8)
        entries = [parse(stored) for stored in platform.store.log.read_all(match)]
    sequencing.sequence(platform)
    versions, moment = recall.position(platform, match).version, platform.clock.now()
    richer = [entry._replace(events=[with_more(event) for event in entry.events]) for entry in entries]
    seen = []
    for written_down in (entries, richer):
        replace_entries(servers, platform, match, written_down)
        app = create_app(another_platform(moment), settings)
        nobody, one, _, watcher = callers(app, ada, ben, cleo)
        seen.append([list(answers(caller, match, versions, "fox", "rhino")) for caller in (nobody, one, watcher)])
    assert seen[0] == seen[1]


def with_more(event: Any) -> Any:
    """Return an event of the set-up with more ammunition for one seat."""
    given = event["type"] == "ammo_changed" and event["seat"] == "rhino" and event["reason"] == "start"
    return {**event, "change": event["change"] + 5} if given else event


def test_what_an_action_answers_and_what_a_dispute_tells_does_not_depend_on_the_order_of_the_deck(
    platform: Platform, servers: Servers, settings: Settings, ada: Caller, ben: Caller, referee: Caller
) -> None:
    """An action that neither draws nor shows anything, an offer, and a dispute from its beginning to the appeal, at one moment."""
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]
    ben.post(f"/v1/matches/{match}/seats/blue")
    played_on(platform, match, random.Random(0), 20)
    while not (choices := quiet(platform, ada, ben, match)):
        played_on(platform, match, random.Random(0), 1)
    seat, action = choices[0]
    moment = recall.position(platform, match).at + 1000
    seen = []
    for entries in ([parse(stored) for stored in platform.store.log.read_all(match)], hidden_deck(platform, match, random.Random(1))):
        replace_entries(servers, platform, match, entries)
        other = open_platform(platform.settings, ALL_GAMES, clock=Clock(lambda: moment, lambda: 0, "b1"))
        rebuild(other)
        _, *people, rex = callers(create_app(other, settings), ada, ben, referee)
        one, two = people if seat == "red" else reversed(people)
        seen.append(list(written(one, two, rex, match, action)))
        other.close()
    assert seen[0] == seen[1]
    assert {"try_actions", *(route for route, _ in seen[0])} - {"get_disputes"} == set(WRITES)


def quiet(platform: Platform, ada: Caller, ben: Caller, match: str) -> list[tuple[str, Any]]:
    """Return the actions of who must act that neither draw nor show anything, each with its seat."""
    position = recall.position(platform, match)
    found = []
    for seat, caller in (("red", ada), ("blue", ben)):
        for choice in legal(GAMES["war"], position.document, seat) if seat in position.to_act else []:
            tried = caller.post(f"/v1/matches/{match}/tries", choice["action"])
            if tried.status_code == 200 and not tried.json["reveals"]:
                found.append((seat, choice["action"]))
    return found


def test_every_route_has_pairs_or_a_reason_for_having_none(app: Flask) -> None:
    assert unproven(app) == set()
    assert set(known()) - routes(app) == set(), "there is no such route"
    assert len(known()) == len(set(known()))
    of_matches = {operation.id for operation in OPERATIONS if "{match}" in operation.path}
    assert of_matches & {route for group in NOTHING_HIDDEN.values() for route in group} == {"get_refusals"}


def test_a_new_operation_has_no_pairs_yet_and_a_pair_sees_what_it_tells(
    platform: Platform, another_platform: Opener, servers: Servers, settings: Settings, ada: Caller, ben: Caller
) -> None:
    def view(service: Any, call: Any, match: str) -> Any:
        return json_response({"next": recall.position(service.platform, match).document["deck"][0]})

    (known_one,) = [operation for operation in OPERATIONS if operation.id == "get_match"]
    new: Operation = known_one._replace(id="get_dream", path="/v1/matches/{match}/dream", view=view, query=None)
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]
    ben.post(f"/v1/matches/{match}/seats/blue")
    played_on(platform, match, random.Random(0), 14)
    told = []
    for entries in ([parse(stored) for stored in platform.store.log.read_all(match)], hidden_deck(platform, match, random.Random(1))):
        replace_entries(servers, platform, match, entries)
        other = another_platform()
        app = create_app(other, settings)
        mount(app, (new,), open_service(other, settings))
        assert unproven(app) == {"get_dream"}
        told.append(comparable(Caller(app.test_client(), ada.key).get(f"/v1/matches/{match}/dream")))
    assert told[0] != told[1]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", [2, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (0, 1))])
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
    document, moment = recall.position(platform, match).document, platform.clock.now()
    for viewer, caller in ((first, ada), (second, ben), ("spectator", None)):
        eyes = rules.view(document, viewer)
        seen = []
        for truth in (document, rules.guess(eyes, viewer, Drawn(dice.randrange))):
            created, prepared = begun.events
            assert prepared["type"] == PREPARED
            replace_entries(servers, platform, match, [begun._replace(events=[created, {**prepared, "document": truth}]), joined])
            app = create_app(another_platform(moment), settings)
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
    much = {"level": "strong", "players": 98765, "weights": "c3" * 32, "saw": "d4" * 8, "budget": 9876543210, "spent": 9876543210}
    seen, lines, moment = [], [], platform.clock.now()
    for decision in (None, much):
        replace_entries(servers, platform, match, decided(entries, decision, "blue"))
        app = create_app(another_platform(moment), Settings(log_requests=True))
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
    played_on(platform, match, random.Random(1), 14)
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
