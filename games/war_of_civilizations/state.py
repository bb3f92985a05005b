"""The document of a match, and the questions asked of it.

A seat wins by holding the Isle of Myth, or by magic crystals, which are gained there, in battles, on apex islands and from the beaten
(WOC-GEN-01, WOC-GEN-02). Resources and crystals are plain numbers, open to all; secret are a deck, tokens and sealed bids
(WOC-GEN-03, WOC-GEN-04, WOC-GEN-05).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from games.documents import Document, Own
from games.kernel import Seat, State
from games.schema import (
    BLANK,
    COUNTED,
    Shape,
    always,
    counts,
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
    BESIDE,
    CAPACITY,
    CARDS,
    CENTRAL,
    CONTINENT,
    COUNTDOWN,
    CRYSTALS,
    DEFAULTS,
    EXPEDITIONS,
    FLAGSHIP,
    FORECAST_TOKENS,
    HAND_LIMIT,
    HOME,
    ISLE,
    LEAST_SEATS,
    LIMIT,
    LOCATIONS,
    MAX_LEVEL,
    MOST_SEATS,
    NORTH,
    OFFERS_A_MOMENT,
    OPTIONS,
    PLACE,
    RESOURCES,
    RING,
    ROUNDS_TO_WIN,
    SEATS,
    SHIPS,
    TELEPORTERS,
    Counts,
)

SEAT = ids(SEATS, "a seat, named after its clan")
LOCATION = known(LOCATIONS, "a location of the map")
APEX_ISLAND = ids(RING, "an apex island")
SHIP = known(SHIPS, "a kind of ship")
RESOURCE = known(RESOURCES, "a resource")
GOODS = known([*RESOURCES, "crystals"], "a resource, or crystals")
CARD = known(CARDS, "a power card")
TOKEN = ids(EXPEDITIONS, "a lost expedition")
ACTIVE_ACTION = known(ACTIONS, "an active action")
SIDE = ids(["attacker", "defender"])
FLEET = counts(SHIP, 1, "ships by kind")
CHANGES = mapping(RESOURCE, whole(), "what is added, or taken where negative")
OFFER = counts(GOODS, 1)
REASON = ids(["isle_held", "crystals", "round_limit", "last_survivor"])
OUTCOME = record({"winners": listing(SEAT), "reason": REASON, "scores": mapping(SEAT, whole(0))})
PHASES = ("setup", "deploy", "turn", "pirate", "blockade", "ransom", "reinforce", "bids", "retreat", "round_end", "over")
PHASE = ids(PHASES)
ACTORS = listing(ids([*SEATS, "system"]), about="who must decide now")
DECK = veiled(listing(CARD, about="top card first; a view holds the number of cards instead"), COUNTED)
MARK = either(whole(1, FORECAST_TOKENS), always("barren"), about="forecast tokens, or barren")
ROUND = whole(1)

TURN_RECORD = record(
    {
        "actions_used": whole(0),
        "extra_actions": whole(0),
        "action": nullable(ACTIVE_ACTION),
        "bonus_open": flag("whether bonus steps of the action are still allowed"),
        "cards_bought": whole(0),
        "crystal_use": nullable(ids(["mount", "dismount"])),
        "teleporter_to": listing(LOCATION, about="where tokens were placed in this action"),
        "free_teleporter": flag(),
        "extra_steps": whole(0),
        "mover": nullable(record({"from": LOCATION, "at": LOCATION, "ships": FLEET, "steps_left": whole(0)})),
        "trail": nullable(listing(LOCATION, about="in map order")),
        "arrived": mapping(LOCATION, FLEET),
        "discount_left": whole(0),
        "converted": listing(RESOURCE),
        "forecast_drawn": flag(),
        "privateer_used": flag(),
        "laid_waste": listing(LOCATION),
        "teleporters_lost": whole(0),
    },
    about="what the active seat has done this turn",
)
BID = record({"ammo": whole(0), "cards": listing(CARD)})
SIDE_RECORD = record({"fleet": whole(0), "ammo": whole(0), "bonus": whole(0), "total": whole(0)})
SIDES = record({"attacker": SIDE_RECORD, "defender": SIDE_RECORD})
DICE = listing(whole(1))
BATTLE = record(
    {
        "at": LOCATION,
        "kind": ids(["fleet", "pirate", "privateer"]),
        "attacker": SEAT,
        "defender": ids([*SEATS, "pirate"]),
        "privateer": nullable(SIDE),
        "from": nullable(LOCATION),
        "hostages": FLEET,
        "bids": mapping(SEAT, veiled(BID, BLANK), about="as far as sealed; before they are revealed a view holds null for another's"),
        "ability_used": listing(SEAT),
        "dice": nullable(DICE),
        "result": nullable(record({"winner": SIDE, "sides": SIDES})),
        "retreat": nullable(record({"seat": SEAT, "count": whole(1)})),
    }
)
BLOCKADE = record({"at": LOCATION, "owner": SEAT, "occupant": SEAT, "offers": optional(whole(1, OFFERS_A_MOMENT))})
RANSOM = record({"from": SEAT, "to": SEAT, "at": LOCATION, "offer": OFFER, "note": nullable(text())})
HELD = record({"holder": nullable(SEAT), "since": nullable(ROUND), "full_rounds": whole(0, ROUNDS_TO_WIN)})
PLAYER = record(
    {
        **{name: whole(0) for name in RESOURCES},
        "crystals": whole(0, CRYSTALS),
        "ability": whole(0, MAX_LEVEL),
        "cards": listing(CARD, 0, HAND_LIMIT, "oldest first"),
        "fleets": mapping(LOCATION, FLEET),
        "teleporters": listing(LOCATION, 0, TELEPORTERS, "in order of placing"),
        "mounted": mapping(LOCATION, ROUND, "the round in which a crystal was mounted"),
        "entered_central": flag(),
        "privateer": nullable(either(LOCATION, always("reserve"))),
        "eliminated": flag(),
    }
)
OPTION_SHAPES: dict[str, Shape] = {
    name: flag() if row["type"] == "boolean" else whole(row["min"], row["max"]) for name, row in OPTIONS.items()
}

DOCUMENT = record(
    {
        "game": always("war_of_civilizations"),
        "options": record({name: shape._replace(needed=False) for name, shape in OPTION_SHAPES.items()}),
        "seats": listing(SEAT, LEAST_SEATS, MOST_SEATS, "clockwise, in turn order"),
        "round": ROUND,
        "phase": PHASE,
        "active": nullable(SEAT),
        "to_act": ACTORS,
        "outcome": nullable(OUTCOME),
        "players": mapping(SEAT, PLAYER),
        "attached": mapping(SEAT, APEX_ISLAND, "the apex island next to each north island"),
        "covered": listing(APEX_ISLAND),
        "apex": mapping(
            APEX_ISLAND,
            record(
                {
                    "explored": flag(),
                    "expedition": nullable(TOKEN),
                    "known_to": listing(SEAT),
                    "pirate": flag(),
                }
            ),
        ),
        ISLE: HELD,
        "crystals": record({"supply": whole(0, CRYSTALS), ISLE: whole(0, CRYSTALS)}),
        "countdown": nullable(whole(1, COUNTDOWN)),
        "power": record({"display": listing(CARD, about="oldest first"), "deck": DECK, "discard": listing(CARD, about="oldest first")}),
        "marks": mapping(LOCATION, MARK),
        "turn": nullable(TURN_RECORD),
        "battle": nullable(BATTLE),
        "blockade": nullable(BLOCKADE),
        "ransom": nullable(RANSOM),
        "offers": whole(0, OFFERS_A_MOMENT),
    },
    about="the state of a match of War of Civilizations",
)


def option(state: State, name: str) -> Any:
    """An option of the match; one that is absent has its default."""
    return state["options"].get(name, DEFAULTS[name])


# ---------------------------------------------------------------- the map


@lru_cache(maxsize=256)
def _map(links: tuple[tuple[str, str], ...], covered: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    near: dict[str, tuple[str, ...]] = {
        place: () if place in covered else tuple(other for other in others if other not in covered) for place, others in BESIDE.items()
    }
    for seat, apex in links:
        if apex not in covered:
            near[NORTH[seat]] = (*near[NORTH[seat]], apex)
            near[apex] = (*near[apex], NORTH[seat])
    return near


def neighbours(state: State) -> Mapping[str, tuple[str, ...]]:
    """The locations adjacent to each: as printed, without covered islands, and each north island next to one apex island (WOC-MAP-06,
    WOC-MAP-07, WOC-MAP-09, WOC-MAP-10)."""
    attached = state["attached"]
    return _map(tuple([(seat, attached[seat]) for seat in state["seats"] if seat in attached]), tuple(state["covered"]))


def own_player(state: State, seat: str, own: Own) -> Document:
    """A seat's record, for a fact to change."""
    player: Document = own(own(state, "players"), seat)
    return player


