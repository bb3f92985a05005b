"""The map generator, against the examples of data.json and the numbers of the rules."""

from __future__ import annotations

import hashlib
import json

import pytest

from games.war import GAME
from games.war.data import BESIDE, BOX, BROWN, GENERATOR, SYMBOLS
from games.war.mapmaker import Draws, attempts, flaw, generated
from tests.games.matches import refused

DATA = json.loads((GAME.folder / "data.json").read_text(encoding="utf-8"))
EXAMPLES = DATA["generator"]["examples"]


def picture(tiles, rows, columns):
    """A map as data.json draws it: the symbol's first letter and the region, two dots for no tile."""

    def cell(column, row):
        here = tiles.get(f"{'abcdefghi'[column]}{row + 1}")
        return ".." if here is None else ("-" if here["face"] == BROWN else here["face"][0].upper()) + str(here["region"])

    return [" ".join(cell(column, row) for column in range(columns)) for row in range(rows)]


@pytest.mark.parametrize("example", EXAMPLES["draws"], ids=lambda example: str(example["number"]))
def test_the_row_of_numbers_is_that_of_the_examples(example):
    draws = Draws(example["number"])
    assert [draws.draw(example["n"]) for _ in example["first"]] == example["first"]


def test_a_leap_passes_over_as_many_numbers_as_it_says():
    one, other = Draws(7), Draws(7)
    for _ in range(23):
        one.draw(6)
    other.leap(23)
    assert one.x == other.x


@pytest.mark.parametrize("example", EXAMPLES["maps"], ids=lambda example: f"{example['seats']} seats, map {example['map_number']}")
def test_the_maps_are_those_of_the_examples(example):
    tiles = generated(example["seats"], example["symbols"], example["map_number"])
    assert picture(tiles, len(example["picture"]), len(example["picture"][0].split())) == example["picture"]
    tried = list(zip(range(example["attempts"]), attempts(example["seats"], example["symbols"], example["map_number"]), strict=False))
    assert [found is not None for _, found in tried] == [False] * (example["attempts"] - 1) + [True]


def test_the_map_of_blank_json_is_map_4():
    blank = json.loads((GAME.folder / "blank.json").read_text(encoding="utf-8"))
    assert {tile: {**ground, "seat": None, "units": 0} for tile, ground in generated(2, blank["symbols"], 4).items()} == blank["tiles"]


def test_neighbours_are_those_that_the_data_lists():
    listed = DATA["blank_map"]["neighbours"]
    assert {tile: {place for place in BESIDE[tile] if place in listed} for tile in listed} == {
        tile: set(beside) for tile, beside in listed.items()
    }


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_generated_map_keeps_the_rules_of_maps(seats):
    symbols = SYMBOLS[: len(GENERATOR.origins[seats])]
    for number in range(60):
        tiles = generated(seats, symbols, number)
        faces = {tile: here["face"] for tile, here in tiles.items()}
        assert flaw(faces, seats) is None
        assert len(tiles) == BOX[seats].symbol_tiles + BOX[seats].brown_tiles
        for region in range(1, len(symbols) + 1):
            land = [tile for tile, here in tiles.items() if here["region"] == region]
            assert len(land) == 6
            entries = [tile for tile in land if any(place in tiles and tiles[place]["region"] != region for place in BESIDE[tile])]
            assert 2 <= len(entries) <= 4
        for tile, face in faces.items():
            beside = [faces[place] for place in BESIDE[tile] if place in faces]
            assert face not in beside if face != BROWN else any(other != BROWN for other in beside)


GIVEN = {
    **dict.fromkeys(("a1", "c3", "f4"), "wheel"),
    **dict.fromkeys(("c1", "b2", "e3"), "drop"),
    **dict.fromkeys(("e1", "d2", "b4"), "arrow"),
    **dict.fromkeys(("f2", "a3", "d4"), "bricks"),
    **dict.fromkeys(("b1", "d1", "f1", "a2", "c2", "e2", "b3", "d3", "f3", "a4", "c4", "e4"), BROWN),
}


NOT_DIFFERENT = "removed_symbols: 2 seats remove 2 different symbols"
WRONG_SIZE = "map: a map for 2 seats has 12 tiles with symbols and 12 brown ones"


