"""How each event changes the document (CONTRACT section 8), and what each holds."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Document, Own, clone
from games.kernel import Event, Fact, State
from games.schema import BLANK, Fields, always, either, flag, ids, listing, mapping, nullable, text, veiled, whole
from games.war_of_civilizations.data import COUNTDOWN, FORECAST_TOKENS, ISLE, MAX_LEVEL, PLUNDERING, RESOURCES, ROUNDS_TO_WIN
from games.war_of_civilizations.state import (
    ACTIVE_ACTION,
    ACTORS,
    APEX_ISLAND,
    BATTLE,
    BID,
    BLOCKADE,
    CARD,
    CHANGES,
    DECK,
    DICE,
    DOCUMENT,
    FLEET,
    LOCATION,
    OFFER,
    OUTCOME,
    PHASE,
    ROUND,
    SEAT,
    SHIP,
    SIDE,
    SIDES,
    TOKEN,
    TURN_RECORD,
)


def _player(state: State, seat: str, own: Own) -> Document:
    player: Document = own(own(state, "players"), seat)
    return player


def _battle(state: State, own: Own) -> Document:
    battle: Document = own(state, "battle")
    return battle


def _add(player: Document, location: str, ships: Mapping[str, int], own: Own) -> None:
    fleets = own(player, "fleets")
    if location in fleets:
        fleet = own(fleets, location)
    else:
        fleet = fleets[location] = {}
    for ship, number in ships.items():
        fleet[ship] = fleet.get(ship, 0) + number


def _take(player: Document, location: str, ships: Mapping[str, int], own: Own) -> None:
    fleets = own(player, "fleets")
    fleet = own(fleets, location)
    for ship, number in ships.items():
        fleet[ship] -= number
        if not fleet[ship]:
            del fleet[ship]
    if not fleet:
        del fleets[location]


# ---------------------------------------------------------------- match, round and turn


def match_started(state: State, event: Event, own: Own) -> None:
    """The board is set up."""
    state.update(clone(event["state"]))


def phase_changed(state: State, event: Event, own: Own) -> None:
    """Another decision is awaited."""
    state["phase"] = event["phase"]
    state["active"] = event["active"]
    state["to_act"] = list(event["to_act"])


def turn_started(state: State, event: Event, own: Own) -> None:
    """A seat has its turn before it."""
    state["turn"] = clone(event["turn"])
    state["offers"] = 0


def turn_changed(state: State, event: Event, own: Own) -> None:
    """What a seat has done in its turn is written down; so also when an active action begins or ends."""
    state["turn"] = clone(event["turn"])


def turn_ended(state: State, event: Event, own: Own) -> None:
    """A turn is over."""
    state["turn"] = None


def round_ended(state: State, event: Event, own: Own) -> None:
    """Rounds go on counting."""
    state["round"] = event["next_round"]


def match_ended(state: State, event: Event, own: Own) -> None:
    """The match is over."""
    state["outcome"] = clone(event["outcome"])
    state["phase"] = "over"
    state["active"] = None
    state["to_act"] = []
    for name in ("turn", "battle", "blockade", "ransom"):
        state[name] = None


# ---------------------------------------------------------------- ships


def ships_placed(state: State, event: Event, own: Own) -> None:
    """Ships come on the board."""
    _add(_player(state, event["seat"], own), event["at"], event["ships"], own)


def ships_moved(state: State, event: Event, own: Own) -> None:
    """Ships are somewhere else."""
    player = _player(state, event["seat"], own)
    _take(player, event["from"], event["ships"], own)
    _add(player, event["to"], event["ships"], own)


def ships_removed(state: State, event: Event, own: Own) -> None:
    """Ships go to the reserve."""
    _take(_player(state, event["seat"], own), event["at"], event["ships"], own)


# ---------------------------------------------------------------- resources, crystals and cards


def resources_changed(state: State, event: Event, own: Own) -> None:
    """A seat has more or less of something."""
    player = _player(state, event["seat"], own)
    for name, number in event["changes"].items():
        player[name] += number


def crystals_moved(state: State, event: Event, own: Own) -> None:
    """Crystals change hands; the crystal that lies with a token is not counted anywhere else."""
    for place, number in ((event["from"], -event["count"]), (event["to"], event["count"])):
        if place in state["crystals"]:
            own(state, "crystals")[place] += number
        elif place in state["players"]:
            _player(state, place, own)["crystals"] += number


def crystal_mounted(state: State, event: Event, own: Own) -> None:
    """A crystal goes from the stock on a location."""
    player = _player(state, event["seat"], own)
    player["crystals"] -= 1
    own(player, "mounted")[event["at"]] = event["round"]


def crystal_dismounted(state: State, event: Event, own: Own) -> None:
    """A mounted crystal comes back."""
    player = _player(state, event["seat"], own)
    player["crystals"] += 1
    del own(player, "mounted")[event["at"]]


def crystal_captured(state: State, event: Event, own: Own) -> None:
    """A mounted crystal goes to another seat's stock."""
    del own(_player(state, event["owner"], own), "mounted")[event["at"]]
    _player(state, event["seat"], own)["crystals"] += 1


