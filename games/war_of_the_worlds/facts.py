"""All events of the game: how each changes the document (CONTRACT section 6), and its fields. Those of strikes are in strike/facts.py."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Own
from games.kernel import Event, Fact
from games.lifecycle import lifecycle
from games.schema import BLANK, Fields, flag, listing, nullable, optional, text, veiled, whole
from games.war_of_the_worlds.data import BALLOONS_SLOT, FIGURES, LAND, SEATS
from games.war_of_the_worlds.document import State
from games.war_of_the_worlds.state import (
    BUILDING,
    CARD,
    DAMAGE,
    DOCUMENT,
    FIGURE,
    FOUGHT,
    LAND_REGION,
    PHASE_IDS,
    PLAYED_TO,
    REASONS,
    REGION,
    SCORE,
    SEAT,
    SLOT,
    SWAPPED_TO,
)
from games.war_of_the_worlds.strike.facts import STRIKE_FACTS

# ---------------------------------------------------------------- the turn


def turn_ended(state: State, event: Event, own: Own) -> None:
    """Unspent resources are lost, and all marks of the turn are cleared (WOW-TRN-14, WOW-TRN-15)."""
    state["resources"] = 0
    state["swapped"] = False
    state["fired"] = []
    units = own(state, "units")
    for figure in FIGURES:
        if units[figure]["used"]:
            own(units, figure)["used"] = False
    regions = own(state, "regions")
    for region in LAND:
        if regions[region]["fought"]:
            own(regions, region)["fought"] = 0


def resources_changed(state: State, event: Event, own: Own) -> None:
    """The active seat has more or less to spend. All resources of a turn are one pool (WOW-OFR-02)."""
    state["resources"] += event["amount"]


# ---------------------------------------------------------------- figures


def unit_placed(state: State, event: Event, own: Own) -> None:
    """A figure comes on the board."""
    unit = own(own(state, "units"), event["unit"])
    unit["region"] = event["region"]
    unit["used"] = event["used"]


def unit_moved(state: State, event: Event, own: Own) -> None:
    """A figure is in another region."""
    own(own(state, "units"), event["unit"])["region"] = event["to"]


# ---------------------------------------------------------------- civilians


def civilians_placed(state: State, event: Event, own: Own) -> None:
    """Civilians come on the board."""
    own(own(state, "regions"), event["region"])["civilians"] += event["count"]


def civilian_moved(state: State, event: Event, own: Own) -> None:
    """A civilian is in another region, and its mark goes with it (WOW-ATK-08, WOW-ATK-09)."""
    regions = own(state, "regions")
    source, goal = own(regions, event["from"]), own(regions, event["to"])
    source["civilians"] -= 1
    goal["civilians"] += 1
    if event["fought"]:
        source["fought"] -= 1
        goal["fought"] += 1


def civilian_fought(state: State, event: Event, own: Own) -> None:
    """A civilian has attacked this turn."""
    own(own(state, "regions"), event["region"])["fought"] += 1


def evacuation_started(state: State, event: Event, own: Own) -> None:
    """A second civilian may move. The first one stays in its region."""
    state["evacuation"] = {"region": event["region"], "fought": event["fought"]}


def evacuation_ended(state: State, event: Event, own: Own) -> None:
    """No second civilian may move any more."""
    state["evacuation"] = None


# ---------------------------------------------------------------- buildings and damage


def building_placed(state: State, event: Event, own: Own) -> None:
    """A token comes on the board."""
    own(own(state, "regions"), event["region"])[event["slot"]] = True if event["slot"] == BALLOONS_SLOT else event["building"]


def building_used(state: State, event: Event, own: Own) -> None:
    """A building has done its action this turn."""
    own(state, "fired").append(event["region"])


def damage_changed(state: State, event: Event, own: Own) -> None:
    """The damage marker moves. Nothing leaves the board (WOW-ATK-03)."""
    state["damage"] = event["total"]


# ---------------------------------------------------------------- cards


def card_played(state: State, event: Event, own: Own) -> None:
    """A card leaves the hand for an open pile. The figure that took it is marked (WOW-TRN-09, WOW-UNT-07)."""
    side = own(own(state, "sides"), event["seat"])
    own(side, "hand").remove(event["card"])
    own(side, event["to"]).append(event["card"])
    if "unit" in event:
        own(own(state, "units"), event["unit"])["used"] = True


def card_bought(state: State, event: Event, own: Own) -> None:
    """A card leaves the offer pool for its owner's discard pile, or the game (WOW-OFR-04)."""
    side = own(own(state, "sides"), event["seat"])
    own(side, "offer").remove(event["card"])
    own(side, event["to"]).append(event["card"])


