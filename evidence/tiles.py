"""Store and serve a Merkle tree as tiles of 256 hashes (C2SP tlog-tiles), and let it grow.

A tile of level L has the hashes of whole subtrees of 256 ** L leaves. Level 0 has the hashes of leaves. Only the last tile of a level may
have fewer than 256 hashes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from evidence.tree import SIZE, Node, Span, hash_of, hash_of_span, leaf_hash, subtrees

WIDTH = 256
HEIGHT = 8  # levels of the tree in a tile
LEVELS = 7  # levels of tiles for every tree that can be numbered

LONGEST_LEAF = 65_535  # bytes

_NUMBER = re.compile(r"(?:x[0-9]{3}/)*[0-9]{3}")

Fetch = Callable[[int, int, int], Sequence[bytes]]
"""Return the first hashes of a tile: by level, number and how many."""


class Tile(NamedTuple):
    """The first `width` hashes of a tile."""

    level: int
    number: int
    width: int


class Edge(NamedTuple):
    """The right edge of a tree, where it grows: its size, and for each level the hashes of the last tile if that is not whole."""

    size: int = 0
    rows: tuple[tuple[bytes, ...], ...] = ()

    @property
    def root(self) -> bytes:
        """The root of the tree.

        >>> edge, _ = grow(Edge(), leaf_hashes([b"a", b"b"]))
        >>> edge.root == hash_of(leaf_hashes([b"a", b"b"]))
        True
        """
        return hash_of_span(Span(0, self.size), node_of(lambda level, number, width: self.rows[level]))


class BadTile(ValueError):
    """A path names no tile, or bytes are not a valid tile or bundle. The text says which."""


def path(number: int) -> str:
    """Return the number of a tile as a path: `x001/x234/067` for 1234067.

    >>> path(7), path(1234067)
    ('007', 'x001/x234/067')
    """
    digits = f"{number:d}"
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    groups = [digits[place : place + 3] for place in range(0, len(digits), 3)]
    return "/".join([*[f"x{group}" for group in groups[:-1]], groups[-1]])


def number_and_width(text: str) -> tuple[int, int]:
    """Return the number and the width of a tile from `<N>` or `<N>.p/<W>` in a URL. Raises BadTile.

    >>> number_and_width("x001/x234/067"), number_and_width("067.p/12")
    ((1234067, 256), (67, 12))
    >>> number_and_width("67")
    Traceback (most recent call last):
        ...
    evidence.tiles.BadTile: a tile is named like x001/x234/067
    """
    number, partial, width = text.partition(".p/")
    if len(number) > 24 or _NUMBER.fullmatch(number) is None:
        raise BadTile("a tile is named like x001/x234/067")
    found = int(number.replace("x", "").replace("/", ""))
    if path(found) != number:
        raise BadTile("the number of a tile has no more groups of digits than it needs")
    if not partial:
        return found, WIDTH
    if re.fullmatch(r"[1-9][0-9]{0,2}", width) is None or int(width) >= WIDTH:
        raise BadTile("the width of a tile that is not whole is 1 to 255")
    return found, int(width)


def width_of(level: int, number: int, size: int) -> int:
    """Return the number of hashes that a tile has in a tree of `size` leaves: 0 to 256.

    >>> width_of(0, 0, 300), width_of(0, 1, 300), width_of(1, 0, 300)
    (256, 44, 1)
    """
    return max(0, min(WIDTH, (size >> HEIGHT * level) - number * WIDTH))


def edge_tiles(size: int) -> list[Tile]:
    """Return the partial tiles at the right edge of a tree, one for each level below the root. Some are empty.

    >>> edge_tiles(300)
    [Tile(level=0, number=1, width=44), Tile(level=1, number=0, width=1)]
    """
    found = []
    level = 0
    while size >> HEIGHT * level:
        row = size >> HEIGHT * level
        found.append(Tile(level, row // WIDTH, row % WIDTH))
        level += 1
    return found


def grow(edge: Edge, leaves: Iterable[bytes]) -> tuple[Edge, list[list[bytes]]]:
    """Add leaves, given by their hashes. Return the new edge, and the new hashes of each level.

    >>> edge, added = grow(Edge(), leaf_hashes(str(number).encode() for number in range(300)))
    >>> edge.size, [len(row) for row in edge.rows], [len(row) for row in added]
    (300, [44, 1], [300, 1])
    """
    rows = [list(row) for row in edge.rows]
    added: list[list[bytes]] = [[] for _ in rows]
    size = edge.size
    for leaf in leaves:
        size += 1
        level, found = 0, leaf
        while True:
            if level == len(rows):
                rows.append([])
                added.append([])
            rows[level].append(found)
            added[level].append(found)
            if len(rows[level]) < WIDTH:
                break
            found, rows[level] = hash_of(rows[level]), []
            level += 1
    return Edge(size, tuple(map(tuple, rows))), added


def tiles_of(spans: Iterable[Span], size: int) -> list[Tile]:
    """Return the tiles needed for the hashes of these spans in a tree of `size` leaves, each tile once.

    >>> tiles_of([Span(0, 256), Span(256, 300)], 300)
    [Tile(level=0, number=1, width=44), Tile(level=1, number=0, width=1)]
    """
    found = {(level // HEIGHT, (number << level % HEIGHT) // WIDTH) for span in spans for level, number in subtrees(span)}
    return [Tile(level, number, width_of(level, number, size)) for level, number in sorted(found)]


def node_of(fetch: Fetch) -> Node:
    """Return a function that finds the hash of a whole subtree in tiles.

    >>> found = leaf_hashes([b"a", b"b", b"c"])
    >>> node = node_of(lambda level, number, width: found[:width])
    >>> node(0, 2) == found[2], node(1, 0) == hash_of(found[:2])
    (True, True)
    """

    def node(level: int, number: int) -> bytes:
        row, above = divmod(level, HEIGHT)
        first, count = number << above, 1 << above
        place = first % WIDTH
        return hash_of(fetch(row, first // WIDTH, place + count)[place : place + count])

    return node


def hashes(tile: bytes) -> list[bytes]:
    """Return the hashes in the bytes of a tile. Raises BadTile.

    >>> [len(each) for each in hashes(bytes(64))]
    [32, 32]
    >>> hashes(bytes(65))
    Traceback (most recent call last):
        ...
    evidence.tiles.BadTile: a tile is made of hashes of 32 bytes
    """
    if len(tile) % SIZE:
        raise BadTile("a tile is made of hashes of 32 bytes")
    return [tile[place : place + SIZE] for place in range(0, len(tile), SIZE)]


def bundle(leaves: Iterable[bytes]) -> bytes:
    r"""Return leaves as a bundle of entries. Two bytes before each leaf hold its length.

    >>> bundle([b"one", b"two"])
    b'\x00\x03one\x00\x03two'
    """
    return b"".join(len(leaf).to_bytes(2) + leaf for leaf in leaves)


def unbundled(data: bytes) -> list[bytes]:
    """Return the leaves in a bundle. Raises BadTile.

    >>> unbundled(bundle([b"one", b"two"]))
    [b'one', b'two']
    >>> unbundled(bundle([b"one"])[:-1])
    Traceback (most recent call last):
        ...
    evidence.tiles.BadTile: a bundle ends within an entry
    """
    found, place = [], 0
    while place < len(data):
        end = place + 2 + int.from_bytes(data[place : place + 2])
        if end > len(data) or place + 2 > len(data):
            raise BadTile("a bundle ends within an entry")
        found.append(data[place + 2 : end])
        place = end
    return found


def leaf_hashes(leaves: Iterable[bytes]) -> list[bytes]:
    """Return the hashes of leaves.

    >>> leaf_hashes([b"a"]) == [leaf_hash(b"a")]
    True
    """
    return [leaf_hash(leaf) for leaf in leaves]
