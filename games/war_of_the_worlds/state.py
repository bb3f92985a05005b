"""The shape of the state document, questions about it, and refusals that several deeds share.

Exactly two seats play (WOW-CMP-01). The document has no field for reactions, because nobody reacts in the other seat's turn (WOW-TRN-17).
"""

from __future__ import annotations

from collections.abc import Collection

from games.kernel import Action, Refusal, Seat, no
from games.lifecycle import OVER, ROUND_END, SETUP, SHARED_REASONS, shared_shapes
from games.schema import BLANK, COUNTED, described, flag, ids, listing, mapping, nullable, record, settings, text, veiled, whole
from games.sentences import say
from games.war_of_the_worlds import data
from games.war_of_the_worlds.document import Evacuation, State

PLAYING = "play"
STRIKING = "strike"
EVACUATING = "evacuate"
PHASE_IDS = (SETUP, PLAYING, STRIKING, EVACUATING, ROUND_END, OVER)

BY_DAMAGE = "damage"
BY_EXTINCTION = "extinction"
BY_ROUNDS = "round_limit"
REASONS = (BY_DAMAGE, BY_EXTINCTION, BY_ROUNDS, *SHARED_REASONS)

SEAT = ids(data.SEATS, "a seat, named after its side")
REGION = ids([*data.LAND, *data.SEA], "a region of the map")
LAND_REGION = ids(data.LAND, "a land region")
CARD = ids(data.CARDS, "a card")
FIGURE = ids(data.FIGURES, "a figure")
BUILDING = ids(data.BUILDINGS, "a building token")
SLOT = ids([data.BUILDING_SLOT, data.BALLOONS_SLOT], "the place of a token in its region")
PLAYED_TO = ids([data.DISCARD, data.REMOVED], "the pile that the card goes to; `removed` is out of the game")
SWAPPED_TO = ids([data.OFFER_DECK, data.REMOVED], "where the card goes: under the offer deck, or out of the game")
KIND_OF_INFLUENCE = ids(data.INFLUENCE, "a condition on a region")
DAMAGE = whole(0, data.DAMAGE_TO_WIN, "the damage dealt to the aliens")
SCORE = whole(0)
SOURCE = text(about="a card, a building, or income")
GATHERED = whole(1, about="damage gathered so far")
NEED = whole(0, about="damage that the strike needs")
FOUGHT = flag("whether the civilian has attacked this turn")
HIDDEN_CARDS = veiled(listing(CARD, about="top card first; a view has the number of cards instead"), COUNTED)
NUMBER_OF_CARDS = whole(1, about="how many cards")
SHUFFLED_CARDS = veiled(listing(CARD, about="top card first; null for a viewer who may not know them"), BLANK)
STRIKE = record({"region": REGION, "damage": GATHERED, "need": NEED}, about="the open strike, or null")
EVACUATION = record({"region": LAND_REGION, "fought": FOUGHT}, about="the region and the mark of the civilian that moved first, or null")

OPTION_TEXTS = {
    "expert_swap": "whether a swapped card leaves the game instead of going under the offer deck (WOW-OPT-01)",
    "must_play": "whether a seat must play every card that it can before its turn may end (WOW-OPT-02)",
    "round_limit": "the round after which the match ends by score (WOW-OPT-03)",
    "use_once": "whether a building acts only once in a turn (WOW-OPT-04)",
    "early_shuffle": "whether a discard pile is shuffled as soon as the supply deck is empty (WOW-OPT-05)",
}
OPTION_SHAPES = settings(data.OPTIONS, OPTION_TEXTS)

