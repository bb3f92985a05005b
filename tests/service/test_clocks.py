"""Matches with clocks over HTTP, whose clients leave, come back late, race their deadlines, make offers and resign in a battle."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from events import accounts, recall
from events.audit import audit
from events.due import ADVANCE, DEADLINE, THINK, owed
from events.platform import Platform
from events.rebuild import rebuild
from examples.check_clocks import computed
from games import GAMES
from games.choices import complete
from games.documents import clone
from games.war_of_civilizations import GAME as CIVILIZATIONS
from sdk.python.warledger_client import in_the_game
from service.app import create_app
from service.http.settings import Settings
from tests.conftest import Servers
from tests.each import each
from tests.events.keyspace import projections
from tests.events.test_deadlines import Timed
from tests.service.conftest import Caller
from tests.service.test_history import events
from tests.workers.test_battles import END_TURN, assault, attack
from workers import jobs

SECOND = 1000
HOUR = 3_600_000
DAY = 24 * HOUR
BANK = {"kind": "bank", "seconds": 60, "increment": 5}
QUICK = {"kind": "per_action", "seconds": 10}
NOBODY = "p" + "z" * 16
RESIGN = {"type": "resign"}
GO = {"type": "add", "by": 1, "stay": False}


class Club:
    """The service over a platform whose time passes only when a test says so, its worker, and players."""

    def __init__(self, timed: Timed, platform: Platform) -> None:
        self.timed = timed
        self.platform = platform
        app = create_app(platform, Settings(log_requests=False))
        self.anybody = Caller(app.test_client())
        made = [accounts.register(platform, name) for name in ("Ada", "Ben", "Cleo", "Dan", "Eve", "Fay")]
        self.matches: list[str] = []
        self.people = [Caller(app.test_client(), key, player.id) for player, key in made]

    def begin(self, game: str = "tally", people: int = 2, ai: int = 0, **settings: Any) -> str:
        """Create a match of the first players, and let the system begin it."""
        rules = self.platform.games[game]
        taken = [*self.people[:people], *[None] * ai]
        seats = dict(zip(rules.seats.ids, taken, strict=False))
        asked = {seat: "ai:random" if who is None else "open" for seat, who in seats.items()}
        made = self.people[0].post("/v1/matches", {"game": game, "seats": asked, **settings})
        assert made.status_code == 201, made.text
        match: str = made.json["id"]
        for seat, who in seats.items():
            if who is not None:
                assert who.post(f"/v1/matches/{match}/seats/{seat}").status_code == 200
        self.matches.append(match)
        self.work()
        return match

    def work(self) -> None:
        """Carry out all that is due now: the system's steps, those of AI seats, and deadlines."""
        self.timed.fire()
        for match in self.matches:
            while works := [work for work in owed(recall.position(self.timed.worker, match)) if work.kind in (ADVANCE, THINK)]:
                jobs.do_step(self.timed.worker, works[0], 0.0)

    def until(self, moment: int) -> None:
        """Let time pass until a moment."""
        self.timed.live(moment - self.timed.now())

    def after(self, moment: int) -> None:
        """Let time pass until a moment is over, and all that is due then be done."""
        self.until(moment + SECOND)
        self.work()

    def match(self, match: str) -> Any:
        return self.people[0].get(f"/v1/matches/{match}").json

    def player(self, match: str, seat: str) -> Caller:
        """Return the player who has a seat."""
        return next(one for one in self.people if one.id == self.match(match)["seats"][seat].get("player"))

    def act(self, match: str, dice: random.Random, seat: str | None = None) -> Any:
        """Let the player of a seat carry out one of the choices of the game, and what follows be done."""
        seat = seat or self.match(match)["to_act"][0]
        player = self.player(match, seat)
        choice = dice.choice(in_the_game(player.get(f"/v1/matches/{match}/choices?seat={seat}").json["choices"]))
        answer = player.act(match, complete(choice["action"], choice.get("choose", {}), dice.randrange), f"?seat={seat}")
        assert answer.status_code == 200, answer.json
        self.work()
        return answer.json

    def check(self, match: str) -> list[str]:
        """Check the audit, the lists, and each clock by the entries alone. Return the types of all events."""
        assert audit(self.timed.worker, match).findings == []
        stored = projections(self.platform.store.client)
        rebuild(self.timed.worker)
        assert projections(self.platform.store.client) == stored
        entries: list[Any] = []
        while page := self.people[0].get(f"/v1/matches/{match}/entries?after={len(entries)}&limit=200").json["entries"]:
            entries += page
        states = [self.people[0].get(f"/v1/matches/{match}/state?at={entry['version']}").json for entry in entries]
        recomputed = list(computed(entries, (state["view"]["to_act"] for state in states)))
        assert [state["clocks"] for state in states] == recomputed
        assert self.match(match)["clocks"] == recomputed[-1]
        return [event["type"] for entry in entries for event in entry["events"]]


