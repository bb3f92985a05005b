"""Laws of matches that have started: over random play in which the actions of the table mix with those of every game."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from games.choices import admits
from games.documents import clone
from games.kernel import Game, Refused, no
from games.schema import always, record
from record.entries import Entry
from record.positions import Position, follow_all
from table import rules
from table.clocks import deadlines, only_clocks_differ, remaining
from table.data import MOST_OFFERS
from table.deeds import BEGINNINGS, DEEDS
from table.facts import FACTS
from table.session import BY_PLAYER, BY_REFEREE, BY_SEAT, BY_SYSTEM, Now, Session, evolve
from table.state import BLANK, DOCUMENT
from tests.table.going_on import ALL, PLAYERS, STRANGER, Run, choices, chosen, report, steps

MATCHES = 14
DRAWN = 33  # a seed with which a match ends in a draw, as few do
LENGTH = 90
BEFORE_THE_START = {"create_match", "fork_match", "continue_match", "take_seat", "decline_seat", "leave_seat", "close_match"}
TABLE_SCHEMA = Draft202012Validator(DOCUMENT.schema)
EVENTS = {kind: Draft202012Validator(record({"type": always(kind), **fields}).schema) for kind, (_, fields) in FACTS.items()}
GAMES = pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])


@cache
def played(game_id: str) -> list[Run]:
    """Return some matches of a game."""
    (game,) = (each for each in ALL if each.id == game_id)
    return [list(steps(game, seed, LENGTH))[-1] for seed in (*range(MATCHES), DRAWN)]


def same(one: Any, other: Any) -> bool:
    """Return True if two values have the same JSON."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def test_random_play_reaches_every_action_and_event() -> None:
    """The laws below would say little otherwise."""
    runs = [run for game in ALL for run in played(game.id)]
    kinds = {entry.action["type"] for run in runs for entry in run.entries}
    assert set(DEEDS) - kinds - BEFORE_THE_START == {"rematch", "open_record", "open_origin"}
    events = {event["type"] for run in runs for entry in run.entries for event in entry.events}
    assert set(FACTS) - events == {"seat_left", "invitation_declined", "match_closed", "record_opened", "origin_opened"}
    assert "match_restored" in events
    reasons = {run.now.document["outcome"]["reason"] for run in runs if not run.going_on}
    assert reasons >= {"draw", "void", "resigned", "ruling"}


@GAMES
def test_each_listed_choice_is_accepted_and_what_is_refused_changes_nothing(game: Game) -> None:
    will = random.Random(game.id)
    accepted = refused = 0
    for seed in range(6):
        for number, run in enumerate(steps(game, seed, LENGTH)):
            if number % 3:
                continue
            before = json.dumps(run.now)
            for actor in (*run.now.document["seats"], *PLAYERS[:3], STRANGER):
                listed = choices(run, actor)
                for choice in listed:
                    session = run.session(run.now.at)
                    action = chosen(choice, will)
                    if action["type"] == "rematch":
                        assert not run.going_on
                        continue
                    assert rules.carry_out(session, actor, clone(action)) == action
                    assert session.events
                    assert (session.table, session.state) != (run.now.table, run.now.document)
                    accepted += 1
                for action in unlisted(run, listed, will):
                    session = run.session(run.now.at)
                    with pytest.raises(Refused) as reason:
                        rules.carry_out(session, actor, action)
                    assert rules.sentence(game, reason.value.refusal).endswith(".")
                    assert (session.table, session.state, session.events) == (run.now.table, run.now.document, [])
                    refused += 1
            assert json.dumps(run.now) == before
    assert accepted > 300
    assert refused > 300


@GAMES
def test_choices_that_are_kept_from_one_action_to_the_next_are_those_that_a_fresh_look_lists(game: Game) -> None:
    for run in played(game.id)[:5]:
        kept, fresh = (
            [
                rules.choices_of(game, table, now.document, seat, now.roster[seat].get("player", PLAYERS[0]), now.version, now.fixed)
                for now, table in zip(run.positions, tables, strict=True)
                for seat in now.document["seats"]
            ]
            for tables in ([now.table for now in run.positions], [clone(now.table) for now in run.positions])
        )
        assert kept == fresh


