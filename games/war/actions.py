"""A deed for every action that a seat or the system may choose."""

from __future__ import annotations

from games.choices import Ranges
from games.kernel import Action, Deed, Match, Refusal, Seat, State, no
from games.schema import counts, listing
from games.war.data import BESIDE, BROWN, COMBAT_CARDS, MOVES, REINFORCEMENTS, ROW_SIZE, ROW_TAKE, SIDES, START_TILES, SYMBOL, VALUE
from games.war.flow import after_moves, end_turn, start_turn, to_phase
from games.war.outcome import end_match
from games.war.setup import set_up, setup_offers, setup_refusal
from games.war.state import (
    CARD,
    TILE,
    beside,
    bonus,
    brings,
    has_placed_all,
    holdings,
    lowest,
    may_play_any_card,
    may_play_combat_card,
    may_reinforce,
    on_board,
    rooms,
    still_in,
    to_take,
)

# ---------------------------------------------------------------- choosing starting tiles


def has_chosen(state: State, seat: Seat) -> bool:
    """Whether a seat has its four starting tiles (WAR-STA-02, WAR-STA-06)."""
    return on_board(state, seat) >= START_TILES


def open_tiles(state: State, seat: Seat) -> list[str]:
    """The tiles on which a seat may place its next starting unit: brown ones without a unit that do not touch one of its own, or any such
    brown tile if all touch; for the fifth and sixth unit its own, without a limit (WAR-STA-02, WAR-STA-03, WAR-STA-04, WAR-STA-05,
    WAR-STA-06,
    WAR-STA-07)."""
    tiles = state["tiles"]
    own = holdings(state, seat)
    if has_chosen(state, seat):
        return own
    free = [tile for tile, here in tiles.items() if not here["units"] and here["face"] == BROWN]
    touched = {other for tile in own for other in BESIDE[tile]}
    return [tile for tile in free if tile not in touched] or free


def place_unit_offers(state: State, seat: Seat) -> list[Action]:
    """One for each tile that is open to the seat."""
    return [{"type": "place_unit", "tile": tile} for tile in open_tiles(state, seat)]


def place_unit_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """The first of WAR-STA-02 to 04 that the tile breaks, or WAR-STA-06 (WAR-STA-02, WAR-STA-03, WAR-STA-04, WAR-STA-05, WAR-STA-06)."""
    tile = action["tile"]
    here = state["tiles"].get(tile)
    if here is None:
        return no("unknown_tile", "WAR-MAP-01", tile=tile)
    if tile in open_tiles(state, seat):
        return None
    if has_chosen(state, seat):
        return no("not_your_tile", "WAR-STA-06", tile=tile, holder=here["seat"] or "nobody")
    if here["face"] != BROWN:
        return no("not_brown", "WAR-STA-02", tile=tile, face=here["face"])
    if here["units"]:
        return no("tile_taken", "WAR-STA-03", tile=tile, holder=here["seat"])
    return no("next_to_own", "WAR-STA-04", tile=tile)


def place_unit(match: Match, seat: Seat, action: Action) -> None:
    """One unit goes on the board; the next seat follows, and after the last unit of all the first turn begins (WAR-STA-01, WAR-STA-08)."""
    match.emit("units_placed", seat=seat, units={action["tile"]: 1}, card=None)
    seats = match.state["seats"]
    place = seats.index(seat) + 1
    following = next((other for other in seats[place:] + seats[:place] if not has_placed_all(match.state, other)), None)
    if following is None:
        start_turn(match, seats[0])
    else:
        to_phase(match, "placement", following)


# ---------------------------------------------------------------- cards


def reinforce_offers(state: State, seat: Seat) -> list[Action]:
    """One for each card in hand, as long as the turn allows one more (WAR-REI-01)."""
    if not may_reinforce(state):
        return []
    return [{"type": "reinforce", "card": card} for card in state["hands"][seat]]


def reinforce_ranges(state: State, seat: Seat, action: Action) -> Ranges | None:
    """The units that a card brings, spread over the tiles with room; None for a card that brings none (WAR-REI-04, WAR-REI-05, WAR-REI-07,
    WAR-REI-08)."""
    room = rooms(state, seat, action["card"])
    units = min(VALUE[action["card"]], state["reserve"][seat], sum(room.values()))
    if not units:
        return None
    return {"units": {"each": {tile: [0, min(free, units)] for tile, free in room.items()}, "total": [units, units]}}


