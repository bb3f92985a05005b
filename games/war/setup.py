"""Options checked, the first document, and the set-up that the system carries out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.documents import clone
from games.kernel import SYSTEM, Action, Match, Refusal, Refused, Seat, State, no
from games.schema import Malformed, optional, record
from games.war.data import (
    BOX,
    CARDS,
    DECK_ORDER,
    DEFAULTS,
    GENERATOR,
    LEAST_SEATS,
    MOST_SEATS,
    ROW_SIZE,
    SEATS,
    STARTING_BACKGROUND,
    STARTING_CARDS,
    SYMBOLS,
    UNITS,
)
from games.war.facts import blank_turn
from games.war.flow import to_phase
from games.war.mapmaker import flaw, generated, given, symbols_on
from games.war.state import OPTION_SHAPES, option

OPTIONS = record({name: optional(shape) for name, shape in OPTION_SHAPES.items()}, about="the options of a match of War!")


def begin(seats: Sequence[Seat], options: Mapping[str, Any]) -> State:
    """The first document of a match, with every unit in reserve. Raises Refused `bad_options` (WAR-CMP-03, WAR-OPT-06, WAR-OPT-07)."""
    refusal = match_refusal(seats, options)
    if refusal is not None:
        raise Refused(refusal)
    chosen = DEFAULTS | OPTIONS.clean(clone(dict(options)))
    return {
        "game": "war",
        "options": chosen,
        "seats": list(seats),
        "round": 1,
        "phase": "setup",
        "active": None,
        "to_act": [SYSTEM],
        "outcome": None,
        "score_sheet": None,
        "symbols": [],
        "map_number": None,
        "tiles": {},
        "reserve": dict.fromkeys(seats, UNITS),
        "hands": {seat: [] for seat in seats},
        "combat": {},
        "row": [],
        "deck": [],
        "discard": [],
        "turn": blank_turn(),
        "attacks": {},
        "final_turns": None,
        "eliminated": [],
    }


def match_refusal(seats: Sequence[Seat], options: Mapping[str, Any]) -> Refusal | None:
    """Why a match with these seats and options may not start (WAR-CMP-01, WAR-CMP-02, WAR-OPT-07)."""
    if not LEAST_SEATS <= len(seats) <= MOST_SEATS:
        return _bad(f"War! is played by {LEAST_SEATS} to {MOST_SEATS} seats", "WAR-CMP-01")
    if len(set(seats)) != len(seats) or any(seat not in SEATS for seat in seats):
        return _bad(f"the seats are different ones of {', '.join(SEATS)}", "WAR-CMP-02")
    try:
        return options_refusal(seats, DEFAULTS | OPTIONS.clean(dict(options)))
    except Malformed as reason:
        return _bad(str(reason))


def options_refusal(seats: Sequence[Seat], options: Mapping[str, Any]) -> Refusal | None:
    """What is wrong with options of the right types (WAR-OPT-01, WAR-OPT-02, WAR-OPT-03, WAR-OPT-04, WAR-OPT-05, WAR-OPT-07, WAR-MAP-14,
    WAR-MAP-15)."""
    first, removed, faces, number = options["first_seat"], options["removed_symbols"], options["map"], options["map_number"]
    if first != "random" and first not in seats:
        return _bad(f"first_seat: {first} does not play", "WAR-OPT-01")
    if removed != "random":
        unknown = [symbol for symbol in removed if symbol not in SYMBOLS]
        if unknown:
            return _bad(f"removed_symbols: {unknown[0]} is no symbol", "WAR-OPT-02")
        if len(set(removed)) != len(removed) or len(removed) != BOX[len(seats)].removed_symbols:
            return _bad(f"removed_symbols: {len(seats)} seats remove {BOX[len(seats)].removed_symbols} different symbols", "WAR-OPT-02")
    if number is not None and number >= GENERATOR.modulus:
        return _bad(f"map_number: the highest is {GENERATOR.modulus - 1}", "WAR-OPT-04")
    if faces == "generated":
        return None
    wrong = flaw(faces, len(seats))
    if wrong:
        return _bad(f"map: {wrong[1]}", wrong[0])
    if removed != "random" and set(removed) != set(SYMBOLS) - set(symbols_on(faces)):
        return _bad("removed_symbols: with a given map these are the symbols that are not on it", "WAR-MAP-14")
    if number is not None:
        return _bad("map_number: a given map has none", "WAR-MAP-15")
    return None


def setup_offers(state: State, seat: Seat) -> list[Action]:
    """The set-up is one action of the system (WAR-SET-01)."""
    return [{"type": "advance"}]


def setup_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Bad options do not start a match (WAR-OPT-07)."""
    return match_refusal(state["seats"], state["options"])


