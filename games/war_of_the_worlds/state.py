"""The document of a match, and the questions asked of it.

Exactly two seats play (WOW-CMP-01). Nothing in the document stands for the other seat's turn: nobody reacts there (WOW-TRN-17).
"""

from __future__ import annotations

from typing import Any, TypedDict

from games.kernel import Seat, State
from games.schema import COUNTED, Shape, always, flag, ids, listing, mapping, nullable, record, veiled, whole
from games.war_of_the_worlds.data import (
    ALIENS,
    ARMOUR,
    ATTACKABLE,
    BALLOONS,
    BUILDINGS,
    BUILDINGS_OF,
    CARDS,
    CIVILIAN_DEFENCE,
    CIVILIANS,
    CLOSED,
    DAMAGE_TO_WIN,
    DEFAULTS,
    FIGURES,
    FIGURES_OF,
    HIT_FIRST,
    HUMANS,
    INCOME,
    INFLUENCE,
    KINDS,
    LAND,
    LAND_FIGURES_OF,
    OPTIONS,
    SEA,
    SEALED,
    SEATS,
    Kind,
)

SEAT = ids(SEATS, "a seat, named after its side")
REGION = ids([*LAND, *SEA], "a region of the map")
LAND_REGION = ids(LAND, "a land region")
CARD = ids(CARDS, "a card")
FIGURE = ids(FIGURES, "a figure")
BUILDING = ids(BUILDINGS, "a building token")
SLOT = ids(["building", "balloons"], "where a token lies in its region")
PILE = ids(["discard", "removed", "offer_deck"])
KIND_OF_INFLUENCE = ids(INFLUENCE, "a condition on a region")
DAMAGE = whole(0, DAMAGE_TO_WIN, "the damage dealt to the aliens")
REASON = ids(["damage", "extinction", "round_limit"])
SCORES = mapping(SEAT, whole(0))
PHASE = ids(["setup", "play", "strike", "evacuate", "round_end", "over"])
ACTORS = listing(ids([*SEATS, "system"]), about="who must decide now")
HIDDEN_CARDS = veiled(listing(CARD, about="top card first; a view holds the number of cards instead"), COUNTED)
STRIKE = nullable(
    record({"region": REGION, "damage": whole(0), "need": whole(0)}, about="damage gathered against a region, and what it needs")
)
EVACUATION = nullable(
    record({"region": LAND_REGION, "fought": flag()}, about="where the civilian moved first stands, and whether it has fought")
)

OPTION_SHAPES: dict[str, Shape] = {
    name: flag() if row["type"] == "boolean" else whole(row["min"], row["max"]) for name, row in OPTIONS.items()
}

DOCUMENT = record(
    {
        "game": always("war_of_the_worlds"),
        "options": record({name: shape._replace(needed=False) for name, shape in OPTION_SHAPES.items()}),
        "seats": listing(SEAT, 2, 2, about="in turn order"),
        "round": whole(1),
        "phase": PHASE,
        "active": nullable(SEAT),
        "to_act": ACTORS,
        "outcome": nullable(record({"winners": listing(SEAT), "reason": REASON, "scores": SCORES})),
        "damage": DAMAGE,
        "resources": whole(0, about="coins or energy that the active seat has left this turn"),
        "swapped": flag("whether the active seat has made its swap this turn"),
        "fired": listing(LAND_REGION, about="regions whose building was used this turn"),
        "strike": STRIKE,
        "evacuation": EVACUATION,
        "regions": mapping(
            LAND_REGION,
            record(
                {
                    "civilians": whole(0, CIVILIANS),
                    "fought": whole(0, CIVILIANS, "civilians that have attacked this turn"),
                    "building": nullable(BUILDING),
                    "balloons": flag(),
                    "influence": listing(KIND_OF_INFLUENCE, about="each at most once"),
                }
            ),
        ),
        "units": mapping(
            FIGURE,
            record({"region": nullable(REGION), "used": flag("whether it has taken a unit card this turn")}),
            about="the ten figures; off the board where the region is null",
        ),
        "sides": mapping(
            SEAT,
            record(
                {
                    "hand": veiled(listing(CARD, about="only its own seat sees it; other views hold its size"), COUNTED),
                    "supply": HIDDEN_CARDS,
                    "discard": listing(CARD, about="oldest first"),
                    "removed": listing(CARD, about="oldest first"),
                    "offer": listing(CARD, about="in order of arrival"),
                    "offer_deck": HIDDEN_CARDS,
                }
            ),
        ),
    },
    about="the state of a match of War of the Worlds: The New Wave",
)


