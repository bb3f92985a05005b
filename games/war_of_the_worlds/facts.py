"""How each event changes the document (CONTRACT section 6), and what each holds."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Document, Own, clone
from games.kernel import SYSTEM, Event, Fact, State
from games.schema import BLANK, Fields, flag, ids, listing, nullable, text, veiled, whole
from games.war_of_the_worlds.data import LAND
from games.war_of_the_worlds.state import (
    BUILDING,
    CARD,
    DAMAGE,
    DOCUMENT,
    EVACUATION,
    FIGURE,
    KIND_OF_INFLUENCE,
    LAND_REGION,
    PILE,
    REASON,
    REGION,
    SCORES,
    SEAT,
    SLOT,
    STRIKE,
)


def _side(state: State, event: Event, own: Own) -> Document:
    side: Document = own(own(state, "sides"), event["seat"])
    return side


def _land(state: State, region: str, own: Own) -> Document:
    land: Document = own(own(state, "regions"), region)
    return land


def match_started(state: State, event: Event, own: Own) -> None:
    """The board is set up and the piles are dealt."""
    state.update(clone(event["state"]))


def turn_started(state: State, event: Event, own: Own) -> None:
    """It is a seat's turn."""
    state["active"] = event["seat"]
    state["to_act"] = [event["seat"]]
    state["phase"] = "play"


def resources_changed(state: State, event: Event, own: Own) -> None:
    """The active seat has more or less to spend; what it gains in a turn is one pool (WOW-OFR-02)."""
    state["resources"] = event["total"]


def card_played(state: State, event: Event, own: Own) -> None:
    """A card leaves the hand for an open pile; the figure that took it is marked (WOW-TRN-09, WOW-UNT-07)."""
    side = _side(state, event, own)
    own(side, "hand").remove(event["card"])
    own(side, event["to"]).append(event["card"])
    if event["unit"] is not None:
        own(own(state, "units"), event["unit"])["used"] = True


def unit_placed(state: State, event: Event, own: Own) -> None:
    """A figure comes on the board."""
    unit = own(own(state, "units"), event["unit"])
    unit["region"] = event["region"]
    unit["used"] = event["used"]


def unit_moved(state: State, event: Event, own: Own) -> None:
    """A figure stands somewhere else."""
    own(own(state, "units"), event["unit"])["region"] = event["to"]


def unit_destroyed(state: State, event: Event, own: Own) -> None:
    """A figure leaves the board (WOW-DMG-04, WOW-EDN-10)."""
    unit = own(own(state, "units"), event["unit"])
    unit["region"] = None
    unit["used"] = False


def civilian_moved(state: State, event: Event, own: Own) -> None:
    """A civilian stands somewhere else, and its mark goes with it (WOW-ATK-08, WOW-ATK-09)."""
    regions = own(state, "regions")
    source, goal = own(regions, event["from"]), own(regions, event["to"])
    source["civilians"] -= 1
    goal["civilians"] += 1
    if event["fought"]:
        source["fought"] -= 1
        goal["fought"] += 1


def civilian_fought(state: State, event: Event, own: Own) -> None:
    """A civilian has attacked this turn."""
    _land(state, event["region"], own)["fought"] += 1


def civilians_destroyed(state: State, event: Event, own: Own) -> None:
    """Civilians leave the board."""
    _land(state, event["region"], own)["civilians"] -= event["count"]


def building_placed(state: State, event: Event, own: Own) -> None:
    """A token lies in a region."""
    _land(state, event["region"], own)[event["slot"]] = True if event["slot"] == "balloons" else event["building"]


def building_destroyed(state: State, event: Event, own: Own) -> None:
    """A token leaves the match, as its card has done before (WOW-BLD-12)."""
    _land(state, event["region"], own)[event["slot"]] = False if event["slot"] == "balloons" else None


def building_used(state: State, event: Event, own: Own) -> None:
    """A building has done its own action this turn."""
    own(state, "fired").append(event["region"])


def damage_changed(state: State, event: Event, own: Own) -> None:
    """The marker moves along the track; nothing leaves the board (WOW-ATK-03)."""
    state["damage"] = event["total"]


def strike_changed(state: State, event: Event, own: Own) -> None:
    """Damage is gathered, or the strike is closed."""
    strike = event["strike"]
    state["strike"] = None if strike is None else dict(strike)
    state["phase"] = "play" if strike is None else "strike"


def evacuation_changed(state: State, event: Event, own: Own) -> None:
    """A second civilian may move, or no longer."""
    evacuation = event["evacuation"]
    state["evacuation"] = None if evacuation is None else dict(evacuation)
    state["phase"] = "play" if evacuation is None else "evacuate"


def influence_placed(state: State, event: Event, own: Own) -> None:
    """A condition lies on a region."""
    own(_land(state, event["region"], own), "influence").append(event["kind"])


def influence_removed(state: State, event: Event, own: Own) -> None:
    """A condition has ended."""
    own(_land(state, event["region"], own), "influence").remove(event["kind"])


def card_bought(state: State, event: Event, own: Own) -> None:
    """A card leaves the offer pool for its owner's discard pile, or the game (WOW-OFR-04)."""
    side = _side(state, event, own)
    own(side, "offer").remove(event["card"])
    own(side, event["to"]).append(event["card"])


