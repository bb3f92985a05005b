"""The document of a match, and the questions asked of it.

A seat wins by holding the Isle of Myth, or by magic crystals, which are gained there, in battles, on apex islands and from the beaten
(WOC-GEN-01, WOC-GEN-02). Resources and crystals are plain numbers, open to all; secret are a deck, tokens and sealed bids
(WOC-GEN-03, WOC-GEN-04, WOC-GEN-05).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from functools import lru_cache
from typing import Any, cast

from games.choices import Ranges
from games.documents import Document, Own
from games.kernel import SYSTEM, Seat
from games.lifecycle import OVER, ROUND_END, SETUP, SHARED_REASONS
from games.schema import (
    BLANK,
    COUNTED,
    Fields,
    Shape,
    always,
    counts,
    described,
    either,
    flag,
    ids,
    known,
    listing,
    mapping,
    nullable,
    optional,
    record,
    text,
    veiled,
    whole,
)
from games.war_of_civilizations.data import (
    ABILITY,
    ACTIONS,
    ATTACKER,
    BARREN,
    BESIDE,
    BIDS_PHASE,
    BLOCKADE_PHASE,
    CAPACITY,
    CARDS,
    CENTRAL,
    COLLECTOR,
    CONTINENT,
    CONTINENT_OF,
    COUNTDOWN,
    CRYSTAL_WIN,
    CRYSTALS,
    DEFAULTS,
    DEFENDER,
    DEPLOY_PHASE,
    DISMOUNTING,
    EXPEDITIONS,
    FLAGSHIP,
    FLEET,
    FORECAST_TOKENS,
    HAND_LIMIT,
    HOME,
    ID,
    ISLE,
    ISLE_WIN,
    LEAST_SEATS,
    LIMIT,
    LOCATIONS,
    MAX_LEVEL,
    MOST_SEATS,
    MOUNTING,
    NORTH,
    OFFERS_A_MOMENT,
    OPTIONS,
    OWNER_OF_HOME,
    PIRATE,
    PIRATE_PHASE,
    PLACE,
    PRIVATEER,
    RANSOM_PHASE,
    REINFORCE_PHASE,
    RESERVE,
    RESOURCES,
    RETREAT_PHASE,
    RING,
    ROUND_LIMIT_WIN,
    ROUNDS_TO_WIN,
    SEATS,
    SHIPS,
    STRENGTH,
    SUPPLY,
    SURVIVOR_WIN,
    TELEPORTERS,
    TURN_PHASE,
    UPKEEP,
    YIELDS,
    Counts,
)
from games.war_of_civilizations.document import Battle, Blockade, Isle, Player, State, Turn

SEAT = ids(SEATS, "a seat, named after its clan")
LOCATION = known(LOCATIONS, "a location of the map")
APEX_ISLAND = ids(RING, "an apex island")
SHIP = known(SHIPS, "a kind of ship")
RESOURCE = known(RESOURCES, "a resource")
GOODS = known([*RESOURCES, "crystals"], "a resource, or crystals")
CARD = known(CARDS, "a power card")
TOKEN = ids(EXPEDITIONS, "a lost expedition")
ACTIVE_ACTION = known(ACTIONS, "an active action")
SIDE = ids([ATTACKER, DEFENDER], "a side of the battle")
FROM = described(LOCATION, "where it comes from")
TO = described(LOCATION, "where it goes")
SHIP_MAP = counts(SHIP, 1, "ships by kind")
CHANGES = mapping(RESOURCE, whole(), "what is added, or taken where negative")
OFFER = counts(GOODS, 1, "what the seat that is blocked would pay")
REASONS = (ISLE_WIN, CRYSTAL_WIN, ROUND_LIMIT_WIN, SURVIVOR_WIN, *SHARED_REASONS)
SCORE = whole(0)
OUTCOME = record(
    {
        "winners": listing(SEAT, about="one seat, or those that share the victory"),
        "reason": ids(REASONS, "why the match is over"),
        "scores": mapping(SEAT, SCORE, "magic crystals by seat (WOC-END-01)"),
    },
    about="who won, and why; null while the match goes on",
)
PHASES = (
    SETUP,
    DEPLOY_PHASE,
    TURN_PHASE,
    PIRATE_PHASE,
    BLOCKADE_PHASE,
    RANSOM_PHASE,
    REINFORCE_PHASE,
    BIDS_PHASE,
    RETREAT_PHASE,
    ROUND_END,
    OVER,
)
DECK = veiled(listing(CARD, about="top card first; a view has the number of cards instead"), COUNTED)
MARK = either(whole(1, FORECAST_TOKENS), always(BARREN), about="forecast tokens, or barren")
ROUND = whole(1, about="the number of a round, from 1")

STEPS_LEFT = whole(0, about="steps that the Move may still make")

TURN_RECORD = record(
    {
        "actions_used": whole(0, about="active actions begun this turn"),
        "extra_actions": whole(0, about="active actions that cards have granted this turn"),
        "action": nullable(described(ACTIVE_ACTION, "the active action under way, or null")),
        "bonus_open": flag("whether bonus steps of the action are still allowed"),
        "cards_bought": whole(0, about="power cards bought this turn"),
        "crystal_use": nullable(ids([MOUNTING, DISMOUNTING], "whether crystals were mounted or dismounted this turn; null for neither")),
        "teleporter_to": listing(LOCATION, about="where tokens were placed in this action"),
        "free_teleporter": flag("whether the next teleporter bonus is free"),
        "extra_steps": whole(0, about="steps from cards for the next Move"),
        "mover": nullable(
            record(
                {
                    "from": described(LOCATION, "where the ships came from"),
                    "at": described(LOCATION, "where the ships are"),
                    "ships": SHIP_MAP,
                    "steps_left": STEPS_LEFT,
                },
                about="the last step of this Move, or null",
            )
        ),
        "trail": nullable(listing(LOCATION, about="the trail of this Redistribute, in map order; null as long as it is open")),
        "arrived": mapping(LOCATION, SHIP_MAP, "ships that have moved in this Redistribute, by location"),
        "discount_left": whole(0, about="what is left of Lion's discount in this Buy, in OC"),
        "converted": listing(RESOURCE, about="resources already converted into in this action"),
        "forecast_drawn": flag("whether the forecast of this action is done"),
        "privateer_used": flag("whether the seat has moved its privateer this turn"),
        "laid_waste": listing(LOCATION, about="islands that became barren this turn, in that order (WOC-DIS-08)"),
        "teleporters_lost": whole(0, about="the active seat's own tokens lost this turn (WOC-TEL-10)"),
    },
    about="the record of the active seat's turn so far",
)
AMMO_BID = whole(0, about="ammunition bid")
CARDS_BID = listing(CARD, about="battle cards bid")
BID = record({"ammo": AMMO_BID, "cards": CARDS_BID})
SIDE_RECORD = record(
    {
        "fleet": whole(0, about="the strength of the ships, of the pirate or of the privateer, less what cards take from it"),
        "ammo": whole(0, about="the ammunition bid, or the dice of a pirate, with what cards add or take"),
        "bonus": whole(0, about="what cards, abilities and a home base add"),
        "total": whole(0, about="the sum"),
    }
)
SIDES = mapping(SIDE, SIDE_RECORD, "what each side's strength is made of (WOC-BAT-07)")
DICE = listing(whole(1), about="the pirate's dice")
KIND = ids([FLEET, PIRATE, PRIVATEER], "who fights")
WINNER = described(SIDE, "the side that has won")
SENT_HOME = whole(1, about="how many ships go home")
BATTLE_START: Fields = {
    "at": described(LOCATION, "where the battle is"),
    "kind": KIND,
    "attacker": described(SEAT, "the seat that attacks"),
    "defender": ids([*SEATS, PIRATE], "the seat that defends, or the pirate"),
    "privateer": nullable(described(SIDE, "the side that is the privateer itself, or null")),
    "from": nullable(described(LOCATION, "where the attacking fleet came from, or null")),
    "hostages": described(SHIP_MAP, "the defender's ships there that do not fight, by kind"),
}
BATTLE = record(
    {
        **BATTLE_START,
        "bids": mapping(SEAT, veiled(BID, BLANK), about="those sealed so far; before the reveal a view has null for others' bids"),
        "ability_used": listing(SEAT, about="seats that have used their ability"),
        "dice": nullable(described(DICE, "the pirate's dice; null before they are thrown")),
        "result": nullable(record({"winner": WINNER, "sides": SIDES}, about="how the battle was decided, or null")),
        "retreat": nullable(record({"seat": SEAT, "count": SENT_HOME}, about="who must choose how many ships to send home, or null")),
    },
    about="the battle under way, or null",
)
BLOCKADE_START: Fields = {
    "at": described(LOCATION, "where the privateer is"),
    "owner": described(SEAT, "the seat of the privateer"),
    "occupant": described(SEAT, "the seat that must answer"),
}
BLOCKADE = record(
    {
        **BLOCKADE_START,
        "offers": optional(whole(1, OFFERS_A_MOMENT, "offers of ransom that the owner has made earlier in the turn")),
    },
    about="a privateer that has arrived and waits for an answer, or null",
)
NOTE = nullable(text(about="free text for the other seat, or null; it binds nobody"))
RANSOM_OFFERED: Fields = {
    "from": described(SEAT, "the seat that offers"),
    "to": described(SEAT, "the privateer's owner, who must answer"),
    "at": described(LOCATION, "where the privateer is"),
    "offer": OFFER,
    "note": NOTE,
}
RANSOM = record(RANSOM_OFFERED, about="the offer that waits for an answer, or null")
FULL_ROUNDS = whole(0, ROUNDS_TO_WIN, "full rounds for which it was held")
ISLE_RECORD = record(
    {
        "holder": nullable(described(SEAT, "the seat that holds the Isle, or null")),
        "since": nullable(described(ROUND, "the round in which it took the Isle, or null")),
        "full_rounds": FULL_ROUNDS,
    },
    about="who holds the Isle, and for how long",
)
RESOURCE_NAMES = {"oc": "OC, the money", "alwood": "AlWood", "ammo": "ammunition"}
PRIVATEER_PLACE = either(LOCATION, always(RESERVE), about="a location, or the reserve")
PLAYER = record(
    {
        **{name: whole(0, about=f"{RESOURCE_NAMES[name]} in stock") for name in RESOURCES},
        "crystals": whole(0, CRYSTALS, "crystals in stock, without those that are mounted"),
        "ability": whole(0, MAX_LEVEL, "the level of the clan's ability"),
        "cards": listing(CARD, 0, HAND_LIMIT, "oldest first"),
        "fleets": mapping(LOCATION, SHIP_MAP, "all ships on the board by location, hostages included"),
        "teleporters": listing(LOCATION, 0, TELEPORTERS, "in order of placing"),
        "mounted": mapping(LOCATION, ROUND, "the round in which a crystal was mounted"),
        "entered_central": flag("whether the seat has entered the central continent (WOC-MOV-03)"),
        "privateer": nullable(described(PRIVATEER_PLACE, "where the seat's privateer is; null if it has none")),
        "eliminated": flag("whether the seat is out"),
    }
)
OPTION_TEXTS = {
    "pirates": "whether pirates and privateers are in play (WOC-PIR, WOC-PRV)",
    "disasters": "whether disasters are forecast (WOC-DIS)",
    "round_limit": "the round after which the match ends at the latest (WOC-RND-10)",
    "arrival_counts": "whether the round in which the first seat takes the Isle of Myth is a full round for it (WOC-ISL-07)",
    "first_seat_rotates": "whether each round begins with the seat after the one that began the round before (WOC-RND-12)",
}
OPTION_SHAPES: dict[str, Shape] = {
    name: flag(OPTION_TEXTS[name]) if row["type"] == "boolean" else whole(row["min"], row["max"], OPTION_TEXTS[name])
    for name, row in OPTIONS.items()
}

COVERED_ISLANDS = listing(APEX_ISLAND, about="apex islands that are not in play")
ATTACHED_ISLANDS = mapping(SEAT, APEX_ISLAND, "the apex island next to each north island")
COUNTDOWN_NUMBER = whole(1, COUNTDOWN, "the number on the tracker")
DOCUMENT = record(
    {
        "game": always(ID, "the game"),
        "options": record(
            {name: shape._replace(needed=False) for name, shape in OPTION_SHAPES.items()},
            about="the options that the match was given; the others have their defaults",
        ),
        "seats": listing(SEAT, LEAST_SEATS, MOST_SEATS, "clockwise, in turn order"),
        "round": ROUND,
        "phase": ids(PHASES, "the kind of decision that is due"),
        "active": nullable(described(SEAT, "the seat whose turn it is, also while others decide, or null")),
        "to_act": listing(ids([*SEATS, SYSTEM], "a seat, or the system"), about="who must decide now"),
        "outcome": nullable(OUTCOME),
        "players": mapping(SEAT, PLAYER, "what each seat has"),
        "attached": ATTACHED_ISLANDS,
        "covered": COVERED_ISLANDS,
        "apex": mapping(
            APEX_ISLAND,
            record(
                {
                    "explored": flag("whether the lost expedition is gone; else its token lies there, with a crystal"),
                    "expedition": nullable(described(TOKEN, "the token there; null if there is none or the viewer may not know it")),
                    "known_to": listing(SEAT, about="seats that have looked at the token"),
                    "pirate": flag("whether a pirate is there"),
                }
            ),
            about="all six apex islands",
        ),
        ISLE: ISLE_RECORD,
        "crystals": mapping(ids([SUPPLY, ISLE]), whole(0, CRYSTALS), "those that no seat has"),
        "countdown": nullable(described(COUNTDOWN_NUMBER, "the number on the tracker; null before it is set")),
        "power": record(
            {"display": listing(CARD, about="oldest first"), "deck": DECK, "discard": listing(CARD, about="oldest first")},
            about="the power cards that no seat has",
        ),
        "marks": mapping(LOCATION, MARK, "forecast tokens of islands, or barren"),
        "turn": nullable(TURN_RECORD),
        "battle": nullable(BATTLE),
        "blockade": nullable(BLOCKADE),
        "ransom": nullable(RANSOM),
        "offers": whole(0, OFFERS_A_MOMENT, "offers of ransom made in this turn, or in this blockade"),
    },
    about="the state of a match of War of Civilizations",
)


# ---------------------------------------------------------------- parts of the document


def option(state: State, name: str) -> Any:
    """Return an option of the match, or its default if it is absent."""
    return state["options"].get(name, DEFAULTS[name])


def turn_of(state: State) -> Turn:
    """Return the turn record. It is only called where a turn is under way."""
    turn = state["turn"]
    assert turn is not None, "a turn is under way"
    return turn


def battle_of(state: State) -> Battle:
    """Return the battle record. It is only called where a battle is under way."""
    battle = state["battle"]
    assert battle is not None, "a battle is under way"
    return battle


def blockade_of(state: State) -> Blockade:
    """Return the blockade record. It is only called where a privateer waits for an answer."""
    blockade = state["blockade"]
    assert blockade is not None, "a privateer waits for an answer"
    return blockade


def isle_of(state: State) -> Isle:
    """Return the record of the Isle of Myth."""
    record: Isle = cast("dict[str, Any]", state)[ISLE]
    return record


def goods(player: Player) -> Mapping[str, int]:
    """Return a player record as a mapping from resources and crystals to their numbers (WOC-GEN-03, WOC-GEN-04)."""
    return cast("Mapping[str, int]", player)


def own_player(state: State, seat: str, own: Own) -> Document:
    """Return a seat's record, for a fact to change."""
    player: Document = own(own(state, "players"), seat)
    return player


