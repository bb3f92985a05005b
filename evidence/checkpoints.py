"""Read and write checkpoints of a Merkle log (c2sp.org/tlog-checkpoint) and proofs of inclusion (c2sp.org/tlog-proof@v1).

A checkpoint is the text of a signed note. It has three lines: the origin of the log, the size of its tree, and the root in base64.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import NamedTuple

from evidence import tree
from evidence.notes import Malformed, Note
from evidence.notes import parse as parse_note

PROOF = "c2sp.org/tlog-proof@v1"

_SIZE = re.compile("0|[1-9][0-9]{0,15}")


class Checkpoint(NamedTuple):
    """The head of a log: its origin, its number of leaves, and its root (32 bytes)."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        r"""The text that is signed.

        >>> Checkpoint("warledger.example", 300, bytes(32)).text
        'warledger.example\n300\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n'
        """
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


class Proof(NamedTuple):
    """A proof that a log has the leaf with the index `leaf`.

    `path`: the hashes from the leaf's sibling up to the node below the root. `note`: the signed checkpoint.
    """

    leaf: int
    path: tuple[bytes, ...]
    note: str


def parse(text: str) -> Checkpoint:
    """Return the checkpoint in the text of a note. Extension lines are ignored. Raises Malformed.

    >>> parse(Checkpoint("warledger.example", 300, bytes(32)).text).size
    300
    >>> parse("no checkpoint")
    Traceback (most recent call last):
        ...
    evidence.notes.Malformed: a checkpoint has an origin, a size and a root, each on its own line
    """
    lines = text.split("\n")
    if len(lines) < 4 or lines[-1] or not all(lines[:-1]):
        raise Malformed("a checkpoint has an origin, a size and a root, each on its own line")
    return Checkpoint(lines[0], size(lines[1]), hash_of(lines[2]))


def of_note(note: str | bytes) -> tuple[Checkpoint, Note]:
    """Return the checkpoint in a signed note, and the note. The signatures are not checked. Raises Malformed.

    >>> from evidence.notes import SigningKey
    >>> note = SigningKey("warledger.example", bytes(32)).sign(Checkpoint("warledger.example", 300, bytes(32)).text)
    >>> checkpoint, signed = of_note(note)
    >>> checkpoint.size, [signature.name for signature in signed.signatures]
    (300, ['warledger.example'])
    """
    found = parse_note(note)
    return parse(found.text), found


def proof_text(proof: Proof) -> str:
    r"""Return a proof as text.

    >>> proof_text(Proof(2, (bytes(32),), "(the signed checkpoint)")).split("\n")
    ['c2sp.org/tlog-proof@v1', 'index 2', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', '', '(the signed checkpoint)']
    """
    return f"{PROOF}\nindex {proof.leaf}\n{''.join(map(hash_line, proof.path))}\n{proof.note}"


def parse_proof(text: str) -> Proof:
    """Return the proof in a text. Raises Malformed.

    >>> parse_proof(proof_text(Proof(2, (bytes(32),), "(the signed checkpoint)"))).leaf
    2
    """
    head, gap, note = text.partition("\n\n")
    lines = head.split("\n")
    if lines[1:2] and lines[1].startswith("extra "):
        del lines[1]
    if not gap or lines[0] != PROOF or not lines[1:] or not lines[1].startswith("index ") or len(lines) > 2 + tree.LONGEST:
        raise Malformed(f"the text is not a {PROOF}")
    return Proof(size(lines[1].removeprefix("index ")), tuple(map(hash_of, lines[2:])), note)


def includes(checkpoint: Checkpoint, proof: Proof, leaf: bytes) -> bool:
    """Return True if a proof shows that a leaf (its bytes) is in the log of a checkpoint.

    >>> checkpoint = Checkpoint("warledger.example", 1, tree.leaf_hash(b"a"))
    >>> includes(checkpoint, Proof(0, (), ""), b"a"), includes(checkpoint, Proof(0, (), ""), b"b")
    (True, False)
    """
    return tree.is_included(tree.leaf_hash(leaf), proof.leaf, checkpoint.size, proof.path, checkpoint.root)


def hash_line(found: bytes) -> str:
    r"""Return a hash as a line of a proof.

    >>> hash_line(bytes(32))
    'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n'
    """
    return f"{base64.b64encode(found).decode()}\n"


def hash_of(line: str) -> bytes:
    """Return the hash in a line. Raises Malformed.

    >>> hash_of("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=") == bytes(32)
    True
    >>> hash_of("AAAA")
    Traceback (most recent call last):
        ...
    evidence.notes.Malformed: 'AAAA' is not a hash of 32 bytes in base64
    """
    try:
        found = base64.b64decode(line, validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != tree.SIZE or base64.b64encode(found).decode() != line:
        raise Malformed(f"{line!r} is not a hash of 32 bytes in base64")
    return found


def hashes_of(lines: Sequence[str]) -> tuple[bytes, ...]:
    """Return the hashes in the lines of a proof. Raises Malformed."""
    if len(lines) > tree.LONGEST:
        raise Malformed(f"a proof has at most {tree.LONGEST} hashes")
    return tuple(map(hash_of, lines))


def size(text: str) -> int:
    """Return a size or an index in decimal digits. Raises Malformed.

    >>> size("300")
    300
    >>> size("0300")
    Traceback (most recent call last):
        ...
    evidence.notes.Malformed: '0300' is not the size of a log
    """
    if _SIZE.fullmatch(text) is None or int(text) > tree.LARGEST:
        raise Malformed(f"{text!r} is not the size of a log")
    return int(text)
