"""The outlook of a seat of War! whose turn begins, with two seats: what tells how likely it is to win in the end.

`players/war/features.py` is for the choice of an action: it counts what is in the air in the middle of a turn, and so overstates it. Here
nothing is in the air. The weights (players/war/plans.json, `outlooks`) belong to phases by the turns that are left, so that they can say
how much an attack, a card or a unit is still good for.
"""

from __future__ import annotations

from games.kernel import Seat, State
from games.war.data import BROWN, ROW_TAKE, VALUE
from games.war.state import CARD_PLAY, MOVING, PLACEMENT
from players.war.features import Holding, attacks_of, cards_of, score_of, targets, tiles_of

_OF_A_SEAT = (
    "points",
    "tiles",
    "symbols",
    "sets",
    "near sets",
    "units",
    "cards",
    "supply",
    "hand",
    "best card",
    "gain 1",
    "gain 2",
    "gain 3",
    "gain 4",
    "gains 5 and 6",
    "further gains",
    "stack",
    "single units",
    "units on symbols",
)
NAMES: tuple[str, ...] = (
    "turn",
    *[f"own {name}" for name in _OF_A_SEAT],
    *[f"rival {name}" for name in _OF_A_SEAT],
    "rival combat card",
    "row",
    "own turns",
    "rival turns",
    "opening",
)
PHASES: tuple[tuple[str, int], ...] = (("1 turn", 1), ("2 turns", 2), ("to 4 turns", 4), ("to 8 turns", 8), ("to 14 turns", 14))
"""The phases and the most turns that are left in each. Before them the match is in `more turns`."""

_OPENING = 2  # rounds
_GAINS = 6  # places of which gains are told apart


def begins(before: State, state: State) -> bool:
    """Return True if another seat's turn begins in a state than that of a document (or view) `before`, or the first turn of the match."""
    turn = state["turn"]
    return (
        state["phase"] in (CARD_PLAY, MOVING)
        and not (turn["moves"] or turn["reinforcements"] or turn["combat_card"])
        and (state["active"] != before["active"] or before["phase"] == PLACEMENT)
    )


def turns_left(state: State) -> int:
    """Return the turns of both seats that are left, with the one that begins: two cards are taken in each, and two more follow.

    >>> turns_left({"final_turns": ["red", "blue"]}), turns_left({"final_turns": None, "deck": ["c"] * 8, "row": ["c"] * 4})
    (2, 8)
    """
    final = state["final_turns"]
    if final is not None:
        return len(final)
    cards = len(state["deck"]) + len(state["row"])
    return (cards + ROW_TAKE - 1) // ROW_TAKE + 2


def phase(state: State) -> str:
    """Return the phase of the match by the turns that are left."""
    left = turns_left(state)
    for name, most in PHASES:
        if left <= most:
            return name
    return "more turns"


def features(state: State, seat: Seat) -> list[float]:
    """Return the figures of `NAMES` for the seat whose turn begins."""
    seats: list[Seat] = state["seats"]
    rival = seats[1] if seat == seats[0] else seats[0]
    pair = [seat, rival]
    held: dict[Seat, Holding] = {seat: {}, rival: {}}
    figures: dict[Seat, list[float]] = {seat: [0.0] * len(_OF_A_SEAT), rival: [0.0] * len(_OF_A_SEAT)}
    tiles = tiles_of(state)
    for owner, units, face in tiles.values():
        if owner is None:
            continue
        of_owner = figures[owner]
        of_owner[1] += 1.0
        of_owner[5] += units
        if units > of_owner[16]:
            of_owner[16] = float(units)
        if units == 1:
            of_owner[17] += 1.0
        if face != BROWN:
            symbols = held[owner]
            symbols[face] = symbols.get(face, 0) + 1
            of_owner[18] += units
    _, gains = targets(tiles, state["combat"], attacks_of(state), held)
    for one in pair:
        _complete(state, one, held[one], sorted(gains[one], reverse=True), figures[one])
    left = turns_left(state)
    card = state["combat"].get(rival)
    values = sorted([VALUE[shown] for shown in state["row"]])
    row = values[0] + values[-1] if len(values) > 1 else values[0] if values else 0
    more = [VALUE[card] if card is not None else 0.0, float(row), float((left + 1) // 2), float(left // 2)]
    return [1.0, *figures[seat], *figures[rival], *more, 1.0 if state["round"] <= _OPENING else 0.0]


def _complete(state: State, seat: Seat, symbols: Holding, gains: list[float], figures: list[float]) -> None:
    """Add what follows from the symbols and the cards of a seat, and what it may gain by an attack on each tile, the most first."""
    hand = state["hands"][seat]
    points, sets, near = score_of(int(figures[1]), symbols)
    figures[0], figures[3], figures[4] = float(points), float(sets), float(near)
    figures[2] = float(len(symbols))
    value, supply = cards_of(hand, symbols)
    figures[6], figures[7] = float(value), float(supply)
    figures[8] = float(len(hand))
    figures[9] = float(max([VALUE[card] for card in hand], default=0))
    for place, gain in enumerate(gains):
        figures[min(10 + place, 14) if place < _GAINS else 15] += gain
