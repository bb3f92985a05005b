"""Plans: which search a level uses in a game, how long it thinks, and with which weights. All of it is data: players/<game>/plans.json.

    {"levels": {"strong": [{"seats": [2], "method": "tree", "iterations": 400, "least": 50, "settings": {...}}, ...], "expert": [...]},
     "worth": [{"seats": [2], "phases": ["early", "late"], "weights": {"early": {name: number, ...}, "late": {...}}}, ...],
     "outlooks": [{"seats": [2], "levels": ["expert"], "phases": [...], "weights": {...}}, ...]}

`seats` lists the numbers of seats for which an item holds. `levels` and `sides` list the levels, and the seats that search, if it is not
for all. `outlooks` are weights for positions in which a turn begins, of games that have such features (players/evaluation.py). A game
without a file is played by the plans of players/default.json.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
DEFAULT = FOLDER / "default.json"

Weights = Mapping[str, Mapping[str, float]]
"""Weights of an evaluation, by phase of the match and by name of the feature."""


class Plan(NamedTuple):
    """How a level searches: its method (players/searching.py), how many iterations a decision gets, and the settings of the method.

    `outlook`: the weights by which positions are judged in which a turn begins, by phase, or None. `least`: the iterations that a decision
    gets however short the time is; with fewer the search is worse than none.
    """

    method: str
    iterations: int
    settings: Mapping[str, Any]
    outlook: Weights | None = None
    least: int = 1


def levels_that_search() -> tuple[str, ...]:
    """Return the levels that have plans.

    >>> levels_that_search()
    ('strong', 'expert')
    """
    return tuple(json.loads(DEFAULT.read_text())["levels"])


def path_of(game: str) -> Path:
    """Return the file that has the plans of a game, if it has plans of its own.

    >>> path_of("war").relative_to(FOLDER).as_posix()
    'war/plans.json'
    """
    return FOLDER / game / "plans.json"


def plan_of(game: str, level: str, seats: int) -> Plan | None:
    """Return the plan of a level for a game with so many seats, or None if the level does not search.

    >>> plan_of("war", "strong", 2).method, plan_of("a game of your own", "strong", 2).method
    ('flat', 'tree')
    >>> plan_of("war", "greedy", 2) is None
    True
    """
    for item in _data(game)["levels"].get(level, ()):
        if seats in item["seats"]:
            outlook = outlook_weights(game, seats, level)
            return Plan(item["method"], item["iterations"], item["settings"], outlook, item.get("least", 1))
    return None


def outlook_weights(game: str, seats: int, level: str) -> Weights | None:
    """Return the weights of the outlooks that a level has in a game with so many seats, or None if it has none.

    >>> "more turns" in outlook_weights("war", 2, "expert"), outlook_weights("war", 3, "expert")
    (True, None)
    """
    for item in _data(game).get("outlooks", ()):
        if seats in item["seats"] and level in item.get("levels", (level,)):
            found: Weights = item["weights"]
            return found
    return None


def weights_of(game: str, seats: int, level: str | None = None, seat: str | None = None) -> Mapping[str, Any] | None:
    """Return the item of `worth` for a game with so many seats, or None if the game has only its own `worth`.

    An item with `levels` is for these levels only, and with `sides` for searches of these seats. Otherwise the one for all holds.

    >>> weights_of("war", 2)["phases"], weights_of("a game of your own", 2)["weights"]
    (['early', 'late', 'final'], {'any': {'lead': 0.1}})
    """
    items: list[Mapping[str, Any]] = [item for item in _data(game)["worth"] if seats in item["seats"]]
    own = (item for item in items if level in item.get("levels", ()) and seat in item.get("sides", (seat,)))
    return next(own, None) or next((item for item in items if "levels" not in item), None)


@cache
def digest_of(game: str) -> str:
    """Return the SHA-256 of the plans and weights of a game, 64 hex digits. Two programs with the same digest have the same data.

    >>> len(digest_of("war")), digest_of("chess") == digest_of("a game of your own")
    (64, True)
    """
    return sha256(json.dumps(_data(game), sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@cache
def _data(game: str) -> Mapping[str, Any]:
    path = path_of(game)
    found: Mapping[str, Any] = json.loads((path if path.exists() else DEFAULT).read_text())
    return found