@pytest.fixture
def timed(quiet_servers: Servers) -> Iterator[Timed]:
    found = Timed(quiet_servers)
    yield found
    found.close()


@pytest.fixture
def club(timed: Timed) -> Club:
    return Club(timed, timed.web)


# ---------------------------------------------------------------- settings


def test_settings_are_shown_with_their_defaults_before_anybody_joins(club: Club) -> None:
    body = {"game": "tally", "seats": {"one": "me", "two": "open"}}
    plain = club.people[0].post("/v1/matches", body).json
    usual = {"policy": "substitute", "level": "greedy", "in_a_row": 3, "then": "substitute"}
    assert (plain["clock"], plain["time_out"]) == ({"kind": "days", "hours": 72, "vacation_days": 0}, usual)
    assert (plain["spectators"], plain["clocks"], plain["dispute_days"]) == ("all", {}, 3)
    alone = club.people[0].post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "ai:greedy"}}).json
    assert (alone["clock"], alone["time_out"]) == ({"kind": "none"}, None)
    club.timed.live(SECOND)
    timed = club.people[0].post("/v1/matches", {**body, "clock": {"kind": "bank", "seconds": 300}, "spectators": {"delay": 3}}).json
    shown = club.anybody.get(f"/v1/matches/{timed['id']}").json
    assert shown["clock"] == {"kind": "bank", "seconds": 300, "increment": 0, "delay": 0}
    assert shown["time_out"] == {"policy": "substitute", "level": "greedy", "in_a_row": 3, "then": "substitute"}
    assert (shown["spectators"], shown["clocks"], shown["status"]) == ({"delay": 3}, {}, "open")
    assert club.anybody.get("/v1/matches").json["matches"][0]["clock"] == shown["clock"]


@each(
    "settings",
    [
        {"clock": {"kind": "per_action", "seconds": 4}},
        {"clock": {"kind": "per_action", "seconds": 60 * 86400 + 1}},
        {"clock": {"kind": "bank", "seconds": 0}},
        {"clock": {"kind": "bank", "seconds": 60, "increment": 86401}},
        {"clock": {"kind": "days", "hours": 0}},
        {"clock": {"kind": "days", "hours": 1, "vacation_days": 61}},
        {"clock": {"kind": "none"}, "time_out": {"policy": "skip"}},
        {"clock": {"kind": "none", "claim_days": 61}},
        {"dispute_days": 15},
        {"clock": BANK, "time_out": {"in_a_row": 11}},
        {"spectators": {"delay": 501}},
    ],
)
def test_a_setting_beyond_its_bounds_is_refused(club: Club, settings: Any) -> None:
    refused = club.people[0].post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}, **settings})
    assert (refused.status_code, refused.json["code"]) == (422, "bad_settings")
    assert refused.json["facts"]["reason"] in refused.json["detail"]


@each("settings", [{"clock": "none"}, {"clock": {"kind": "sand"}}, {"clock": {"kind": "bank"}}, {"time_out": []}, {"spectators": "few"}])
def test_a_setting_of_another_shape_is_refused(club: Club, settings: Any) -> None:
    refused = club.people[0].post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}, **settings})
    assert (refused.status_code, refused.json["code"]) in ((400, "bad_body"), (422, "bad_action"))


# ---------------------------------------------------------------- clocks


