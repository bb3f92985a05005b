"""What counts in a position of War!: the features that the weights of players/data/war.json belong to.

Each feature compares a seat with its rivals: its own figure less the mean of theirs. Only `lead` looks at the best rival alone.
"""

from __future__ import annotations

from functools import cache

from games.kernel import Seat, State
from games.war.data import BESIDE, BROWN, MOVES, PER_SET, PER_TILE, SET_SIZE, SIDES, SYMBOL, SYMBOL_STEP, UNITS, VALUE

NAMES: tuple[str, ...] = ("out", "lead", "points", "near_sets", "units", "cards", "supply", "fights", "now", "next", "exposed")

NEAR = 1.0  # points for a tile that brings a set within reach

Holding = dict[str, int]  # tiles of a seat by symbol


def phase(state: State) -> str:
    """Return the part of the match: `final` (each seat has one turn left at most), `late` (half of the cards are gone) or `early`."""
    if state["final_turns"] is not None:
        return "final"
    left = len(state["deck"]) + len(state["row"])
    return "early" if 2 * left >= len(state["symbols"]) * 9 else "late"


def features(state: State, seat: Seat) -> list[float]:
    """Return the figures of `NAMES` for a seat. One that is out of the match has nothing but `out`."""
    inside = [other for other in state["seats"] if other not in state["eliminated"]]
    if seat not in inside or len(inside) < 2:
        return [0.0 if seat in inside else 1.0] + [0.0] * (len(NAMES) - 1)
    figures = _figures(state, inside)
    mine = figures.pop(seat)
    best, rivals = max([other[0] for other in figures.values()]), list(figures.values())
    found = [0.0, float(mine[0] - best)]
    for place, own in enumerate(mine):
        total = 0.0
        for other in rivals:
            total += other[place]
        found.append(own - total / len(rivals))
    return found


def _figures(state: State, inside: list[Seat]) -> dict[Seat, list[float]]:
    """Return for each seat its points, sets within reach, units, cards, supply, and what it may win in fights, in this turn and later."""
    tiles, hands = state["tiles"], state["hands"]
    held: dict[Seat, Holding] = {seat: {} for seat in inside}
    count = dict.fromkeys(inside, 0)
    units = dict.fromkeys(inside, 0)
    owned: list[str] = []
    for tile, here in tiles.items():
        owner = here["seat"]
        if owner is not None:
            count[owner] += 1
            units[owner] += here["units"]
            owned.append(tile)
            if here["face"] != BROWN:
                held[owner][here["face"]] = held[owner].get(here["face"], 0) + 1
    fights, gains_of = targets(state, inside, held, owned)
    active, final = state["active"], state["final_turns"]
    moving = active if state["phase"] in ("cards", "moves", "attack") else None
    left = MOVES - state["turn"]["moves"]
    found: dict[Seat, list[float]] = {}
    for seat in inside:
        points, _, near = score_of(count[seat], held[seat])
        value, supply = cards_of(hands[seat], held[seat])
        gains = sorted(gains_of[seat], reverse=True)
        now = later = 0.0
        if seat == moving:
            for gain in gains[:left]:
                now += gain
        elif final is None or seat in final:
            for gain in gains[:MOVES]:
                later += gain
        rest = 0.0
        for gain in gains[MOVES:]:
            rest += gain
        found[seat] = [points, near, units[seat], value, supply, fights[seat], now, later, rest]
    return found


def score_of(tiles: int, held: Holding) -> tuple[int, int, int]:
    """Return the points of a seat for its tiles, and how many sets it has and lacks one tile of (WAR-SCO-01 to 03)."""
    points = PER_TILE * tiles + SYMBOL_STEP * len(held) * (len(held) + 1) // 2
    sets = near = 0
    for number in held.values():
        if number == SET_SIZE:
            points += PER_SET
            sets += 1
        elif number == SET_SIZE - 1:
            near += 1
    return points, sets, near


