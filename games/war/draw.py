"""The draw phase: cards from the face-up row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Refusal, Seat, no
from games.schema import Fields, listing
from games.sentences import joined
from games.war.data import ROW_SIZE, ROW_TAKE, VALUE
from games.war.document import Match, State
from games.war.flow import end_turn
from games.war.state import CARD, SEAT


def lowest(row: list[str]) -> int:
    """Return the lowest value in the row (WAR-DRW-02)."""
    return min([VALUE[card] for card in row])


def to_take(row: list[str]) -> int:
    """Return how many cards must be taken: two, or the one that is left (WAR-DRW-01, WAR-DRW-03)."""
    return min(ROW_TAKE, len(row))


def take_cards_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for every allowed pair in the order of the row, or for the one card left (WAR-DRW-01, WAR-DRW-02, WAR-DRW-03)."""
    row = state["row"]
    if to_take(row) == 1:
        return [{"type": "take_cards", "cards": [row[0]]}]
    least = lowest(row)
    return [
        {"type": "take_cards", "cards": [first, second]}
        for place, first in enumerate(row)
        for second in row[place + 1 :]
        if VALUE[first] == least or VALUE[second] == least
    ]


def take_cards_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why cards cannot be taken, or None: a wrong number of different cards, one that is not in the row, or none of the lowest
    (WAR-DRW-01, WAR-DRW-02, WAR-DRW-03, WAR-TRN-08)."""
    cards, row = action["cards"], state["row"]
    needed = to_take(row)
    if len(cards) != needed or len(set(cards)) != needed:
        return no("wrong_card_count", "WAR-DRW-03" if needed == 1 else "WAR-DRW-01", number=len(set(cards)), needed=needed)
    for card in cards:
        if card not in row:
            return no("card_not_in_row", "WAR-DRW-01", card=card, row=joined(row))
    least = lowest(row)
    if least not in [VALUE[card] for card in cards]:
        return no("must_take_lowest", "WAR-DRW-02", value=least)
    return None


def take_cards(match: Match, seat: Seat, action: Action) -> None:
    """Take the cards into the hand, however many it has, fill the row from the deck, and end the turn (WAR-DRW-01, WAR-DRW-04, WAR-DRW-07,
    WAR-DRW-08)."""
    match.emit("cards_taken", seat=seat, cards=[card for card in match.state["row"] if card in action["cards"]])
    fill_row(match)
    end_turn(match, seat, took_last_card=not match.state["row"] and not match.state["deck"])


def fill_row(match: Match) -> None:
    """Turn up cards from the top of the deck until the row has four, as far as the deck goes (WAR-SET-08, WAR-DRW-04)."""
    filling = match.state["deck"][: max(ROW_SIZE - len(match.state["row"]), 0)]
    if filling:
        match.emit("row_filled", cards=filling)


def cards_taken(state: Any, event: Event, own: Own) -> None:
    """Cards go from the row into a hand."""
    row = own(state, "row")
    for card in event["cards"]:
        row.remove(card)
    own(own(state, "hands"), event["seat"]).extend(event["cards"])


def row_filled(state: Any, event: Event, own: Own) -> None:
    """Cards from the top of the deck join the row."""
    own(state, "row").extend(event["cards"])
    state["deck"] = state["deck"][len(event["cards"]) :]


TAKE_CARDS = Deed(
    {"cards": listing(CARD, 1, ROW_TAKE, "different cards of the row, in any order")}, take_cards_offers, take_cards_refusal, take_cards
)

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "cards_taken": (cards_taken, {"seat": SEAT, "cards": listing(CARD, about="the cards taken")}),
    "row_filled": (row_filled, {"cards": listing(CARD, about="the new cards, left to right")}),
}
