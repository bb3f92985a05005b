"""The map: generated from its number alone, or given and checked.

An attempt is tested on bit boards, one bit a place. Its shapes are tested first: if they fail, the draws of its symbols are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict, TypeVar

from games.sentences import say
from games.war.data import BESIDE, BOX, BROWN, COLUMNS, GENERATOR, SYMBOLS, TILES_PER_SYMBOL

T = TypeVar("T")


class Ground(TypedDict):
    """A tile as the map has it: its face, and its region on a generated map."""

    face: str
    region: int | None


Map = dict[str, Ground]

ATTEMPTS = 100_000  # About one attempt in 100 is accepted; the most that 4,500 map numbers took was 814.

_SHAPE_SQUARES = [[(place % 3, place // 3) for place, mark in enumerate(shape) if mark == "#"] for shape in GENERATOR.shapes]
_WIDTH = {seats: max(column for column, _ in origins) + 4 for seats, origins in GENERATOR.origins.items()}  # one column of sea on the right


def _grown(board: int, width: int) -> int:
    """Return every place beside a place of the board; over the edge there is sea."""
    return board << 1 | board >> 1 | board << width | board >> width


_PLACES = {
    seats: [[[(y + row) * _WIDTH[seats] + x + column for column, row in squares] for squares in _SHAPE_SQUARES] for x, y in origins]
    for seats, origins in GENERATOR.origins.items()
}
"""By seats, region and shape: the places of the region."""
_BOARDS = {seats: [[sum(1 << place for place in places) for places in shapes] for shapes in rows] for seats, rows in _PLACES.items()}
_BLOCKS = {seats: [(boards, [_grown(board, _WIDTH[seats]) for board in boards]) for boards in rows] for seats, rows in _BOARDS.items()}
"""By seats and region: for each shape the tiles of the region, and every place beside them."""


_MULTIPLIER, _INCREMENT, _MODULUS = GENERATOR.multiplier, GENERATOR.increment, GENERATOR.modulus


class Draws:
    """The generator's sequence of random numbers: a linear congruence, warmed up by some steps (WAR-MAP-05)."""

    __slots__ = ("x",)

    def __init__(self, number: int) -> None:
        self.x = number
        self.leap(GENERATOR.warm_up)

    def draw(self, below: int) -> int:
        """Return the next number from 0 to below - 1."""
        self.x = x = (_MULTIPLIER * self.x + _INCREMENT) % _MODULUS
        return x * below // _MODULUS

    def shuffle(self, items: Sequence[T]) -> list[T]:
        """Return all items in a new order, swapped from the end (WAR-MAP-06)."""
        order, x = list(items), self.x
        for i in range(len(order) - 1, 0, -1):
            x = (_MULTIPLIER * x + _INCREMENT) % _MODULUS  # draw() itself, as in attempts()
            j = x * (i + 1) // _MODULUS
            order[i], order[j] = order[j], order[i]
        self.x = x
        return order

    def leap(self, steps: int) -> None:
        """Skip so many numbers at once."""
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
    """Return True if every region has a right number of entry tiles, and all land is connected (WAR-MAP-10 a and b)."""
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
    reached = regions[0]
    for _ in range(land.bit_count()):  # each step reaches at least one tile more, or no more can be reached
        grown = reached | _grown(reached, width) & land
        if grown == reached:
            break
        reached = grown
    return reached == land


