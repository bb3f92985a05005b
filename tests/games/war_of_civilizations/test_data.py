"""The numbers of data.json."""

from __future__ import annotations

from collections import Counter

from games.war_of_civilizations.data import (
    ATTACHED,
    BESIDE,
    CARDS,
    CONTINENT,
    CONTINENT_OF,
    COVERED,
    CRYSTALS,
    DISASTERS,
    EXPEDITIONS,
    HOME,
    LANDINGS,
    LIMIT,
    LOCATIONS,
    PRICE,
    RING,
    SEATS,
    SHIPS,
    STRENGTH,
    TELEPORTERS,
    YIELDS,
    deck,
)


def test_the_boxes_hold_what_they_say():
    assert (len(RING), len(EXPEDITIONS), CRYSTALS, TELEPORTERS) == (6, 6, 30, 2)
    assert len(SEATS) == 6
    assert len(CARDS) == 21
    assert (len(deck(2)), len(deck(4)), len(deck(5)), len(deck(6))) == (21, 21, 33, 33)


def test_a_clan_has_17_ships_that_grow_stronger_and_dearer():
    assert sum(LIMIT.values()) == 17
    assert {ship: STRENGTH[ship] for ship in SHIPS} == {"capital": 10, "destroyer": 6, "frigate": 3, "gunboat": 1}
    assert {ship: tuple(price.values()) for ship, price in PRICE.items()} == {"destroyer": (4, 4), "frigate": (2, 2), "gunboat": (1, 1)}


def test_eleven_disasters_go_evenly_over_the_islands_and_one_card_heals():
    assert Counter(DISASTERS.values()) == {"home": 1, "shield": 2, "haven": 2, "west": 2, "east": 2, "north": 2, None: 1}


def test_borders_hold_both_ways_and_stay_on_their_continent():
    assert all(location in BESIDE[other] for location in LOCATIONS for other in BESIDE[location])
    assert all(CONTINENT[location] == CONTINENT[other] for location in LOCATIONS for other in BESIDE[location])


def test_every_continent_is_like_the_others():
    for seat in SEATS:
        assert len(CONTINENT_OF[seat]) == 6
        assert set(BESIDE[HOME[seat]]) == set(LANDINGS[seat])
        assert [YIELDS[location] for location in CONTINENT_OF[seat]] == [YIELDS[location] for location in CONTINENT_OF[SEATS[0]]]


def test_as_many_apex_islands_lie_before_continents_as_there_are_seats():
    for seats in range(2, 7):
        assert len(set(ATTACHED[seats])) == seats
        assert set(ATTACHED[seats]) <= set(RING) - set(COVERED[seats])