def reinforce_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """The first rule that a reinforcement breaks (WAR-REI-01, WAR-REI-03, WAR-REI-05, WAR-REI-06, WAR-REI-07, WAR-REI-08, WAR-TRN-07)."""
    card, units, tiles = action["card"], action["units"], state["tiles"]
    if card not in state["hands"][seat]:
        return no("card_not_in_hand", "WAR-REI-01", card=card)
    if not may_reinforce(state):
        return no("reinforcement_limit", "WAR-REI-01", limit=REINFORCEMENTS)
    brought = brings(state, seat, card)
    if not brought:
        return no("nothing_to_place", "WAR-REI-08", card=card, symbol=SYMBOL[card])
    for tile in units:
        if tile not in tiles:
            return no("unknown_tile", "WAR-MAP-01", tile=tile)
    for tile in units:
        if tiles[tile]["seat"] != seat:
            return no("not_your_tile", "WAR-REI-03", tile=tile, holder=tiles[tile]["seat"] or "nobody")
    for tile in units:
        if tiles[tile]["face"] != SYMBOL[card]:
            return no("symbol_mismatch", "WAR-REI-03", tile=tile, face=tiles[tile]["face"], card=card, symbol=SYMBOL[card])
    room = rooms(state, seat, card)
    for tile, number in units.items():
        if number > room.get(tile, 0):
            return no("over_tile_limit", "WAR-REI-05", tile=tile, number=number, room=room.get(tile, 0))
    if sum(units.values()) != brought:
        return no("wrong_total", "WAR-REI-07", number=sum(units.values()), needed=f"exactly {brought}")
    return None


def reinforce(match: Match, seat: Seat, action: Action) -> None:
    """A card goes to the discard pile and its units on the board (WAR-REI-01, WAR-REI-02, WAR-REI-04, WAR-REI-09)."""
    match.emit("card_played", seat=seat, card=action["card"], use="reinforcements")
    match.emit("units_placed", seat=seat, units=action["units"], card=action["card"])
    _after_card(match, seat)


def combat_card_offers(state: State, seat: Seat) -> list[Action]:
    """One for each card in hand, whatever tiles the seat holds (WAR-COM-02)."""
    if not may_play_combat_card(state):
        return []
    return [{"type": "play_combat_card", "card": card} for card in state["hands"][seat]]


def combat_card_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """A card not in hand, or a second combat card (WAR-COM-01, WAR-COM-02)."""
    if action["card"] not in state["hands"][seat]:
        return no("card_not_in_hand", "WAR-COM-02", card=action["card"])
    if not may_play_combat_card(state):
        return no("combat_limit", "WAR-COM-01", limit=COMBAT_CARDS)
    return None


def play_combat_card(match: Match, seat: Seat, action: Action) -> None:
    """A card lies open as the seat's combat card, besides its reinforcements (WAR-COM-01, WAR-COM-09)."""
    match.emit("card_played", seat=seat, card=action["card"], use="combat")
    _after_card(match, seat)


def _after_card(match: Match, seat: Seat) -> None:
    """The moves begin by themselves when no play of a card is left (WAR-TRN-04)."""
    if not may_play_any_card(match.state, seat):
        to_phase(match, "moves", seat)


def end_cards(match: Match, seat: Seat, action: Action) -> None:
    """A seat need not play its cards (WAR-TRN-04, WAR-TRN-08)."""
    to_phase(match, "moves", seat)


# ---------------------------------------------------------------- moves


def move_offers(state: State, seat: Seat) -> list[Action]:
    """One from each tile that the seat controls, also one whose units have moved (WAR-MOV-02, WAR-MOV-07)."""
    return [{"type": "move", "from": tile} for tile in holdings(state, seat)]


def move_ranges(state: State, seat: Seat, action: Action) -> Ranges | None:
    """At least one unit and at most all, to any of the tiles beside (WAR-MOV-02, WAR-MOV-04)."""
    units = state["tiles"][action["from"]]["units"]
    targets = beside(state["tiles"], action["from"])
    if not targets:
        return None
    return {"to": {"each": {tile: [0, units] for tile in targets}, "total": [1, units]}}


def move_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """The first rule that a move breaks (WAR-MOV-02, WAR-MOV-04, WAR-MAP-01, WAR-MAP-02)."""
    source, to, tiles = action["from"], action["to"], state["tiles"]
    for tile in (source, *to):
        if tile not in tiles:
            return no("unknown_tile", "WAR-MAP-01", tile=tile)
    if tiles[source]["seat"] != seat:
        return no("not_your_tile", "WAR-MOV-02", tile=source, holder=tiles[source]["seat"] or "nobody")
    for tile in to:
        if tile not in BESIDE[source]:
            return no("not_adjacent", "WAR-MAP-02", tile=tile, source=source)
    if not to:
        return no("wrong_total", "WAR-MOV-02", number=0, needed="at least 1")
    if sum(to.values()) > tiles[source]["units"]:
        return no("too_many_units", "WAR-MOV-02", tile=source, number=sum(to.values()), units=tiles[source]["units"])
    return None


