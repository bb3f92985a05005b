"""The ledger: one Merkle log for the whole server, which says of each match what its digests were, and can prove it.

It is read here. It grows in events/notary/sequencing.py. Only what a published checkpoint covers is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import orjson

from events.errors import NotInLedger
from events.notary.leaves import END, SEAL, opened
from events.platform import Platform
from events.store.ledgers import Logged, State
from evidence import checkpoints, tiles, tree
from evidence.checkpoints import Checkpoint
from evidence.tiles import Edge, Tile
from evidence.tree import Node, Span

PAGE = 100  # leaves


class Shown(NamedTuple):
    """The ledger as it is shown: its origin, how many leaves it has, and the signed checkpoint of these."""

    origin: str
    size: int
    note: str


def shown(platform: Platform, origin: str = "") -> Shown:
    """Return the ledger of an origin as it is shown; without one, of the server by its present name.

    Raises NotInLedger before its first checkpoint, StoreUnavailable.
    """
    origin = origin or platform.signer.name
    state = platform.store.ledgers.state(origin)
    if state.served < 0:
        raise NotInLedger(reason="it has no checkpoint yet, which a worker signs")
    return Shown(origin, state.served, state.note)


def tile(platform: Platform, level: int, number: int, width: int) -> bytes:
    """Return the bytes of the first hashes of a tile. Raises NotInLedger if the ledger has fewer, StoreUnavailable."""
    ledger = shown(platform)
    if not 0 < width <= tiles.width_of(level, number, ledger.size):
        raise NotInLedger(reason="it has no such tile yet")
    return b"".join(platform.store.ledgers.hashes(ledger.origin, [(level, number * tiles.WIDTH, width)])[0])


def bundle(platform: Platform, number: int, width: int) -> bytes:
    """Return the first leaves of a bundle of 256. Raises NotInLedger if the ledger has fewer, StoreUnavailable."""
    ledger = shown(platform)
    if not 0 < width <= tiles.width_of(0, number, ledger.size):
        raise NotInLedger(reason="it has no such entries yet")
    return tiles.bundle(platform.store.ledgers.leaves(ledger.origin, [(number * tiles.WIDTH, width)])[0])


def consistency(platform: Platform, first: int, second: int) -> list[bytes]:
    """Return the proof that the ledger with `first` leaves is the beginning of that with `second`.

    Raises NotInLedger if these are no sizes of it, StoreUnavailable.
    """
    ledger = shown(platform)
    if not 0 <= first <= second <= ledger.size:
        raise NotInLedger(reason=f"it has {ledger.size} leaves, and a proof goes from a smaller size to a larger one")
    return proof(platform, ledger.origin, tree.consistency_spans(first, second), ledger.size)


def leaves(
    platform: Platform, match: str, opens: bool = False, first: int = 0, limit: int | None = None, origin: str = ""
) -> list[dict[str, Any]]:
    """Return the leaves of a match by index, each as `{"index", "leaf", "proof"}`, with the proof as text (evidence/checkpoints.py).

    A sealed leaf also has `opened`: what is inside if the viewer knows everything that is (`opens`: it has a seat) or the match has ended,
    else None. `first` is an index, `limit` a number of leaves, `origin` that of an earlier ledger. Raises NotInLedger before the first
    checkpoint, StoreUnavailable.
    """
    ledger = shown(platform, origin)
    logged = platform.store.ledgers.logged(ledger.origin, [match])[0]
    found = [leaf for leaf in logged if first <= leaf.number < ledger.size][:limit]
    opens = opens or any(leaf.kind == END for leaf in logged)
    raws = [row[0] for row in platform.store.ledgers.leaves(ledger.origin, [(leaf.number, 1) for leaf in found])]
    spans = [tree.inclusion_spans(leaf.number, ledger.size) for leaf in found]
    node = node_of(platform, ledger.origin, [span for each in spans for span in each], ledger.size)
    return [
        _leaf(match, leaf, raw, checkpoints.proof_text(checkpoints.Proof(leaf.number, tuple(tree.proof(path, node)), ledger.note)), opens)
        for leaf, raw, path in zip(found, raws, spans, strict=True)
    ]


def proof(platform: Platform, origin: str, spans: Sequence[Span], size: int) -> list[bytes]:
    """Return the hashes of spans of a ledger of which the store has at least `size` leaves. Raises StoreUnavailable."""
    return tree.proof(spans, node_of(platform, origin, spans, size))


def node_of(platform: Platform, origin: str, spans: Iterable[Span], size: int) -> Node:
    """Return the function that finds the hashes of the subtrees of these spans. It has read them. Raises StoreUnavailable."""
    wanted = tiles.tiles_of(spans, size)
    rows = _read(platform, origin, wanted)
    known = {(level, number): row for (level, number, _), row in zip(wanted, rows, strict=True)}
    found: dict[tuple[int, int], bytes] = {}
    read = tiles.node_of(lambda level, number, width: known[level, number])

    def node(level: int, number: int) -> bytes:
        if (level, number) not in found:
            found[level, number] = read(level, number)
        return found[level, number]

    return node


def edge(platform: Platform, origin: str, size: int) -> Edge:
    """Return the right edge of a ledger, from which it grows. Raises StoreUnavailable."""
    return Edge(size, tuple(map(tuple, _read(platform, origin, tiles.edge_tiles(size)))))


def root(platform: Platform, origin: str, size: int, stored: int) -> bytes:
    """Return the root of a ledger with `size` leaves, of which the store has `stored`. Raises StoreUnavailable."""
    (found,) = proof(platform, origin, tree.root_span(size), stored) if size else [tree.EMPTY]
    return found


def checkpoint_of(platform: Platform, state: State, origin: str) -> Checkpoint:
    """Return the checkpoint of all leaves that the store has of a ledger, which nobody has signed. Raises StoreUnavailable."""
    return Checkpoint(origin, state.size, edge(platform, origin, state.size).root)


def _read(platform: Platform, origin: str, wanted: Sequence[Tile]) -> list[list[bytes]]:
    spans = [(level, number * tiles.WIDTH, width) for level, number, width in wanted]
    return platform.store.ledgers.hashes(origin, spans)


def _leaf(match: str, leaf: Logged, raw: bytes, text: str, opens: bool) -> dict[str, Any]:
    found = {"index": leaf.number, "leaf": orjson.loads(raw), "proof": text}
    if leaf.kind == SEAL:
        found["opened"] = opened(match, leaf) if opens else None
    return found
