"""What everybody who has watched a match knows is kept with its position, and given to whoever plays for an AI seat."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from events import play, recall
from events.entries import parse
from events.platform import Platform
from games import GAMES
from games.chance import Drawn
from games.choices import Choice
from games.kernel import SYSTEM, remembered
from workers.search import choose

GAME = GAMES["war_of_the_worlds"]


def test_purchases_are_remembered_from_the_entries_alone(platform: Platform, another_platform: Callable[[], Platform], ann: str) -> None:
    chance = Drawn(random.Random(2).randrange)
    position = play.create(platform, ann, GAME.id, dict.fromkeys(GAME.seats.ids, "ai:random"), {})
    given: list[dict[str, Any]] = []

    def chosen(view: Any, choices: list[Choice], memory: dict[str, Any]) -> Any:
        given.append(memory)
        return choose(GAME, "random", recall.position(platform, position.match).document, actor, chance, memory)

    while not position.memory or position.version < 150:
        actor = position.to_act[0]
        if actor == SYSTEM:
            position = play.play(platform, position.match, actor, [{"type": "advance"}]).position
        else:
            position = play.play_on(platform, position.match, actor, chosen, limit=1).position
        assert position.version < 2000
    told = [event for wire in platform.store.read_all(position.match, 1) for event in parse(wire).events]
    assert position.memory == remembered(GAME, {}, told)
    assert recall.position(another_platform(), position.match) == position
    assert given[-1]
    half = recall.state_at(another_platform(), position.match, 100)
    assert half.memory == remembered(
        GAME, {}, [event for wire in platform.store.read(position.match, 1, 99) for event in parse(wire).events]
    )
