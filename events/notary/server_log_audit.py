"""Audit the server's log: compare its leaves with entries and with the keys of players, its hashes with its leaves, and its checkpoint with
both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from events.notary import highwater, key_leaves, signer
from events.notary.leaves import SEAL, covered, opened, seal, still_wanted_at
from events.platform import Platform
from events.store.log import Item
from events.store.server_logs import Logged
from evidence import checkpoints, tiles, tree
from evidence.leaves import END
from evidence.notes import Malformed, Unverified
from evidence.notes import opened as opened_note
from evidence.tiles import Edge
from record.entries import Entry, Unreadable, canonical, parse
from record.positions import Position

DIFFERS = "leaf_differs"
MISSING = "leaf_missing"

_PAGE = 4 * tiles.WIDTH


class Wrong(NamedTuple):
    """A finding about the leaves of a match, at the version where it shows."""

    version: int
    code: str
    detail: str


def origin_of(platform: Platform) -> str | None:
    """Return the origin of the server's log, or None without readable keys. Makes no keys."""
    try:
        keys = signer.read(platform.settings.keys_folder)
    except signer.KeysUnfit:
        return None
    return None if keys is None else keys.signing.verifier.name


def of_match(platform: Platform, items: Sequence[Item], position: Position, secret: str | None, wanted: float | None) -> Iterator[Wrong]:
    """Yield the findings about the leaves of a match. `position`: the newest position of its log.

    `wanted`: when the next leaf is due, according to the store. Raises StoreUnavailable.
    """
    origin = origin_of(platform)
    if origin is None:
        return
    (logged,) = platform.store.server_logs.logged(origin, [position.match])
    raws = platform.store.server_logs.leaves(origin, [(leaf.number, 1) for leaf in logged])
    stored = {item.id: item.raw for item in items}
    for leaf, raw in zip(logged, raws, strict=True):
        entry = _entry(stored.get(f"{leaf.version}-0", b""))
        if entry is None or not raw or raw[0] != _expected(position, leaf, entry, secret, raw[0]):
            yield Wrong(leaf.version, DIFFERS, f"The leaf {leaf.number} of the server's log does not match the entry of this version.")
    after = covered(logged)
    due = still_wanted_at(position, position.at if position.version > after else None, logged)  # at the latest
    if due is not None and (wanted is None or wanted > due):
        yield Wrong(after + 1, MISSING, "The server's log lacks a leaf of this match, and none is scheduled. Rebuild it.")


def of_log(platform: Platform) -> Iterator[str]:
    """Yield the findings about the server's log as a whole, as sentences. A server without keys has no log.

    Raises StoreUnavailable, KeysUnfit.
    """
    origin = origin_of(platform)
    if origin is None:
        return
    state = platform.store.server_logs.state(origin)
    mark = highwater.sentence(platform.settings.keys_folder, origin)
    if mark:
        yield mark
    edge, roots = Edge(), {}
    signed = _signed_size(platform, origin)
    while edge.size < state.size:
        count = min(_PAGE, state.size - edge.size, *[size - edge.size for size in (state.served, signed) if size > edge.size])
        before, leaves = edge.size, platform.store.server_logs.leaves(origin, [(edge.size, count)])[0]
        edge, added = tiles.grow(edge, tiles.leaf_hashes(leaves))
        spans = [(level, before >> tiles.HEIGHT * level, len(row)) for level, row in enumerate(added)]
        stored = platform.store.server_logs.hashes(origin, spans)
        if len(leaves) != count or [list(row) for row in added] != stored:
            yield f"The hashes of the server's log do not match its leaves, from leaf {before} on."
            return
        roots[edge.size] = edge.root
    roots[0] = tree.EMPTY
    if signed in roots and roots[signed] != highwater.read(platform.settings.keys_folder, origin).checkpoint.root:
        yield f"The first {signed} leaves of the server's log are not those that were signed."
    if state.served >= 0:
        yield from _checkpoint(platform, state.note, roots.get(state.served))
    yield from key_leaves.audit(platform)


def _checkpoint(platform: Platform, note: str, root: bytes | None) -> Iterator[str]:
    keys = signer.read(platform.settings.keys_folder)
    try:
        found, parsed = checkpoints.of_note(note)
        opened_note(parsed, [published.key for published in keys.keys] if keys is not None else [])
        good = found.root == root
    except (Malformed, Unverified):
        good = False
    if not good:
        yield "The checkpoint of the server's log does not match its leaves, or is not signed by a key of the server."


def _signed_size(platform: Platform, origin: str) -> int:
    try:
        return highwater.read(platform.settings.keys_folder, origin).checkpoint.size
    except (highwater.Unreadable, OSError):
        return -1


def _entry(raw: bytes) -> Entry | None:
    try:
        return parse(raw)
    except Unreadable:
        return None


def _expected(position: Position, leaf: Logged, entry: Entry, secret: str | None, raw: bytes) -> bytes:
    """Return the bytes that the leaf of an entry must have. For a sealed leaf without a secret, return its own: it cannot be checked."""
    if (leaf.digest, leaf.at) != (entry.digest, entry.at) or not (position.ended if leaf.kind == END else entry.secret is None):
        return b""
    if leaf.kind == SEAL:
        return raw if secret is None else canonical({"kind": "sealed", "seal": seal(secret, opened(position.match, leaf))})
    said = {"at": entry.at, "digest": entry.digest, "kind": leaf.kind, "match": position.match, "version": entry.version}
    if entry.version == 1:
        said["commitment"] = position.table["commitment"]
    return canonical(said)
