"""The stream of a player's own events, over real sockets and with two servers on one store."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest
import requests

from events import play, recall
from events.accounts import SCOPES, add_key, register
from events.platform import Platform
from events.store.accounts import ADMIN as ADMIN_SIGNER
from events.store.heads import Head
from games.kernel import SYSTEM
from service.api.player_stream import LONGEST_BREAK_MS, SLACK_MS
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

    def heard(self) -> list[Event]:
        return [event for event in list(self.events) if event.kind != "ready"]

    def kinds(self) -> list[str]:
        return [event.kind for event in self.heard()]

    def of(self, match: str) -> list[str]:
        return [event.kind for event in list(self.events) if event.data.get("match") == match]

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *_: object) -> None:
        self.answer.close()

    def cut(self) -> str:
        """Close the connection, and return the id to continue from."""
        last = self.events[-1].id
        self.answer.close()
        return last


def following(live: Live, person: Person, last: str | None = None) -> Feed:
    return Feed(live.url, person.key, last)


@pytest.fixture
def people(platform: Platform) -> list[Person]:
    made = [register(platform, name) for name in ("Ann", "Bob", "Cyd")]
    return [Person(player.id, key) for player, key in made]


@pytest.fixture(scope="module")
def other(serve: Callable[..., Live]) -> Live:
    """Another server on the same store."""
    return serve()


def begun(platform: Platform, one: Person, two: Person, target: int = 1000) -> str:
    """Begin a match between two players. The first is to act. It has no clock: an outage of a busy machine would give it time."""
    seats, settings = {"one": "me", "two": "open"}, {"clock": {"kind": "none"}}
    match = play.create(platform, one.id, "tally", seats, {"target": target}, settings=settings).match
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
    monkeypatch.setattr("service.api.player_stream.MOST_CALLED", 3)
    made = [play.create(platform, ben.id, "tally", {"one": "me", "two": f"player:{ada.id}"}, {}).match for _ in range(5)]
    body = ada.get("/v1/players/me/stream?seconds=0").data.decode()
    assert body.count("event: invited") == 3
    assert sum(match in body for match in made) == 3
    assert told(ada, str(platform.clock.now())) == ["invited"] * 3, "also after a break"


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
        play.act_at_table(platform, match, bob.id, {"type": "leave_seat", "seat": "two"})
        hers.hears("left", match, player=bob.id, seat="two")
        take_seat(platform, match, cyd.id, "two")
        take_seat(platform, match, ann.id, "three")
        hers.hears("started", match)
        play.play(platform, match, SYSTEM, ADVANCE)
        hers.hears("turn", match)
        assert his.of(match) == []
        with following(live, bob, his.events[-1].id) as again:
            again.ready()
            assert again.of(match) == []


TALE: list[tuple[str, Any]] = [
    ("ann", {"type": "offer", "what": "draw"}),
    ("bob", {"type": "accept", "what": "draw"}),
    ("ann", {"type": "decline", "what": "draw"}),
    ("bob", {"type": "offer", "what": "pause", "hours": 24}),
    ("cyd", {"type": "decline", "what": "pause"}),
    ("bob", {"type": "offer", "what": "pause", "hours": 24}),
    ("ann", {"type": "accept", "what": "pause"}),
    ("cyd", {"type": "accept", "what": "pause"}),
    ("bob", {"type": "offer", "what": "resume"}),
    ("ann", {"type": "accept", "what": "resume"}),
    ("cyd", {"type": "accept", "what": "resume"}),
    ("bob", {"type": "hand_over", "player": "dan"}),
    ("dan", {"type": "take_over", "seat": "two"}),
    ("ann", {"type": "resign"}),
    ("dan", {"type": "resign"}),
]
"""What happens at a table of three after the start."""
TOLD = {
    "ann": "invitation_declined invited over joined left joined joined started turn answered offer answered offer answered answered paused "
    "offer answered answered resumed turn handed_over resigned over",
    "bob": "joined started offer answered answered answered answered answered paused answered answered answered resumed handed_over",
    "cyd": "started offer answered answered offer offer answered answered paused offer answered answered resumed handed_over resigned "
    "resigned over",
    "dan": "invited seat_offered resigned turn over",
}


def tell_tale(platform: Platform, people: Mapping[str, str]) -> str:
    """Let a match be created, begin and end, and return it. `people`: ids by name; Ann creates it, and one that is closed before."""
    closed = play.create(platform, people["ann"], "tally", {"one": "me", "two": f"player:{people['dan']}"}, {}).match
    play.act_at_table(platform, closed, people["dan"], {"type": "decline_seat", "seat": "two"})
    play.act_at_table(platform, closed, people["ann"], {"type": "close_match"})
    seats = {"one": "me", "two": "open", "three": "open"}
    match = play.create(platform, people["ann"], "tally", seats, {"target": 30}).match
    take_seat(platform, match, people["dan"], "two")
    play.act_at_table(platform, match, people["dan"], {"type": "leave_seat", "seat": "two"})
    take_seat(platform, match, people["bob"], "two")
    take_seat(platform, match, people["cyd"], "three")
    play.play(platform, match, SYSTEM, ADVANCE)
    seat_of = {"ann": "one", "bob": "two", "cyd": "three", "dan": "two"}
    for name, action in TALE:
        given = {**action, "player": people["dan"]} if "player" in action else action
        actor = people[name] if action["type"] == "take_over" else seat_of[name]
        play.act_at_table(platform, match, actor, given)
    return match


def test_what_is_sent_again_after_a_break_is_what_was_sent(live: Live, other: Live, platform: Platform, people: list[Person]) -> None:
    """Each event comes with its own version, in order and once, also what came before the end, and what was answered or withdrawn since."""
    made, key = register(platform, "Dan")
    names = dict(zip(("ann", "bob", "cyd", "dan"), [*people, Person(made.id, key)], strict=True))
    with ExitStack() as stack:
        feeds = {name: stack.enter_context(following(live, person)) for name, person in names.items()}
        start = {name: feed.ready() for name, feed in feeds.items()}
        match = tell_tale(platform, {name: person.id for name, person in names.items()})
        for name, feed in feeds.items():
            within(20, lambda feed=feed, name=name: feed.kinds() == TOLD[name].split())
            heard = feed.heard()
            assert all(event.data["type"] == event.kind for event in heard)
            identities = [(event.data["version"], event.data["index"]) for event in heard if event.data["match"] == match]
            assert identities == sorted(set(identities)), f"{name} hears it once and in order"
            with following(other, names[name], start[name]) as again:
                again.ready()
                assert [event.data for event in again.heard()] == [event.data for event in heard]
            with following(live, names[name], heard[-1].id) as later:
                later.ready()
                assert [event.data for event in later.heard()] == [event.data for event in heard], "a minute comes again"
                assert {event.id for event in later.heard()} == {heard[-1].id}, "who is cut off then goes back no further"


def test_a_turn_is_told_once_whatever_is_offered(live: Live, platform: Platform, people: list[Person]) -> None:
    ann, bob, _ = people
    match = begun(platform, ann, bob)
    with following(live, ann) as feed:
        feed.hears("turn", match, version=3)
        for _ in range(3):
            play.act_at_table(platform, match, "two", {"type": "offer", "what": "draw"})
            play.act_at_table(platform, match, "two", {"type": "decline", "what": "draw"})
        feed.hears("answered", match, version=9, answer="withdrawn")
        assert feed.of(match) == ["turn", *["offer", "answered"] * 3]
        with following(live, ann) as again:
            again.ready()
            assert again.of(match) == ["turn"], "what was withdrawn does not wait"
            assert again.events[0].data == feed.events[0].data


def test_what_happened_before_a_stream_began_is_not_told_after_a_break(
    live: Live, platform: Platform, servers: Servers, people: list[Person]
) -> None:
    ann, bob, _ = people
    match = begun(platform, ann, bob)
    with following(live, ann) as feed:
        feed.ready()
        servers.keeper.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        within(20, lambda: [event.kind for event in list(feed.events)].count("ready") >= 2)
        assert feed.kinds() == ["turn"]
        play.act_at_table(platform, match, "two", {"type": "offer", "what": "draw"})
        feed.hears("offer", match, version=4)
        assert feed.kinds() == ["turn", "offer"]


@pytest.mark.parametrize("most", [1, 3])
def test_what_waits_in_memory_for_earlier_events_of_other_matches_is_bounded(
    platform: Platform, ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """What comes is the same, and in the same order."""
    ann, bob = Person(ada.id, ""), Person(ben.id, "")
    matches = [begun(platform, ann, bob) for _ in range(3)]
    for _ in range(4):
        for match in matches:
            played_round(platform, match)
    texts = []
    for number in (4000, most * len(matches)):
        monkeypatch.setattr("service.api.player_stream.MOST_AHEAD", number)
        texts.append(ada.get("/v1/players/me/stream?seconds=0", Last_Event_ID=str(platform.clock.now())).text.split("event: ready")[0])
    assert texts[0].count("event: turn") == 15
    assert re.sub("id: .*", "", texts[0]) == re.sub("id: .*", "", texts[1])
    moments = [int(at) for at in re.findall('"at":([0-9]+)', texts[0])]
    assert moments == sorted(moments)


def test_an_organiser_hears_what_the_players_of_created_matches_are_told(
    live: Live, other: Live, platform: Platform, people: list[Person]
) -> None:
    ann, bob, cyd = people
    with Feed(live.url, cyd.key, query="?created=true") as feed, following(live, cyd) as mine:
        feed.ready()
        mine.ready()
        match = play.create(platform, cyd.id, "tally", {"one": f"player:{ann.id}", "two": f"player:{bob.id}"}, {"target": 1000}).match
        others = begun(platform, ann, bob)
        take_seat(platform, match, ann.id, "one")
        take_seat(platform, match, bob.id, "two")
        play.play(platform, match, SYSTEM, ADVANCE)
        play.act_at_table(platform, match, "one", {"type": "offer", "what": "draw"})
        feed.hears("offer", match, seat="two")
        expected = ["invited", "invited", "joined", "joined", "started", "turn", "offer"]
        assert feed.of(match) == expected
        with Feed(other.url, cyd.key, feed.events[0].id, query="?created=true") as again:
            again.ready()
            assert [event.data for event in again.heard()] == [event.data for event in feed.heard()]
        with Feed(other.url, cyd.key, query="?created=true") as waiting:
            waiting.ready()
            assert waiting.of(match) == ["turn", "offer"]
        play.act_at_table(platform, match, "two", {"type": "resign"})
        feed.hears("over", match, status="over", winners=["one"])
        mine.hears("over", match)
        assert feed.of(others) == mine.of(others) == []
        assert mine.of(match) == ["joined", "joined", "started", "resigned", "answered", "over"]


def test_who_comes_back_after_more_than_a_week_also_gets_what_waits(
    platform: Platform, ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = begun(platform, Person(ada.id, ""), Person(ben.id, ""))
    turn = ["turn"]
    assert told(ada, "1") == [*turn, "joined", "started", *turn]
    later = platform.clock.now() + LONGEST_BREAK_MS + SLACK_MS + 1000
    monkeypatch.setattr(type(platform.clock), "now", lambda _: later)
    assert told(ada, "1") == told(ada, "1700000000000") == turn, "what waits, and nothing of more than a week ago"
    assert told(ada, str(later - 1000)) == []
    play.act_at_table(platform, match, "two", {"type": "offer", "what": "draw"})
    assert told(ada, str(later - 1000)) == ["offer"]


def told(caller: Caller, last: str) -> list[str]:
    """Return what the stream of a caller tells who has got the event with the id `last`."""
    text = caller.get("/v1/players/me/stream?seconds=0", Last_Event_ID=last).text
    return [line.removeprefix("event: ") for line in text.splitlines() if line.startswith("event: ") and line != "event: ready"]


def test_a_match_that_cannot_be_read_does_not_end_the_stream(platform: Platform, servers: Servers, ada: Caller, ben: Caller) -> None:
    broken, sound = (begun(platform, Person(ada.id, ""), Person(ben.id, "")) for _ in range(2))
    servers.keeper.xadd(platform.store.keys.stream(broken), {"e": b"{"}, id="4-0")
    text = ada.get("/v1/players/me/stream?seconds=0", Last_Event_ID="1").text
    assert sound in text
    assert text.endswith("event: ready\ndata: {}\n\n")


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
        told = [(event.data["match"], event.data["version"]) for event in feed.events if event.kind == "turn"]
        assert len(told) == len(set(told)) == 400


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
        watch.tell(Head(f"m{number}", 1, 1))
    missed, news = watch.take()
    assert (missed, len(news)) == (False, MOST_NEWS)
    for number in range(MOST_NEWS + 1):
        watch.tell(Head(f"m{number}", 1, 1))
    assert watch.take() == (True, {})
    watch.tell(Head("m1", 3, 2))
    watch.tell(Head("m1", 5, 5))
    assert watch.take() == (False, {"m1": (2, 5)}), "what came first is not forgotten"


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
