"""What a match that is over counts as in the profiles of its players (RES-03)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.lifecycle import DRAW, RULING, VOID
from table.document import Table
from table.state import FORFEIT_REMEDY, VOID_REMEDY

RESULTS = PLAYED, WON, BY_SUBSTITUTE, DRAWN, NOT_COUNTED = ("over", "won", "stood_in", "drawn", "void")
"""What is counted of the matches of a player: those that were played to an end, and of them those that the player won and those that were
won while a substitute played for the player; then draws, and matches that do not count."""


def results_of(table: Table, outcome: Mapping[str, Any], seat: str) -> tuple[str, ...]:
    """Return what a match that is over counts as for the player of a seat: one or two of RESULTS; nothing if it is practice.

    A ruling after the end may change that (TBL-RES-03, TBL-CRE-06, TBL-FRK-03, TBL-DIS-03).
    """
    if table["practice"]:
        return ()
    winners, reason, overruled = outcome["winners"], outcome["reason"], table["overruled"]
    remedy = None if overruled is None else overruled["remedy"]
    if remedy == VOID_REMEDY or (reason in (VOID, RULING) and not winners):
        return (NOT_COUNTED,)
    if reason == DRAW:
        return (DRAWN,)
    if seat not in winners or (overruled is not None and remedy == FORFEIT_REMEDY and overruled.get("seat") == seat):
        return (PLAYED,)
    return PLAYED, BY_SUBSTITUTE if seat in table["substitutes"] else WON


def places_of(table: Table, outcome: Mapping[str, Any]) -> dict[str, int]:
    """Return the place of each seat in a match that is over, as ratings count it; nothing if the match counts for none (TBL-RAT-03).

    The winners are first, all others second. A seat that a substitute plays at the end, or that forfeits by a ruling, is last. A ruling
    after the end changes that (TBL-RAT-04).
    """
    overruled = table["overruled"]
    remedy = None if overruled is None else overruled["remedy"]
    if remedy == VOID_REMEDY or (outcome["reason"] in (VOID, RULING) and not outcome["winners"]):
        return {}
    last = {*table["substitutes"], *([overruled.get("seat")] if overruled is not None and remedy == FORFEIT_REMEDY else [])}
    return {seat: _LAST if seat in last else _FIRST if seat in outcome["winners"] else _SECOND for seat in table["roster"]}


_FIRST, _SECOND, _LAST = 1, 2, 3
