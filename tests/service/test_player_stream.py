"""The stream of a player's own events, over real sockets and with two servers on one store."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
import requests

from events import play, recall
from events.accounts import SCOPES, add_key, register
from events.platform import Platform
from events.store.accounts import ADMIN as ADMIN_SIGNER
from events.store.heads import Head
from games.kernel import SYSTEM
from service.http.hub import MOST_NEWS, PlayerWatch
from tests.conftest import Servers, take_seat, within
from tests.service.conftest import ADMIN, Caller, Live
from tests.service.test_streams import streams

STAY = {"type": "add", "by": 1, "stay": True}
GO = {"type": "add", "by": 1, "stay": False}
ADVANCE = [{"type": "advance"}]


class Person(NamedTuple):
    """A player with a key."""

    id: str
    key: str


class Event(NamedTuple):
    """An event of a stream: its name, its data, and the id that the client has after it."""

    kind: str
    data: dict[str, Any]
    id: str


class Feed:
    """A client of a player's own stream, which reads in a thread of its own."""

    def __init__(self, url: str, key: str, last: str | None = None, query: str = "") -> None:
        headers = {"Authorization": f"Bearer {key}", **({} if last is None else {"Last-Event-ID": last})}
        self.answer = requests.get(f"{url}/v1/players/me/stream{query}", headers=headers, stream=True, timeout=30)
        assert self.answer.status_code == 200, self.answer.text
        self.events: list[Event] = []
        self.ended = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        kind, data, id = "", "", ""
        try:
            for line in self.answer.iter_lines(chunk_size=1):
                name, _, value = line.decode().partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    data = value
                elif name == "id":
                    id = value
                elif not line and data:
                    self.events.append(Event(kind, json.loads(data), id))
                    data = ""
        except (requests.RequestException, AttributeError):
            pass
        self.ended.set()

    def has(self, kind: str, match: str, **about: Any) -> bool:
        return any(
            event.kind == kind and event.data["match"] == match and about.items() <= event.data.items()
            for event in list(self.events)
            if event.kind != "ready"
        )

    def hears(self, kind: str, match: str, **about: Any) -> None:
        """Wait for an event."""
        within(20, lambda: self.has(kind, match, **about))

    def ready(self) -> str:
        """Wait until all that waited has been sent, and return the id to continue from."""
        within(20, lambda: any(event.kind == "ready" for event in list(self.events)))
        return next(event.id for event in self.events if event.kind == "ready")

    def of(self, match: str) -> list[str]:
        return [event.kind for event in list(self.events) if event.data.get("match") == match]

    def cut(self) -> str:
        """Close the connection, and return the id to continue from."""
        last = self.events[-1].id
        self.answer.close()
        return last


@contextmanager
def following(live: Live, person: Person, last: str | None = None) -> Iterator[Feed]:
    feed = Feed(live.url, person.key, last)
    try:
        yield feed
    finally:
        feed.answer.close()


@pytest.fixture
def people(platform: Platform) -> list[Person]:
    made = [register(platform, name) for name in ("Ann", "Bob", "Cyd")]
    return [Person(player.id, key) for player, key in made]


@pytest.fixture(scope="module")
def other(serve: Callable[..., Live]) -> Live:
    """Another server on the same store."""
    return serve()


def begun(platform: Platform, one: Person, two: Person, target: int = 1000) -> str:
    """Begin a match between two players. The first is to act."""
    match = play.create(platform, one.id, "tally", {"one": "me", "two": "open"}, {"target": target}).match
    take_seat(platform, match, two.id, "two")
    play.play(platform, match, SYSTEM, ADVANCE)
    return match


def played_round(platform: Platform, match: str) -> int:
    """Let both seats and the system act, and return the version, at which the first seat must act again."""
    for actor, action in (("one", GO), ("two", GO), (SYSTEM, ADVANCE[0])):
        last = play.play(platform, match, actor, [action]).last
    return last