DOCUMENT = record(
    {
        **shared_shapes("war_of_the_worlds", SEAT, PHASE_IDS, REASONS, SCORE, OPTION_SHAPES),
        "damage": DAMAGE,
        "resources": whole(0, about="coins or energy of the active seat, for this turn"),
        "swapped": flag("whether the active seat has made its swap this turn"),
        "fired": listing(LAND_REGION, about="regions whose building was used this turn"),
        "strike": nullable(STRIKE),
        "evacuation": nullable(EVACUATION),
        "regions": mapping(
            LAND_REGION,
            record(
                {
                    "civilians": whole(0, data.CIVILIANS, "civilians in the region"),
                    "fought": whole(0, data.CIVILIANS, "civilians that have attacked this turn"),
                    "building": nullable(described(BUILDING, "the building token here, or null; never the balloons")),
                    "balloons": flag("whether barrage balloons are here"),
                    "influence": listing(KIND_OF_INFLUENCE, about="conditions in force here, each at most once"),
                }
            ),
            about="the land regions",
        ),
        "units": mapping(
            FIGURE,
            record(
                {
                    "region": nullable(described(REGION, "where the figure is; null off the board")),
                    "used": flag("whether it has taken a unit card this turn"),
                }
            ),
            about="the ten figures; a figure without a region is off the board",
        ),
        "sides": mapping(
            SEAT,
            record(
                {
                    "hand": veiled(listing(CARD, about="only its own seat sees it; other views have its size"), COUNTED),
                    "supply": HIDDEN_CARDS,
                    "discard": listing(CARD, about="oldest first"),
                    "removed": listing(CARD, about="oldest first"),
                    "offer": listing(CARD, about="in order of arrival"),
                    "offer_deck": HIDDEN_CARDS,
                }
            ),
            about="the cards of each seat, by pile",
        ),
    },
    about="the state of a match of War of the Worlds: The New Wave",
)


def must_play(state: State) -> bool:
    """Return True if every card that can be played must be played (WOW-OPT-02)."""
    return bool(state["options"].get("must_play", data.DEFAULTS["must_play"]))


def expert_swap(state: State) -> bool:
    """Return True if a swapped card leaves the game (WOW-OPT-01)."""
    return bool(state["options"].get("expert_swap", data.DEFAULTS["expert_swap"]))


def round_limit(state: State) -> int:
    """Return the number of the last round (WOW-OPT-03)."""
    return int(state["options"].get("round_limit", data.DEFAULTS["round_limit"]))


def used_up(state: State, region: str) -> bool:
    """Return True if the building in a region may not act again in this turn (WOW-BLD-11, WOW-OPT-04)."""
    return region in state["fired"] and bool(state["options"].get("use_once", data.DEFAULTS["use_once"]))


def early_shuffle(state: State) -> bool:
    """Return True if a discard pile is shuffled as soon as the supply deck is empty (WOW-TRN-12, WOW-OPT-05)."""
    return bool(state["options"].get("early_shuffle", data.DEFAULTS["early_shuffle"]))


def standing(state: State, figures: tuple[str, ...], region: str) -> int:
    """Return how many of some figures are in a region. Any number may be there (WOW-MAP-09)."""
    units = state["units"]
    number = 0
    for figure in figures:
        if units[figure]["region"] == region:
            number += 1
    return number


def hostile(state: State, region: str) -> bool:
    """Return True if an alien figure or an alien building is in a region. A UFO makes a sea region hostile too. Influence alone does not
    count (WOW-MAP-06, WOW-MAP-07, WOW-MAP-08)."""
    land = state["regions"].get(region)
    if land is not None and land["building"] in data.BUILDINGS_OF[data.ALIENS]:
        return True
    units = state["units"]
    return any([units[figure]["region"] == region for figure in data.FIGURES_OF[data.ALIENS]])  # noqa: C419 - a list is faster here


def open_to_attack(state: State) -> list[str]:
    """Return the regions that humans may attack: those with a Tripod or an alien building. Nobody can attack a UFO (WOW-ATK-01,
    WOW-ATK-02)."""
    regions, units = state["regions"], state["units"]
    targets, buildings = [units[figure]["region"] for figure in data.ATTACKABLE], data.BUILDINGS_OF[data.ALIENS]
    return [region for region in data.LAND if region in targets or regions[region]["building"] in buildings]


