"""The board as text, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from games.drawing import WIDTH, Sheet, apart, heading, letter, paragraph, verdict
from games.kernel import Seat
from games.sentences import counted, listed
from games.war.data import BROWN, COLUMNS, COMBAT_CARDS, MOVES, REINFORCEMENTS, SYMBOL, SYMBOLS, VALUE
from games.war.document import State
from games.war.outcome import points
from games.war.state import PLACEMENT, on_board

Places = dict[tuple[int, int], str]
MARGIN = 3
TALLEST = 9
WIDE, HIGH = 9, 3


def board(view: State, viewer: str) -> list[str]:
    """Return the lines that draw what a viewer sees of a match."""
    return [
        heading("War!", view, viewer),
        "",
        *(_map(view) or ["The map is not laid out yet."]),
        "",
        *_seats(view),
        "",
        *_middle(view),
        *_turn(view),
        *_end(view),
    ]


def _map(view: State) -> list[str]:
    """Draw the tiles in their places, as boxes with words if there is room, else as one line a row with letters (WAR-MAP-01)."""
    places = {(COLUMNS.index(tile[0]), int(tile[1:])): tile for tile in view["tiles"]}
    if not places:
        return []
    across = sorted({column for column, _ in places})
    columns, rows = range(across[0], across[-1] + 1), range(min(row for _, row in places), max(row for _, row in places) + 1)
    if len(columns) * WIDE + MARGIN < WIDTH and len(rows) <= TALLEST:
        return _boxes(view, places, columns, rows)
    return _letters(view, places, columns, rows)


def _boxes(view: State, places: Places, columns: range, rows: range) -> list[str]:
    """Draw each tile as a box: its symbol in capitals, and below it the units; `B 3<R 5` is an open attack."""
    sheet = Sheet()
    for column in columns:
        sheet.write(0, MARGIN + (column - columns[0]) * WIDE + WIDE // 2, COLUMNS[column])
    for row in rows:
        sheet.write((row - rows[0]) * HIGH + 2, 0, f"{row:>2}")
    for (column, row), tile in places.items():
        top, left = (row - rows[0]) * HIGH + 1, MARGIN + (column - columns[0]) * WIDE
        sheet.box(top, left, top + HIGH, left + WIDE)
        face = view["tiles"][tile]["face"]
        sheet.write(top + 1, left + 1, (face if face == BROWN else face.upper()).center(WIDE - 1))
        sheet.write(top + 2, left + 1, _garrison(view, tile).center(WIDE - 1))
    return sheet.lines()


def _garrison(view: State, tile: str) -> str:
    here, attack = view["tiles"][tile], view["attacks"].get(tile)
    if here["seat"] is None:
        return ""
    units = f"{letter(here['seat'])}{here['units']:>2}"
    if attack is None:
        return units
    attacker = view["tiles"][attack["from"]]["seat"]
    assert attacker is not None, "attackers stand on the tile they came from"
    return f"{units}<{letter(attacker)}{attack['units']:>2}"


def _letters(view: State, places: Places, columns: range, rows: range) -> list[str]:
    """Draw each tile as a few letters: its symbol, its seat and its units."""
    pitch = 5 if len(columns) * 5 + MARGIN <= WIDTH else 4
    sheet = Sheet()
    for column in columns:
        sheet.write(0, MARGIN + (column - columns[0]) * pitch, COLUMNS[column])
    for row in rows:
        sheet.write(row - rows[0] + 1, 0, f"{row:>2}")
    for (column, row), tile in places.items():
        here = view["tiles"][tile]
        units = f"{letter(here['seat'])}{here['units']:<2}" if here["seat"] is not None else ""
        face = "-" if here["face"] == BROWN else letter(here["face"])
        sheet.write(row - rows[0] + 1, MARGIN + (column - columns[0]) * pitch, face + units)
    faces = [f"{letter(symbol)} {symbol}" for symbol in view["symbols"]]
    return [*sheet.lines(), *paragraph("   ", [*faces, f"- {BROWN}", *[f"{letter(seat)} {seat}" for seat in view["seats"]]], "   ")]


def _seats(view: State) -> Iterator[str]:
    """Yield a row for each seat in turn order: its score so far, its units, and its cards, which are open to all (WAR-SET-10)."""
    yield "  seat    tiles symbols sets  score   on board reserve   combat     hand"
    for seat in view["seats"]:
        score = (view["score_sheet"] or {}).get(seat) or points(view, seat)
        mark = "x" if seat in view["eliminated"] else ">" if seat in view["to_act"] else " "
        combat = view["combat"].get(seat)
        label = (
            f"{mark} {seat:<7}{score['tiles']:>6}{score['symbols']:>8}{score['sets']:>5}{score['total']:>7}"
            f"{on_board(view, seat):>11}{view['reserve'].get(seat, 0):>8}   {_card(combat) if combat else '-':<11}"
        )
        yield from paragraph(label, _hand(view, seat), "  ")


def _hand(view: State, seat: Seat) -> list[str]:
    hand = view["hands"].get(seat, [])
    by_symbol = {symbol: sorted([VALUE[card] for card in hand if SYMBOL[card] == symbol]) for symbol in SYMBOLS}
    return [f"{symbol} {' '.join(map(str, values))}" for symbol, values in by_symbol.items() if values] or ["-"]


def _card(card: str) -> str:
    return f"{SYMBOL[card]} {VALUE[card]}"


def _middle(view: State) -> Iterator[str]:
    """Yield the open cards and the piles; an auditor sees the deck in full."""
    deck = cast("list[str] | int", view["deck"])
    size = deck if isinstance(deck, int) else len(deck)
    row = "   ".join(map(_card, view["row"])) or "-"
    yield apart(f"row   {row}", f"deck {size}, discard {len(view['discard'])}")
    if not isinstance(deck, int) and deck:
        yield from paragraph("deck, top first   ", map(_card, deck))


def _turn(view: State) -> Iterator[str]:
    """Yield what the active seat has done this turn, and the open attacks."""
    turn = view["turn"]
    if view["active"] is not None and view["phase"] != PLACEMENT:
        done = [
            f"{turn['reinforcements']} of {REINFORCEMENTS} reinforcements",
            *[f"+{units} on {tile}" for tile, units in sorted(turn["placed"].items())],
            f"{int(turn['combat_card'])} of {COMBAT_CARDS} combat cards",
            f"{turn['moves']} of {MOVES} moves",
        ]
        yield from paragraph(f"turn  {view['active']}: ", done)
    fights = [
        f"{attack['units']} from {attack['from']} on {tile}, where {view['tiles'][tile]['units']} stand, {counted(attack['rolls'], 'roll')}"
        for tile, attack in sorted(view["attacks"].items())
    ]
    if fights:
        yield from paragraph("open  ", fights, "; ")


def _end(view: State) -> Iterator[str]:
    """Yield the final turns that are still to come, or the winners."""
    if view["final_turns"]:
        yield f"Final turns are still to be finished by {listed(view['final_turns'])}."
    if view["outcome"] is not None:
        yield verdict(view["outcome"])
