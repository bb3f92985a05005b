"""data.json as typed constants, with tables worked out from them once; nothing else opens the file.

What is in the boxes is counted there (WOC-CMP-01, WOC-CMP-02, WOC-CMP-03): a clan's ships with strength and price (WOC-CMP-05,
WOC-CMP-06), the cards, and all six clans of every edition (WOC-CMP-04). Combat cards, pirate cards and markers do nothing
(WOC-CMP-07), and tokens of disasters never run out (WOC-CMP-08).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from games import draws, profiles

FOLDER = Path(__file__).parent
_DATA: dict[str, Any] = json.loads((FOLDER / "data.json").read_text(encoding="utf-8"))
_PLACES: dict[str, dict[str, Any]] = _DATA["map"]["locations"]

ISLE: str = next(location for location, row in _PLACES.items() if row["capacity"] is None)
"""The Isle of Myth; the same word names its record in the document, and its crystals."""

Counts = dict[str, int]


# ---------------------------------------------------------------- words of the document

ATTACKER, DEFENDER = "attacker", "defender"
OTHER_SIDE: dict[str, str] = {ATTACKER: DEFENDER, DEFENDER: ATTACKER}

PIRATE = "pirate"
"""The defender of a battle against a pirate, and the kind of that battle."""

FLEET = "fleet"
PRIVATEER = "privateer"
"""A battle between fleets, and one with a privateer. `privateer` is also the ware that is bought."""

RESERVE = "reserve"
"""The place of a beaten privateer."""

BARREN = "barren"
"""The mark of an island that was laid waste."""

SUPPLY, EXPEDITION = "supply", "expedition"
"""The source of crystals besides seats and the Isle."""

DEPLOY_PHASE, TURN_PHASE, PIRATE_PHASE, BLOCKADE_PHASE = "deploy", "turn", "pirate", "blockade"
RANSOM_PHASE, REINFORCE_PHASE, BIDS_PHASE, RETREAT_PHASE = "ransom", "reinforce", "bids", "retreat"

COLLECTING, BUYING, MOVING, REDISTRIBUTING, CONVERTING = "collect", "buy", "move", "redistribute", "convert"
"""The active actions."""

REBUILDING, CARD_BUYING, BUILDING, MOUNTING, DISMOUNTING = "rebuild", "buy_card", "build_teleporter", "mount", "dismount"
"""The bonus steps. The last two are also the uses of crystals in a turn."""

DESTROY_ADJACENT, EXTRA_STEPS, ATTACK_BONUS = "destroy_adjacent", "extra_steps", "attack_bonus"
DEFENCE_BONUS, COLLECT_EXTRA, SHIP_DISCOUNT = "defence_bonus", "collect_extra", "ship_discount"
"""The kinds of ability (WOC-ABL-01)."""

CRYSTAL_WIN, ISLE_WIN, ROUND_LIMIT_WIN, SURVIVOR_WIN = "crystals", "isle_held", "round_limit", "last_survivor"
"""The reasons why a match ends."""

# ---------------------------------------------------------------- rows


class Ability(NamedTuple):
    """The ability of a clan: its kind, and by level, from 0, a figure or the ships that it destroys (WOC-ABL-01)."""

    kind: str
    figures: tuple[int, ...]
    targets: tuple[tuple[str, ...], ...]


class Layer(NamedTuple):
    """A layer of a stock: the worth of each resource of a kind from the layer before up to a number."""

    up_to: int
    each: float


class StockWeights(NamedTuple):
    """The worth of the resources of a kind, which falls from layer to layer."""

    few: Layer
    some: Layer
    many: Layer


class Weights(NamedTuple):
    """The weights of `worth`. Most are in crystals times `crystal`."""

    won: float
    crystal: float
    level: float  # a level of an ability, which has cost a crystal
    stock: StockWeights  # each resource, by the number of its kind
    strength: float  # a point of strength
    collector: float  # in addition, a ship that collects
    card: float
    place: float  # a location that the seat occupies alone
    income: float  # each resource of a collection
    continent: float  # all of the own continent, which brings an action
    towards: float  # a step of the capital ship towards the Isle
    escort: float  # a step of another fighting ship towards the Isle, for each point of strength
    isle_taken: float  # the Isle that has just been taken
    isle_after: tuple[float, ...]  # the Isle after one full round, two, and so on
    unpaid: float  # the share of that without the upkeep
    exposed: float  # the share of that if a stronger fleet is sure to come
    at_risk: float  # the loss of a capital ship to a stronger fleet next to it
    home: float  # the danger to a home base with a stronger fleet next to it
    home_least: float  # the least share of that danger
    home_spread: float  # the lead in strength that makes the danger certain, twice over
    token: float  # a teleporter on the board
    privateer: float
    extra: float  # one more action or step in this turn
    promised: float  # the most that a step not yet made is worth
    bold: float  # the share of its ammo that a side is expected to bid
    rival: float  # the share of the best rival's worth that is taken off
    spoils: float  # the elimination of a seat, besides its crystals
    ruin: float  # the loss of the own home base
    offered: float  # the share of an offered ransom that is taken off
    card_taken: float  # what a card takes from the opponent, as a share of a bonus
    card_doubled: float  # ammo that a card doubles, as a share of a bonus
    rival_cards: float  # the share of its cards that a rival is expected to bid
    bid_spent: float  # a point of ammo that was bid
    beaten_strength: float  # the share of a beaten fleet that is lost
    beaten_crystals: float  # the crystals that a defeat costs
    won_strength: float  # the share of a beaten opponent's fleet that counts
    attack_strength: float  # each point of strength that a lost attack costs
    pirate_crystals: float  # the crystals of a pirate and its island
    expedition_means: float  # the chance to pay an expedition, for each resource of the scarcest material
    odds_least: float
    odds_most: float
    odds_lead: float  # the share of the opponent's spread that is certain


class Card(NamedTuple):
    """A design of power card: when it is played, what it costs, and what it does (WOC-PWR-06).

    A turn card's effect is a `verb` with its `value`; a battle card's are numbers of its side or of the opponent's."""

    id: str
    moment: str
    cost: Counts
    copies: int
    verb: str
    value: Any
    fleet: int
    ammo: int
    bonus: dict[str, int]
    doubles: int
    cancels: bool
    retreats: bool
    plunder: Counts
    returns: bool


