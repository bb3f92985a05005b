"""The board as text, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from games.drawing import WIDTH, Sheet, apart, heading, letter, paragraph, verdict
from games.kernel import Seat
from games.sentences import Sentence, Tell, counted, listed, named, say
from games.war.data import BROWN, COLUMNS, COMBAT_CARDS, MOVES, REINFORCEMENTS, SYMBOL, SYMBOLS, VALUE
from games.war.document import State
from games.war.outcome import points
from games.war.state import PLACEMENT, on_board

Places = dict[tuple[int, int], str]
MARGIN = 3
TALLEST = 9
WIDE, HIGH = 9, 3
LETTERS = {
    "drop": say("D drop"),
    "hammers": say("H hammers"),
    "circles": say("C circles"),
    "bricks": say("B bricks"),
    "wheel": say("W wheel"),
    "arrow": say("A arrow"),
}
"""The letter of each symbol in a small drawing, with its name."""


def board(view: State, viewer: str, tell: Tell = str) -> list[str]:
    """Return the lines that draw what a viewer sees of a match."""
    return [
        heading("War!", view, viewer, tell),
        "",
        *(_map(view, tell) or [tell(say("The map is not laid out yet."))]),
        "",
        *_seats(view, tell),
        "",
        *_middle(view, tell),
        *_turn(view, tell),
        *_end(view, tell),
    ]


def _map(view: State, tell: Tell) -> list[str]:
    """Draw the tiles in their places, as boxes with words if there is room, else as one line a row with letters (WAR-MAP-01)."""
    places = {(COLUMNS.index(tile[0]), int(tile[1:])): tile for tile in view["tiles"]}
    if not places:
        return []
    across = sorted({column for column, _ in places})
    columns, rows = range(across[0], across[-1] + 1), range(min(row for _, row in places), max(row for _, row in places) + 1)
    if len(columns) * WIDE + MARGIN < WIDTH and len(rows) <= TALLEST:
        return _boxes(view, places, columns, rows, tell)
    return _letters(view, places, columns, rows, tell)


def _boxes(view: State, places: Places, columns: range, rows: range, tell: Tell) -> list[str]:
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
        word = tell(named(face))
        word = word if len(word) < WIDE else f"{word[: WIDE - 3]}."
        sheet.write(top + 1, left + 1, (word if face == BROWN else word.upper()).center(WIDE - 1))
        sheet.write(top + 2, left + 1, _garrison(view, tile, tell).center(WIDE - 1))
    return sheet.lines()


def _garrison(view: State, tile: str, tell: Tell) -> str:
    here, attack = view["tiles"][tile], view["attacks"].get(tile)
    if here["seat"] is None:
        return ""
    units = f"{tell(letter(here['seat']))}{here['units']:>2}"
    if attack is None:
        return units
    attacker = view["tiles"][attack["from"]]["seat"]
    assert attacker is not None, "attackers stand on the tile they came from"
    return f"{units}<{tell(letter(attacker))}{attack['units']:>2}"


def _letters(view: State, places: Places, columns: range, rows: range, tell: Tell) -> list[str]:
    """Draw each tile as a few letters: its symbol, its seat and its units."""
    pitch = 5 if len(columns) * 5 + MARGIN <= WIDTH else 4
    sheet = Sheet()
    for column in columns:
        sheet.write(0, MARGIN + (column - columns[0]) * pitch, COLUMNS[column])
    for row in rows:
        sheet.write(row - rows[0] + 1, 0, f"{row:>2}")
    for (column, row), tile in places.items():
        here = view["tiles"][tile]
        units = f"{tell(letter(here['seat']))}{here['units']:<2}" if here["seat"] is not None else ""
        face = "-" if here["face"] == BROWN else tell(LETTERS[here["face"]])[0]
        sheet.write(row - rows[0] + 1, MARGIN + (column - columns[0]) * pitch, face + units)
    faces = [tell(LETTERS[symbol]) for symbol in view["symbols"]]
    seats = [f"{tell(letter(seat))} {tell(named(seat))}" for seat in view["seats"]]
    return [*sheet.lines(), *paragraph("   ", [*faces, f"- {tell(named(BROWN))}", *seats], "   ")]


def _seats(view: State, tell: Tell) -> Iterator[str]:
    """Yield a row for each seat in turn order: its score so far, its units, and its cards, which are open to all (WAR-SET-10)."""
    yield tell(say("  seat    tiles symbols sets  score   on board reserve   combat     hand"))
    for seat in view["seats"]:
        score = (view["score_sheet"] or {}).get(seat) or points(view, seat)
        mark = "x" if seat in view["eliminated"] else ">" if seat in view["to_act"] else " "
        combat = view["combat"].get(seat)
        label = (
            f"{mark} {tell(named(seat)):<7}{score['tiles']:>6}{score['symbols']:>8}{score['sets']:>5}{score['total']:>7}"
            f"{on_board(view, seat):>11}{view['reserve'].get(seat, 0):>8}   {tell(_card(combat)) if combat else '-':<11}"
        )
        yield from paragraph(label, _hand(view, seat, tell), "  ")


def _hand(view: State, seat: Seat, tell: Tell) -> list[str]:
    hand = view["hands"].get(seat, [])
    by_symbol = {symbol: sorted([VALUE[card] for card in hand if SYMBOL[card] == symbol]) for symbol in SYMBOLS}
    return [f"{tell(named(symbol))} {' '.join(map(str, values))}" for symbol, values in by_symbol.items() if values] or ["-"]


def _card(card: str) -> Sentence:
    return say("{symbol} {value}", symbol=named(SYMBOL[card]), value=VALUE[card])


def _middle(view: State, tell: Tell) -> Iterator[str]:
    """Yield the open cards and the piles; an auditor sees the deck in full."""
    deck = cast("list[str] | int", view["deck"])
    size = deck if isinstance(deck, int) else len(deck)
    row = "   ".join([tell(_card(card)) for card in view["row"]]) or "-"
    yield apart(f"{tell(say('row')):<6}{row}", tell(say("deck {deck}, discard {discard}", deck=size, discard=len(view["discard"]))))
    if not isinstance(deck, int) and deck:
        yield from paragraph(f"{tell(say('deck, top first'))}   ", [tell(_card(card)) for card in deck])


def _turn(view: State, tell: Tell) -> Iterator[str]:
    """Yield what the active seat has done this turn, and the open attacks."""
    turn = view["turn"]
    if view["active"] is not None and view["phase"] != PLACEMENT:
        done = [
            say("{count} of {most} reinforcements", count=turn["reinforcements"], most=REINFORCEMENTS),
            *[say("+{units} on {tile}", units=units, tile=tile) for tile, units in sorted(turn["placed"].items())],
            say("{count} of {most} combat cards", count=int(turn["combat_card"]), most=COMBAT_CARDS),
            say("{count} of {most} moves", count=turn["moves"], most=MOVES),
        ]
        yield from paragraph(f"{tell(say('turn')):<6}{tell(named(view['active']))}: ", map(tell, done))
    fights = [
        say(
            "{units} from {place} on {tile}, where {there} stand, {rolls}",
            units=attack["units"],
            place=attack["from"],
            tile=tile,
            there=view["tiles"][tile]["units"],
            rolls=counted(attack["rolls"], "roll"),
        )
        for tile, attack in sorted(view["attacks"].items())
    ]
    if fights:
        yield from paragraph(f"{tell(say('open')):<6}", map(tell, fights), "; ")


def _end(view: State, tell: Tell) -> Iterator[str]:
    """Yield the final turns that are still to come, or the winners."""
    if view["final_turns"]:
        yield tell(say("Final turns are still to be finished by {seats}.", seats=listed([named(seat) for seat in view["final_turns"]])))
    if view["outcome"] is not None:
        yield verdict(view["outcome"], tell)
