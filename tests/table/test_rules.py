"""The rules of the table by random play: players create a match, take seats and leave them until the match starts."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from games import GAMES, lifecycle
from games.chance import Drawn
from games.documents import clone, owned
from games.kernel import AUDITOR, SPECTATOR, SYSTEM, Action, Event, Refusal, Refused, carry_out, legal
from games.schema import always, ids, record, whole
from table import rules
from table.data import CLOSED_MS, FOLDER, LEVELS, MOST_BYTES, OPEN_MS
from table.deeds import DEEDS, FORK
from table.document import Table
from table.facts import FACTS
from table.refusals import REFUSALS
from table.session import BY_PLAYER, NewMatch, Session, evolve
from table.state import BLANK, CLOSED, DOCUMENT, OPEN, STARTED, lock_of, needs_code, open_seats, removal, seats_of
from tests.table import recording
from tests.tally import SEATS, TALLY

PLAYERS = tuple("p" + letter * 16 for letter in "abcd")
VIEWERS = (SPECTATOR, AUDITOR, *SEATS, *PLAYERS)
COMMITMENT = "5a" * 32
CODE = "a" * 16
LOCK = lock_of(COMMITMENT, CODE)
WRONG = lock_of(COMMITMENT, "b" * 16)
BEFORE_THE_START = ("match_created", "seat_taken", "seat_left", "invitation_declined", "seats_filled", "match_closed")
SEEDS = st.integers(0, 2**32)

TABLE_SCHEMA = Draft202012Validator(DOCUMENT.schema)
GAME_SCHEMA = Draft202012Validator(TALLY.document.schema)
ACTIONS = {kind: Draft202012Validator(record({"type": always(kind), **deed.fields}).schema) for kind, deed in DEEDS.items()}
EVENTS = {
    kind: Draft202012Validator(record({"type": always(kind), **fields}).schema)
    for kind, fields in [*((kind, fields) for kind, (_, fields) in FACTS.items()), *TALLY.events.items()]
}


class Step(NamedTuple):
    """An action of random play: the documents before it, who did it, and the session after it."""

    before: tuple[Table, Any]
    player: str
    action: Action
    after: Session


def steps(seed: int) -> Iterator[Step]:
    """Yield the actions of several players at one table, from its creation until some time after its start."""
    chance = random.Random(seed)
    seats = chance.sample(SEATS, chance.randint(2, 4))
    requests = [f"ai:{level}" for level in LEVELS] + ["me"] + ["open"] * 4 + [f"player:{player}" for player in PLAYERS[:2]]
    action: Action = {"type": "create_match", "game": "tally", "seats": {seat: chance.choice(requests) for seat in seats}, "options": {}}
    if chance.random() < 0.5:
        action["order"] = chance.sample(seats, len(seats))
    if chance.random() < 0.4:
        action["code"] = True
    player, table, state = chance.choice(PLAYERS), BLANK, {}
    for _ in range(30):
        session = Session(TALLY, table, state, new=NewMatch(COMMITMENT, LOCK))
        rules.carry_out(session, player, clone(action))
        yield Step((table, state), player, action, session)
        table, state = session.table, session.state
        choices = [(who, choice["action"]) for who in PLAYERS for choice in rules.legal(TALLY, table, state, who)]
        choices += [(who, action) for who in PLAYERS for action in with_code(table, who)]
        if chance.random() < 0.9:  # or every table would be closed early
            choices = [choice for choice in choices if choice[1]["type"] != "close_match"]
        if not choices:
            return
        # Leaving is chosen more often than taking, or every table would be full at once.
        leaving = [choice for choice in choices if choice[1]["type"] == "leave_seat"]
        player, action = chance.choice(leaving if leaving and chance.random() < 0.45 else choices)
        if action["type"] == "take_seat" and chance.random() < 0.5:
            action = {**action, "contribution": chance.randbytes(chance.randint(1, MOST_BYTES)).hex()}


def with_code(table: Table, player: str) -> list[Action]:
    """Return the actions that are legal because they have the code, as the record has them."""
    if table["phase"] != OPEN or table["departures"].get(player, 0) > 2 or (seats_of(table, player) and not table["practice"]):
        return []
    seats = [seat for seat in open_seats(table) if seat not in table["invited"] and needs_code(table, player, seat)]
    return [{"type": "take_seat", "seat": seat, "code": LOCK} for seat in seats]


def same(one: Any, other: Any) -> bool:
    """Return True if two values have the same JSON, also in the order of their members."""
    return json.dumps(one) == json.dumps(other)


# ---------------------------------------------------------------- laws


def test_random_play_reaches_every_action_and_event() -> None:
    """The laws below would say little otherwise."""
    played = [list(steps(seed)) for seed in range(100)]
    kinds = [[step.action["type"] for step in match] for match in played]
    chosen = {kind for kind, deed in DEEDS.items() if deed.by == BY_PLAYER}
    assert {kind for match in kinds for kind in match} == chosen - {"take_over", FORK}
    assert {event["type"] for match in played for step in match for event in step.after.events} == {*BEFORE_THE_START, lifecycle.PREPARED}
    assert {match[-1].after.table["phase"] for match in played} == {OPEN, STARTED, CLOSED}
    assert sum("leave_seat" in match for match in kinds) > 20
    assert any(len(seats_of(step.after.table, player)) > 1 for match in played for step in match for player in PLAYERS)


@given(SEEDS)
def test_each_listed_choice_is_accepted(seed: int) -> None:
    for step in steps(seed):
        table, state = step.after.table, step.after.state
        for player in PLAYERS:
            for choice in rules.legal(TALLY, table, state, player):
                assert set(choice) == {"action"}
                session = Session(TALLY, table, state)
                assert rules.carry_out(session, player, choice["action"]) == choice["action"]
                assert session.events
                assert (session.table, session.state) != (table, state)


def refused(session: Session, player: str, action: Any) -> Refusal | None:
    """Return the refusal of an action, or None if it is accepted. `pytest.raises` takes as long as a refusal."""
    try:
        rules.carry_out(session, player, action)
    except Refused as refused:
        return refused.refusal
    return None


@settings(max_examples=15)
@given(SEEDS)
def test_what_is_not_listed_is_refused_and_changes_nothing(seed: int) -> None:
    chance = random.Random(seed)
    for step in steps(seed):
        table, state = clone(step.after.table), clone(step.after.state)
        for player in PLAYERS:
            listed = [choice["action"] for choice in rules.legal(TALLY, table, state, player)]
            coded = with_code(table, player)
            for action in mutations(chance, step.action, listed):
                session = Session(TALLY, table, state, new=NewMatch(COMMITMENT))
                refusal = refused(session, player, action)
                assert (refusal is None) == is_listed(action, listed, coded), action
                if refusal is not None:
                    assert (session.table, session.state, session.events) == (table, state, [])
                    assert session.table is table
                    assert rules.sentence(TALLY, refusal).endswith(".")
        assert same(table, step.after.table)
        assert same(state, step.after.state)


@given(SEEDS)
def test_folding_the_events_gives_the_documents(seed: int) -> None:
    blank = json.dumps(BLANK)
    table, state = BLANK, {}
    in_place: dict[str, Any] = {}
    for step in steps(seed):
        before = json.dumps([step.before, table, state])
        for event in step.after.events:
            table, state = evolve(TALLY, table, state, event)
            if event["type"] not in FACTS:
                TALLY.facts[event["type"]](in_place, clone(event), owned)
        assert same((table, state), (step.after.table, step.after.state))
        assert same(in_place, step.after.state)
        assert json.dumps([step.before, *json.loads(before)[1:]]) == before, "the documents before an action are untouched"
    assert json.loads(blank) == BLANK, "nothing has changed it"


@given(SEEDS)
def test_restoring_from_json_changes_nothing(seed: int) -> None:
    for step in steps(seed):
        restored = Session(TALLY, *json.loads(json.dumps(step.before)), new=step.after.new)
        rules.carry_out(restored, step.player, json.loads(json.dumps(step.action)))
        assert same([restored.table, restored.state, restored.events], [step.after.table, step.after.state, step.after.events])
        for player in PLAYERS:
            given = rules.legal(TALLY, *json.loads(json.dumps([step.after.table, step.after.state])), player)
            assert same(given, rules.legal(TALLY, step.after.table, step.after.state, player))


@given(SEEDS)
def test_everybody_sees_the_whole_table(seed: int) -> None:
    """(TBL-SEE-01) Only the first document of the game is redacted, by the game."""

    def shown_by_game(event: Event, viewer: str) -> Event:
        assert event["type"] in TALLY.facts, "a game is not asked about events of the table"
        return {"type": event["type"], "viewer": viewer}

    game = TALLY._replace(shown=shown_by_game, view=lambda document, viewer: {"viewer": viewer, "seats": document["seats"]})
    for step in steps(seed):
        for viewer in VIEWERS:
            assert rules.view(step.after.table, viewer) == step.after.table
            for event in step.after.events:
                shown = rules.shown(game, event, viewer)
                if event["type"] == lifecycle.PREPARED and viewer != AUDITOR:
                    assert shown == {**event, "document": game.view(event["document"], viewer)}
                else:
                    assert shown is event
        assert rules.shown(game, {"type": "rolled", "face": 3}, SPECTATOR) == {"type": "rolled", "viewer": SPECTATOR}


@given(SEEDS)
def test_the_players_in_events_are_all_whom_they_name(seed: int) -> None:
    for step in steps(seed):
        named = re.findall(f'"({"|".join(PLAYERS)})"', json.dumps(step.after.events))
        assert rules.players_in(step.after.events) == set(named)
    assert rules.players_in([{"type": "counted", "player": ADA}]) == set(), "that is an event of the game"


@given(SEEDS)
def test_documents_actions_and_events_have_their_schemas(seed: int) -> None:
    for step in steps(seed):
        TABLE_SCHEMA.validate(step.after.table)
        GAME_SCHEMA.validate(step.after.state)
        ACTIONS[step.action["type"]].validate(step.action)
        for event in step.after.events:
            EVENTS[event["type"]].validate(event)


@given(SEEDS)
def test_the_roster_says_who_took_and_left_what(seed: int) -> None:
    """A simple model of the seats, next to the rules (TBL-SEA-01 to TBL-SEA-07, TBL-INV-01 to TBL-INV-04)."""
    seats: dict[str, Any] = {}
    kept: dict[str, str] = {}
    given: dict[str, str] = {}
    for step in steps(seed):
        player, kind = step.player, step.action["type"]
        if kind == "create_match":
            named: dict[str, Any] = {"me": {"player": player}, "open": {"open": True}}
            asks = step.action["seats"].items()
            kept = {seat: asked[7:] for seat, asked in asks if asked.startswith("player:")}
            seats = {seat: {"open": True} if seat in kept else named.get(asked, {"ai": asked[3:]}) for seat, asked in asks}
            assert step.after.table["lock"] == (LOCK if "code" in step.action else None)
            assert step.after.state["seats"] == step.action.get("order", [seat for seat in SEATS if seat in seats])
            assert (step.after.table["creator"], step.after.table["commitment"]) == (player, COMMITMENT)
        elif kind == "take_seat":
            seat = step.action["seat"]
            assert seats[seat] == {"open": True}
            assert kept.get(seat, player) == player
            assert "code" in step.action or step.after.table["lock"] is None or kept.get(seat) == player
            seats[step.action["seat"]] = {"player": player}
            if "contribution" in step.action:
                given[step.action["seat"]] = step.action["contribution"]
        elif kind == "decline_seat":
            assert kept.pop(step.action["seat"]) == player
            if player != step.after.table["creator"]:
                kept[step.action["seat"]] = step.after.table["creator"]
        elif kind == "leave_seat":
            assert seats[step.action["seat"]] == {"player": player}
            seats[step.action["seat"]] = {"open": True}
            given.pop(step.action["seat"], None)
        table = step.after.table
        assert (table["roster"], table["contributions"], table["invited"]) == (seats, given, kept)
        closed = kind == "close_match"
        assert not closed or player == table["creator"]
        full = {"open": True} not in seats.values()
        assert table["phase"] == (STARTED if full else CLOSED if closed else OPEN)
        assert [event["type"] for event in step.after.events].count("seats_filled") == full
        assert step.after.state == step.before[1] or kind == "create_match", "no action of a seat changes the game"


# ---------------------------------------------------------------- refusals


CREATE: Action = {"type": "create_match", "game": "tally", "seats": {"one": "me", "two": "open"}, "options": {}}


def refusal(player: str, action: Any, *before: tuple[str, Any]) -> Refused:
    """Return why an action is refused after others."""
    table, state = BLANK, {}
    for who, done in before:
        session = Session(TALLY, table, state, new=NewMatch(COMMITMENT, LOCK))
        rules.carry_out(session, who, done)
        table, state = session.table, session.state
    with pytest.raises(Refused) as refused:
        rules.carry_out(Session(TALLY, table, state, new=NewMatch(COMMITMENT)), player, action)
    return refused.value


ADA, BOB, CLEO = PLAYERS[:3]
CLOSE = {"type": "close_match"}
KEPT: Action = {**CREATE, "seats": {"one": "me", "two": f"player:{BOB}"}}
TAKE, LEAVE, DECLINE = ({"type": kind, "seat": "two"} for kind in ("take_seat", "leave_seat", "decline_seat"))
NO_SEAT = "The match has no seat 'nine'. Its seats are one, two."
STARTED_ALREADY = "The match has started. Seats can be left, and the match closed, before that only."
WAS_CLOSED = "The match was closed before it began."
REFUSED: list[tuple[str, str, Callable[[], Refused], str]] = [
    ("already_created", "TBL-CRE-01", lambda: refusal(BOB, CREATE, (ADA, CREATE)), "The match exists already."),
    (
        "bad_seats",
        "TBL-CRE-03",
        lambda: refusal(ADA, {**CREATE, "seats": {"one": "me", "two": "ai:"}}),
        "The seat two can be requested as `me`, `open`, `ai:<level>` or `player:<id>`, not as 'ai:'.",
    ),
    (
        "bad_order",
        "TBL-CRE-07",
        lambda: refusal(ADA, {**CREATE, "order": ["two", "two"]}),
        "The order must name each seat of the match once: one, two.",
    ),
    ("no_such_seat", "TBL-SEA-01", lambda: refusal(BOB, {**TAKE, "seat": "nine"}, (ADA, CREATE)), NO_SEAT),
    ("no_such_seat", "TBL-SEA-04", lambda: refusal(BOB, {**LEAVE, "seat": "nine"}, (ADA, CREATE)), NO_SEAT),
    ("no_such_seat", "TBL-INV-02", lambda: refusal(BOB, {**DECLINE, "seat": "nine"}, (ADA, CREATE)), NO_SEAT),
    ("seat_taken", "TBL-SEA-02", lambda: refusal(BOB, {**TAKE, "seat": "one"}, (ADA, CREATE)), "The seat one is taken."),
    ("seat_taken", "TBL-INV-02", lambda: refusal(BOB, DECLINE, (ADA, KEPT), (BOB, TAKE)), "The seat two is taken."),
    ("not_your_seat", "TBL-SEA-04", lambda: refusal(BOB, {**LEAVE, "seat": "one"}, (ADA, CREATE)), "The seat one is not yours."),
    (
        "left_too_often",
        "TBL-SEA-08",
        lambda: refusal(BOB, TAKE, (ADA, CREATE), (ADA, {**LEAVE, "seat": "one"}), *[(BOB, TAKE), (BOB, LEAVE)] * 3),
        "You have left 3 seats of this match, so you can take no more of it.",
    ),
    ("already_started", "TBL-SEA-05", lambda: refusal(BOB, LEAVE, (ADA, CREATE), (BOB, TAKE)), STARTED_ALREADY),
    ("already_started", "TBL-CLO-01", lambda: refusal(ADA, CLOSE, (ADA, CREATE), (BOB, TAKE)), STARTED_ALREADY),
    ("not_invited", "TBL-INV-01", lambda: refusal(CLEO, TAKE, (ADA, KEPT)), "The seat two is not kept for you."),
    ("not_invited", "TBL-INV-02", lambda: refusal(CLEO, DECLINE, (ADA, KEPT)), "The seat two is not kept for you."),
    (
        "wrong_code",
        "TBL-INV-04",
        lambda: refusal(BOB, {**TAKE, "code": CODE}, (ADA, {**CREATE, "code": True})),
        "This match asks for a code, and you gave none or another one. Its creator has it.",
    ),
    ("not_creator", "TBL-CLO-01", lambda: refusal(BOB, CLOSE, (ADA, CREATE)), "Only the creator of the match may close it."),
    ("match_closed", "TBL-CLO-02", lambda: refusal(BOB, TAKE, (ADA, CREATE), (ADA, CLOSE)), WAS_CLOSED),
    ("match_closed", "TBL-CLO-02", lambda: refusal(BOB, DECLINE, (ADA, KEPT), (ADA, CLOSE)), WAS_CLOSED),
    ("match_closed", "TBL-CLO-02", lambda: refusal(ADA, {**LEAVE, "seat": "one"}, (ADA, CREATE), (ADA, CLOSE)), WAS_CLOSED),
    ("match_closed", "TBL-CLO-02", lambda: refusal(ADA, CLOSE, (ADA, CREATE), (ADA, CLOSE)), WAS_CLOSED),
]


def contract_of_refusals() -> dict[str, tuple[list[str], list[str]]]:
    """Return the rules and the facts of each refusal, as section 7 of the contract has them."""
    section = (FOLDER / "CONTRACT.md").read_text(encoding="utf-8").split("## 7. Refusals")[1].split("## 8.")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?)\|$", section, re.MULTILINE)
    return {code: (sorted(named.split(", ")), sorted(re.findall(r"`(\w+)`", facts))) for code, named, facts in rows}


def test_every_refusal_of_the_table_is_tried_with_each_of_its_rules() -> None:
    tried = {(code, rule) for code, rule, _, _ in REFUSED} | {(each.refusal.code, each.refusal.rule) for each in recording.found()}
    by_code = {code: sorted(str(rule) for other, rule in tried if other == code) for code in REFUSALS}
    assert by_code == {code: named for code, (named, _) in contract_of_refusals().items()}


def test_the_refusals_of_the_scenarios_are_as_recorded() -> None:
    """`python -m tests.table.recording` writes them anew."""
    contract = contract_of_refusals()
    for each in recording.found():
        if rules.is_table_refusal(each.refusal):
            assert sorted(each.refusal.facts) == contract[each.refusal.code][1]
    assert "".join(map(recording.as_lines, recording.found())) == recording.RECORD.read_text(encoding="utf-8")


@pytest.mark.parametrize(("code", "rule", "refused", "sentence"), REFUSED)
def test_a_refusal_has_its_code_its_rule_its_facts_and_a_sentence(
    code: str, rule: str, refused: Callable[[], Refused], sentence: str
) -> None:
    given = refused()
    assert (given.code, given.refusal.rule) == (code, rule)
    assert sorted(given.refusal.facts) == contract_of_refusals()[code][1]
    assert rules.sentence(TALLY, given.refusal) == sentence


@pytest.mark.parametrize(
    "action",
    [
        *(None, 7, "take_seat", [], {}, {"type": None}, {"type": 7}, {"type": ["take_seat"]}, {"type": "add"}, {"seat": "two"}),
        *({"type": "take_seat"}, {**TAKE, "seat": 2}, {**TAKE, "seat": None}, {**TAKE, "by": 1}, {**LEAVE, "contribution": "00"}),
        *({**TAKE, "contribution": given} for given in ("", "0", "zz", "AB", "00" * (MOST_BYTES + 1), "00\n", None, 0, [])),
        *({**TAKE, "code": given} for given in ("", "a" * 15, "A" * 16, "a" * 17, LOCK[1:], LOCK.upper(), f"{CODE}\n", None, 7, True)),
        *({**CREATE, "code": given} for given in (False, None, 1, CODE)),
        *({**CLOSE, "seat": "two"}, {"type": "decline_seat"}, {"type": "decline_seat", "seat": None}),
        *({**CREATE, "seats": given} for given in ([], "me", None, {"one": 1}, {"one": None})),
        *({**CREATE, "options": given} for given in ([], None, "x")),
        {**CREATE, "game": 7},
        {name: value for name, value in CREATE.items() if name != "options"},
    ],
)
def test_a_malformed_action_is_refused_before_its_rules(action: Any) -> None:
    given = refusal(BOB, action, (ADA, CREATE))
    assert (given.code, given.refusal.rule) == ("bad_action", None)
    assert rules.sentence(TALLY, given.refusal).startswith("This is not an action of the game: ")
    if (
        rules.is_table_action(action) and action.get("contribution") != "00\n" and action.get("code") != f"{CODE}\n"
    ):  # Python's "$" allows it
        assert not ACTIONS[action["type"]].is_valid(action), "its schema refuses it, too"


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ({"type": "take"}, "it is not an object with a `type` that the table knows"),
        (
            {**TAKE, "contribution": "C0"},
            "take_seat: contribution: the value must be 1 to 64 bytes in lower-case hex; they enter the key of the dice",
        ),
    ],
)
def test_the_sentence_for_a_malformed_action_says_what_is_wrong(action: Any, reason: str) -> None:
    given = refusal(BOB, action, (ADA, CREATE))
    assert rules.sentence(TALLY, given.refusal) == f"This is not an action of the game: {reason}."


def test_the_game_refuses_seats_and_options_by_its_own_rules() -> None:
    for change in ({"seats": {"one": "me"}}, {"seats": {"one": "me", "nine": "me"}}, {"options": {"aim": 1}}, {"options": {"target": "x"}}):
        assert refusal(ADA, {**CREATE, **change}).code == "bad_options"
    assert refusal(ADA, {**CREATE, "seats": {"one": "you"}}).code == "bad_seats", "the table's rules come first"


# ---------------------------------------------------------------- codes and moments


def test_the_record_has_the_hash_of_a_code_that_is_needed_and_no_other_code() -> None:
    session = Session(TALLY, new=NewMatch(COMMITMENT, LOCK))
    rules.carry_out(session, ADA, {**KEPT, "seats": {**KEPT["seats"], "three": "open"}, "code": True})
    locked = session.table
    coded, other = {**TAKE, "code": CODE}, {**TAKE, "seat": "three", "code": CODE}
    assert rules.recorded(locked, CLEO, other) == {**TAKE, "seat": "three", "code": LOCK}
    assert rules.recorded(locked, BOB, other) == {**TAKE, "seat": "three", "code": LOCK}
    assert rules.recorded(locked, BOB, coded) == TAKE, "the seat is kept for him"
    assert rules.recorded(locked, CLEO, coded) == {**TAKE, "code": LOCK}
    assert rules.recorded({**locked, "lock": None}, CLEO, coded) == TAKE
    for plain in (TAKE, CLOSE, {**TAKE, "code": 7}, {**TAKE, "seat": 2, "code": CODE}, {"type": "add", "seat": "two", "code": CODE}, None):
        assert rules.recorded(locked, CLEO, plain) is plain


@pytest.mark.parametrize(
    ("phase", "expires", "expected"),
    [
        (OPEN, 5_000, 5_000),
        (OPEN, 0, 0),
        (OPEN, None, 1_000 + OPEN_MS),
        (CLOSED, 5_000, 5_000),
        (CLOSED, CLOSED_MS * 2, 3_000 + CLOSED_MS),
        (CLOSED, None, 3_000 + CLOSED_MS),
        (STARTED, 5_000, None),
        (STARTED, None, None),
    ],
)
def test_a_match_that_has_not_started_is_removed_at_its_moment(phase: str, expires: int | None, expected: int | None) -> None:
    assert removal({**BLANK, "phase": phase, "expires": expires}, 1_000, 3_000) == expected


# ---------------------------------------------------------------- the table and the games


def lifecycle_events() -> set[str]:
    """Return the types of the events that all games share."""
    return set(lifecycle.lifecycle(ids(SEATS), ["turn"], ["target"], TALLY.document, whole(0)))


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in (*GAMES.values(), TALLY)])
def test_no_action_or_event_of_the_table_has_a_type_of_a_game(game: Any) -> None:
    """The type alone says whose action it is, and whose document an event changes."""
    assert set(DEEDS).isdisjoint(game.deeds())
    assert set(FACTS).isdisjoint(game.facts)
    assert set(FACTS).isdisjoint(game.events)


def test_no_event_of_the_table_has_a_type_of_the_life_cycle() -> None:
    assert len(lifecycle_events()) == 10
    assert set(FACTS).isdisjoint(lifecycle_events())
    assert not rules.is_table_action({"type": "advance"})


def test_every_type_of_the_table_is_one_of_its_actions() -> None:
    assert all(rules.is_table_action({"type": kind}) for kind in DEEDS)
    assert not any(rules.is_table_action(action) for action in (None, [], "take_seat", {}, {"type": []}, {"type": "roll"}))


def test_a_match_that_has_started_has_choices_in_the_game_only() -> None:
    for step in steps(3):
        last = step.after
    while last.table["phase"] != STARTED:
        player = PLAYERS[0]
        session = Session(TALLY, last.table, last.state)
        rules.carry_out(session, player, {"type": "take_seat", "seat": open_seats(last.table)[0]})
        last = session
    assert [rules.legal(TALLY, last.table, last.state, player) for player in PLAYERS] == [[]] * len(PLAYERS)
    assert [choice["action"] for choice in legal(TALLY, last.state, SYSTEM)] == [{"type": "advance"}]
    assert carry_out(TALLY, last.state, SYSTEM, {"type": "advance"}, Drawn(random.Random(1).randrange)).events


# ---------------------------------------------------------------- mutations


def is_listed(action: Any, listed: list[Action], coded: list[Action]) -> bool:
    """Return True if an action is one of the choices, perhaps with a contribution or a code added, or has the code that is needed."""
    if not isinstance(action, dict):
        return False
    given, code = action.get("contribution", "00"), action.get("code", LOCK)
    formed = isinstance(given, str) and 0 < len(given) <= 2 * MOST_BYTES and len(given) % 2 == 0 and set(given) <= set("0123456789abcdef")
    bare = {name: value for name, value in action.items() if name not in ("contribution", "code")}
    whole = {name: value for name, value in action.items() if name != "contribution"}
    taken = action.get("type") == "take_seat" or len(bare) == len(action)
    return formed and taken and code in (LOCK, CODE, WRONG) and (bare in listed or whole in coded)


def mutations(chance: random.Random, action: Action, listed: list[Action]) -> Iterator[Any]:
    """Yield actions that are almost right: those of others, those of before, and each with a change."""
    base: list[Action] = [
        action,
        CREATE,
        CLOSE,
        *listed,
        *({"type": kind, "seat": seat} for kind in ("take_seat", "decline_seat", "leave_seat") for seat in (*SEATS, "nine", "")),
    ]
    for one in base:
        yield one
        yield {**one, "contribution": chance.choice(["c0ffee", "C0FFEE", "", "0", None, 7, "00" * 65])}
        yield {**one, "code": chance.choice([LOCK, CODE, WRONG, "", None, 7])}
        yield {**one, chance.choice(["by", "player", "seats"]): chance.choice([None, "one", 1])}
        yield {
            **one,
            "type": chance.choice(["take_seat", "leave_seat", "decline_seat", "close_match", "create_match", "take", "", None, 3]),
        }
        dropped = chance.choice(list(one))
        yield {name: value for name, value in one.items() if name != dropped}
    yield from (None, [], "leave_seat", 3)