def own_turn(state: State, own: Own) -> Document:
    """Return the turn record, for a fact to change."""
    turn: Document = own(state, "turn")
    return turn


# ---------------------------------------------------------------- the map


Links = tuple[tuple[str, ...], tuple[tuple[str, str], ...], tuple[str, ...]]
"""The variable parts of the map: the seats, the apex island next to each north island, and the covered islands."""


@lru_cache(maxsize=256)
def _map(links: Links) -> dict[str, tuple[str, ...]]:
    seats, attached, covered = links
    near: dict[str, tuple[str, ...]] = {
        place: () if place in covered else tuple(other for other in others if other not in covered) for place, others in BESIDE.items()
    }
    beside = dict(attached)
    for seat in seats:
        apex = beside.get(seat)
        if apex is not None and apex not in covered:
            near[NORTH[seat]] = (*near[NORTH[seat]], apex)
            near[apex] = (*near[apex], NORTH[seat])
    return near


def links_of(state: State) -> Links:
    """Return what of the map changes from match to match (WOC-MAP-09, WOC-MAP-10)."""
    return tuple(state["seats"]), tuple(state["attached"].items()), tuple(state["covered"])


def neighbours(state: State) -> Mapping[str, tuple[str, ...]]:
    """Return the locations adjacent to each location: as printed, without covered islands, and each north island next to one apex island
    (WOC-MAP-06, WOC-MAP-07, WOC-MAP-09, WOC-MAP-10)."""
    return _map(links_of(state))


