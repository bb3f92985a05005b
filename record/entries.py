"""Entries: the log of a match. Each accepted action is one entry in canonical JSON, and a chain of digests covers them all.

docs/auditing.md describes the format for other languages. Do not change anything here that changes the bytes.

An entry consists of parts: its action, its request, the signature of its actor, and its events. The digest covers a salted hash of each
part, its *leaf*. So a viewer who sees only some parts can still check the digest: it gets the salts of those parts, and the leaves of the
others.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from games.patterns import SIGNATURE, SIGNING_KEY, matches
from record.json_text import dumps, loads
from record.keyed import keyed

FORMAT = 3
START = "0" * 64
_MOST = (1 << 53) - 1

ACTION = b"a"
REQUEST = b"r"
SIGNED = b"s"

_KINDS: tuple[Any, ...] = (str, int, str, dict, list, int, str, int, (dict, type(None)), str, (str, type(None)), (dict, type(None)))


class NotCanonical(ValueError):
    """A value has no canonical JSON here: it contains a fraction, an integer beyond 53 bits, or something that is not JSON."""


class Unreadable(ValueError):
    """Some bytes in a log are not an entry."""


class Entry(NamedTuple):
    """One accepted action and all its events. Treat it as frozen.

    `action` and `events` are complete and contain hidden information; the service redacts them for each viewer.
    `revision` is the revision of the game's rules, `rules` their content hash (record/rules.py). `at` is in milliseconds since 1970.
    `request` says who asked for the action: `{"id", "fingerprint"}` of a caller's request, the decision of an artificial player
    (record/thoughts.py), or None. `digest` covers this entry and all entries before it. `secret`, in hex, is only in the entry that ended
    the match. `signed`: the actor's signature (record/signatures.py), or None.
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
    signed: dict[str, Any] | None = None


class Proof(NamedTuple):
    """What a viewer needs to compute the digest of an entry that it sees in part.

    Each part of the entry has `{"salt": hex}` if the viewer sees the whole part, else `{"leaf": hex}`.
    """

    action: dict[str, str]
    request: dict[str, str]
    signed: dict[str, str]
    events: list[dict[str, str]]


def canonical(value: Any) -> bytes:
    """Return the canonical JSON (RFC 8785) of a value without fractions. Raises NotCanonical.

    >>> canonical({"tile": "a1", "dice": [6, 1], "by": None})
    b'{"by":null,"dice":[6,1],"tile":"a1"}'
    >>> canonical({"share": 0.5})
    Traceback (most recent call last):
    record.entries.NotCanonical: 0.5 is a fraction; only whole numbers are kept
    """
    try:
        encoded = dumps(value)
    except TypeError as reason:
        raise NotCanonical(str(reason)) from None
    if _may_hold_fractions(encoded):
        _refuse_fractions(value)
    return encoded


def blind_key(secret: bytes) -> bytes:
    """Return the key of all salts of a match. It follows from the secret and does not reveal it.

    >>> blind_key(bytes(32)).hex()[:16]
    '1417806a02458be5'
    """
    return hmac.digest(secret, b"blind", "sha256")


def salt(blind: bytes, version: int, part: bytes) -> bytes:
    """Return the salt of one part of an entry: `a` the action, `r` the request, `s` the signature, `0`, `1`, … the events.

    >>> blind = blind_key(bytes(32))
    >>> salt(blind, 1, ACTION).hex()[:16], salt(blind, 1, b"0").hex()[:16]
    ('d1abe61c975a2821', '56b09a833db8a517')
    """
    return keyed(blind)(b"%d:%b" % (version, part))


def link(previous: str, entry: Entry, blind: bytes) -> tuple[Entry, bytes]:
    """Return the entry with its digest, which follows from the `previous` digest, and its bytes in the log. Raises NotCanonical.

    >>> moved = [{"type": "unit_moved", "from": "a1", "to": "a2"}]
    >>> entry = Entry("maaaaaaaaaaaaaaaa", 1, "red", {"type": "move"}, moved, 1, "0" * 32, 1_700_000_000_000, None, "")
    >>> linked, raw = link(START, entry, blind_key(bytes(32)))
    >>> linked.digest[:16]
    'bd101c1e8c95a242'
    >>> raw[:42]
    b'{"action":{"type":"move"},"actor":"red","a'
    >>> parse(raw) == linked
    True

    The next digest depends on this one, so a changed entry breaks all digests after it.

    >>> after, _ = link(linked.digest, entry._replace(version=2), blind_key(bytes(32)))
    >>> other, _ = link(START, entry._replace(version=2), blind_key(bytes(32)))
    >>> after.digest == other.digest
    False
    """
    version = entry.version
    try:
        action, *events = map(dumps, [entry.action, *entry.events])
        request = b"null" if entry.request is None else dumps(entry.request)
        signed = b"null" if entry.signed is None else dumps(entry.signed)
        actor, match, rules = dumps(entry.actor), dumps(entry.match), dumps(entry.rules)
        secret = b"" if entry.secret is None else b',"secret":%b' % dumps(entry.secret)
    except TypeError as reason:
        raise NotCanonical(str(reason)) from None
    salted, prefix = keyed(blind), b"%d:" % version
    named = ((ACTION, action), (REQUEST, request), (SIGNED, signed))
    hashes = [sha256(salted(prefix + part) + encoded).hexdigest() for part, encoded in named]
    hashes += [sha256(salted(b"%b%d" % (prefix, place)) + event).hexdigest() for place, event in enumerate(events)]
    # The members of both objects are joined in alphabetical order, so the bytes are canonical.
    names, end = b'"revision":%d,"rules":%b%b' % (entry.revision, rules, secret), b',"version":%d}' % version
    digested = b'{"actor":%b,"at":%d,"format":%d,"leaves":["%b"],"match":%b,%b%b' % (
        actor,
        entry.at,
        FORMAT,
        '","'.join(hashes).encode(),
        match,
        names,
        end,
    )
    digest = sha256(bytes.fromhex(previous) + digested).hexdigest()
    raw = b'{"action":%b,"actor":%b,"at":%d,"digest":"%b","events":[%b],"format":%d,"match":%b,%b%b%b%b' % (
        action,
        actor,
        entry.at,
        digest.encode(),
        b",".join(events),
        FORMAT,
        match,
        b"" if entry.request is None else b'"request":%b,' % request,
        names,
        b"" if entry.signed is None else b',"signed":%b' % signed,
        end,
    )
    if _may_hold_fractions(raw):
        _refuse_fractions(entry)
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
        entry.signed,
    )
    return linked, raw


