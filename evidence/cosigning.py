"""Make and check the cosignatures of witnesses (c2sp.org/tlog-cosignature, Ed25519), and the requests for them (c2sp.org/tlog-witness)."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import NamedTuple

from evidence import checkpoints
from evidence.notes import COSIGNATURE, Malformed, Note, Signature, SigningKey, VerifierKey, write
from evidence.notes import parse as parse_note

LONGEST_REQUEST = 65_536  # bytes; ours have less than 5,000

_TIMESTAMP = 8  # bytes
_LENGTH = _TIMESTAMP + 64


class Request(NamedTuple):
    """A request for a cosignature: the size that the witness saw last, a proof of consistency from that size, and the signed checkpoint."""

    old: int
    path: tuple[bytes, ...]
    note: str


def cosign(key: SigningKey, text: str, seconds: int) -> Signature:
    """Return the cosignature of a checkpoint's text. `seconds`: the time, since 1970. The key is of the kind COSIGNATURE.

    >>> witness = SigningKey("witness.example", bytes(32), COSIGNATURE)
    >>> text = checkpoints.Checkpoint("warledger.example", 300, bytes(32)).text
    >>> len(cosign(witness, text, 1790000000).signature)
    72
    """
    signed = key.signature(_message(text, seconds))
    return signed._replace(signature=seconds.to_bytes(_TIMESTAMP) + signed.signature)


def cosigned_at(key: VerifierKey, text: str, signature: Signature) -> int | None:
    r"""Return when a witness cosigned a checkpoint's text, in seconds since 1970, or None if the key did not make this cosignature.

    >>> witness = SigningKey("witness.example", bytes(32), COSIGNATURE)
    >>> text = checkpoints.Checkpoint("warledger.example", 300, bytes(32)).text
    >>> signature = cosign(witness, text, 1790000000)
    >>> cosigned_at(witness.verifier, text, signature), cosigned_at(witness.verifier, "another text\n", signature)
    (1790000000, None)
    """
    if key.kind != COSIGNATURE or (signature.name, signature.key_id) != (key.name, key.id) or len(signature.signature) != _LENGTH:
        return None
    seconds = int.from_bytes(signature.signature[:_TIMESTAMP])
    return seconds if key.signed(_message(text, seconds), signature.signature[_TIMESTAMP:]) else None


def cosignatures(note: Note, keys: Iterable[VerifierKey]) -> tuple[Signature, ...]:
    """Return the valid cosignatures of a checkpoint by these keys, at most one for each key.

    >>> witness = SigningKey("witness.example", bytes(32), COSIGNATURE)
    >>> text = checkpoints.Checkpoint("warledger.example", 300, bytes(32)).text
    >>> note = Note(text, (cosign(witness, text, 1790000000),))
    >>> [signature.name for signature in cosignatures(note, [witness.verifier])], cosignatures(note, [])
    (['witness.example'], ())
    """
    found = {}
    for key in keys:
        for signature in note.signatures:
            if cosigned_at(key, note.text, signature) is not None:
                found[key.vkey] = signature
    return tuple(found.values())


def with_cosignatures(note: str, added: Iterable[Signature]) -> str:
    """Return a signed checkpoint with cosignatures added. Raises Malformed.

    >>> witness = SigningKey("witness.example", bytes(32), COSIGNATURE)
    >>> text = checkpoints.Checkpoint("warledger.example", 300, bytes(32)).text
    >>> note = with_cosignatures(SigningKey("warledger.example", bytes(32)).sign(text), [cosign(witness, text, 1790000000)])
    >>> [signature.name for signature in parse_note(note).signatures]
    ['warledger.example', 'witness.example']
    """
    found = parse_note(note)
    return write(Note(found.text, (*found.signatures, *added)))


def lines_of(signatures: Iterable[Signature]) -> str:
    r"""Return signatures as lines, as in the answer of a witness.

    >>> witness = SigningKey("witness.example", bytes(32), COSIGNATURE)
    >>> lines_of([cosign(witness, "text\n", 1790000000)])[:18]
    '— witness.example '
    """
    return "".join(f"— {name} {base64.b64encode(id + signature).decode()}\n" for name, id, signature in signatures)


def signatures_in(text: str, lines: str) -> tuple[Signature, ...]:
    r"""Return the signatures in a witness's answer for a checkpoint's text. Raises Malformed.

    >>> witness = SigningKey("witness.example", bytes(32), COSIGNATURE)
    >>> signature = cosign(witness, "text\n", 1790000000)
    >>> signatures_in("text\n", lines_of([signature])) == (signature,)
    True
    """
    return parse_note(f"{text}\n{lines}").signatures


def request_text(request: Request) -> str:
    r"""Return the body of a request.

    >>> request_text(Request(200, (bytes(32),), "(the signed checkpoint)")).split("\n")
    ['old 200', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', '', '(the signed checkpoint)']
    """
    return f"old {request.old}\n{''.join(map(checkpoints.hash_line, request.path))}\n{request.note}"


def parse_request(body: str) -> Request:
    """Return the request in a request body. Raises Malformed.

    >>> parse_request(request_text(Request(200, (), "(the signed checkpoint)")))
    Request(old=200, path=(), note='(the signed checkpoint)')
    >>> parse_request("new")
    Traceback (most recent call last):
        ...
    evidence.notes.Malformed: a request begins with the line `old <size>`, and has an empty line before the checkpoint
    """
    head, gap, note = body.partition("\n\n")
    first, *lines = head.split("\n")
    if not gap or not first.startswith("old "):
        raise Malformed("a request begins with the line `old <size>`, and has an empty line before the checkpoint")
    return Request(checkpoints.size(first.removeprefix("old ")), checkpoints.hashes_of(lines), note)


def _message(text: str, seconds: int) -> bytes:
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()
