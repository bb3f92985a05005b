"""The memory of a match: what everybody who has watched it knows. It is part of the position, and AI seats get it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from events import play, recall
from events.due import owed
from events.platform import Platform
from games import GAMES
from games.chance import Chance, Drawn
from games.kernel import SYSTEM, remembered
from players import LEVELS, choose
from players.level import Budget, Question, Thought
from record.entries import parse
from workers import jobs

GAME = GAMES["war_of_the_worlds"]


def test_purchases_are_remembered_from_the_entries_alone(platform: Platform, another_platform: Callable[[], Platform], ann: str) -> None:
    chance = Drawn(random.Random(2).randrange)
    position = play.create(platform, ann, GAME.id, dict.fromkeys(GAME.seats.ids, "me"), {})
    while not position.memory or position.version < 150:
        actor = position.to_act[0]
        if actor == SYSTEM:
            action: Any = {"type": "advance"}
        else:
            action = choose(GAME, "random", position.document, actor, chance, position.memory)
        position = play.play(platform, position.match, actor, [action]).position
        assert position.version < 2000
    events = [event for raw in platform.store.log.read_all(position.match, 1) for event in parse(raw).events]
    assert position.memory == remembered(GAME, {}, events)
    assert recall.position(another_platform(), position.match) == position
    half = recall.state_at(another_platform(), position.match, 100)
    assert half.memory == remembered(
        GAME, {}, [event for raw in platform.store.log.read(position.match, 1, 99) for event in parse(raw).events]
    )


def test_an_ai_seat_gets_the_memory_of_its_position(platform: Platform, ann: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[dict[str, Any], dict[str, Any]]] = []
    decide = LEVELS["random"]

    def noted(question: Question, budget: Budget, chance: Chance) -> Thought:
        given.append((question.memory, recall.position(platform, position.match).memory))
        return decide(question, budget, chance)

    monkeypatch.setattr("record.thinking.LEVELS", {**LEVELS, "random": noted})
    position = play.create(platform, ann, GAME.id, dict.fromkeys(GAME.seats.ids, "ai:random"), {})
    while not (given and given[-1][0]):
        work, _ = owed(recall.position(platform, position.match))
        jobs.do_step(platform, work, time.monotonic())  # no time is left, so that each step is one action
        assert work.version < 2000
    assert all(memory == kept for memory, kept in given)
