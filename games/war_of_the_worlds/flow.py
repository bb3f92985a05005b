"""The course of play: drawing, the offer pool, resources, turns and rounds."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Own
from games.kernel import Event, Fact, Seat
from games.lifecycle import lifecycle
from games.schema import Fields, listing, whole
from games.war_of_the_worlds.data import ALIENS, FIGURES, HAND_SIZE, HUMANS, INFLUENCE, LAND
from games.war_of_the_worlds.document import Match, State
from games.war_of_the_worlds.outcome import end_by_rounds, ends_by_rounds
from games.war_of_the_worlds.state import (
    CARD,
    DOCUMENT,
    KIND_OF_INFLUENCE,
    LAND_REGION,
    NUMBER_OF_CARDS,
    PHASE_IDS,
    PLAYING,
    REASONS,
    SCORE,
    SEAT,
    SHUFFLED_CARDS,
    SOURCE,
    early_shuffle,
    income,
)

INCOME_SOURCE = "income"


def draw_hand(match: Match, seat: Seat) -> None:
    """Draw a new hand from the supply deck. If the deck is empty and a card is wanted, the discard pile is shuffled and becomes the deck.
    If both are empty the hand stays smaller. With the option for it, the discard pile is shuffled as soon as the deck is empty (WOW-TRN-02,
    WOW-TRN-11, WOW-TRN-12, WOW-TRN-13, WOW-OPT-05)."""
    missing = HAND_SIZE - _draw(match, seat, HAND_SIZE)
    discard = match.state["sides"][seat]["discard"]
    if missing and discard:
        shuffle_supply(match, seat, discard)
        _draw(match, seat, missing)
    side = match.state["sides"][seat]
    if side["discard"] and not side["supply"] and early_shuffle(match.state):
        shuffle_supply(match, seat, side["discard"])


def _draw(match: Match, seat: Seat, most: int) -> int:
    """Draw cards from the supply deck, and return how many."""
    cards = match.state["sides"][seat]["supply"][:most]
    if cards:
        match.emit("cards_drawn", seat=seat, count=len(cards), cards=cards)
    return len(cards)


def shuffle_supply(match: Match, seat: Seat, cards: list[str]) -> None:
    """Shuffle cards into a new supply deck."""
    match.emit("supply_shuffled", seat=seat, count=len(cards), cards=match.chance.shuffle(cards))


def fill_offer(match: Match, seat: Seat) -> None:
    """Move the top card of the offer deck to the offer pool, if there is one (WOW-OFR-06, WOW-OFR-07)."""
    deck = match.state["sides"][seat]["offer_deck"]
    if deck:
        match.emit("offer_filled", seat=seat, card=deck[0])


def start_round(match: Match, number: int) -> None:
    """Start a round with the aliens' turn (WOW-TRN-01, WOW-SET-11)."""
    match.emit("round_started", round=number)
    start_turn(match, ALIENS)


def start_turn(match: Match, seat: Seat) -> None:
    """Start a turn. Before the aliens' turn all influence leaves the board. Then the seat gets its income (WOW-TRN-16, WOW-INF-04,
    WOW-BLD-08)."""
    match.emit("turn_started", seat=seat, phase=PLAYING)
    if seat == ALIENS:
        for region in LAND:
            laid = match.state["regions"][region]["influence"]
            for kind in INFLUENCE:
                if kind in laid:
                    match.emit("influence_removed", kind=kind, region=region)
    gain(match, seat, income(match.state, seat), INCOME_SOURCE)


def gain(match: Match, seat: Seat, amount: int, source: str) -> None:
    """Add resources, or take some away if the amount is negative (WOW-OFR-02)."""
    if amount:
        match.emit("resources_changed", seat=seat, amount=amount, source=source)


def end_turn(match: Match, seat: Seat) -> None:
    """Discard the rest of the hand, draw a new one and end the turn. The humans' turn follows the aliens'. After the humans' turn the round
    ends (WOW-TRN-01, WOW-TRN-10, WOW-TRN-11, WOW-TRN-17)."""
    hand = match.state["sides"][seat]["hand"]
    if hand:
        match.emit("hand_discarded", seat=seat, cards=hand.copy())
    draw_hand(match, seat)
    match.emit("turn_ended", seat=seat)
    if seat == ALIENS:
        start_turn(match, HUMANS)
    else:
        match.emit("round_ended", round=match.state["round"])


def next_round(match: Match) -> None:
    """Start the next round, or end the match after the last one (WOW-TRN-18, WOW-END-06)."""
    if ends_by_rounds(match.state):
        end_by_rounds(match)
    else:
        start_round(match, match.state["round"] + 1)


# ---------------------------------------------------------------- facts


def resources_changed(state: State, event: Event, own: Own) -> None:
    """The active seat has more or less to spend. All resources of a turn are one pool (WOW-OFR-02)."""
    state["resources"] += event["amount"]


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


def offer_filled(state: State, event: Event, own: Own) -> None:
    """The top card of the offer deck joins the offer pool."""
    side = own(own(state, "sides"), event["seat"])
    own(side, "offer").append(event["card"])
    del own(side, "offer_deck")[0]


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


def match_ended(state: State, event: Event, own: Own) -> None:
    """An open strike or a second move of Evacuate does not go on (WOW-LEA-02)."""
    state["strike"] = None
    state["evacuation"] = None


def influence_removed(state: State, event: Event, own: Own) -> None:
    """A condition has ended."""
    own(own(own(state, "regions"), event["region"]), "influence").remove(event["kind"])


_PILE: Fields = {"seat": SEAT, "count": NUMBER_OF_CARDS, "cards": SHUFFLED_CARDS}

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    **lifecycle(SEAT, PHASE_IDS, REASONS, DOCUMENT, SCORE, {"turn_ended": turn_ended, "match_ended": match_ended}),
    "resources_changed": (
        resources_changed,
        {"seat": SEAT, "amount": whole(about="what is added, or spent where negative"), "source": SOURCE},
    ),
    "hand_discarded": (hand_discarded, {"seat": SEAT, "cards": listing(CARD, about="the cards discarded")}),
    "supply_shuffled": (supply_shuffled, _PILE),
    "cards_drawn": (cards_drawn, _PILE),
    "offer_filled": (offer_filled, {"seat": SEAT, "card": CARD}),
    "influence_removed": (influence_removed, {"kind": KIND_OF_INFLUENCE, "region": LAND_REGION}),
}