def set_up(match: Match, seat: Seat, action: Action) -> None:
    """First seat, symbols, map, starting cards, deck, face-up row, in this order (WAR-SET-01)."""
    order_seats(match)
    choose_symbols(match)
    build_map(match)
    if option(match.state, "starting_cards"):
        deal_starting_cards(match)
    build_deck(match)
    to_phase(match, "placement", match.state["seats"][0])


def order_seats(match: Match) -> None:
    """The first seat is drawn unless named; the others follow in their order round the table (WAR-SET-02, WAR-OPT-01)."""
    seats = match.state["seats"]
    first = option(match.state, "first_seat")
    place = seats.index(match.chance.pick(seats) if first == "random" else first)
    match.emit("seats_ordered", seats=seats[place:] + seats[:place])


def choose_symbols(match: Match) -> None:
    """Symbols are removed as the options say, as a given map says, or at random; none with 4 seats (WAR-SET-03, WAR-CMP-10, WAR-CMP-11,
    WAR-CMP-12,
    WAR-CMP-13, WAR-OPT-02, WAR-MAP-14)."""
    state = match.state
    faces, removed = option(state, "map"), option(state, "removed_symbols")
    number = BOX[len(state["seats"])].removed_symbols
    if faces != "generated":
        removed = [symbol for symbol in SYMBOLS if symbol not in symbols_on(faces)]
    elif removed == "random":
        removed = match.chance.sample(SYMBOLS, number) if number else []
    match.emit("symbols_chosen", symbols=[symbol for symbol in SYMBOLS if symbol not in removed])


def build_map(match: Match) -> None:
    """The map is laid out without units: the given one, or that of the map number, which is drawn if it was left open (WAR-SET-04,
    WAR-OPT-03,
    WAR-OPT-04, WAR-MAP-15)."""
    state = match.state
    faces, number = option(state, "map"), option(state, "map_number")
    if faces != "generated":
        match.emit("map_built", number=None, tiles=given(faces))
        return
    if number is None:
        number = match.chance.number(GENERATOR.modulus)
    match.emit("map_built", number=number, tiles=generated(len(state["seats"]), state["symbols"], number))


def deal_starting_cards(match: Match) -> None:
    """The second seat gets a card of value 1, the third one of value 2, the fourth one of each, drawn one after the other from the green
    cards (WAR-SET-05, WAR-SET-06, WAR-OPT-05)."""
    state = match.state
    cards: dict[Seat, list[str]] = {}
    left = [card for card in cards_in_play(state) if CARDS[card].background == STARTING_BACKGROUND]
    for place, seat in enumerate(state["seats"], 1):
        for value in STARTING_CARDS.get(place, ()):
            card = match.chance.pick([card for card in left if CARDS[card].value == value])
            left.remove(card)
            cards.setdefault(seat, []).append(card)
    match.emit("starting_cards_dealt", cards=cards)


def build_deck(match: Match) -> None:
    """What is left is shuffled in three parts, stacked green, pink, brown, and the top four cards are turned up (WAR-SET-07, WAR-SET-08,
    WAR-CMP-07)."""
    state = match.state
    dealt = {card for hand in state["hands"].values() for card in hand}
    deck: list[str] = []
    for background in DECK_ORDER:
        deck += match.chance.shuffle([card for card in cards_in_play(state) if CARDS[card].background == background and card not in dealt])
    match.emit("deck_built", deck=deck)
    match.emit("row_filled", cards=deck[:ROW_SIZE])


def cards_in_play(state: State) -> list[str]:
    """The cards of the symbols in play (WAR-CMP-07, WAR-CMP-10, WAR-CMP-11, WAR-CMP-12)."""
    return [name for name, card in CARDS.items() if card.symbol in state["symbols"]]


def _bad(reason: str, rule: str = "WAR-OPT-07") -> Refusal:
    return no("bad_options", rule, reason=reason)