@lru_cache(maxsize=16)
def _in_play(seats: tuple[str, ...]) -> frozenset[str]:
    return CENTRAL | {location for location in LOCATIONS if CONTINENT[location] in seats}


def in_play(state: State) -> frozenset[str]:
    """The locations of the board: the centre and the continents of the clans in the match (WOC-MAP-01)."""
    return _in_play(tuple(state["seats"]))


def room(state: State, location: str) -> int:
    """How many more ships a location takes: its capacity less all ships there, whoever owns them; pirates, privateers and teleporters
    take no room, hostages do (WOC-MAP-08, WOC-MAP-13, WOC-MAP-14)."""
    left = CAPACITY[location]
    for player in state["players"].values():
        fleet = player["fleets"].get(location)
        if fleet is not None:
            left -= sum(fleet.values())
    return max(0, left)


def points(state: State, seat: Seat) -> list[str]:
    """A seat's teleporters: its home base and its tokens; an eliminated seat has none (WOC-TEL-01, WOC-TEL-06, WOC-ELM-05)."""
    player = state["players"][seat]
    return [] if player["eliminated"] else [HOME[seat], *player["teleporters"]]


def linked(state: State, seat: Seat, one: str, other: str) -> bool:
    """Whether two locations are different teleporters of a seat (WOC-TEL-06, WOC-TEL-07)."""
    own = points(state, seat)
    return one != other and one in own and other in own


