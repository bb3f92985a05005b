"""Matches that are hidden from spectators: nobody without a seat learns anything of what follows the version that everybody may see."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from events import play, recall
from events.audit import audit
from events.due import owed
from events.platform import Platform
from events.rebuild import rebuild
from events.standings import NEWS_MS, changes, indexes
from record.entries import parse
from service.app import create_app
from service.http.settings import Settings
from table.deeds import DEEDS
from tests.conftest import Servers, within
from tests.service.conftest import Caller, played_on, streams_open
from tests.service.secrecy import answers, callers, comparable, replace_entries
from tests.service.test_history import events
from tests.service.test_matches import played_out

Opener = Callable[..., Platform]
STAY = {"type": "add", "by": 1, "stay": True}
ADVANCE = [{"type": "advance"}]
LATE = {"delay": 4}
MINE = ("creator=me", "creator=me&updated_since=0", "creator=me&updated_since=0&tag=cup")


def hidden(creator: Caller, one: Caller, two: Caller, spectators: Any, game: str = "tally", **options: Any) -> str:
    """Create a match between two others that is hidden from spectators, and let them take their seats."""
    seats = {"one": one, "two": two} if game == "tally" else {"red": one, "blue": two}
    clock = {"kind": "days", "hours": 24}
    body = {"game": game, "seats": dict.fromkeys(seats, "open"), "spectators": spectators, "options": options, "clock": clock}
    made = creator.post("/v1/matches", body)
    assert made.status_code == 201, made.text
    match: str = made.json["id"]
    for seat, player in seats.items():
        assert player.post(f"/v1/matches/{match}/seats/{seat}").status_code == 200
    return match


def told(caller: Caller, match: str, *players: Caller) -> Iterator[tuple[str, Any]]:
    """Yield what a caller without a seat gets about a match from every route, refusals and lists included."""
    base = f"/v1/matches/{match}"
    yield from answers(caller, match, 8, "red", "blue")
    for path in (base, f"{base}/state"):
        for tag in ('"3"', '"4"', '"5"', '"9"', '"3-text"', '"40"'):
            yield f"{path} with {tag}", comparable(caller.get(path, If_None_Match=tag))
    yield "board", comparable(caller.get(f"{base}/state", Accept="text/plain"))
    yield "picture", comparable(caller.get(f"{base}/state.svg"))
    for after in (2, 3, 4, 5, 12, 99):
        for path in (f"{base}/entries?after={after}", f"{base}/stream?seconds=0&after={after}", f"{base}/entries?after={after}&limit=2"):
            yield path, comparable(caller.get(path))
    for filters in (
        "",
        "limit=1",
        "status=playing",
        "status=over",
        "status=open",
        "game=war",
        "to_act=me",
        "player=me",
        "invited=me",
        *MINE,
    ):
        yield filters, comparable(caller.get(f"/v1/matches?{filters}"))
    for player in players:
        for filters in (f"to_act={player.id}", f"player={player.id}", f"player={player.id}&to_act={player.id}&limit=1"):
            yield filters.replace(player.id, "one"), comparable(caller.get(f"/v1/matches?{filters}"))
        yield "profile", comparable(caller.get(f"/v1/players/{player.id}"))
    for expected in ("1", "3", "4", "5", "9", "40"):
        for kind in ("take_seat", "take_over"):
            action = {"type": kind, "seat": "red"}
            yield f"{action} at {expected}", comparable(caller.act(match, action, If_Match=f'"{expected}"'))
            yield f"{action} as red at {expected}", comparable(caller.act(match, action, "?seat=red", If_Match=f'"{expected}"'))
        for action in ({"type": "close_match"}, {"type": "advance"}, {"type": "resign"}, {"type": "rematch"}):
            yield f"{action} at {expected}", comparable(caller.act(match, action, If_Match=f'"{expected}"'))
    stream = caller.get("/v1/players/me/stream?seconds=0")
    yield "own stream", (stream.status_code, [event["data"] for event in events(stream.text)])


@pytest.mark.parametrize(
    ("spectators", "shared", "heads"),
    [
        pytest.param("none", 3, (40, 3), marks=pytest.mark.soak),
        pytest.param(LATE, 3, (7, 3), marks=pytest.mark.soak),
        (LATE, 19, (23, 23)),
    ],
)
def test_two_histories_that_part_after_what_everybody_may_see_give_strangers_the_same_bytes(
    platform: Platform,
    another_platform: Opener,
    servers: Servers,
    settings: Settings,
    join: Callable[..., Caller],
    spectators: Any,
    shared: int,
    heads: tuple[int, int],
) -> None:
    eve, ada, ben, cleo, dan = (join(name) for name in ("Eve", "Ada", "Ben", "Cleo", "Dan"))
    match = hidden(eve, ada, ben, spectators, "war")
    played_on(platform, match, random.Random(3), 20)
    common = [parse(stored) for stored in platform.store.log.read_all(match)][:shared]
    found, moment = [], platform.clock.now()
    for seed, head in enumerate(heads):
        replace_entries(servers, platform, match, common)
        other = another_platform(moment)
        rebuild(other)
        if seed == 0:  # in one of them there is more at the table, too
            play.act_at_table(other, match, "red", {"type": "offer", "what": "void"})
            play.act_at_table(other, match, "blue", {"type": "hand_over", "player": dan.id})
        played_on(other, match, random.Random(seed), head - recall.position(other, match).version)
        assert recall.position(other, match).version == head
        strangers = callers(create_app(other, settings), eve, cleo)
        found.append([list(told(caller, match, ada, ben)) for caller in strangers])
        for caller, path in ((ada, ""), (ben, "?viewer=spectator")):
            assert Caller(strangers[0].client, caller.key).get(f"/v1/matches/{match}/state{path}").json["version"] == head
        assert audit(other, match).findings == []
    assert {len(each) for history in found for each in history} == {len(found[0][0])}
    for place in range(3):
        for (name, first), (_, second) in zip(*[history[place] for history in found], strict=True):
            assert first == second, name


def deeds(caller: Caller, match: str) -> Iterator[tuple[str, Any]]:
    """Yield the answers to everything that a caller without a seat can do at the table of a match, as whom it likes."""
    some = {"seat": "one", "contribution": "00", "player": caller.id, "what": "pause", "version": 2, "hours": 2, "for": "forfeit"}
    some |= {"dispute": 1, "text": "Why?", "verdict": "upheld", "remedy": "none", "from": 1, "to": 2, "report": {}}
    for kind, deed in DEEDS.items():
        action = {"type": kind, **{name: some[name] for name in deed.fields if name in some}}
        for query in ("", "?seat=one", "?seat=nobody"):
            yield f"{kind}{query}", comparable(caller.act(match, action, query))
    yield "join", comparable(caller.post(f"/v1/matches/{match}/seats/one"))
    for path, body in (("", {"version": 1, "text": "Why?"}), ("/1/statements", {"text": "So."}), ("/1/appeal", {"text": "No."})):
        yield f"disputes{path}", comparable(caller.post(f"/v1/matches/{match}/disputes{path}", body))


@pytest.mark.parametrize("spectators", [pytest.param("none", marks=pytest.mark.soak), {"delay": 500}])
def test_every_deed_of_a_stranger_is_answered_alike_in_every_phase(
    platform: Platform, join: Callable[..., Caller], referee: Caller, spectators: Any
) -> None:
    """Also those of the creator, and of a player who once had a seat (TBL-SEE-03)."""
    eve, ada, ben, cleo, dan = (join(name) for name in ("Eve", "Ada", "Ben", "Cleo", "Dan"))
    match = hidden(eve, ada, ben, spectators)
    played_on(platform, match, random.Random(3), 2)
    began = [list(deeds(stranger, match)) for stranger in (eve, cleo)]
    steps: list[tuple[Caller, dict[str, Any]]] = [
        (ada, {"type": "offer", "what": "pause"}),
        (ben, {"type": "accept", "what": "pause"}),
        (ada, {"type": "offer", "what": "resume"}),
        (ben, {"type": "accept", "what": "resume"}),
        (ben, {"type": "hand_over", "player": dan.id}),
        (dan, {"type": "take_over", "seat": "two"}),
        (ada, {"type": "dispute", "version": 2, "text": "The dice."}),
        (referee, {"type": "take_dispute", "dispute": 1}),
        (ada, {"type": "withdraw_dispute", "dispute": 1}),
        (ada, {"type": "hand_over", "player": ben.id}),
    ]
    for caller, action in steps:
        answer = caller.act(match, action)
        assert answer.status_code == 200, answer.text
        assert [list(deeds(stranger, match)) for stranger in (eve, cleo)] == began, action


@pytest.mark.parametrize("spectators", ["none", LATE])
def test_a_stranger_sees_the_match_as_it_was_and_players_and_referees_as_it_is(
    platform: Platform, ada: Caller, ben: Caller, cleo: Caller, anybody: Caller, referee: Caller, admin: Caller, spectators: Any
) -> None:
    match = hidden(ada, ada, ben, spectators, target=30)
    began = anybody.get(f"/v1/matches/{match}").json
    assert (began["version"], began["status"]) == (3, "playing")
    play.play(platform, match, "system", ADVANCE)
    for _ in range(3):
        assert ada.act(match, STAY).status_code == 200
    expected = {"none": 3}.get(str(spectators), 3)
    for caller in (anybody, cleo):
        assert caller.get(f"/v1/matches/{match}").json == began
        assert caller.get(f"/v1/matches/{match}/state").json["version"] == expected
        assert [entry["version"] for entry in caller.get(f"/v1/matches/{match}/entries").json["entries"]] == [1, 2, 3]
        beyond = caller.get(f"/v1/matches/{match}/state?at=4")
        assert (beyond.status_code, beyond.json["code"]) == (404, "no_such_version")
        assert beyond.json["detail"] == "The match has the versions 1 to 3. There is no version 4."
    for caller in (ada, ben, referee, admin):
        assert caller.get(f"/v1/matches/{match}").json["version"] == 7
        assert caller.get(f"/v1/matches/{match}/state").json["version"] == 7
        assert caller.get(f"/v1/matches/{match}/state?viewer=spectator").json["version"] == 7
        assert len(caller.get(f"/v1/matches/{match}/entries").json["entries"]) == 7
    for caller in (ada, ben):
        (shown,) = caller.get("/v1/matches").json["matches"]
        assert (shown["version"], shown["to_act"]) == (7, ["one"])
    reads = platform.sidelog.reads(match)
    for caller in (anybody, referee, admin):  # no list is recorded as a read, so none shows a referee more
        (shown,) = caller.get("/v1/matches").json["matches"]
        assert (shown["version"], shown["to_act"], "public" in shown) == (3, ["system"], False)
        assert caller.get("/?part=list").text == anybody.get("/?part=list").text
    assert platform.sidelog.reads(match) == reads
    ada.act(match, STAY)
    if spectators != "none":
        assert anybody.get(f"/v1/matches/{match}/state").json["version"] == 4
    over = played_out(platform, ada, ben, match)
    for caller in (anybody, cleo, ada):
        assert caller.get(f"/v1/matches/{match}").json["outcome"] == over["outcome"]
        assert caller.get(f"/v1/matches/{match}/entries?limit=200").json["version"] == over["version"]
        assert caller.get(f"/v1/matches/{match}/audit").json["ok"]
    (shown,) = anybody.get(f"/v1/matches?player={ben.id}&status=over").json["matches"]
    assert shown["version"] == over["version"]


def test_players_find_their_turns_and_strangers_do_not(platform: Platform, ada: Caller, ben: Caller, cleo: Caller, referee: Caller) -> None:
    match = hidden(cleo, ada, ben, "none")
    plain = hidden(cleo, ada, ben, "all")
    for one in (match, plain):
        play.play(platform, one, "system", ADVANCE)

    def listed(caller: Caller, query: str) -> list[str]:
        return [one["id"] for one in caller.get(f"/v1/matches?{query}").json["matches"]]

    assert listed(ada, "to_act=me") == [plain, match]
    assert listed(cleo, f"to_act={ada.id}") == listed(ben, f"to_act={ada.id}") == listed(referee, f"to_act={ada.id}") == [plain]
    assert listed(cleo, f"player={ada.id}") == listed(ada, "player=me&status=playing") == [plain, match]
    assert rebuild(platform).strays == 0
    assert listed(ada, "to_act=me") == [plain, match]
    for one in (match, plain):
        assert audit(platform, one).findings == []


def rounded(at: int) -> int:
    """Return a moment as lists of news have it."""
    return at - at % NEWS_MS


def test_the_stream_of_a_creator_without_a_seat_tells_of_the_start_and_the_end_and_of_nothing_between(
    platform: Platform, join: Callable[..., Caller], ada: Caller, ben: Caller
) -> None:
    eve = join("Eve")
    match = hidden(eve, ada, ben, "none", target=30)

    def told_since(moment: int) -> list[Any]:
        stream = eve.get("/v1/players/me/stream?seconds=0", Last_Event_ID=str(moment))
        return [(event["event"], event["data"]) for event in events(stream.text) if event["event"] != "ready"]

    start = recall.position(platform, match).changed
    began = told_since(start)
    assert [kind for kind, _ in began] == ["joined", "joined", "started"]
    assert [json.loads(data)["version"] for _, data in began] == [2, 3, 3]
    time.sleep(0.005)
    before = play.play(platform, match, "system", ADVANCE).position
    after = play.act_at_table(platform, match, "one", {"type": "offer", "what": "pause"}).position
    assert after.changed > start
    assert changes(before, after, owed(after)).tell == (ben.id,), "whoever makes an offer knows of it"
    assert {player.id: indexes(after)[f"news:{player.id}"] for player in (ada, ben, eve)} == {
        ada.id: rounded(before.at),
        ben.id: rounded(after.at),
        eve.id: rounded(start),
    }
    assert indexes(after)[f"made:{eve.id}"] == rounded(start)
    assert told_since(start) == began
    over = play.act_at_table(platform, match, "two", {"type": "resign"}).position
    assert (over.status, changes(after, over, owed(over)).tell) == ("over", (f"*{eve.id}", *sorted([ada.id, ben.id, eve.id])))
    assert indexes(over)[f"news:{eve.id}"] == rounded(over.changed)
    assert [kind for kind, _ in told_since(start)] == ["joined", "joined", "started", "resigned", "answered", "over"]
    assert told_since(start)[:3] == began


@pytest.mark.parametrize(("spectators", "meanwhile"), [("none", []), (LATE, [4])])
def test_an_open_stream_of_a_stranger_gets_what_everybody_may_see_and_after_the_end_the_rest(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller, spectators: Any, meanwhile: list[int]
) -> None:
    match = hidden(ada, ada, ben, spectators, target=30)
    before = streams_open()
    streamed: list[Any] = []
    polled: list[Any] = []
    stream = threading.Thread(target=lambda: streamed.append(anybody.get(f"/v1/matches/{match}/stream?after=3&seconds=20").text))
    poll = threading.Thread(target=lambda: polled.append(anybody.get(f"/v1/matches/{match}/entries?after=3&wait=3").json))
    for thread in (stream, poll):
        thread.start()
    within(20, lambda: streams_open() == before + 2)
    play.play(platform, match, "system", ADVANCE)
    for _ in range(4):
        ada.act(match, STAY)
    poll.join()
    assert [entry["version"] for entry in polled[0]["entries"]] == meanwhile
    over = played_out(platform, ada, ben, match)
    stream.join()
    sent = events(streamed[0])
    assert [event["id"] for event in sent if event["event"] == "entry"] == [str(version) for version in range(4, over["version"] + 1)]
    assert [event["event"] for event in sent[-2:]] == ["clocks", "over"]


def test_a_position_is_the_same_however_it_is_reached(platform: Platform, another_platform: Opener, ada: Caller, ben: Caller) -> None:
    match = hidden(ada, ada, ben, "none", target=1_000_000)
    play.play(platform, match, "system", ADVANCE)
    for _ in range(3):
        play.play(platform, match, "one", [STAY] * 30)
    carried = recall.position(platform, match)
    assert carried.begun is not None
    assert carried.begun["version"] == 3
    assert recall.position(another_platform(), match) == carried
    assert recall.state_at(another_platform(), match, 70).begun == carried.begun
    assert recall.state_at(another_platform(), match, 3).begun is not None
    assert recall.state_at(another_platform(), match, 2).begun is None


@pytest.mark.parametrize("spectators", ["some", {"delay": 0}, {"delay": 501}, {"delay": "2"}, {"late": 2}, None, 1])
def test_spectators_must_be_one_of_the_settings(ada: Caller, spectators: Any) -> None:
    refused = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}, "spectators": spectators})
    assert refused.status_code in (400, 422)
    assert refused.json["code"] in ("bad_body", "bad_settings", "against_the_rules", "bad_action")
