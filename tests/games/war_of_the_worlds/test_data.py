"""The contents of the box: data.json has the numbers of the rules (WOW-CMP, WOW-MAP)."""

from __future__ import annotations

from games.war_of_the_worlds.data import (
    ALIENS,
    BUILDINGS,
    CARDS,
    CIVILIANS,
    DAMAGE_TO_WIN,
    FIGURES,
    HUMANS,
    INFLUENCE,
    KINDS,
    LAND,
    SEA,
    pile,
)


def test_each_side_owns_35_cards_of_which_10_are_starting_cards():
    for side in (ALIENS, HUMANS):
        assert (len(pile(side, starting=True)), len(pile(side, starting=False))) == (10, 25)


def test_the_starting_decks_are_those_of_the_rules():
    copies = {card.id: card.copies for card in CARDS.values() if card.starting}
    assert copies == {"reap": 4, "power_supply": 6, "relocate": 6, "guerillas": 4}


def test_the_other_cards_come_in_the_copies_of_the_rules():
    copies = {card.id: card.copies for card in CARDS.values()}
    assert copies["plasma_synthesis"] == 3
    assert {card: copies[card] for card in ("army", "royal_navy", "evacuate", "redeploy", "airstrike")} == {
        "army": 3,
        "royal_navy": 2,
        "evacuate": 4,
        "redeploy": 2,
        "airstrike": 3,
    }


def test_every_building_card_has_a_token():
    tokens = {row.id: row.tokens for row in BUILDINGS.values()}
    for card in CARDS.values():
        if card.building:
            assert tokens[card.building] == card.copies
    assert sum(row.tokens for row in BUILDINGS.values() if row.side == HUMANS) == 11
    assert sum(row.tokens for row in BUILDINGS.values() if row.side == ALIENS) == 7
    assert len(INFLUENCE) == 3


def test_every_card_that_can_be_bought_has_a_cost_and_no_other():
    assert all((card.cost > 0) != card.starting for card in CARDS.values())


def test_there_are_ten_figures_30_civilians_and_a_track_to_30():
    assert {kind.id: len(kind.figures) for kind in KINDS.values()} == {"army": 3, "navy": 2, "tripod": 3, "ufo": 2}
    assert len(FIGURES) == 10
    assert (CIVILIANS, DAMAGE_TO_WIN) == (30, 30)


def test_there_are_15_land_and_6_sea_regions_and_borders_hold_both_ways():
    assert (len(LAND), len(SEA)) == (15, 6)
    everywhere = KINDS["ufo"].beside
    for region, near in everywhere.items():
        assert region not in near
        assert all(region in everywhere[other] for other in near)


def test_regions_within_two_steps_are_their_neighbours_neighbours():
    for kind in KINDS.values():
        for region, near in kind.beside.items():
            assert set(kind.within[1][region]) == set(near)
            assert set(kind.within[2][region]) == ({far for one in near for far in kind.beside[one]} | set(near)) - {region}