def card_swapped(state: State, event: Event, own: Own) -> None:
    """A card leaves the offer pool for the bottom of the offer deck, or the game. The seat has made its swap."""
    card_bought(state, event, own)
    state["swapped"] = True


def offer_filled(state: State, event: Event, own: Own) -> None:
    """The top card of the offer deck joins the offer pool."""
    side = own(own(state, "sides"), event["seat"])
    own(side, "offer").append(event["card"])
    del own(side, "offer_deck")[0]


def offer_deck_shuffled(state: State, event: Event, own: Own) -> None:
    """The offer deck is ready for the match."""
    own(own(state, "sides"), event["seat"])["offer_deck"] = list(event["cards"])


def hand_discarded(state: State, event: Event, own: Own) -> None:
    """The rest of a hand is on the discard pile."""
    side = own(own(state, "sides"), event["seat"])
    side["hand"] = []
    own(side, "discard").extend(event["cards"])


def supply_shuffled(state: State, event: Event, own: Own) -> None:
    """The starting cards, or the cards of the discard pile, are the supply deck."""
    side = own(own(state, "sides"), event["seat"])
    side["supply"] = list(event["cards"])
    side["discard"] = []


def cards_drawn(state: State, event: Event, own: Own) -> None:
    """Cards from the top of the supply deck join the hand."""
    side = own(own(state, "sides"), event["seat"])
    own(side, "hand").extend(event["cards"])
    side["supply"] = side["supply"][event["count"] :]


_HIDDEN = veiled(listing(CARD), BLANK)
_PILE: Fields = {"seat": SEAT, "count": whole(1), "cards": _HIDDEN}
_SOURCE = text(about="a card, a building, or income")

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    **lifecycle(SEATS, PHASE_IDS, REASONS, DOCUMENT, SCORE, {"turn_ended": turn_ended}),
    **STRIKE_FACTS,
    "resources_changed": (resources_changed, {"seat": SEAT, "amount": whole(), "source": _SOURCE}),
    "unit_placed": (unit_placed, {"unit": FIGURE, "region": REGION, "used": flag()}),
    "unit_moved": (unit_moved, {"unit": FIGURE, "from": REGION, "to": REGION}),
    "civilians_placed": (civilians_placed, {"region": LAND_REGION, "count": whole(1)}),
    "civilian_moved": (civilian_moved, {"from": LAND_REGION, "to": LAND_REGION, "fought": FOUGHT}),
    "civilian_fought": (civilian_fought, {"region": LAND_REGION}),
    "evacuation_started": (evacuation_started, {"region": LAND_REGION, "fought": FOUGHT}),
    "evacuation_ended": (evacuation_ended, {}),
    "building_placed": (building_placed, {"seat": SEAT, "building": BUILDING, "slot": SLOT, "region": LAND_REGION}),
    "building_used": (building_used, {"building": BUILDING, "region": LAND_REGION, "target": nullable(LAND_REGION)}),
    "damage_changed": (damage_changed, {"amount": whole(), "total": DAMAGE, "source": _SOURCE, "region": nullable(LAND_REGION)}),
    "card_played": (card_played, {"seat": SEAT, "card": CARD, "option": whole(0), "to": PLAYED_TO, "unit": optional(FIGURE)}),
    "card_bought": (card_bought, {"seat": SEAT, "card": CARD, "to": PLAYED_TO}),
    "card_swapped": (card_swapped, {"seat": SEAT, "card": CARD, "to": SWAPPED_TO}),
    "offer_filled": (offer_filled, {"seat": SEAT, "card": CARD}),
    "offer_deck_shuffled": (offer_deck_shuffled, _PILE),
    "hand_discarded": (hand_discarded, {"seat": SEAT, "cards": listing(CARD)}),
    "supply_shuffled": (supply_shuffled, _PILE),
    "cards_drawn": (cards_drawn, _PILE),
}