def test_match_state_lists_answers_and_streams_show_the_same_clocks_and_nothing_ticks(club: Club) -> None:
    ada, ben = club.people[:2]
    match = club.begin(clock=BANK)
    played = ada.act(match, GO).json
    deadline = club.timed.now() + 60 * SECOND
    expected = {"one": {"left": 65 * SECOND, "deadline": None, "late": 0}, "two": {"left": 60 * SECOND, "deadline": deadline, "late": 0}}
    answers = [club.anybody.get(f"/v1/matches/{match}{path}") for path in ("", "/state", "/stream?seconds=0")]
    assert played["clocks"] == answers[0].json["clocks"] == answers[1].json["clocks"] == expected
    assert club.anybody.get("/v1/matches").json["matches"][0]["clocks"] == expected
    *_, clocks = events(answers[2].text)
    assert clocks["event"] == "clocks"
    club.timed.live(20 * SECOND)
    assert [club.anybody.get(f"/v1/matches/{match}{path}").data for path in ("", "/state", "/stream?seconds=0")] == [
        answer.data for answer in answers
    ]
    turn = next(event for event in events(ben.get("/v1/players/me/stream?seconds=0").text) if event["event"] == "turn")
    assert f'"deadline":{deadline}' in turn["data"]


def test_a_turn_by_correspondence_has_its_hours_and_the_vacation(club: Club) -> None:
    match = club.begin(clock={"kind": "days", "hours": 24, "vacation_days": 2})
    assert club.match(match)["clocks"]["one"] == {"left": 3 * DAY, "deadline": club.timed.now() + 3 * DAY, "late": 0}


def test_turns_are_listed_by_deadline_page_by_page(club: Club) -> None:
    ada = club.people[0]
    slow = club.begin(clock={"kind": "days", "hours": 2})
    endless = [club.begin() for _ in range(2)]
    quick = club.begin(clock=QUICK)
    hidden = club.begin(clock={"kind": "per_action", "seconds": 30}, spectators="none")
    others = club.begin(clock=QUICK)
    assert club.people[0].act(others, GO).status_code == 200
    order = [quick, hidden, slow]
    found: list[str] = []
    path = "/v1/matches?to_act=me&sort=deadline&limit=2"
    page = ada.get(path).json
    while page["matches"]:
        found += [one["id"] for one in page["matches"]]
        page = ada.get(f"{path}&cursor={page['next']}").json if page["next"] else {"matches": []}
    assert found[:3] == order
    assert sorted(found[3:]) == sorted(endless)
    whole = ada.get("/v1/matches?to_act=me&sort=deadline").json
    for query in ("sort=deadline", f"sort=deadline&to_act={ada.id}", "sort=deadline&player=me"):
        assert ada.get(f"/v1/matches?{query}").json == whole
    assert club.people[1].get("/v1/matches?sort=deadline").json["matches"][0]["id"] == others
    for caller, query, status, code in ((ada, "sort=created", 400, "bad_query"), (club.anybody, "sort=deadline", 401, "no_key")):
        refused = caller.get(f"/v1/matches?{query}")
        assert (refused.status_code, refused.json["code"]) == (status, code)


@pytest.mark.parametrize("game", [pytest.param(game, marks=() if game == "war" else pytest.mark.soak) for game in GAMES])
def test_a_match_whose_clients_leave_come_back_late_race_their_deadlines_and_resign(club: Club, game: str) -> None:
    dice = random.Random(game)
    match = club.begin(game, clock=BANK, time_out={"policy": "substitute", "level": "random"})
    for _ in range(24):
        deadline = club.match(match)["clocks"][club.match(match)["to_act"][0]]["deadline"]
        club.until(deadline if dice.random() < 0.1 else min(deadline, club.timed.now() + dice.randrange(3000)))
        club.act(match, dice)
    late = club.match(match)["to_act"][0]
    player = club.player(match, late)
    choice = in_the_game(player.get(f"/v1/matches/{match}/choices").json["choices"])[0]
    deadline = club.match(match)["clocks"][late]["deadline"]
    club.until(deadline + 1)
    refused = player.act(match, choice["action"])
    assert (refused.status_code, refused.json["code"], refused.json["facts"]) == (409, "time_is_up", {"seat": late, "deadline": deadline})
    club.after(deadline)
    standing = club.match(match)
    assert standing["substitutes"] == {late: "random"}
    assert match not in [one["id"] for one in player.get("/v1/matches?to_act=me").json["matches"]]
    for _ in range(6):
        if (seat := club.match(match)["to_act"][0]) != late:
            club.act(match, dice, seat)
    refused = player.act(match, choice["action"])
    assert (refused.status_code, refused.json["code"]) == (409, "substituted")
    assert [one["action"] for one in player.get(f"/v1/matches/{match}/choices").json["choices"]] == [RESIGN, {"type": "return"}]
    assert player.act(match, {"type": "return"}).json["substitutes"] == {}
    assert club.match(match)["clocks"][late]["left"] >= 60 * SECOND
    club.work()
    for _ in range(4):
        club.act(match, dice)
    resigned = player.act(match, RESIGN)
    assert (resigned.status_code, resigned.json["seat"]) == (200, late)
    over = club.match(match)
    (winner,) = over["seats"].keys() - {late}
    assert (over["status"], over["outcome"]["winners"], over["outcome"]["reason"]) == ("over", [winner], "resigned")
    refused = player.act(match, RESIGN)
    assert refused.json["code"] == "match_over"
    happened = club.check(match)
    assert {"time_ran_out", "seat_substituted", "seat_returned", "seat_resigned", "match_ended"} <= set(happened)


