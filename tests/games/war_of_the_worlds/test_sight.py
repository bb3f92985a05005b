"""The views of each viewer, and the guess at hidden cards."""

from __future__ import annotations

from collections import Counter

import pytest

from games.kernel import AUDITOR, SPECTATOR, remembered
from games.war_of_the_worlds import GAME
from games.war_of_the_worlds.data import CARDS, SEATS, pile
from tests.games.matches import Start, chance, same, walk

MATCH = list(walk(Start(GAME, list(SEATS), {"round_limit": 20}, 5)))
MIDDLE = MATCH[len(MATCH) // 2].before


@pytest.mark.parametrize("viewer", [*SEATS, SPECTATOR])
def test_open_piles_board_and_resources_are_seen_by_all(viewer):
    seen = GAME.view(MIDDLE, viewer)
    for key in ("damage", "resources", "regions", "units", "strike", "fired", "swapped"):
        assert seen[key] == MIDDLE[key]
    for seat in SEATS:
        for pile_name in ("discard", "removed", "offer"):
            assert seen["sides"][seat][pile_name] == MIDDLE["sides"][seat][pile_name]


@pytest.mark.parametrize("viewer", [*SEATS, SPECTATOR])
def test_a_hand_is_seen_by_its_owner_and_a_deck_by_nobody(viewer):
    seen = GAME.view(MIDDLE, viewer)
    for seat in SEATS:
        side = MIDDLE["sides"][seat]
        assert seen["sides"][seat]["hand"] == (side["hand"] if seat == viewer else len(side["hand"]))
        assert seen["sides"][seat]["supply"] == len(side["supply"])
        assert seen["sides"][seat]["offer_deck"] == len(side["offer_deck"])


def test_an_auditor_sees_everything():
    assert same(GAME.view(MIDDLE, AUDITOR)) == same(MIDDLE)
    assert all(same(GAME.shown(event, AUDITOR)) == same(event) for step in MATCH for event in step.events)


def test_drawn_cards_are_shown_to_who_drew_them_and_shuffled_ones_to_nobody():
    kinds = set()
    for step in MATCH:
        for event in step.events:
            for viewer in (*SEATS, SPECTATOR):
                drew = event["type"] == "cards_drawn" and event["seat"] == viewer
                if event["type"] in ("cards_drawn", "supply_shuffled", "offer_deck_shuffled") and not drew:
                    kinds.add(event["type"])
                    assert GAME.shown(event, viewer) == {**event, "cards": None}
                else:
                    assert GAME.shown(event, viewer) == event
    assert kinds == {"cards_drawn", "supply_shuffled", "offer_deck_shuffled"}


def test_the_facts_of_the_set_up_hold_no_document():
    first = MATCH[0].events
    assert [event for event in first if event["type"] == "match_started"] == [{"type": "match_started", "seats": list(SEATS)}]
    assert max(len(same(event)) for event in first) < 600


@pytest.mark.parametrize("viewer", [*SEATS, SPECTATOR])
def test_a_guess_deals_each_card_to_a_pile_where_it_can_be(viewer):
    for step in MATCH[1::9]:
        guessed = GAME.guess(GAME.view(step.before, viewer), viewer, chance(step.number))
        for seat, side in guessed["sides"].items():
            cards = [card for name in ("hand", "supply", "discard", "removed", "offer", "offer_deck") for card in side[name]]
            assert Counter(cards) == Counter(pile(seat, starting=True) + pile(seat, starting=False))
            assert not any(CARDS[card].starting for card in side["offer_deck"])
            assert not any(CARDS[card].building for card in side["hand"] + side["supply"])


def test_an_empty_offer_deck_leaves_nothing_to_guess_but_the_order():
    side = {**MIDDLE["sides"]["humans"]}
    side["supply"], side["offer_deck"] = side["supply"] + side["offer_deck"], []
    before = {**MIDDLE, "sides": {**MIDDLE["sides"], "humans": side}}
    guessed = GAME.guess(GAME.view(before, "aliens"), "aliens", chance(1))["sides"]["humans"]
    assert Counter(guessed["hand"] + guessed["supply"]) == Counter(side["hand"] + side["supply"])


def test_a_position_that_was_never_played_is_guessed_too():
    side = {"hand": ["fort"] * 40, "supply": ["reap"] * 50, "discard": [], "removed": [], "offer": [], "offer_deck": ["ufo"] * 3}
    odd = {**MIDDLE, "sides": {**MIDDLE["sides"], "humans": side}}
    seen = GAME.view(odd, "aliens")
    assert GAME.view(GAME.guess(seen, "aliens", chance(1)), "aliens") == seen


@pytest.mark.parametrize("viewer", [*SEATS, SPECTATOR])
@pytest.mark.parametrize("expert", [False, True])
def test_the_memory_of_a_watcher_gives_the_cards_of_each_deck_and_its_bottom(viewer, expert):
    memory, swaps = {}, 0
    for step in walk(Start(GAME, list(SEATS), {"round_limit": 40, "expert_swap": expert}, 9)):
        if step.number % 9 == 1:
            guessed = GAME.guess(GAME.view(step.before, viewer), viewer, chance(step.number), memory)
            for seat in SEATS:
                so, thought = step.before["sides"][seat], guessed["sides"][seat]
                assert Counter(thought["hand"] + thought["supply"]) == Counter(so["hand"] + so["supply"])
                assert Counter(thought["offer_deck"]) == Counter(so["offer_deck"])
                bottom = min(len(memory.get(f"{seat} under", ())), len(so["offer_deck"]))
                swaps += bottom
                assert thought["offer_deck"][len(so["offer_deck"]) - bottom :] == so["offer_deck"][len(so["offer_deck"]) - bottom :]
        memory = remembered(GAME, memory, step.events)
    assert bool(swaps) is not expert
