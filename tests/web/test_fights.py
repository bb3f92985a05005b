"""Fights: what is shown of both sides, and that a sealed bid stays sealed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from games import GAMES
from games.kernel import SPECTATOR, Game, evolve
from games.picture import picture
from games.scene import Fight
from tests.games.matches import Start, Step, walk

EVERY_GAME = [pytest.param(game, id=game.id) for game in GAMES.values()]
ROLLS = {"war": "attack_rolled", "war_of_civilizations": "battle_resolved", "war_of_the_worlds": "civilians_destroyed"}


def steps(game: Game, seed: int = 3) -> Iterator[Step]:
    return walk(Start(game, list(game.seats.ids), {}, seed))


def seen(game: Game, step: Step, viewer: str = SPECTATOR) -> Fight | None:
    assert game.fight is not None
    return game.fight(game.view(step.after, viewer), [game.shown(event, viewer) for event in step.events])


def happened(step: Step, kind: str) -> dict[str, Any] | None:
    return next((event for event in reversed(step.events) if event["type"] == kind), None)


@pytest.mark.parametrize("game", EVERY_GAME)
def test_every_fight_is_shown_when_it_is_decided_with_known_rules_and_at_most_one_winner(game: Game) -> None:
    known = {id for rules in picture(game.folder).rules.values() for id in rules}
    decided = 0
    for step in steps(game):
        fight = seen(game, step)
        if happened(step, ROLLS[game.id]) is not None and (game.id != "war_of_the_worlds" or happened(step, "card_played") is not None):
            assert fight is not None
            decided += 1
        if fight is not None:
            assert fight.rules
            assert set(fight.rules) <= known
            assert sum(side.won for side in fight.sides) <= 1
    assert decided


def test_what_a_side_adds_up_is_its_total() -> None:
    for game in (GAMES["war"], GAMES["war_of_civilizations"]):
        for step in steps(game):
            fight = seen(game, step)
            for side in fight.sides if fight is not None and happened(step, ROLLS[game.id]) is not None else ():
                fallen = sum(die.face for die in side.dice) if game.id == "war" else 0
                assert sum(int(detail.value) for detail in side.details) + fallen == int(side.total)


def test_a_sealed_bid_is_seen_from_behind_until_all_are_opened() -> None:
    game, sealed = GAMES["war_of_civilizations"], 0
    for step in steps(game):
        bid, fight = happened(step, "bid_sealed"), seen(game, step)
        if bid is None or step.after["battle"] is None or step.after["battle"]["result"] is not None:
            continue
        assert fight is not None
        side = next(side for side in fight.sides if side.seat == bid["seat"])
        assert (side.hidden, side.cards, side.note) == (1, (), "the bid is sealed")
        assert {detail.name for detail in side.details} <= {"fleet", "bonus"}
        own = seen(game, step, bid["seat"])
        assert own is not None
        assert next(side for side in own.sides if side.seat == bid["seat"]).hidden == 0
        others = [seat for seat in step.after["seats"] if seat != bid["seat"]]
        assert all(seen(game, step, seat) == fight for seat in others)
        sealed += 1
    assert sealed


def test_who_wins_a_battle_is_who_the_rules_say() -> None:
    game = GAMES["war_of_civilizations"]
    for step in steps(game):
        resolved, before, fight = happened(step, "battle_resolved"), step.before["battle"], seen(game, step)
        if resolved is not None and before is not None:
            assert fight is not None
            winner = next(side for side in fight.sides if side.won)
            assert winner.seat == (before[resolved["winner"]] if before[resolved["winner"]] != "pirate" else None)


def test_an_open_strike_shows_what_is_gathered_what_is_needed_and_what_is_hit_first() -> None:
    game = GAMES["war_of_the_worlds"]
    begun = next(step.after for step in steps(game) if step.after["regions"]["london"]["civilians"] and step.after["phase"] == "play")
    opened = [{"type": "strike_opened", "region": "london", "damage": 1, "need": 3}]
    state = evolve(game, begun, opened[0])
    assert game.fight is not None
    fight = game.fight(game.view(state, SPECTATOR), opened)
    assert fight is not None
    assert [side.total for side in fight.sides] == ["1", "3"]
    assert fight.status == "2 more damage is needed, or nothing is hit."
    assert any(detail.name == "hit first" for detail in fight.sides[1].details)
    assert game.fight(game.view(begun, SPECTATOR), []) is None