@lru_cache(maxsize=16)
def _in_play(seats: tuple[str, ...]) -> frozenset[str]:
    return CENTRAL | {location for location in LOCATIONS if CONTINENT[location] in seats}


def in_play(state: State) -> frozenset[str]:
    """Return the locations of the board: the centre and the continents of the clans in the match (WOC-MAP-01)."""
    return _in_play(tuple(state["seats"]))


def room(state: State, location: str) -> int:
    """Return how many more ships a location takes: its capacity less all ships there, of any seat. Pirates, privateers and teleporters
    take no room; hostages do (WOC-MAP-08, WOC-MAP-13, WOC-MAP-14)."""
    left = CAPACITY[location]
    for player in state["players"].values():
        fleets = player["fleets"]
        if location in fleets:
            left -= sum(fleets[location].values())
    return max(0, left)


def distances(near: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Return the steps on the map from the Isle to each location of the board. Ships in between do not count, nor do teleporters
    (WOC-RND-04)."""
    found, edge = {ISLE: 0}, [ISLE]
    for step in range(1, len(LOCATIONS)):
        edge = [other for here in edge for other in near[here] if other not in found]
        found.update(dict.fromkeys(edge, step))
    return found


def points(state: State, seat: Seat) -> list[str]:
    """Return a seat's teleporters: its home base and its tokens. An eliminated seat has none (WOC-TEL-01, WOC-TEL-06, WOC-ELM-05)."""
    player = state["players"][seat]
    return [] if player["eliminated"] else [HOME[seat], *player["teleporters"]]


def linked(state: State, seat: Seat, one: str, other: str) -> bool:
    """Return True if two locations are different teleporters of a seat (WOC-TEL-06, WOC-TEL-07)."""
    own = points(state, seat)
    return one != other and one in own and other in own


# ---------------------------------------------------------------- ships and privateers


def ships_at(state: State, seat: Seat, location: str) -> Counts:
    """Return a seat's ships on a location."""
    return state["players"][seat]["fleets"].get(location) or {}


def fleet_strength(fleet: Mapping[str, int]) -> int:
    """Return the strength of some ships (WOC-BAT-07)."""
    strength = 0
    for ship, number in fleet.items():
        strength += STRENGTH[ship] * number
    return strength


def occupants(state: State, location: str, excluded: Seat | None = None) -> list[Seat]:
    """Return the seats with ships on a location, in seat order, without the seat `excluded`."""
    players = state["players"]
    return [seat for seat in state["seats"] if seat != excluded and location in players[seat]["fleets"]]


def foreign_privateer(state: State, seat: Seat, location: str) -> Seat | None:
    """Return the other seat whose privateer is on a location, unless it is at home there (WOC-PRV-01, WOC-PRV-05)."""
    players = state["players"]
    for other in state["seats"]:
        if players[other]["privateer"] == location and other != seat and HOME[other] != location:
            return other
    return None


def hostages(state: State, seat: Seat) -> list[str]:
    """Return the locations where another seat's privateer keeps ships of a seat, in map order (WOC-PRV-06)."""
    fleets = state["players"][seat]["fleets"]
    players = state["players"]
    found = [
        at
        for other in state["seats"]
        if other != seat and (at := players[other]["privateer"]) is not None and at in fleets and at != HOME[other]
    ]
    return sorted(found, key=PLACE.__getitem__) if len(found) > 1 else found


def opponent(state: State, seat: Seat, at: str) -> Seat | None:
    """Return the opponent that a seat meets on a location: the owner of a privateer, the seat with ships there, or the seat whose home base
    it is, even an empty one (WOC-CTL-04, WOC-PRV-12, WOC-BAT-01, WOC-BAT-11, WOC-ELM-05)."""
    owner = foreign_privateer(state, seat, at)
    if owner is not None:
        return owner
    there = occupants(state, at, seat)
    if there:
        return there[0]
    controller = OWNER_OF_HOME.get(at)
    if controller is None or controller == seat or controller not in state["players"] or state["players"][controller]["eliminated"]:
        return None
    return controller


def reserve(state: State, seat: Seat, ship: str) -> int:
    """Return the number of ships of a kind that a seat may still buy: the limit less those on the board; never the capital ship
    (WOC-BUY-03, WOC-BUY-04, WOC-LIM-03)."""
    if ship == FLAGSHIP:
        return 0
    left = LIMIT[ship]
    for fleet in state["players"][seat]["fleets"].values():
        left -= fleet.get(ship, 0)
    return max(0, left)


def needs_flagship(state: State, seat: Seat, source: str, goal: str) -> bool:
    """Return True if the capital ship must be among the ships of a step: into the central continent for the first time (WOC-MOV-03)."""
    return goal in CENTRAL and source not in CENTRAL and not state["players"][seat]["entered_central"]


# ---------------------------------------------------------------- who holds and controls what


def contested(state: State, seat: Seat) -> Set[str]:
    """Return the locations with ships of a seat that it does not hold, since another seat contests them (WOC-CTL-01)."""
    players = state["players"]
    places = players[seat]["fleets"].keys()
    found: set[str] = set()
    for other, player in players.items():
        if other != seat:
            add_contested(places, other, player, found)
    return found


def add_contested(places: Set[str], other: Seat, player: Player, found: set[str]) -> None:
    """Add the places that another seat contests: it has ships there too, or its privateer is there (WOC-CTL-01, WOC-CTL-03, WOC-PRV-05)."""
    taken, privateer = player["fleets"], player["privateer"]
    if not places.isdisjoint(taken):
        found |= places & taken.keys()
    if privateer is not None and privateer in places and privateer != HOME[other]:
        found.add(privateer)


def _held(state: State, seat: Seat) -> list[str]:
    """Return the locations that a seat holds, in any order (WOC-CTL-01)."""
    fleets, lost = state["players"][seat]["fleets"], contested(state, seat)
    return [location for location in fleets if location not in lost] if lost else list(fleets)


def occupied(state: State, seat: Seat) -> list[str]:
    """Return the locations that a seat holds, in map order: it has any ship there, no other seat has, and no other seat's privateer is
    there (WOC-CTL-01, WOC-CTL-03, WOC-CTL-08, WOC-PRV-05)."""
    own = _held(state, seat)
    own.sort(key=PLACE.__getitem__)
    return own


def occupies(state: State, seat: Seat, location: str) -> bool:
    """Return True if a seat holds a location (WOC-CTL-01)."""
    players = state["players"]
    if location not in players[seat]["fleets"]:
        return False
    for other, player in players.items():
        if other != seat and (location in player["fleets"] or (player["privateer"] == location and HOME[other] != location)):
            return False
    return True


def controls(state: State, seat: Seat, location: str) -> bool:
    """Return True if a seat controls a location: it holds it, and on the Isle of Myth has its capital ship (WOC-CTL-02, WOC-ISL-01)."""
    if not occupies(state, seat, location):
        return False
    return location != ISLE or FLAGSHIP in state["players"][seat]["fleets"][location]


def controlled(state: State, seat: Seat) -> list[str]:
    """Return the locations that a seat controls, in map order (WOC-CTL-02, WOC-MOV-06)."""
    here = occupied(state, seat)
    if here and here[0] == ISLE and FLAGSHIP not in state["players"][seat]["fleets"][ISLE]:
        return here[1:]
    return here


def controls_continent(state: State, seat: Seat) -> bool:
    """Return True if a seat controls all locations of its own continent (WOC-TRN-04)."""
    return fills_continent(seat, controlled(state, seat))


def fills_continent(seat: Seat, places: Collection[str]) -> bool:
    """Return True if all locations of a seat's continent are among some places."""
    for location in CONTINENT_OF[seat]:  # noqa: SIM110 - a loop is faster here
        if location not in places:
            return False
    return True


# ---------------------------------------------------------------- connected trails


def reached(near: Mapping[str, tuple[str, ...]], teleporters: Collection[str], start: str, inside: Collection[str]) -> set[str]:
    """Return the locations reached from `start` through those `inside` that are adjacent or linked by teleporters, on any continent. The
    Isle of Myth may be an end of a trail but is never passed (WOC-CTL-05, WOC-CTL-06, WOC-TEL-08)."""
    joined = [point for point in teleporters if point == start or point in inside]
    found = {start}
    todo = [start]
    for here in todo:  # a location is appended once, when it is found
        if here == ISLE != start:
            continue
        beside = [other for other in near[here] if other in inside]
        for other in [*beside, *joined] if here in joined else beside:
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


Trail = tuple[str, ...]


@lru_cache(maxsize=4096)
def _trails(links: Links, teleporters: tuple[str, ...], own: tuple[str, ...]) -> tuple[Trail, ...]:
    near, inside = _map(links), frozenset(own)
    found: list[Trail] = []
    seen: set[str] = set()
    for location in sorted(own, key=PLACE.__getitem__):
        if location != ISLE and location not in seen:
            trail = reached(near, teleporters, location, inside)
            seen |= trail
            if len(trail) > 1:
                found.append(tuple(sorted(trail, key=PLACE.__getitem__)))
    return tuple(found)


def trails(state: State, seat: Seat) -> tuple[Trail, ...]:
    """Return a seat's connected trails of two locations and more, each in map order. It is enough to hold a location; the Isle may be an
    end of several trails (WOC-CTL-05, WOC-CTL-06, WOC-CTL-07, WOC-RED-06)."""
    own = _held(state, seat)
    return _trails(links_of(state), tuple(points(state, seat)), tuple(own)) if len(own) > 1 else ()


def reinforcements(state: State, seat: Seat, battle: str) -> list[str]:
    """Return the locations from which a defender may bring ships into a battle, in map order: those on one trail with it, as if it were
    the defender's own (WOC-BAT-02)."""
    own = _held(state, seat)
    if not own:
        return []
    found = reached(neighbours(state), points(state, seat), battle, set(own))
    found.discard(battle)
    return sorted(found, key=PLACE.__getitem__)


# ---------------------------------------------------------------- seats


def still_in(state: State) -> list[Seat]:
    """Return the seats that are neither eliminated nor have left, in turn order (WOC-LEA-01)."""
    players = state["players"]
    return [seat for seat in state["seats"] if not players[seat]["eliminated"]]


def round_order(state: State, number: int) -> list[Seat]:
    """Return all seats in the order of their turns in the round of a number: that of `seats`, or with the option for it beginning one seat
    later in each round (WOC-RND-11, WOC-RND-12)."""
    seats: list[Seat] = state["seats"]
    turned = (number - 1) % len(seats) if option(state, "first_seat_rotates") else 0
    return seats[turned:] + seats[:turned]


def first_of(state: State, number: int) -> Seat:
    """Return the seat with which the round of a number begins: the first in its order that is still in."""
    playing = still_in(state)
    return next(seat for seat in round_order(state, number) if seat in playing)


def first_full_round(state: State) -> int | None:
    """Return the first round that can be a full one for the holder of the Isle of Myth, or None if there is no holder: the one after that
    in which it took the Isle; with the option for it, that one itself for the seat that was first in it (WOC-ISL-06, WOC-ISL-07)."""
    isle = isle_of(state)
    since = isle["since"]
    if since is None:
        return None
    early = option(state, "arrival_counts") and isle["holder"] == first_of(state, since)
    return since if early else since + 1


def can_pay(state: State, seat: Seat, price: Mapping[str, int]) -> bool:
    """Return True if a seat has what something costs. Resources and crystals are plain numbers (WOC-GEN-04)."""
    stock = goods(state["players"][seat])
    for name, number in price.items():  # noqa: SIM110 - a loop is faster here
        if stock[name] < number:
            return False
    return True


def ability(state: State, seat: Seat, kind: str) -> int:
    """Return the figure of a seat's ability, or 0 if its ability is of another kind (WOC-ABL-01, WOC-SET-06)."""
    row = ABILITY[seat]
    return row.figures[state["players"][seat]["ability"]] if row.kind == kind else 0


def targets(state: State, seat: Seat) -> tuple[str, ...]:
    """Return the kinds of ship that a seat's ability destroys (WOC-ABL-02)."""
    return ABILITY[seat].targets[state["players"][seat]["ability"]]


def crystals_of(state: State, seat: Seat) -> int:
    """Return a seat's magic crystals, mounted ones included (WOC-MNT-05, WOC-END-01)."""
    player = state["players"][seat]
    return player["crystals"] + len(player["mounted"])


def collected_from(state: State, seat: Seat, places: list[str]) -> list[str]:
    """Return those of a seat's locations from which it can collect: with a gunboat, not barren, and with something to give
    (WOC-COL-01, WOC-COL-02, WOC-COL-04, WOC-DIS-07)."""
    fleets, marks = state["players"][seat]["fleets"], state["marks"]
    return [place for place in places if COLLECTOR in fleets[place] and YIELDS[place] and marks.get(place) != BARREN]


def harvest(locations: Collection[str]) -> Counts:
    """Return what some locations give together, each once (WOC-COL-02, WOC-COL-03, WOC-MAP-15)."""
    total: Counts = {}
    for name in RESOURCES:
        number = sum([YIELDS[location].get(name, 0) for location in locations])
        if number:
            total[name] = number
    return total


def upkeep(fleet: Mapping[str, int]) -> int:
    """Return what a fleet on the Isle costs, by its strength (WOC-RND-02)."""
    strength, due = fleet_strength(fleet), 0
    for least, price in UPKEEP:
        if least > strength:
            break
        due = max(due, price)
    return due


# ---------------------------------------------------------------- choices and words


def some_ships(ships: Mapping[str, int], most: int, flagship: bool = False) -> Ranges:
    """Return the ranges for some ships of a fleet: at least one and at most `most`, with the capital ship if it must come along."""
    each = {ship: [1 if flagship and ship == FLAGSHIP else 0, ships[ship]] for ship in SHIPS if ships.get(ship)}
    return {"ships": {"each": each, "total": [1, min(most, sum(ships.values()))]}}


def in_words(counts: Mapping[str, int]) -> str:
    """Return ships or goods in words."""
    return " and ".join([f"{counts[name]} {name}" for name in (*SHIPS, *RESOURCES, "crystals") if counts.get(name)]) or "nothing"
