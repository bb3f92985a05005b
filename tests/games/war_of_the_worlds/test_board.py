"""The board of War of the Worlds: adjacent regions touch on the map, and the most crowded positions are drawn in full."""

from __future__ import annotations

import json
import random
from itertools import combinations
from typing import Any

import pytest

from games.kernel import AUDITOR, SPECTATOR
from games.war_of_the_worlds import GAME
from games.war_of_the_worlds.board import HIGH
from games.war_of_the_worlds.data import BESIDE, BUILDINGS, CARDS, FIGURES, INFLUENCE, LAND, SEA, SKETCH
from tests.games.test_boards import drawn


def touch(one: str, other: str) -> bool:
    """Return True if two boxes of the sketch share more than a corner."""
    a, b = SKETCH[one], SKETCH[other]
    overlap = min(a.column + a.width, b.column + b.width) - max(a.column, b.column)
    return (abs(a.line - b.line) == HIGH and overlap > 0) or (a.line == b.line and overlap == 0)


def test_boxes_touch_where_regions_border_on_each_other_and_nowhere_else() -> None:
    for one, other in combinations(LAND, 2):
        assert touch(one, other) == (other in BESIDE[one]), (one, other)


def blank() -> Any:
    """The document of blank.json."""
    return json.loads((GAME.folder / "blank.json").read_text(encoding="utf-8"))


def crowded(region: str, building: str, seed: int) -> Any:
    """A match with everything in one region, and every card of both sides in a pile."""
    will = random.Random(seed)
    state = blank()
    for here in state["regions"].values():
        here.update(civilians=0, building=building, balloons=BUILDINGS[building].side == "humans", influence=list(INFLUENCE))
    for place in {region, "north_highlands"} & set(LAND):
        state["regions"][place].update(civilians=15, fought=15)
    acting = will.choice(state["seats"])
    for figure, kind in FIGURES.items():
        state["units"][figure] = {"region": region if region in kind.beside else None, "used": kind.side == acting}
    state["fired"] = list(LAND)
    state["strike"] = {"region": "london", "damage": 3, "need": 14}
    state["evacuation"] = {"region": "london", "fought": True}
    for seat, side in state["sides"].items():
        cards = [card.id for card in CARDS.values() if card.side == seat for _ in range(card.copies)]
        will.shuffle(cards)
        side.update(hand=cards[:5], offer=cards[5:10])
        rest = cards[10:]
        bounds = sorted(will.choices(range(len(rest) + 1), k=3))
        for pile, (low, high) in zip(
            ("supply", "discard", "removed", "offer_deck"), zip([0, *bounds], [*bounds, len(rest)], strict=True), strict=True
        ):
            side[pile] = rest[low:high]
    return state


@pytest.mark.parametrize("building", BUILDINGS)
@pytest.mark.parametrize("region", [*LAND, *SEA])
def test_the_most_crowded_positions_fit(region: str, building: str) -> None:
    for seed in range(2):
        state = crowded(region, building, seed)
        for viewer in ("aliens", SPECTATOR, AUDITOR):
            lines = drawn(GAME, GAME.view(state, viewer), viewer)
            assert sum(line.count("└") + line.count("┘") for line in lines) >= 4


def test_a_hand_is_drawn_for_its_owner_and_counted_for_others() -> None:
    state = crowded("london", "fort", 1)
    hands = {
        viewer: [line for line in drawn(GAME, GAME.view(state, viewer), viewer) if line.startswith("  hand")] for viewer in state["seats"]
    }
    for seat, other in (state["seats"], state["seats"][::-1]):
        own = state["seats"].index(seat)
        assert "5 cards" in hands[other][own]
        assert "5 cards" not in hands[seat][own]
