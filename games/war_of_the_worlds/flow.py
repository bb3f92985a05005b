"""The course of play: drawing, the offer pool, resources, turns and rounds."""

from __future__ import annotations

from games.kernel import Seat
from games.war_of_the_worlds.data import ALIENS, HAND_SIZE, HUMANS, INFLUENCE, LAND
from games.war_of_the_worlds.document import Match
from games.war_of_the_worlds.outcome import end_by_rounds, ends_by_rounds
from games.war_of_the_worlds.state import PLAYING, income

INCOME_SOURCE = "income"


def draw_hand(match: Match, seat: Seat) -> None:
    """Draw a new hand from the supply deck. If the deck is empty and a card is wanted, the discard pile is shuffled and becomes the deck.
    If both are empty the hand stays smaller (WOW-TRN-02, WOW-TRN-11, WOW-TRN-12, WOW-TRN-13)."""
    missing = HAND_SIZE - _draw(match, seat, HAND_SIZE)
    discard = match.state["sides"][seat]["discard"]
    if missing and discard:
        shuffle_supply(match, seat, discard)
        _draw(match, seat, missing)


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