def pinned(state: State, figure: str, region: str) -> bool:
    """Return True if a figure in a region could not leave it, by any card: each enemy land figure pins one land figure. UFOs, Navies and
    civilians neither pin nor are pinned (WOW-MOV-05, WOW-MOV-06, WOW-MOV-07, WOW-MOV-08)."""
    kind = data.FIGURES[figure]
    if not kind.blocks:
        return False
    foes = standing(state, data.LAND_FIGURES_OF[data.HUMANS if kind.side == data.ALIENS else data.ALIENS], region)
    if not foes:
        return False
    friends = standing(state, data.LAND_FIGURES_OF[kind.side], region)
    return friends + (state["units"][figure]["region"] != region) <= foes


def exit_closed(state: State, region: str) -> bool:
    """Return True if nothing human may leave a region. Conditions exist on land only (WOW-INF-02, WOW-INF-04)."""
    land = state["regions"].get(region)
    return land is not None and data.NO_EXIT in land["influence"]


def entry_closed(state: State, region: str) -> bool:
    """Return True if nothing human may enter a region, neither by a move nor by being placed (WOW-INF-01, WOW-INF-04, WOW-UNT-17)."""
    land = state["regions"].get(region)
    return land is not None and data.NO_ENTRY in land["influence"]


def may_leave(state: State, figure: str, region: str) -> bool:
    """Return True if a figure may take a step out of a region. Conditions bind humans only."""
    if pinned(state, figure, region):
        return False
    return data.FIGURES[figure].side != data.HUMANS or not exit_closed(state, region)


def barred(state: State, kind: data.Kind, region: str) -> bool:
    """Return True if a token in a region keeps a kind of figure out: Barrage Balloons stop UFOs (WOW-MOV-12, WOW-HUM-13)."""
    land = state["regions"].get(region)
    return land is not None and any([bool(land[slot]) for slot in kind.barred_by])  # noqa: C419 - a list is faster here


def may_enter(state: State, kind: data.Kind, region: str) -> bool:
    """Return True if a kind of figure may take a step into a region. It may be hostile (WOW-MOV-09)."""
    if kind.barred_by:
        return not barred(state, kind, region)
    return kind.side != data.HUMANS or not entry_closed(state, region)


def has_way(state: State, figure: str, start: str, goal: str, steps: int) -> bool:
    """Return True if a figure can go from one region to another in at most so many steps, each of them allowed by itself. The goal is
    `within` that many steps (WOW-MOV-01, WOW-MOV-02, WOW-MOV-03, WOW-MOV-04)."""
    if not may_leave(state, figure, start):
        return False
    kind = data.FIGURES[figure]
    if goal in kind.beside[start]:
        return may_enter(state, kind, goal)
    for near in kind.beside[start]:
        if goal in kind.within[steps - 1][near] and may_enter(state, kind, near) and has_way(state, figure, near, goal, steps - 1):
            return True
    return False


def ways(state: State, figure: str, start: str, steps: int) -> set[str]:
    """Return the regions to which a figure has a way from another region: all goals of `has_way`, found at once."""
    if not may_leave(state, figure, start):
        return set()
    kind = data.FIGURES[figure]
    beside = kind.beside[start]
    entered = [near for near in beside if may_enter(state, kind, near)]
    found = set(entered)
    if steps > 1:
        for near in entered:
            found.update([goal for goal in ways(state, figure, near, steps - 1) if goal not in beside])
    return found


def movable(state: State, region: str, evacuation: Evacuation | None) -> int:
    """Return how many civilians of a region may move. The civilian that Evacuate moved first stays (WOW-HUM-04)."""
    civilians = state["regions"][region]["civilians"]
    return civilians - 1 if evacuation is not None and evacuation["region"] == region else civilians


