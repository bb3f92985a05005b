"""Scores, winners, and the end of the match."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.documents import Own, clone
from games.kernel import Event, Fact, Seat
from games.schema import Fields
from games.war.data import BROWN, PER_SET, PER_TILE, SET_SIZE, SYMBOL_STEP
from games.war.document import Match, ScoreSheetRow, State
from games.war.state import SCORE_SHEET, holdings, on_board, still_in


def bearing(state: State, seat: Seat) -> dict[str, int]:
    """Return how many tiles with each symbol a seat controls; symbols without one are left out (WAR-SCO-02, WAR-SCO-03)."""
    found: dict[str, int] = {}
    for here in state["tiles"].values():
        if here["seat"] == seat and here["face"] != BROWN:
            found[here["face"]] = found.get(here["face"], 0) + 1
    return found


def points(state: State, seat: Seat) -> ScoreSheetRow:
    """Return a seat's score: for each tile; for the first, second, third different symbol 1, 2, 3 more; for each set of three like symbols.
    A seat that is out scores 0 (WAR-SCO-01, WAR-SCO-02, WAR-SCO-03, WAR-SCO-07)."""
    if seat in state["eliminated"]:
        return points_for(0, {})
    return points_for(len(holdings(state, seat)), bearing(state, seat))


def points_for(tiles: int, symbols: Mapping[str, int]) -> ScoreSheetRow:
    """Return the score of so many tiles, with so many of each symbol among them (WAR-SCO-01, WAR-SCO-02, WAR-SCO-03)."""
    for_tiles = PER_TILE * tiles
    for_symbols = SYMBOL_STEP * len(symbols) * (len(symbols) + 1) // 2
    for_sets = PER_SET * sum([number // SET_SIZE for number in symbols.values()])
    return {"tiles": for_tiles, "symbols": for_symbols, "sets": for_sets, "total": for_tiles + for_symbols + for_sets}


def winners(state: State, sheet: Mapping[Seat, ScoreSheetRow]) -> list[Seat]:
    """Return the seats with the highest sum; among equals those with more tiles, then more units. Seats that are still equal share the
    victory. An eliminated seat does not win (WAR-SCO-04, WAR-SCO-05, WAR-SCO-06, WAR-SCO-07)."""
    merit = {seat: (sheet[seat]["total"], len(holdings(state, seat)), on_board(state, seat)) for seat in still_in(state)}
    best = max(merit.values())
    return [seat for seat, reached in merit.items() if reached == best]


def end_match(match: Match, reason: str) -> None:
    """Count the scores and end the match; a last seat wins with any scores (WAR-ELI-05, WAR-SCO-08, WAR-END-05)."""
    state = match.state
    sheet = {seat: points(state, seat) for seat in state["seats"]}
    match.emit("scores_counted", score_sheet=sheet)
    match.emit(
        "match_ended",
        winners=winners(state, sheet),
        reason=reason,
        scores={seat: row["total"] for seat, row in sheet.items()},
    )


def scores_counted(state: Any, event: Event, own: Own) -> None:
    """The sheet shows what the points of each seat are made of."""
    state["score_sheet"] = clone(event["score_sheet"])


FACTS: Mapping[str, tuple[Fact, Fields]] = {"scores_counted": (scores_counted, {"score_sheet": SCORE_SHEET})}
