"""War!: conquest for two to four seats, with tiles, dice and a deck that is the clock."""

from __future__ import annotations

from games.kernel import Game, Seats
from games.war.board import board
from games.war.data import DRAWS, FOLDER, ID, LEAST_SEATS, MOST_SEATS, PROFILES, SEATS
from games.war.facts import FACTS
from games.war.guess import guess
from games.war.invariants import broken
from games.war.leaving import default, leave
from games.war.phases import PHASES
from games.war.scene import fight, scene
from games.war.setup import OPTIONS, begin
from games.war.sight import shown, view
from games.war.state import DOCUMENT, still_in
from games.war.worth import worth

REFUSALS = {
    "unknown_tile": "There is no tile {tile} on this map.",
    "not_brown": "The first units go on brown tiles; {tile} bears {face}.",
    "tile_taken": "A unit of {owner} stands on {tile} already.",
    "next_to_own": "{tile} touches a tile that you have chosen, and others are free.",
    "not_your_tile": "{tile} is not yours; it belongs to {owner}.",
    "card_not_in_hand": "{card} is not in your hand.",
    "reinforcement_limit": "You have played {limit} cards as reinforcements this turn; there is no more.",
    "nothing_to_place": "{card} would bring no unit: you have none in reserve, or no room on a tile of yours with {symbol}.",
    "symbol_mismatch": "{tile} bears {face}; {card} brings units to {symbol} only.",
    "over_tile_limit": "{tile} has room for {room} more new units this turn, not for {number}.",
    "wrong_total": "{number} units are named; it must be {needed}.",
    "combat_limit": "You have played {limit} combat card this turn; there is no second.",
    "not_adjacent": "{tile} does not touch {source}.",
    "too_many_units": "{number} units cannot leave {tile}, where {units} stand.",
    "no_such_attack": "No attack on {tile} is open.",
    "must_roll_first": "The attack on {tile} needs at least one roll before it may stop.",
    "wrong_card_count": "{number} different cards are named; it must be {needed}.",
    "card_not_in_row": "{card} is not in the row ({row}).",
    "must_take_lowest": "One of the cards must have the lowest value in the row, which is {value}.",
}

GAME = Game(
    id=ID,
    title="War!",
    revision=1,
    seats=Seats(SEATS, LEAST_SEATS, MOST_SEATS),
    options=OPTIONS,
    begin=begin,
    phases=PHASES,
    facts={name: fact for name, (fact, _) in FACTS.items()},
    document=DOCUMENT,
    events={name: fields for name, (_, fields) in FACTS.items()},
    refusals=REFUSALS,
    reveals=frozenset({"row_filled", "starting_cards_dealt"}),
    rolls=frozenset({"symbols_chosen", "map_built", "starting_cards_dealt", "deck_built", "match_started", "attack_rolled"}),
    view=view,
    shown=shown,
    guess=guess,
    worth=worth,
    playing=still_in,
    leave=leave,
    default=default,
    invariants=broken,
    board=board,
    scene=scene,
    fight=fight,
    folder=FOLDER,
    draws=DRAWS,
    profiles=PROFILES,
    sets=frozenset({"take_cards.cards"}),
)