def next_has_fought(state: State, region: str, evacuation: Evacuation | None) -> bool:
    """Return True if the next civilian to move has fought this turn. Civilians that have not fought move first (WOW-MOV-11, WOW-ATK-08)."""
    land = state["regions"][region]
    fresh = land["civilians"] - land["fought"]
    if evacuation is not None and evacuation["region"] == region and not evacuation["fought"]:
        fresh -= 1
    return fresh <= 0


def civilians_left(state: State) -> int:
    """Return how many civilians are on the board."""
    return sum([land["civilians"] for land in state["regions"].values()])


def stands_anywhere(state: State, building: str, except_in: str | None = None) -> bool:
    """Return True if a building is on the board, in any region but one."""
    return building in [land["building"] for region, land in state["regions"].items() if region != except_in]


def fresh_figures(state: State, kind: data.Kind) -> int:
    """Return how many figures of a kind are on the board and took no unit card this turn. Pinned and idle figures count (WOW-UNT-09,
    WOW-UNT-13)."""
    units = state["units"]
    return sum([units[figure]["region"] is not None and not units[figure]["used"] for figure in kind.figures])


def free_figure(state: State, kind: data.Kind) -> str | None:
    """Return the figure that is placed next: the lowest number off the board, destroyed figures included. None if all are on the board
    (WOW-CMP-10, WOW-UNT-15, WOW-UNT-16)."""
    units = state["units"]
    return next((figure for figure in kind.figures if units[figure]["region"] is None), None)


def income(state: State, seat: Seat) -> int:
    """Return the income of a seat's buildings each turn (WOW-BLD-08, WOW-HUM-11, WOW-ALN-13, WOW-ALN-14)."""
    total = 0
    for land in state["regions"].values():
        name = land["building"]
        if name is not None and name in data.INCOME and data.BUILDINGS[name].side == seat:
            total += data.INCOME[name]
    return total


# ---------------------------------------------------------------- options of cards


def kind_of(name: str | None) -> data.Kind:
    """Return the kind of figure that a card names."""
    assert name is not None
    return data.KINDS[name]


def play_of(terms: data.Terms) -> Action:
    """Return a play of an option, without further fields."""
    return {"type": "play", "card": terms.card, "option": terms.option}


def regions_of(state: State, terms: data.Terms) -> list[str]:
    """Return the regions that have figures of the card's kind."""
    units = state["units"]
    return list(dict.fromkeys([here for figure in kind_of(terms.kind).figures if (here := units[figure]["region"]) is not None]))


def place_of(state: State, figure: str) -> str:
    """Return the region of a figure that is on the board."""
    region = state["units"][figure]["region"]
    assert region is not None
    return region


def attackers(state: State, terms: data.Terms) -> list[tuple[str, str]]:
    """Return the figures that a card may still use, with their regions."""
    units = state["units"]
    return [
        (figure, here)
        for figure in kind_of(terms.kind).figures
        if (here := units[figure]["region"]) is not None and not (terms.uses_figure and units[figure]["used"])
    ]


# ---------------------------------------------------------------- refusals that several deeds share


def malformed(action: Action, field: str, ids: Collection[str], wanted: str) -> Refusal | None:
    """Return why a field is malformed, or None: it is no id of its kind. The field may be absent."""
    if field in action and action[field] not in ids:
        return no("bad_action", reason=say("`{field}` is {given!r}, which is no {wanted}", field=field, given=action[field], wanted=wanted))
    return None


def wants_land(state: State, *regions: str) -> Refusal | None:
    """Return why some regions are refused, or None: one is a sea region. Civilians, buildings and conditions are on land only (WOW-MOV-10,
    WOW-BLD-01)."""
    for region in regions:
        if region not in state["regions"]:
            return no("wrong_terrain", "WOW-MOV-10", region=region, wanted=say("a land region"))
    return None


def nothing_to_attack(state: State, region: str) -> Refusal | None:
    """Return why humans cannot attack a region, or None (WOW-ATK-01, WOW-ATK-02)."""
    if region in open_to_attack(state):
        return None
    return no("no_target", "WOW-ATK-02", region=region, wanted=say("Tripod or alien building"))
