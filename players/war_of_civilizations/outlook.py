"""The outlook of a seat of War of Civilizations whose turn begins, with two seats: what tells how likely it is to win in the end.

`players/war_of_civilizations/features.py` is for positions within a turn: it begins from the game's own `worth`, which counts what the turn
under way still promises. Here no action is open and no battle is being fought. The weights (players/war_of_civilizations/plans.json,
`outlooks`) belong to phases by the countdown, so that they can say how long ships and resources are still good for something.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt

from games.kernel import Seat, State
from games.war_of_civilizations import data
from games.war_of_civilizations.document import Player
from games.war_of_civilizations.state.control import fills_continent, occupied
from games.war_of_civilizations.state.fleets import fleet_strength
from games.war_of_civilizations.state.map import distances, neighbours
from games.war_of_civilizations.state.records import collected_from, crystals_of, goods, isle_of, round_order, upkeep
from games.war_of_civilizations.worth import worth
from players.war_of_civilizations.features import PUNCH

_OF_A_SEAT = (
    "crystals",
    *[f"{more}{name}" for name in data.RESOURCES for more in ("", "more ")],
    "ability",
    "turn cards",
    "punch",
    "teleporters",
    "mounted",
    "strength",
    "forward strength",
    "strength near the Isle",
    "collectors",
    "apex islands",
    "foreign islands",
    "escort",
    "flagship at home",
    "flagship's way",
    "flagship on the Isle",
    "flagship menaced",
    "places",
    "income",
    "continent",
    "holder",
    "holder for 1 round",
    "holder for 2 rounds",
    "unpaid",
    "home menaced",
    "home guard",
)
NAMES: tuple[str, ...] = (
    "turn",
    *[f"own {name}" for name in _OF_A_SEAT],
    *[f"rival {name}" for name in _OF_A_SEAT],
    "unexplored",
    "last of the round",
    "crystals on the Isle",
    "lead near the Isle",
    "lead in crystals",
    "worth",
)
PHASES: tuple[str, ...] = ("before the countdown", "countdown", "3 rounds", "2 rounds", "1 round")

_FEW, _MANY = 6, 20  # resources of a kind that are told apart from more, and those beyond which more do not count
_BATTLE = 5.0  # a lead in strength that decides about a battle
_WORTH = 30.0  # worth of about four crystals
_AMMO = 0.5  # of a rival's ammo, what it may bid in one battle
_GUARD = 30  # strength of a guard beyond which more does not count
_NEAR, _ESCORT = _OF_A_SEAT.index("strength near the Isle"), _OF_A_SEAT.index("escort")


def begins(before: State, state: State) -> bool:
    """Return True if a turn begins in a state that is not the one of a document (or view) `before`."""
    turn = state["turn"]
    return (
        turn is not None
        and (state["round"], state["active"]) != (before["round"], before["active"])
        and turn["action"] is None
        and not turn["actions_used"]
    )


def phase(state: State) -> str:
    """Return the phase of the match by the countdown."""
    left = state["countdown"]
    if left is None:
        return PHASES[0]
    return PHASES[1] if left > 3 else PHASES[5 - left]


def features(state: State, seat: Seat) -> list[float]:
    """Return the figures of `NAMES` for the seat whose turn begins."""
    seats: list[Seat] = state["seats"]
    rival = seats[1] if seat == seats[0] else seats[0]
    near = neighbours(state)
    away = distances(near)
    own, other = _figures(state, seat, rival, near, away), _figures(state, rival, seat, near, away)
    unexplored = 0
    for island in state["apex"].values():
        unexplored += not island["explored"]
    ahead = own[_NEAR] + own[_ESCORT] - other[_NEAR] - other[_ESCORT]
    crystals = own[0] - other[0]
    return [
        1.0,
        *own,
        *other,
        float(unexplored),
        1.0 if seat == round_order(state)[-1] else 0.0,
        float(state["crystals"][data.ISLE]),
        ahead / sqrt(_BATTLE * _BATTLE + ahead * ahead),
        crystals / sqrt(1.0 + crystals * crystals),
        worth(state, seat) / _WORTH,
    ]


def _figures(state: State, seat: Seat, rival: Seat, near: Mapping[str, tuple[str, ...]], away: Mapping[str, int]) -> list[float]:
    """Return the figures of `_OF_A_SEAT` for a seat. `near`: the neighbours of each location, `away`: its steps to the Isle."""
    player, foe = state["players"][seat], state["players"][rival]
    if player["eliminated"]:
        return [0.0] * len(_OF_A_SEAT)
    stock, home = goods(player), data.HOME[seat]
    found = [float(crystals_of(state, seat))]
    for name in data.RESOURCES:
        found += [float(min(stock[name], _FEW)), float(max(0, min(stock[name], _MANY) - _FEW))]
    punch, turn_cards = 0.0, 0
    for card in player["cards"]:
        if card in PUNCH:
            punch += PUNCH[card]
        else:
            turn_cards += 1
    found += [float(player["ability"]), float(turn_cards), punch, float(len(player["teleporters"])), float(len(player["mounted"]))]
    strength, forward, at_isle, collectors, apex, foreign = 0, 0.0, 0, 0, 0, 0
    flagship = home
    for location, fleet in player["fleets"].items():
        way = away[location]
        for ship, number in fleet.items():
            if ship == data.FLAGSHIP:
                flagship = location
                continue
            force = data.STRENGTH[ship] * number
            strength += force
            forward += force / (1.0 + way)
            at_isle += force if way <= 1 else 0
            collectors += number if ship == data.COLLECTOR else 0
        if location in data.RING:
            apex += 1
        elif location != data.ISLE and data.CONTINENT[location] != seat:
            foreign += 1
    found += [float(strength), forward, float(at_isle), float(collectors), float(apex), float(foreign)]
    force = fleet_strength(player["fleets"].get(flagship, {}))
    found += [
        float(force - data.STRENGTH[data.FLAGSHIP]),
        1.0 if flagship == home else 0.0,
        float(away[flagship]),
        1.0 if flagship == data.ISLE else 0.0,
    ]
    found.append(_menace(foe, near[flagship], force + player["ammo"]) if flagship != home else 0.0)
    own = occupied(state, seat)
    income = 0
    for location in collected_from(state, seat, own):
        income += sum(data.YIELDS[location].values())
    found += [float(len(own)), float(income), 1.0 if fills_continent(seat, own) else 0.0]
    isle = isle_of(state)
    if isle["holder"] == seat:
        rounds, unpaid = isle["full_rounds"], stock[data.MONEY] < upkeep(player["fleets"][data.ISLE])
        found += [1.0, 1.0 if rounds == 1 else 0.0, 1.0 if rounds > 1 else 0.0, 1.0 if unpaid else 0.0]
    else:
        found += [0.0, 0.0, 0.0, 0.0]
    guard = fleet_strength(player["fleets"].get(home, {})) + data.HOME_DEFENCE
    found += [_menace(foe, near[home], guard + player["ammo"]), float(min(guard, _GUARD))]
    return found


def _menace(foe: Player, places: Iterable[str], defence: int) -> float:
    """Return how the strongest fleet of a rival on some locations compares with a defence: 0 without one, half if they are even."""
    most = 0.0
    for place in places:
        if place in foe["fleets"]:
            most = max(most, fleet_strength(foe["fleets"][place]) + _AMMO * foe["ammo"])
    return most / (most + defence) if most else 0.0