def offer_filled(state: State, event: Event, own: Own) -> None:
    """The top card of the offer deck joins the pool."""
    side = _side(state, event, own)
    own(side, "offer").append(event["card"])
    del own(side, "offer_deck")[0]


def card_swapped(state: State, event: Event, own: Own) -> None:
    """A card leaves the offer pool for the bottom of its deck, or the game."""
    side = _side(state, event, own)
    own(side, "offer").remove(event["card"])
    own(side, event["to"]).append(event["card"])
    state["swapped"] = True


def hand_discarded(state: State, event: Event, own: Own) -> None:
    """What was left of a hand lies face up on the discard pile."""
    side = _side(state, event, own)
    side["hand"] = []
    own(side, "discard").extend(event["cards"])


def supply_shuffled(state: State, event: Event, own: Own) -> None:
    """The discard pile has become the supply deck."""
    side = _side(state, event, own)
    side["supply"] = list(event["cards"])
    side["discard"] = []


def cards_drawn(state: State, event: Event, own: Own) -> None:
    """Cards from the top of the supply deck join the hand."""
    side = _side(state, event, own)
    own(side, "hand").extend(event["cards"])
    side["supply"] = side["supply"][event["count"] :]


def turn_ended(state: State, event: Event, own: Own) -> None:
    """What is left to spend is lost, and all marks of the turn are cleared (WOW-TRN-14, WOW-TRN-15)."""
    state["resources"] = 0
    state["swapped"] = False
    state["fired"] = []
    units = own(state, "units")
    for figure in list(units):
        if units[figure]["used"]:
            own(units, figure)["used"] = False
    regions = own(state, "regions")
    for region in LAND:
        if regions[region]["fought"]:
            own(regions, region)["fought"] = 0
    state["active"] = None
    state["to_act"] = [SYSTEM]
    state["phase"] = "round_end"


def round_ended(state: State, event: Event, own: Own) -> None:
    """Rounds go on counting."""
    state["round"] = event["next"]


def match_ended(state: State, event: Event, own: Own) -> None:
    """The match is over."""
    state["outcome"] = {"winners": list(event["winners"]), "reason": event["reason"], "scores": dict(event["scores"])}
    state["phase"] = "over"
    state["active"] = None
    state["to_act"] = []
    state["strike"] = None
    state["evacuation"] = None


_DRAWN = veiled(listing(CARD), BLANK)
_SOURCE = text(about="a card, a building, or income")

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "match_started": (match_started, {"state": DOCUMENT}),
    "turn_started": (turn_started, {"seat": SEAT}),
    "resources_changed": (resources_changed, {"seat": SEAT, "amount": whole(), "total": whole(0), "source": _SOURCE}),
    "card_played": (
        card_played,
        {"seat": SEAT, "card": CARD, "option": whole(0), "unit": nullable(FIGURE), "to": ids(["discard", "removed"])},
    ),
    "unit_placed": (unit_placed, {"unit": FIGURE, "region": REGION, "used": flag()}),
    "unit_moved": (unit_moved, {"unit": FIGURE, "from": REGION, "to": REGION}),
    "unit_destroyed": (unit_destroyed, {"unit": FIGURE, "region": REGION}),
    "civilian_moved": (civilian_moved, {"from": LAND_REGION, "to": LAND_REGION, "fought": flag()}),
    "civilian_fought": (civilian_fought, {"region": LAND_REGION}),
    "civilians_destroyed": (civilians_destroyed, {"region": LAND_REGION, "count": whole(1)}),
    "building_placed": (building_placed, {"seat": SEAT, "building": BUILDING, "slot": SLOT, "region": LAND_REGION}),
    "building_destroyed": (building_destroyed, {"building": BUILDING, "slot": SLOT, "region": LAND_REGION}),
    "building_used": (building_used, {"building": BUILDING, "region": LAND_REGION, "target": nullable(LAND_REGION)}),
    "damage_changed": (damage_changed, {"amount": whole(), "total": DAMAGE, "source": _SOURCE, "region": nullable(LAND_REGION)}),
    "strike_changed": (strike_changed, {"strike": STRIKE}),
    "evacuation_changed": (evacuation_changed, {"evacuation": EVACUATION}),
    "influence_placed": (influence_placed, {"kind": KIND_OF_INFLUENCE, "region": LAND_REGION}),
    "influence_removed": (influence_removed, {"kind": KIND_OF_INFLUENCE, "region": LAND_REGION}),
    "card_bought": (card_bought, {"seat": SEAT, "card": CARD, "to": ids(["discard", "removed"])}),
    "offer_filled": (offer_filled, {"seat": SEAT, "card": CARD}),
    "card_swapped": (card_swapped, {"seat": SEAT, "card": CARD, "to": PILE}),
    "hand_discarded": (hand_discarded, {"seat": SEAT, "cards": listing(CARD)}),
    "supply_shuffled": (supply_shuffled, {"seat": SEAT, "count": whole(1), "cards": _DRAWN}),
    "cards_drawn": (cards_drawn, {"seat": SEAT, "count": whole(1), "cards": _DRAWN}),
    "turn_ended": (turn_ended, {"seat": SEAT}),
    "round_ended": (round_ended, {"round": whole(1), "next": whole(1)}),
    "match_ended": (match_ended, {"winners": listing(SEAT), "reason": REASON, "scores": SCORES}),
}
