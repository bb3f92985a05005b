"""Entries: what one accepted action leaves in the stream of its match, its canonical JSON, and the chain of digests.

The algorithm is told for other languages in docs/auditing.md; change nothing here that would change the bytes.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, NamedTuple

import orjson

START = "0" * 64

_CANONICAL = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_STRICT_INTEGER
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_KINDS: tuple[Any, ...] = (str, int, str, dict, list, int, int, (dict, type(None)), str, (str, type(None)))
_FIELDS = ("match", "version", "actor", "action", "events", "rules", "at", "request", "digest")


class NotCanonical(ValueError):
    """A value that has no canonical JSON here: a fraction, a whole number beyond 53 bits, or nothing that JSON knows."""


class Unreadable(ValueError):
    """Bytes in a stream that are no entry."""


class Entry(NamedTuple):
    """One accepted action and all its facts.

    `action` and `events` are the canonical objects, in full: whoever shows them goes through the sight of the game. `at` is in
    milliseconds since 1970. `request` is None or `{"id", "fingerprint"}`. `digest` binds this entry and all before it. `secret`, in hex,
    stands only in the entry that ended the match. Treat all of it as frozen.
    """

    match: str
    version: int
    actor: str
    action: dict[str, Any]
    events: list[dict[str, Any]]
    rules: int
    at: int
    request: dict[str, str] | None
    digest: str
    secret: str | None = None


def canonical(value: Any) -> bytes:
    """The canonical JSON (RFC 8785) of a value without fractions. Raises NotCanonical."""
    try:
        written = orjson.dumps(value, option=_CANONICAL)
    except TypeError as reason:
        raise NotCanonical(str(reason)) from None
    # orjson writes 1.0 where RFC 8785 wants 1. Shapes keep fractions out of actions, games never make any; where a point shows, look.
    if b"." in written:
        _refuse_fractions(value)
    return written


def seal(previous: str, entry: Entry) -> tuple[Entry, bytes]:
    """The entry with the digest that follows from the `previous` one, and its bytes in the stream. Raises NotCanonical."""
    head = canonical({"action": entry.action, "actor": entry.actor, "at": entry.at})
    rest: dict[str, Any] = {
        "events": entry.events,
        "match": entry.match,
        "request": entry.request,
        "rules": entry.rules,
        "version": entry.version,
    }
    if entry.secret is not None:
        rest["secret"] = entry.secret
    tail = canonical(rest)
    digest = sha256(b"%b%b,%b" % (previous.encode(), head[:-1], tail[1:])).hexdigest()
    sealed = Entry(
        entry.match,
        entry.version,
        entry.actor,
        entry.action,
        entry.events,
        entry.rules,
        entry.at,
        entry.request,
        digest,
        entry.secret,
    )
    # `digest` sorts after `at` and before `events`, so the sealed bytes are canonical as they are put together here.
    return sealed, b'%b,"digest":"%b",%b' % (head[:-1], digest.encode(), tail[1:])


def parse(wire: bytes) -> Entry:
    """The entry in a stream's bytes. Raises Unreadable; whether it is canonical and follows in the chain is for the audit to say."""
    try:
        fields = orjson.loads(wire)
        entry = Entry(
            fields["match"],
            fields["version"],
            fields["actor"],
            fields["action"],
            fields["events"],
            fields["rules"],
            fields["at"],
            fields["request"],
            fields["digest"],
            fields.get("secret"),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        raise Unreadable(f"{type(reason).__name__}: {reason}") from None
    if not all(isinstance(field, kind) for field, kind in zip(entry, _KINDS, strict=True)):
        raise Unreadable("a field is not of its kind")
    return entry


def plain(entry: Entry) -> dict[str, Any]:
    """The entry as the JSON object that is kept, with everything hidden in it."""
    fields: dict[str, Any] = {name: getattr(entry, name) for name in _FIELDS}
    if entry.secret is not None:
        fields["secret"] = entry.secret
    return fields


def _refuse_fractions(value: Any) -> None:
    if isinstance(value, float):
        raise NotCanonical(f"{value!r} is a fraction; only whole numbers are kept")
    if isinstance(value, dict):
        for item in value.values():
            _refuse_fractions(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _refuse_fractions(item)
