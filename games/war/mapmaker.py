"""The map: generated from its number alone, or given and checked.

An attempt is tested on bit boards, one bit a place: its shapes first, for which the draws of its symbols are leapt over if the shapes
will not do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from games.war.data import BESIDE, BOX, BROWN, COLUMNS, GENERATOR, SYMBOLS, TILES_PER_SYMBOL

Map = dict[str, dict[str, Any]]

_SHAPE_SQUARES = [[(place % 3, place // 3) for place, mark in enumerate(shape) if mark == "#"] for shape in GENERATOR.shapes]
_WIDTH = {seats: max(column for column, _ in origins) + 4 for seats, origins in GENERATOR.origins.items()}  # one column of sea on the right


def _board(width: int, squares: Sequence[tuple[int, int]], origin: tuple[int, int]) -> int:
    return sum(1 << (origin[1] + row) * width + origin[0] + column for column, row in squares)


def _grown(board: int, width: int) -> int:
    """Every place beside a place of the board; what runs over the edge falls on sea."""
    return board << 1 | board >> 1 | board << width | board >> width


_BOARDS = {
    seats: [[_board(_WIDTH[seats], squares, origin) for squares in _SHAPE_SQUARES] for origin in origins]
    for seats, origins in GENERATOR.origins.items()
}
_SHORES = {seats: [[_grown(board, _WIDTH[seats]) for board in boards] for boards in rows] for seats, rows in _BOARDS.items()}


_MULTIPLIER, _INCREMENT, _MODULUS = GENERATOR.multiplier, GENERATOR.increment, GENERATOR.modulus


class Draws:
    """The generator's row of random numbers: a linear congruence, warmed up by some steps (WAR-MAP-05)."""

    __slots__ = ("x",)

    def __init__(self, number: int) -> None:
        self.x = number
        self.leap(GENERATOR.warm_up)

    def draw(self, below: int) -> int:
        """The next number from 0 to below - 1."""
        self.x = x = (_MULTIPLIER * self.x + _INCREMENT) % _MODULUS
        return x * below // _MODULUS

    def shuffle(self, items: Sequence[Any]) -> list[Any]:
        """All items in a new order, swapped from the end (WAR-MAP-06)."""
        order = list(items)
        for i in range(len(order) - 1, 0, -1):
            j = self.draw(i + 1)
            order[i], order[j] = order[j], order[i]
        return order

    def leap(self, steps: int) -> None:
        """Pass over so many numbers at once."""
        factor, term = _LEAPS.get(steps) or _LEAPS.setdefault(steps, _leap(steps))
        self.x = (factor * self.x + term) % _MODULUS


_LEAPS: dict[int, tuple[int, int]] = {}


def _leap(steps: int) -> tuple[int, int]:
    factor, term = 1, 0
    for _ in range(steps):
        factor = factor * _MULTIPLIER % _MODULUS
        term = (term * _MULTIPLIER + _INCREMENT) % _MODULUS
    return factor, term


def _good_shapes(regions: Sequence[int], shores: Sequence[int], width: int) -> bool:
    """Whether every region has as many entry tiles as it should, and all land hangs together (WAR-MAP-10 a and b)."""
    least, most = GENERATOR.entries
    for g, region in enumerate(regions):
        beyond = 0
        for h, shore in enumerate(shores):
            if h != g:
                beyond |= shore
        if not least <= (region & beyond).bit_count() <= most:
            return False
    land = 0
    for region in regions:
        land |= region
    reached, before = regions[0], 0
    while reached != before:
        before = reached
        reached |= _grown(reached, width) & land
    return reached == land


def _good_faces(regions: Sequence[int], faces: Sequence[int], width: int) -> bool:
    """Whether every brown tile has a symbol beside it, and no symbol itself (WAR-MAP-10 c and d)."""
    bearing = 0
    for board in faces:
        if board & _grown(board, width):
            return False
        bearing |= board
    brown = 0
    for region in regions:
        brown |= region & ~bearing
    return not brown & ~_grown(bearing, width)