def cards_of(hand: list[str], held: Holding) -> tuple[int, int]:
    """Return the values of the cards of a hand together, and of those that may bring units to a tile."""
    value = supply = 0
    for card in hand:
        value += VALUE[card]
        if SYMBOL[card] in held:
            supply += VALUE[card]
    return value, supply


def targets(
    state: State, inside: list[Seat], held: dict[Seat, Holding], owned: list[str]
) -> tuple[dict[Seat, float], dict[Seat, list[float]]]:
    """Return what each seat may expect of its open fights, and of an attack on each tile beside its own, in points."""
    tiles, combat, attacks = state["tiles"], state["combat"], state["attacks"]
    rivals = len(inside) - 1
    best: dict[tuple[Seat, str], float] = {}
    fights = dict.fromkeys(inside, 0.0)
    for source in owned:
        here = tiles[source]
        seat, number, face = here["seat"], here["units"], here["face"]
        mine = held[seat]
        leaving = _loss(face, mine)
        for tile in BESIDE[source]:
            there = tiles.get(tile)
            if there is None or there["seat"] == seat:
                continue
            prize = _gain(there["face"], mine)
            owner = there["seat"]
            if owner is None:
                gain = prize if number > 1 else prize - leaving
            else:
                prize += _loss(there["face"], held[owner]) / rivals
                edge = 0
                if there["face"] != BROWN:
                    card = combat.get(seat)
                    if card is not None and SYMBOL[card] == there["face"]:
                        edge = VALUE[card]
                    card = combat.get(owner)
                    if card is not None and SYMBOL[card] == there["face"]:
                        edge -= VALUE[card]
                if tile in attacks and attacks[tile]["from"] == source:
                    fights[seat] += prize * odds(attacks[tile]["units"], there["units"], edge)
                    continue
                gain = (prize - leaving) * odds(number, there["units"], edge)
                if number > 1:
                    gain = max(gain, prize * odds(number - 1, there["units"], edge))
            if gain > best.get((seat, tile), 0.0):
                best[seat, tile] = gain
    gains: dict[Seat, list[float]] = {seat: [] for seat in inside}
    for (seat, _), gain in best.items():
        gains[seat].append(gain)
    return fights, gains


def _gain(face: str, held: Holding) -> float:
    """Return the points that one more tile brings."""
    if face == BROWN:
        return PER_TILE
    number = held.get(face, 0)
    if number == 0:
        return PER_TILE + SYMBOL_STEP * (len(held) + 1)
    return PER_TILE + (PER_SET - NEAR if number == SET_SIZE - 1 else NEAR)


def _loss(face: str, held: Holding) -> float:
    """Return the points that are lost with a tile."""
    if face == BROWN:
        return PER_TILE
    number = held[face]
    if number == 1:
        return PER_TILE + SYMBOL_STEP * len(held)
    return PER_TILE + (PER_SET - NEAR if number == SET_SIZE else NEAR)


def odds(attackers: int, defenders: int, edge: int) -> float:
    """Return the chance that attackers who never stop take a tile. `edge`: the attacker's combat bonus less the defender's."""
    return _odds(edge)[attackers][defenders]


def _round(difference: int) -> float:
    """Return the chance that the attacker wins a roll that is not a draw, with so much more strength than the defender."""
    won = lost = 0
    for die in range(1, SIDES + 1):
        for other in range(1, SIDES + 1):
            total = die + difference - other
            won += total > 0
            lost += total < 0
    return won / (won + lost)


@cache
def _odds(edge: int) -> list[list[float]]:
    """Return the chances of `odds` by attackers and defenders, 0 to all units of a seat."""
    table = [[1.0 if attackers else 0.0] + [0.0] * UNITS for attackers in range(UNITS + 1)]
    for attackers in range(1, UNITS + 1):
        for defenders in range(1, UNITS + 1):
            chance = _round(attackers + edge - defenders)
            table[attackers][defenders] = chance * table[attackers][defenders - 1] + (1 - chance) * table[attackers - 1][defenders]
    return table