def ability_upgraded(state: State, event: Event, own: Own) -> None:
    """A seat can do more."""
    _player(state, event["seat"], own)["ability"] = event["level"]


def card_bought(state: State, event: Event, own: Own) -> None:
    """A card leaves the display for a hand."""
    own(own(state, "power"), "display").remove(event["card"])
    own(_player(state, event["seat"], own), "cards").append(event["card"])


def card_revealed(state: State, event: Event, own: Own) -> None:
    """The top card of the deck joins the display."""
    power = own(state, "power")
    del own(power, "deck")[0]
    own(power, "display").append(event["card"])


def deck_reshuffled(state: State, event: Event, own: Own) -> None:
    """The discard pile has become the deck."""
    power = own(state, "power")
    power["deck"] = list(event["deck"])
    power["discard"] = []


def card_spent(state: State, event: Event, own: Own) -> None:
    """A card leaves a hand for the discard pile."""
    own(_player(state, event["seat"], own), "cards").remove(event["card"])
    own(own(state, "power"), "discard").append(event["card"])


# ---------------------------------------------------------------- teleporters and expeditions


def teleporter_placed(state: State, event: Event, own: Own) -> None:
    """A token is placed, from the mat or from elsewhere."""
    tokens = own(_player(state, event["seat"], own), "teleporters")
    if event["from"] is not None:
        tokens.remove(event["from"])
    tokens.append(event["to"])


def teleporter_lost(state: State, event: Event, own: Own) -> None:
    """A token goes back to its mat; the active seat's own is counted (WOC-TEL-10)."""
    own(_player(state, event["seat"], own), "teleporters").remove(event["at"])
    if event["seat"] == state["active"] and state["turn"] is not None:
        own(state, "turn")["teleporters_lost"] += 1


def central_entered(state: State, event: Event, own: Own) -> None:
    """A seat has found the way to the central continent."""
    _player(state, event["seat"], own)["entered_central"] = True


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
    """Tokens lie somewhere else, and who knew them knows them there."""
    islands = own(state, "apex")
    before = {apex: (islands[apex]["expedition"], islands[apex]["known_to"]) for apex in event["moves"]}
    for source, goal in event["moves"].items():
        apex = own(islands, goal)
        token, known = before[source]
        apex["expedition"] = token
        apex["known_to"] = list(known)


# ---------------------------------------------------------------- battles


def battle_started(state: State, event: Event, own: Own) -> None:
    """Two sides meet."""
    state["battle"] = clone(event["battle"])


def ability_used(state: State, event: Event, own: Own) -> None:
    """A seat has used its ability in this battle."""
    own(_battle(state, own), "ability_used").append(event["seat"])


def bid_sealed(state: State, event: Event, own: Own) -> None:
    """A side has bid; what, it alone knows (WOC-BAT-05)."""
    own(_battle(state, own), "bids")[event["seat"]] = {"ammo": event["ammo"], "cards": list(event["cards"])}


def dice_rolled(state: State, event: Event, own: Own) -> None:
    """A pirate's dice lie open."""
    _battle(state, own)["dice"] = list(event["dice"])


def bids_revealed(state: State, event: Event, own: Own) -> None:
    """All bids lie open."""
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
    """All of a seat leaves the board; its cards go to the discard pile (WOC-ELM-03)."""
    player = _player(state, event["seat"], own)
    player["eliminated"] = True
    for name in (*RESOURCES, "crystals"):
        player[name] = 0
    own(own(state, "power"), "discard").extend(player["cards"])
    player["cards"] = []
    player["fleets"] = {}
    player["mounted"] = {}
    player["teleporters"] = []
    player["privateer"] = None


