"""Read the leaves of a server's log, and find leaves that contradict one another (docs/auditing.md, "Inclusion in the log").

Every rule is about one leaf, or about leaves in the order of the log. So a few leaves with their proofs show a contradiction to anybody.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evidence.notes import made_by
from evidence.statements import signing_key_text

BEGIN, HOUR, END = "begin", "hour", "end"
SEALED, BULK, REGISTERED, REVOKED = "sealed", "bulk", "signing_key", "signing_key_revoked"
UNKNOWN, MALFORMED = "unknown", "malformed"
KINDS = frozenset({BEGIN, HOUR, END, SEALED, BULK, REGISTERED, REVOKED})

DUE_MS = 2 * 3_600_000
"""How soon after an entry the log must have a leaf of its match with that version or a later one, in milliseconds."""

SLOW_MS = 60_000
"""By how much the time of a later version may be earlier, in milliseconds: an action counts from when it was received."""

ALARMS = frozenset(
    {"begin_twice", "after_end", "end_twice", "digest_twice", "version_backwards", "time_backwards", "bulk_twice", "key_unproven"}
)
"""The codes of what no honest server does. The others have innocent explanations, such as a service that was down."""

_NUMBER, _HASH, _TEXT = "(0|[1-9][0-9]{0,15})", "([0-9a-f]{64})", "([a-z0-9_.-]{1,100})"
_OF_MATCH = re.compile(
    rf'{{"at":{_NUMBER},(?:"commitment":"{_HASH}",)?"digest":"{_HASH}","kind":"(begin|hour|end)","match":"(m[a-z2-7]{{16}})",'
    rf'"version":{_NUMBER}}}'
)
_SEALED = re.compile(rf'{{"kind":"sealed","seal":"{_HASH}"}}')
_BULK = re.compile(
    rf'{{"at":{_NUMBER},"bytes":{_NUMBER},"digest":"{_HASH}","from":{_NUMBER},"game":"{_TEXT}","kind":"bulk","matches":{_NUMBER},'
    rf'"month":"([0-9]{{4}}-[0-9]{{2}})","parts":{_NUMBER},"to":{_NUMBER}}}'
)
_KEY = re.compile(
    rf'{{"at":{_NUMBER},"key":"([A-Za-z0-9+/]{{42}}[AEIMQUYcgkosw048]=)","kind":"(signing_key|signing_key_revoked)",'
    r'"player":"(p[a-z2-7]{16})"(?:,"signature":"([A-Za-z0-9+/]{85}[AQgw]==)")?}'
)


class Leaf(NamedTuple):
    """A leaf. `subject`: its match, the player of a signing key, or `<game>/<month>` of a bulk file; "" for others.

    `digest`: of the entry or the bulk file, or the signing key in base64. `at`: ms since 1970. `more`: the commitment of a beginning,
    or the signature of a registration.
    """

    kind: str
    subject: str = ""
    version: int = 0
    digest: str = ""
    at: int = 0
    more: str = ""

    @property
    def is_of_match(self) -> bool:
        """True if the leaf names a match."""
        return self.kind in (BEGIN, HOUR, END)


Placed = tuple[int, Leaf]
"""A leaf and its index in the log."""


class Finding(NamedTuple):
    """Something that leaves show. `leaves`: the indexes of those that show it. `version`: of the last of them, if it is of a match."""

    code: str
    subject: str
    version: int | None
    leaves: tuple[int, ...]
    sentence: str

    @property
    def is_alarm(self) -> bool:
        """True if no honest server does this."""
        return self.code in ALARMS


def read(raw: bytes) -> Leaf:
    """Return the leaf in its bytes. Its kind is UNKNOWN or MALFORMED if it is none that this page describes.

    >>> read(b'{"at":7,"digest":"%b","kind":"end","match":"maaaaaaaaaaaaaaaa","version":12}' % (64 * b"0"))[:3]
    ('end', 'maaaaaaaaaaaaaaaa', 12)
    >>> read(b'{"kind":"news"}').kind, read(b'{"kind":"end"}').kind
    ('unknown', 'malformed')
    """
    try:
        text = raw.decode("ascii")
    except ValueError:
        return Leaf(MALFORMED)
    found = _OF_MATCH.fullmatch(text)
    if found is not None:
        at, commitment, digest, kind, match, version = found.groups()
        number = int(version)
        right = (commitment is not None and number == 1) if kind == BEGIN else (commitment is None and number >= 1)
        return Leaf(kind, match, number, digest, int(at), commitment or "") if right else Leaf(MALFORMED)
    if _SEALED.fullmatch(text) is not None:
        return Leaf(SEALED)
    return _other(text)


def _other(text: str) -> Leaf:
    """Return a leaf of one of the rarer kinds."""
    bulk, key = _BULK.fullmatch(text), _KEY.fullmatch(text)
    if bulk is not None:
        return Leaf(BULK, f"{bulk[5]}/{bulk[7]}", 0, bulk[3], int(bulk[1]))
    if key is not None and (key[5] is not None) == (key[3] == REGISTERED):
        return Leaf(key[3], key[4], 0, key[2], int(key[1]), key[5] or "")
    try:
        kind = json.loads(text)["kind"]
    except (ValueError, KeyError, TypeError, RecursionError):
        kind = None
    return Leaf(UNKNOWN if isinstance(kind, str) and kind not in KINDS else MALFORMED)


def conflict(first: Leaf, second: Leaf) -> str | None:
    """Return the code of what two leaves of one subject contradict each other in, or None. The `first` one comes first in the log.

    >>> begin, end = Leaf("begin", "m", 1, "aa", 5), Leaf("end", "m", 9, "bb", 6)
    >>> conflict(begin, end), conflict(begin, begin), conflict(end, begin)
    (None, 'begin_twice', 'after_end')
    >>> conflict(end, end._replace(version=12, at=8)), conflict(end, end._replace(digest="cc"))
    (None, 'end_twice')
    """
    if first.kind == second.kind == BULK:
        return "bulk_twice"
    if not first.is_of_match or not second.is_of_match:
        return None
    if first.kind == second.kind == BEGIN:
        return "begin_twice"
    if first.kind == END and second.kind != END:
        return "after_end"
    if first == second:
        return "leaf_twice"
    if first.kind == second.kind == END and second.version <= first.version:
        return "end_twice"
    if second.version == first.version:
        return "digest_twice" if (first.digest, first.at) != (second.digest, second.at) else _again(second)
    if second.version < first.version:
        return "version_backwards"
    return "time_backwards" if second.at < first.at - SLOW_MS else None


def _again(second: Leaf) -> str | None:
    """Return the code of a second leaf of the same entry. One of the end may follow one of an hour."""
    return None if second.kind == END else "leaf_twice"


def follows(last: Leaf | None, leaf: Leaf) -> bool:
    """Return True if a leaf can follow the last leaf of its subject without a closer look.

    >>> begin = Leaf("begin", "m", 1, "aa", 5)
    >>> follows(None, begin), follows(begin, Leaf("hour", "m", 4, "bb", 9)), follows(None, Leaf("hour", "m", 4, "bb", 9))
    (True, True, False)
    """
    kind = leaf.kind
    if last is not None and kind in (HOUR, END):
        return last.kind in (BEGIN, HOUR) and leaf.version > last.version and leaf.at >= last.at
    return kind == BEGIN and last is None if kind in (BEGIN, HOUR, END) else last is None or kind != BULK


def contradictions(leaves: Sequence[Placed], since: int = 0) -> Iterator[Finding]:
    """Yield what the leaves of one subject show, which are given in the order of the log: for each leaf and code the first.

    `since`: an index; what shows before it is left out.

    >>> told = [(9, Leaf("begin", "m", 1, "aa", 5)), (10, Leaf("end", "m", 9, "bb", 6))]
    >>> again = [(209, Leaf("begin", "m", 1, "cc", 7)), (210, Leaf("end", "m", 9, "dd", 8))]
    >>> [(found.code, found.leaves) for found in contradictions(told + again)]
    [('begin_twice', (9, 209)), ('after_end', (10, 209)), ('end_twice', (10, 210))]
    """
    for place, (number, leaf) in enumerate(leaves):
        if number < since:
            continue
        if place == 0 and leaf.is_of_match and leaf.kind != BEGIN:
            yield _finding("no_begin", [(number, leaf)])
        seen = set()
        for before in leaves[:place]:
            code = conflict(before[1], leaf)
            if code is not None and code not in seen:
                seen.add(code)
                yield _finding(code, [before, (number, leaf)])


def late(before: Placed, later: Placed, leaf: Placed) -> Finding | None:
    """Return the finding that a leaf came more than two hours after its entry, or None.

    `before`: an earlier leaf of its match. `later`: a leaf between the two, whose time shows how late it was when it was added.

    >>> begin, other = (3, Leaf("begin", "m", 1, "aa", 5)), (7, Leaf("end", "n", 4, "bb", 9_000_000))
    >>> late(begin, other, (8, Leaf("hour", "m", 2, "cc", 6))).code
    'leaf_late'
    >>> late(begin, other, (8, Leaf("hour", "m", 2, "cc", 8_000_000))) is None
    True
    """
    if not before[1].is_of_match or not leaf[1].is_of_match or before[1].subject != leaf[1].subject:
        return None
    if not before[0] < later[0] < leaf[0] or not is_overdue(leaf[1].at, later[1]):
        return None
    return _finding("leaf_late", [before, later, leaf])


def is_overdue(at: int, leaf: Leaf) -> bool:
    """Return True if the leaf of an entry made `at` was due when another leaf was added.

    >>> is_overdue(5, Leaf("hour", "m", 2, "cc", 7_200_005)), is_overdue(5, Leaf("hour", "m", 2, "cc", 7_200_006))
    (False, True)
    """
    return at + DUE_MS < leaf.at


def key_findings(leaf: Placed, others: Sequence[Placed]) -> Iterator[Finding]:
    """Yield what the registration of a signing key shows. `others`: the earlier registrations of that key.

    >>> [found.code for found in key_findings((4, Leaf("signing_key", "p", 0, 43 * "A" + "=", 5, 86 * "A" + "==")), [])]
    ['key_unproven']
    """
    if leaf[1].kind != REGISTERED:
        return
    if not is_proven(leaf[1]):
        yield _finding("key_unproven", [leaf])
    for other in others:
        if other[1].subject != leaf[1].subject:
            yield _finding("key_shared", [other, leaf])
            return


def is_proven(leaf: Leaf) -> bool:
    """Return True if the registration of a signing key is signed by that key.

    >>> from evidence.notes import SigningKey
    >>> key = SigningKey("key", bytes(32))
    >>> public = base64.b64encode(key.verifier.public).decode()
    >>> signed = base64.b64encode(key.signature(signing_key_text("p", public).encode()).signature).decode()
    >>> is_proven(Leaf("signing_key", "p", 0, public, 5, signed)), is_proven(Leaf("signing_key", "q", 0, public, 5, signed))
    (True, False)
    """
    return proves(leaf.subject, leaf.digest, leaf.more)


def proves(player: str, key: str, signature: str) -> bool:
    """Return True if a signature shows that a player has a signing key. Key and signature are in base64.

    Raises NotAStatement for what cannot be the id of a player, and ValueError for what is no base64.

    >>> proves("p" + 16 * "a", 43 * "A" + "=", 86 * "A" + "==")
    False
    """
    return made_by(base64.b64decode(key), signing_key_text(player, key).encode(), base64.b64decode(signature))


def shown_by(code: str, leaves: Sequence[Placed]) -> Finding | None:
    """Return the finding with this code that some leaves show by themselves, or None. They are given in the order of the log.

    >>> begin = Leaf("begin", "m", 1, "aa", 5)
    >>> shown_by("begin_twice", [(9, begin), (209, begin)]).leaves, shown_by("end_twice", [(9, begin), (209, begin)])
    ((9, 209), None)
    """
    if [number for number, _ in leaves] != sorted({number for number, _ in leaves}):
        return None
    if len(leaves) == 3 and code == "leaf_late":
        return late(*leaves)
    if len(leaves) == {"key_unproven": 1, "key_shared": 2}.get(code):
        return next((found for found in key_findings(leaves[-1], leaves[:-1]) if found.code == code), None)
    if len(leaves) == 2 and leaves[0][1].subject == leaves[1][1].subject and conflict(leaves[0][1], leaves[1][1]) == code:
        return _finding(code, leaves)
    return None


def _finding(code: str, leaves: Sequence[Placed]) -> Finding:
    number, leaf = leaves[-1]
    version = leaf.version if leaf.is_of_match else None
    return Finding(code, leaf.subject, version, tuple(place for place, _ in leaves), _sentence(code, leaves[0], number, leaf))


def _sentence(code: str, first: Placed, number: int, leaf: Leaf) -> str:
    match, before = leaf.subject, first[0]
    sentences = {
        "begin_twice": f"The match {match} begins twice: in leaf {before} and in leaf {number}.",
        "after_end": f"The match {match} goes on in leaf {number}, though it ended in leaf {before}.",
        "end_twice": f"The match {match} ends twice: in leaf {before} at version {first[1].version}, in leaf {number} at {leaf.version}.",
        "digest_twice": f"Leaf {before} and leaf {number} disagree about version {leaf.version} of the match {match}.",
        "version_backwards": f"The match {match} goes back from version {first[1].version} in leaf {before} to {leaf.version} in {number}.",
        "time_backwards": f"Version {leaf.version} of the match {match} in leaf {number} is earlier than {first[1].version} in {before}.",
        "bulk_twice": f"The bulk file {match} is in the log twice: in leaf {before} and in leaf {number}.",
        "key_unproven": f"The player {match} has a signing key in leaf {number} that did not sign its registration.",
        "key_shared": f"The players {first[1].subject} and {match} have the same signing key, in leaf {before} and in leaf {number}.",
        "leaf_late": f"The leaf {number} of the match {match} came more than two hours after its entry.",
        "leaf_twice": f"The match {match} has the same leaf twice: {before} and {number}.",
        "no_begin": f"The first leaf of the match {match} is {number}, which is not that of its beginning.",
    }
    return sentences[code]
