"""The views: the parts of the document and of events that each viewer may see (CONTRACT section 6)."""

from __future__ import annotations

from typing import Any

from games.kernel import AUDITOR, Event
from games.war.document import State

View = Any
"""The state document, with the number of cards in place of the deck."""


def view(state: State, viewer: str) -> View:
    """Return the document as a viewer may see it. All but an auditor see only how many cards the deck has; hands, row and combat cards are
    open (WAR-SET-09, WAR-SET-10, WAR-COM-09)."""
    return state if viewer == AUDITOR else {**state, "deck": len(state["deck"])}


def shown(event: Event, viewer: str) -> Event:
    """Return an event as a viewer may see it: of the making of the deck, the number of cards (WAR-SET-09)."""
    if viewer == AUDITOR:
        return event
    if event["type"] == "deck_built":
        return {**event, "deck": len(event["deck"])}
    return event
