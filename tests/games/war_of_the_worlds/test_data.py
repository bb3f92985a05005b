"""The contents of the box: data.json has the numbers of the rules (WOW-CMP, WOW-MAP)."""

from __future__ import annotations

import json

from games.war_of_the_worlds import GAME
from games.war_of_the_worlds.data import (
    ALIENS,
    ARMOUR,
    BONUS,
    BUILDINGS,
    CARDS,
    CIVILIANS,
    DAMAGE_TO_WIN,
    FIGURES,
    FIGURES_OF,
    HUMANS,
    INFLUENCE,
    KINDS,
    LAND,
    LAND_FIGURES_OF,
    NO_ENTRY,
    NO_EXIT,
    NO_SHOTS,
    SEA,
    TERMS,
    WEIGHTS,
    Terms,
    Work,
    pile,
)

DATA = json.loads((GAME.folder / "data.json").read_text(encoding="utf-8"))
ABSENT = {"at": "", "damage": 0, "amount": 0, "steps": 0, "influence": None, "unprotected_only": False}  # in an option of a card


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


def test_every_card_is_the_row_of_its_side():
    rows = {name: (side, row) for side in (ALIENS, HUMANS) for name, row in DATA["cards"][side].items()}
    assert CARDS.keys() == rows.keys()
    for name, (side, row) in rows.items():
        card = CARDS[name]
        assert (card.id, card.side, card.type, card.starting) == (name, side, row["kind"], row["starting"])
        assert (card.copies, card.cost) == (row["copies"], row["cost"] or 0)
        assert (card.building, card.figure) == (row.get("building"), row.get("unit"))
        places = [0] if row["kind"] == "unit" else []
        assert [terms.option for terms in card.options] == [*places, *(option["option"] for option in row["options"])]


def test_every_option_of_a_card_is_its_row():
    for cards in DATA["cards"].values():
        for name, row in cards.items():
            for option in row["options"]:
                terms = TERMS[name, option["option"]]
                assert (terms.card, terms.effect, terms.removes) == (name, option["effect"], option["removes"])
                assert {field: getattr(terms, field) for field in ABSENT} == {field: option.get(field, ABSENT[field]) for field in ABSENT}
                assert (terms.kind, terms.moves) == (option.get("unit"), option.get("count", 0))
                assert terms.uses_figure is option.get("uses_unit", option["effect"] == "unit_attack")
                assert terms.push == ("army" if option.get("push_army") else None)
            if row["kind"] == "unit":
                placing = Terms(name, 0, "unit_place", False, row["unit"], False, "", 0, 0, 0, 0, None, None, False)
                assert TERMS[name, 0] == placing


def test_every_kind_of_figure_is_its_row():
    regions = DATA["map"]["regions"]
    places = {"civilians": None, "navy_region": "portsmouth", "ship_region": "west_highlands"}
    for name, row in DATA["units"].items():
        kind = KINDS[name]
        assert (kind.id, kind.side, kind.figures, kind.defence) == (name, row["side"], tuple(row["figures"]), row["defence"] or 0)
        assert (kind.blocks, kind.attackable, kind.barred_by) == (row["blocks"], row.get("attackable", False), tuple(row["barred_by"]))
        assert kind.placed_at == places[row["placed_at"]]
        assert kind.beside == {
            region: tuple(near for terrain in row["terrain"] for near in here[terrain])
            for region, here in regions.items()
            if here["terrain"] in row["terrain"]
        }
        assert set(kind.within) == {1, 2}
        for region, near in kind.beside.items():
            assert kind.within[1][region] == tuple(sorted(near))
            assert kind.within[2][region] == tuple(sorted({*near, *(far for one in near for far in kind.beside[one])} - {region}))


def test_every_building_is_its_row():
    for name, row in DATA["buildings"].items():
        building = BUILDINGS[name]
        assert (building.id, building.side, building.tokens, building.slot) == (name, row["side"], row["tokens"], row["slot"])
        assert (building.defence, building.income) == (row["defence"] or 0, row["income"])
        assert (building.trigger_damage, building.triggered_by) == ((2, ("tripod",)) if name == "landmines" else (0, ()))
    assert {name: building.action for name, building in BUILDINGS.items() if building.action} == {
        "regenerator": Work(energy=4, repair=1, damage_own_region=0, damage_adjacent=0),
        "heavy_artillery": Work(energy=0, repair=0, damage_own_region=2, damage_adjacent=1),
        "fort": Work(energy=0, repair=0, damage_own_region=1, damage_adjacent=0),
    }
    assert (ARMOUR, BONUS) == ({"army": ("tank_factory", 2)}, {"tripod": ("alien_factory", 1)})


def test_figures_and_conditions_are_those_of_the_rules():
    humans, aliens = ("army_1", "army_2", "army_3"), ("tripod_1", "tripod_2", "tripod_3")
    assert {ALIENS: (*aliens, "ufo_1", "ufo_2"), HUMANS: (*humans, "navy_1", "navy_2")} == FIGURES_OF
    assert {ALIENS: aliens, HUMANS: humans} == LAND_FIGURES_OF
    assert (NO_ENTRY, NO_EXIT, NO_SHOTS) == ("frightening_sound", "nerve_agent", "poisonous_fog")


def test_the_weights_are_those_of_the_data():
    assert json.loads(json.dumps(WEIGHTS._asdict())) == DATA["worth"]["weights"]
    assert (type(WEIGHTS.fighter), type(WEIGHTS.ready)) == (tuple, tuple)
