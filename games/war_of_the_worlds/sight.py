"""Who may see what (CONTRACT section 2)."""

from __future__ import annotations

from games.kernel import AUDITOR, Event, State


def view(state: State, viewer: str) -> State:
    """The document as a viewer may see it: a hand is seen by its owner, decks by nobody but an auditor, everything else by all (WOW-VIS-01,
    WOW-VIS-02, WOW-VIS-03, WOW-VIS-04)."""
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
    """An event as a viewer may see it: drawn cards are seen by who drew them, a shuffled deck by nobody (WOW-VIS-03, WOW-VIS-04)."""
    if viewer == AUDITOR:
        return event
    kind = event["type"]
    if kind == "supply_shuffled" or (kind == "cards_drawn" and event["seat"] != viewer):
        return {**event, "cards": None}
    if kind == "match_started":
        return {**event, "state": view(event["state"], viewer)}
    return event
