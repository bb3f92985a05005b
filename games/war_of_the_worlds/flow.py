"""How play passes on: drawing, turn and round."""

from __future__ import annotations

from games.kernel import Seat, Table
from games.war_of_the_worlds.data import ALIENS, HAND_SIZE, HUMANS, LAND
from games.war_of_the_worlds.outcome import end_by_rounds, ends_by_rounds
from games.war_of_the_worlds.state import income


def draw_hand(table: Table, seat: Seat) -> None:
    """A new hand comes from the supply deck; the discard pile becomes a new one when a card is wanted and none is left there, and when
    both are empty there are fewer cards or none (WOW-TRN-02, WOW-TRN-11, WOW-TRN-12, WOW-TRN-13)."""
    wanted = HAND_SIZE
    for _ in range(2):
        cards = table.state["sides"][seat]["supply"][:wanted]
        if cards:
            table.emit("cards_drawn", seat=seat, count=len(cards), cards=cards)
            wanted -= len(cards)
        discard = table.state["sides"][seat]["discard"]
        if not wanted or not discard:
            return
        shuffled = table.chance.shuffle(discard)
        table.emit("supply_shuffled", seat=seat, count=len(shuffled), cards=shuffled)
    raise AssertionError("a shuffled discard pile gives cards")


def start_turn(table: Table, seat: Seat) -> None:
    """A turn begins: before the aliens' all influence leaves the board, then buildings bring their income (WOW-TRN-16, WOW-INF-04,
    WOW-BLD-08)."""
    table.emit("turn_started", seat=seat)
    if seat == ALIENS:
        for region in LAND:
            for kind in sorted(table.state["regions"][region]["influence"]):
                table.emit("influence_removed", kind=kind, region=region)
    gain(table, seat, income(table.state, seat), "income")


def gain(table: Table, seat: Seat, amount: int, source: str) -> None:
    """A seat has more to spend, or less (WOW-OFR-02)."""
    if amount:
        table.emit("resources_changed", seat=seat, amount=amount, total=table.state["resources"] + amount, source=source)


def end_turn(table: Table, seat: Seat) -> None:
    """The rest of the hand is discarded and a new one drawn; after the aliens it is the humans' turn, after the humans the round is over
    (WOW-TRN-01, WOW-TRN-10, WOW-TRN-11, WOW-TRN-17)."""
    hand = table.state["sides"][seat]["hand"]
    if hand:
        table.emit("hand_discarded", seat=seat, cards=hand.copy())
    draw_hand(table, seat)
    table.emit("turn_ended", seat=seat)
    if seat == ALIENS:
        start_turn(table, HUMANS)


def end_round(table: Table) -> None:
    """The next round begins with the aliens' turn, or the match has reached its limit (WOW-TRN-18, WOW-END-06)."""
    state = table.state
    if ends_by_rounds(state):
        end_by_rounds(table)
        return
    table.emit("round_ended", round=state["round"], next=state["round"] + 1)
    start_turn(table, ALIENS)
