"""The shape of the state document, the questions that rules ask of it, and the two changes of tiles that many facts make."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from games.documents import Own
from games.kernel import Seat
from games.lifecycle import OVER, ROUND_END, SETUP, SHARED_REASONS, shared_shapes
from games.schema import (
    COUNTED,
    Shape,
    always,
    counts,
    described,
    either,
    flag,
    ids,
    listing,
    mapping,
    nullable,
    record,
    text,
    veiled,
    whole,
)
from games.war import data
from games.war.document import State

PLACEMENT, CARD_PLAY, MOVING, FIGHTING, DRAWING = "placement", "cards", "moves", "attack", "draw"
PHASE_NAMES = (SETUP, PLACEMENT, CARD_PLAY, MOVING, FIGHTING, DRAWING, ROUND_END, OVER)
FINAL_TURNS_OVER, LAST_SEAT = "final_turns_over", "last_seat"
REASONS = (FINAL_TURNS_OVER, LAST_SEAT, *SHARED_REASONS)

SEAT = ids(data.SEATS, "a seat, named after its cubes")
TILE = text("^[a-z](?:[1-9]|[12][0-9]|3[0-6])$", "a tile's id: its column letter and its row number")
CARD = ids(data.CARDS, "a card: its symbol, its background and its value")
NAMED_SYMBOL = ids(data.SYMBOLS, "a symbol of tiles and cards")
FACE = ids([*data.SYMBOLS, data.BROWN], "the symbol that a tile bears, or brown")
REGION = nullable(whole(1, about="the number of the tile's region on the map; null where there are none"))
PLACED_COUNTS = counts(TILE, 1, about="units by tile; tiles with none are left out")
DECK = veiled(listing(CARD, about="top card first; a view has the number of cards instead"), COUNTED)
MAP_NUMBER = whole(0, data.GENERATOR.modulus - 1, "the number that the map was generated from; null for a given map and before the set-up")
TILES = mapping(
    TILE,
    record(
        {
            "face": FACE,
            "region": REGION,
            "seat": nullable(described(SEAT, "the seat whose units stand here; null if there are none")),
            "units": whole(0, data.UNITS, "units on the tile"),
        }
    ),
    about="the map, by tile",
)
SCORE = whole(0)
SCORE_SHEET = mapping(
    SEAT,
    record(
        {
            "tiles": whole(0, about="points for tiles (WAR-SCO-01)"),
            "symbols": whole(0, about="points for symbols (WAR-SCO-02)"),
            "sets": whole(0, about="points for sets (WAR-SCO-03)"),
            "total": whole(0, about="the sum"),
        }
    ),
    about="what the points of each seat are made of",
)

OPTION_SHAPES: dict[str, Shape] = {
    "first_seat": either(always(data.RANDOM), SEAT, about="who begins"),
    "removed_symbols": either(
        always(data.RANDOM), listing(NAMED_SYMBOL, 0, 2), about="the symbols left out: 2 with 2 seats, 1 with 3, 0 with 4"
    ),
    "map": either(always(data.GENERATED), mapping(TILE, FACE), about="generated, or every tile's symbol or brown"),
    "map_number": nullable(whole(0, data.GENERATOR.modulus - 1, about="the number that a generated map follows from; none: one is drawn")),
    "starting_cards": flag("whether later seats begin with cards"),
    "room_by_card": flag("whether units of the turn's first card make room for the second (WAR-REI-06)"),
    "garrisons": flag("whether the units of a seat that leaves stay as defenders (WAR-LEA-02)"),
}

DOCUMENT = record(
    {
        **shared_shapes(data.ID, SEAT, PHASE_NAMES, REASONS, SCORE, OPTION_SHAPES),
        "score_sheet": nullable(described(SCORE_SHEET, "what the points of each seat are made of; null until they are counted")),
        "symbols": listing(NAMED_SYMBOL, about="the symbols in play"),
        "map_number": nullable(MAP_NUMBER),
        "tiles": TILES,
        "reserve": mapping(SEAT, whole(0, data.UNITS), about="units not on the board"),
        "hands": mapping(SEAT, listing(CARD), about="in the order in which the cards came"),
        "combat": mapping(SEAT, CARD, about="combat cards in force"),
        "row": listing(CARD, 0, data.ROW_SIZE, about="face up, left to right"),
        "deck": DECK,
        "discard": listing(CARD, about="in the order of leaving play"),
        "turn": record(
            {
                "reinforcements": whole(0, data.REINFORCEMENTS, "cards played as reinforcements"),
                "combat_card": flag("whether a combat card was played"),
                "placed": described(PLACED_COUNTS, "new units by tile; tiles with none are left out"),
                "moves": whole(0, data.MOVES, "moves made"),
            },
            about="the record of the active seat's turn so far",
        ),
        "attacks": mapping(
            TILE,
            record(
                {
                    "from": described(TILE, "the tile that the attackers stand on"),
                    "units": whole(1, about="attackers that are left; they still count on their tile"),
                    "rolls": whole(0, about="how many times the dice were rolled, draws included"),
                }
            ),
            about="open attacks, by the attacked tile",
        ),
        "final_turns": nullable(listing(SEAT, about="seats that still have to finish their final turn, the next one first")),
        "eliminated": listing(SEAT, about="in the order of elimination"),
    },
    about="the state of a match of War!",
)


def option(state: State, name: str) -> Any:
    """Return an option of the match, or its default if it is absent (WAR-OPT-06)."""
    return state["options"].get(name, data.DEFAULTS[name])


def beside(tiles: Container[str], tile: str) -> list[str]:
    """Return the tiles that share an edge with a tile (WAR-MAP-02)."""
    return [place for place in data.BESIDE[tile] if place in tiles]


def holdings(state: State, seat: Seat) -> list[str]:
    """Return the tiles that a seat controls, sorted by id: those on which its units stand (WAR-TRN-07, WAR-TRN-09)."""
    return sorted([tile for tile, here in state["tiles"].items() if here["seat"] == seat])


def on_board(state: State, seat: Seat) -> int:
    """Return how many units a seat has on the board (WAR-CMP-03)."""
    return sum([here["units"] for here in state["tiles"].values() if here["seat"] == seat])


def still_in(state: State) -> list[Seat]:
    """Return the seats that are neither eliminated nor have left, in turn order (WAR-ELI-04, WAR-LEA-01)."""
    return [seat for seat in state["seats"] if seat not in state["eliminated"]]


def put_out(state: Any, seat: Seat, own: Own) -> None:
    """Put a seat out: its hand and its combat card are discarded, and it has no final turn. For facts only."""
    own(state, "eliminated").append(seat)
    hands, discard = own(state, "hands"), own(state, "discard")
    discard.extend(hands[seat])
    hands[seat] = []
    if seat in state["combat"]:
        discard.append(own(state, "combat").pop(seat))
    if state["final_turns"] is not None and seat in state["final_turns"]:
        own(state, "final_turns").remove(seat)


def put(tiles: Any, tile: str, seat: Seat, units: int, own: Own) -> None:
    """Put units of a seat on a tile. For facts only."""
    here = own(tiles, tile)
    here["units"] += units
    here["seat"] = seat


def take(tiles: Any, tile: str, units: int, own: Own) -> None:
    """Take units off a tile. Without units it belongs to nobody. For facts only."""
    here = own(tiles, tile)
    here["units"] -= units
    if not here["units"]:
        here["seat"] = None
