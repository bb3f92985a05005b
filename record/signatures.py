"""Signatures of actors: what the member `signed` of an entry holds, what it covers, and whether a chain of entries bears it out.

docs/auditing.md describes signed moves for other languages. Nothing here needs the rules of a game, or a library that checks Ed25519: who
has one gives the function that does (`evidence.notes.made_by`).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from evidence.statements import Move, NotAStatement, move_text
from record.entries import START, Entry, canonical

Verifies = Callable[[bytes, bytes, bytes], bool]
"""Whether a public key (32 bytes) has made, of these bytes, this signature (64 bytes)."""

Signed = dict[str, Any]
"""The member `signed` of an entry: `{"count", "key", "place", "seen", "signature"}`."""


class Signing(NamedTuple):
    """What a request says of the signatures of its actions.

    `key`: the public key in base64. `seen`: the version that the sender has seen. `signatures`: one in base64 for each action.
    `digest`: that of the version seen as the sender knows it, in hex, or None if the request does not say.
    """

    key: str
    seen: int
    signatures: tuple[str, ...]
    digest: str | None = None

    def of(self, place: int) -> Signed:
        """Return the member `signed` of the entry for an action. `place`: its place in the request, from 0."""
        signature = self.signatures[place]
        return {"count": len(self.signatures), "key": self.key, "place": place + 1, "seen": self.seen, "signature": signature}


def statement(entry: Entry, digest: str) -> bytes:
    r"""Return the bytes that the actor of a signed entry has signed. `digest`: that of the version seen.

    Raises NotAStatement, NotCanonical.

    >>> from record.example import ENTRIES
    >>> signed = {"count": 1, "key": "", "place": 1, "seen": 3, "signature": ""}
    >>> statement(ENTRIES[3]._replace(signed=signed), ENTRIES[2].digest).decode().split("\n")[2:4]
    ['red', '3']
    """
    signed = entry.signed
    if signed is None:
        raise NotAStatement("the entry is not signed")
    action = canonical(entry.action).decode()
    return move_text(Move(entry.match, entry.actor, signed["seen"], digest, signed["place"], signed["count"], action)).encode()


def verified(entry: Entry, digest: str, verifies: Verifies) -> bool:
    """Return whether the signature of an entry is right. `digest`: that of the version seen."""
    signed = entry.signed
    assert signed is not None, "the entry is signed"
    try:
        return verifies(base64.b64decode(signed["key"]), statement(entry, digest), base64.b64decode(signed["signature"]))
    except NotAStatement:
        return False


Finding = tuple[int, str, str]
"""A version, the code of what is wrong, and a sentence."""


class Signatures:
    """The signatures of a chain of entries, one after another. `keys`: by actor and key, the versions that are signed.

    Without `verifies` the signatures themselves are not checked.
    """

    def __init__(self, verifies: Verifies | None = None) -> None:
        self._verifies = verifies
        self.keys: dict[tuple[str, str], list[int]] = {}
        self.checked = 0
        self.unchecked = 0  # signatures that cannot be checked here
        self._digests = {0: START}
        self._before: Entry | None = None  # the entry before, if its signature is shown

    def read(self, entry: Entry, hidden: bool = False) -> Iterator[Finding]:
        """Read the next entry. Yield what is wrong with its signature. `hidden`: whether a viewer is not shown if it is signed."""
        before, signed = self._before, entry.signed
        self._digests[entry.version] = entry.digest
        self._before = None if hidden else entry
        if not hidden:
            yield from _list_broken(before, entry)
        if signed is None:
            return
        self.keys.setdefault((entry.actor, signed["key"]), []).append(entry.version)
        if not 1 <= signed["seen"] <= entry.version - signed["place"]:
            yield entry.version, "seen_not_before", f"The signature is over version {signed['seen']}, which was not before the request."
            return
        digest = self._digests.get(signed["seen"])
        if digest is None or self._verifies is None:
            self.unchecked += 1
            return
        self.checked += 1
        if not verified(entry, digest, self._verifies):
            yield (
                entry.version,
                "move_signature_broken",
                f"The signature is not one over this action by {entry.actor} and the history before it.",
            )

    def close(self) -> Iterator[Finding]:
        """Yield what is wrong with the last entry, if entries end there with their match or with the file."""
        before = self._before
        if before is not None and before.signed is not None and before.signed["place"] < before.signed["count"]:
            yield before.version, "move_list_broken", _CUT


_CUT = "The signed list of actions does not go on after this entry."


def _list_broken(before: Entry | None, entry: Entry) -> Iterator[Finding]:
    """Yield a finding if signed actions of one request do not follow each other, as far as both entries are shown."""
    signed = entry.signed
    if before is not None and before.signed is not None and before.signed["place"] < before.signed["count"]:
        due = {**before.signed, "place": before.signed["place"] + 1}
        if signed is None or entry.actor != before.actor or due != {**signed, "signature": due["signature"]}:
            yield before.version, "move_list_broken", _CUT
    if signed is None or before is None or signed["place"] == 1:
        return
    earlier = {**signed, "place": signed["place"] - 1}
    if before.signed is None or entry.actor != before.actor or earlier != {**before.signed, "signature": earlier["signature"]}:
        yield entry.version, "move_list_broken", "The actions before this one in its signed list are not before it."