class Evacuation(TypedDict):
    """Where the civilian that Evacuate moved first stands, and whether it has fought."""

    region: str
    fought: bool


def option(state: State, name: str) -> Any:
    """An option of the match; one that is absent has its default (WOW-OPT-01, WOW-OPT-02, WOW-OPT-03)."""
    return state["options"].get(name, DEFAULTS[name])


def standing(state: State, figures: tuple[str, ...], region: str) -> int:
    """How many of some figures stand in a region; any number may (WOW-MAP-09)."""
    units = state["units"]
    number = 0
    for figure in figures:
        if units[figure]["region"] == region:
            number += 1
    return number


def hostile(state: State, region: str) -> bool:
    """Whether an alien figure or alien building is in a region, over the sea a UFO; influence alone does not count (WOW-MAP-06, WOW-MAP-07,
    WOW-MAP-08)."""
    land = state["regions"].get(region)
    if land is not None and land["building"] in BUILDINGS_OF[ALIENS]:
        return True
    units = state["units"]
    return any([units[figure]["region"] == region for figure in FIGURES_OF[ALIENS]])  # noqa: C419 - a list is faster here


def open_to_attack(state: State, region: str) -> bool:
    """Whether humans may attack a region: a Tripod or an alien building is there, for UFOs can never be attacked (WOW-ATK-01,
    WOW-ATK-02)."""
    land = state["regions"].get(region)
    if land is not None and land["building"] in BUILDINGS_OF[ALIENS]:
        return True
    return standing(state, ATTACKABLE, region) > 0


def pinned(state: State, figure: str, region: str) -> bool:
    """Whether a land figure could not leave a region in which it stands: one enemy land figure pins one of its side, whatever card moves
    it. UFOs, Navies and civilians neither pin nor are pinned (WOW-MOV-05, WOW-MOV-06, WOW-MOV-07, WOW-MOV-08)."""
    kind = FIGURES[figure]
    if not kind.blocks:
        return False
    foes = standing(state, LAND_FIGURES_OF[HUMANS if kind.side == ALIENS else ALIENS], region)
    if not foes:
        return False
    friends = standing(state, LAND_FIGURES_OF[kind.side], region)
    return bool(friends + (state["units"][figure]["region"] != region) <= foes)


def sealed(state: State, region: str) -> bool:
    """Whether nothing human may leave a region; over the sea nothing hinders (WOW-INF-02, WOW-INF-04)."""
    land = state["regions"].get(region)
    return land is not None and SEALED in land["influence"]


def closed(state: State, region: str) -> bool:
    """Whether nothing human may enter a region, by a move or by being placed (WOW-INF-01, WOW-INF-04, WOW-UNT-17)."""
    land = state["regions"].get(region)
    return land is not None and CLOSED in land["influence"]


def may_leave(state: State, figure: str, region: str) -> bool:
    """Whether a figure may take a step out of a region; conditions bind humans only."""
    if pinned(state, figure, region):
        return False
    return FIGURES[figure].side != HUMANS or not sealed(state, region)


def barred(state: State, kind: Kind, region: str) -> bool:
    """Whether a token in a region keeps a kind of figure out: Barrage Balloons stop UFOs (WOW-MOV-12, WOW-HUM-13)."""
    land = state["regions"].get(region)
    return land is not None and any([bool(land[slot]) for slot in kind.barred_by])  # noqa: C419 - a list is faster here


def may_enter(state: State, kind: Kind, region: str) -> bool:
    """Whether a kind of figure may take a step into a region; a hostile one is no hindrance (WOW-MOV-09)."""
    if kind.barred_by:
        return not barred(state, kind, region)
    return kind.side != HUMANS or not closed(state, region)