def test_a_seat_resigns_in_the_middle_of_a_battle_and_the_others_go_on(timed: Timed) -> None:
    state = assault("rhino")
    games = {**timed.web.games, CIVILIZATIONS.id: CIVILIZATIONS._replace(begin=lambda seats, options: clone(state))}
    club = Club(timed, replace(timed.web, games=games))
    people = dict(zip(state["seats"], club.people, strict=False))
    made = club.people[0].post(
        "/v1/matches", {"game": CIVILIZATIONS.id, "seats": dict.fromkeys(people, "open"), "order": state["seats"], "clock": BANK}
    )
    match = made.json["id"]
    club.matches.append(match)
    for seat, player in people.items():
        assert player.post(f"/v1/matches/{match}/seats/{seat}").status_code == 200
    battle = people["fox"].act(match, attack("rhino")).json
    assert (battle["phase"], battle["to_act"]) == ("bids", ["fox", "rhino"])
    assert {seat for seat, clock in battle["clocks"].items() if clock["deadline"] is not None} == {"fox", "rhino"}
    timed.live(7 * SECOND)
    gone = people["rhino"].act(match, RESIGN)
    assert gone.status_code == 200, gone.json
    assert [event["type"] for event in gone.json["entries"][0]["events"]][:1] == ["seat_resigned"]
    assert gone.json["clocks"]["rhino"]["deadline"] is None
    club.work()
    while club.match(match)["to_act"] == ["fox"]:
        choices = [choice["action"] for choice in in_the_game(people["fox"].get(f"/v1/matches/{match}/choices").json["choices"])]
        assert people["fox"].act(match, END_TURN if END_TURN in choices else choices[0]).status_code == 200
        club.work()
    assert club.match(match)["to_act"] == ["tiger"]
    refused = people["rhino"].act(match, RESIGN)
    assert (refused.status_code, refused.json["code"], refused.json["rule"]) == (409, "not_in_play", "TBL-RES-02")
    assert people["rhino"].get(f"/v1/matches/{match}/choices").json["choices"] == []
    assert people["tiger"].act(match, RESIGN).json["outcome"]["winners"] == ["fox"]


def test_of_a_six_seat_match_five_seats_vanish_one_after_the_other(club: Club) -> None:
    dice = random.Random(6)
    match = club.begin("war_of_civilizations", 6, clock={"kind": "bank", "seconds": 30}, time_out={"policy": "forfeit"})
    gone: list[str] = []
    while club.match(match)["outcome"] is None:
        standing = club.match(match)
        seats = list(standing["seats"])
        seat = next((one for one in standing["to_act"] if one != seats[0]), None)
        if seat is None:
            club.act(match, dice, seats[0])
            continue
        gone.append(seat)
        club.after(standing["clocks"][seat]["deadline"])
        assert club.match(match)["clocks"][seat]["deadline"] is None
    assert sorted(gone) == sorted(seats[1:])
    over = club.match(match)
    assert (over["outcome"]["winners"], over["outcome"]["reason"]) == ([seats[0]], "forfeited")
    happened = club.check(match)
    assert (happened.count("time_ran_out"), happened.count("seat_forfeited")) == (5, 5)


