"""Who may see what (CONTRACT section 6)."""

from __future__ import annotations

from games.kernel import AUDITOR, Event, State


def view(state: State, viewer: str) -> State:
    """The document as a viewer may see it: all but an auditor see only how many cards the deck has; hands, row and combat cards are open
    (WAR-SET-09, WAR-SET-10, WAR-COM-09)."""
    if viewer == AUDITOR:
        return state
    return {**state, "deck": len(state["deck"])}


def shown(event: Event, viewer: str) -> Event:
    """An event as a viewer may see it: of the deck's making, the number of cards (WAR-SET-09)."""
    if viewer == AUDITOR or event["type"] != "deck_built":
        return event
    return {**event, "deck": len(event["deck"])}
