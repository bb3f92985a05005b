"""Scores, winners, and the end of the match."""

from __future__ import annotations

from games.kernel import Match, Seat, State
from games.war.data import BROWN, PER_SET, PER_TILE, SET_SIZE, SYMBOL_STEP
from games.war.state import holdings, on_board, still_in

Points = dict[str, int]


def points(state: State, seat: Seat) -> Points:
    """A seat's score: for each tile; for the first, second, third different symbol 1, 2, 3 more; for each set of three like symbols. A seat
    without tiles scores 0 (WAR-SCO-01, WAR-SCO-02, WAR-SCO-03, WAR-SCO-07)."""
    held = holdings(state, seat)
    bearing: dict[str, int] = {}
    for tile in held:
        face = state["tiles"][tile]["face"]
        if face != BROWN:
            bearing[face] = bearing.get(face, 0) + 1
    tiles = PER_TILE * len(held)
    symbols = SYMBOL_STEP * len(bearing) * (len(bearing) + 1) // 2
    sets = PER_SET * sum([number // SET_SIZE for number in bearing.values()])
    return {"tiles": tiles, "symbols": symbols, "sets": sets, "total": tiles + symbols + sets}


def winners(state: State, sheet: dict[Seat, Points]) -> list[Seat]:
    """The seat with the highest sum; among equals the one with more tiles, then more units; who is equal still shares the victory. Nobody
    who is eliminated wins (WAR-SCO-04, WAR-SCO-05, WAR-SCO-06, WAR-SCO-07)."""
    seats = still_in(state)
    if not seats:
        return []
    merit = {seat: (sheet[seat]["total"], len(holdings(state, seat)), on_board(state, seat)) for seat in seats}
    best = max(merit.values())
    return [seat for seat in seats if merit[seat] == best]


def end_match(match: Match, reason: str) -> None:
    """Scores are counted and the match is over; a last seat wins whatever the scores are (WAR-ELI-05, WAR-SCO-08, WAR-END-05)."""
    state = match.state
    sheet = {seat: points(state, seat) for seat in state["seats"]}
    match.emit(
        "match_ended",
        winners=still_in(state) if reason == "last_seat" else winners(state, sheet),
        reason=reason,
        scores={seat: row["total"] for seat, row in sheet.items()},
        score_sheet=sheet,
    )
