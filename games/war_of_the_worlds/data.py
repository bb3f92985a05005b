"""data.json as typed constants, and tables made from them once. No other module opens the file.

The file counts what is in the box: a board of 15 land and 6 sea regions (WOW-CMP-02), 35 cards a side in the copies of WOW-CMP-04 and
WOW-CMP-05 at the costs of WOW-CMP-12, the tokens of WOW-CMP-06 and WOW-CMP-07, 30 civilians and a damage marker (WOW-CMP-08), and ten
figures (WOW-CMP-09, WOW-EDN-02). It also keeps the ages, which have no effect (WOW-EDN-01).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from games import draws, profiles

FOLDER = Path(__file__).parent
_DATA: dict[str, Any] = json.loads((FOLDER / "data.json").read_text(encoding="utf-8"))
DRAWS = draws.read(_DATA["draws"])
_MAP: dict[str, dict[str, Any]] = _DATA["map"]["regions"]
_SETUP: dict[str, Any] = _DATA["setup"]

Slot = Literal["building", "balloons"]
"""A place for a token in a land region: a key of the region in the state document."""

Pile = Literal["hand", "supply", "discard", "removed", "offer", "offer_deck"]
"""A pile of cards: a key of a side in the state document."""

BUILDING_SLOT: Final = "building"
BALLOONS_SLOT: Final = "balloons"
DISCARD: Final = "discard"
REMOVED: Final = "removed"
OFFER_DECK: Final = "offer_deck"
PILES: tuple[Pile, ...] = ("hand", "supply", "discard", "removed", "offer", "offer_deck")
IN_PLAY: tuple[Pile, ...] = ("hand", "supply", "discard")
"""The piles through which the cards of a deck go round."""

UNIT = "unit"
"""The type of card that belongs to a kind of figure."""

GAIN = "gain"
DISTANT_ATTACK = "distant_attack"
MOVE_CIVILIANS = "move_civilians"
CIVILIAN_ATTACK = "civilian_attack"
DESTROY_CIVILIAN = "destroy_civilian"
UNIT_PLACE = "unit_place"
UNIT_MOVE = "unit_move"
UNIT_ATTACK = "unit_attack"
REGION_ATTACK = "region_attack"
COAST = "coast"
"""A card works in a coastal region of the figure's sea region."""

ADJACENT = "adjacent"
"""A card works in a region adjacent to the figure."""

_LONGEST_MOVE: int = max(row.get("steps", 0) for cards in _DATA["cards"].values() for card in cards.values() for row in card["options"])


class Kind(NamedTuple):
    """A kind of figure: where it may be, how it moves and what it does there (WOW-MOV-01, WOW-MOV-02).

    `beside`: the regions one step away from each region that the kind may enter. `within`: by number of steps, the regions that are at
    most so far away, without the region itself. `placed_at`: the only region in which its figures are placed. It is None for a kind that
    is placed among civilians. `barred_by`: the slots whose tokens keep the kind out.
    """

    id: str
    side: str
    figures: tuple[str, ...]
    beside: dict[str, tuple[str, ...]]
    within: dict[int, dict[str, tuple[str, ...]]]
    defence: int
    blocks: bool
    attackable: bool
    barred_by: tuple[Slot, ...]
    placed_at: str | None


class Work(NamedTuple):
    """The action of a building, once a turn: a repair for energy, or a shot.

    A `repair` of 0 means that the building shoots. A `damage_adjacent` of 0 means that it shoots in its own region only.
    """

    energy: int = 0
    repair: int = 0
    damage_own_region: int = 0
    damage_adjacent: int = 0


class Building(NamedTuple):
    """A building token: its slot in a region, its Defence, its income and its action.

    A `defence` of 0 means that the token takes no damage (WOW-DMG-09).
    """

    id: str
    side: str
    tokens: int
    slot: Slot
    defence: int
    income: int
    action: Work | None
    trigger_damage: int
    triggered_by: tuple[str, ...]


