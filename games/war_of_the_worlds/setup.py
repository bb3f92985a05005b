"""The options of a match, its first document, and the set-up that the system carries out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Refusal, Refused, Seat, no, only
from games.lifecycle import options_refusal, shared_start
from games.schema import Fields, defaulting, record, whole
from games.sentences import listed, say
from games.war_of_the_worlds import data
from games.war_of_the_worlds.document import Match, State
from games.war_of_the_worlds.flow import draw_hand, fill_offer, shuffle_supply, start_round
from games.war_of_the_worlds.state import LAND_REGION, NUMBER_OF_CARDS, OPTION_SHAPES, SEAT, SHUFFLED_CARDS

OPTIONS = record(
    {name: defaulting(shape, data.DEFAULTS[name]) for name, shape in OPTION_SHAPES.items()},
    about="the options of a match of War of the Worlds: The New Wave",
)


def begin(seats: Sequence[Seat], options: Mapping[str, Any]) -> State:
    """Return the first document of a match: an empty board and empty piles, with the aliens as the first seat. Raise Refused `bad_options`
    (WOW-CMP-01, WOW-SET-01, WOW-SET-05, WOW-SET-10, WOW-OPT-01, WOW-OPT-02, WOW-OPT-03)."""
    if sorted(seats) != sorted(data.SEATS):
        raise Refused(no("bad_options", "WOW-CMP-01", reason=say("the seats are {seats}", seats=listed(data.SEATS))))
    refusal = options_refusal(OPTIONS, options, "WOW-OPT-03")
    if refusal is not None:
        raise Refused(refusal)
    return {
        **shared_start("war_of_the_worlds", data.SEATS),
        "options": OPTIONS.clean(dict(options)),
        "damage": 0,
        "resources": 0,
        "swapped": False,
        "fired": [],
        "strike": None,
        "evacuation": None,
        "regions": {region: {"civilians": 0, "fought": 0, "building": None, "balloons": False, "influence": []} for region in data.LAND},
        "units": {figure: {"region": None, "used": False} for figure in data.FIGURES},
        "sides": {seat: {"hand": [], "supply": [], "discard": [], "removed": [], "offer": [], "offer_deck": []} for seat in data.SEATS},
    }


def setup_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why the match cannot be set up, or None: bad options do not start a match (WOW-OPT-01, WOW-OPT-02, WOW-OPT-03)."""
    return options_refusal(OPTIONS, state["options"], "WOW-OPT-03")


def set_up(match: Match, seat: Seat, action: Action) -> None:
    """Place civilians, the ship and the first figures, deal the piles of both sides, and start the first round (WOW-SET-02, WOW-SET-03,
    WOW-SET-04, WOW-SET-09, WOW-SET-10, WOW-SET-11, WOW-MAP-03, WOW-MAP-05)."""
    for region, count in data.ARRIVALS.items():
        match.emit("civilians_placed", region=region, count=count)
    for region, name in data.STARTING_BUILDINGS.items():
        building = data.BUILDINGS[name]
        match.emit("building_placed", seat=building.side, building=name, slot=building.slot, region=region)
    for figure, region in data.STARTING_FIGURES.items():
        match.emit("unit_placed", unit=figure, region=region, used=False)
    for side in data.SEATS:
        deal(match, side)
    match.emit("match_started", seats=list(data.SEATS))
    start_round(match, 1)


def deal(match: Match, seat: Seat) -> None:
    """Deal a seat's piles. Its starting cards are shuffled and a hand is drawn from them. Its other cards are shuffled and five of them
    turned up (WOW-SET-06, WOW-SET-07, WOW-SET-08, WOW-SET-09)."""
    shuffle_supply(match, seat, data.pile(seat, starting=True))
    draw_hand(match, seat)
    deck = match.chance.shuffle(data.pile(seat, starting=False))
    match.emit("offer_deck_shuffled", seat=seat, count=len(deck), cards=deck)
    for _ in range(data.OFFER_SIZE):
        fill_offer(match, seat)


# ---------------------------------------------------------------- facts


def civilians_placed(state: State, event: Event, own: Own) -> None:
    """Civilians come on the board."""
    own(own(state, "regions"), event["region"])["civilians"] += event["count"]


def offer_deck_shuffled(state: State, event: Event, own: Own) -> None:
    """The offer deck is ready for the match."""
    own(own(state, "sides"), event["seat"])["offer_deck"] = list(event["cards"])


SET_UP = Deed({}, only("advance"), setup_refusal, set_up)

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "civilians_placed": (civilians_placed, {"region": LAND_REGION, "count": whole(1, about="how many civilians")}),
    "offer_deck_shuffled": (offer_deck_shuffled, {"seat": SEAT, "count": NUMBER_OF_CARDS, "cards": SHUFFLED_CARDS}),
}