def has_way(state: State, figure: str, start: str, goal: str, steps: int) -> bool:
    """Whether a figure can come from one region to another in some steps or fewer, each step allowed by itself (WOW-MOV-01, WOW-MOV-02,
    WOW-MOV-03, WOW-MOV-04)."""
    if not may_leave(state, figure, start):
        return False
    kind = FIGURES[figure]
    if goal in kind.beside[start]:
        return may_enter(state, kind, goal)
    if steps < 2:
        return False
    for near in kind.beside[start]:
        if goal in kind.within[steps - 1][near] and may_enter(state, kind, near) and has_way(state, figure, near, goal, steps - 1):
            return True
    return False


def movable(state: State, region: str, evacuation: Evacuation | None) -> int:
    """How many civilians of a region may move; the one that Evacuate moved first stays (WOW-HUM-04)."""
    civilians: int = state["regions"][region]["civilians"]
    return civilians - 1 if evacuation is not None and evacuation["region"] == region else civilians


def next_has_fought(state: State, region: str, evacuation: Evacuation | None) -> bool:
    """Whether the next civilian to move has fought this turn: those that have not go first (WOW-MOV-11, WOW-ATK-08)."""
    land = state["regions"][region]
    fresh = land["civilians"] - land["fought"]
    if evacuation is not None and evacuation["region"] == region and not evacuation["fought"]:
        fresh -= 1
    return bool(fresh <= 0)


def civilians_left(state: State) -> int:
    """How many civilians are on the board."""
    return sum([land["civilians"] for land in state["regions"].values()])


def stands_anywhere(state: State, building: str) -> bool:
    """Whether a building token is on the board."""
    return any([land["building"] == building for land in state["regions"].values()])  # noqa: C419 - a list is faster here


def armour(state: State, kind: Kind) -> int:
    """The Defence of a kind of human figure, higher while the building that gives it stands anywhere (WOW-DMG-03, WOW-HUM-10)."""
    raised = ARMOUR.get(kind.id)
    return raised[1] if raised is not None and stands_anywhere(state, raised[0]) else kind.defence


def first_defence(state: State, region: str) -> int:
    """The Defence of the first piece that damage hits in a region, 0 if nothing can be hit: buildings but Landmines, Balloons, figures,
    civilians; over the sea the Navies (WOW-STR-01, WOW-DMG-02, WOW-DMG-07, WOW-DMG-08, WOW-DMG-09, WOW-DMG-10)."""
    land = state["regions"].get(region)
    if land is not None:
        if land["building"] in HIT_FIRST:
            return HIT_FIRST[land["building"]]
        if land["balloons"]:
            return BALLOONS.defence
    units = state["units"]
    for figure in FIGURES_OF[HUMANS]:
        if units[figure]["region"] == region:
            return armour(state, FIGURES[figure])
    return CIVILIAN_DEFENCE if land is not None and land["civilians"] else 0


def protected(state: State, region: str) -> bool:
    """Whether a piece before the civilians in the damage order stands in their region (WOW-DMG-12)."""
    land = state["regions"][region]
    return land["building"] in HIT_FIRST or land["balloons"] or standing(state, FIGURES_OF[HUMANS], region) > 0


def fresh_figures(state: State, kind: Kind) -> int:
    """How many figures of a kind are on the board and took no unit card this turn, pinned or idle ones too (WOW-UNT-09, WOW-UNT-13)."""
    units = state["units"]
    return sum([units[figure]["region"] is not None and not units[figure]["used"] for figure in kind.figures])


def free_figure(state: State, kind: Kind) -> str | None:
    """The figure that is placed next: the lowest number off the board, destroyed ones included; None if all are on it (WOW-CMP-10,
    WOW-UNT-15, WOW-UNT-16)."""
    units = state["units"]
    return next((figure for figure in kind.figures if units[figure]["region"] is None), None)


def income(state: State, seat: Seat) -> int:
    """What a seat's standing buildings bring it each turn (WOW-BLD-08, WOW-HUM-11, WOW-ALN-13, WOW-ALN-14)."""
    total = 0
    for land in state["regions"].values():
        brought = INCOME.get(land["building"])
        if brought and BUILDINGS[land["building"]].side == seat:
            total += brought
    return total


def kind_of(name: str | None) -> Kind:
    """The kind of figure that a card speaks of."""
    assert name is not None
    return KINDS[name]
