"""The worth of a position to a seat, for search. Every weight is in data.json, under `worth`."""

from __future__ import annotations

from games.kernel import Seat, total
from games.war.attacks import strengths
from games.war.data import BESIDE, BROWN, SET_SIZE, SYMBOLS, VALUE, WEIGHTS
from games.war.document import State, Tile
from games.war.outcome import points_for
from games.war.state import still_in

_PRIZE: dict[str, float] = {face: WEIGHTS.prize_tile + (WEIGHTS.prize_symbol if face != BROWN else 0.0) for face in (*SYMBOLS, BROWN)}
"""What a tile is worth to the seat that gets it, by its face."""


def worth(state: State, seat: Seat) -> float:
    """Return about how many points of the final score a seat is ahead: what it has, may gain in open fights and could lose next, less the
    best and the mean of the others."""
    outcome = state["outcome"]
    if outcome is not None:
        return (WEIGHTS.won if seat in outcome["winners"] else -WEIGHTS.won) + outcome["scores"].get(seat, 0)
    held = _held(state)
    strength = {other: _strength(state, other, held[other]) for other in state["seats"]}
    strength[seat] -= _danger(state, seat, held[seat])
    for tile in state["attacks"]:
        _count_fight(state, tile, strength)
    rivals = [strength[other] for other in still_in(state) if other != seat]
    if not rivals:
        return strength[seat]
    return strength[seat] - WEIGHTS.best_rival * max(rivals) - (1 - WEIGHTS.best_rival) * total(rivals) / len(rivals)


def _held(state: State) -> dict[Seat, list[tuple[str, Tile]]]:
    """Return the tiles that each seat controls, with their ids."""
    held: dict[Seat, list[tuple[str, Tile]]] = {seat: [] for seat in state["seats"]}
    for tile, here in state["tiles"].items():
        seat = here["seat"]
        if seat is not None:
            held[seat].append((tile, here))
    return held


def _strength(state: State, seat: Seat, held: list[tuple[str, Tile]]) -> float:
    """Return what a seat has: its score as it stands, sets that are nearly complete, units and cards."""
    units = 0
    found: dict[str, int] = {}
    for _, here in held:
        units += here["units"]
        face = here["face"]
        if face != BROWN:
            found[face] = found.get(face, 0) + 1
    near_sets = sum([number % SET_SIZE == SET_SIZE - 1 for number in found.values()])
    cards = sum([VALUE[card] for card in state["hands"][seat]])
    score = points_for(len(held), found)["total"]
    return score + WEIGHTS.near_set * near_sets + WEIGHTS.unit * units + WEIGHTS.card * cards


def _danger(state: State, seat: Seat, held: list[tuple[str, Tile]]) -> float:
    """Return what stronger neighbours could take from a seat."""
    tiles, quiet = state["tiles"], (seat, *state["eliminated"])
    threatened = 0.0
    for tile, here in sorted(held):
        units = here["units"]
        for place in BESIDE[tile]:
            near = tiles.get(place)
            if near is not None and near["units"] > units and near["seat"] not in quiet:
                threatened += _PRIZE[here["face"]]
                break
    return WEIGHTS.threat * threatened


def _count_fight(state: State, tile: str, strength: dict[Seat, float]) -> None:
    """Add an open fight at its chance: the tile and the defender's units against the attackers that fall on the way."""
    here, attacker = state["tiles"][tile], state["active"]
    defender = here["seat"]
    assert attacker is not None, "attacks are made by the active seat"
    assert defender is not None, "attacks are made on units"
    attack, defence = strengths(state, tile, attacker, defender)
    odds = min(max(WEIGHTS.even + WEIGHTS.edge * (attack - defence), WEIGHTS.odds_least), WEIGHTS.odds_most)
    strength[attacker] += odds * _PRIZE[here["face"]] - (1 - odds) * WEIGHTS.unit * WEIGHTS.fallen * state["attacks"][tile]["units"]
    strength[defender] -= odds * (_PRIZE[here["face"]] + WEIGHTS.unit * here["units"])
