"""Compute roots, inclusion proofs and consistency proofs of a Merkle tree (RFC 6962, SHA-256), and check them.

The whole tree is never in memory. A proof is first a list of spans: the ranges of leaves whose hashes it needs. A span consists of whole
subtrees. A subtree of level L has 2 ** L leaves; its number is its place on that level. A `Node` finds the hash of a whole subtree;
evidence/tiles.py has one that reads tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

EMPTY = sha256(b"").digest()
"""The root of a tree without leaves."""

SIZE = 32  # bytes of a hash
LARGEST = (1 << 53) - 1
LONGEST = 63  # hashes of a proof

Node = Callable[[int, int], bytes]


class Span(NamedTuple):
    """The leaves from `begin` up to `end` (excluded). The hash of a span is the root of a tree of these leaves."""

    begin: int
    end: int


def leaf_hash(leaf: bytes) -> bytes:
    """Return the hash of a leaf.

    >>> leaf_hash(b"a").hex()[:16], leaf_hash(b"").hex()[:16]
    ('022a6979e6dab7aa', '6e340b9cffb37a98')
    """
    return sha256(b"\0" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of a node from the hashes of its children.

    >>> node_hash(leaf_hash(b"a"), leaf_hash(b"b")) == hash_of([leaf_hash(b"a"), leaf_hash(b"b")])
    True
    """
    return sha256(b"\1" + left + right).digest()


def hash_of(hashes: Sequence[bytes]) -> bytes:
    """Return the root over these hashes. They belong to leaves, or to whole subtrees of one level.

    >>> one, two, three = map(leaf_hash, (b"a", b"b", b"c"))
    >>> hash_of([one, two, three]) == node_hash(node_hash(one, two), three)
    True
    >>> hash_of([]) == EMPTY
    True
    """
    if not hashes:
        return EMPTY
    row = list(hashes)
    while len(row) > 1:
        odd = [row[-1]] if len(row) % 2 else []
        row = [node_hash(left, right) for left, right in zip(row[::2], row[1::2], strict=False)] + odd
    return row[0]


def subtrees(span: Span) -> Iterator[tuple[int, int]]:
    """Yield the level and the number of each whole subtree of a span, from left to right.

    >>> list(subtrees(Span(0, 7)))
    [(2, 0), (1, 2), (0, 6)]
    """
    begin = span.begin
    while begin < span.end:
        level = (span.end - begin).bit_length() - 1
        yield level, begin >> level
        begin += 1 << level


def hash_of_span(span: Span, node: Node) -> bytes:
    """Return the hash of a span from the hashes of its whole subtrees.

    >>> leaves = [leaf_hash(name) for name in (b"a", b"b", b"c", b"d", b"e")]
    >>> node = lambda level, number: hash_of(leaves[number << level : (number + 1) << level])
    >>> hash_of_span(Span(0, 5), node) == hash_of(leaves)
    True
    """
    *left, last = [node(level, number) for level, number in subtrees(span)] or [EMPTY]
    for each in reversed(left):
        last = node_hash(each, last)
    return last


def root_span(size: int) -> list[Span]:
    """Return the span of the root of a tree.

    >>> root_span(5)
    [Span(begin=0, end=5)]
    """
    return [Span(0, size)]


def inclusion_spans(index: int, size: int) -> list[Span]:
    """Return the spans of an inclusion proof, from the leaf's sibling up to the node below the root. Raises ValueError.

    >>> inclusion_spans(2, 5)
    [Span(begin=3, end=4), Span(begin=0, end=2), Span(begin=4, end=5)]
    >>> inclusion_spans(5, 5)
    Traceback (most recent call last):
        ...
    ValueError: a tree of 5 leaves has no leaf 5
    """
    if not 0 <= index < size:
        raise ValueError(f"a tree of {size} leaves has no leaf {index}")
    spans: list[Span] = []
    begin, end = 0, size
    while end - begin > 1:
        middle = begin + _half(end - begin)
        if index < middle:
            spans.append(Span(middle, end))
            end = middle
        else:
            spans.append(Span(begin, middle))
            begin = middle
    return spans[::-1]


def consistency_spans(first: int, second: int) -> list[Span]:
    """Return the spans of the proof that a tree of `second` leaves begins with the tree of its `first` leaves. Raises ValueError.

    The proof is empty if both trees are equal, or if the first is empty.

    >>> consistency_spans(3, 5), consistency_spans(5, 5)
    ([Span(begin=2, end=3), Span(begin=3, end=4), Span(begin=0, end=2), Span(begin=4, end=5)], [])
    """
    if not 0 <= first <= second:
        raise ValueError(f"a tree of {second} leaves has no beginning of {first}")
    if first in (0, second):
        return []
    spans: list[Span] = []
    begin, end, whole = 0, second, True
    while end != first:
        middle = begin + _half(end - begin)
        if first <= middle:
            spans.append(Span(middle, end))
            end = middle
        else:
            spans.append(Span(begin, middle))
            begin, whole = middle, False
    if not whole:
        spans.append(Span(begin, end))
    return spans[::-1]