def move(match: Match, seat: Seat, action: Action) -> None:
    """All units of a move set out at once, however many there are; where nobody of another seat stands they arrive, elsewhere they attack
    (WAR-MOV-01, WAR-MOV-03, WAR-MOV-05, WAR-MOV-06, WAR-MOV-08, WAR-MOV-09, WAR-ATT-01, WAR-ATT-13, WAR-TRN-09)."""
    tiles = match.state["tiles"]
    peaceful = {tile: number for tile, number in action["to"].items() if tiles[tile]["seat"] in (None, seat)}
    attacks = {tile: number for tile, number in sorted(action["to"].items()) if tile not in peaceful}
    match.emit("move_made", seat=seat, **{"from": action["from"]}, to=peaceful, attacks=attacks)
    if attacks:
        to_phase(match, "attack", seat)
    elif match.state["turn"]["moves"] >= MOVES:
        after_moves(match, seat)


def end_moves(match: Match, seat: Seat, action: Action) -> None:
    """A seat need not move (WAR-MOV-08, WAR-TRN-08)."""
    after_moves(match, seat)


# ---------------------------------------------------------------- attacks


def attack_offers(state: State, seat: Seat) -> list[Action]:
    """One for each open attack, in any order (WAR-ATT-13)."""
    return [{"type": "attack", "tile": tile} for tile in state["attacks"]]


def attack_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """There is no such attack (WAR-ATT-13, WAR-MAP-01)."""
    if action["tile"] not in state["tiles"]:
        return no("unknown_tile", "WAR-MAP-01", tile=action["tile"])
    if action["tile"] not in state["attacks"]:
        return no("no_such_attack", "WAR-ATT-13", tile=action["tile"])
    return None


def attack(match: Match, seat: Seat, action: Action) -> None:
    """Dice are rolled until one side loses a unit, which may end the attack and put a seat out; the defender decides nothing (WAR-ATT-05,
    WAR-ATT-07, WAR-ATT-11, WAR-ATT-12, WAR-ATT-15, WAR-ELI-06)."""
    tile = action["tile"]
    source = match.state["attacks"][tile]["from"]
    defender = match.state["tiles"][tile]["seat"]
    loser = None
    while loser is None:  # draws have a chance of at most 1 in 6 (WAR-END-06)
        loser = roll(match, seat, defender, tile)
    left = match.state["attacks"][tile]["units"]
    ended = not left or not match.state["tiles"][tile]["units"]
    if ended:
        match.emit("attack_ended", tile=tile, **{"from": source}, seat=seat, result="conquered" if left else "repelled", moved=left)
    if ended and not holdings(match.state, loser):
        eliminate(match, loser, by=defender if loser == seat else seat)
        if match.state["outcome"] is not None:
            return
        if loser == seat:
            end_turn(match, seat)
            return
    if ended and not match.state["attacks"]:
        _after_attacks(match, seat)


def roll(match: Match, attacker: Seat, defender: Seat, tile: str) -> Seat | None:
    """Each side throws a die and adds its units in the fight and its combat bonus; the lower total loses a unit, which goes to its reserve
    (WAR-CMP-09, WAR-ATT-01, WAR-ATT-02, WAR-ATT-03, WAR-ATT-04, WAR-ATT-05, WAR-ATT-06, WAR-ATT-07, WAR-COM-06)."""
    state = match.state
    fight = state["attacks"][tile]
    attack = _side(match.chance.roll(SIDES), fight["units"], bonus(state, attacker, tile))
    defence = _side(match.chance.roll(SIDES), state["tiles"][tile]["units"], bonus(state, defender, tile))
    loser = None
    if attack["total"] != defence["total"]:
        loser = attacker if attack["total"] < defence["total"] else defender
    match.emit(
        "attack_rolled",
        tile=tile,
        **{"from": fight["from"]},
        attacker=attacker,
        defender=defender,
        attack=attack,
        defence=defence,
        loser=loser,
    )
    return loser


def _side(die: int, units: int, combat: int) -> dict[str, int]:
    return {"die": die, "units": units, "bonus": combat, "total": die + units + combat}


def eliminate(match: Match, seat: Seat, by: Seat) -> None:
    """A seat without units is out at once, its cards leave the match; when one seat is left the match ends (WAR-ELI-01, WAR-ELI-02,
    WAR-ELI-03,
    WAR-ELI-05)."""
    match.emit("seat_eliminated", seat=seat, by=by)
    if len(still_in(match.state)) == 1:
        end_match(match, "last_seat")


def stop_attack_offers(state: State, seat: Seat) -> list[Action]:
    """One for each open attack in which dice were rolled (WAR-ATT-08)."""
    return [{"type": "stop_attack", "tile": tile} for tile, fight in state["attacks"].items() if fight["rolls"]]


