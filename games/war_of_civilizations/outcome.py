"""The end of a match: when it is over, who has won and why."""

from __future__ import annotations

from games.kernel import Seat
from games.war_of_civilizations.data import SURVIVOR_WIN
from games.war_of_civilizations.document import Match, State
from games.war_of_civilizations.state.control import controlled
from games.war_of_civilizations.state.records import crystals_of, still_in


def scores(state: State) -> dict[Seat, int]:
    """Return the magic crystals of each seat, mounted ones included. The eliminated have none (WOC-END-01, WOC-MNT-05)."""
    return {seat: crystals_of(state, seat) for seat in state["seats"]}


def end_match(match: Match, winners: list[Seat], reason: str) -> None:
    """End the match."""
    match.emit("match_ended", winners=winners, reason=reason, scores=scores(match.state))


def end_by_crystals(match: Match, reason: str) -> None:
    """End the match for the seats with the most magic crystals; among equals the most locations under control decide, and seats that are
    still equal share the win. Eliminated seats cannot win (WOC-GEN-01, WOC-END-01, WOC-END-02)."""
    state = match.state
    points = scores(state)
    merits = {seat: (points[seat], len(controlled(state, seat))) for seat in still_in(state)}
    best = max(merits.values())
    end_match(match, [seat for seat, merit in merits.items() if merit == best], reason)


def check_survivor(match: Match, reason: str = SURVIVOR_WIN) -> bool:
    """End the match if only one seat is left, which wins. Return True if it has ended (WOC-ELM-06, WOC-LEA-06)."""
    left = still_in(match.state)
    if len(left) > 1:
        return False
    end_match(match, left, reason)
    return True
