"""data.json as typed constants, with tables worked out from them once; nothing else opens the file.

What is in the boxes is counted there (WOC-CMP-01, WOC-CMP-02, WOC-CMP-03): a clan's ships with strength and price (WOC-CMP-05,
WOC-CMP-06), the cards, and all six clans whatever the edition (WOC-CMP-04). Combat cards, pirate cards and markers do nothing
(WOC-CMP-07), and tokens of disasters never run out (WOC-CMP-08).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
_DATA: dict[str, Any] = json.loads((FOLDER / "data.json").read_text(encoding="utf-8"))
_PLACES: dict[str, dict[str, Any]] = _DATA["map"]["locations"]

ISLE: str = next(location for location, row in _PLACES.items() if row["capacity"] is None)
"""The Isle of Myth; the same word names its record in the document, and its crystals."""

Counts = dict[str, int]


class Ability(NamedTuple):
    """What a clan can do: the kind of its ability, and its figures by level, from 0 (WOC-ABL-01)."""

    kind: str
    levels: tuple[Any, ...]


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


SEATS: tuple[str, ...] = tuple(_DATA["clans"])
LEAST_SEATS: int = _DATA["seat_count"]["min"]
MOST_SEATS: int = _DATA["seat_count"]["max"]
OPTIONS: dict[str, dict[str, Any]] = _DATA["options"]
DEFAULTS: dict[str, Any] = {name: row["default"] for name, row in OPTIONS.items()}
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

PIRATE_STRENGTH: int = _DATA["pirate"]["strength"]
PIRATE_DICE: int = _DATA["pirate"]["dice"]
PIRATE_FACES: int = _DATA["pirate"]["faces"]
PRIVATEER_STRENGTH: int = _DATA["privateer"]["strength"]
PRIVATEER_PRICE: Counts = _DATA["privateer"]["cost"]

START: Counts = {name: _DATA["start"][name] for name in (*RESOURCES, "crystals", "ability")}
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
UPKEEP: tuple[tuple[int, int], ...] = tuple(sorted((row["strength"], row["oc"]) for row in _DATA[ISLE]["upkeep"]))
OFFERS_A_MOMENT: int = _DATA["ransom"]["offers_per_moment"]
NOTE_LENGTH: int = _DATA["ransom"]["note_max_length"]
FORECAST_TOKENS: int = _DATA["disaster"]["forecast_tokens"]

LOCATIONS: tuple[str, ...] = tuple(_PLACES)
PLACE: dict[str, int] = {location: place for place, location in enumerate(LOCATIONS)}
"""Where a location stands in map order."""

FLEET_LIMIT: int = sum(LIMIT.values()) * MOST_SEATS
CAPACITY: dict[str, int] = {location: row["capacity"] or FLEET_LIMIT for location, row in _PLACES.items()}
"""How many ships a location takes; the Isle of Myth as many as there are (WOC-MAP-02, WOC-MAP-04, WOC-MAP-08)."""

RING: tuple[str, ...] = tuple(_DATA["map"]["clockwise"])
"""The apex islands, clockwise (WOC-MAP-07)."""

APEX: frozenset[str] = frozenset(RING)
CENTRAL: frozenset[str] = frozenset((ISLE, *RING))
CONTINENT: dict[str, str] = {location: row["continent"] for location, row in _PLACES.items()}
DOCKABLE: frozenset[str] = frozenset(location for location, row in _PLACES.items() if row["dockable"])
"""Where teleporter tokens stand and privateers land: not on home bases, shield islands and the Isle (WOC-MAP-02, WOC-MAP-03,
WOC-MAP-04, WOC-MAP-12)."""

YIELDS: dict[str, Counts] = {location: row["yields"] for location, row in _PLACES.items()}
"""What a location gives; the Isle of Myth nothing (WOC-MAP-15, WOC-COL-04)."""

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
"""What each lost expedition costs (WOC-EXP-05)."""


def _ability(row: dict[str, Any]) -> Ability:
    levels = [tuple(level) if isinstance(level, list) else level for level in row["levels"]]
    return Ability(row["kind"], (() if isinstance(levels[0], tuple) else 0, *levels))


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
            "attacker": anyhow + effect.get("bonus_if_attacker", 0),
            "defender": anyhow + effect.get("bonus_if_defender", 0),
        },
        doubles=effect.get("double_ammo_up_to", 0),
        cancels=effect.get("cancel_opponent_cards", False),
        retreats=effect.get("retreat_all", False),
        plunder=dict.fromkeys(MATERIALS, effect.get("take_materials", 0)),
        returns=effect.get("return_ammo", False),
    )


CARDS: dict[str, Card] = {row["id"]: _card(row) for row in _DATA["power_cards"]}
PLUNDERING: tuple[str, ...] = tuple(card.id for card in CARDS.values() if any(card.plunder.values()))
BATTLE_CARDS: frozenset[str] = frozenset(card.id for card in CARDS.values() if card.moment == "battle")


def deck(seats: int) -> list[str]:
    """The power cards in use with so many seats: one of each design, or all copies (WOC-SET-02)."""
    return [card.id for card in CARDS.values() for _ in range(card.copies if seats >= ALL_COPIES_FROM else 1)]


TURN: dict[str, Any] = {
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
"""The record of a turn not yet used."""

OF_AN_ACTION: tuple[str, ...] = (
    "teleporter_to",
    "mover",
    "trail",
    "arrived",
    "discount_left",
    "converted",
    "forecast_drawn",
)
"""What of a turn's record belongs to the active action under way."""