def stop_attack_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """There is no such attack, or no die of it was rolled (WAR-ATT-08, WAR-ATT-09)."""
    refusal = attack_refusal(state, seat, action)
    if refusal is None and not state["attacks"][action["tile"]]["rolls"]:
        return no("must_roll_first", "WAR-ATT-08", tile=action["tile"])
    return refusal


def stop_attack(match: Match, seat: Seat, action: Action) -> None:
    """The attackers left stay on the tile they came from (WAR-ATT-09, WAR-ATT-10, WAR-ATT-14)."""
    source = match.state["attacks"][action["tile"]]["from"]
    match.emit("attack_ended", tile=action["tile"], **{"from": source}, seat=seat, result="stopped", moved=0)
    if not match.state["attacks"]:
        _after_attacks(match, seat)


def _after_attacks(match: Match, seat: Seat) -> None:
    """The move is over with its last attack (WAR-ATT-14, WAR-MOV-08)."""
    if match.state["turn"]["moves"] < MOVES:
        to_phase(match, "moves", seat)
    else:
        after_moves(match, seat)


# ---------------------------------------------------------------- taking cards


def take_cards_offers(state: State, seat: Seat) -> list[Action]:
    """Every allowed pair in the order of the row, or the one card left (WAR-DRW-01, WAR-DRW-02, WAR-DRW-03)."""
    row = state["row"]
    if to_take(row, ROW_TAKE) == 1:
        return [{"type": "take_cards", "cards": [row[0]]}]
    least = lowest(row)
    return [
        {"type": "take_cards", "cards": [first, second]}
        for place, first in enumerate(row)
        for second in row[place + 1 :]
        if VALUE[first] == least or VALUE[second] == least
    ]


def take_cards_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Not so many different cards, one that does not lie there, or none of the lowest (WAR-DRW-01, WAR-DRW-02, WAR-DRW-03, WAR-TRN-08)."""
    cards, row = action["cards"], state["row"]
    needed = to_take(row, ROW_TAKE)
    if len(cards) != needed or len(set(cards)) != needed:
        return no("wrong_card_count", "WAR-DRW-03" if needed == 1 else "WAR-DRW-01", number=len(set(cards)), needed=needed)
    for card in cards:
        if card not in row:
            return no("card_not_in_row", "WAR-DRW-01", card=card, row=", ".join(row))
    if all(VALUE[card] != lowest(row) for card in cards):
        return no("must_take_lowest", "WAR-DRW-02", value=lowest(row))
    return None


def take_cards(match: Match, seat: Seat, action: Action) -> None:
    """The cards join the hand, however many it holds, the row is filled from the deck, and the turn is over (WAR-DRW-01, WAR-DRW-04,
    WAR-DRW-07,
    WAR-DRW-08)."""
    match.emit("cards_taken", seat=seat, cards=[card for card in match.state["row"] if card in action["cards"]])
    state = match.state
    filling = state["deck"][: max(ROW_SIZE - len(state["row"]), 0)]
    if filling:
        match.emit("row_filled", cards=filling)
    end_turn(match, seat, took_last_card=not match.state["row"] and not match.state["deck"])


# ---------------------------------------------------------------- the system, and what always goes


def end_round(match: Match, seat: Seat, action: Action) -> None:
    """The next round begins with the first seat still in (WAR-TRN-06)."""
    match.emit("round_started", round=match.state["round"] + 1)
    start_turn(match, still_in(match.state)[0])


def _allowed(state: State, seat: Seat, action: Action) -> Refusal | None:
    return None


def _end(kind: str) -> Deed:
    act = {"end_cards": end_cards, "end_moves": end_moves, "advance": end_round}[kind]
    return Deed({}, lambda state, seat: [{"type": kind}], _allowed, act)


PLACE_UNIT = Deed({"tile": TILE}, place_unit_offers, place_unit_refusal, place_unit)
REINFORCE = Deed({"card": CARD, "units": counts(TILE)}, reinforce_offers, reinforce_refusal, reinforce, reinforce_ranges)
PLAY_COMBAT_CARD = Deed({"card": CARD}, combat_card_offers, combat_card_refusal, play_combat_card)
END_CARDS = _end("end_cards")
MOVE = Deed({"from": TILE, "to": counts(TILE)}, move_offers, move_refusal, move, move_ranges)
END_MOVES = _end("end_moves")
ATTACK = Deed({"tile": TILE}, attack_offers, attack_refusal, attack)
STOP_ATTACK = Deed({"tile": TILE}, stop_attack_offers, stop_attack_refusal, stop_attack)
TAKE_CARDS = Deed({"cards": listing(CARD, 1, ROW_TAKE)}, take_cards_offers, take_cards_refusal, take_cards)
SET_UP = Deed({}, setup_offers, setup_refusal, set_up)
END_ROUND = _end("advance")
