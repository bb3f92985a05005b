"""Forks: practice matches begin from any position of matches that are over, in every game."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from games.kernel import SPECTATOR, Game, Refused
from record.entries import Entry
from record.positions import Position, follow, follow_all
from table import rules
from table.session import NewMatch, Origin, Session
from tests.table.going_on import ALL, COMMITMENT, MATCH, PLAYERS, Run, created, go_on, steps

DIGEST = "d1" * 32


def fork(game: Game, origin: Position, settings: dict[str, Any] | None = None) -> Run:
    """Return a fork of a match from one of its positions. One player has all its seats."""
    run = Run.__new__(Run)
    run.game, run.seed, run.entries, run.positions = game, f"fork {origin.version}", [], []
    begun = Origin(MATCH, origin.version, DIGEST, origin.document, origin.memory)
    session = Session(game, new=NewMatch(COMMITMENT, origin=begun))
    seats = dict.fromkeys(origin.document["seats"], "me")
    action = {"type": "fork_match", "fork_of": MATCH, "at": origin.version, "seats": seats, **(settings or {})}
    admitted = rules.carry_out(session, PLAYERS[0], action)
    run._add(PLAYERS[0], admitted, session.events, 1)
    return run


def finished(game: Game) -> Iterator[Run]:
    """Yield random matches of a game, as far as they were played. In one of them a seat has left, if the others go on then."""
    for seed in range(4):
        yield list(steps(game, seed, 90))[-1]
    seats = game.seats.ids[: min(3, game.seats.most)]
    for seed in range(20 if len(seats) > 2 else 0):
        will = random.Random(f"{game.id} {seed}")
        run = created(game, {}, dict(zip(seats, PLAYERS, strict=False)), seed)
        for _ in go_on(run, will, 15):
            pass
        if run.going_on and run.now.table["phase"] == "started" and len(game.playing(run.now.document)) == len(seats):
            run.act_at_table(seats[0], {"type": "resign"}, run.now.at)
            for _ in go_on(run, will, 15):
                pass
            yield run
            return


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])
def test_a_fork_goes_on_from_any_position_with_all_that_is_in_it(game: Game) -> None:
    """In the middle of a turn, and where a seat is out of play, too (TBL-FRK-01, TBL-FRK-02, TBL-FRK-04)."""
    will = random.Random(game.id)
    out = middle = 0
    for run in finished(game):
        before = json.dumps(run.positions)
        there = [each for each in run.positions if each.document["outcome"] is None]
        left = [each for each in there if len(game.playing(each.document)) < len(each.document["seats"])]
        for origin in [*will.sample(there, min(4, len(there))), *will.sample(left, min(2, len(left)))]:
            clock = will.choice([{}, {"clock": {"kind": "per_action", "seconds": 60}}])
            forked = fork(game, origin, clock)
            now = forked.now
            assert (now.document, now.memory) == (origin.document, origin.memory)
            assert now.table["origin"] == {"match": MATCH, "version": origin.version, "digest": DIGEST}
            assert now.to_act == origin.document["to_act"]
            running = {seat for seat, one in now.table["clocks"]["seats"].items() if one["since"] is not None}
            assert running == ({seat for seat in now.to_act if seat != "system"} if clock else set())
            out += origin in left
            middle += now.document["phase"] not in ("setup", "round_end")
            for _ in go_on(forked, will, 12):
                pass
            entries = [Entry(*json.loads(json.dumps(entry))) for entry in forked.entries]
            assert json.dumps(follow_all(game, None, entries), sort_keys=True) == json.dumps(forked.now, sort_keys=True)
        assert json.dumps(run.positions) == before, "the origin is untouched"
    assert middle > 5
    assert out > 0 or game.seats.most == 2


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])
def test_what_a_seat_may_not_see_of_the_position_is_hidden_from_it(game: Game) -> None:
    for run in finished(game):
        there = [each for each in run.positions if each.document["outcome"] is None]
        forked = fork(game, there[min(30, len(there) - 1)])
        (restored,) = (event for event in forked.entries[0].events if event["type"] == "match_restored")
        for viewer in (SPECTATOR, *forked.now.document["seats"]):
            shown = rules.shown(game, restored, viewer)
            assert shown["document"] == game.view(forked.now.document, viewer)
            assert shown["memory"] == restored["memory"]


def test_only_a_match_that_is_over_is_forked_and_from_before_its_end() -> None:
    game = ALL[0]
    position = next(steps(game, 0, 10)).now
    for origin, code in (
        (Origin(MATCH, 3, DIGEST, position.document, {}, over=False), "origin_not_over"),
        (Origin(MATCH, 3, DIGEST, {**position.document, "outcome": {}}, {}), "nothing_to_play"),
    ):
        action = {"type": "fork_match", "fork_of": MATCH, "at": 3, "seats": dict.fromkeys(position.document["seats"], "me")}
        with pytest.raises(Refused) as refused:
            rules.carry_out(Session(game, new=NewMatch(origin=origin)), PLAYERS[0], action)
        assert refused.value.code == code


def test_the_first_position_of_a_fork_is_followed_as_it_was_decided() -> None:
    game = ALL[0]
    run = list(steps(game, 0, 40))[-1]
    forked = fork(game, run.positions[20], {"clock": {"kind": "bank", "seconds": 60}})
    assert follow(game, None, forked.entries[0]) == forked.now == follow_all(game, None, forked.entries[:1])
