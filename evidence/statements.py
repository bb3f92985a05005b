"""Write and read statements: the texts that a server signs besides checkpoints, and those that players sign.

The first line of a statement names its kind. Each further line has one value. docs/auditing.md describes statements for other languages.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from evidence.running import Running

RECEIPT = "warledger.org/receipt/v1"
DOSSIER = "warledger.org/dossier/v1"
READ = "warledger.org/read/v1"
MOVE = "warledger.org/move/v1"
SIGNING_KEY = "warledger.org/signing-key/v1"
KINDS = (RECEIPT, DOSSIER, READ)

_WORD = "[!-~]{1,100}"
_WHAT = "dossier|record|audit|view:[!-~]{1,95}"
_NUMBER = "0|[1-9][0-9]{0,15}"
_HASH = "[0-9a-f]{64}"
_PLACE = "[1-9][0-9]{0,3}/[1-9][0-9]{0,3}"


class NotAStatement(ValueError):
    """A text is not a statement of the expected kind."""


class SideLog(NamedTuple):
    """States what the side log of a match had when a version was written: the refused actions of `seat`, and the reads of staff."""

    seat: str
    refused: Running
    reads: Running


class Receipt(NamedTuple):
    """States that a version of a match has this digest (64 hex digits). `at`: the time of its entry, in ms since 1970.

    `sidelog`: what the side log had then, in a receipt for the seat that acted. None if it was empty, and in all other receipts.
    `held`: how many replicas had the version before anybody was told, at least; 0 where the server waits for none.
    """

    match: str
    version: int
    digest: str
    at: int
    sidelog: SideLog | None = None
    held: int = 0


class Dossier(NamedTuple):
    """States the SHA-256 (hex) of all lines but the last of a dossier: the match as `viewer` sees it, up to a version."""

    match: str
    version: int
    viewer: str
    sha256: str


class Read(NamedTuple):
    """States that staff was shown hidden information of a match at this version.

    `reader`: the id of a player, or `admin`. `what`: `dossier`, `record`, `audit`, or `view:` and whose view it was. `at`: ms since 1970.
    """

    match: str
    version: int
    reader: str
    what: str
    at: int


class Move(NamedTuple):
    """States that an actor of a match decided on an action, having seen the history that ends with a version and its digest.

    `seen`: the version. `place`, `total`: which action of its request it is, and of how many. `action`: as it is recorded, in canonical
    JSON.
    """

    match: str
    actor: str
    seen: int
    digest: str
    place: int
    total: int
    action: str


def receipt_text(receipt: Receipt) -> str:
    r"""Return a receipt as text, to be signed as a note. Raises NotAStatement for a value that it cannot hold.

    >>> receipt = Receipt("m" + 16 * "a", 12, 64 * "0", 1790000000000)
    >>> print(receipt_text(receipt), end="")
    warledger.org/receipt/v1
    maaaaaaaaaaaaaaaa
    12
    0000000000000000000000000000000000000000000000000000000000000000
    1790000000000
    >>> receipt_text(receipt._replace(digest="short"))
    Traceback (most recent call last):
        ...
    evidence.statements.NotAStatement: ('maaaaaaaaaaaaaaaa', '12', 'short', '1790000000000') cannot stand in a warledger.org/receipt/v1

    A receipt for a seat has five more lines:

    >>> named = SideLog("red", Running(2, 64 * "1"), Running(0, 64 * "0"))
    >>> receipt_text(receipt._replace(sidelog=named)).split("\n")[5:8]
    ['red', '2', '1111111111111111111111111111111111111111111111111111111111111111']

    One of a server that waits for replicas has a line more, after the time:

    >>> receipt_text(receipt._replace(held=2)).split("\n")[5]
    'held 2'
    """
    match, version, digest, at, sidelog, held = receipt
    text = f"{RECEIPT}\n{match}\n{version}\n{digest}\n{at}\n"
    if held:
        text = f"{text}held {held}\n"
    if sidelog is not None:
        text += "".join([f"{value}\n" for value in (sidelog.seat, *sidelog.refused, *sidelog.reads)])
    return _checked(RECEIPT, text)


def dossier_text(dossier: Dossier) -> str:
    r"""Return the statement about a dossier as text, to be signed as a note. Raises NotAStatement for a value that it cannot hold.

    >>> dossier_text(Dossier("m" + 16 * "a", 12, "spectator", 64 * "0")).split("\n")[:4]
    ['warledger.org/dossier/v1', 'maaaaaaaaaaaaaaaa', '12', 'spectator']
    """
    return _text(DOSSIER, *dossier)


def read_text(read: Read) -> str:
    r"""Return a read as text, to be signed as a note. Raises NotAStatement for a value that it cannot hold.

    >>> read_text(Read("m" + 16 * "a", 12, "admin", "view:red", 1790000000000)).split("\n")[2:5]
    ['12', 'admin', 'view:red']
    """
    return _text(READ, *read)


def move_text(move: Move) -> str:
    """Return a move as text. Its actor signs the bytes of the text (UTF-8) with Ed25519; it is no note. Raises NotAStatement.

    >>> move = Move("m" + 16 * "a", "red", 41, 64 * "0", 1, 2, '{"tile":"c4","type":"attack"}')
    >>> print(move_text(move), end="")
    warledger.org/move/v1
    maaaaaaaaaaaaaaaa
    red
    41
    0000000000000000000000000000000000000000000000000000000000000000
    1/2
    {"tile":"c4","type":"attack"}
    """
    match, actor, seen, digest, place, total, action = move
    return _text(MOVE, match, actor, seen, digest, f"{place}/{total}", action)


def signing_key_text(player: str, key: str) -> str:
    """Return what a signing key (32 bytes in base64) signs when a player registers it. The signature shows that the player has the key.

    >>> print(signing_key_text("p" + 16 * "a", 43 * "A" + "="), end="")
    warledger.org/signing-key/v1
    paaaaaaaaaaaaaaaa
    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
    """
    return _text(SIGNING_KEY, player, key)


def parse_receipt(text: str) -> Receipt:
    """Return the receipt in a text. Raises NotAStatement.

    >>> receipt = Receipt("m" + 16 * "a", 12, 64 * "0", 1790000000000)
    >>> parse_receipt(receipt_text(receipt)) == receipt
    True
    """
    match, version, digest, at, held, more, seat, refused, refused_hash, reads, reads_hash = _values(RECEIPT, text)
    named = SideLog(seat, Running(int(refused), refused_hash), Running(int(reads), reads_hash)) if more else None
    return Receipt(match, int(version), digest, int(at), named, int(held or 0))


def parse_dossier(text: str) -> Dossier:
    """Return the statement about a dossier in a text. Raises NotAStatement.

    >>> dossier = Dossier("m" + 16 * "a", 12, "spectator", 64 * "0")
    >>> parse_dossier(dossier_text(dossier)).viewer
    'spectator'
    """
    match, version, viewer, hashed = _values(DOSSIER, text)
    return Dossier(match, int(version), viewer, hashed)


def parse_read(text: str) -> Read:
    r"""Return the read in a text. Raises NotAStatement.

    >>> read = Read("m" + 16 * "a", 12, "admin", "view:red", 1790000000000)
    >>> parse_read(read_text(read)).what
    'view:red'
    >>> parse_read("something else\n")
    Traceback (most recent call last):
        ...
    evidence.statements.NotAStatement: the text is not a warledger.org/read/v1
    """
    match, version, reader, what, at = _values(READ, text)
    return Read(match, int(version), reader, what, int(at))


def _lines(*values: str) -> str:
    """Return the pattern of lines, which has a group for each value."""
    return "".join([f"({value})\n" for value in values])


_HELD = "(?:held ([1-9][0-9]{0,2})\n)?"
_MORE = _lines(_WORD, _NUMBER, _HASH, _NUMBER, _HASH)
_PATTERNS = {
    kind: re.compile(f"{re.escape(kind)}\n{lines}")
    for kind, lines in (
        (RECEIPT, f"{_lines(_WORD, _NUMBER, _HASH, _NUMBER)}{_HELD}({_MORE})?"),
        (DOSSIER, _lines(_WORD, _NUMBER, _WORD, _HASH)),
        (READ, _lines(_WORD, _NUMBER, _WORD, _WHAT, _NUMBER)),
        (SIGNING_KEY, _lines(_WORD, _WORD)),
        (MOVE, _lines(_WORD, _WORD, _NUMBER, _HASH, _PLACE, "[^\n]+")),
    )
}


def _text(kind: str, *values: str | int) -> str:
    return _checked(kind, "".join([f"{kind}\n", *[f"{value}\n" for value in values]]))


def _checked(kind: str, text: str) -> str:
    """Return a text that is a statement of a kind. Raises NotAStatement."""
    if not _PATTERNS[kind].fullmatch(text):
        raise NotAStatement(f"{tuple(text.split(chr(10))[1:-1])} cannot stand in a {kind}")
    return text


def _values(kind: str, text: str) -> tuple[str, ...]:
    found = _PATTERNS[kind].fullmatch(text)
    if found is None:
        raise NotAStatement(f"the text is not a {kind}")
    return found.groups()