ID: str = _DATA["game"]
SEATS: tuple[str, ...] = tuple(_DATA["clans"])
LEAST_SEATS: int = _DATA["seat_count"]["min"]
MOST_SEATS: int = _DATA["seat_count"]["max"]
OPTIONS: dict[str, dict[str, Any]] = _DATA["options"]
DEFAULTS: dict[str, Any] = {name: row["default"] for name, row in OPTIONS.items()}
PROFILES = profiles.read(_DATA["profiles"])
RESOURCES: tuple[str, ...] = tuple(_DATA["resources"])
MAX_LEVEL: int = _DATA["ability_max_level"]

SHIPS: tuple[str, ...] = tuple(_DATA["ships"])
STRENGTH: dict[str, int] = {ship: row["strength"] for ship, row in _DATA["ships"].items()}
LIMIT: dict[str, int] = {ship: row["limit"] for ship, row in _DATA["ships"].items()}
PRICE: dict[str, Counts] = {ship: row["cost"] for ship, row in _DATA["ships"].items() if row["cost"] is not None}
FLAGSHIP: str = next(ship for ship, row in _DATA["ships"].items() if row["cost"] is None)
"""The capital ship has no price and is never bought (WOC-BUY-04)."""

COLLECTOR: str = next(ship for ship, row in _DATA["ships"].items() if row.get("collects"))
WEAKEST_FIRST: tuple[str, ...] = tuple(sorted(SHIPS, key=lambda ship: STRENGTH[ship]))
MATERIALS: tuple[str, ...] = tuple(name for name in RESOURCES if any(name in cost for cost in PRICE.values()))
"""The resources that ships are built of."""

