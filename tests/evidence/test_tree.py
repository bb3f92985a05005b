"""The Merkle tree, its tiles and its proofs, confirmed by an independent library (pymerkle)."""

from __future__ import annotations

import random
from functools import cache

import pytest
from pymerkle import InmemoryTree, verify_consistency, verify_inclusion

from evidence import tiles, tree
from evidence.tiles import WIDTH, BadTile, Edge, Tile
from evidence.tree import Span

SIZES = (*range(1, 40), 63, 64, 65, 127, 255, 256, 257, 300, 511, 512, 513, 700)
LEAVES = [f'{{"leaf":{number}}}'.encode() for number in range(700)]
HASHES = tiles.leaf_hashes(LEAVES)


@cache
def independent() -> InmemoryTree:
    return InmemoryTree.init_from_entries(LEAVES)


def rows(leaves: int) -> list[list[bytes]]:
    """Return the hashes of each level of tiles, computed by definition: those of whole subtrees."""
    found, width = [HASHES[:leaves]], 1
    while len(found[-1]) >= WIDTH:
        width *= WIDTH
        found.append([tree.hash_of(HASHES[place : place + width]) for place in range(0, leaves - width + 1, width)])
    return found


def fetch(size: int) -> tiles.Fetch:
    served = rows(size)
    return lambda level, number, width: served[level][number * WIDTH : number * WIDTH + width]


@pytest.mark.parametrize("size", SIZES)
def test_roots_are_those_of_an_independent_library(size: int) -> None:
    root = independent().get_root(size)
    assert tree.hash_of(HASHES[:size]) == root
    assert tree.hash_of_span(Span(0, size), tiles.node_of(fetch(size))) == root
    assert tree.hash_of([]) == tree.EMPTY == InmemoryTree().get_root()


