"""The deeds of the offer pool: buying a card, and swapping one."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Refusal, Seat, no
from games.schema import Fields, optional
from games.sentences import joined, say
from games.war_of_the_worlds.data import BUILDINGS, CARDS, DISCARD, OFFER_DECK, REGIONS, REMOVED
from games.war_of_the_worlds.document import Match, State
from games.war_of_the_worlds.flow import fill_offer, gain
from games.war_of_the_worlds.sites import build, building_refusal, place, places, placing_refusal, sites
from games.war_of_the_worlds.state import CARD, PLAYED_TO, REGION, SEAT, SWAPPED_TO, expert_swap, free_figure, kind_of, malformed


def region_for(state: State, seat: Seat, name: str) -> list[str] | None:
    """Return the regions of which a purchase must name one, or None if it names none. Every building needs a region. A figure that is
    placed among civilians needs one if a figure is free and can be placed (WOW-BLD-06, WOW-UNT-01, WOW-UNT-05)."""
    card = CARDS[name]
    if card.building is not None:
        return sites(state, BUILDINGS[card.building])
    if card.figure is None:
        return None
    kind = kind_of(card.figure)
    if kind.placed_at is not None or free_figure(state, kind) is None:
        return None
    return places(state, kind) or None


def buy_offers(state: State, seat: Seat) -> list[Action]:
    """Return a purchase of every card on offer that the seat can pay, for every region that it may name."""
    offers: list[Action] = []
    for name in dict.fromkeys(state["sides"][seat]["offer"]):
        if CARDS[name].cost <= state["resources"]:
            regions = region_for(state, seat, name)
            if regions is None:
                offers.append({"type": "buy", "card": name})
            else:
                offers += [{"type": "buy", "card": name, "region": region} for region in regions]
    return offers


def buy_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why a card cannot be bought, or None: it is not on offer or too expensive, or the region is wrong for its token or figure
    (WOW-OFR-01, WOW-OFR-03, WOW-OFR-12, WOW-BLD-06, WOW-UNT-05)."""
    name, region = action["card"], action.get("region")
    bad = malformed(action, "card", CARDS, "card") or malformed(action, "region", REGIONS, "region")
    if bad is not None:
        return bad
    offer = state["sides"][seat]["offer"]
    if name not in offer:
        return no("not_on_offer", "WOW-OFR-01", card=name, offer=joined(offer) or say("nothing"))
    card = CARDS[name]
    if card.cost > state["resources"]:
        return no("too_expensive", "WOW-OFR-03", what=name, cost=card.cost, resources=state["resources"])
    if card.building is not None:
        if region is None:
            return no("bad_action", "WOW-BLD-01", reason=say("`region` must say where {card} is built", card=name))
        return building_refusal(state, BUILDINGS[card.building], region)
    wanted = region_for(state, seat, name) is not None
    if wanted and region is None:
        return no("bad_action", "WOW-UNT-05", reason=say("`region` must say where {card} is placed", card=name))
    if not wanted and region is not None:
        return no("bad_action", "WOW-UNT-05", reason=say("nothing that {card} brings is placed in a region of your choice", card=name))
    return None if region is None else placing_refusal(state, kind_of(card.figure), region)


def buy(match: Match, seat: Seat, action: Action) -> None:
    """Pay the cost, move the card and fill the pool. A building card leaves the game and its token is placed. A unit card places a figure
    if possible. No option of the card is carried out (WOW-OFR-02, WOW-OFR-04, WOW-OFR-05, WOW-OFR-06, WOW-OFR-07, WOW-BLD-01, WOW-UNT-01,
    WOW-UNT-05, WOW-UNT-12)."""
    card = CARDS[action["card"]]
    gain(match, seat, -card.cost, card.id)
    match.emit("card_bought", seat=seat, card=card.id, to=REMOVED if card.building else DISCARD)
    if card.building is not None:
        build(match, card.building, action["region"])
    elif card.figure is not None:
        kind = kind_of(card.figure)
        region = action.get("region") or kind.placed_at
        if region is not None and free_figure(match.state, kind) is not None and placing_refusal(match.state, kind, region) is None:
            place(match, kind, region, used=False)
    fill_offer(match, seat)


def swap_offers(state: State, seat: Seat) -> list[Action]:
    """Return a swap of each different card on offer, once a turn, if the offer deck has a card (WOW-OFR-08, WOW-OFR-10)."""
    if state["swapped"] or not state["sides"][seat]["offer_deck"]:
        return []
    return [{"type": "swap", "card": card} for card in dict.fromkeys(state["sides"][seat]["offer"])]


def swap_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why a card cannot be swapped, or None: it is the second swap of the turn, the card is not on offer, or the offer deck is empty
    (WOW-OFR-08, WOW-OFR-10)."""
    card = action["card"]
    if card not in CARDS:
        return malformed(action, "card", CARDS, "card")
    if state["swapped"]:
        return no("already_swapped", "WOW-OFR-08")
    side = state["sides"][seat]
    if card not in side["offer"]:
        return no("not_on_offer", "WOW-OFR-08", card=card, offer=joined(side["offer"]) or say("nothing"))
    if not side["offer_deck"]:
        return no("offer_deck_empty", "WOW-OFR-10")
    return None


def swap(match: Match, seat: Seat, action: Action) -> None:
    """Put the card under the offer deck, or out of the game with the expert swap. The top card of the deck takes its place. A swap is free
    (WOW-OFR-08, WOW-OFR-09, WOW-OFR-11, WOW-OFR-13, WOW-OPT-01)."""
    goes_to = REMOVED if expert_swap(match.state) else OFFER_DECK
    match.emit("card_swapped", seat=seat, card=action["card"], to=goes_to)
    fill_offer(match, seat)


# ---------------------------------------------------------------- facts


def card_bought(state: State, event: Event, own: Own) -> None:
    """A card leaves the offer pool for its owner's discard pile, or the game (WOW-OFR-04)."""
    side = own(own(state, "sides"), event["seat"])
    own(side, "offer").remove(event["card"])
    own(side, event["to"]).append(event["card"])


def card_swapped(state: State, event: Event, own: Own) -> None:
    """A card leaves the offer pool for the bottom of the offer deck, or the game. The seat has made its swap."""
    card_bought(state, event, own)
    state["swapped"] = True


BUY = Deed({"card": CARD, "region": optional(REGION)}, buy_offers, buy_refusal, buy)
SWAP = Deed({"card": CARD}, swap_offers, swap_refusal, swap)

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "card_bought": (card_bought, {"seat": SEAT, "card": CARD, "to": PLAYED_TO}),
    "card_swapped": (card_swapped, {"seat": SEAT, "card": CARD, "to": SWAPPED_TO}),
}
