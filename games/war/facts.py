"""How each event changes the document (CONTRACT section 4), and what each holds."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Document, Own
from games.kernel import Event, Fact, State
from games.schema import Fields, ids, listing, mapping, nullable, record, whole
from games.war.data import SIDES
from games.war.state import (
    ACTORS,
    CARD,
    DECK,
    NAMED_SYMBOL,
    PHASE,
    PLACED_COUNTS,
    REASON,
    SCORE_SHEET,
    SCORES,
    SEAT,
    TILE,
    TILES,
)


def blank_turn() -> Document:
    """What a turn begins with."""
    return {"reinforcements": 0, "combat_card": False, "placed": {}, "moves": 0}


def _put(tiles: Document, tile: str, seat: str, units: int, own: Own) -> None:
    here = own(tiles, tile)
    here["units"] += units
    here["seat"] = seat


def _take(tiles: Document, tile: str, units: int, own: Own) -> None:
    here = own(tiles, tile)
    here["units"] -= units
    if not here["units"]:
        here["seat"] = None


def seats_ordered(state: State, event: Event, own: Own) -> None:
    """The first seat stands first from now on."""
    state["seats"] = list(event["seats"])


def symbols_chosen(state: State, event: Event, own: Own) -> None:
    """These symbols are in play."""
    state["symbols"] = list(event["symbols"])


def map_built(state: State, event: Event, own: Own) -> None:
    """The map lies on the table."""
    state["map_number"] = event["number"]
    state["tiles"] = {tile: dict(here) for tile, here in event["tiles"].items()}


def starting_cards_dealt(state: State, event: Event, own: Own) -> None:
    """Cards join hands before the first turn."""
    hands = own(state, "hands")
    for seat, cards in event["cards"].items():
        own(hands, seat).extend(cards)


def deck_built(state: State, event: Event, own: Own) -> None:
    """The deck lies face down."""
    state["deck"] = list(event["deck"])


def row_filled(state: State, event: Event, own: Own) -> None:
    """Cards from the top of the deck join the row."""
    own(state, "row").extend(event["cards"])
    state["deck"] = state["deck"][len(event["cards"]) :]


def phase_changed(state: State, event: Event, own: Own) -> None:
    """Another kind of decision is awaited."""
    state["phase"] = event["phase"]
    state["active"] = event["active"]
    state["to_act"] = list(event["to_act"])


def units_placed(state: State, event: Event, own: Own) -> None:
    """Units come from the reserve; those that a card brought are noted for the turn."""
    seat, units = event["seat"], event["units"]
    tiles = own(state, "tiles")
    for tile, number in units.items():
        _put(tiles, tile, seat, number, own)
    own(state, "reserve")[seat] -= sum(units.values())
    if event["card"] is not None:
        placed = own(own(state, "turn"), "placed")
        for tile, number in units.items():
            placed[tile] = placed.get(tile, 0) + number


def card_played(state: State, event: Event, own: Own) -> None:
    """A card leaves the hand, for the discard pile or to lie open as combat card."""
    own(own(state, "hands"), event["seat"]).remove(event["card"])
    turn = own(state, "turn")
    if event["use"] == "combat":
        own(state, "combat")[event["seat"]] = event["card"]
        turn["combat_card"] = True
    else:
        own(state, "discard").append(event["card"])
        turn["reinforcements"] += 1


def combat_card_expired(state: State, event: Event, own: Own) -> None:
    """A combat card goes to the discard pile."""
    del own(state, "combat")[event["seat"]]
    own(state, "discard").append(event["card"])


def turn_started(state: State, event: Event, own: Own) -> None:
    """A seat's turn begins."""
    state["active"] = event["seat"]
    state["to_act"] = [event["seat"]]
    state["phase"] = event["phase"]
    state["turn"] = blank_turn()


def turn_ended(state: State, event: Event, own: Own) -> None:
    """A seat's turn is over, and its final turn too if these have begun."""
    if state["final_turns"] is not None and event["seat"] in state["final_turns"]:
        own(state, "final_turns").remove(event["seat"])
    state["turn"] = blank_turn()


def round_started(state: State, event: Event, own: Own) -> None:
    """A new round is counted."""
    state["round"] = event["round"]


def move_made(state: State, event: Event, own: Own) -> None:
    """Units arrive where nobody resists; the others of the move open attacks and stay where they are."""
    seat, source = event["seat"], event["from"]
    own(state, "turn")["moves"] += 1
    if event["to"]:
        tiles = own(state, "tiles")
        for tile, number in event["to"].items():
            _take(tiles, source, number, own)
            _put(tiles, tile, seat, number, own)
    if event["attacks"]:
        attacks = own(state, "attacks")
        for tile, number in event["attacks"].items():
            attacks[tile] = {"from": source, "units": number, "rolls": 0}


