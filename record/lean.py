"""Whole matches in a lean form: a head and a line for each entry, without all that follows from the rest.

A head has `{"digest","entries","match","revision","rules","secret"}`: the last digest, the number of entries, and the members that the
entries share. The line of an entry has `action`, `actor`, `events`, `request` and `signed` if there are any, and `at`: the milliseconds
since the entry before, or, for the first entry, since 1970. It also has `revision` or `rules` if they differ from those of the head. What
follows from these members is left out: format, version, digest, and the secret. `secret_revealed` marks the entry that reveals the secret.
A `request` without `fingerprint` has that of its action alone.

A match is made whole by linking its entries again. So if its last digest is that of the head, every byte is as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from record.entries import START, Entry, Unreadable, blind_key, canonical, link, parse
from record.json_text import loads
from record.thoughts import fingerprint_of, is_request

Head = dict[str, Any]


class BadLean(ValueError):
    """A match has no lean form, or some lines are not the lean form of a match. The text says why, without a period."""


class Whole(NamedTuple):
    """A whole match: its id, the bytes of its entries in the log, its secret in hex, and its entries."""

    match: str
    raws: list[bytes]
    secret: str
    entries: list[Entry]


def lean(match: str, raws: Iterable[bytes], secret: str) -> tuple[Head, list[bytes]]:
    """Return the head and the lines of a match. Raises BadLean if the match cannot be made whole from them.

    >>> from record.example import MATCH, RAWS, SECRET
    >>> head, lines = lean(MATCH, RAWS, SECRET.hex())
    >>> head["entries"], lines[3][:61]
    (4, b'{"action":{"type":"resign"},"actor":"red","at":1000,"events":')
    >>> whole(head, lines).raws == RAWS
    True
    """
    raws = list(raws)
    try:
        entries = list(map(parse, raws))
    except Unreadable as reason:
        raise BadLean(str(reason)) from None
    if not entries:
        raise BadLean("it has no entries")
    first, last = entries[0], entries[-1]
    shared = {"revision": first.revision, "rules": first.rules}
    head = {"digest": last.digest, "entries": len(entries), "match": match, "secret": secret, **shared}
    lines = [canonical(_line(entry, at, shared)) for entry, at in zip(entries, [0, *(entry.at for entry in entries)], strict=False)]
    if whole(head, lines).raws != raws:
        raise BadLean("its entries do not follow from its secret")
    return head, lines


def whole(head: Head, lines: Iterable[bytes]) -> Whole:
    """Return the match of a head and the lines that follow. Take no more lines than it has entries. Raises BadLean.

    >>> from record.example import MATCH, RAWS, SECRET
    >>> head, lines = lean(MATCH, RAWS, SECRET.hex())
    >>> whole(head, [lines[0], lines[2], lines[1], lines[3]])
    Traceback (most recent call last):
    record.lean.BadLean: its entries do not lead to its digest
    """
    try:
        return _whole(head, lines)
    except BadLean:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        raise BadLean(f"{type(reason).__name__}: {reason}") from None


def unlinked(head: Head, lines: Iterable[bytes], before: int = 0, at: int = 0) -> Iterator[Entry]:
    """Yield the entries of lines without their digests. `before`: the version before them; `at`: the moment of the entry there.

    Raises ValueError, KeyError, TypeError, AttributeError.
    """
    match, secret = head["match"], head["secret"]
    for version, line in enumerate(lines, before + 1):
        part = loads(line)
        at += part["at"]
        revision, rules = part.get("revision", head["revision"]), part.get("rules", head["rules"])
        shown = secret if "secret_revealed" in part else None
        parts = part["actor"], part["action"], part["events"]
        request = part.get("request")
        if request is not None and request.keys() == {"id"}:
            request = {"fingerprint": fingerprint_of(part["actor"], part["action"]), **request}
        yield Entry(match, version, *parts, revision, rules, at, request, "", shown, part.get("signed"))


def linked(head: Head, entries: Iterable[Entry], digest: str = START) -> tuple[list[Entry], list[bytes]]:
    """Return entries with their digests, and their bytes in the log. `digest`: that of the entry before them. Raises NotCanonical."""
    blind, found, raws = blind_key(bytes.fromhex(head["secret"])), [], []
    for entry in entries:
        one, raw = link(digest, entry, blind)
        digest = one.digest
        found.append(one)
        raws.append(raw)
    return found, raws


def _whole(head: Head, lines: Iterable[bytes]) -> Whole:
    entries, raws = linked(head, unlinked(head, islice(lines, head["entries"])))
    if not entries or len(raws) != head["entries"] or entries[-1].digest != head["digest"]:
        raise BadLean("its entries do not lead to its digest")
    return Whole(head["match"], raws, head["secret"], entries)


def _line(entry: Entry, before: int, shared: Head) -> dict[str, Any]:
    """Return the members of an entry that do not follow from the rest. `before`: the moment of the entry before."""
    line: dict[str, Any] = {"action": entry.action, "actor": entry.actor, "at": entry.at - before, "events": entry.events}
    line |= {name: value for name, value in (("revision", entry.revision), ("rules", entry.rules)) if value != shared[name]}
    request = entry.request
    if request is not None and is_request(request) and request["fingerprint"] == fingerprint_of(entry.actor, entry.action):
        request = {"id": request["id"]}
    line |= {name: value for name, value in (("request", request), ("signed", entry.signed)) if value is not None}
    if entry.secret is not None:
        line["secret_revealed"] = True
    return line