class Terms(NamedTuple):
    """One option of a card: its effect, and the numbers of that effect (WOW-CRD-02).

    Every unit card has option 0, which places a figure. data.json has no row for it (WOW-UNT-09).
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
    """A region in the sketch of the map: its first line, its first column, and its width in columns."""

    short: str
    line: int
    column: int
    width: int


class Card(NamedTuple):
    """A card of one of three types: action, building, unit (WOW-CRD-01). Starting cards have no cost (WOW-OFR-12)."""

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
PROFILES = profiles.read(_DATA["profiles"])
DAMAGE_TO_WIN: int = _DATA["limits"]["damage_to_win"]
HAND_SIZE: int = _DATA["limits"]["hand_size"]
OFFER_SIZE: int = _DATA["limits"]["offer_size"]
CIVILIANS: int = _DATA["civilians"]["tokens"]
CIVILIAN_DEFENCE: int = _DATA["civilians"]["defence"]

SKETCH: dict[str, Place] = {
    region: Place(row["short"], row["line"], row["column"], row["width"]) for region, row in _DATA["sketch"]["places"].items()
}
"""The map as the text board draws it. Two land regions touch if they share a border."""

NAMES: dict[str, str] = {
    name: row["name"] for rows in (*_DATA["cards"].values(), _DATA["units"], _DATA["buildings"]) for name, row in rows.items()
}
"""The names of cards, kinds of figures and buildings."""

SHORT: dict[str, str] = _DATA["sketch"]["tokens"]
"""A short word for each token."""

LAND: tuple[str, ...] = tuple(sorted(region for region, row in _MAP.items() if row["terrain"] == "land"))
SEA: tuple[str, ...] = tuple(sorted(region for region, row in _MAP.items() if row["terrain"] == "sea"))
REGIONS: frozenset[str] = frozenset(_MAP)
BESIDE: dict[str, tuple[str, ...]] = {region: tuple(row["land"]) for region, row in _MAP.items()}
"""The land regions that share a border with a region. Those of a sea region are its coast (WOW-MAP-01, WOW-MAP-02, WOW-MAP-10)."""


def _distances(start: str) -> dict[str, int]:
    steps = {start: 0}
    edge = [start]
    for away in range(1, len(LAND) + 1):  # the longest way without a detour enters every land region once
        edge = list(dict.fromkeys([near for region in edge for near in BESIDE[region] if near not in steps]))
        steps.update(dict.fromkeys(edge, away))
    assert not edge
    return steps


DISTANCE: dict[str, dict[str, int]] = {region: _distances(region) for region in BESIDE}
"""The steps over land from each region to every land region. From the sea the coast is one step away."""

ARRIVALS: dict[str, int] = dict.fromkeys(_SETUP["civilian_regions"], _SETUP["civilians_per_region"])
"""The civilians of the set-up by region (WOW-SET-02, WOW-MAP-05)."""

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
        action=Work(**row["action"]) if "action" in row else None,
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
    """Return the influence that stops something: entering, leaving or the attacks of buildings."""
    return next(name for name in INFLUENCE if _DATA["influence"][name]["stops"] == what)


FIGURES_OF: dict[str, tuple[str, ...]] = {side: _figures(side) for side in SEATS}
LAND_FIGURES_OF: dict[str, tuple[str, ...]] = {side: _figures(side, blocking=True) for side in SEATS}
ATTACKABLE: tuple[str, ...] = tuple(figure for figure, kind in FIGURES.items() if kind.attackable)
BUILDINGS_OF: dict[str, frozenset[str]] = {side: frozenset(row.id for row in BUILDINGS.values() if row.side == side) for side in SEATS}
ACTING_OF: dict[str, dict[str, Work]] = {
    side: {row.id: row.action for row in BUILDINGS.values() if row.side == side and row.action} for side in SEATS
}
"""By side, the buildings with an action of their own, and that action."""

BALLOONS: Building = next(row for row in BUILDINGS.values() if row.slot == BALLOONS_SLOT)
HIT_FIRST: dict[str | None, int] = {row.id: row.defence for row in BUILDINGS.values() if row.defence and row.slot == BUILDING_SLOT}
"""The Defence of the buildings that damage hits before any other piece (WOW-STR-02, WOW-HUM-09)."""

INCOME: dict[str | None, int] = {row.id: row.income for row in BUILDINGS.values() if row.income}
"""The income of a token each turn (WOW-HUM-11, WOW-ALN-13, WOW-ALN-14, WOW-EDN-08)."""

MINES: dict[str | None, Building] = {row.id: row for row in BUILDINGS.values() if row.triggered_by}
"""The tokens that go off when a figure of some kind enters their region."""

NO_ENTRY: str = _stopping("entering")
NO_EXIT: str = _stopping("leaving")
NO_SHOTS: str = _stopping("building_attacks")


def _named(ending: str) -> dict[str, tuple[str, int]]:
    """Return, by kind of figure, the building that changes a number of the kind, and that number. The key `army_defence` names the kind."""
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
        uses_figure=row.get("uses_unit", row["effect"] == UNIT_ATTACK),
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
    placing = {"option": 0, "effect": UNIT_PLACE, "unit": row.get("unit"), "removes": False}
    rows = [*([placing] if row["kind"] == UNIT else []), *row["options"]]
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
    card.id: tuple(sorted([terms for terms in card.options if not terms.removes], key=lambda terms: terms.effect != GAIN))
    for card in CARDS.values()
}
"""The options that do not remove the card. Options that can always be played come first (WOW-TRN-06)."""

STRONGEST: dict[str, Terms] = {
    card.id: max(attacks, key=lambda terms: terms.damage)
    for card in CARDS.values()
    if card.side == ALIENS and (attacks := [terms for terms in card.options if terms.effect in (UNIT_ATTACK, REGION_ATTACK)])
}
"""The largest attack of each alien card that can attack (WOW-STR-09)."""


def pile(side: str, starting: bool) -> list[str]:
    """Return a side's starting cards, or its other cards, ordered by name. Starting cards are never on offer (WOW-CMP-03, WOW-OFR-12)."""
    rows = sorted(card for card in CARDS.values() if card.side == side and card.starting == starting)
    return [card.id for card in rows for _ in range(card.copies)]


