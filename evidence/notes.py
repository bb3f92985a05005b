"""Sign texts and check signatures: signed notes (c2sp.org/signed-note) and their Ed25519 keys.

A note is a text that ends with a newline, then an empty line, then one line for each signature:

    — <name of the key> <base64 of the id of the key, 4 bytes, and the signature>
"""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

import nacl.signing
from nacl.bindings import crypto_sign, crypto_sign_open
from nacl.exceptions import BadSignatureError

ED25519 = 1  # signs the text of a note
COSIGNATURE = 4  # signs a checkpoint and a time (c2sp.org/tlog-cosignature)

_MARK = "— "
_SIGNATURE = 64  # bytes
_BIGGEST = 1_000_000  # bytes of a note
_MOST = 100  # signatures of a note
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f]")
_NAME = re.compile(r"[^\s+\x00-\x1f\x7f-\x9f]{1,255}")
_VKEY = re.compile(r"([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]{44,60})")


class Malformed(ValueError):
    """A text is not a valid signed note, or not a valid verifier key."""


class Unverified(ValueError):
    """No known key signed the note, or a signature under the name of a known key is wrong."""


class Signature(NamedTuple):
    """A signature line of a note: the name and the id (4 bytes) of the key, and the bytes of the signature."""

    name: str
    key_id: bytes
    signature: bytes


class Note(NamedTuple):
    """A text, with its final newline, and its signatures. They are not checked yet."""

    text: str
    signatures: tuple[Signature, ...]


class VerifierKey(NamedTuple):
    """The public half of a key: its name, the kind of its signatures (ED25519 or COSIGNATURE), and 32 bytes."""

    name: str
    kind: int
    public: bytes

    @property
    def id(self) -> bytes:
        """The first 4 bytes of a SHA-256 over name, kind and public key.

        >>> key = SigningKey("warledger.example/1", bytes(32))
        >>> key.verifier.id.hex()
        '406b982c'
        """
        return sha256(b"%b\n%c%b" % (self.name.encode(), self.kind, self.public)).digest()[:4]

    @property
    def vkey(self) -> str:
        """The key in one line, the form for configuration and documents.

        >>> key = SigningKey("warledger.example/1", bytes(32))
        >>> key.verifier.vkey
        'warledger.example/1+406b982c+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop'
        """
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(bytes([self.kind]) + self.public).decode()}"

    def signed(self, message: bytes, signature: bytes) -> bool:
        """Return True if this key made the signature (64 bytes) of this message.

        >>> key = SigningKey("warledger.example/1", bytes(32))
        >>> signed = key.signature(b"a text")
        >>> key.verifier.signed(b"a text", signed.signature), key.verifier.signed(b"another", signed.signature)
        (True, False)
        """
        return made_by(self.public, message, signature)


class SigningKey:
    """The private half of a key, made from 32 secret bytes. Raises Malformed if a key cannot have this name."""

    __slots__ = ("verifier", "_id", "_private", "_secret")

    def __init__(self, name: str, secret: bytes, kind: int = ED25519) -> None:
        if not valid_name(name):
            raise Malformed(f"{name!r} cannot be the name of a key: it is empty, too long, or has a space, a plus or a control character")
        self._private = nacl.signing.SigningKey(secret)
        self.verifier = VerifierKey(name, kind, bytes(self._private.verify_key))
        self._secret = secret + self.verifier.public  # the form in which libsodium takes it
        self._id = self.verifier.id

    def signature(self, message: bytes) -> Signature:
        """Return the signature of a message. For ED25519, the message is the text of a note.

        >>> key = SigningKey("warledger.example/1", bytes(32))
        >>> signed = key.signature(b"a text")
        >>> signed.name, signed.key_id == key.verifier.id, len(signed.signature)
        ('warledger.example/1', True, 64)
        """
        return Signature(self.verifier.name, self._id, crypto_sign(message, self._secret)[:_SIGNATURE])

    def derived(self, about: bytes) -> bytes:
        """Return 32 bytes derived from the secret and `about` (HMAC-SHA-256). They reveal nothing about the secret."""
        return hmac.digest(bytes(self._private), b"derived\n" + about, "sha256")

    def sign(self, text: str) -> str:
        r"""Return the signed note of a text that ends with a newline. Raises Malformed if no note can have the text.

        >>> key = SigningKey("warledger.example/1", bytes(32))
        >>> print(key.sign("a text\n"), end="")
        a text
        <BLANKLINE>
        — warledger.example/1 QGuYLLeaNRZwOJW3VDlfJuM2/xy/ttfJG73/NhHNei+6aYwfJdGH7HsxsrhR4HNhO6gOq8AFQRZK0DdmDSPgSRZTEwA=
        """
        _check(text)
        return f"{text}\n{_line(self.verifier.name, self._id + crypto_sign(text.encode(), self._secret)[:_SIGNATURE])}"


