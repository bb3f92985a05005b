"""Options checked, the first document, and the set-up that the system carries out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.documents import Own, clone
from games.kernel import Action, Deed, Event, Fact, Refusal, Refused, Seat, no, only
from games.lifecycle import shared_start
from games.schema import Fields, Malformed, defaulting, listing, mapping, nullable, record, whole
from games.sentences import say
from games.war import data
from games.war.document import Match, State
from games.war.draw import fill_row
from games.war.flow import blank_turn, to_phase
from games.war.mapmaker import flaw, generated, given, symbols_on
from games.war.state import CARD, DECK, FACE, NAMED_SYMBOL, OPTION_SHAPES, PLACEMENT, REGION, SEAT, TILE, option, still_in

OPTIONS = record(
    {name: defaulting(shape, data.DEFAULTS[name]) for name, shape in OPTION_SHAPES.items()}, about="the options of a match of War!"
)

# ---------------------------------------------------------------- creating a match


def begin(seats: Sequence[Seat], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first document of a match, with every unit in reserve. Raise Refused `bad_options` (WAR-CMP-03, WAR-OPT-07)."""
    refusal = match_refusal(seats, options)
    if refusal is not None:
        raise Refused(refusal)
    return {
        **shared_start(data.ID, seats),
        "options": OPTIONS.clean(clone(dict(options))),
        "score_sheet": None,
        "symbols": [],
        "map_number": None,
        "tiles": {},
        "reserve": dict.fromkeys(seats, data.UNITS),
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
    """Return why a match with these seats and options may not start, or None (WAR-CMP-01, WAR-CMP-02, WAR-OPT-07)."""
    if not data.LEAST_SEATS <= len(seats) <= data.MOST_SEATS:
        return _bad(say("War! is played by {least} to {most} seats", least=data.LEAST_SEATS, most=data.MOST_SEATS), "WAR-CMP-01")
    if len(set(seats)) != len(seats) or any(seat not in data.SEATS for seat in seats):
        return _bad(say("the seats are different ones of {seats}", seats=data.SEATS), "WAR-CMP-02")
    try:
        return options_refusal(seats, data.DEFAULTS | OPTIONS.clean(dict(options)))
    except Malformed as reason:
        return _bad(str(reason))


def options_refusal(seats: Sequence[Seat], options: Mapping[str, Any]) -> Refusal | None:
    """Return why options of the right types are refused, or None (WAR-OPT-01, WAR-OPT-02, WAR-OPT-03, WAR-OPT-04, WAR-OPT-05,
    WAR-OPT-07, WAR-MAP-14, WAR-MAP-15)."""
    first, removed, faces, number = options["first_seat"], options["removed_symbols"], options["map"], options["map_number"]
    if first != data.RANDOM and first not in seats:
        return _bad(say("first_seat: {seat} does not play", seat=first), "WAR-OPT-01")
    if removed != data.RANDOM:
        unknown = [symbol for symbol in removed if symbol not in data.SYMBOLS]
        if unknown:
            return _bad(say("removed_symbols: {symbol} is no symbol", symbol=unknown[0]), "WAR-OPT-02")
        if len(set(removed)) != len(removed) or len(removed) != data.BOX[len(seats)].removed_symbols:
            removes = data.BOX[len(seats)].removed_symbols
            reason = say("removed_symbols: {seats} seats remove {symbols} different symbols", seats=len(seats), symbols=removes)
            return _bad(reason, "WAR-OPT-02")
    if number is not None and number >= data.GENERATOR.modulus:
        return _bad(say("map_number: the highest is {number}", number=data.GENERATOR.modulus - 1), "WAR-OPT-04")
    if faces == data.GENERATED:
        return None
    wrong = flaw(faces, len(seats))
    if wrong:
        return _bad(say("map: {flaw}", flaw=wrong[1]), wrong[0])
    if removed != data.RANDOM and set(removed) != set(data.SYMBOLS) - set(symbols_on(faces)):
        return _bad(say("removed_symbols: with a given map these are the symbols that are not on it"), "WAR-MAP-14")
    if number is not None:
        return _bad(say("map_number: a given map has none"), "WAR-MAP-15")
    return None


def _bad(reason: str, rule: str = "WAR-OPT-07") -> Refusal:
    return no("bad_options", rule, reason=reason)


# ---------------------------------------------------------------- the set-up


def setup_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why the match cannot be set up, or None: bad options do not start a match (WAR-OPT-07)."""
    return match_refusal(state["seats"], state["options"])


def set_up(match: Match, seat: Seat, action: Action) -> None:
    """Draw and lay out, in this order: first seat, symbols, map, starting cards, deck, face-up row. Then the first seat begins placing
    (WAR-SET-01, WAR-LEA-07)."""
    seats = turn_order(match, option(match.state, "first_seat"))
    choose_symbols(match)
    build_map(match)
    if option(match.state, "starting_cards"):
        deal_starting_cards(match, seats)
    build_deck(match)
    fill_row(match)
    match.emit("match_started", seats=seats)
    to_phase(match, PLACEMENT, still_in(match.state)[0])


def turn_order(match: Match, first: str) -> list[Seat]:
    """Return the seats from the first one, which is drawn unless named, in their order round the table (WAR-SET-02, WAR-OPT-01)."""
    seats = match.state["seats"]
    place = seats.index(match.chance.pick(seats) if first == data.RANDOM else first)
    return seats[place:] + seats[:place]


def choose_symbols(match: Match) -> None:
    """Remove symbols as a given map says, as the options say, or at random; none with 4 seats (WAR-SET-03, WAR-CMP-10, WAR-CMP-11,
    WAR-CMP-12, WAR-CMP-13, WAR-OPT-02, WAR-MAP-14)."""
    faces, named = option(match.state, "map"), option(match.state, "removed_symbols")
    number = data.BOX[len(match.state["seats"])].removed_symbols
    removed: Sequence[str] = ()
    if isinstance(faces, dict):
        removed = [symbol for symbol in data.SYMBOLS if symbol not in symbols_on(faces)]
    elif isinstance(named, list):
        removed = named
    elif number:
        removed = match.chance.sample(data.SYMBOLS, number)
    match.emit("symbols_chosen", symbols=[symbol for symbol in data.SYMBOLS if symbol not in removed])


def build_map(match: Match) -> None:
    """Lay out the map without units: the given one, or that of the map number, which is drawn if it was left open (WAR-SET-04, WAR-OPT-03,
    WAR-OPT-04, WAR-MAP-15)."""
    faces, number = option(match.state, "map"), option(match.state, "map_number")
    if isinstance(faces, dict):
        match.emit("map_built", number=None, tiles=given(faces))
        return
    if number is None:
        number = match.chance.number(data.GENERATOR.modulus)
    match.emit("map_built", number=number, tiles=generated(len(match.state["seats"]), match.state["symbols"], number))


def deal_starting_cards(match: Match, seats: Sequence[Seat]) -> None:
    """Give the second seat a card of value 1, the third one of value 2, the fourth one of each, drawn one after the other from the green
    cards; none to a seat that has left (WAR-SET-05, WAR-SET-06, WAR-OPT-05, WAR-LEA-07)."""
    cards: dict[Seat, list[str]] = {}
    left = [card for card in cards_in_play(match.state) if data.CARDS[card].background == data.STARTING_BACKGROUND]
    for place, seat in enumerate(seats, 1):
        if seat in match.state["eliminated"]:
            continue
        for value in data.STARTING_CARDS.get(place, ()):
            card = match.chance.pick([card for card in left if data.CARDS[card].value == value])
            left.remove(card)
            cards.setdefault(seat, []).append(card)
    match.emit("starting_cards_dealt", cards=cards)


def build_deck(match: Match) -> None:
    """Shuffle the remaining cards in three parts and stack them: green, pink, brown (WAR-SET-07, WAR-CMP-07)."""
    state = match.state
    dealt = {card for hand in state["hands"].values() for card in hand}
    deck: list[str] = []
    for background in data.DECK_ORDER:
        deck += match.chance.shuffle(
            [card for card in cards_in_play(state) if data.CARDS[card].background == background and card not in dealt]
        )
    match.emit("deck_built", deck=deck)


def cards_in_play(state: State) -> list[str]:
    """Return the cards of the symbols in play (WAR-CMP-07, WAR-CMP-10, WAR-CMP-11, WAR-CMP-12)."""
    return [name for name, card in data.CARDS.items() if card.symbol in state["symbols"]]


# ---------------------------------------------------------------- facts


def symbols_chosen(state: Any, event: Event, own: Own) -> None:
    """These symbols are in play."""
    state["symbols"] = list(event["symbols"])


def map_built(state: Any, event: Event, own: Own) -> None:
    """The map is laid out, without units."""
    state["map_number"] = event["number"]
    state["tiles"] = {tile: {**ground, "seat": None, "units": 0} for tile, ground in event["tiles"].items()}


def starting_cards_dealt(state: Any, event: Event, own: Own) -> None:
    """Cards join hands before the first turn."""
    hands = own(state, "hands")
    for seat, cards in event["cards"].items():
        own(hands, seat).extend(cards)


def deck_built(state: Any, event: Event, own: Own) -> None:
    """The deck is stacked face down."""
    state["deck"] = list(event["deck"])


SET_UP = Deed({}, only("advance"), setup_refusal, set_up)

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "symbols_chosen": (symbols_chosen, {"symbols": listing(NAMED_SYMBOL, about="the symbols in play")}),
    "map_built": (
        map_built,
        {
            "number": nullable(whole(0, about="the number that the map was generated from; null for a given map")),
            "tiles": mapping(TILE, record({"face": FACE, "region": REGION}), about="the map, by tile"),
        },
    ),
    "starting_cards_dealt": (starting_cards_dealt, {"cards": mapping(SEAT, listing(CARD), about="the cards of each seat")}),
    "deck_built": (deck_built, {"deck": DECK}),
}