@pytest.mark.parametrize("policy", ["forfeit", "substitute", "skip", "wait"])
def test_a_match_that_everybody_has_left_ends_by_itself(club: Club, policy: str) -> None:
    match = club.begin(clock=QUICK, time_out={"policy": policy, "in_a_row": 2}, options={"target": 6})
    for _ in range(20):
        due = [work.due for work in owed(recall.position(club.timed.worker, match)) if work.kind == DEADLINE]
        if not due:
            break
        if min(due) > club.timed.now() + HOUR:
            club.timed.machine.pass_ms(min(due) - club.timed.now())  # a vote that nobody decides
        club.timed.live(max(0, min(due) - club.timed.now()) + 5 * SECOND // 2)
        club.work()
    assert club.match(match)["outcome"] is not None
    club.check(match)


# ---------------------------------------------------------------- offers


def test_a_draw_needs_the_consent_of_all_others(club: Club) -> None:
    ada, ben, cleo = club.people[:3]
    match = club.begin("war", 3, clock=BANK)
    offered = ada.act(match, {"type": "offer", "what": "draw"}).json
    assert offered["offers"] == club.match(match)["offers"] == {"draw": {"by": "red", "accepted": []}}
    told = [event for event in events(ben.get("/v1/players/me/stream?seconds=0").text) if event["event"] == "offer"]
    assert ['"by":"red"' in event["data"] and '"what":"draw"' in event["data"] for event in told] == [True]
    assert {"type": "accept", "what": "draw"} in [one["action"] for one in ben.get(f"/v1/matches/{match}/choices").json["choices"]]
    assert ben.act(match, {"type": "accept", "what": "draw"}).json["offers"]["draw"]["accepted"] == ["blue"]
    again = ben.act(match, {"type": "accept", "what": "draw"})
    assert (again.status_code, again.json["code"], again.json["rule"]) == (409, "no_offer", "TBL-OFR-02")
    assert cleo.act(match, {"type": "decline", "what": "draw"}).json["offers"] == {}
    for player, action in ((cleo, "offer"), (ada, "accept"), (ben, "accept")):
        last = player.act(match, {"type": action, "what": "draw"}).json
    assert (last["outcome"]["reason"], sorted(last["outcome"]["winners"])) == ("draw", ["blue", "green", "red"])
    club.check(match)


def test_artificial_players_agree_to_a_takeback_and_to_no_draw(club: Club) -> None:
    ada = club.people[0]
    match = club.begin("tally", 1, 1, options={"target": 90})
    refused = ada.act(match, {"type": "offer", "what": "draw"})
    assert (refused.status_code, refused.json["code"]) == (409, "ai_declines")
    start = club.match(match)["version"]
    before = ada.get(f"/v1/matches/{match}/state").json["view"]
    for _ in range(3):
        assert ada.act(match, {"type": "add", "by": 2, "stay": True}).status_code == 200
    (back,) = [one for one in ada.get(f"/v1/matches/{match}/choices").json["choices"] if one["action"].get("what") == "takeback"]
    assert (back["choose"], back["at_table"]) == ({"version": [start, start + 2]}, True)
    assert ada.act(match, back["action"]).json["version"] == start + 4
    assert ada.get(f"/v1/matches/{match}/state").json["view"] == before
    refused = ada.act(match, {"type": "offer", "what": "takeback", "version": start})
    assert (refused.status_code, refused.json["code"]) == (409, "cannot_take_back")
    club.check(match)


def test_clocks_stand_still_while_a_match_is_paused(club: Club) -> None:
    ada, ben = club.people[:2]
    match = club.begin(clock=QUICK)
    club.timed.live(4 * SECOND)
    ada.act(match, {"type": "offer", "what": "pause", "hours": 720})
    paused = ben.act(match, {"type": "accept", "what": "pause"}).json
    assert (paused["to_act"], paused["clocks"]["one"]) == ([], {"left": 6 * SECOND, "deadline": None, "late": 0})
    assert paused["paused_until"] == club.timed.now() + 30 * DAY
    told = events(ada.get("/v1/players/me/stream?seconds=0", Last_Event_ID=str(club.timed.now())).text)
    assert [event["event"] for event in told if event["event"] in ("paused", "turn")] == ["turn", "paused"]
    club.timed.live(60 * SECOND)
    refused = ada.act(match, GO)
    assert (refused.status_code, refused.json["code"]) == (409, "match_paused")
    ben.act(match, {"type": "offer", "what": "resume"})
    on = ada.act(match, {"type": "accept", "what": "resume"}).json
    assert on["clocks"]["one"]["deadline"] == club.timed.now() + 6 * SECOND
    assert ada.act(match, GO).status_code == 200
    club.check(match)


def test_a_seat_is_handed_over_to_a_named_player_who_accepts(club: Club) -> None:
    ada, ben, cleo, dan = club.people[:4]
    match = club.begin(clock=QUICK, spectators="none")
    refused = ada.act(match, {"type": "hand_over", "player": NOBODY})
    assert (refused.status_code, refused.json["code"]) == (404, "no_such_player")
    for player in (cleo, dan):
        refused = player.act(match, {"type": "take_over", "seat": "one"})
        assert (refused.status_code, refused.json["code"]) == (403, "not_offered")
    handed = ada.act(match, {"type": "hand_over", "player": cleo.id}).json
    assert handed["handovers"] == {"one": cleo.id}
    told = [event for event in events(cleo.get("/v1/players/me/stream?seconds=0").text) if event["event"] == "seat_offered"]
    assert [f'"player":"{ada.id}"' in event["data"] and '"seat":"one"' in event["data"] for event in told] == [True]
    assert [event["event"] for event in events(dan.get("/v1/players/me/stream?seconds=0").text)] == ["ready"]
    asked = cleo.get(f"/v1/matches/{match}/choices").json
    assert (asked["seat"], asked["choices"]) == (None, [{"action": {"type": "take_over", "seat": "one"}, "at_table": True}])
    assert dan.get(f"/v1/matches/{match}/choices").json["code"] == "not_seated"
    taken = cleo.act(match, {"type": "take_over", "seat": "one"}).json
    assert (taken["seat"], taken["to_act"]) == ("one", ["one"])
    assert ada.act(match, GO).json["code"] == "not_seated"
    assert ada.get(f"/v1/matches/{match}/state").json["version"] == 3, "who has no seat any more is a spectator"
    assert cleo.act(match, GO).status_code == 200
    assert [one["id"] for one in cleo.get("/v1/matches?player=me").json["matches"]] == [match]
    assert ben.get(f"/v1/matches/{match}").json["seats"]["one"] == {"player": cleo.id}
    assert audit(club.timed.worker, match).findings == []


def test_the_others_vote_about_a_seat_whose_time_has_run_out(club: Club) -> None:
    match = club.begin("war", 3, clock=QUICK, time_out={"policy": "wait"})
    late = club.match(match)["to_act"][0]
    ada, ben, cleo = (club.player(match, seat) for seat in (late, *(seat for seat in club.match(match)["seats"] if seat != late)))
    club.after(club.match(match)["clocks"][late]["deadline"])
    (vote,) = club.match(match)["votes"].values()
    assert vote == {"until": vote["until"], "votes": {}}
    news = [events(player.get("/v1/players/me/stream?seconds=0", Last_Event_ID=str(club.timed.now())).text) for player in (ada, ben)]
    assert ["time_out" in [event["event"] for event in each] for each in news] == [True, False]
    assert ["vote" in [event["event"] for event in each] for each in news] == [False, True]
    assert {"type": "vote", "seat": late, "for": "substitute"} in [
        one["action"] for one in ben.get(f"/v1/matches/{match}/choices").json["choices"]
    ]
    refused = ada.act(match, {"type": "vote", "seat": late, "for": "void"})
    assert (refused.status_code, refused.json["code"]) == (409, "no_vote")
    assert list(ben.act(match, {"type": "vote", "seat": late, "for": "void"}).json["votes"][late]["votes"].values()) == ["void"]
    twice = ben.act(match, {"type": "vote", "seat": late, "for": "forfeit"})
    assert (twice.status_code, twice.json["code"]) == (409, "already_voted")
    over = cleo.act(match, {"type": "vote", "seat": late, "for": "void"}).json
    assert over["outcome"] == {"winners": [], "reason": "void", "scores": {}}
    club.check(match)


# ---------------------------------------------------------------- rematch


def test_everybody_who_asks_for_a_rematch_gets_the_same_one_with_the_seats_rotated(club: Club) -> None:
    ada, ben, cleo = club.people[:3]
    match = club.begin(clock=QUICK, spectators={"delay": 2}, options={"target": 40})
    refused = ada.act(match, {"type": "rematch"})
    assert (refused.status_code, refused.json["code"]) == (409, "not_over")
    ada.act(match, RESIGN)
    assert ada.get(f"/v1/matches/{match}/choices").json["choices"] == [{"action": {"type": "rematch"}, "at_table": True}]
    assert cleo.act(match, {"type": "rematch"}).json["code"] == "not_seated"
    asked = ben.act(match, {"type": "rematch"})
    new = asked.json
    assert (asked.status_code, asked.headers["Location"]) == (201, f"/v1/matches/{new['id']}")
    assert (new["rematch_of"], new["seats"], new["invited"]) == (match, {"one": {"player": ben.id}, "two": {"open": True}}, {"two": ada.id})
    assert [new[name] for name in ("clock", "spectators", "options", "order")] == [
        club.match(match)[name] for name in ("clock", "spectators", "options", "order")
    ]
    assert ben.act(match, {"type": "rematch"}).json["id"] == new["id"]
    joined = ada.act(match, {"type": "rematch"}).json
    assert (joined["id"], joined["status"], joined["seats"]["two"]) == (new["id"], "playing", {"player": ada.id})
    assert ada.act(match, {"type": "rematch"}).json["version"] == club.match(new["id"])["version"]
    for one in (match, new["id"]):
        assert audit(club.timed.worker, one).findings == []


# ---------------------------------------------------------------- spoilers


def test_who_answers_each_time_out_with_return_is_soon_played_for_to_the_end(club: Club) -> None:
    """A fresh clock for each time-out would hold the match up for ever (TBL-TIM-05, TBL-TIM-09, TBL-TIM-11)."""
    ada, ben = club.people[:2]
    match = club.begin(clock={"kind": "bank", "seconds": 5}, time_out={"level": "random"}, options={"target": 90})
    began, returns = club.timed.now(), []
    while "one" not in (standing := club.match(match))["held"] and standing["status"] == "playing":
        if standing["to_act"] == ["two"]:
            assert ben.act(match, GO).status_code == 200
            club.work()
        else:
            club.after(standing["clocks"]["one"]["deadline"])
            returns.append(ada.act(match, {"type": "return"}).json.get("code"))
    assert (standing["held"], standing["substitutes"], standing["clocks"]["one"]["late"]) == ({"one": "end"}, {"one": "random"}, 3)
    assert returns[-1] == "substitute_stays"
    assert club.timed.now() - began < 30 * SECOND
    happened = club.check(match)
    assert happened.count("stretch_played") == happened.count("seat_returned") == 2


def test_a_dispute_buys_no_time_and_holds_nobody_up_for_long(club: Club) -> None:
    """The clock of the seat that disputes goes on, and after three days the match does (TBL-DIS-14, TBL-DIS-15)."""
    ada, ben = club.people[:2]
    match = club.begin(clock={"kind": "bank", "seconds": 60}, time_out={"policy": "forfeit"}, options={"target": 90})
    club.timed.live(20 * SECOND)
    assert ada.post(f"/v1/matches/{match}/disputes", {"version": 2, "text": "The dice."}).status_code == 201
    club.timed.live(10 * SECOND)
    assert ada.act(match, {"type": "withdraw_dispute", "dispute": 1}).status_code == 200
    clock = club.match(match)["clocks"]["one"]
    assert clock["deadline"] - club.timed.now() == 30 * SECOND
    assert ada.post(f"/v1/matches/{match}/disputes", {"version": 2, "text": "The dice."}).status_code == 201
    frozen = club.match(match)["disputes"][1]["freezes"]
    assert frozen["until"] - frozen["since"] == 3 * DAY - 10 * SECOND
    assert ben.act(match, GO).json["code"] == "match_disputed"
    club.timed.machine.pass_ms(frozen["until"] - club.timed.now() - SECOND)
    club.after(frozen["until"] + SECOND)
    standing = club.match(match)
    assert (standing["disputed_since"], standing["to_act"], standing["disputes"][1]["state"]) == (None, ["one"], "open")
    assert standing["clocks"]["one"]["deadline"] - club.timed.now() < 30 * SECOND, "what passed at once was an outage"
    club.after(standing["clocks"]["one"]["deadline"])
    over = club.match(match)
    assert (over["outcome"]["winners"], over["outcome"]["reason"], over["disputes"][1]["state"]) == (["two"], "forfeited", "open")
    club.check(match)