@pytest.mark.parametrize("size", SIZES)
def test_inclusion_proofs_are_those_of_an_independent_library(size: int) -> None:
    root, node = independent().get_root(size), tiles.node_of(fetch(size))
    for index in {0, 1, size // 2, size - 2, size - 1, *random.Random(size).sample(range(size), min(size, 4))}:
        if not 0 <= index < size:
            continue
        path = tree.proof(tree.inclusion_spans(index, size), node)
        theirs = independent().prove_inclusion(index + 1, size)
        verify_inclusion(HASHES[index], root, theirs, index=index + 1, size=size)
        assert path == theirs.path[1:]
        assert tree.is_included(HASHES[index], index, size, path, root)
        assert not tree.is_included(HASHES[index - 1], index, size, path, root) or size == 1
        for wrong in broken(path):
            assert not tree.is_included(HASHES[index], index, size, wrong, root)
        assert not tree.is_included(HASHES[index], index, size, path, HASHES[0]) or size == 1
        assert not any(tree.is_included(HASHES[index], other, size, path, root) for other in (-1, size, *range(size)) if other != index)


@pytest.mark.parametrize("size", SIZES)
def test_consistency_proofs_hold_between_the_roots_of_an_independent_library(size: int) -> None:
    root, node = independent().get_root(size), tiles.node_of(fetch(size))
    for first in {1, size // 2, size - 1, size, *random.Random(size).sample(range(1, size + 1), min(size, 3))}:
        if not 0 < first <= size:
            continue
        old = independent().get_root(first)
        path = tree.proof(tree.consistency_spans(first, size), node)
        theirs = independent().prove_consistency(first, size)
        verify_consistency(old, root, theirs, prior_size=first, later_size=size)
        # Its proofs have a form of their own, so its roots of the same spans confirm ours hash by hash.
        assert path == [InmemoryTree.init_from_entries(LEAVES[begin:end]).get_root() for begin, end in tree.consistency_spans(first, size)]
        assert tree.is_consistent(first, old, size, root, path)
        for wrong in broken(path):
            assert not tree.is_consistent(first, old, size, root, wrong)
        other = tree.hash_of([*HASHES[: first - 1], HASHES[0] if first > 1 else HASHES[1]])
        assert not tree.is_consistent(first, other, size, root, path)
        assert not tree.is_consistent(size + 1, old, size, root, path)
    assert tree.is_consistent(0, tree.EMPTY, size, root, [])
    assert not tree.is_consistent(0, HASHES[0], size, root, [])


def broken(path: list[bytes]) -> list[list[bytes]]:
    """Return proofs that prove nothing: one hash more, one less, and another one at each place."""
    shorter = [path[1:], path[:-1]] if path else []
    return [[*path, HASHES[0]], *shorter, *[[*path[:place], b"\0" * 32, *path[place + 1 :]] for place in range(len(path))]]


def test_no_proof_is_for_what_is_not_in_a_tree() -> None:
    for index, size in ((-1, 5), (5, 5), (0, 0)):
        with pytest.raises(ValueError):
            tree.inclusion_spans(index, size)
    for first, second in ((-1, 5), (6, 5)):
        with pytest.raises(ValueError):
            tree.consistency_spans(first, second)


def test_a_proof_for_a_tree_of_many_levels_needs_few_tiles() -> None:
    size = 1_000_003 * 256
    wanted = tiles.tiles_of(tree.inclusion_spans(70_000, size), size)
    assert len(wanted) <= 8
    assert all(0 < tile.width <= WIDTH for tile in wanted)
    assert len(tree.inclusion_spans(70_000, size)) <= tree.LONGEST


# ---------------------------------------------------------------- tiles


@pytest.mark.parametrize("step", [1, 7, 255, 256, 300])
def test_a_tree_that_grows_has_the_tiles_of_the_tree(step: int) -> None:
    edge, grown = Edge(), [[]]
    for place in range(0, 700, step):
        edge, added = tiles.grow(edge, HASHES[place : place + step])
        grown += [[] for _ in added[len(grown) :]]
        for row, more in zip(grown, added, strict=True):
            row += more
        assert edge.size == min(place + step, 700)
        assert grown == rows(edge.size)
        assert edge.root == independent().get_root(edge.size)
        last = tiles.edge_tiles(edge.size)
        assert [tile.width for tile in last] == [len(row) for row in edge.rows]
        assert [list(row) for row in edge.rows] == [grown[level][number * WIDTH :] for level, number, _ in last]


def test_a_tree_of_two_levels_of_tiles_has_the_widths_of_the_specification() -> None:
    assert [tiles.width_of(0, number, 70_000) for number in (0, 272, 273, 274)] == [256, 256, 112, 0]
    assert [tiles.width_of(1, number, 70_000) for number in (0, 1, 2)] == [256, 17, 0]
    assert [tiles.width_of(2, number, 70_000) for number in (0, 1)] == [1, 0]
    assert tiles.edge_tiles(70_000) == [Tile(0, 273, 112), Tile(1, 1, 17), Tile(2, 0, 1)]
    assert tiles.edge_tiles(256) == [Tile(0, 1, 0), Tile(1, 0, 1)]
    assert tiles.edge_tiles(0) == []
    assert Edge().root == tree.EMPTY


@pytest.mark.parametrize("number", [0, 7, 999, 1000, 67_000, 1_234_067])
def test_tiles_are_named_as_the_specification_names_them(number: int) -> None:
    assert tiles.number_and_width(tiles.path(number)) == (number, WIDTH)
    assert tiles.number_and_width(f"{tiles.path(number)}.p/17") == (number, 17)
    assert tiles.path(1_234_067) == "x001/x234/067"


@pytest.mark.parametrize(
    "text",
    ["", "0", "00", "0000", "1/000", "x000/001", "x001", "001/x001", "x01/001", "-01",
     "001.p/0", "001.p/256", "001.p/01", "001.p/", "001.p", "000/", "/000", "٠٠٠", "x001/" * 9 + "001", "001.p/1/"],
)  # fmt: skip
def test_a_path_that_names_no_tile_is_refused(text: str) -> None:
    with pytest.raises(BadTile):
        tiles.number_and_width(text)


def test_a_bundle_is_read_as_it_was_written() -> None:
    assert tiles.unbundled(tiles.bundle(LEAVES[:300])) == LEAVES[:300]
    assert tiles.bundle([b"ab"]) == b"\0\2ab"
    for wrong in (b"\0", b"\0\2a", b"\0\0\1"):
        with pytest.raises(BadTile):
            tiles.unbundled(wrong)
    assert tiles.hashes(b"".join(HASHES[:3])) == HASHES[:3]
    with pytest.raises(BadTile):
        tiles.hashes(b"x" * 33)
