"""The battle record: the questions asked of it, who sees a sealed bid, and the facts of arrivals and battles (CONTRACT 5, 6, 8, 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.documents import Document, Own, clone
from games.kernel import Event, Fact, Seat
from games.schema import BLANK, Fields, described, ids, mapping, veiled
from games.war_of_civilizations import data
from games.war_of_civilizations.document import Battle, Side, State
from games.war_of_civilizations.flow import put_out
from games.war_of_civilizations.state import shape
from games.war_of_civilizations.state.fleets import fleet_strength, room, ships_at
from games.war_of_civilizations.state.records import ability, battle_of, own_player

# ---------------------------------------------------------------- the sides


def on_side(battle: Battle, role: str) -> str:
    """Return the seat on a side, or `pirate`."""
    return battle["attacker"] if role == data.ATTACKER else battle["defender"]


def other_seat(battle: Battle, seat: Seat) -> str:
    """Return the opponent of a seat in a battle."""
    return battle["defender"] if battle["attacker"] == seat else battle["attacker"]


def waiting(state: State) -> list[Seat]:
    """Return the seats that have still to bid, in seat order. A pirate does not bid (WOC-BAT-04, WOC-PIR-02)."""
    battle = battle_of(state)
    return [seat for seat in state["seats"] if seat in (battle["attacker"], battle["defender"]) and seat not in battle["bids"]]


def cards_in_effect(battle: Battle, role: str) -> list[data.Card]:
    """Return the cards that a side has bid, or none if a card of the other side cancels them (WOC-PWR-07, WOC-PWR-20)."""
    bids = battle["bids"]
    own, others = on_side(battle, role), on_side(battle, data.OTHER_SIDE[role])
    if own not in bids or not bids[own]["cards"]:
        return []
    if others in bids and any(data.CARDS[card].cancels for card in bids[others]["cards"]):
        return []
    return [data.CARDS[card] for card in bids[own]["cards"]]


def fighters(state: State, battle: Battle, role: str) -> data.Counts:
    """Return the ships of a side that fight: those on the location without hostages (WOC-PRV-09, WOC-CTL-08)."""
    there = ships_at(state, on_side(battle, role), battle["at"])
    captive = battle["hostages"]
    if role != data.DEFENDER or not captive:
        return there
    return {ship: there[ship] - captive.get(ship, 0) for ship in data.SHIPS if ship in there}


def strength(state: State, battle: Battle, role: str) -> int:
    """Return the strength of a side's fleet, of a pirate or of a privateer (WOC-BAT-07, WOC-PIR-02, WOC-PRV-08)."""
    if on_side(battle, role) == data.PIRATE:
        return data.PIRATE_STRENGTH
    if battle["privateer"] == role:
        return data.PRIVATEER_STRENGTH
    return fleet_strength(fighters(state, battle, role))


def support(state: State, seat: str, role: str, at: str) -> int:
    """Return what a seat's side adds without cards: the ability of Tiger or Ape, and a defender's home base with a privateer there
    (WOC-BAT-08, WOC-ABL-04, WOC-ABL-05, WOC-MAP-02, WOC-PRV-01)."""
    if seat == data.PIRATE:
        return 0
    if role == data.ATTACKER:
        return ability(state, seat, data.ATTACK_BONUS)
    home = data.HOME_DEFENCE if data.HOME[seat] == at else 0
    if home and state["players"][seat]["privateer"] == at:
        home += data.PRIVATEER_STRENGTH
    return ability(state, seat, data.DEFENCE_BONUS) + home


def total(state: State, battle: Battle, role: str) -> Side:
    """Return a side's total of fleet, ammunition and bonus. The opponent's cards take away, but never below 0; own cards, abilities and the
    home base add (WOC-BAT-07, WOC-BAT-08, WOC-BAT-13, WOC-PIR-06, WOC-PWR-11, WOC-PWR-12, WOC-PWR-13, WOC-PWR-14, WOC-PWR-15, WOC-PWR-16,
    WOC-PWR-17, WOC-PWR-18, WOC-PWR-19)."""
    seat = on_side(battle, role)
    own, against = cards_in_effect(battle, role), cards_in_effect(battle, data.OTHER_SIDE[role])
    bid = sum(battle["dice"] or ()) if seat == data.PIRATE else battle["bids"][seat]["ammo"]
    fleet, ammo, bonus = strength(state, battle, role), bid, support(state, seat, role, battle["at"])
    for card in against:
        fleet -= card.fleet
        ammo -= card.ammo
    for card in own:
        ammo += min(bid, card.doubles)
        bonus += card.bonus[role]
    fleet, ammo = max(0, fleet), max(0, ammo)
    return {"fleet": fleet, "ammo": ammo, "bonus": bonus, "total": fleet + ammo + bonus}


def prize(beaten: Mapping[str, int]) -> int:
    """Return the crystals for a win over some ships, before the supply runs out (WOC-BAT-10)."""
    return data.FLAGSHIP_CRYSTALS if data.FLAGSHIP in beaten else data.WIN_CRYSTALS


def going_home(state: State, battle: Battle, role: str) -> int:
    """Return how many of the beaten ships go home: half, rounded down, or all with the card for it, as far as the home base has room. The
    capital ship always goes home, and hostages count (WOC-RET-01, WOC-RET-03, WOC-RET-04, WOC-PWR-21, WOC-MAP-13)."""
    seat = on_side(battle, role)
    fleet = ships_at(state, seat, battle["at"])
    number = sum(fleet.values())
    most = number if any([card.retreats for card in cards_in_effect(battle, role)]) else number // 2  # noqa: C419 - a list is faster here
    return max(min(most, room(state, data.HOME[seat])), 1 if data.FLAGSHIP in fleet else 0)


