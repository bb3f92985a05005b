"""When the match is over, who has won and why."""

from __future__ import annotations

from games.kernel import Seat, State, Table
from games.war_of_civilizations.state import controlled, crystals_of, still_in


def scores(state: State) -> dict[Seat, int]:
    """The magic crystals of each seat, mounted ones included; none for the eliminated (WOC-END-01, WOC-MNT-05)."""
    players = state["players"]
    return {seat: 0 if players[seat]["eliminated"] else crystals_of(state, seat) for seat in state["seats"]}


def end_match(table: Table, winners: list[Seat], reason: str) -> None:
    """The match is over."""
    table.emit("match_ended", outcome={"winners": winners, "reason": reason, "scores": scores(table.state)})


def end_by_crystals(table: Table, reason: str) -> None:
    """The most magic crystals win, among equals the most locations under control, and who is equal still shares it; eliminated seats
    cannot win (WOC-GEN-01, WOC-END-01, WOC-END-02)."""
    state = table.state
    points = scores(state)
    merits = {seat: (points[seat], len(controlled(state, seat))) for seat in still_in(state)}
    best = max(merits.values())
    end_match(table, [seat for seat, merit in merits.items() if merit == best], reason)


def check_survivor(table: Table) -> bool:
    """Whether only one seat is left; it wins at once (WOC-ELM-06)."""
    left = still_in(table.state)
    if len(left) > 1:
        return False
    end_match(table, left, "last_survivor")
    return True
