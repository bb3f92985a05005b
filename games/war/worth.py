"""The worth of a position to a seat, for search. Every weight is in data.json, under `worth`."""

from __future__ import annotations

from games.kernel import Seat
from games.war.attacks import strengths
from games.war.data import BROWN, SET_SIZE, VALUE, WEIGHTS
from games.war.document import State, Tile
from games.war.outcome import bearing, points
from games.war.state import beside, holdings, on_board, still_in


def worth(state: State, seat: Seat) -> float:
    """Return about how many points of the final score a seat is ahead: what it has, may gain in open fights and could lose next, less the
    best and the mean of the others."""
    outcome = state["outcome"]
    if outcome is not None:
        return (WEIGHTS.won if seat in outcome["winners"] else -WEIGHTS.won) + outcome["scores"].get(seat, 0)
    strength = {other: _strength(state, other) for other in state["seats"]}
    strength[seat] -= _danger(state, seat)
    for tile in state["attacks"]:
        _count_fight(state, tile, strength)
    rivals = [strength[other] for other in still_in(state) if other != seat]
    if not rivals:
        return strength[seat]
    return strength[seat] - WEIGHTS.best_rival * max(rivals) - (1 - WEIGHTS.best_rival) * sum(rivals) / len(rivals)


def _strength(state: State, seat: Seat) -> float:
    """Return what a seat has: its score as it stands, sets that are nearly complete, units and cards."""
    near_sets = sum([number % SET_SIZE == SET_SIZE - 1 for number in bearing(state, seat).values()])
    cards = sum([VALUE[card] for card in state["hands"][seat]])
    return points(state, seat)["total"] + WEIGHTS.near_set * near_sets + WEIGHTS.unit * on_board(state, seat) + WEIGHTS.card * cards


def _prize(tile: Tile) -> float:
    """Return what a tile is worth to the seat that gets it."""
    return WEIGHTS.prize_tile + (WEIGHTS.prize_symbol if tile["face"] != BROWN else 0.0)


def _danger(state: State, seat: Seat) -> float:
    """Return what stronger neighbours could take from a seat."""
    tiles = state["tiles"]
    threatened = 0.0
    for tile in holdings(state, seat):
        here = tiles[tile]
        if any(tiles[place]["units"] > here["units"] and tiles[place]["seat"] != seat for place in beside(tiles, tile)):
            threatened += _prize(here)
    return WEIGHTS.threat * threatened


def _count_fight(state: State, tile: str, strength: dict[Seat, float]) -> None:
    """Add an open fight at its chance: the tile and the defender's units against the attackers that fall on the way."""
    here, attacker = state["tiles"][tile], state["active"]
    defender = here["seat"]
    assert attacker is not None, "attacks are made by the active seat"
    assert defender is not None, "attacks are made on units"
    attack, defence = strengths(state, tile, attacker, defender)
    odds = min(max(WEIGHTS.even + WEIGHTS.edge * (attack - defence), WEIGHTS.odds_least), WEIGHTS.odds_most)
    strength[attacker] += odds * _prize(here) - (1 - odds) * WEIGHTS.unit * WEIGHTS.fallen * state["attacks"][tile]["units"]
    strength[defender] -= odds * (_prize(here) + WEIGHTS.unit * here["units"])