def made_by(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return True if the owner of a public Ed25519 key (32 bytes) made the signature (64 bytes) of this message.

    >>> made_by(bytes(32), b"a text", bytes(64))
    False
    """
    try:
        crypto_sign_open(signature + message, public)
    except (BadSignatureError, ValueError):
        return False
    return len(signature) == _SIGNATURE


def valid_name(name: str) -> bool:
    """Return True if a key can have this name.

    >>> valid_name("warledger.example/1"), valid_name("two words"), valid_name("a+b")
    (True, False, False)
    """
    return _NAME.fullmatch(name) is not None


def write(note: Note) -> str:
    r"""Return a note as text. Raises Malformed if it has no signature, no newline at the end of its text, or a control character.

    >>> write(Note("a text\n", (Signature("me", bytes(4), bytes(64)),)))[:20]
    'a text\n\n— me AAAAAAA'
    >>> write(Note("a text", (Signature("me", bytes(4), bytes(64)),)))
    Traceback (most recent call last):
        ...
    evidence.notes.Malformed: the text of a note ends with a newline and has no control characters except newlines
    """
    if not note.signatures:
        raise Malformed("a note has at least one signature")
    _check(note.text)
    return f"{note.text}\n{''.join(_line(name, key + signature) for name, key, signature in note.signatures)}"


def parse(note: str | bytes) -> Note:
    r"""Return the text and the signatures of a note. The signatures are not checked. Raises Malformed.

    >>> key = SigningKey("warledger.example/1", bytes(32))
    >>> note = parse(key.sign("a text\n"))
    >>> note.text, [signature.name for signature in note.signatures]
    ('a text\n', ['warledger.example/1'])
    """
    try:
        raw = note.encode() if isinstance(note, str) else note
        whole = raw.decode()
    except UnicodeError:
        raise Malformed("a note is encoded in UTF-8") from None
    if len(raw) > _BIGGEST:
        raise Malformed(f"a note has at most {_BIGGEST} bytes")
    text, gap, under = whole.rpartition("\n\n")
    if not gap or not under.endswith("\n") or _CONTROL.search(whole):
        raise Malformed("a note is a text, an empty line and signature lines, without control characters except newlines")
    lines = under[:-1].split("\n")
    if len(lines) > _MOST:
        raise Malformed(f"a note has at most {_MOST} signatures")
    return Note(text + "\n", tuple(_signature(line) for line in lines))


def opened(note: str | bytes | Note, keys: Iterable[VerifierKey]) -> Note:
    r"""Check a note. Return it with the signatures by these keys; signatures by other keys are ignored.

    Raises Malformed, and Unverified if the signature of a known key is wrong or no known key signed the note.

    >>> key = SigningKey("warledger.example/1", bytes(32))
    >>> opened(key.sign("a text\n"), [key.verifier]).text
    'a text\n'
    >>> opened(key.sign("a text\n"), [SigningKey("somebody", bytes(31) + b"x").verifier])
    Traceback (most recent call last):
        ...
    evidence.notes.Unverified: no known key signed the note
    """
    found = note if isinstance(note, Note) else parse(note)
    known = {(key.name, key.id): key for key in keys if key.kind == ED25519}
    good = []
    for signature in found.signatures:
        key = known.get((signature.name, signature.key_id))
        if key is None:
            continue
        if not key.signed(found.text.encode(), signature.signature):
            raise Unverified(f"the signature by {key.name} with the key {key.id.hex()} does not match the text")
        good.append(signature)
    if not good:
        raise Unverified("no known key signed the note")
    return Note(found.text, tuple(good))


def parse_vkey(vkey: str) -> VerifierKey:
    """Return the verifier key in a line of text. Raises Malformed.

    >>> key = SigningKey("warledger.example/1", bytes(32))
    >>> parse_vkey(key.verifier.vkey) == key.verifier
    True
    >>> parse_vkey("warledger.example/1+00000000+AQ==")
    Traceback (most recent call last):
        ...
    evidence.notes.Malformed: 'warledger.example/1+00000000+AQ==' is not an Ed25519 verifier key
    """
    found = _VKEY.fullmatch(vkey)
    key = _decoded(found[3]) if found is not None else b""
    if found is None or not valid_name(found[1]) or len(key) != 33 or key[0] not in (ED25519, COSIGNATURE):
        raise Malformed(f"{vkey!r} is not an Ed25519 verifier key")
    parsed = VerifierKey(found[1], key[0], key[1:])
    if parsed.id.hex() != found[2]:
        raise Malformed(f"the id in {vkey!r} does not match its key")
    return parsed


def _check(text: str) -> None:
    """Raise Malformed if no note can have the text."""
    if not text.endswith("\n") or _CONTROL.search(text):
        raise Malformed("the text of a note ends with a newline and has no control characters except newlines")


def _line(name: str, signed: bytes) -> str:
    """Return a signature line. `signed`: the id of the key, and the signature."""
    return f"{_MARK}{name} {binascii.b2a_base64(signed, newline=False).decode()}\n"


def _signature(line: str) -> Signature:
    mark, name, encoded = line[: len(_MARK)], *line[len(_MARK) :].partition(" ")[::2]
    decoded = _decoded(encoded)
    if mark != _MARK or not valid_name(name) or len(decoded) < 5:
        raise Malformed(f"{line!r} is not a signature line")
    return Signature(name, decoded[:4], decoded[4:])


def _decoded(text: str) -> bytes:
    """Return the bytes of a base64 text, or no bytes if it is not canonical base64."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return decoded if base64.b64encode(decoded).decode() == text else b""