def _good_faces(regions: Sequence[int], faces: Sequence[int], width: int) -> bool:
    """Return True if every brown tile has a symbol beside it, and no symbol has the same one (WAR-MAP-10 c and d)."""
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
    """Yield one attempt after another from one sequence of numbers: the map, or None if it is not accepted. Each draws the shapes, then the
    order of the symbols, then the tiles of each region, of which the first three bear the symbols g, g+1 and g+3 (WAR-MAP-03, WAR-MAP-04,
    WAR-MAP-07, WAR-MAP-08, WAR-MAP-09, WAR-MAP-11)."""
    draws, width, places = Draws(number), _WIDTH[seats], _PLACES[seats]
    blocks, number_of_shapes, offsets = _BLOCKS[seats], len(GENERATOR.shapes), GENERATOR.symbol_offsets
    rest = len(symbols) - 1 + len(places) * (len(_SHAPE_SQUARES[0]) - 1)
    for _ in range(ATTEMPTS):
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
        squares = [draws.shuffle(by_shape[shape]) for by_shape, shape in zip(places, shapes, strict=True)]
        bearing = {
            place: order[(g + offset) % len(order)]
            for g, region in enumerate(squares)
            for place, offset in zip(region, offsets, strict=False)
        }
        faces = dict.fromkeys(symbols, 0)
        for place, symbol in bearing.items():
            faces[symbol] |= 1 << place
        if not _good_faces(regions, list(faces.values()), width):
            yield None
            continue
        yield _sorted(
            {
                _tile(place, width): {"face": bearing.get(place, BROWN), "region": g}
                for g, region in enumerate(squares, 1)
                for place in region
            }
        )
    raise AssertionError(f"no attempt of {ATTEMPTS} is accepted for map number {number}")


def generated(seats: int, symbols: Sequence[str], number: int) -> Map:
    """Return the map of a number: the first attempt that is accepted (WAR-MAP-03, WAR-MAP-10, WAR-MAP-11, WAR-OPT-04)."""
    return next(tiles for tiles in attempts(seats, symbols, number) if tiles is not None)


def given(faces: Mapping[str, str]) -> Map:
    """Return the map that the players built; it has no regions (WAR-MAP-16, WAR-OPT-03)."""
    return _sorted({tile: {"face": face, "region": None} for tile, face in faces.items()})


def symbols_on(faces: Mapping[str, str]) -> list[str]:
    """Return the symbols that a given map puts in play, in their order (WAR-MAP-14, WAR-CMP-04)."""
    return [symbol for symbol in SYMBOLS if symbol in faces.values()]


def flaw(faces: Mapping[str, str], seats: int) -> tuple[str, str] | None:
    """Return what is wrong with a given map, as the rule and a sentence: a tile or face that does not exist, a wrong number of tiles, or
    land that is not connected (WAR-MAP-01, WAR-MAP-12, WAR-MAP-13, WAR-CMP-05, WAR-CMP-06)."""
    for tile, face in faces.items():
        if tile not in BESIDE:
            return "WAR-MAP-01", say("{tile!r} is no tile id: a column letter a to z and a row number 1 to 36 make one", tile=tile)
        if face not in SYMBOLS and face != BROWN:
            return "WAR-OPT-03", say("the tile {tile} cannot bear {face!r}", tile=tile, face=face)
    shown = list(faces.values())
    box = BOX[seats]
    for symbol in symbols_on(faces):
        if shown.count(symbol) != TILES_PER_SYMBOL:
            numbers = {"number": shown.count(symbol), "needed": TILES_PER_SYMBOL}
            return "WAR-MAP-12", say("the map has {number} tiles with {symbol} instead of {needed}", symbol=symbol, **numbers)
    if len(shown) - shown.count(BROWN) != box.symbol_tiles or shown.count(BROWN) != box.brown_tiles:
        numbers = {"seats": seats, "symbols": box.symbol_tiles, "brown": box.brown_tiles}
        return "WAR-MAP-12", say("a map for {seats} seats has {symbols} tiles with symbols and {brown} brown ones", **numbers)
    reached = {next(iter(faces))}
    for _ in faces:  # each step reaches at least one tile more, or no more can be reached
        reached.update([other for tile in reached for other in BESIDE[tile] if other in faces])
    return None if len(reached) == len(faces) else ("WAR-MAP-13", say("the tiles of the map are not all connected"))


def _sorted(tiles: Map) -> Map:
    """Return a map with its tiles in the order of their ids, as in canonical JSON."""
    return dict(sorted(tiles.items()))


def _tile(place: int, width: int) -> str:
    return f"{COLUMNS[place % width]}{place // width + 1}"