# ---------------------------------------------------------------- the Isle of Myth


def isle_taken(state: State, event: Event, own: Own) -> None:
    """The Isle has a holder, and the round is noted (WOC-ISL-02)."""
    state[ISLE] = {"holder": event["seat"], "since": event["round"], "full_rounds": 0}


def isle_lost(state: State, event: Event, own: Own) -> None:
    """The Isle has no holder."""
    state[ISLE] = {"holder": None, "since": None, "full_rounds": 0}


def isle_round_held(state: State, event: Event, own: Own) -> None:
    """The holder has held the Isle for one more full round."""
    own(state, ISLE)["full_rounds"] = event["full_rounds"]


def countdown_set(state: State, event: Event, own: Own) -> None:
    """The tracker shows another number."""
    state["countdown"] = event["value"]


# ---------------------------------------------------------------- pirates, privateers, disasters


def pirate_removed(state: State, event: Event, own: Own) -> None:
    """A pirate has left its island."""
    own(own(state, "apex"), event["apex"])["pirate"] = False


def privateer_moved(state: State, event: Event, own: Own) -> None:
    """A privateer is somewhere else, or in the reserve."""
    _player(state, event["seat"], own)["privateer"] = event["to"]


def blockade_started(state: State, event: Event, own: Own) -> None:
    """A privateer that has arrived waits for an answer."""
    state["blockade"] = dict(event["blockade"])
    state["offers"] = 0


def blockade_ended(state: State, event: Event, own: Own) -> None:
    """The answer is given."""
    state["blockade"] = None
    state["offers"] = 0


def ransom_offered(state: State, event: Event, own: Own) -> None:
    """An offer lies on the table."""
    state["ransom"] = {
        "from": event["from"],
        "to": event["to"],
        "at": event["at"],
        "offer": dict(event["offer"]),
        "note": event["note"],
    }
    state["offers"] = event["offers"]


def ransom_answered(state: State, event: Event, own: Own) -> None:
    """An offer is taken or not."""
    state["ransom"] = None


def disaster_drawn(state: State, event: Event, own: Own) -> None:
    """A disaster card is shown and goes back (WOC-DIS-01)."""


def island_marked(state: State, event: Event, own: Own) -> None:
    """An island has other tokens, none, or is barren; what became barren in this turn is noted (WOC-DIS-08)."""
    marks = own(state, "marks")
    if event["mark"] is None:
        marks.pop(event["at"], None)
        return
    marks[event["at"]] = event["mark"]
    if event["mark"] == "barren" and state["turn"] is not None:
        own(own(state, "turn"), "laid_waste").append(event["at"])


