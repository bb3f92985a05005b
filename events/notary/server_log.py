"""Read the server's log: one Merkle log for the whole server, which records digests of every match and proves them.

The log grows in events/notary/sequencing.py. Readers see only leaves that a published checkpoint covers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import orjson

from events.errors import NotInLog
from events.notary.leaves import SEAL, opened
from events.platform import Platform
from events.store.server_logs import Logged, State
from evidence import checkpoints, tiles, tree
from evidence.checkpoints import Checkpoint
from evidence.leaves import END
from evidence.tiles import Edge, Tile
from evidence.tree import Node, Span

PAGE = 100  # leaves


class Shown(NamedTuple):
    """The published part of a server's log: its origin, its number of leaves, and the signed checkpoint."""

    origin: str
    size: int
    note: str


def shown(platform: Platform, origin: str = "") -> Shown:
    """Return the published part of the log with this origin. The default is the current name of the server.

    Raises NotInLog before the first checkpoint, StoreUnavailable.
    """
    origin = origin or platform.signer.name
    state = platform.store.server_logs.state(origin)
    if state.served < 0:
        raise NotInLog(reason="it has no checkpoint yet, which a worker signs")
    return Shown(origin, state.served, state.note)


def tile(platform: Platform, level: int, number: int, width: int) -> bytes:
    """Return the bytes of the first `width` hashes of a tile. Raises NotInLog if the log has fewer, StoreUnavailable."""
    log = shown(platform)
    if not 0 < width <= tiles.width_of(level, number, log.size):
        raise NotInLog(reason="it has no such tile yet")
    return b"".join(platform.store.server_logs.hashes(log.origin, [(level, number * tiles.WIDTH, width)])[0])


def bundle(platform: Platform, number: int, width: int) -> bytes:
    """Return the first `width` leaves of a bundle of 256. Raises NotInLog if the log has fewer, StoreUnavailable."""
    log = shown(platform)
    if not 0 < width <= tiles.width_of(0, number, log.size):
        raise NotInLog(reason="it has no such entries yet")
    return tiles.bundle(platform.store.server_logs.leaves(log.origin, [(number * tiles.WIDTH, width)])[0])


def consistency(platform: Platform, first: int, second: int) -> list[bytes]:
    """Return the proof that the server's log with `second` leaves continues the log with `first` leaves.

    Raises NotInLog if the log does not have these sizes, StoreUnavailable.
    """
    log = shown(platform)
    if not 0 <= first <= second <= log.size:
        raise NotInLog(reason=f"it has {log.size} leaves, and a proof goes from a smaller size to a larger one")
    return proof(platform, log.origin, tree.consistency_spans(first, second), log.size)


def origins(platform: Platform) -> list[str]:
    """Return the names of the server's logs, the present one first."""
    return list(dict.fromkeys([platform.signer.name, *[published.key.name for published in platform.signer.published]]))


def all_shown(platform: Platform) -> list[Shown]:
    """Return the published part of every log of the server, one for each name that it has had. Raises StoreUnavailable."""
    found = []
    for origin in dict.fromkeys(published.key.name for published in platform.signer.published):
        with suppress(NotInLog):
            found.append(shown(platform, origin))
    return found


def leaves(
    platform: Platform, match: str, opens: bool = False, first: int = 0, limit: int | None = None, log: Shown | None = None
) -> list[dict[str, Any]]:
    """Return the leaves of a match by index, each as `{"index", "leaf", "proof"}`, with the proof as text (evidence/checkpoints.py).

    A sealed leaf also has `opened`: its content if the viewer has a seat (`opens`) or the match has ended, else None. `first`: the first
    index. `limit`: a number of leaves. `log`: the part of a log to read, by default what is published now. Raises NotInLog before the first
    checkpoint, StoreUnavailable.
    """
    log = log or shown(platform)
    logged = [leaf for leaf in platform.store.server_logs.logged(log.origin, [match])[0] if leaf.number < log.size]
    found = [leaf for leaf in logged if first <= leaf.number][:limit]
    opens = opens or any(leaf.kind == END for leaf in logged)
    raws = [row[0] for row in platform.store.server_logs.leaves(log.origin, [(leaf.number, 1) for leaf in found])]
    spans = [tree.inclusion_spans(leaf.number, log.size) for leaf in found]
    node = node_of(platform, log.origin, [span for each in spans for span in each], log.size)
    return [
        _leaf(match, leaf, raw, checkpoints.proof_text(checkpoints.Proof(leaf.number, tuple(tree.proof(path, node)), log.note)), opens)
        for leaf, raw, path in zip(found, raws, spans, strict=True)
    ]


def proof(platform: Platform, origin: str, spans: Sequence[Span], size: int) -> list[bytes]:
    """Return the hashes of spans of a server's log with at least `size` leaves. Raises StoreUnavailable."""
    return tree.proof(spans, node_of(platform, origin, spans, size))


def node_of(platform: Platform, origin: str, spans: Iterable[Span], size: int) -> Node:
    """Read the hashes of the subtrees of these spans. Return a function that finds them. Raises StoreUnavailable."""
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
    """Return the right edge of a server's log, where it grows. Raises StoreUnavailable."""
    return Edge(size, tuple(map(tuple, _read(platform, origin, tiles.edge_tiles(size)))))


def root(platform: Platform, origin: str, size: int, stored: int) -> bytes:
    """Return the root of the first `size` leaves of a server's log. `stored`: how many the store has. Raises StoreUnavailable."""
    (found,) = proof(platform, origin, tree.root_span(size), stored) if size else [tree.EMPTY]
    return found


def checkpoint_of(platform: Platform, state: State, origin: str) -> Checkpoint:
    """Return the unsigned checkpoint of all stored leaves of a server's log. Raises StoreUnavailable."""
    return Checkpoint(origin, state.size, edge(platform, origin, state.size).root)


def _read(platform: Platform, origin: str, wanted: Sequence[Tile]) -> list[list[bytes]]:
    spans = [(level, number * tiles.WIDTH, width) for level, number, width in wanted]
    return platform.store.server_logs.hashes(origin, spans)


def _leaf(match: str, leaf: Logged, raw: bytes, text: str, opens: bool) -> dict[str, Any]:
    found = {"index": leaf.number, "leaf": orjson.loads(raw), "proof": text}
    if leaf.kind == SEAL:
        found["opened"] = opened(match, leaf) if opens else None
    return found
