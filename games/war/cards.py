"""The cards phase: cards as reinforcements, and the combat card."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from games.choices import Choice, Outside, Ranges
from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Refusal, Seat, never_refused, no, only
from games.schema import Fields, counts, ids
from games.sentences import say
from games.war.data import COMBAT_CARDS, REINFORCEMENTS, SYMBOL, VALUE
from games.war.document import Match, State
from games.war.flow import to_phase
from games.war.state import CARD, MOVING, PLACED_COUNTS, SEAT, TILE, option, put

AS_REINFORCEMENTS, AS_COMBAT_CARD = "reinforcements", "combat"

# ---------------------------------------------------------------- questions


def _spent(state: State) -> int:
    """Return how much room a unit that was placed in this turn takes: its own and that of the unit which made room for it. By the other
    reading of the rule it counts as one that stood there already, and takes none (WAR-REI-06, WAR-OPT-09)."""
    return 0 if option(state, "room_by_card") else 2


def rooms(state: State, seat: Seat, card: str) -> dict[str, int]:
    """Return how many units of a card each tile can still take. Only tiles of the seat that bear the card's symbol take units, never brown
    ones. In a turn each takes as many new units as it had when the turn began (WAR-REI-03, WAR-REI-05, WAR-REI-06)."""
    symbol = SYMBOL[card]
    placed, spent = state["turn"]["placed"], _spent(state)
    room = [
        (tile, free)
        for tile, here in state["tiles"].items()
        if here["seat"] == seat and here["face"] == symbol and (free := here["units"] - spent * placed.get(tile, 0)) > 0
    ]
    return dict(sorted(room))


def has_room(state: State, seat: Seat, cards: Iterable[str]) -> bool:
    """Return True if some tile can still take a unit of one of these cards (WAR-REI-08)."""
    symbols = {SYMBOL[card] for card in cards}
    placed, spent = state["turn"]["placed"], _spent(state)
    for tile, here in state["tiles"].items():
        if here["seat"] == seat and here["face"] in symbols and here["units"] > spent * placed.get(tile, 0):
            return True
    return False


def brings(state: State, seat: Seat, card: str, room: Mapping[str, int]) -> int:
    """Return how many units a card must bring: its value, or what reserve and room allow if that is less (WAR-REI-02, WAR-REI-07)."""
    return min(VALUE[card], state["reserve"][seat], sum(room.values()))


def may_reinforce(state: State) -> bool:
    """Return True if the active seat may still play a card as reinforcements this turn (WAR-REI-01)."""
    return state["turn"]["reinforcements"] < REINFORCEMENTS


def may_play_combat_card(state: State) -> bool:
    """Return True if the active seat may still play a combat card this turn (WAR-COM-01)."""
    return state["turn"]["combat_card"] < COMBAT_CARDS


def may_play_any_card(state: State, seat: Seat) -> bool:
    """Return True if a seat has some play of a card left in this turn (WAR-TRN-04)."""
    hand = state["hands"][seat]
    if not hand:
        return False
    if may_play_combat_card(state):
        return True
    return may_reinforce(state) and state["reserve"][seat] > 0 and has_room(state, seat, hand)


# ---------------------------------------------------------------- deeds


def reinforce_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for each card in hand, if the turn allows one more (WAR-REI-01)."""
    return [{"type": "reinforce", "card": card} for card in state["hands"][seat]] if may_reinforce(state) else []