def unlisted(run: Run, listed: list[Any], will: random.Random) -> Iterator[Any]:
    """Yield actions of the table that no choice allows."""
    seats = run.now.document["seats"]
    whats = ("draw", "void", "pause", "resume", "takeback", "cake")
    for _ in range(3):
        kind = will.choice([kind for kind in DEEDS if kind not in (*BEGINNINGS, "claim")])
        action: dict[str, Any] = {"type": kind}
        fields = DEEDS[kind].fields
        for name in fields:
            if name == "seat":
                action[name] = will.choice([*seats, "nobody"])
            elif name == "what":
                action[name] = will.choice(whats)
            elif name == "version" and will.random() < 0.8:
                action[name] = will.choice([0, 1, run.now.fixed - 1, run.now.version, run.now.version + 1])
            elif name == "for":
                action[name] = will.choice(["forfeit", "void", "cake"])
            elif name in ("from", "to"):
                action[name] = will.choice([-1, 0, run.now.at + 1])
            elif name == "player":
                action[name] = will.choice(["ada", 7])
        if will.random() < 0.2:
            action["more"] = 1
        if not any(admits(choice, action) for choice in listed):
            yield action


@GAMES
def test_folding_the_entries_gives_the_positions_of_the_deciders(game: Game) -> None:
    for run in played(game.id):
        entries = [Entry(*json.loads(json.dumps(entry))) for entry in run.entries]
        middle = len(entries) // 2
        half = follow_all(game, None, entries[:middle])
        assert half is not None
        text = json.dumps(half)
        assert same(half, run.positions[middle - 1])
        assert same(follow_all(game, half, entries[middle:]), run.now)
        assert json.dumps(half) == text, "the position that was given is untouched"
        assert same(follow_all(game, None, [Entry(*json.loads(json.dumps(entry))) for entry in run.entries]), run.now)


@GAMES
def test_what_is_restored_from_json_decides_the_same(game: Game) -> None:
    for run in played(game.id)[:6]:
        again = Run.__new__(Run)
        again.game, again.seed, again.entries, again.positions = game, run.seed, run.entries[:1], run.positions[:1]
        for entry in run.entries[1:]:
            again.positions = [*again.positions[:-1], Position(*json.loads(json.dumps(again.positions[-1])))]
            if rules.is_table_action(entry.action):
                again.act_at_table(
                    entry.actor,
                    json.loads(json.dumps(entry.action)),
                    entry.at,
                    next((event["role"] for event in entry.events if "role" in event), None),
                )
            else:
                again.play(entry.actor, json.loads(json.dumps(entry.action)), entry.at, owner=False)
            assert same(again.entries[-1], entry)
        assert same(again.now, run.now)


@GAMES
def test_documents_and_events_have_their_schemas(game: Game) -> None:
    for run in played(game.id):
        for position, entry in zip(run.positions[::3], run.entries[::3], strict=True):
            TABLE_SCHEMA.validate(position.table)
            for event in entry.events:
                if event["type"] in EVENTS:
                    EVENTS[event["type"]].validate(event)


@GAMES
def test_what_is_fixed_follows_from_the_events(game: Game) -> None:
    """Check each version against the events before it (TBL-TBK-02)."""
    fixing = {*game.reveals, *game.rolls, *game.uncovers, "match_started", "match_restored", "seat_withdrawn"}
    for run in played(game.id):
        fixed = 0
        for position, entry in zip(run.positions, run.entries, strict=True):
            if fixing & {event["type"] for event in entry.events}:
                fixed = entry.version
            assert position.fixed == fixed


def test_a_card_that_was_played_from_a_hidden_hand_is_not_taken_back() -> None:
    """The others have seen it (TBL-TBK-02)."""
    (game,) = (each for each in ALL if each.id == "war_of_the_worlds")
    found = 0
    for run in played(game.id):
        for position, entry in zip(run.positions, run.entries, strict=True):
            if entry.action["type"] == "play":
                assert position.fixed == position.version
                found += 1
    assert found > 20


@GAMES
def test_a_takeback_restores_exactly(game: Game) -> None:
    """The document and the memory come back; the table goes on, with its clocks (TBL-TBK-01)."""
    restored = 0
    for run in played(game.id):
        for position, entry in zip(run.positions, run.entries, strict=True):
            for event in entry.events:
                if event["type"] == "match_restored":
                    old = run.positions[event["version"] - 1]
                    before = run.positions[entry.version - 2]
                    assert before.fixed <= old.version < before.version
                    assert same([position.document, position.memory], [old.document, old.memory])
                    assert position.table["roster"] == before.table["roster"]
                    restored += 1
    assert restored or game.id != "tally"