MONEY: str = next(name for name in _DATA[ISLE]["upkeep"][0] if name != "strength")
"""The resource that pays upkeep, and from which a discount is taken off."""

POWDER: str = next(name for name in RESOURCES if name not in MATERIALS)
"""The resource that is bid in battles."""

PIRATE_STRENGTH: int = _DATA["pirate"]["strength"]
PIRATE_DICE: int = _DATA["pirate"]["dice"]
PIRATE_FACES: int = _DATA["pirate"]["faces"]
DRAWS = draws.read(_DATA["draws"], PIRATE_FACES)
PRIVATEER_STRENGTH: int = _DATA["privateer"]["strength"]
PRIVATEER_PRICE: Counts = _DATA["privateer"]["cost"]

START: Counts = {name: _DATA["start"][name] for name in RESOURCES}
START_CRYSTALS: int = _DATA["start"]["crystals"]
HOME_SHIPS: Counts = _DATA["start"]["home_ships"]
FREE_SHIPS: Counts = _DATA["start"]["deploy_ships"]

ACTIONS: tuple[str, ...] = tuple(_DATA["turn"]["bonus"])
ACTIONS_A_TURN: int = _DATA["turn"]["active_actions"]
ACTIONS_FOR_ALL_ISLANDS: int = _DATA["turn"]["all_islands_bonus"]
BONUS_OF: dict[str, tuple[str, ...]] = {step: () for steps in _DATA["turn"]["bonus"].values() for step in steps}
for _action, _steps in _DATA["turn"]["bonus"].items():
    for _step in _steps:
        BONUS_OF[_step] = (*BONUS_OF[_step], _action)

DISPLAY_SIZE: int = _DATA["cards"]["display"]
HAND_LIMIT: int = _DATA["cards"]["hand_limit"]
CARDS_A_TURN: int = _DATA["cards"]["bought_per_turn"]
ALL_COPIES_FROM: int = _DATA["cards"]["all_copies_from_seats"]

TELEPORTER_PRICE: Counts = _DATA["costs"]["teleporter"]
MOUNT_PRICE: Counts = _DATA["costs"]["mount"]
REBUILD_PRICE: Counts = _DATA["costs"]["rebuild"]
UPGRADE_PRICE: int = _DATA["costs"]["ability_upgrade_crystals"]
TELEPORTERS: int = _DATA["teleporters_per_seat"]
HOME_DEFENCE: int = _DATA["home_defence"]
WIN_CRYSTALS: int = _DATA["battle"]["crystals_for_win"]
FLAGSHIP_CRYSTALS: int = _DATA["battle"]["crystals_for_win_over_capital"]
CRYSTALS: int = _DATA["crystals"]["total"]
ISLE_CRYSTALS: int = _DATA["crystals"][ISLE]
EXPEDITION_CRYSTALS: int = _DATA["crystals"]["per_expedition"]
ISLE_REWARD: int = _DATA[ISLE]["reward"]
ROUNDS_TO_WIN: int = _DATA[ISLE]["win_full_rounds"]
COUNTDOWN: int = _DATA[ISLE]["countdown"]
UPKEEP: tuple[tuple[int, int], ...] = tuple(sorted((row["strength"], row[MONEY]) for row in _DATA[ISLE]["upkeep"]))
OFFERS_A_MOMENT: int = _DATA["ransom"]["offers_per_moment"]
NOTE_LENGTH: int = _DATA["ransom"]["note_max_length"]
FORECAST_TOKENS: int = _DATA["disaster"]["forecast_tokens"]

