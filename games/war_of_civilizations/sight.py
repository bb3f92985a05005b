"""The views: the parts of the document and of events that each viewer may see (CONTRACT section 9)."""

from __future__ import annotations

from typing import Any

from games.kernel import AUDITOR, Event
from games.war_of_civilizations.battle.record import bid_seen, bids_seen
from games.war_of_civilizations.data import POWDER
from games.war_of_civilizations.document import ApexRow, State
from games.war_of_civilizations.state.records import option

View = Any
"""A state document as a viewer sees it: with counts or null for hidden parts."""


def view(state: State, viewer: str) -> View:
    """Return the document as a viewer may see it: the deck only for an auditor, a token for the seats that have looked at it, a sealed bid
    for its own seat, ammunition too where the match hides it, everything else for all (WOC-GEN-05, WOC-BAT-05, WOC-EXP-01)."""
    if viewer == AUDITOR:
        return state
    seen: dict[str, Any] = {
        **state,
        "power": {**state["power"], "deck": len(state["power"]["deck"])},
        "apex": {island: _token(here, viewer) for island, here in state["apex"].items()},
    }
    if option(state, "hidden_ammo"):
        seen["players"] = {seat: player if seat == viewer else {**player, POWDER: None} for seat, player in state["players"].items()}
    if state["battle"] is not None:
        seen["battle"] = bids_seen(state["battle"], viewer)
    return seen


def _token(here: ApexRow, viewer: str) -> ApexRow:
    """Return an apex island, with its token for the seats that know it."""
    return here if viewer in here["known_to"] else {**here, "expedition": None}


def shown(event: Event, viewer: str) -> Event:
    """Return an event as a viewer may see it. A bid, hidden ammunition, and a token that was looked at, are for their own seat. Tokens on
    the board and a deck are for no seat (WOC-BAT-05, WOC-EXP-01, WOC-PWR-31, WOC-SET-02, WOC-SET-03)."""
    if viewer == AUDITOR:
        return event
    kind = event["type"]
    if kind == "bid_sealed":
        return bid_seen(event, viewer)
    if kind == "ammo_changed" and event["seat"] != viewer:
        return {**event, "change": None}
    if kind == "expedition_seen" and event["seat"] != viewer:
        return {**event, "expedition": None}
    if kind in ("deck_built", "deck_reshuffled"):
        return {**event, "deck": len(event["deck"])}
    if kind == "tokens_placed":
        return {**event, "tokens": dict.fromkeys(event["tokens"])}
    return event