class Weights(NamedTuple):
    """The weights of `worth`, in points of the score.

    `won`: a match that is won. `spare`: a coin or a unit of energy that is not spent yet. `turns`: the turns for which a better deck or an
    income counts. `lean`: the size below which a smaller deck is no better. `other_use`: the part of a card's second best option that
    counts. `figure`: a figure on the board. `token`: a building, for each coin of its price. `income`: a coin or unit of energy each turn.
    `enough`: civilians in one region that can be used soon. `prey`: a civilian in the region of an alien land figure. `shielded`: the part
    of that if the civilian is protected. `near_prey`: a civilian one step away. `flown`: the part of it that a flying figure counts.
    `far`: each step to the nearest civilians. `fighters`: the civilians that are wanted near a target. `fighter`: one of them, by steps to
    the target. `ready`: a human figure, by steps to the target. `shelter`: a civilian behind a building, for each point of Defence.
    `menace`: a mine next to a figure that sets it off. `move_civilian`, `move_step`: one move of a card. `uses`: by effect, each point of
    its damage or amount.
    """

    won: float
    spare: float
    turns: float
    lean: int
    other_use: float
    figure: float
    token: float
    income: float
    enough: int
    prey: float
    shielded: float
    near_prey: float
    flown: float
    far: float
    fighters: int
    fighter: tuple[float, ...]
    ready: tuple[float, ...]
    shelter: float
    menace: float
    move_civilian: float
    move_step: float
    uses: dict[str, float]


def _weights(row: dict[str, Any]) -> Weights:
    return Weights(**{**row, "fighter": tuple(row["fighter"]), "ready": tuple(row["ready"])})


WEIGHTS: Weights = _weights(_DATA["worth"]["weights"])
