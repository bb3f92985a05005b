"""data.json as typed constants, with tables worked out from them once; nothing else opens the file.

What is in the box is counted there: a board of 15 land and 6 sea regions (WOW-CMP-02), 35 cards a side in the copies of WOW-CMP-04 and
WOW-CMP-05 at the costs of WOW-CMP-12, the tokens of WOW-CMP-06 and WOW-CMP-07, 30 civilians and a damage marker (WOW-CMP-08), and ten
figures (WOW-CMP-09, WOW-EDN-02). Ages are kept there too and have no effect (WOW-EDN-01).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
_DATA: dict[str, Any] = json.loads((FOLDER / "data.json").read_text(encoding="utf-8"))
_MAP: dict[str, dict[str, Any]] = _DATA["map"]["regions"]
_SETUP: dict[str, Any] = _DATA["setup"]

_LONGEST_MOVE: int = max(row.get("steps", 0) for cards in _DATA["cards"].values() for card in cards.values() for row in card["options"])


class Kind(NamedTuple):
    """A kind of figure: where it may stand, the regions a step away from each of them, and what it does there (WOW-MOV-01, WOW-MOV-02).

    `within` gives for a number of steps the regions at most so far away, each region without itself. `placed_at` is the one region in
    which its figures are placed, None for those that are placed where civilians stand."""

    id: str
    side: str
    figures: tuple[str, ...]
    beside: dict[str, tuple[str, ...]]
    within: dict[int, dict[str, tuple[str, ...]]]
    defence: int
    blocks: bool
    attackable: bool
    barred_by: tuple[str, ...]
    placed_at: str | None


class Building(NamedTuple):
    """A building token: its place in a region (`building` or `balloons`), what it withstands, gives and does.

    A `defence` of 0 takes no damage (WOW-DMG-09). An `action` of None, or the numbers of what it may do once a turn.
    """

    id: str
    side: str
    tokens: int
    slot: str
    defence: int
    income: int
    action: dict[str, int] | None
    trigger_damage: int
    triggered_by: tuple[str, ...]


class Terms(NamedTuple):
    """One option of a card: the verb that carries it out, and the numbers for it (WOW-CRD-02).

    Option 0, to place a figure, belongs to every unit card and stands in no row of its own (WOW-UNT-09).
    """

    card: str
    option: int
    effect: str
    removes: bool
    kind: str | None
    uses_figure: bool
    at: str
    damage: int
    amount: int
    moves: int
    steps: int
    influence: str | None
    push: str | None
    unprotected_only: bool


class Place(NamedTuple):
    """Where the sketch of the map has a region: its first line, its first column, and how many columns it takes."""

    short: str
    line: int
    column: int
    width: int


class Card(NamedTuple):
    """A card of one of three kinds: action, building, unit (WOW-CRD-01). Starting cards have no cost (WOW-OFR-12)."""

    id: str
    side: str
    type: str
    starting: bool
    copies: int
    cost: int
    building: str | None
    figure: str | None
    options: tuple[Terms, ...]


ALIENS: str = _DATA["players"]["seats"][0]
HUMANS: str = _DATA["players"]["seats"][1]
SEATS: tuple[str, ...] = (ALIENS, HUMANS)
OPTIONS: dict[str, dict[str, Any]] = _DATA["options"]
DEFAULTS: dict[str, Any] = {name: row["default"] for name, row in OPTIONS.items()}
DAMAGE_TO_WIN: int = _DATA["limits"]["damage_to_win"]
HAND_SIZE: int = _DATA["limits"]["hand_size"]
OFFER_SIZE: int = _DATA["limits"]["offer_size"]
CIVILIANS: int = _DATA["civilians"]["tokens"]
CIVILIAN_DEFENCE: int = _DATA["civilians"]["defence"]

SKETCH: dict[str, Place] = {
    region: Place(row["short"], row["line"], row["column"], row["width"]) for region, row in _DATA["sketch"]["places"].items()
}
"""The map as the text board draws it: land regions that touch are those that share a border."""

NAMES: dict[str, str] = {
    name: row["name"] for rows in (*_DATA["cards"].values(), _DATA["units"], _DATA["buildings"]) for name, row in rows.items()
}
"""What cards, kinds of figures and buildings are called."""

SHORT: dict[str, str] = _DATA["sketch"]["tokens"]
"""A short word for each token."""

LAND: tuple[str, ...] = tuple(sorted(region for region, row in _MAP.items() if row["terrain"] == "land"))
SEA: tuple[str, ...] = tuple(sorted(region for region, row in _MAP.items() if row["terrain"] == "sea"))
REGIONS: frozenset[str] = frozenset(_MAP)
BESIDE: dict[str, tuple[str, ...]] = {region: tuple(row["land"]) for region, row in _MAP.items()}
"""The land regions that share a border with a region; of a sea region, its coast (WOW-MAP-01, WOW-MAP-02, WOW-MAP-10)."""

ARRIVALS: dict[str, int] = dict.fromkeys(_SETUP["civilian_regions"], _SETUP["civilians_per_region"])
"""The civilians of the set-up, by region (WOW-SET-02, WOW-MAP-05)."""

STARTING_BUILDINGS: dict[str, str] = _SETUP["buildings"]
STARTING_FIGURES: dict[str, str] = _SETUP["figures"]


def _within(beside: dict[str, tuple[str, ...]], steps: int) -> dict[str, tuple[str, ...]]:
    found = {region: {region} for region in beside}
    for _ in range(steps):
        found = {region: near.union(*(beside[one] for one in near)) for region, near in found.items()}
    return {region: tuple(sorted(near - {region})) for region, near in found.items()}


def _kind(name: str, row: dict[str, Any]) -> Kind:
    stands = [region for region in _MAP if _MAP[region]["terrain"] in row["terrain"]]
    beside = {region: tuple(near for terrain in row["terrain"] for near in _MAP[region][terrain]) for region in stands}
    return Kind(
        id=name,
        side=row["side"],
        figures=tuple(row["figures"]),
        beside=beside,
        within={steps: _within(beside, steps) for steps in range(1, _LONGEST_MOVE + 1)},
        defence=row["defence"] or 0,
        blocks=row["blocks"],
        attackable=row.get("attackable", False),
        barred_by=tuple(row["barred_by"]),
        placed_at=_SETUP.get(row["placed_at"]),
    )


def _building(name: str, row: dict[str, Any]) -> Building:
    return Building(
        id=name,
        side=row["side"],
        tokens=row["tokens"],
        slot=row["slot"],
        defence=row["defence"] or 0,
        income=row["income"],
        action=row.get("action"),
        trigger_damage=row.get("trigger_damage", 0),
        triggered_by=tuple(row.get("triggered_by", ())),
    )


KINDS: dict[str, Kind] = {name: _kind(name, row) for name, row in _DATA["units"].items()}
FIGURES: dict[str, Kind] = {figure: kind for kind in KINDS.values() for figure in kind.figures}
BUILDINGS: dict[str, Building] = {name: _building(name, row) for name, row in _DATA["buildings"].items()}
INFLUENCE: tuple[str, ...] = tuple(_DATA["influence"])


def _figures(side: str, blocking: bool = False) -> tuple[str, ...]:
    return tuple(figure for figure, kind in FIGURES.items() if kind.side == side and (kind.blocks or not blocking))


def _stopping(what: str) -> str:
    """The influence that stops something: entering, leaving or the attacks of buildings."""
    return next(name for name in INFLUENCE if _DATA["influence"][name]["stops"] == what)


FIGURES_OF: dict[str, tuple[str, ...]] = {side: _figures(side) for side in SEATS}
LAND_FIGURES_OF: dict[str, tuple[str, ...]] = {side: _figures(side, blocking=True) for side in SEATS}
ATTACKABLE: tuple[str, ...] = tuple(figure for figure, kind in FIGURES.items() if kind.attackable)
BUILDINGS_OF: dict[str, frozenset[str]] = {side: frozenset(row.id for row in BUILDINGS.values() if row.side == side) for side in SEATS}
ACTING_OF: dict[str, frozenset[str]] = {side: frozenset(name for name in BUILDINGS_OF[side] if BUILDINGS[name].action) for side in SEATS}
BALLOONS: Building = next(row for row in BUILDINGS.values() if row.slot == "balloons")
HIT_FIRST: dict[str | None, int] = {row.id: row.defence for row in BUILDINGS.values() if row.defence and row.slot == "building"}
"""The Defence of the buildings that damage hits before anything else (WOW-STR-02, WOW-HUM-09)."""

INCOME: dict[str | None, int] = {row.id: row.income for row in BUILDINGS.values() if row.income}
"""What a standing token brings its owner each turn (WOW-HUM-11, WOW-ALN-13, WOW-ALN-14, WOW-EDN-08)."""

CLOSED: str = _stopping("entering")
SEALED: str = _stopping("leaving")
FOGGED: str = _stopping("building_attacks")


def _named(ending: str) -> dict[str, tuple[str, int]]:
    """The building that changes a number of a kind of figure, and that number: a key such as `army_defence` names the kind."""
    rows = _DATA["buildings"].items()
    return {kind: (name, row[kind + ending]) for name, row in rows for kind in KINDS if kind + ending in row}


ARMOUR: dict[str, tuple[str, int]] = _named("_defence")
"""The building that gives a kind of figure another Defence (WOW-HUM-10)."""

BONUS: dict[str, tuple[str, int]] = _named("_bonus")
"""The building that adds damage to a kind's attacks (WOW-ALN-15)."""