def attempts(seats: int, symbols: Sequence[str], number: int) -> Iterator[Map | None]:
    """One attempt after another from one row of numbers: the map, or None where it is not accepted. First the shapes, then the order of the
    symbols, then the tiles of each region, of which the first three bear the symbols g, g+1 and g+3 (WAR-MAP-03, WAR-MAP-04, WAR-MAP-07,
    WAR-MAP-08, WAR-MAP-09, WAR-MAP-11)."""
    draws, width, origins = Draws(number), _WIDTH[seats], GENERATOR.origins[seats]
    blocks, number_of_shapes = list(zip(_BOARDS[seats], _SHORES[seats], strict=True)), len(GENERATOR.shapes)
    rest = len(symbols) - 1 + len(origins) * (len(_SHAPE_SQUARES[0]) - 1)
    while True:
        shapes, regions, shores = [], [], []
        for boards, banks in blocks:
            draws.x = x = (_MULTIPLIER * draws.x + _INCREMENT) % _MODULUS  # draw() itself, in the one loop that is run very often
            shape = x * number_of_shapes // _MODULUS
            shapes.append(shape)
            regions.append(boards[shape])
            shores.append(banks[shape])
        if not _good_shapes(regions, shores, width):
            draws.leap(rest)
            yield None
            continue
        order = draws.shuffle(symbols)
        faces = dict.fromkeys(symbols, 0)
        found: dict[int, tuple[str, int]] = {}
        for g, (column, row) in enumerate(origins):
            squares = draws.shuffle([(row + r) * width + column + c for c, r in _SHAPE_SQUARES[shapes[g]]])
            for place in squares:
                found[place] = (BROWN, g + 1)
            for place, offset in zip(squares, GENERATOR.symbol_offsets, strict=False):
                symbol = order[(g + offset) % len(order)]
                found[place] = (symbol, g + 1)
                faces[symbol] |= 1 << place
        good = _good_faces(regions, list(faces.values()), width)
        yield _laid({_tile(place, width): _blank(*here) for place, here in found.items()}) if good else None


def generated(seats: int, symbols: Sequence[str], number: int) -> Map:
    """The map of a number: the first attempt that is accepted (WAR-MAP-03, WAR-MAP-10, WAR-MAP-11, WAR-OPT-04)."""
    return next(tiles for tiles in attempts(seats, symbols, number) if tiles is not None)


def given(faces: Mapping[str, str]) -> Map:
    """The map that the players built; it has no regions (WAR-MAP-16, WAR-OPT-03)."""
    return _laid({tile: _blank(face, None) for tile, face in faces.items()})


def symbols_on(faces: Mapping[str, str]) -> list[str]:
    """The symbols that a given map puts in play, in their order (WAR-MAP-14, WAR-CMP-04)."""
    return [symbol for symbol in SYMBOLS if symbol in faces.values()]


def flaw(faces: Mapping[str, str], seats: int) -> tuple[str, str] | None:
    """What is wrong with a given map, as the rule and a sentence: a tile or face that does not exist, a wrong number of tiles, or land that
    does not hang together (WAR-MAP-01, WAR-MAP-12, WAR-MAP-13, WAR-CMP-05, WAR-CMP-06)."""
    for tile, face in faces.items():
        if tile not in BESIDE:
            return "WAR-MAP-01", f"{tile!r} is no tile id: a column letter a to z and a row number 1 to 36 make one"
        if face not in SYMBOLS and face != BROWN:
            return "WAR-OPT-03", f"the tile {tile} cannot bear {face!r}"
    shown = list(faces.values())
    box = BOX[seats]
    for symbol in symbols_on(faces):
        if shown.count(symbol) != TILES_PER_SYMBOL:
            return "WAR-MAP-12", f"the map has {shown.count(symbol)} tiles with {symbol} instead of {TILES_PER_SYMBOL}"
    if len(shown) - shown.count(BROWN) != box.symbol_tiles or shown.count(BROWN) != box.brown_tiles:
        return "WAR-MAP-12", f"a map for {seats} seats has {box.symbol_tiles} tiles with symbols and {box.brown_tiles} brown ones"
    reached, edge = set(), [next(iter(faces))]
    while edge:
        tile = edge.pop()
        if tile not in reached:
            reached.add(tile)
            edge += [other for other in BESIDE[tile] if other in faces]
    return None if len(reached) == len(faces) else ("WAR-MAP-13", "the tiles of the map do not all hang together")


def _laid(tiles: Map) -> Map:
    """A map with its tiles in the order of their ids, as canonical JSON has them: choices then come in the same order everywhere."""
    return dict(sorted(tiles.items()))


def _tile(place: int, width: int) -> str:
    return f"{COLUMNS[place % width]}{place // width + 1}"


def _blank(face: str, region: int | None) -> dict[str, Any]:
    return {"face": face, "region": region, "seat": None, "units": 0}