def test_everything_that_concerns_a_player_arrives_in_every_process(
    live: Live, other: Live, platform: Platform, people: list[Person]
) -> None:
    ann, bob, cyd = people
    with following(live, ann) as hers, following(other, bob) as his, following(other, cyd) as theirs:
        for feed in (hers, his, theirs):
            feed.ready()
        match = play.create(platform, ann.id, "tally", {"one": "me", "two": f"player:{bob.id}", "three": "open"}, {"target": 3}).match
        his.hears("invited", match, seat="two", creator=ann.id, version=1)
        take_seat(platform, match, bob.id, "two")
        hers.hears("joined", match, seat="two", player=bob.id, version=2)
        answer = requests.post(f"{other.url}/v1/matches/{match}/seats/three", headers={"Authorization": f"Bearer {cyd.key}"}, timeout=10)
        assert answer.status_code == 200
        for feed in (hers, his):
            feed.hears("joined", match, seat="three", player=cyd.id)
        for feed in (hers, his, theirs):
            feed.hears("started", match, version=3)
        play.play(platform, match, SYSTEM, ADVANCE)
        hers.hears("turn", match, seat="one", version=4)
        play.play(platform, match, "one", [STAY])
        play.play(platform, match, "one", [GO])
        his.hears("turn", match, seat="two", version=6)
        play.play(platform, match, "two", [GO])
        theirs.hears("turn", match, seat="three", version=7)
        play.play(platform, match, "three", [{**GO, "by": 3}])
        for feed in (hers, his, theirs):
            feed.hears("over", match, status="over", version=recall.position(platform, match).version)
        assert hers.of(match).count("turn") == his.of(match).count("turn") == theirs.of(match).count("turn") == 1
        assert "invited" not in hers.of(match) + theirs.of(match)


def test_what_waits_comes_first(live: Live, platform: Platform, people: list[Person]) -> None:
    ann, bob, _ = people
    mine, his = begun(platform, ann, bob), begun(platform, bob, ann)
    invitation = play.create(platform, bob.id, "tally", {"one": "me", "two": f"player:{ann.id}"}, {}).match
    feed = Feed(live.url, ann.key, query="?seconds=0")
    assert feed.ended.wait(10)
    assert {(event.kind, event.data.get("match")) for event in feed.events} >= {("turn", mine), ("invited", invitation), ("ready", None)}
    assert not feed.has("turn", his)
    assert feed.events[-1].kind == "ready"
    assert feed.events[-1].id.isdecimal()