@GAMES
def test_only_facts_of_the_table_change_more_of_it_than_clocks(game: Game) -> None:
    for run in played(game.id):
        for before, after, entry in zip(run.positions[:-1], run.positions[1:], run.entries[1:], strict=True):
            types = {event["type"] for event in entry.events} & FACTS.keys()
            facts = not types <= {"time_returned", "time_ran_out"}
            assert only_clocks_differ(before.table, after.table) != facts
            assert after.changed == (after.at if facts or after.document["outcome"] is not None else before.changed)
            assert after.at == max(before.at, entry.at)
            if not before.table["clocks"]["seats"] and not types:
                assert after.table is before.table


@GAMES
def test_a_seat_makes_a_bounded_number_of_offers(game: Game) -> None:
    """Nobody is pestered without end (TBL-OFR-04)."""
    for run in played(game.id):
        assert all(number <= MOST_OFFERS for number in run.now.table["offered"].values())


# ---------------------------------------------------------------- clocks


def recomputed(game: Game, entries: list[Entry]) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """Yield after each entry the time that each seat has left, and the deadlines of those whose clocks run: a second implementation.

    It adds up what each stretch has taken, from the entries alone, and believes nothing that table/clocks.py has computed.
    """
    made = entries[0].events[0]
    clock = made.get("clock", {"kind": "none"})
    kind = clock["kind"]
    free = {"per_action": 1000 * clock.get("seconds", 0), "bank": 1000 * clock.get("delay", 0), "days": 3_600_000 * clock.get("hours", 0)}
    start = {"bank": 1000 * clock.get("seconds", 0), "days": 86_400_000 * clock.get("vacation_days", 0)}.get(kind, 0)
    gain = 1000 * clock.get("increment", 0)
    table, state, now = BLANK, {}, 0
    bank: dict[str, int] = {}
    used: dict[str, int] = {}
    since: dict[str, int] = {}
    refilled: dict[str, list[int]] = {}  # the rounds in which a bank was refilled
    back: dict[str, int] = {}  # of the time since then, what was given back
    for entry in entries:
        before = (table, state)
        for event in entry.events:
            table, state = evolve(game, table, state, event)
        now = max(now, entry.at)
        types = {event["type"] for event in entry.events}
        if "seats_filled" in types and kind != "none":
            bank = {seat: start for seat, who in table["roster"].items() if "player" in who}
            used = dict.fromkeys(bank, 0)
        for event in entry.events:
            if event["type"] == "time_returned":
                for seat in since:
                    back[seat] = back.get(seat, 0) + max(0, event["to"] - max(event["from"], since[seat] + back.get(seat, 0)))
            if "refill" in event:
                seat, refills = event["seat"], [*refilled.get(event["seat"], []), state["round"]]
                assert event["refill"] == {
                    "bank": min(60_000, start) // 2 ** (len(refills) - 1),
                    "round": refills[-1],
                    "times": len(refills),
                }
                assert len(set(refills)) == len(refills), "once a round"
                refilled[seat] = refills
                spent = max(0, used[seat] - free[kind])  # in this stretch, before a pause or a dispute
                assert bank[seat] - spent < event["refill"]["bank"]
                bank[seat] = event["refill"]["bank"] + spent
            if event["type"] == "dispute_ruled" and "left" in event:
                seat = table["disputes"][event["dispute"] - 1]["seat"]
                bank[seat], used[seat] = event["left"]["bank"], free[kind] - event["left"]["free"]
                if before[0]["disputes"][event["dispute"] - 1]["freezes"]:
                    since.pop(seat, None)
                    back.pop(seat, None)
        for seat in bank:
            own = entry.actor == seat and entry.action["type"] not in DEEDS and seat not in table["substitutes"]
            end = entry.at if own else now
            late = any(event["type"] == "time_ran_out" and event["seat"] == seat for event in entry.events)
            ends = awaited(seat, *before) and (not awaited(seat, table, state) or late or (own and kind == "per_action"))
            runs = awaited(seat, table, state) and (table["phase"] == "started" or disputing(seat, table))
            if seat in since and (ends or not runs):
                used[seat] += max(0, end - since.pop(seat) - back.pop(seat, 0))
                used[seat] = min(used[seat], free[kind] + bank[seat])  # nobody owes time
            if ends:
                bank[seat] = max(0, bank[seat] - max(0, used[seat] - free[kind])) + gain
                used[seat] = 0
            if runs:
                since.setdefault(seat, end)
        left = {seat: free[kind] + bank[seat] - used[seat] for seat in bank}
        yield {seat: max(0, time) for seat, time in left.items()}, {seat: since[seat] + back.get(seat, 0) + left[seat] for seat in since}