@pytest.mark.parametrize(
    ("seats", "options", "rule", "reason"),
    [
        (["red"], {}, "WAR-CMP-01", "War! is played by 2 to 4 seats"),
        (["red", "red"], {}, "WAR-CMP-02", "the seats are different ones of red, blue, green, yellow"),
        (["red", "purple"], {}, "WAR-CMP-02", "the seats are different ones of red, blue, green, yellow"),
        (["red", "blue"], {"first_seat": "green"}, "WAR-OPT-01", "first_seat: green does not play"),
        (["red", "blue"], {"first_seat": 3}, "WAR-OPT-07", "first_seat: expected 'random', or expected a string"),
        (["red", "blue"], {"removed_symbols": ["drop"]}, "WAR-OPT-02", NOT_DIFFERENT),
        (["red", "blue"], {"removed_symbols": ["drop", "drop"]}, "WAR-OPT-02", NOT_DIFFERENT),
        (["red", "blue"], {"removed_symbols": ["drop", "moon"]}, "WAR-OPT-02", "removed_symbols: moon is no symbol"),
        (["red", "blue"], {"map_number": -1}, "WAR-OPT-07", "map_number: expected a number of at least 0, or expected null"),
        (["red", "blue"], {"map_number": 4294967296}, "WAR-OPT-04", "map_number: the highest is 4294967295"),
        (["red", "blue"], {"starting_cards": 1}, "WAR-OPT-07", "starting_cards: expected true or false"),
        (["red", "blue"], {"colour": "red"}, "WAR-OPT-07", "unknown field 'colour'"),
        (["red", "blue"], {"map": {}}, "WAR-MAP-12", WRONG_SIZE),
        (["red", "blue", "green"], {"map": GIVEN}, "WAR-MAP-12", "map: a map for 3 seats has 15 tiles with symbols and 15 brown ones"),
        (["red", "blue"], {"map": {tile: face for tile, face in GIVEN.items() if tile != "c4"}}, "WAR-MAP-12", WRONG_SIZE),
        (["red", "blue"], {"map": {tile: face for tile, face in GIVEN.items() if face != "drop"}}, "WAR-MAP-12", WRONG_SIZE),
        (["red", "blue"], {"map": {**GIVEN, "c4": "drop"}}, "WAR-MAP-12", "map: the map has 4 tiles with drop instead of 3"),
        (["red", "blue"], {"map": {**GIVEN, "c4": "moon"}}, "WAR-OPT-03", "map: the tile c4 cannot bear 'moon'"),
        (
            ["red", "blue"],
            {"map": {**GIVEN, "z40": BROWN}},
            "WAR-MAP-01",
            "map: 'z40' is no tile id: a column letter a to z and a row number 1 to 36 make one",
        ),
        (["red", "blue"], {"map": GIVEN, "map_number": 3}, "WAR-MAP-15", "map_number: a given map has none"),
        (
            ["red", "blue"],
            {"map": GIVEN, "removed_symbols": ["drop", "circles"]},
            "WAR-MAP-14",
            "removed_symbols: with a given map these are the symbols that are not on it",
        ),
        (
            ["red", "blue"],
            {"map": {("k9" if tile == "e4" else tile): face for tile, face in GIVEN.items()}},
            "WAR-MAP-13",
            "map: the tiles of the map are not all connected",
        ),
    ],
)
def test_bad_options_are_refused_when_the_match_is_created(seats, options, rule, reason):
    assert refused(GAME, seats, options) == ("bad_options", rule, {"reason": reason})


def test_good_options_are_taken_as_they_are():
    assert GAME.begin(["red", "blue"], {"map": GIVEN, "removed_symbols": ["circles", "hammers"]})["options"]["map"] == GIVEN


@pytest.mark.parametrize(
    ("seats", "digest"),
    [
        (2, "305c77784d201214"),
        (3, "059e53eafc7e6078"),
        (4, "f7a69457b2cf11c4"),
    ],
)
def test_a_map_number_means_the_same_map_for_ever(seats, digest):
    """The first 300 map numbers (WAR-OPT-04)."""
    maps = [generated(seats, SYMBOLS[: len(GENERATOR.origins[seats])], number) for number in range(300)]
    assert hashlib.sha256(json.dumps(maps).encode()).hexdigest()[:16] == digest