def proof(spans: Sequence[Span], node: Node) -> list[bytes]:
    """Return the hashes of a proof from its spans.

    >>> leaves = [leaf_hash(name) for name in (b"a", b"b", b"c", b"d", b"e")]
    >>> node = lambda level, number: hash_of(leaves[number << level : (number + 1) << level])
    >>> len(proof(inclusion_spans(2, 5), node))
    3
    """
    return [hash_of_span(span, node) for span in spans]


def is_included(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Return True if a path proves that a tree has the leaf with the hash `leaf` at `index` (RFC 9162, 2.1.3.2).

    >>> leaves = [leaf_hash(name) for name in (b"a", b"b", b"c", b"d", b"e")]
    >>> node = lambda level, number: hash_of(leaves[number << level : (number + 1) << level])
    >>> path = proof(inclusion_spans(2, 5), node)
    >>> is_included(leaf_hash(b"c"), 2, 5, path, hash_of(leaves)), is_included(leaf_hash(b"x"), 2, 5, path, hash_of(leaves))
    (True, False)
    """
    if not 0 <= index < size:
        return False
    number, last, found = index, size - 1, leaf
    for each in path:
        if last == 0:
            return False
        if number % 2 or number == last:
            found = node_hash(each, found)
            while number % 2 == 0 and number:
                number, last = number >> 1, last >> 1
        else:
            found = node_hash(found, each)
        number, last = number >> 1, last >> 1
    return last == 0 and found == root


def is_consistent(first: int, first_root: bytes, second: int, second_root: bytes, path: Sequence[bytes]) -> bool:
    """Return True if a path proves that the first tree is the beginning of the second (RFC 9162, 2.1.4.2).

    >>> leaves = [leaf_hash(name) for name in (b"a", b"b", b"c", b"d", b"e")]
    >>> node = lambda level, number: hash_of(leaves[number << level : (number + 1) << level])
    >>> path = proof(consistency_spans(3, 5), node)
    >>> is_consistent(3, hash_of(leaves[:3]), 5, hash_of(leaves), path), is_consistent(3, hash_of(leaves[1:4]), 5, hash_of(leaves), path)
    (True, False)
    """
    if not 0 <= first <= second:
        return False
    if first == second:
        return not path and first_root == second_root
    if first == 0:
        return not path and first_root == EMPTY
    hashes = [first_root, *path] if is_whole(first) else path
    return consistent_roots(first, second, hashes) == (first_root, second_root)


def consistent_roots(first: int, second: int, hashes: Sequence[bytes]) -> tuple[bytes, bytes] | None:
    """Return the roots of two trees that begin alike, as a path gives them, or None if no path has this length. 0 < first < second.

    `hashes`: the path. If the first tree is a whole subtree, its root comes before the path. A path that leads to the root of the second
    tree proves which root its beginning has. So if that is not the root of the first tree, the path proves a fork.

    >>> leaves = [leaf_hash(name) for name in (b"a", b"b", b"c", b"d", b"e")]
    >>> node = lambda level, number: hash_of(leaves[number << level : (number + 1) << level])
    >>> path = proof(consistency_spans(3, 5), node)
    >>> consistent_roots(3, 5, path) == (hash_of(leaves[:3]), hash_of(leaves)), consistent_roots(3, 5, path[:-1])
    (True, None)
    """
    if not hashes:
        return None
    number, last = first - 1, second - 1
    while number % 2:
        number, last = number >> 1, last >> 1
    old = new = hashes[0]
    for each in hashes[1:]:
        if last == 0:
            return None
        if number % 2 or number == last:
            old, new = node_hash(each, old), node_hash(each, new)
            while number % 2 == 0 and number:
                number, last = number >> 1, last >> 1
        else:
            new = node_hash(new, each)
        number, last = number >> 1, last >> 1
    return (old, new) if last == 0 else None


def is_whole(size: int) -> bool:
    """Return True if a tree of `size` leaves is one whole subtree: if the size is a power of two.

    >>> is_whole(4), is_whole(5)
    (True, False)
    """
    return size & (size - 1) == 0


def _half(size: int) -> int:
    """Return the largest power of two that is smaller than `size`."""
    return 1 << ((size - 1).bit_length() - 1)
