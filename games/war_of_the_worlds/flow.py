"""How play passes on: drawing, turn and round."""

from __future__ import annotations

from games.kernel import Match, Seat
from games.war_of_the_worlds.data import ALIENS, HAND_SIZE, HUMANS, LAND
from games.war_of_the_worlds.outcome import end_by_rounds, ends_by_rounds
from games.war_of_the_worlds.state import income


def draw_hand(match: Match, seat: Seat) -> None:
    """A new hand comes from the supply deck; the discard pile becomes a new one when a card is wanted and none is left there, and when
    both are empty there are fewer cards or none (WOW-TRN-02, WOW-TRN-11, WOW-TRN-12, WOW-TRN-13)."""
    wanted = HAND_SIZE
    for _ in range(2):
        cards = match.state["sides"][seat]["supply"][:wanted]
        if cards:
            match.emit("cards_drawn", seat=seat, count=len(cards), cards=cards)
            wanted -= len(cards)
        discard = match.state["sides"][seat]["discard"]
        if not wanted or not discard:
            return
        shuffled = match.chance.shuffle(discard)
        match.emit("supply_shuffled", seat=seat, count=len(shuffled), cards=shuffled)
    raise AssertionError("a shuffled discard pile gives cards")


def start_turn(match: Match, seat: Seat) -> None:
    """A turn begins: before the aliens' all influence leaves the board, then buildings bring their income (WOW-TRN-16, WOW-INF-04,
    WOW-BLD-08)."""
    match.emit("turn_started", seat=seat)
    if seat == ALIENS:
        for region in LAND:
            for kind in sorted(match.state["regions"][region]["influence"]):
                match.emit("influence_removed", kind=kind, region=region)
    gain(match, seat, income(match.state, seat), "income")


def gain(match: Match, seat: Seat, amount: int, source: str) -> None:
    """A seat has more to spend, or less (WOW-OFR-02)."""
    if amount:
        match.emit("resources_changed", seat=seat, amount=amount, total=match.state["resources"] + amount, source=source)


def end_turn(match: Match, seat: Seat) -> None:
    """The rest of the hand is discarded and a new one drawn; after the aliens it is the humans' turn, after the humans the round is over
    (WOW-TRN-01, WOW-TRN-10, WOW-TRN-11, WOW-TRN-17)."""
    hand = match.state["sides"][seat]["hand"]
    if hand:
        match.emit("hand_discarded", seat=seat, cards=hand.copy())
    draw_hand(match, seat)
    match.emit("turn_ended", seat=seat)
    if seat == ALIENS:
        start_turn(match, HUMANS)


def end_round(match: Match) -> None:
    """The next round begins with the aliens' turn, or the match has reached its limit (WOW-TRN-18, WOW-END-06)."""
    state = match.state
    if ends_by_rounds(state):
        end_by_rounds(match)
        return
    match.emit("round_ended", round=state["round"], next=state["round"] + 1)
    start_turn(match, ALIENS)
