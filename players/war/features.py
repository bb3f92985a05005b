"""What counts in a position of War!: the features that the weights of players/war/plans.json belong to.

Each feature compares a seat with its rivals: its own figure less the mean of theirs. Only `lead` looks at the best rival alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from games.kernel import Seat, State, total
from games.war.data import BESIDE, BROWN, MOVES, PER_SET, PER_TILE, SET_SIZE, SIDES, SYMBOL, SYMBOL_STEP, UNITS, VALUE

NAMES: tuple[str, ...] = ("out", "lead", "points", "near_sets", "units", "cards", "supply", "fights", "now", "next", "exposed")

NEAR = 1.0  # points for a tile that brings a set within reach

Holding = dict[str, int]  # tiles of a seat by symbol
Tile = tuple[Seat | None, int, str]  # its owner, its units and its face
Attack = tuple[str, int]  # the tile from which it comes, and its units


def phase(state: State) -> str:
    """Return the part of the match: `final` (each seat has one turn left at most), `late` (half of the cards are gone) or `early`.

    >>> phase({"final_turns": ["red"]})
    'final'
    >>> phase({"final_turns": None, "deck": ["c"] * 30, "row": [], "symbols": ["drop"] * 4})
    'early'
    """
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
    rivals = list(figures.values())
    best = max([other[0] for other in rivals])
    found = [0.0, float(mine[0] - best)]
    if len(rivals) == 1:
        return found + [own - other for own, other in zip(mine, rivals[0], strict=True)]
    for place, own in enumerate(mine):
        found.append(own - total([other[place] for other in rivals]) / len(rivals))
    return found


def _figures(state: State, inside: list[Seat]) -> dict[Seat, list[float]]:
    """Return for each seat its points, sets within reach, units, cards, supply, and what it may win in fights, in this turn and later."""
    tiles = state["tiles"]
    boards = _boards(
        tuple(inside),
        tuple(tiles),
        tuple([here["seat"] for here in tiles.values()]),
        tuple([here["units"] for here in tiles.values()]),
        tuple([here["face"] for here in tiles.values()]),
        tuple(state["combat"].items()),
        tuple(attacks_of(state).items()),
    )
    hands, active, final = state["hands"], state["active"], state["final_turns"]
    moving = active if state["phase"] in ("cards", "moves", "attack") else None
    left = MOVES - state["turn"]["moves"]
    found: dict[Seat, list[float]] = {}
    for seat, (points, near, units, held, fights, gains, rest) in boards.items():
        value, supply = cards_of(hands[seat], held)
        now = gains[left] if seat == moving else 0.0
        later = gains[MOVES] if seat != moving and (final is None or seat in final) else 0.0
        found[seat] = [points, near, units, value, supply, fights, now, later, rest]
    return found


def tiles_of(state: State) -> dict[str, Tile]:
    """Return the owner, the units and the face of every tile."""
    return {tile: (here["seat"], here["units"], here["face"]) for tile, here in state["tiles"].items()}


def attacks_of(state: State) -> dict[str, Attack]:
    """Return from where and by how many units each tile is attacked that is fought for.

    >>> attacks_of({"attacks": {"c3": {"from": "c2", "units": 4, "rolls": 1}}})
    {'c3': ('c2', 4)}
    """
    return {tile: (attack["from"], attack["units"]) for tile, attack in state["attacks"].items()}


class Board(NamedTuple):
    """What a seat has on the board, whatever cards it holds.

    `points`: for its tiles and sets. `near`: sets that lack one tile. `held`: its tiles by symbol. `fights`: what it may expect of its open
    fights. `gains`: what it may expect of its best attacks on tiles beside its own: of none, of one, and so on up to all moves of a turn.
    `rest`: what it may expect of all other attacks.
    """

    points: int
    near: int
    units: int
    held: Holding
    fights: float
    gains: list[float]
    rest: float


@lru_cache(maxsize=4096)
def _boards(
    inside: tuple[Seat, ...],
    tiles: tuple[str, ...],
    owners: tuple[Seat | None, ...],
    numbers: tuple[int, ...],
    faces: tuple[str, ...],
    combat: tuple[tuple[Seat, str | None], ...],
    attacks: tuple[tuple[str, Attack], ...],
) -> dict[Seat, Board]:
    """Return what each seat has on the board: the owners, the units and the faces of its tiles, and what lies open.

    A search that plays on comes to the same boards again and again, nine times of ten.
    """
    board = dict(zip(tiles, zip(owners, numbers, faces, strict=True), strict=True))
    held: dict[Seat, Holding] = {seat: {} for seat in inside}
    count = dict.fromkeys(inside, 0)
    units = dict.fromkeys(inside, 0)
    for owner, number, face in board.values():
        if owner is not None and owner in held:
            count[owner] += 1
            units[owner] += number
            if face != BROWN:
                held[owner][face] = held[owner].get(face, 0) + 1
    fights, gains = targets(board, dict(combat), dict(attacks), held)
    found: dict[Seat, Board] = {}
    for seat in inside:
        points, _, near = score_of(count[seat], held[seat])
        best = sorted(gains[seat], reverse=True)
        most = [0.0]
        for place in range(MOVES):
            most.append(most[-1] + best[place] if place < len(best) else most[-1])
        found[seat] = Board(points, near, units[seat], held[seat], fights[seat], most, total(best[MOVES:]))
    return found


def score_of(tiles: int, held: Holding) -> tuple[int, int, int]:
    """Return the points of a seat for its tiles, and how many sets it has and lacks one tile of (WAR-SCO-01 to 03).

    >>> score_of(5, {"drop": 3, "wheel": 2})
    (13, 1, 1)
    """
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
    """Return the values of the cards of a hand together, and of those that may bring units to a tile.

    >>> from games.war.data import CARDS
    >>> hand = list(CARDS)[:2]
    >>> [(SYMBOL[card], VALUE[card]) for card in hand]
    [('drop', 1), ('drop', 1)]
    >>> cards_of(hand, {SYMBOL[hand[0]]: 1}), cards_of(hand, {})
    ((2, 2), (2, 0))
    """
    value = supply = 0
    for card in hand:
        value += VALUE[card]
        if SYMBOL[card] in held:
            supply += VALUE[card]
    return value, supply


def targets(
    tiles: Mapping[str, Tile], combat: Mapping[Seat, str | None], attacks: Mapping[str, Attack], held: Mapping[Seat, Holding]
) -> tuple[dict[Seat, float], dict[Seat, list[float]]]:
    """Return what each seat may expect of its open fights, and of an attack on each tile beside its own, in points.

    `combat`: the combat cards that lie open. `held`: the tiles by symbol of each seat that is still in the match; those of others are
    defended, and attack nobody.
    """
    edges = {(seat, SYMBOL[card]): VALUE[card] for seat, card in combat.items() if card is not None}
    even, rivals = odds(0), len(held) - 1
    prizes = {seat: _prizes(mine) for seat, mine in held.items()}
    losses = {seat: _losses(mine) for seat, mine in held.items()}
    best: dict[Seat, dict[str, float]] = {seat: {} for seat in held}
    fights = dict.fromkeys(held, 0.0)
    for source, (seat, number, face) in tiles.items():
        if seat is None or seat not in held:
            continue
        leaving, (prizes_of, another), mine = losses[seat][face], prizes[seat], best[seat]
        for tile in BESIDE[source]:
            if tile not in tiles:
                continue
            owner, defenders, symbol = tiles[tile]
            if owner == seat:
                continue
            prize = prizes_of.get(symbol, another)
            if owner is None:
                gain = prize if number > 1 else prize - leaving
            else:
                if owner in losses:
                    prize += losses[owner][symbol] / rivals
                chances = odds(edges.get((seat, symbol), 0) - edges.get((owner, symbol), 0)) if edges else even
                if tile in attacks and attacks[tile][0] == source:
                    fights[seat] += prize * chances[attacks[tile][1]][defenders]
                    continue
                gain = (prize - leaving) * chances[number][defenders]
                if number > 1:
                    staying = prize * chances[number - 1][defenders]
                    if staying > gain:
                        gain = staying
            if gain > mine.get(tile, 0.0):
                mine[tile] = gain
    return fights, {seat: list(gains.values()) for seat, gains in best.items()}


def _prizes(held: Holding) -> tuple[dict[str, float], float]:
    """Return the points that one more tile brings: by its face, without a symbol or with one that the seat has; and with any other."""
    prizes: dict[str, float] = {BROWN: PER_TILE}
    for face, number in held.items():
        prizes[face] = PER_TILE + (PER_SET - NEAR if number == SET_SIZE - 1 else NEAR)
    return prizes, PER_TILE + SYMBOL_STEP * (len(held) + 1)


def _losses(held: Holding) -> dict[str, float]:
    """Return the points that are lost with a tile, by its face."""
    losses: dict[str, float] = {BROWN: PER_TILE}
    for face, number in held.items():
        if number == 1:
            losses[face] = PER_TILE + SYMBOL_STEP * len(held)
        else:
            losses[face] = PER_TILE + (PER_SET - NEAR if number == SET_SIZE else NEAR)
    return losses


def _round(difference: int) -> float:
    """Return the chance that the attacker wins a roll that is not a draw, with so much more strength than the defender."""
    won = lost = 0
    for die in range(1, SIDES + 1):
        for other in range(1, SIDES + 1):
            ahead = die + difference - other
            won += ahead > 0
            lost += ahead < 0
    return won / (won + lost)


@cache
def odds(edge: int) -> list[list[float]]:
    """Return the chances that attackers who never stop take a tile, by attackers and defenders, 0 to all units of a seat. `edge`: the
    attacker's combat bonus less the defender's.

    >>> round(odds(0)[2][1], 3), round(odds(1)[2][1], 3), odds(0)[3][0]
    (0.839, 0.94, 1.0)
    """
    table = [[1.0 if attackers else 0.0] + [0.0] * UNITS for attackers in range(UNITS + 1)]
    for attackers in range(1, UNITS + 1):
        for defenders in range(1, UNITS + 1):
            chance = _round(attackers + edge - defenders)
            table[attackers][defenders] = chance * table[attackers][defenders - 1] + (1 - chance) * table[attackers - 1][defenders]
    return table
