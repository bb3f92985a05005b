"""What entries tell players: over random play in which everything happens at the table, and over scenes from before the start."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from games import GAMES
from games.kernel import SPECTATOR, SYSTEM
from record.entries import Entry
from record.notices import HEARD, KINDS, SILENT, Notice, notices, referees, waiting
from record.positions import Position, follow, follow_all
from record.shown import shown
from table import rules
from table.clocks import deadline_of
from table.deeds import DEEDS
from table.facts import FACTS
from table.session import NewMatch, Now, Origin, Session
from tests.table.going_on import ALL, COMMITMENT, MATCH, PLAYERS, REFEREES, Run, dice, steps

ADA, BOB, CYD, DAN = PLAYERS
SEEDS = (*range(14), 33)
LENGTH = 90
SHAPES = {kind: Draft202012Validator(row.shape.schema) for kind, row in KINDS.items()}
UNHEARD = {
    "rematch": "It leads to another match, and to no entry in this one.",
    "create_match": "Whom it concerns is asked (`invited`), or told that the match has started.",
    "begin_continuation": "The match that goes on tells its players that it has started.",
    "open_origin": "The match that has been opened tells it.",
}
"""Deeds of the table of which nobody may have been told, by the reason."""


def told(run: Run) -> list[tuple[Notice, ...]]:
    """Return what each entry of a match tells."""
    return [notices(*step) for step in zip([None, *run.positions[:-1]], run.entries, run.positions, strict=True)]


@cache
def played() -> list[Run]:
    """Return matches of all games, some of them hidden from spectators."""
    runs = []
    for game in ALL:
        for seed in SEEDS:
            hides = ({}, {"spectators": "none"}, {"spectators": {"delay": 3}})[seed % 3]
            runs.append(list(steps(game, seed, LENGTH, **hides))[-1])
    return runs


@cache
def gathered() -> list[Run]:
    """Return matches that nobody plays: seats are kept, taken, left and declined."""
    kept = Run(GAMES["war"], {"red": "me", "blue": f"player:{BOB}", "green": "open"}, {}, {})
    kept.act_at_table(CYD, {"type": "take_seat", "seat": "green"}, 2)
    kept.act_at_table(CYD, {"type": "leave_seat", "seat": "green"}, 3)
    kept.act_at_table(BOB, {"type": "decline_seat", "seat": "blue"}, 4)
    closed = Run(GAMES["war"], {"red": f"player:{BOB}", "blue": "open"}, {}, {})
    closed.act_at_table(ADA, {"type": "close_match"}, 2)
    return [kept, closed, *continued()]


def continued() -> list[Run]:
    """Return a hidden match that ends by a ruling, whose creator has no seat, the match that goes on from it, and a fork of it."""
    war, referee = GAMES["war"], REFEREES[0]
    run = Run(war, {"red": f"player:{BOB}", "blue": f"player:{CYD}"}, {"spectators": "none"}, {})
    for player, seat in ((BOB, "red"), (CYD, "blue")):
        run.act_at_table(player, {"type": "take_seat", "seat": seat}, 2)
    run.play(SYSTEM, {"type": "advance"}, 3)
    ruling = {"type": "rule_dispute", "dispute": 1, "verdict": "upheld", "remedy": "play_on", "version": 4, "text": "It was loaded."}
    run.act_at_table("red", {"type": "dispute", "version": 4, "text": "The die is loaded."}, 4)
    run.act_at_table(referee, ruling, 5, "referee")
    for seat in ("red", "blue"):
        run.act_at_table(seat, {"type": "accept_ruling", "dispute": 1}, 6)
    begun = [
        begun_from(run, SYSTEM, {"type": "continue_match", "continues": MATCH, "at": 4, "dispute": 1}),
        begun_from(run, ADA, {"type": "fork_match", "fork_of": MATCH, "at": 4, "seats": {"red": "me", "blue": "ai:random"}}),
    ]
    for kind in ("begin_continuation", "open_record"):
        run.act_at_table(SYSTEM, {"type": kind}, 7)
    return [run, *begun]


def begun_from(run: Run, actor: str, action: dict[str, Any]) -> Run:
    """Return a match that begins from a version of another one."""
    at = run.positions[action["at"] - 1]
    origin = Origin(MATCH, at.version, at.digest, at.document, at.memory, True, run.now.table)
    session = Session(run.game, new=NewMatch(COMMITMENT, origin=origin), now=Now(chance=dice(0)))
    admitted = rules.carry_out(session, actor, action)
    begun = Run.__new__(Run)
    begun.game, begun.seed, begun.entries, begun.positions = run.game, 0, [], []
    begun._add(actor, admitted, session.events, 8)
    return begun


def everything() -> Iterator[tuple[Run, Entry, tuple[Notice, ...]]]:
    for run in (*played(), *gathered()):
        for entry, found in zip(run.entries, told(run), strict=True):
            yield run, entry, found


def seated(position: Position) -> set[str]:
    return {one["player"] for one in position.roster.values() if "player" in one}


def test_every_event_of_the_table_is_heard_of_or_there_is_a_reason() -> None:
    assert set(HEARD) & set(SILENT) == set()
    assert {*HEARD, *SILENT} == {*FACTS, "match_ended"}


def test_every_deed_of_the_table_is_heard_of_or_there_is_a_reason() -> None:
    heard = {entry.action["type"] for _, entry, found in everything() if any(notice.to for notice in found)}
    assert sorted(set(DEEDS) - heard - set(UNHEARD)) == []


def test_every_kind_is_told_in_its_shape_and_its_example_has_it() -> None:
    seen = set()
    for _, _, found in everything():
        for notice in found:
            SHAPES[notice.kind].validate(notice.body)
            seen.add(notice.kind)
    assert sorted(set(KINDS) - seen) == []
    for kind, row in KINDS.items():
        example = Notice(kind, MATCH, "war", 3, 1, 1_767_484_927_500, (), None, row.example)
        SHAPES[kind].validate(example.body)


def test_each_notice_has_one_identity_and_they_come_in_order() -> None:
    for run in (*played(), *gathered()):
        all_told = [notice for found in told(run) for notice in found]
        assert len({notice.id for notice in all_told}) == len(all_told)
        followed = [notice for notice in all_told if notice.kind not in ("seat_offered", "seat_withdrawn")]
        places = [(notice.at, notice.version, notice.place) for notice in followed]
        assert places == sorted(places)


def test_what_is_told_again_from_stored_positions_is_the_same() -> None:
    for run in played():
        for number, found in enumerate(told(run)[1:], 1):
            if number % 7 == 0:
                before = Position(**json.loads(json.dumps(run.positions[number - 1]._asdict(), sort_keys=True)))
                entry = Entry(*json.loads(json.dumps(run.entries[number])))
                after = follow(run.game, before, entry)
                folded = follow_all(run.game, None, [Entry(*json.loads(json.dumps(one))) for one in run.entries[: number + 1]])
                assert notices(before, entry, after) == found
                assert (folded.asked, folded.told) == (after.asked, after.told) == (run.positions[number].asked, run.positions[number].told)


def turns(position: Position | None) -> dict[str, tuple[str, int | None]]:
    """Return whose turn it is, without the help of the code under test: by seat its player and its deadline."""
    if position is None or position.document["outcome"] is not None:
        return {}
    return {
        seat: (position.roster[seat]["player"], deadline_of(position.table, seat))
        for seat in position.to_act
        if "player" in position.roster.get(seat, {}) and seat not in position.table["substitutes"]
    }


def test_a_turn_is_told_when_who_is_to_act_or_the_deadline_changes_and_only_then() -> None:
    changes = 0
    for run in played():
        before = None
        for after, found in zip(run.positions, told(run), strict=True):
            was, now = turns(before), turns(after)
            expected = {(seat, *of) for seat, of in now.items() if was.get(seat) != of}
            assert {(one.data["seat"], *one.to, one.data["deadline"]) for one in found if one.kind == "turn"} == expected
            changes += len(expected)
            before = after
    assert changes > 500


def test_what_waits_was_told_when_it_arose_in_the_same_words() -> None:
    waited = 0
    for run in (*played(), *gathered()):
        known: dict[str, Notice] = {}
        for after, found in zip(run.positions, told(run), strict=True):
            known |= {notice.id: notice for notice in found}
            for notice in waiting(after):
                assert known[notice.id]._replace(organiser=None) == notice._replace(organiser=None)
                waited += 1
            assert {notice.data["seat"] for notice in waiting(after) if notice.kind == "turn"} == set(turns(after))
    assert waited > 1000


def test_notices_follow_from_what_a_spectator_sees() -> None:
    """So nothing that a seat may not know shows in them, whoever is told."""
    for run in played():
        before = None
        for entry, after, found in zip(run.entries, run.positions, told(run), strict=True):
            seen = shown(run.game, entry, SPECTATOR)
            blind = entry._replace(action=seen["action"], events=seen["events"])
            view = after._replace(document=run.game.view(after.document, SPECTATOR), memory={})
            assert notices(before, blind, view) == found
            before = view


def test_who_has_no_seat_hears_nothing_of_a_match_that_hides_but_what_is_offered_to_them() -> None:
    hidden = offered = 0
    for run in played():
        for before, after, found in zip([None, *run.positions[:-1]], run.positions, told(run), strict=True):
            if after.begun is None or after.begun["version"] == after.version:
                continue
            at_table = seated(after) | seated(before)
            for notice in found:
                strangers = set(notice.to) - at_table
                if strangers and strangers <= referees(after.table):
                    assert notice.kind in ("dispute", "over", "overruled")
                elif strangers:
                    assert notice.kind in ("seat_offered", "seat_withdrawn")
                    assert notice.version == after.begun["version"]
                    offered += 1
                assert notice.organiser is None or notice.organiser in at_table
                hidden += 1
    assert hidden > 300
    assert offered > 3


def test_the_offer_of_a_seat_shows_nothing_of_a_match_that_hides() -> None:
    """Two matches part after the start. Who is offered a seat in both is told the same."""
    heard = []
    for versions in (0, 4):
        run = Run(GAMES["war"], {"red": "me", "blue": "open"}, {"spectators": "none"}, {})
        run.act_at_table(BOB, {"type": "take_seat", "seat": "blue"}, 2)
        run.play("system", {"type": "advance"}, 3)
        for _ in range(versions // 2):
            run.act_at_table("blue", {"type": "offer", "what": "pause"}, 4)
            run.act_at_table("blue", {"type": "decline", "what": "pause"}, 4)
        for player in (DAN, None, DAN):
            run.act_at_table("red", {"type": "hand_over", "player": player}, 5)
        heard.append([notice.body for found in told(run) for notice in found if DAN in notice.to])
    assert heard[0] == heard[1]
    assert [(one["type"], one["version"]) for one in heard[0]] == [("seat_offered", 2), ("seat_withdrawn", 2), ("seat_offered", 2)]


def test_an_offer_is_told_to_whom_can_answer_and_its_answer_to_the_others() -> None:
    run = Run(GAMES["war"], {"red": "me", "blue": "open", "green": "open"}, {}, {})
    for player, seat in ((BOB, "blue"), (CYD, "green")):
        run.act_at_table(player, {"type": "take_seat", "seat": seat}, 2)
    story: list[tuple[str, dict[str, Any], list[tuple[str, Any]]]] = [
        ("red", {"type": "offer", "what": "draw"}, [("offer", BOB), ("offer", CYD)]),
        ("blue", {"type": "accept", "what": "draw"}, [("accepted", ADA), ("accepted", CYD)]),
        ("red", {"type": "decline", "what": "draw"}, [("withdrawn", BOB), ("withdrawn", CYD)]),
        ("red", {"type": "offer", "what": "pause", "hours": 30}, [("offer", BOB), ("offer", CYD)]),
        ("green", {"type": "decline", "what": "pause"}, [("declined", ADA), ("declined", BOB)]),
    ]
    for seat, action, expected in story:
        run.act_at_table(seat, action, 3)
        found = [(one.data.get("answer", one.kind), player) for one in told(run)[-1] for player in one.to]
        assert found == expected
    assert told(run)[-2][0].data == {"seat": "blue", "what": "pause", "by": "red", "hours": 30}


def test_a_creator_without_a_seat_hears_of_the_end_of_a_hidden_match_when_everybody_may() -> None:
    run, *_ = continued()
    heard = [(one.kind, one.version) for found in told(run) for one in found if ADA in one.to]
    assert heard == [("joined", 2), ("joined", 3), ("started", 3), ("over", run.now.version)]
    assert run.entries[-1].action["type"] == "open_record"
    assert [one.version for found in told(run) for one in found if one.kind == "over"] == [8, 10]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_member_says_what_it_is(kind: str) -> None:
    assert [name for name, one in KINDS[kind].shape.schema["properties"].items() if name != "type" and not one.get("description")] == []
