"""How each event changes the document (CONTRACT section 8), and what each holds."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Document, Own, clone
from games.kernel import Event, Fact, State
from games.schema import BLANK, Fields, always, either, ids, mapping, nullable, text, veiled, whole
from games.war_of_civilizations.battle_facts import BATTLE_FACTS
from games.war_of_civilizations.data import FORECAST_TOKENS, ISLE, MAX_LEVEL, PLUNDERING
from games.war_of_civilizations.state import (
    ACTIVE_ACTION,
    ACTORS,
    APEX_ISLAND,
    CARD,
    CHANGES,
    DECK,
    DOCUMENT,
    FLEET,
    LOCATION,
    OUTCOME,
    PHASE,
    ROUND,
    SEAT,
    TOKEN,
    TURN_RECORD,
    own_player,
)


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
    _add(own_player(state, event["seat"], own), event["at"], event["ships"], own)


def ships_moved(state: State, event: Event, own: Own) -> None:
    """Ships are somewhere else."""
    player = own_player(state, event["seat"], own)
    _take(player, event["from"], event["ships"], own)
    _add(player, event["to"], event["ships"], own)


def ships_removed(state: State, event: Event, own: Own) -> None:
    """Ships go to the reserve."""
    _take(own_player(state, event["seat"], own), event["at"], event["ships"], own)


# ---------------------------------------------------------------- resources, crystals and cards


def resources_changed(state: State, event: Event, own: Own) -> None:
    """A seat has more or less of something."""
    player = own_player(state, event["seat"], own)
    for name, number in event["changes"].items():
        player[name] += number


def crystals_moved(state: State, event: Event, own: Own) -> None:
    """Crystals change hands; the crystal that lies with a token is not counted anywhere else."""
    for place, number in ((event["from"], -event["count"]), (event["to"], event["count"])):
        if place in state["crystals"]:
            own(state, "crystals")[place] += number
        elif place in state["players"]:
            own_player(state, place, own)["crystals"] += number


def crystal_mounted(state: State, event: Event, own: Own) -> None:
    """A crystal goes from the stock on a location."""
    player = own_player(state, event["seat"], own)
    player["crystals"] -= 1
    own(player, "mounted")[event["at"]] = event["round"]


def crystal_dismounted(state: State, event: Event, own: Own) -> None:
    """A mounted crystal comes back."""
    player = own_player(state, event["seat"], own)
    player["crystals"] += 1
    del own(player, "mounted")[event["at"]]


def crystal_captured(state: State, event: Event, own: Own) -> None:
    """A mounted crystal goes to another seat's stock."""
    del own(own_player(state, event["owner"], own), "mounted")[event["at"]]
    own_player(state, event["seat"], own)["crystals"] += 1


def ability_upgraded(state: State, event: Event, own: Own) -> None:
    """A seat can do more."""
    own_player(state, event["seat"], own)["ability"] = event["level"]


def card_bought(state: State, event: Event, own: Own) -> None:
    """A card leaves the display for a hand."""
    own(own(state, "power"), "display").remove(event["card"])
    own(own_player(state, event["seat"], own), "cards").append(event["card"])


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
    own(own_player(state, event["seat"], own), "cards").remove(event["card"])
    own(own(state, "power"), "discard").append(event["card"])


# ---------------------------------------------------------------- teleporters and expeditions


def teleporter_placed(state: State, event: Event, own: Own) -> None:
    """A token is placed, from the mat or from elsewhere."""
    tokens = own(own_player(state, event["seat"], own), "teleporters")
    if event["from"] is not None:
        tokens.remove(event["from"])
    tokens.append(event["to"])


def teleporter_lost(state: State, event: Event, own: Own) -> None:
    """A token goes back to its mat; the active seat's own is counted (WOC-TEL-10)."""
    own(own_player(state, event["seat"], own), "teleporters").remove(event["at"])
    if event["seat"] == state["active"] and state["turn"] is not None:
        own(state, "turn")["teleporters_lost"] += 1


def central_entered(state: State, event: Event, own: Own) -> None:
    """A seat has found the way to the central continent."""
    own_player(state, event["seat"], own)["entered_central"] = True


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


# ---------------------------------------------------------------- disasters


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
    **BATTLE_FACTS,
    "disaster_drawn": (disaster_drawn, {"seat": SEAT, "card": text(about="a disaster card")}),
    "island_marked": (island_marked, {"at": LOCATION, "mark": nullable(either(whole(1, FORECAST_TOKENS), always("barren")))}),
    "match_ended": (match_ended, {"outcome": OUTCOME}),
}
