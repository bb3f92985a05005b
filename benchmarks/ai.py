"""Measure the search of the artificial players: iterations per second, the gain of branches and compiled rules, and OpenSpiel's search.

Each side is a process of its own. They are asked in turn, so that a noisy machine disturbs them alike. Without OpenSpiel or compiled
rules, only the other figures are measured.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack

from benchmarks.pairs import Figure, figure, ratios
from benchmarks.peers import python_peer, side
from benchmarks.place import Run
from events.modules import STAMP, compiled_folder, stamp
from games import GAMES
from tools.private import ROOT

COMPILED = compiled_folder()
SEARCHES = {"expert": "the level expert", "copies": "expert on whole copies", "textbook": "textbook search to the end"}


def measured(run: Run) -> list[Figure]:
    """Return the figures of every game."""
    with ExitStack() as sides:
        plain = sides.enter_context(side("benchmarks.searches", [ROOT]))
        compiled = sides.enter_context(side("benchmarks.searches", [COMPILED, ROOT])) if is_compiled() else None
        peer = sides.enter_context(python_peer("open_spiel"))
        asked = [(search, game) for game in GAMES for search in SEARCHES]
        ours: dict[tuple[str, str], list[float]] = {key: [] for key in asked}
        quick: dict[tuple[str, str], list[float]] = {key: [] for key in asked if key[0] != "copies"}
        theirs: list[float] = []
        for _ in range(run.pairs):
            for search, game in asked:
                line = f"{search} {game} {run.seconds}"
                ours[search, game].append(plain.measure(line))
                if compiled is not None and search != "copies":
                    quick[search, game].append(compiled.measure(line))
            if peer is not None:
                theirs.append(peer.measure(f"search {run.seconds}"))
    figures = [figure(f"{game}: {SEARCHES[search]}", ours[search, game], "iterations/s") for search, game in asked]
    compared: list[tuple[str, list[float], list[float]]] = []
    for game in GAMES:
        compared.append((f"{game}: expert on branches / on whole copies", ours["expert", game], ours["copies", game]))
        if compiled is not None:
            compared.append((f"{game}: {SEARCHES['expert']}, compiled / not", quick["expert", game], ours["expert", game]))
            compared.append((f"{game}: {SEARCHES['textbook']}, compiled / not", quick["textbook", game], ours["textbook", game]))
        if peer is not None:
            compared.append((f"{game}: {SEARCHES['textbook']} / OpenSpiel's of gin rummy", ours["textbook", game], theirs))
            if compiled is not None:
                compared.append((f"{game}: the same, compiled", quick["textbook", game], theirs))
    figures += [figure(name, ratios(above, below), "ratio") for name, above, below in compared]
    if peer is not None:
        figures.append(figure(f"gin rummy: OpenSpiel's {SEARCHES['textbook']}", theirs, "iterations/s"))
    return figures


def is_compiled() -> bool:
    """Return True if the present rules are compiled. Otherwise print a note."""
    made = COMPILED / STAMP
    if made.exists() and made.read_text() == stamp():
        return True
    print("The rules are not compiled (./run compile), so only plain Python is measured.", file=sys.stderr)
    return False
