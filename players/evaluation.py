"""Evaluation: what a position is worth to a seat, as its expected share of a victory, 0 to 1.

The weights are data (players/<game>/plans.json, `worth`), by number of seats and phase. They multiply the features of the game, and
`share_of` turns the sum into a share. A game without features of its own has the one feature `lead`, which follows from `game.worth`.

Only + - * / and the square root are used, in a fixed order: they are exact to the last bit on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

from games.kernel import Game, Seat, State
from players.knowledge import Beginnings, Features, knowledge_of
from players.plans import Weights, weights_of

Value = Callable[[State, Seat], float]


class Outlook(NamedTuple):
    """How a position of a game with two seats is judged in which a turn begins. `value(state, seat)`: the share of a victory that a
    seat can expect. `begins(before, state)`: whether the turn began after the position or view `before`. `phase(state)`: the phase of the
    match whose weights count."""

    begins: Callable[[State, State], bool]
    value: Value
    phase: Callable[[State], str]


def beginnings_of(game: str) -> Beginnings:
    """Return how positions are judged in which a turn begins, in a game that has outlooks.

    >>> beginnings_of("war").features.names[:4]
    ('turn', 'own points', 'own tiles', 'own symbols')
    """
    found = knowledge_of(game).beginnings
    assert found is not None, f"{game} has outlooks"
    return found


def outlook_of(game: Game, weights: Weights) -> Outlook:
    """Return how positions are judged in which a turn begins, by the weights of a plan.

    >>> from games import GAMES
    >>> outlook = outlook_of(GAMES["war"], {"1 turn": {"turn": 0.2}})
    >>> outlook.phase({"final_turns": ["red"]})
    '1 turn'
    """
    found = beginnings_of(game.id)
    sum_of = _sum(found.features, weights)

    def value(state: State, seat: Seat) -> float:
        active: Seat = state["active"]
        share = share_of(sum_of(state, active), 2)
        return share if active == seat else 1.0 - share

    return Outlook(found.begins, value, found.features.phase)


def value_of(game: Game, seats: int, level: str | None = None, searcher: Seat | None = None) -> Value:
    """Return the evaluation of a game with so many seats: `value(state, seat)`, the share of a victory that a seat can expect. A level may
    have weights of its own, also for some of the seats that search only.

    >>> from games import GAMES
    >>> war = GAMES["war"]
    >>> state = war.begin(["red", "blue"], {})
    >>> value = value_of(war, 2)
    >>> round(value(state, "red") + value(state, "blue"), 9)
    1.0
    """
    item = weights_of(game.id, seats, level, searcher)
    assert item is not None, f"there are weights for {game.id} with {seats} seats"
    return weighted(game, seats, item["weights"])


def weighted(game: Game, seats: int, weights: Weights) -> Value:
    """Return the evaluation of a game by weights: by phase, and by name of the feature. A feature without a weight counts for nothing.

    >>> from games import GAMES
    >>> war = GAMES["war"]
    >>> state = war.begin(["red", "blue"], {})
    >>> value = weighted(war, 2, {phase: {"units": 0.1} for phase in ("early", "late", "final")})
    >>> value(state, "red"), value({**state, "outcome": {"winners": ["red"]}}, "red")
    (0.5, 1.0)
    """
    sum_of = _sum(features_of(game), weights)

    def value(state: State, seat: Seat) -> float:
        outcome = state["outcome"]
        if outcome is not None:
            winners = outcome["winners"]
            return 1.0 / len(winners) if seat in winners else 0.0
        return share_of(sum_of(state, seat), seats)

    return value


def _sum(found: Features, weights: Weights) -> Value:
    """Return the sum of the features of a position for a seat, each times its weight."""
    rows = {phase: [float(row.get(name, 0.0)) for name in found.names] for phase, row in weights.items()}
    features, phase_of = found.features, found.phase

    def sum_of(state: State, seat: Seat) -> float:
        total = 0.0
        for weight, feature in zip(rows[phase_of(state)], features(state, seat), strict=True):
            if feature:  # most are 0 in the larger games
                total += weight * feature
        return total

    return sum_of


def features_of(game: Game) -> Features:
    """Return the features of a game: its own, or else its `worth` alone.

    >>> from games import GAMES
    >>> features_of(GAMES["war"]).names[:3]
    ('out', 'lead', 'points')
    >>> features_of(GAMES["war"]._replace(id="a game of your own")).names
    ('lead',)
    """
    return knowledge_of(game.id).features or Features(("lead",), lambda state, seat: [_lead(game, state, seat)], lambda state: "any")


def share_of(total: float, seats: int) -> float:
    """Return the share of a victory for a sum of weighted features. 0 gives an even share, 1 about six chances in seven of two seats.

    >>> share_of(0.0, 2), share_of(0.0, 4), round(share_of(1.0, 2), 3)
    (0.5, 0.25, 0.854)
    """
    odds = 0.5 + 0.5 * total / sqrt(1.0 + total * total)
    return odds if seats == 1 else odds / (odds + (seats - 1) * (1.0 - odds))


def _lead(game: Game, state: State, seat: Seat) -> float:
    """Return by how much the position is worth more to a seat than to the best of the others."""
    best: float | None = None
    for other in state["seats"]:
        if other != seat and other in game.playing(state):
            worth = game.worth(state, other)
            if best is None or worth > best:
                best = worth
    return game.worth(state, seat) - (best or 0.0)
