"""The document of a match, and the questions asked of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from games.kernel import Seat, State
from games.schema import COUNTED, Shape, always, counts, either, flag, ids, listing, mapping, nullable, record, text, veiled, whole
from games.war.data import (
    BESIDE,
    BROWN,
    CARDS,
    COMBAT_CARDS,
    DEFAULTS,
    GENERATOR,
    MOST_SEATS,
    MOVES,
    REINFORCEMENTS,
    ROW_SIZE,
    SEATS,
    START_UNITS,
    SYMBOL,
    SYMBOLS,
    UNITS,
    VALUE,
)

SEAT = ids(SEATS, "a seat, named after its cubes")
TILE = text("^[a-z](?:[1-9]|[12][0-9]|3[0-6])$", "a tile's id: its column letter and its row number")
CARD = ids(CARDS, "a card: its symbol, its background and its value")
NAMED_SYMBOL = ids(SYMBOLS)
FACE = ids([*SYMBOLS, BROWN], "the symbol that a tile bears, or brown")
PLACED_COUNTS = counts(TILE, 1, about="units by tile; tiles with none are left out")
DECK = veiled(listing(CARD, about="top card first; a view holds the number of cards instead"), COUNTED)
TILES = mapping(
    TILE, record({"face": FACE, "region": nullable(whole(1)), "seat": nullable(SEAT), "units": whole(0, UNITS)}), about="the map, by tile"
)
SCORES = mapping(SEAT, whole(0), about="points by seat")
SCORE_SHEET = mapping(SEAT, record({"tiles": whole(0), "symbols": whole(0), "sets": whole(0), "total": whole(0)}))
REASON = ids(["final_turns_over", "last_seat"])
PHASE = ids(["setup", "placement", "cards", "moves", "attack", "draw", "round_end", "over"])
ACTORS = listing(ids([*SEATS, "system"]), about="who must decide now")

OPTION_SHAPES: dict[str, Shape] = {
    "first_seat": either(always("random"), SEAT, about="who begins"),
    "removed_symbols": either(
        always("random"), listing(NAMED_SYMBOL, 0, 2), about="the symbols left out: 2 with 2 seats, 1 with 3, 0 with 4"
    ),
    "map": either(always("generated"), mapping(TILE, FACE), about="generated, or every tile's symbol or brown"),
    "map_number": nullable(whole(0, GENERATOR.modulus - 1, about="the number that a generated map follows from; null draws one")),
    "starting_cards": flag("whether later seats begin with cards"),
}

DOCUMENT = record(
    {
        "game": always("war"),
        "options": record({name: shape._replace(needed=False) for name, shape in OPTION_SHAPES.items()}),
        "seats": listing(SEAT, 2, MOST_SEATS, about="in turn order; before the set-up in their order round the table"),
        "round": whole(1),
        "phase": PHASE,
        "active": nullable(SEAT),
        "to_act": ACTORS,
        "outcome": nullable(record({"winners": listing(SEAT), "reason": REASON, "scores": SCORES})),
        "score_sheet": nullable(SCORE_SHEET),
        "symbols": listing(NAMED_SYMBOL, about="the symbols in play"),
        "map_number": nullable(whole(0, GENERATOR.modulus - 1)),
        "tiles": TILES,
        "reserve": mapping(SEAT, whole(0, UNITS), about="units not on the board"),
        "hands": mapping(SEAT, listing(CARD), about="in the order in which the cards came"),
        "combat": mapping(SEAT, CARD, about="combat cards in force"),
        "row": listing(CARD, 0, ROW_SIZE, about="face up, left to right"),
        "deck": DECK,
        "discard": listing(CARD),
        "turn": record(
            {"reinforcements": whole(0, REINFORCEMENTS), "combat_card": flag(), "placed": PLACED_COUNTS, "moves": whole(0, MOVES)},
            about="what the active seat has done this turn",
        ),
        "attacks": mapping(TILE, record({"from": TILE, "units": whole(1), "rolls": whole(0)}), about="open attacks, by the attacked tile"),
        "final_turns": nullable(listing(SEAT, about="seats that still have to finish their final turn, the next one first")),
        "eliminated": listing(SEAT),
    },
    about="the state of a match of War!",
)


def option(state: State, name: str) -> Any:
    """An option of the match; one that is absent has its default (WAR-OPT-06)."""
    return state["options"].get(name, DEFAULTS[name])


def beside(tiles: Collection[str], tile: str) -> list[str]:
    """The tiles that share an edge with a tile (WAR-MAP-02)."""
    return [place for place in BESIDE[tile] if place in tiles]


def holdings(state: State, seat: Seat) -> list[str]:
    """The tiles that a seat controls: those on which its units stand (WAR-TRN-07, WAR-TRN-09)."""
    return [tile for tile, here in state["tiles"].items() if here["seat"] == seat]


def on_board(state: State, seat: Seat) -> int:
    """How many units a seat has on the board (WAR-CMP-03)."""
    return sum([here["units"] for here in state["tiles"].values() if here["seat"] == seat])


def still_in(state: State) -> list[Seat]:
    """The seats that are not eliminated, in turn order (WAR-ELI-04)."""
    return [seat for seat in state["seats"] if seat not in state["eliminated"]]


def has_placed_all(state: State, seat: Seat) -> bool:
    """Whether a seat's starting placement is done: four tiles and two units more (WAR-STA-01)."""
    return on_board(state, seat) >= START_UNITS


