"""data.json as typed constants; nothing else opens the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from games import draws, profiles

FOLDER = Path(__file__).parent
_DATA: dict[str, Any] = json.loads((FOLDER / "data.json").read_text(encoding="utf-8"))


class Card(NamedTuple):
    """A card: its symbol, its background, which is its part of the deck, and its value (WAR-CMP-07, WAR-CMP-08)."""

    symbol: str
    background: str
    value: int


class Box(NamedTuple):
    """The components in play for a number of seats (WAR-CMP-10, WAR-CMP-11, WAR-CMP-12, WAR-CMP-13)."""

    removed_symbols: int
    symbol_tiles: int
    brown_tiles: int


class Generator(NamedTuple):
    """The numbers of the map generator (WAR-MAP-03 to 10)."""

    multiplier: int
    increment: int
    modulus: int
    warm_up: int
    symbol_offsets: tuple[int, ...]
    entries: tuple[int, int]
    origins: dict[int, list[tuple[int, int]]]
    shapes: list[str]


class Weights(NamedTuple):
    """The weights of `worth`, in points of the final score if data.json says nothing else. data.json explains each."""

    won: float
    unit: float
    card: float
    near_set: float
    threat: float
    prize_tile: float
    prize_symbol: float
    even: float
    edge: float
    odds_least: float
    odds_most: float
    fallen: float
    best_rival: float


ID: str = _DATA["game"]
BROWN = "brown"
RANDOM = "random"
GENERATED = "generated"
SEATS: tuple[str, ...] = tuple(_DATA["seats"]["ids"])
LEAST_SEATS: int = _DATA["seats"]["min"]
MOST_SEATS: int = _DATA["seats"]["max"]
UNITS: int = _DATA["units_per_seat"]
SYMBOLS: tuple[str, ...] = tuple(_DATA["symbols"])
TILES_PER_SYMBOL: int = _DATA["tiles_per_symbol"]
BOX: dict[int, Box] = {
    int(seats): Box(row["removed_symbols"], row["symbol_tiles"], row["brown_tiles"]) for seats, row in _DATA["players"].items()
}
CARDS: dict[str, Card] = {name: Card(row["symbol"], row["background"], row["value"]) for name, row in _DATA["cards"].items()}
SYMBOL: dict[str, str] = {name: card.symbol for name, card in CARDS.items()}
VALUE: dict[str, int] = {name: card.value for name, card in CARDS.items()}
DECK_ORDER: tuple[str, ...] = tuple(_DATA["deck_order"])
ROW_SIZE: int = _DATA["row"]["size"]
ROW_TAKE: int = _DATA["row"]["take"]
START_TILES: int = _DATA["start"]["tiles"]
START_UNITS: int = START_TILES + _DATA["start"]["extra_units"]
REINFORCEMENTS: int = _DATA["turn"]["reinforcement_cards"]
COMBAT_CARDS: int = _DATA["turn"]["combat_cards"]
FIRST_CARD_ROUND: int = _DATA["turn"]["first_card_round"]
MOVES: int = _DATA["turn"]["moves"]
SIDES: int = _DATA["dice"]["sides"]
DRAWS = draws.read(_DATA["draws"], SIDES)
PER_TILE: int = _DATA["scoring"]["per_tile"]
SYMBOL_STEP: int = _DATA["scoring"]["symbol_step"]
SET_SIZE: int = _DATA["scoring"]["set_size"]
PER_SET: int = _DATA["scoring"]["per_set"]
STARTING_CARDS: dict[int, list[int]] = {int(place): values for place, values in _DATA["starting_cards"].items()}
STARTING_BACKGROUND: str = _DATA["starting_cards_from"]
DEFAULTS: dict[str, Any] = {name: row["default"] for name, row in _DATA["options"].items()}
PROFILES = profiles.read(_DATA["profiles"])
COLUMNS: str = _DATA["map_ids"]["columns"]
ROWS = range(_DATA["map_ids"]["rows"][0], _DATA["map_ids"]["rows"][1] + 1)
GENERATOR = Generator(
    _DATA["generator"]["random"]["multiplier"],
    _DATA["generator"]["random"]["increment"],
    _DATA["generator"]["random"]["modulus"],
    _DATA["generator"]["random"]["warm_up"],
    tuple(_DATA["generator"]["symbol_offsets"]),
    (_DATA["generator"]["entry_tiles"][0], _DATA["generator"]["entry_tiles"][1]),
    {int(seats): [(column, row) for column, row in places] for seats, places in _DATA["generator"]["block_origins"].items()},
    _DATA["generator"]["shapes"],
)


WEIGHTS = Weights(*[float(_DATA["worth"][name]["value"]) for name in Weights._fields])


def _beside(column: int, row: int) -> tuple[str, ...]:
    """The places that share an edge with a place: above, right, below, left (WAR-MAP-02)."""
    around = ((column, row - 1), (column + 1, row), (column, row + 1), (column - 1, row))
    return tuple(f"{COLUMNS[c]}{r}" for c, r in around if 0 <= c < len(COLUMNS) and r in ROWS)


BESIDE: dict[str, tuple[str, ...]] = {f"{COLUMNS[c]}{r}": _beside(c, r) for r in ROWS for c in range(len(COLUMNS))}
"""Every place that a tile can have (WAR-MAP-01), row by row, and the places beside it."""