def disputing(seat: str, table: Any) -> bool:
    """Return True if the clock of a seat goes on in a match that is frozen (TBL-DIS-15)."""
    waiting = [one["seat"] for one in table["disputes"] if one["state"] == "open" and one["freezes"] and not one["taken"]]
    return table["phase"] == "disputed" and table["paused_until"] is None and seat in waiting


def awaited(seat: str, table: Any, state: Any) -> bool:
    """Return True if a player is to decide for a seat."""
    if table["phase"] not in ("started", "paused", "disputed") or seat not in state["to_act"]:
        return False
    return "player" in table["roster"][seat] and seat not in table["substitutes"] and seat not in table["votes"]


@GAMES
def test_clocks_follow_from_the_entries_to_the_millisecond(game: Game) -> None:
    """A second implementation comes to the same times (TBL-CLK-02 to TBL-CLK-08)."""
    ran = 0
    for run in played(game.id):
        for position, (left, ends) in zip(run.positions, recomputed(game, run.entries), strict=True):
            table = position.table
            assert set(table["clocks"]["seats"]) == set(left)
            assert deadlines(table) == ends
            last = {seat: table["clocks"]["seats"][seat]["since"] or position.at for seat in left}
            assert {seat: remaining(table, seat, last[seat]) for seat in left} == {
                seat: max(0, ends[seat] - last[seat]) if seat in ends else time for seat, time in left.items()
            }
            ran += len(ends)
    assert ran > 200


@GAMES
def test_an_action_of_a_seat_is_never_from_before_its_clock_ran(game: Game) -> None:
    """And what was accepted was in time (TBL-CLK-05, TBL-CLK-08)."""
    for run in played(game.id):
        for before, entry in zip(run.positions, run.entries[1:], strict=False):
            if rules.is_table_action(entry.action):
                assert entry.at >= before.at
                continue
            clock = before.table["clocks"]["seats"].get(entry.actor)
            since = None if clock is None else clock["since"]
            assert entry.at >= (before.at if since is None else since)
            assert entry.at <= deadlines(before.table).get(entry.actor, entry.at)


# ---------------------------------------------------------------- actors


def test_every_action_is_for_one_kind_of_actor() -> None:
    """A referee is a player. What makes one of him is not who he is, but the role that the platform knows of."""
    (run, *_) = played("tally")
    actors = {BY_PLAYER: PLAYERS[0], BY_SEAT: run.now.document["seats"][0], BY_SYSTEM: "system"}
    for kind, deed in DEEDS.items():
        action = {"type": kind, **{name: _some(name) for name in deed.fields if name != "code"}}
        for by, actor in actors.items():
            session = Session(run.game, run.positions[3].table, run.positions[3].document, now=Now(1, version=4))
            try:
                rules.carry_out(session, actor, action)
                found = no("accepted")
            except Refused as refused:
                found = refused.refusal
            assert (found.facts.get("reason", "").endswith("to choose")) == (by != (BY_PLAYER if deed.by == BY_REFEREE else deed.by)), (
                kind,
                by,
            )


def _some(name: str) -> Any:
    """Return a value that a field of an action may have."""
    some: dict[str, Any] = {"seats": {"one": "me"}, "options": {}, "order": ["one"], "clock": {"kind": "none"}, "time_out": {}}
    some |= dict.fromkeys(("rematch_of", "fork_of", "continues"), "m" + "a" * 16)
    some |= {"spectators": "all", "signed": "required", "game": "tally", "seat": "one", "contribution": "00", "player": None}
    some |= {"name": "Cup", "tags": ["cup"], "dice": "0a" * 32}
    some |= {
        "dispute_days": 3,
        "rated": True,
        "hours": 2,
        "at": 1,
        "dispute": 1,
        "text": "Why?",
        "field": "/round",
        "report": report(1, "one"),
        "verdict": "upheld",
        "remedy": "none",
    }
    return (some | {"what": "pause", "version": 1, "for": "void", "from": 1, "to": 2})[name]