def rooms(state: State, seat: Seat, card: str) -> dict[str, int]:
    """How many units of a card each tile can still take: tiles of the seat that bear its symbol, never brown ones, each as many new units
    in a turn as stood there when it began (WAR-REI-03, WAR-REI-05, WAR-REI-06)."""
    symbol = SYMBOL[card]
    placed = state["turn"]["placed"]
    return {
        tile: room
        for tile, here in state["tiles"].items()
        if here["seat"] == seat and here["face"] == symbol and (room := here["units"] - 2 * placed.get(tile, 0)) > 0
    }


def brings(state: State, seat: Seat, card: str) -> int:
    """How many units a card must bring: its value, or what reserve and room allow, if that is less (WAR-REI-02, WAR-REI-07)."""
    reserve: int = state["reserve"][seat]
    return min(VALUE[card], reserve, sum(rooms(state, seat, card).values())) if reserve else 0


def may_reinforce(state: State) -> bool:
    """Whether the active seat may still play a card as reinforcements this turn (WAR-REI-01)."""
    return bool(state["turn"]["reinforcements"] < REINFORCEMENTS)


def may_play_combat_card(state: State) -> bool:
    """Whether the active seat may still play a combat card this turn (WAR-COM-01)."""
    return int(state["turn"]["combat_card"]) < COMBAT_CARDS


def may_play_any_card(state: State, seat: Seat) -> bool:
    """Whether some play of a card is left to a seat in this turn (WAR-TRN-04)."""
    hand = state["hands"][seat]
    if not hand:
        return False
    return may_play_combat_card(state) or (may_reinforce(state) and any(brings(state, seat, card) for card in hand))


def bonus(state: State, seat: Seat, tile: str) -> int:
    """What a seat's combat card adds to its rolls in fights for a tile: its value on its own symbol, to attacker and defender alike, and
    nothing on brown (WAR-COM-03, WAR-COM-04, WAR-COM-05, WAR-COM-06, WAR-COM-07)."""
    card = state["combat"].get(seat)
    return VALUE[card] if card is not None and SYMBOL[card] == state["tiles"][tile]["face"] else 0


def lowest(row: list[str]) -> int:
    """The lowest value in the row (WAR-DRW-02)."""
    return min([VALUE[card] for card in row])


def to_take(row: list[str], take: int) -> int:
    """How many cards must be taken: two, or the one that is left (WAR-DRW-01, WAR-DRW-03)."""
    return min(take, len(row))