# ---------------------------------------------------------------- who is where


def ships_at(state: State, seat: Seat, location: str) -> Counts:
    """A seat's ships on a location."""
    fleet: Counts = state["players"][seat]["fleets"].get(location) or {}
    return fleet


def occupants(state: State, location: str, but: Seat | None = None) -> list[Seat]:
    """The seats with ships on a location, in seat order, but for one."""
    players = state["players"]
    return [seat for seat in state["seats"] if seat != but and location in players[seat]["fleets"]]


def foreign_privateer(state: State, seat: Seat, location: str) -> Seat | None:
    """The other seat whose privateer is on a location, unless it is at home there (WOC-PRV-01, WOC-PRV-05)."""
    players = state["players"]
    for other in state["seats"]:
        if players[other]["privateer"] == location and other != seat and HOME[other] != location:
            found: Seat = other
            return found
    return None


def hostages(state: State, seat: Seat) -> list[str]:
    """The locations where another seat's privateer keeps ships of a seat, in map order (WOC-PRV-06)."""
    fleets = state["players"][seat]["fleets"]
    players = state["players"]
    found = [
        at
        for other in state["seats"]
        if other != seat and (at := players[other]["privateer"]) is not None and at in fleets and at != HOME[other]
    ]
    return sorted(found, key=PLACE.__getitem__) if len(found) > 1 else found


def held(state: State, seat: Seat) -> list[str]:
    """The locations where a seat has ships, no other seat has and no other seat's privateer is, in map order; any ship will do
    (WOC-CTL-01, WOC-CTL-03, WOC-CTL-08, WOC-PRV-05)."""
    mine = state["players"][seat]["fleets"]
    taken = set()
    for other, player in state["players"].items():
        if other != seat:
            taken.update(player["fleets"])
            if player["privateer"] != HOME[other]:
                taken.add(player["privateer"])
    return sorted([location for location in mine if location not in taken], key=PLACE.__getitem__)


def holds(state: State, seat: Seat, location: str) -> bool:
    """Whether a seat holds a location (WOC-CTL-01)."""
    players = state["players"]
    if location not in players[seat]["fleets"]:
        return False
    for other, player in players.items():
        if other != seat and (location in player["fleets"] or (player["privateer"] == location and HOME[other] != location)):
            return False
    return True


def controls(state: State, seat: Seat, location: str) -> bool:
    """Whether a seat controls a location: it holds it, and on the Isle of Myth has its capital ship (WOC-CTL-02, WOC-ISL-01)."""
    if not holds(state, seat, location):
        return False
    return location != ISLE or FLAGSHIP in state["players"][seat]["fleets"][location]


def controlled(state: State, seat: Seat) -> list[str]:
    """The locations that a seat controls, in map order (WOC-CTL-02, WOC-MOV-06)."""
    here = held(state, seat)
    if here and here[0] == ISLE and FLAGSHIP not in state["players"][seat]["fleets"][ISLE]:
        return here[1:]
    return here


def reserve(state: State, seat: Seat, ship: str) -> int:
    """The ships of a kind that a seat may still buy: the limit less those on the board; never the capital ship (WOC-BUY-03, WOC-BUY-04,
    WOC-LIM-03)."""
    if ship == FLAGSHIP:
        return 0
    left = LIMIT[ship]
    for fleet in state["players"][seat]["fleets"].values():
        left -= fleet.get(ship, 0)
    return max(0, left)


def still_in(state: State) -> list[Seat]:
    """The seats not eliminated, in turn order."""
    players = state["players"]
    return [seat for seat in state["seats"] if not players[seat]["eliminated"]]


def on_board(state: State, seat: Seat) -> int:
    """How many ships a seat has."""
    return sum([sum(fleet.values()) for fleet in state["players"][seat]["fleets"].values()])


# ---------------------------------------------------------------- what can be paid, and abilities


def can_pay(state: State, seat: Seat, price: Mapping[str, int]) -> bool:
    """Whether a seat has what something costs; resources and crystals are plain numbers (WOC-GEN-04)."""
    player = state["players"][seat]
    return all([player[name] >= number for name, number in price.items()])  # noqa: C419 - a list is faster here


def ability(state: State, seat: Seat, kind: str) -> Any:
    """The figure of a seat's ability, if it is of a kind; what level 0 has otherwise (WOC-ABL-01, WOC-SET-06)."""
    row = ABILITY[seat]
    return row.levels[state["players"][seat]["ability"]] if row.kind == kind else 0


def crystals_of(state: State, seat: Seat) -> int:
    """A seat's magic crystals, mounted ones included (WOC-MNT-05, WOC-END-01)."""
    player = state["players"][seat]
    total: int = player["crystals"] + len(player["mounted"])
    return total
