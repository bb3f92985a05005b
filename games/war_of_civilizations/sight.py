"""Who may see what (CONTRACT section 9)."""

from __future__ import annotations

from typing import Any

from games.kernel import AUDITOR, Event, State


def view(state: State, viewer: str) -> State:
    """The document as a viewer may see it: the deck by nobody but an auditor, a token by those who have looked at it, a sealed bid by
    who made it, everything else by all (WOC-GEN-05, WOC-BAT-05, WOC-EXP-01)."""
    if viewer == AUDITOR:
        return state
    seen = {
        **state,
        "power": {**state["power"], "deck": len(state["power"]["deck"])},
        "apex": {island: _token(here, viewer) for island, here in state["apex"].items()},
    }
    battle = state["battle"]
    if battle is not None and battle["result"] is None:
        seen["battle"] = {**battle, "bids": {seat: bid if seat == viewer else None for seat, bid in battle["bids"].items()}}
    return seen


def _token(here: dict[str, Any], viewer: str) -> dict[str, Any]:
    """An apex island, with its token for those who know it."""
    return here if viewer in here["known_to"] else {**here, "expedition": None}


def shown(event: Event, viewer: str) -> Event:
    """An event as a viewer may see it: a bid and a token that was looked at are for their own seat, a shuffled deck for nobody
    (WOC-BAT-05, WOC-EXP-01, WOC-PWR-31)."""
    if viewer == AUDITOR:
        return event
    kind = event["type"]
    if kind == "bid_sealed" and event["seat"] != viewer:
        return {**event, "ammo": None, "cards": None}
    if kind == "expedition_seen" and event["seat"] != viewer:
        return {**event, "expedition": None}
    if kind == "deck_reshuffled":
        return {**event, "deck": len(event["deck"])}
    if kind == "match_started":
        return {**event, "state": view(event["state"], viewer)}
    return event