def attack_rolled(state: State, event: Event, own: Own) -> None:
    """The dice have fallen; whoever has less loses a unit to its reserve."""
    tile, loser = event["tile"], event["loser"]
    attack = own(own(state, "attacks"), tile)
    attack["rolls"] += 1
    if loser is None:
        return
    if loser == event["attacker"]:
        _take(own(state, "tiles"), event["from"], 1, own)
        attack["units"] -= 1
    else:
        _take(own(state, "tiles"), tile, 1, own)
    own(state, "reserve")[loser] += 1


def attack_ended(state: State, event: Event, own: Own) -> None:
    """An attack is closed; the victors enter."""
    tile, moved = event["tile"], event["moved"]
    del own(state, "attacks")[tile]
    if moved:
        tiles = own(state, "tiles")
        _take(tiles, event["from"], moved, own)
        _put(tiles, tile, event["seat"], moved, own)


def seat_eliminated(state: State, event: Event, own: Own) -> None:
    """A seat is out; its cards leave the match."""
    seat = event["seat"]
    own(state, "eliminated").append(seat)
    hands = own(state, "hands")
    discard = own(state, "discard")
    discard.extend(hands[seat])
    hands[seat] = []
    if seat in state["combat"]:
        discard.append(own(state, "combat").pop(seat))
    if state["final_turns"] is not None and seat in state["final_turns"]:
        own(state, "final_turns").remove(seat)


def cards_taken(state: State, event: Event, own: Own) -> None:
    """Cards go from the row into a hand."""
    row = own(state, "row")
    for card in event["cards"]:
        row.remove(card)
    own(own(state, "hands"), event["seat"]).extend(event["cards"])


def final_turns_started(state: State, event: Event, own: Own) -> None:
    """Each of these seats has one more turn."""
    state["final_turns"] = list(event["seats"])


def match_ended(state: State, event: Event, own: Own) -> None:
    """The match is over."""
    state["outcome"] = {"winners": list(event["winners"]), "reason": event["reason"], "scores": dict(event["scores"])}
    state["score_sheet"] = {seat: dict(points) for seat, points in event["score_sheet"].items()}
    state["phase"] = "over"
    state["active"] = None
    state["to_act"] = []


_ROLL = record({"die": whole(1, SIDES), "units": whole(1), "bonus": whole(0), "total": whole(2)})

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "seats_ordered": (seats_ordered, {"seats": listing(SEAT)}),
    "symbols_chosen": (symbols_chosen, {"symbols": listing(NAMED_SYMBOL)}),
    "map_built": (map_built, {"number": nullable(whole(0)), "tiles": TILES}),
    "starting_cards_dealt": (starting_cards_dealt, {"cards": mapping(SEAT, listing(CARD))}),
    "deck_built": (deck_built, {"deck": DECK}),
    "row_filled": (row_filled, {"cards": listing(CARD)}),
    "phase_changed": (phase_changed, {"phase": PHASE, "active": nullable(SEAT), "to_act": ACTORS}),
    "units_placed": (units_placed, {"seat": SEAT, "units": PLACED_COUNTS, "card": nullable(CARD)}),
    "card_played": (card_played, {"seat": SEAT, "card": CARD, "use": ids(["reinforcements", "combat"])}),
    "combat_card_expired": (combat_card_expired, {"seat": SEAT, "card": CARD}),
    "turn_started": (turn_started, {"seat": SEAT, "phase": PHASE}),
    "turn_ended": (turn_ended, {"seat": SEAT}),
    "round_started": (round_started, {"round": whole(1)}),
    "move_made": (move_made, {"seat": SEAT, "from": TILE, "to": PLACED_COUNTS, "attacks": PLACED_COUNTS}),
    "attack_rolled": (
        attack_rolled,
        {"tile": TILE, "from": TILE, "attacker": SEAT, "defender": SEAT, "attack": _ROLL, "defence": _ROLL, "loser": nullable(SEAT)},
    ),
    "attack_ended": (
        attack_ended,
        {"tile": TILE, "from": TILE, "seat": SEAT, "result": ids(["conquered", "repelled", "stopped"]), "moved": whole(0)},
    ),
    "seat_eliminated": (seat_eliminated, {"seat": SEAT, "by": SEAT}),
    "cards_taken": (cards_taken, {"seat": SEAT, "cards": listing(CARD)}),
    "final_turns_started": (final_turns_started, {"seats": listing(SEAT)}),
    "match_ended": (match_ended, {"winners": listing(SEAT), "reason": REASON, "scores": SCORES, "score_sheet": SCORE_SHEET}),
}
