"""When the match is over, who has won and why."""

from __future__ import annotations

from games.kernel import Match, Seat, State
from games.war_of_civilizations.state import controlled, crystals_of, still_in


def scores(state: State) -> dict[Seat, int]:
    """The magic crystals of each seat, mounted ones included; none for the eliminated (WOC-END-01, WOC-MNT-05)."""
    players = state["players"]
    return {seat: 0 if players[seat]["eliminated"] else crystals_of(state, seat) for seat in state["seats"]}


def end_match(match: Match, winners: list[Seat], reason: str) -> None:
    """The match is over."""
    match.emit("match_ended", outcome={"winners": winners, "reason": reason, "scores": scores(match.state)})


def end_by_crystals(match: Match, reason: str) -> None:
    """The most magic crystals win, among equals the most locations under control, and who is equal still shares it; eliminated seats
    cannot win (WOC-GEN-01, WOC-END-01, WOC-END-02)."""
    state = match.state
    points = scores(state)
    merits = {seat: (points[seat], len(controlled(state, seat))) for seat in still_in(state)}
    best = max(merits.values())
    end_match(match, [seat for seat, merit in merits.items() if merit == best], reason)


def check_survivor(match: Match) -> bool:
    """Whether only one seat is left; it wins at once (WOC-ELM-06)."""
    left = still_in(match.state)
    if len(left) > 1:
        return False
    end_match(match, left, "last_survivor")
    return True
