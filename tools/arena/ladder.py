"""Recompute the ratings of a service from dossiers or records of its matches: `./run arena ladder FILE…`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evidence.notes import VerifierKey
from record.ratings import Result, ratings, result_of
from tools.arena.standings import BadFile, seen_in


def ladder(files: Sequence[Path], game: str, keys: tuple[VerifierKey, ...] = (), until: str = "") -> dict[str, Any]:
    """Return the ratings of a game as `GET /v1/ratings` has them, from verified files. Matches that are not rated are skipped.

    `until`: the last match that counts; default: all. Raises BadFile, OSError.
    """
    results: dict[str, Result] = {}
    for file in files:
        _, position, _ = seen_in(file, keys, dossier=False)
        result = result_of(position)
        if result is None or not result.rated or result.game != game:
            continue
        if results.setdefault(result.match, result) != result:
            raise BadFile(f"{file} and another file disagree about the match {result.match}.")
    ordered = sorted(results.values(), key=lambda result: result.order)
    if until:
        ends = [place for place, result in enumerate(ordered, 1) if result.match == until]
        if not ends:
            raise BadFile(f"No file has the rated match {until} of {game}.")
        ordered = ordered[: ends[0]]
    found = ratings(ordered)
    rows = [{"player": player, **rating.as_json()} for player, rating in found.items()]
    last = ordered[-1] if ordered else None
    counted = {"matches": len(ordered), "match": last and last.match, "at": last and last.at}
    return {"game": game, "counted": counted, "ratings": sorted(rows, key=lambda row: (row["low"], row["player"]), reverse=True)}