def reinforce_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why a card cannot be played as reinforcements, or None (WAR-REI-01, WAR-REI-08)."""
    card = action["card"]
    if card not in state["hands"][seat]:
        return no("card_not_in_hand", "WAR-REI-01", card=card)
    if not may_reinforce(state):
        return no("reinforcement_limit", "WAR-REI-01", limit=REINFORCEMENTS)
    if not state["reserve"][seat] or not has_room(state, seat, [card]):
        return no("nothing_to_place", "WAR-REI-08", card=card, symbol=SYMBOL[card])
    return None


def reinforce_ranges(state: State, seat: Seat, action: Action) -> Ranges:
    """Return the room of each tile, and the number of units that the card brings (WAR-REI-04, WAR-REI-05, WAR-REI-07)."""
    room = rooms(state, seat, action["card"])
    units = brings(state, seat, action["card"], room)
    return {"units": {"each": {tile: [0, free] for tile, free in room.items()}, "total": [units, units]}}


def reinforce_choices(state: State, seat: Seat) -> list[Choice]:
    """Return the choices of the deed at once. Cards with one symbol have the same room."""
    if not may_reinforce(state) or not state["reserve"][seat]:
        return []
    found: dict[str, dict[str, int]] = {}
    choices: list[Choice] = []
    for card in state["hands"][seat]:
        symbol = SYMBOL[card]
        room = found.get(symbol)
        if room is None:
            room = found[symbol] = rooms(state, seat, card)
        if room:
            units = brings(state, seat, card, room)
            ranges = {"units": {"each": {tile: [0, free] for tile, free in room.items()}, "total": [units, units]}}
            choices.append({"action": {"type": "reinforce", "card": card}, "choose": ranges})
    return choices


def reinforce_outside(state: State, seat: Seat, action: Action, found: Outside) -> Refusal:
    """Return the refusal for a tile that cannot take so many units, or for a wrong sum (WAR-REI-03, WAR-REI-05, WAR-REI-06, WAR-REI-07,
    WAR-TRN-07)."""
    tile, card = found.key, action["card"]
    if tile is None:
        return no("wrong_total", "WAR-REI-07", number=found.given, needed=say("exactly {number}", number=found.low))
    here = state["tiles"].get(tile)
    if here is None:
        return no("unknown_tile", "WAR-MAP-01", tile=tile)
    if here["seat"] != seat:
        return no("not_your_tile", "WAR-REI-03", tile=tile, owner=here["seat"] or say("nobody"))
    if here["face"] != SYMBOL[card]:
        return no("symbol_mismatch", "WAR-REI-03", tile=tile, face=here["face"], card=card, symbol=SYMBOL[card])
    return no("over_tile_limit", "WAR-REI-05", tile=tile, number=found.given, room=found.high)


def reinforce(match: Match, seat: Seat, action: Action) -> None:
    """Discard a card and place its units (WAR-REI-01, WAR-REI-02, WAR-REI-04, WAR-REI-09)."""
    match.emit("card_played", seat=seat, card=action["card"], use=AS_REINFORCEMENTS)
    match.emit("units_placed", seat=seat, units=action["units"])
    _after_card(match, seat)


def combat_card_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for each card in hand. The tiles that the seat controls do not matter (WAR-COM-02)."""
    return [{"type": "play_combat_card", "card": card} for card in state["hands"][seat]] if may_play_combat_card(state) else []


def combat_card_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why a combat card cannot be laid, or None: it is not in hand, or a second one (WAR-COM-01, WAR-COM-02)."""
    if action["card"] not in state["hands"][seat]:
        return no("card_not_in_hand", "WAR-COM-02", card=action["card"])
    if not may_play_combat_card(state):
        return no("combat_limit", "WAR-COM-01", limit=COMBAT_CARDS)
    return None


def play_combat_card(match: Match, seat: Seat, action: Action) -> None:
    """Lay a card open as the seat's combat card, besides its reinforcements (WAR-COM-01, WAR-COM-09)."""
    match.emit("card_played", seat=seat, card=action["card"], use=AS_COMBAT_CARD)
    _after_card(match, seat)


def _after_card(match: Match, seat: Seat) -> None:
    """Go on to the moves if no play of a card is left (WAR-TRN-04)."""
    if not may_play_any_card(match.state, seat):
        to_phase(match, MOVING, seat)


def end_cards(match: Match, seat: Seat, action: Action) -> None:
    """Go on to the moves; a seat need not play its cards (WAR-TRN-04, WAR-TRN-08)."""
    to_phase(match, MOVING, seat)


# ---------------------------------------------------------------- facts


def card_played(state: Any, event: Event, own: Own) -> None:
    """A card leaves the hand, for the discard pile or to lie open as combat card."""
    own(own(state, "hands"), event["seat"]).remove(event["card"])
    turn = own(state, "turn")
    if event["use"] == AS_COMBAT_CARD:
        own(state, "combat")[event["seat"]] = event["card"]
        turn["combat_card"] = True
    else:
        own(state, "discard").append(event["card"])
        turn["reinforcements"] += 1


def units_placed(state: Any, event: Event, own: Own) -> None:
    """Units of a card come from the reserve and are noted for the turn."""
    tiles, placed = own(state, "tiles"), own(own(state, "turn"), "placed")
    for tile, number in event["units"].items():
        put(tiles, tile, event["seat"], number, own)
        placed[tile] = placed.get(tile, 0) + number
    own(state, "reserve")[event["seat"]] -= sum(event["units"].values())


REINFORCE = Deed(
    {"card": CARD, "units": counts(TILE, about="the new units, by tile")},
    reinforce_offers,
    reinforce_refusal,
    reinforce,
    reinforce_ranges,
    reinforce_outside,
    reinforce_choices,
)
PLAY_COMBAT_CARD = Deed({"card": CARD}, combat_card_offers, combat_card_refusal, play_combat_card)
END_CARDS = Deed({}, only("end_cards"), never_refused, end_cards)

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "card_played": (
        card_played,
        {"seat": SEAT, "card": CARD, "use": ids([AS_REINFORCEMENTS, AS_COMBAT_CARD], "what the card is played as")},
    ),
    "units_placed": (units_placed, {"seat": SEAT, "units": PLACED_COUNTS}),
}
