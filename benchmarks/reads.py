"""Measure what is read: the processor time of each GET against a POST of the bare endpoint, in every game, without workers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from benchmarks.http import Window, bare_window, rate, window
from benchmarks.load import Conversation, request
from benchmarks.pairs import Figure, figure, ratios
from benchmarks.place import Place, Run, own_id
from benchmarks.web import played
from events import recall
from games import GAMES

CONNECTIONS = 4  # a caller gets no more pages of frames at once
MATCHES, LONGEST = 10, 120  # matches of each game, and their actions
NEW = "20 frames"
READS = {  # what is read, and how often the processor time of the bare endpoint it may take
    "state": ("/v1/matches/{match}/state", 1.0),
    "choices": ("/v1/matches/{match}/choices", 1.0),
    "the newest entry": ("/v1/matches/{match}/entries?after={before}&limit=1", 1.0),
    "20 entries": ("/v1/matches/{match}/entries?after={first}&limit=20", 1.5),
    "a list of 20": ("/v1/matches?limit=20", 1.5),
    "a match's page": ("/m/{match}", 2.0),
    "state.svg": ("/v1/matches/{match}/state.svg", 2.0),
    NEW: ("/v1/matches/{match}/frames?after={first}&limit=20&key=true", 6.0),
    "20 frames that were drawn before": ("/v1/matches/{match}/frames?after={first}&limit=20&key=true", 1.0),
}


def measured(run: Run) -> Iterator[Figure]:
    """Measure every read of every game in rounds with the bare endpoint."""
    with run.place("reads", workers=0) as place:
        player = own_id(place.caller())
        paths: dict[tuple[str, str], Iterator[str]] = {}
        for game in GAMES.values():
            matches = [played(place.platform, player, game, seed, LONGEST) for seed in range(MATCHES)]
            paths |= {(game.id, name): every(place, path, matches, name == NEW) for name, (path, _) in READS.items()}
        theirs: list[Window] = []
        found: dict[tuple[str, str], list[Window]] = {side: [] for side in paths}
        for number in range(run.pairs + 1):
            theirs.append(bare_window(place, CONNECTIONS, run.seconds / 2))
            for side in list(found)[:: 1 if number % 2 else -1]:
                talks = [conversation(paths[side], place.keys[0]) for _ in range(CONNECTIONS)]
                found[side].append(window(place, talks, run.seconds / 4))
        yield rate("bare endpoint, a POST", theirs[1:])
        for (id, name), windows in found.items():
            yield rate(f"{id}: {name}", windows[1:])  # the first round filled the caches
            costs, others = ([each.total for each in side[1:]] for side in (windows, theirs))
            yield figure(f"CPU: {id}: {name} / bare endpoint", ratios(costs, others), "ratio", most=READS[name][1])


def every(place: Place, path: str, matches: list[str], new: bool) -> Iterator[str]:
    """Return the paths to read, again and again. If `new`, each asks for what was not read before, as long as there is any."""
    found: list[str] = []
    for match in matches:
        newest = recall.position(place.platform, match).version
        afters = range(0, newest - 20, 3) if new else [newest - 20]
        found += [path.format(match=match, before=newest - 1, first=after) for after in afters]
    return cycle(found)


def conversation(paths: Iterator[str], key: str) -> Conversation:
    """Ask for one path after the other."""
    for path in paths:
        answer = yield request("GET", path, None, key)
        assert answer is not None
        assert answer[0] == 200, answer[1]