LOCATIONS: tuple[str, ...] = tuple(_PLACES)
PLACE: dict[str, int] = {location: place for place, location in enumerate(LOCATIONS)}
"""The rank of each location in map order."""

FLEET_LIMIT: int = sum(LIMIT.values()) * MOST_SEATS
CAPACITY: dict[str, int] = {location: row["capacity"] or FLEET_LIMIT for location, row in _PLACES.items()}
"""The capacity of each location in ships. The Isle of Myth takes any number (WOC-MAP-02, WOC-MAP-04, WOC-MAP-08)."""

RING: tuple[str, ...] = tuple(_DATA["map"]["clockwise"])
"""The apex islands, clockwise (WOC-MAP-07)."""

APEX: frozenset[str] = frozenset(RING)
CENTRAL: frozenset[str] = frozenset((ISLE, *RING))
CONTINENT: dict[str, str] = {location: row["continent"] for location, row in _PLACES.items()}
DOCKABLE: frozenset[str] = frozenset(location for location, row in _PLACES.items() if row["dockable"])
"""The locations for teleporter tokens and privateers: not home bases, shield islands and the Isle (WOC-MAP-02, WOC-MAP-03,
WOC-MAP-04, WOC-MAP-12)."""

YIELDS: dict[str, Counts] = {location: row["yields"] for location, row in _PLACES.items()}
"""The yield of each location. The Isle of Myth yields nothing (WOC-MAP-15, WOC-COL-04)."""

BESIDE: dict[str, tuple[str, ...]] = {location: tuple(row["adjacent"]) for location, row in _PLACES.items()}
"""The links printed on the boards; inland places have none to the outside (WOC-MAP-06, WOC-MAP-07, WOC-MAP-11)."""

CONTINENT_OF: dict[str, tuple[str, ...]] = {seat: tuple(place for place in LOCATIONS if CONTINENT[place] == seat) for seat in SEATS}
"""The six locations of each clan (WOC-MAP-01)."""

HOME: dict[str, str] = {seat: next(place for place in CONTINENT_OF[seat] if _PLACES[place]["teleporter"] == "built_in") for seat in SEATS}
OWNER_OF_HOME: dict[str, str] = {home: seat for seat, home in HOME.items()}
NORTH: dict[str, str] = {seat: f"{seat}_{_DATA['map']['attached_island']}" for seat in SEATS}
LANDINGS: dict[str, tuple[str, ...]] = {seat: tuple(f"{seat}_{name}" for name in _DATA["start"]["deploy_islands"]) for seat in SEATS}
"""The two islands next to each home base, where the free ships go (WOC-MAP-05, WOC-SET-08)."""

ATTACHED: dict[int, tuple[str, ...]] = {int(size): tuple(row) for size, row in _DATA["map"]["attached_by_seat_count"].items()}
"""The apex islands next to the north islands, by number of seats (WOC-MAP-09)."""

COVERED: dict[int, tuple[str, ...]] = {int(size): tuple(row) for size, row in _DATA["map"]["covered_by_seat_count"].items()}
"""The apex islands out of play, by number of seats (WOC-MAP-10)."""

DISASTERS: dict[str, str | None] = {row["id"]: row["island"] for row in _DATA["disaster_cards"]}
"""The island that each disaster card names; None for the one that heals (WOC-SET-10, WOC-DIS-02, WOC-DIS-03)."""

STRUCK: dict[str, dict[str, str]] = {
    seat: {card: f"{seat}_{island}" for card, island in DISASTERS.items() if island is not None} for seat in SEATS
}
EXPEDITIONS: dict[str, Counts] = {row["id"]: row["cost"] for row in _DATA["expeditions"]}
"""The cost of each lost expedition (WOC-EXP-05)."""


def _weights(row: dict[str, Any]) -> Weights:
    stock = StockWeights(**{name: Layer(**layer) for name, layer in row["stock"].items()})
    return Weights(**{**row, "stock": stock, "isle_after": tuple(row["isle_after"])})


