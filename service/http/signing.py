"""Read the header Warledger-Signature: the signatures of a request's actions, as a dictionary of RFC 8941 (docs/api.md)."""

from __future__ import annotations

import re

from games import patterns
from record.signatures import Signing
from service.http.problems import Problem

SIGNATURE = "Warledger-Signature"

_MEMBERS = {
    "key": (re.compile(f":({patterns.SIGNING_KEY}):"), "the 32 bytes of a public key in base64, between colons"),
    "seen": (re.compile("([1-9][0-9]{0,14})"), "a version, from 1"),
    "digest": (re.compile(f'"({patterns.DIGEST})"'), "the digest of that version, 64 hex digits in quotation marks"),
    "signatures": (
        re.compile(f"\\( *(:{patterns.SIGNATURE}:(?: +:{patterns.SIGNATURE}:)*) *\\)"),
        "a list of signatures of 64 bytes, each in base64 between colons",
    ),
}
_NAME = re.compile("([a-z]+)=")
_COMMA = re.compile("[ \t]*,[ \t]*")


def signing_in(given: str | None, count: int) -> Signing | None:
    """Return what the header says, or None without it. `count`: how many actions the request has. Raise Problem `bad_header`.

    >>> signing_in("key=:{0}=:, seen=41, signatures=(:{1}==:)".format(43 * "A", 86 * "A"), 1).seen
    41
    """
    if given is None:
        return None
    found, at = dict[str, str](), 0
    while True:
        name = _NAME.match(given, at)
        if name is None or name[1] not in _MEMBERS or name[1] in found:
            raise _wrong("it has the members `key`, `seen`, `signatures` and perhaps `digest`, each once")
        pattern, about = _MEMBERS[name[1]]
        value = pattern.match(given, name.end())
        if value is None:
            raise _wrong(f"`{name[1]}` must be {about}")
        found[name[1]], at = value[1], value.end()
        if at == len(given):
            break
        comma = _COMMA.match(given, at)
        if comma is None:
            raise _wrong(f"a comma must stand between two members, also after `{name[1]}`")
        at = comma.end()
    if missing := next((name for name in ("key", "seen", "signatures") if name not in found), None):
        raise _wrong(f"it has no member `{missing}`")
    signatures = tuple(found["signatures"].replace(":", " ").split())
    if len(signatures) != count:
        raise _wrong(f"`signatures` must have one signature for each action, {count}, and has {len(signatures)}")
    return Signing(found["key"], int(found["seen"]), signatures, found.get("digest"))


def _wrong(reason: str) -> Problem:
    return Problem("bad_header", header=SIGNATURE, reason=reason)
