"""The views: the parts of the document and of events that each viewer may see (CONTRACT section 2)."""

from __future__ import annotations

from typing import Any

from games.kernel import AUDITOR, Event
from games.war_of_the_worlds.document import State

View = Any
"""The state document, with the number of cards in place of a pile that the viewer may not see."""

SHUFFLED = frozenset({"supply_shuffled", "offer_deck_shuffled"})


def view(state: State, viewer: str) -> View:
    """Return the document as a viewer may see it. A seat sees its own hand. Only an auditor sees decks. Everybody sees the rest
    (WOW-VIS-01, WOW-VIS-02, WOW-VIS-03, WOW-VIS-04)."""
    if viewer == AUDITOR:
        return state
    sides = {
        seat: {
            **side,
            "hand": side["hand"] if seat == viewer else len(side["hand"]),
            "supply": len(side["supply"]),
            "offer_deck": len(side["offer_deck"]),
        }
        for seat, side in state["sides"].items()
    }
    return {**state, "sides": sides}


def shown(event: Event, viewer: str) -> Event:
    """Return an event as a viewer may see it. A seat sees the cards that it draws. Only an auditor sees a shuffled deck (WOW-VIS-03,
    WOW-VIS-04)."""
    if viewer == AUDITOR:
        return event
    kind = event["type"]
    if kind in SHUFFLED or (kind == "cards_drawn" and event["seat"] != viewer):
        return {**event, "cards": None}
    return event


def size(pile: Any) -> int:
    """Return the number of cards in a pile of a view, which has the pile or only that number."""
    return pile if isinstance(pile, int) else len(pile)
