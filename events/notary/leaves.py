"""Make the leaves of a match for the server's log, and decide when they are due.

A leaf names an entry by its digest. A match gets one when it begins, one when it ends, and one at most an hour after an entry that no leaf
covers. While a match is hidden from spectators, the leaves in between are sealed. They come every hour after its creation, even if nothing
happened. So neither their content nor their times reveal anything. docs/auditing.md describes leaves for other languages.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from events.store.server_logs import Logged, NewLeaf
from evidence.leaves import BEGIN, END, HOUR, SEALED
from games.patterns import MATCH, matches
from record.entries import Entry, Unreadable, blind_key, canonical
from record.positions import Position
from table.state import BLANK, delay

HOUR_MS = 3_600_000

SEAL = "seal"  # in the names of sealed leaves, whose kind is SEALED

_DIGEST = re.compile("[0-9a-f]{64}")


class Facts(NamedTuple):
    """The facts of a match for its leaves. `digest`: of the first entry. `hidden`: the match is hidden from spectators."""

    match: str
    commitment: str
    digest: str
    created: int
    hidden: bool


class Plan(NamedTuple):
    """The leaves of a match that are due now. `later`: when the next one is due, or None."""

    leaves: list[NewLeaf]
    later: int | None


def wanted_at(first: Position, last: Position) -> int | None:
    """Return when the next leaf of a match is due after an append, or None. The append led to the positions `first` to `last`."""
    if last.ended:
        return last.at
    if first.version == 1:
        return first.created
    return _next_hour(first.created, last.at) if delay(last.table) != 0 else first.at + HOUR_MS


def still_wanted_at(position: Position, uncovered: int | None, logged: Sequence[Logged]) -> int | None:
    """Return when the next leaf of a match is due, or None. `logged` are the leaves that exist.

    `uncovered` is the time of the first entry that no leaf covers, or None.
    """
    names = {leaf.name for leaf in logged}
    if f"{BEGIN}:1" not in names:
        return position.created
    if position.ended:
        return None if f"{END}:{position.version}" in names else position.at
    if delay(position.table) != 0:
        sealed = [int(leaf.name.partition(":")[2]) for leaf in logged if leaf.kind == SEAL]
        return max([position.created, *sealed]) + HOUR_MS
    return None if uncovered is None else uncovered + HOUR_MS


def covered(logged: Sequence[Logged]) -> int:
    """Return the last version that leaves cover; 0 if there are none."""
    return max((leaf.version for leaf in logged), default=0)


def facts_of(first: Entry) -> Facts:
    """Return the facts in the first entry of a match. Raises Unreadable if it cannot be the first."""
    try:
        made = first.events[0]
        table: Any = {"spectators": made.get("spectators", BLANK["spectators"])}
        facts = Facts(first.match, made["commitment"], first.digest, first.at, delay(table) != 0)
    except (LookupError, TypeError, AttributeError) as reason:
        raise Unreadable("it does not create a match") from reason
    if first.version != 1 or not matches(MATCH, facts.match) or not _is_hash(facts.commitment) or not _is_hash(facts.digest):
        raise Unreadable("it does not create a match")
    return facts


def plan(facts: Facts, last: Entry, ended: bool, logged: Sequence[Logged], since: int, now: int, secret: str | None) -> Plan:
    """Return the leaves of a match that are due now, and when the next one is due. Raises Unreadable.

    `last`: the last entry of the match. `ended`: the match is over or closed; a later entry then gets a leaf at once. A match that has a
    leaf of its end is over, also while the lists that say so are lost: a leaf of another kind would contradict it. `since`: when a leaf
    became due. `secret`: the secret of the match, needed only for sealed leaves.
    """
    if not _is_hash(last.digest) or last.version < 1:
        raise Unreadable("it has no digest")
    names = {leaf.name for leaf in logged}
    ended = ended or any(leaf.kind == END for leaf in logged)
    leaves = []
    latest, version = max((leaf.moment for leaf in logged), default=0), covered(logged)
    if f"{BEGIN}:1" not in names:
        leaves.append(_begin(facts))
        latest, version = max(latest, facts.created), max(version, 1)
    if ended:
        if f"{END}:{last.version}" not in names:
            leaves.append(_plain(END, facts, last, now))
        return Plan(leaves, None)
    if facts.hidden:
        hour = facts.created + (now - facts.created) // HOUR_MS * HOUR_MS
        if hour > facts.created and f"{SEAL}:{hour}" not in names:
            leaves.append(_sealed(facts, last, hour, now, secret))
        return Plan(leaves, max(hour, facts.created) + HOUR_MS)
    if last.version <= version:
        return Plan(leaves, None)
    due = max(since, latest + HOUR_MS)
    if now < due:
        return Plan(leaves, due)
    return Plan([*leaves, _plain(HOUR, facts, last, now)], None)


def opened(match: str, leaf: Logged) -> dict[str, Any]:
    """Return the content of a sealed leaf."""
    return _inside(match, leaf.version, leaf.digest, leaf.at, int(leaf.name.partition(":")[2]))


def seal(secret: str, inside: dict[str, Any]) -> str:
    """Return the seal of the content of a leaf, in hex."""
    salt = hmac.digest(blind_key(bytes.fromhex(secret)), b"log:%d" % inside["version"], "sha256")
    return sha256(salt + canonical(inside)).hexdigest()


def _begin(facts: Facts) -> NewLeaf:
    leaf = {
        "at": facts.created,
        "commitment": facts.commitment,
        "digest": facts.digest,
        "kind": BEGIN,
        "match": facts.match,
        "version": 1,
    }
    return NewLeaf(canonical(leaf), facts.match, Logged(f"{BEGIN}:1", 0, 1, facts.digest, facts.created, facts.created))


def _plain(kind: str, facts: Facts, last: Entry, now: int) -> NewLeaf:
    leaf = {"at": last.at, "digest": last.digest, "kind": kind, "match": facts.match, "version": last.version}
    return NewLeaf(canonical(leaf), facts.match, Logged(f"{kind}:{last.version}", 0, last.version, last.digest, last.at, now))


def _sealed(facts: Facts, last: Entry, hour: int, now: int, secret: str | None) -> NewLeaf:
    if secret is None:
        raise Unreadable("its match has no secret")
    inside = _inside(facts.match, last.version, last.digest, last.at, hour)
    leaf = {"kind": SEALED, "seal": seal(secret, inside)}
    return NewLeaf(canonical(leaf), facts.match, Logged(f"{SEAL}:{hour}", 0, last.version, last.digest, last.at, now))


def _inside(match: str, version: int, digest: str, at: int, hour: int) -> dict[str, Any]:
    # Without the hour, equal seals would reveal that nothing happened in between.
    return {"at": at, "digest": digest, "hour": hour, "kind": HOUR, "match": match, "version": version}


def _next_hour(created: int, moment: int) -> int:
    return created + (max(0, moment - created) // HOUR_MS + 1) * HOUR_MS


def _is_hash(text: Any) -> bool:
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None
