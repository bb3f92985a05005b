"""Entries: what one accepted action leaves in the log of its match, as canonical JSON, and the chain of digests over them.

docs/auditing.md describes the format for other languages. Change nothing here that would change the bytes.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from record.json_text import dumps, loads

FORMAT = 2
START = "0" * 64

ACTION = b"a"
REQUEST = b"r"

_KINDS: tuple[Any, ...] = (str, int, str, dict, list, int, str, int, (dict, type(None)), str, (str, type(None)))


class NotCanonical(ValueError):
    """A value has no canonical JSON here: it holds a fraction, an integer beyond 53 bits, or something that is not JSON."""


class Unreadable(ValueError):
    """Bytes in a log are not an entry."""


class Entry(NamedTuple):
    """One accepted action and all its events. Treat it as frozen.

    `action` and `events` are complete, with everything hidden in them; the service redacts them for each viewer.
    `revision` is the revision of the game's rules, `rules` their content hash (record/rules.py). `at` is in milliseconds since 1970.
    `request` is what asked for it: `{"id", "fingerprint"}` of a caller's request, the decision of an artificial player
    (record/thoughts.py), or None. `digest` covers this entry and all before it. `secret`, in hex, is only in the entry that ended the
    match.
    """

    match: str
    version: int
    actor: str
    action: dict[str, Any]
    events: list[dict[str, Any]]
    revision: int
    rules: str
    at: int
    request: dict[str, Any] | None
    digest: str
    secret: str | None = None


class Proof(NamedTuple):
    """The values with which a viewer computes the digest of an entry that it sees in part.

    Each part of the entry has `{"salt": hex}` if the viewer sees it whole, else `{"leaf": hex}`.
    """

    action: dict[str, str]
    request: dict[str, str]
    events: list[dict[str, str]]


def canonical(value: Any) -> bytes:
    """Return the canonical JSON (RFC 8785) of a value without fractions. Raises NotCanonical."""
    try:
        encoded = dumps(value)
    except TypeError as reason:
        raise NotCanonical(str(reason)) from None
    # Fractions are written as 1.0 and 1e+16 where RFC 8785 wants 1 and 10000000000000000. Shapes and games keep them out of entries.
    if b"." in encoded or b"e+" in encoded or b"e-" in encoded:
        _refuse_fractions(value)
    return encoded


def blind_key(secret: bytes) -> bytes:
    """Return the key of all salts of a match. It follows from the secret and does not reveal it."""
    return hmac.digest(secret, b"blind", "sha256")


def salt(blind: bytes, version: int, part: bytes) -> bytes:
    """Return the salt of one part of an entry: `a` the action, `r` the request, `0`, `1`, ... the events."""
    return hmac.digest(blind, b"%d:%b" % (version, part), "sha256")


def link(previous: str, entry: Entry, blind: bytes) -> tuple[Entry, bytes]:
    """Return the entry with the digest that follows from the `previous` one, and its bytes in the log. Raises NotCanonical."""
    version = entry.version
    action = canonical(entry.action)
    request = b"null" if entry.request is None else canonical(entry.request)
    events = [canonical(event) for event in entry.events]
    parts = [(ACTION, action), (REQUEST, request), *[(b"%d" % place, event) for place, event in enumerate(events)]]
    hashes = [_part_hash(blind, version, part, encoded) for part, encoded in parts]
    # The members of both objects stand in alphabetical order, so the bytes are canonical as they are joined here.
    actor, match, rules = canonical(entry.actor), canonical(entry.match), canonical(entry.rules)
    secret = b"" if entry.secret is None else b',"secret":%b' % canonical(entry.secret)
    end = b'"revision":%d,"rules":%b%b,"version":%d}' % (entry.revision, rules, secret, version)
    digested = b'{"actor":%b,"at":%d,"format":%d,"leaves":["%b"],"match":%b,%b' % (
        actor,
        entry.at,
        FORMAT,
        '","'.join(hashes).encode(),
        match,
        end,
    )
    digest = sha256(bytes.fromhex(previous) + digested).hexdigest()
    raw = b'{"action":%b,"actor":%b,"at":%d,"digest":"%b","events":[%b],"format":%d,"match":%b,%b%b' % (
        action,
        actor,
        entry.at,
        digest.encode(),
        b",".join(events),
        FORMAT,
        match,
        b"" if entry.request is None else b'"request":%b,' % request,
        end,
    )
    linked = Entry(
        entry.match,
        version,
        entry.actor,
        entry.action,
        entry.events,
        entry.revision,
        entry.rules,
        entry.at,
        entry.request,
        digest,
        entry.secret,
    )
    return linked, raw


def prove(entry: Entry, shown: dict[str, Any], blind: bytes) -> Proof:
    """Return the proof for a viewer to whom `entry` is shown as `shown` (with `action` and `events`). Requests are never shown.

    A part counts as shown whole if it is the very object of the entry. Equality would not do: a hidden value may happen to equal what
    replaces it, and then the salt would reveal it.
    """
    version = entry.version
    return Proof(
        _opened(blind, version, ACTION, entry.action, shown["action"] is entry.action),
        _opened(blind, version, REQUEST, entry.request, False),
        [
            _opened(blind, version, b"%d" % place, event, seen is event)
            for place, (event, seen) in enumerate(zip(entry.events, shown["events"], strict=True))
        ],
    )


def parse(raw: bytes) -> Entry:
    """Return the entry in a log's bytes. Raises Unreadable. Whether it is canonical and follows in the chain is for the audit to check."""
    try:
        fields = loads(raw)
        if fields["format"] != FORMAT:
            raise Unreadable(f"its format is {fields['format']!r}, not {FORMAT}")
        entry = Entry(
            fields["match"],
            fields["version"],
            fields["actor"],
            fields["action"],
            fields["events"],
            fields["revision"],
            fields["rules"],
            fields["at"],
            fields.get("request"),
            fields["digest"],
            fields.get("secret"),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        if isinstance(reason, Unreadable):
            raise
        raise Unreadable(f"{type(reason).__name__}: {reason}") from None
    if not all(isinstance(field, kind) for field, kind in zip(entry, _KINDS, strict=True)):
        raise Unreadable("a field has the wrong type")
    return entry


def _part_hash(blind: bytes, version: int, part: bytes, encoded: bytes) -> str:
    """Return the salted hash of a part, which proofs have as `leaf`."""
    return sha256(salt(blind, version, part) + encoded).hexdigest()


def _opened(blind: bytes, version: int, part: bytes, value: Any, whole: bool) -> dict[str, str]:
    if whole:
        return {"salt": salt(blind, version, part).hex()}
    return {"leaf": _part_hash(blind, version, part, canonical(value))}


def _refuse_fractions(value: Any) -> None:
    for item in _numbers(value):
        if isinstance(item, float):
            raise NotCanonical(f"{item!r} is a fraction; only whole numbers are kept")


def _numbers(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _numbers(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _numbers(item)
    else:
        yield value
