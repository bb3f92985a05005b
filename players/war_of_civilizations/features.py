"""What artificial players know of War of Civilizations besides its rules: the course of a turn, and the features of a position."""

from __future__ import annotations

from collections.abc import Mapping

from games.kernel import Seat, State
from games.lifecycle import OVER, ROUND_END, SETUP
from games.war_of_civilizations import data
from games.war_of_civilizations.crystals import convertible
from games.war_of_civilizations.state.map import distances, neighbours
from games.war_of_civilizations.state.records import crystals_of, first_full_round, goods, isle_of
from games.war_of_civilizations.worth import worth

# ---------------------------------------------------------------- the course of a turn

_SETTLED = (SETUP, data.DEPLOY_PHASE, data.TURN_PHASE, ROUND_END, OVER)


def pending(state: State, seat: Seat) -> bool:
    """Return True if the turn of a seat is under way, also while others decide in it."""
    return state["outcome"] is None and state["active"] == seat and state["turn"] is not None


def stage(state: State, seat: Seat) -> tuple[int, str] | None:
    """Return how far the turn of a seat is, and the kind of the action under way; None if the seat does not plan here. Every action begun
    and every action ended is one stage further.

    >>> turn = {"actions_used": 2, "action": "move"}
    >>> state = {"turn": turn, "active": "fox", "phase": data.TURN_PHASE}
    >>> stage(state, "fox"), stage({**state, "turn": {**turn, "action": None}}, "fox"), stage(state, "lion")
    ((3, 'move'), (4, ''), None)
    """
    turn = state["turn"]
    if turn is None or state["active"] != seat or state["phase"] not in (data.TURN_PHASE, data.PIRATE_PHASE):
        return None
    action = turn["action"]
    return (2 * turn["actions_used"], "") if action is None else (2 * turn["actions_used"] - 1, action)


def round_of(state: State) -> int:
    """Return the round. With the option `first_seat_rotates` a seat may be the last of a round and the first of the next one."""
    number: int = state["round"]
    return number


def unsettled(state: State) -> bool:
    """Return True while a battle, a pirate, a blockade or a ransom waits for a decision."""
    return state["phase"] not in _SETTLED


# ---------------------------------------------------------------- features

NAMES: tuple[str, ...] = ("worth", "cards", "powder", "lead", "isle", "away")
PHASES: tuple[str, ...] = ("before", "countdown", "last")
_MOST_POWDER = 30  # materials that count as powder, at most


def _punch(card: str) -> float:
    """Return about how many points a battle card is good for."""
    row = data.CARDS[card]
    punch: float = (
        row.fleet
        + 0.7 * row.ammo
        + 0.5 * (row.bonus[data.ATTACKER] + row.bonus[data.DEFENDER])
        + 0.4 * row.doubles
        + 3.0 * (row.cancels or row.returns)
        + 2.0 * (row.retreats or card in _PLUNDERING)
    )
    return punch


_PLUNDERING = frozenset(card for card in data.BATTLE_CARDS if any(data.CARDS[card].plunder.values()))
PUNCH: Mapping[str, float] = {card: _punch(card) for card in data.CARDS if card in data.BATTLE_CARDS}


def phase(state: State) -> str:
    """Return `before` the countdown, `countdown`, or `last` in its last round.

    >>> [phase({"countdown": left}) for left in (None, 4, 1)]
    ['before', 'countdown', 'last']
    """
    countdown = state["countdown"]
    return "before" if countdown is None else "last" if countdown == 1 else "countdown"


def features(state: State, seat: Seat) -> list[float]:
    """Return the numbers of `NAMES` for a seat.

    `worth`: the game's own worth. `cards`: points that the battle cards in hand are good for. `powder`: materials that a mounted crystal
    would turn into ammo in a battle, 30 at most. `lead`: crystals more than the best of the others has. `isle`: crystals that the holder
    of the Isle still gets if it stays; negative if the holder is another seat. `away`: in the last round, the steps of the capital ship to
    the Isle.
    """
    player = state["players"][seat]
    punch = 0.0
    for card in player["cards"]:
        punch += PUNCH.get(card, 0.0)
    powder = 0
    if player["mounted"] and data.POWDER in convertible(state, seat):
        powder = min(_MOST_POWDER, sum([goods(player)[name] for name in data.MATERIALS]))
    best = 0
    for other in state["seats"]:
        if other != seat:
            best = max(best, crystals_of(state, other))
    return [worth(state, seat), punch, float(powder), float(crystals_of(state, seat) - best), _isle(state, seat), _away(state, seat)]


def _isle(state: State, seat: Seat) -> float:
    countdown = state["countdown"]
    if countdown is None:
        return 0.0
    first = first_full_round(state)
    if first is None:
        return 0.0
    rounds: int = 1 if countdown == 1 else min(data.ROUNDS_TO_WIN, countdown - (first > state["round"]))
    return float(data.ISLE_REWARD * (rounds if isle_of(state)["holder"] == seat else -rounds))


def _away(state: State, seat: Seat) -> float:
    if state["countdown"] != 1:
        return 0.0
    steps = distances(neighbours(state))
    for location, fleet in state["players"][seat]["fleets"].items():
        if data.FLAGSHIP in fleet:
            return float(steps[location])
    return 0.0