def prove(entry: Entry, shown: dict[str, Any], blind: bytes) -> Proof:
    """Return the proof for a viewer who sees `entry` as `shown` (with `action` and `events`).

    Nobody sees the request. The signature is shown to those who see the whole action: to others it would confirm a guess of the action.

    A part is shown whole if it is the very object of the entry. Equality is not enough: a hidden value may happen to equal its replacement,
    and then the salt would reveal that.

    >>> drawn = {"type": "card_drawn", "card": "ambush"}
    >>> entry = Entry("maaaaaaaaaaaaaaaa", 7, "red", {"type": "draw"}, [drawn], 1, "0" * 32, 0, None, "")
    >>> proof = prove(entry, {"action": entry.action, "events": [{"type": "card_drawn"}]}, blind_key(bytes(32)))
    >>> list(proof.action), list(proof.request), list(proof.signed), list(proof.events[0])
    (['salt'], ['leaf'], ['salt'], ['leaf'])
    """
    version, whole = entry.version, shown["action"] is entry.action
    return Proof(
        _opened(blind, version, ACTION, entry.action, whole),
        _opened(blind, version, REQUEST, entry.request, False),
        _opened(blind, version, SIGNED, entry.signed, whole),
        [
            _opened(blind, version, b"%d" % place, event, seen is event)
            for place, (event, seen) in enumerate(zip(entry.events, shown["events"], strict=True))
        ],
    )


def parse(raw: bytes) -> Entry:
    """Return the entry in the bytes of a log. Raises Unreadable. The audit checks that it is canonical and that its digest is right.

    >>> from record.example import ENTRIES, RAWS
    >>> parse(RAWS[2]) == ENTRIES[2]
    True
    >>> parse(b'{"format":1}')
    Traceback (most recent call last):
    record.entries.Unreadable: its format is 1, not 3
    """
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
            fields.get("signed"),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        if isinstance(reason, Unreadable):
            raise
        raise Unreadable(f"{type(reason).__name__}: {reason}") from None
    if not all(map(isinstance, entry, _KINDS)) or (entry.signed is not None and not is_signed(entry.signed)):
        raise Unreadable("a field has the wrong type")
    return entry


def is_signed(value: dict[str, Any]) -> bool:
    """Return True if the member `signed` of an entry has the right members. Whether the signature holds is another question.

    >>> is_signed({"count": 1, "key": "A" * 43 + "=", "place": 1, "seen": 4, "signature": "A" * 86 + "=="})
    True
    """
    return (
        value.keys() == {"count", "key", "place", "seen", "signature"}
        and all(type(value[name]) is int and 1 <= value[name] <= _MOST for name in ("count", "place", "seen"))
        and value["place"] <= value["count"]
        and isinstance(value["key"], str)
        and isinstance(value["signature"], str)
        and matches(SIGNING_KEY, value["key"])
        and matches(SIGNATURE, value["signature"])
    )


def _part_hash(blind: bytes, version: int, part: bytes, encoded: bytes) -> str:
    """Return the salted hash of a part, which proofs have as `leaf`."""
    return sha256(salt(blind, version, part) + encoded).hexdigest()


def _opened(blind: bytes, version: int, part: bytes, value: Any, whole: bool) -> dict[str, str]:
    if whole:
        return {"salt": salt(blind, version, part).hex()}
    return {"leaf": _part_hash(blind, version, part, canonical(value))}


def _may_hold_fractions(encoded: bytes) -> bool:
    """Return False if some JSON surely holds no fraction. RFC 8785 wants 1 and 10000000000000000 where `dumps` gives 1.0 and 1e+16.

    A single byte is found much sooner than two. Most signatures in base64 have a `+`, but few an `e+`.
    """
    return b"." in encoded or (b"+" in encoded and b"e+" in encoded) or (b"-" in encoded and b"e-" in encoded)


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