_MOVED = ids(["move", "redistribute", "reinforce", "turned_back", "retreat", "upkeep", "disaster"])
_REMOVED = ids(["defeat", "ability", "disaster", "upkeep"])
_PURSE = either(SEAT, ids(["supply", ISLE, "expedition"]))
_GAINED = ("collect", "convert", "card", *PLUNDERING, "spoils", "ransom")
_PAID = ("rebuild", "buy_card", "buy_ships", "teleporter", "mount", "expedition", "bid", "hire", "upkeep")
_CHANGED = ids([*_GAINED, *_PAID])
_CRYSTALS = ids(["expedition", "battle", "upgrade", "spoils", "ransom", ISLE, "isle_last"])
_ACTION = {"seat": SEAT, "action": ACTIVE_ACTION, "turn": TURN_RECORD}

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "match_started": (match_started, {"state": DOCUMENT}),
    "phase_changed": (phase_changed, {"phase": PHASE, "active": nullable(SEAT), "to_act": ACTORS}),
    "turn_started": (turn_started, {"seat": SEAT, "turn": TURN_RECORD}),
    "turn_changed": (turn_changed, {"turn": TURN_RECORD}),
    "action_begun": (turn_changed, _ACTION),
    "action_ended": (turn_changed, _ACTION),
    "turn_ended": (turn_ended, {"seat": SEAT}),
    "round_ended": (round_ended, {"next_round": ROUND}),
    "ships_placed": (ships_placed, {"seat": SEAT, "at": LOCATION, "ships": FLEET, "reason": ids(["deploy", "buy", "card"])}),
    "ships_moved": (ships_moved, {"seat": SEAT, "from": LOCATION, "to": LOCATION, "ships": FLEET, "reason": _MOVED}),
    "ships_removed": (ships_removed, {"seat": SEAT, "at": LOCATION, "ships": FLEET, "reason": _REMOVED}),
    "resources_changed": (resources_changed, {"seat": SEAT, "changes": CHANGES, "reason": _CHANGED}),
    "crystals_moved": (crystals_moved, {"from": _PURSE, "to": _PURSE, "count": whole(1), "reason": _CRYSTALS}),
    "crystal_mounted": (crystal_mounted, {"seat": SEAT, "at": LOCATION, "round": ROUND}),
    "crystal_dismounted": (crystal_dismounted, {"seat": SEAT, "at": LOCATION}),
    "crystal_captured": (crystal_captured, {"seat": SEAT, "owner": SEAT, "at": LOCATION}),
    "ability_upgraded": (ability_upgraded, {"seat": SEAT, "level": whole(1, MAX_LEVEL)}),
    "card_bought": (card_bought, {"seat": SEAT, "card": CARD}),
    "card_revealed": (card_revealed, {"card": CARD}),
    "deck_reshuffled": (deck_reshuffled, {"deck": DECK}),
    "card_spent": (card_spent, {"seat": SEAT, "card": CARD, "reason": ids(["played", "bid", "discarded"])}),
    "teleporter_placed": (teleporter_placed, {"seat": SEAT, "from": nullable(LOCATION), "to": LOCATION}),
    "teleporter_lost": (teleporter_lost, {"seat": SEAT, "at": LOCATION, "reason": ids(["battle", "disaster"])}),
    "central_entered": (central_entered, {"seat": SEAT}),
    "expedition_seen": (expedition_seen, {"seat": SEAT, "apex": APEX_ISLAND, "expedition": veiled(TOKEN, BLANK)}),
    "expedition_recovered": (expedition_recovered, {"seat": SEAT, "apex": APEX_ISLAND, "expedition": TOKEN}),
    "expeditions_rotated": (expeditions_rotated, {"moves": mapping(APEX_ISLAND, APEX_ISLAND)}),
    "battle_started": (battle_started, {"battle": BATTLE}),
    "ability_used": (ability_used, {"seat": SEAT, "at": LOCATION, "ship": SHIP}),
    "bid_sealed": (bid_sealed, {"seat": SEAT, "ammo": veiled(whole(0), BLANK), "cards": veiled(listing(CARD), BLANK)}),
    "dice_rolled": (dice_rolled, {"dice": DICE}),
    "bids_revealed": (bids_revealed, {"bids": mapping(SEAT, BID)}),
    "battle_resolved": (battle_resolved, {"winner": SIDE, "sides": SIDES}),
    "retreat_ordered": (retreat_ordered, {"seat": SEAT, "count": whole(1)}),
    "battle_ended": (battle_ended, {"at": LOCATION}),
    "seat_eliminated": (seat_eliminated, {"seat": SEAT, "by": SEAT}),
    "isle_taken": (isle_taken, {"seat": SEAT, "round": ROUND}),
    "isle_lost": (isle_lost, {"seat": SEAT}),
    "isle_round_held": (isle_round_held, {"seat": SEAT, "full_rounds": whole(1, ROUNDS_TO_WIN)}),
    "countdown_set": (countdown_set, {"value": whole(1, COUNTDOWN)}),
    "pirate_removed": (pirate_removed, {"apex": APEX_ISLAND, "reason": ids(["defeated", "hired"])}),
    "privateer_moved": (privateer_moved, {"seat": SEAT, "to": either(LOCATION, always("reserve"))}),
    "blockade_started": (blockade_started, {"blockade": BLOCKADE}),
    "blockade_ended": (blockade_ended, {"at": LOCATION, "result": ids(["hostages", "ransom", "fought"])}),
    "ransom_offered": (
        ransom_offered,
        {"from": SEAT, "to": SEAT, "at": LOCATION, "offer": OFFER, "note": nullable(text()), "offers": whole(1)},
    ),
    "ransom_answered": (ransom_answered, {"seat": SEAT, "accepted": flag(), "note": nullable(text())}),
    "disaster_drawn": (disaster_drawn, {"seat": SEAT, "card": text(about="a disaster card")}),
    "island_marked": (island_marked, {"at": LOCATION, "mark": nullable(either(whole(1, FORECAST_TOKENS), always("barren")))}),
    "match_ended": (match_ended, {"outcome": OUTCOME}),
}
