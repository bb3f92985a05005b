"""What a position is worth to a seat, for search."""

from __future__ import annotations

from games.kernel import Seat, State
from games.war.data import BESIDE, BROWN, PER_SET, SET_SIZE, SYMBOL_STEP, VALUE
from games.war.state import bonus

_WON = 1000.0
_UNIT = 0.35  # a unit on the board, against a point of the final score
_CARD = 0.12  # a point of value on a card in hand
_NEXT_SYMBOL = 0.5  # the part of the next symbol's points that two tiles of a set are worth
_EDGE = 0.11  # how much one more unit in a fight raises the chance to win it
_EVEN = 0.62  # the chance of an even fight, which the attacker may break off
_THREAT = 0.25  # how much of a tile's worth a stronger neighbour puts in doubt


def worth(state: State, seat: Seat) -> float:
    """Points of the final score, about: what the seat holds, may gain in open fights and could lose next, less the best of the others."""
    outcome = state["outcome"]
    if outcome is not None:
        return (_WON if seat in outcome["winners"] else -_WON) + float(outcome["scores"][seat])
    strength = dict.fromkeys(state["seats"], 0.0)
    bearing: dict[str, dict[str, int]] = {other: {} for other in strength}
    tiles = state["tiles"]
    for tile, here in tiles.items():
        holder = here["seat"]
        if holder is None:
            continue
        strength[holder] += 1.0 + _UNIT * here["units"]
        if here["face"] != BROWN:
            symbols = bearing[holder]
            symbols[here["face"]] = symbols.get(here["face"], 0) + 1
        if holder == seat:
            strength[holder] -= _danger(state, seat, tile)
    for other, symbols in bearing.items():
        different = len(symbols)
        strength[other] += SYMBOL_STEP * different * (different + 1) / 2
        for number in symbols.values():
            strength[other] += PER_SET * (number // SET_SIZE) + (number % SET_SIZE == SET_SIZE - 1) * _NEXT_SYMBOL * PER_SET / 2
        hand = state["hands"].get(other)
        if hand:
            strength[other] += _CARD * sum([VALUE[card] for card in hand])
    for tile in state["attacks"]:
        _reckon(state, seat, tile, strength)
    rivals = [value for other, value in strength.items() if other != seat and other not in state["eliminated"]]
    return strength[seat] - (max(rivals) + sum(rivals) / len(rivals)) / 2 if rivals else strength[seat]


def _danger(state: State, seat: Seat, tile: str) -> float:
    """What a stronger neighbour could take from a tile."""
    tiles = state["tiles"]
    units = tiles[tile]["units"]
    most = max([tiles[place]["units"] for place in BESIDE[tile] if place in tiles and tiles[place]["seat"] not in (None, seat)], default=0)
    return _THREAT * (1.0 + (tiles[tile]["face"] != BROWN)) if most > units else 0.0


def _reckon(state: State, seat: Seat, tile: str, strength: dict[Seat, float]) -> None:
    """An open fight, counted at its chance: the tile and the defender's units against the attackers that fall on the way."""
    fight = state["attacks"][tile]
    here = state["tiles"][tile]
    attacker, defender = state["active"], here["seat"]
    edge = fight["units"] - here["units"] + bonus(state, attacker, tile) - bonus(state, defender, tile)
    odds = min(max(_EVEN + _EDGE * edge, 0.02), 0.98)
    prize = 1.0 + 1.5 * (here["face"] != BROWN)
    strength[attacker] += odds * prize - (1 - odds) * _UNIT * fight["units"] * 0.7
    strength[defender] -= odds * (prize + _UNIT * here["units"])