def _terms(card: str, row: dict[str, Any]) -> Terms:
    return Terms(
        card=card,
        option=row["option"],
        effect=row["effect"],
        removes=row["removes"],
        kind=row.get("unit"),
        uses_figure=row.get("uses_unit", row["effect"] == "unit_attack"),
        at=row.get("at", ""),
        damage=row.get("damage", 0),
        amount=row.get("amount", 0),
        moves=row.get("count", 0),
        steps=row.get("steps", 0),
        influence=row.get("influence"),
        push=next((kind for kind in KINDS if row.get("push_" + kind)), None),
        unprotected_only=row.get("unprotected_only", False),
    )


def _card(side: str, name: str, row: dict[str, Any]) -> Card:
    placing = {"option": 0, "effect": "unit_place", "unit": row.get("unit"), "removes": False}
    rows = [*([placing] if row["kind"] == "unit" else []), *row["options"]]
    return Card(
        id=name,
        side=side,
        type=row["kind"],
        starting=row["starting"],
        copies=row["copies"],
        cost=row["cost"] or 0,
        building=row.get("building"),
        figure=row.get("unit"),
        options=tuple(_terms(name, option) for option in rows),
    )


CARDS: dict[str, Card] = {name: _card(side, name, row) for side in SEATS for name, row in _DATA["cards"][side].items()}
TERMS: dict[tuple[str, int], Terms] = {(terms.card, terms.option): terms for card in CARDS.values() for terms in card.options}
CARD_OF: dict[str, str] = {card.figure: card.id for card in CARDS.values() if card.figure}
"""The unit card of each kind of figure."""

KEPT: dict[str, tuple[Terms, ...]] = {
    card.id: tuple(sorted([terms for terms in card.options if not terms.removes], key=lambda terms: terms.effect != "gain"))
    for card in CARDS.values()
}
"""The options that leave a card in the match, those that always can be played first (WOW-TRN-06)."""

STRONGEST: dict[str, Terms] = {
    card.id: max(attacks, key=lambda terms: terms.damage)
    for card in CARDS.values()
    if card.side == ALIENS and (attacks := [terms for terms in card.options if terms.effect in ("unit_attack", "region_attack")])
}
"""The largest attack of each alien card that has one (WOW-STR-09)."""


def pile(side: str, starting: bool) -> list[str]:
    """A side's starting cards, or its other cards, in the order of their names; the former are never on offer (WOW-CMP-03, WOW-OFR-12)."""
    rows = sorted(card for card in CARDS.values() if card.side == side and card.starting == starting)
    return [card.id for card in rows for _ in range(card.copies)]