WEIGHTS: Weights = _weights(_DATA["worth"])


def _ability(row: dict[str, Any]) -> Ability:
    levels = row["levels"]
    if row["kind"] == DESTROY_ADJACENT:
        return Ability(row["kind"], (0,) * (len(levels) + 1), ((), *map(tuple, levels)))
    return Ability(row["kind"], (0, *levels), ((),) * (len(levels) + 1))


ABILITY: dict[str, Ability] = {seat: _ability(row["ability"]) for seat, row in _DATA["clans"].items()}


def _card(row: dict[str, Any]) -> Card:
    effect = row["effect"]
    verb, value = next(iter(effect.items()))
    anyhow = effect.get("bonus", 0)
    return Card(
        id=row["id"],
        moment=row["moment"],
        cost=row["cost"],
        copies=row["copies"],
        verb=verb,
        value=value,
        fleet=-effect.get("opponent_fleet", 0),
        ammo=-effect.get("opponent_ammo", 0),
        bonus={
            ATTACKER: anyhow + effect.get("bonus_if_attacker", 0),
            DEFENDER: anyhow + effect.get("bonus_if_defender", 0),
        },
        doubles=effect.get("double_ammo_up_to", 0),
        cancels=effect.get("cancel_opponent_cards", False),
        retreats=effect.get("retreat_all", False),
        plunder=dict.fromkeys(MATERIALS, effect.get("take_materials", 0)),
        returns=effect.get("return_ammo", False),
    )


CARDS: dict[str, Card] = {row["id"]: _card(row) for row in _DATA["power_cards"]}
CARD_WORDS: dict[str, tuple[str, str]] = {row["id"]: (row["name"], row["text"]) for row in _DATA["power_cards"]}
"""The name of each power card, and its effect in words."""

PLUNDERING: tuple[str, ...] = tuple(card.id for card in CARDS.values() if any(card.plunder.values()))
BATTLE_CARDS: frozenset[str] = frozenset(card.id for card in CARDS.values() if card.moment == "battle")


def deck(seats: int) -> list[str]:
    """The power cards in use with so many seats: one of each design, or all copies (WOC-SET-02)."""
    return [card.id for card in CARDS.values() for _ in range(card.copies if seats >= ALL_COPIES_FROM else 1)]


BLANK_TURN: dict[str, Any] = {
    "actions_used": 0,
    "extra_actions": 0,
    "action": None,
    "bonus_open": False,
    "cards_bought": 0,
    "crystal_use": None,
    "teleporter_to": [],
    "free_teleporter": False,
    "extra_steps": 0,
    "mover": None,
    "trail": None,
    "arrived": {},
    "discount_left": 0,
    "converted": [],
    "forecast_drawn": False,
    "privateer_used": False,
    "laid_waste": [],
    "teleporters_lost": 0,
}
"""The record of a turn that has just begun."""

BLANK_ACTION: dict[str, Any] = {
    name: BLANK_TURN[name]
    for name in ("action", "bonus_open", "teleporter_to", "mover", "trail", "arrived", "discount_left", "converted", "forecast_drawn")
}
"""The part of the turn record that belongs to the active action, while none is under way."""

BLANK_BATTLE: dict[str, Any] = {"bids": {}, "ability_used": [], "dice": None, "result": None, "retreat": None}
"""The part of the battle record that is filled in during the battle."""

BLANK_ISLE: dict[str, Any] = {"holder": None, "since": None, "full_rounds": 0}
"""The record of the Isle of Myth while it has no holder."""

ELIMINATED: dict[str, Any] = {
    **dict.fromkeys((*RESOURCES, "crystals"), 0),
    "cards": [],
    "fleets": {},
    "mounted": {},
    "teleporters": [],
    "privateer": None,
    "eliminated": True,
}
"""The part of a player record that an elimination sets (WOC-ELM-03)."""