# ---------------------------------------------------------------- sealed bids


def bids_seen(battle: Battle, viewer: str) -> Any:
    """Return a battle as a viewer may see it: until the reveal a bid is for its own seat (WOC-BAT-05, WOC-GEN-05)."""
    if battle["result"] is not None:
        return battle
    return {**battle, "bids": {seat: bid if seat == viewer else None for seat, bid in battle["bids"].items()}}


def bid_seen(event: Event, viewer: str) -> Event:
    """Return the event of a sealed bid as a viewer may see it (WOC-BAT-05)."""
    return event if event["seat"] == viewer else {**event, "ammo": None, "cards": None}


# ---------------------------------------------------------------- facts


def _battle(state: State, own: Own) -> Document:
    battle: Document = own(state, "battle")
    return battle


def battle_started(state: State, event: Event, own: Own) -> None:
    """Two sides meet. Nobody has bid."""
    battle = {name: value for name, value in event.items() if name != "type"}
    state["battle"] = clone({**battle, **data.BLANK_BATTLE})


def ability_used(state: State, event: Event, own: Own) -> None:
    """A seat has used its ability in this battle."""
    own(_battle(state, own), "ability_used").append(event["seat"])


def bid_sealed(state: State, event: Event, own: Own) -> None:
    """A side has bid. Only that side knows its bid (WOC-BAT-05)."""
    own(_battle(state, own), "bids")[event["seat"]] = {"ammo": event["ammo"], "cards": list(event["cards"])}


def dice_rolled(state: State, event: Event, own: Own) -> None:
    """The dice of a pirate are thrown."""
    _battle(state, own)["dice"] = list(event["dice"])


def bids_revealed(state: State, event: Event, own: Own) -> None:
    """All bids are open."""
    _battle(state, own)["bids"] = clone(event["bids"])


def battle_resolved(state: State, event: Event, own: Own) -> None:
    """A side has won."""
    _battle(state, own)["result"] = {"winner": event["winner"], "sides": clone(event["sides"])}


def retreat_ordered(state: State, event: Event, own: Own) -> None:
    """The loser must choose which ships go home."""
    _battle(state, own)["retreat"] = {"seat": event["seat"], "count": event["count"]}


def battle_ended(state: State, event: Event, own: Own) -> None:
    """The battle is over."""
    state["battle"] = None


def seat_eliminated(state: State, event: Event, own: Own) -> None:
    """A seat is out. Its pieces leave the board, and its cards go to the discard pile (WOC-ELM-03)."""
    put_out(state, event["seat"], own)


def expedition_seen(state: State, event: Event, own: Own) -> None:
    """A seat knows the token on an apex island."""
    apex = own(own(state, "apex"), event["apex"])
    if event["seat"] not in apex["known_to"]:
        own(apex, "known_to").append(event["seat"])


def expedition_recovered(state: State, event: Event, own: Own) -> None:
    """A token leaves the match."""
    apex = own(own(state, "apex"), event["apex"])
    apex["explored"] = True
    apex["expedition"] = None
    apex["known_to"] = []


def expeditions_rotated(state: State, event: Event, own: Own) -> None:
    """Tokens are on other islands. The seats that knew them know them there."""
    islands = own(state, "apex")
    before = {apex: (islands[apex]["expedition"], islands[apex]["known_to"]) for apex in event["moves"]}
    for source, goal in event["moves"].items():
        apex = own(islands, goal)
        token, known = before[source]
        apex["expedition"] = token
        apex["known_to"] = list(known)


def pirate_removed(state: State, event: Event, own: Own) -> None:
    """A pirate has left its island."""
    own(own(state, "apex"), event["apex"])["pirate"] = False


def privateer_moved(state: State, event: Event, own: Own) -> None:
    """A privateer is on another location, or in the reserve."""
    own_player(state, event["seat"], own)["privateer"] = event["to"]


FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "expedition_seen": (expedition_seen, {"seat": shape.SEAT, "apex": shape.APEX_ISLAND, "expedition": veiled(shape.TOKEN, BLANK)}),
    "expedition_recovered": (expedition_recovered, {"seat": shape.SEAT, "apex": shape.APEX_ISLAND, "expedition": shape.TOKEN}),
    "expeditions_rotated": (
        expeditions_rotated,
        {"moves": mapping(shape.APEX_ISLAND, shape.APEX_ISLAND, "from each island, the island that its token goes to")},
    ),
    "pirate_removed": (pirate_removed, {"apex": shape.APEX_ISLAND, "reason": ids(["defeated", "hired"], "why the pirate leaves")}),
    "privateer_moved": (privateer_moved, {"seat": shape.SEAT, "to": shape.PRIVATEER_PLACE}),
    "battle_started": (battle_started, shape.BATTLE_START),
    "ability_used": (ability_used, {"seat": shape.SEAT, "at": shape.LOCATION, "ship": shape.SHIP}),
    "bid_sealed": (bid_sealed, {"seat": shape.SEAT, "ammo": veiled(shape.AMMO_BID, BLANK), "cards": veiled(shape.CARDS_BID, BLANK)}),
    "dice_rolled": (dice_rolled, {"dice": shape.DICE}),
    "bids_revealed": (bids_revealed, {"bids": mapping(shape.SEAT, shape.BID, "the bid of each side")}),
    "battle_resolved": (battle_resolved, {"winner": shape.WINNER, "sides": shape.SIDES}),
    "retreat_ordered": (retreat_ordered, {"seat": shape.SEAT, "count": shape.SENT_HOME}),
    "battle_ended": (battle_ended, {"at": shape.LOCATION}),
    "seat_eliminated": (seat_eliminated, {"seat": shape.SEAT, "by": described(shape.SEAT, "the seat that has eliminated it")}),
}