def test_strangers_who_invite_without_end_do_not_make_the_beginning_longer(
    platform: Platform, ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.api.player_stream.MOST_INVITATIONS", 3)
    made = [play.create(platform, ben.id, "tally", {"one": "me", "two": f"player:{ada.id}"}, {}).match for _ in range(5)]
    body = ada.get("/v1/players/me/stream?seconds=0").data.decode()
    assert body.count("event: invited") == 3
    assert sum(match in body for match in made) == 3


def test_a_client_that_was_cut_off_loses_nothing_on_whatever_server_it_continues(
    live: Live, other: Live, platform: Platform, people: list[Person]
) -> None:
    ann, bob, cyd = people
    turned, ending, waiting = begun(platform, bob, ann), begun(platform, ann, bob, target=3), begun(platform, ann, bob)
    opened = play.create(platform, ann.id, "tally", {"one": "me", "two": "open", "three": "open"}, {}).match
    closed = play.create(platform, bob.id, "tally", {"one": "me", "two": f"player:{ann.id}"}, {}).match
    with following(live, ann) as feed:
        feed.ready()
        feed.hears("turn", ending)
        last = feed.cut()
    play.play(platform, turned, "one", [GO])
    play.play(platform, ending, "one", [{**GO, "by": 3}])
    take_seat(platform, opened, cyd.id, "two")
    play.act_at_table(platform, closed, bob.id, {"type": "close_match"})
    invited = play.create(platform, cyd.id, "tally", {"one": "me", "two": f"player:{ann.id}", "three": "open"}, {}).match
    for live_one in (other, live):
        with following(live_one, ann, last) as feed:
            feed.ready()
            for kind, match in (
                ("turn", turned),
                ("over", ending),
                ("joined", opened),
                ("over", closed),
                ("invited", invited),
                ("turn", waiting),
            ):
                feed.hears(kind, match)


def test_no_event_is_lost_over_many_cuts(live: Live, other: Live, platform: Platform, people: list[Person]) -> None:
    """The connection is cut at arbitrary moments while 40 matches give the player turns."""
    ann, bob, _ = people
    matches = [begun(platform, bob, ann) for _ in range(40)]
    done = threading.Event()

    def play_on() -> None:
        for match in matches:
            play.play(platform, match, "one", [GO])
            time.sleep(0.02)
        done.set()

    threading.Thread(target=play_on, daemon=True).start()
    told: set[str] = set()
    last: str | None = None
    for number in range(200):
        with following((live, other)[number % 2], ann, last) as feed:
            feed.ready()
            time.sleep(0.05)
            told |= {event.data["match"] for event in list(feed.events) if event.kind == "turn"}
            last = feed.cut()
        if done.is_set() and told >= set(matches):
            break
    assert told >= set(matches)


def test_a_leaver_hears_no_more(live: Live, platform: Platform, people: list[Person]) -> None:
    ann, bob, cyd = people
    match = play.create(platform, ann.id, "tally", {"one": "me", "two": "open", "three": f"player:{ann.id}"}, {}).match
    with following(live, ann) as hers, following(live, bob) as his:
        hers.ready()
        his.ready()
        take_seat(platform, match, bob.id, "two")
        hers.hears("joined", match, player=bob.id)
        his.hears("joined", match, player=ann.id)
        play.act_at_table(platform, match, bob.id, {"type": "leave_seat", "seat": "two"})
        before = his.of(match)
        take_seat(platform, match, cyd.id, "two")
        take_seat(platform, match, ann.id, "three")
        hers.hears("started", match)
        play.play(platform, match, SYSTEM, ADVANCE)
        hers.hears("turn", match)
        assert his.of(match) == before
        with following(live, bob, his.events[-1].id) as again:
            again.ready()
            assert again.of(match) == []


def test_a_break_of_the_subscription_loses_nothing(live: Live, platform: Platform, servers: Servers, people: list[Person]) -> None:
    """The same turn comes again while the server hears nothing."""
    ann, bob, _ = people
    match = begun(platform, ann, bob)
    with following(live, ann) as feed:
        feed.hears("turn", match, version=3)
        for _ in range(3):
            servers.keeper.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
            version = played_round(platform, match)
            feed.hears("turn", match, version=version)


def test_one_connection_serves_two_hundred_matches(live: Live, platform: Platform, people: list[Person]) -> None:
    ann, bob, _ = people
    matches = [begun(platform, ann, bob) for _ in range(200)]
    with following(live, ann) as feed:
        feed.ready()
        assert {event.data["match"] for event in feed.events if event.kind == "turn"} == set(matches)
        versions = {}
        for match in matches:
            versions[match] = played_round(platform, match)
        for match, version in versions.items():
            feed.hears("turn", match, version=version)
        assert len([event for event in feed.events if event.kind == "turn"]) == 400


def test_what_is_no_news_to_a_player_costs_no_read(live: Live, platform: Platform, servers: Servers, people: list[Person]) -> None:
    """Other matches are only looked at by those whom they concern."""
    ann, bob, cyd = people
    match = begun(platform, bob, cyd)
    with following(live, ann) as hers:
        hers.ready()
        within(20, lambda: any(event.kind == "ready" for event in hers.events))
        time.sleep(0.3)
        before = reads(servers) - platform.store.log.head(match)  # an append reads the head
        for _ in range(50):
            played_round(platform, match)
        requests.get(f"{live.url}/healthz", timeout=5)
        time.sleep(0.3)
        assert reads(servers) - platform.store.log.head(match) == before


def reads(servers: Servers) -> int:
    """Return how often a standing or a range of an index or a stream was read by a bare command."""
    stats: Any = servers.keeper.info("commandstats")
    return sum(stats.get(f"cmdstat_{name}", {}).get("calls", 0) for name in ("get", "xrevrange"))


def test_a_closed_connection_frees_its_place(live: Live, people: list[Person]) -> None:
    within(20, lambda: streams(live) == 0)  # those of earlier tests have ended
    feeds = [Feed(live.url, people[0].key) for _ in range(4)]
    within(20, lambda: streams(live) == 4)
    for feed in feeds:
        feed.ready()
        feed.answer.raw._fp.fp.raw._sock.shutdown(2)
    within(20, lambda: streams(live) == 0)


def test_a_silent_stream_comments_and_ends_in_time(live: Live, people: list[Person]) -> None:
    body = requests.get(f"{live.url}/v1/players/me/stream?seconds=2", headers={"Authorization": f"Bearer {people[0].key}"}, timeout=20).text
    assert body.startswith("retry: 1000\n\nid: ")
    assert ": still here\n\n" in body


def test_a_stream_needs_the_key_of_a_player(live: Live, anybody: Caller, ada: Caller) -> None:
    path = "/v1/players/me/stream"
    refused = anybody.get(path)
    assert (refused.status_code, refused.json["code"]) == (401, "no_key")
    refused = requests.get(live.url + path, headers={"Authorization": f"Bearer {ADMIN}"}, timeout=5)
    assert (refused.status_code, refused.json()["code"]) == (403, "no_player")
    for last in ("x", "-1", "1" * 16, ""):
        refused = ada.get(path, Last_Event_ID=last)
        assert (refused.status_code, refused.json["code"]) == (400, "bad_header")
    assert ada.get(f"{path}?seconds=0", Last_Event_ID="9" * 15).data.endswith(b"event: ready\ndata: {}\n\n")
    head = ada.ask("HEAD", path)
    assert (head.status_code, head.mimetype, head.data) == (200, "text/event-stream", b"")


def test_news_that_nobody_takes_are_bounded() -> None:
    watch = PlayerWatch(lambda: None)
    assert watch.take() == (True, {})
    for number in range(MOST_NEWS):
        watch.tell(Head(f"m{number}", 1))
    missed, news = watch.take()
    assert (missed, len(news)) == (False, MOST_NEWS)
    for number in range(MOST_NEWS + 1):
        watch.tell(Head(f"m{number}", 1))
    assert watch.take() == (True, {})
    watch.tell(Head("m1", 2, anew=True))
    watch.tell(Head("m1", 3))
    assert watch.take() == (False, {"m1": Head("m1", 3, anew=True)}), "an older change of the table is not forgotten"


def test_a_revoked_key_loses_its_stream_in_another_process(live: Live, other: Live, platform: Platform, people: list[Person]) -> None:
    ann, bob, _ = people
    made, bot = add_key(platform, ann.id, ADMIN_SIGNER, "bot", ["read"], SCOPES)
    with following(other, Person(ann.id, bot)) as his, following(other, ann) as hers:
        his.ready()
        hers.ready()
        path = f"{live.url}/v1/players/me/keys/{made.id}"
        assert requests.delete(path, headers={"Authorization": f"Bearer {ann.key}"}, timeout=30).status_code == 204
        assert his.ended.wait(10), "a stream of a revoked key goes on"
        match = begun(platform, ann, bob)
        hers.hears("turn", match)
        assert his.of(match) == []


def test_a_key_without_the_scope_read_has_no_stream(live: Live, platform: Platform, people: list[Person]) -> None:
    _, key = add_key(platform, people[0].id, ADMIN_SIGNER, "manager", ["account"], SCOPES)
    refused = requests.get(f"{live.url}/v1/players/me/stream", headers={"Authorization": f"Bearer {key}"}, timeout=30)
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_needed")
