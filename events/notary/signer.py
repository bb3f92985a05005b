"""Keep the server's signing keys, and sign with them. They are in a folder outside the store, which all its processes share.

`signing.json` has the name of the server and the newest private key. Only its owner can read it. `keys.json` has every public key, past and
present. A new key is written to `keys.json` first and to `signing.json` second, so no unpublished key ever signs anything.
"""

from __future__ import annotations

import fcntl
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import structlog

from events.keeping import durable
from events.timing.clock import wall_time
from evidence.notes import SigningKey, VerifierKey, parse_vkey, valid_name
from evidence.statements import KINDS, Receipt, SideLog, receipt_text

PRIVATE, PUBLIC = "signing.json", "keys.json"
SECONDS = 1.0  # between two checks for a newer key

log = structlog.get_logger("events")


class KeysUnfit(Exception):
    """There are no usable keys. The text says why and what to do, in sentences."""


class PublishedKey(NamedTuple):
    """A public key, and the times (ms since 1970) between which it was the newest. `until` is None for the current key."""

    key: VerifierKey
    since: int
    until: int | None

    def as_json(self) -> dict[str, Any]:
        """Return the key in its published form."""
        return {"id": self.key.id.hex(), "vkey": self.key.vkey, "from": self.since, "until": self.until}


class Keyring(NamedTuple):
    """The signing key, and every key that ever signed, oldest first."""

    signing: SigningKey
    keys: tuple[PublishedKey, ...]


class Signer:
    """Signs for the server. The threads of a process share it. The first use reads the keys, or makes them.

    If another process rotates the keys, this is noticed within `SECONDS`.
    """

    def __init__(self, folder: Path, name: str = "", held: int = 0) -> None:
        """`held`: how many replicas have whatever gets a receipt."""
        self._folder = folder
        self._name = name
        self._held = held
        self._lock = threading.Lock()
        self._keyring: Keyring | None = None
        self._state: tuple[int, ...] = ()
        self._looked = 0.0

    def load(self) -> Keyring:
        """Return the keys. Make them if there are none. Raises KeysUnfit the first time; later failures keep the loaded keys."""
        keyring = self._keyring
        if keyring is not None and time.monotonic() < self._looked + SECONDS:
            return keyring
        with self._lock:
            if self._keyring is None or time.monotonic() >= self._looked + SECONDS:
                self._look()
        assert self._keyring is not None
        return self._keyring

    @property
    def name(self) -> str:
        """The name of the server: the name of its newest key. Raises KeysUnfit."""
        return self.load().signing.verifier.name

    @property
    def published(self) -> tuple[PublishedKey, ...]:
        """Every key that ever signed, oldest first. Raises KeysUnfit."""
        return self.load().keys

    def vkeys(self) -> list[str]:
        """Return every key that ever signed as a line of text, oldest first. Raises KeysUnfit."""
        return [published.key.vkey for published in self.published]

    def sign(self, text: str) -> str:
        """Return the signed note of a text. Raises Malformed if no note can have the text, and KeysUnfit."""
        return self.load().signing.sign(text)

    def signature(self, message: bytes) -> bytes:
        """Return the signature of a message that cannot pass for the text of a note, which ends with a line end. Raises KeysUnfit."""
        assert not message.endswith(b"\n")
        return self.load().signing.signature(message).signature

    @property
    def public(self) -> bytes:
        """The public half of the newest key. Raises KeysUnfit."""
        return self.load().signing.verifier.public

    def derived(self, *about: str) -> bytes:
        """Return 32 bytes derived from these words and the newest key. Nobody can know them without the key. Raises KeysUnfit."""
        return self.load().signing.derived(json.dumps(about).encode())

    def receipt(self, match: str, version: int, digest: str, at: int, sidelog: SideLog | None = None) -> str:
        """Return the receipt of an entry: a signed note of the digest of a match at a version. Raises KeysUnfit.

        `sidelog`: what the side log had when the entry was written, in the receipt of the seat that acted.
        """
        return self.sign(receipt_text(Receipt(match, version, digest, at, sidelog, self._held)))

    def _look(self) -> None:
        """Read the keys if they have changed."""
        state = _state(self._folder)
        try:
            if self._keyring is None or (state and state != self._state):
                self._keyring = opened(self._folder, self._name)
        except KeysUnfit as reason:
            if self._keyring is None:
                raise
            log.error("keys_unfit", reason=str(reason))
        self._state, self._looked = state, time.monotonic()


def opened(folder: Path, name: str = "") -> Keyring:
    """Return the keys of a folder. Make them if there are none, with this name or one of 12 random digits. Raises KeysUnfit.

    Several processes may do so at once; all get the same keys. A `name` other than the name of the keys is refused.
    """
    try:
        found = _read(folder)
        if found is None or not _is_whole(found):
            with _locked(folder):
                found = _read(folder)
                if found is None:
                    found = _add_key(folder, name)
                elif not _is_whole(found):
                    found = _mended(folder, found)
    except OSError as reason:
        raise KeysUnfit(f"The keys in {folder} cannot be read or made ({reason.strerror}).") from None
    known = found.signing.verifier.name
    if name and name != known:
        raise KeysUnfit(
            f"The keys in {folder} belong to {known}, not to {name}. `./run keys rotate --name {name}` makes a key with that name."
        )
    return found


def rotate(folder: Path, name: str = "") -> Keyring:
    """Make a new key, delete the private half of the old one, and return the keys. Raises KeysUnfit.

    `name`: another name for the server. By default the new key has the old name.
    """
    try:
        with _locked(folder):
            found = _read(folder)
            if found is not None and not _is_whole(found):
                _mended(folder, found)
            return _add_key(folder, name)
    except OSError as reason:
        raise KeysUnfit(f"The keys in {folder} cannot be changed ({reason.strerror}).") from None


def read(folder: Path) -> Keyring | None:
    """Return the keys of a folder, or None without a signing key. Changes nothing. Raises KeysUnfit."""
    try:
        return _read(folder)
    except OSError as reason:
        raise KeysUnfit(f"The keys in {folder} cannot be read ({reason.strerror}).") from None


def _read(folder: Path) -> Keyring | None:
    """Return the keys in the files as they are, or None. Raises KeysUnfit, OSError."""
    private = _json(folder / PRIVATE)  # first, so that the public keys are not older
    if private is None:
        return None
    try:
        signing = SigningKey(private["name"], bytes.fromhex(private["secret"]))
    except (KeyError, TypeError, ValueError) as reason:
        raise _damaged(folder / PRIVATE) from reason
    return Keyring(signing, _published(folder))


def _published(folder: Path) -> tuple[PublishedKey, ...]:
    """Return every public key. Raises KeysUnfit, OSError."""
    stored = _json(folder / PUBLIC)
    if stored is None:
        return ()
    try:
        return tuple(PublishedKey(parse_vkey(one["vkey"]), int(one["from"]), one["until"]) for one in stored["keys"])
    except (KeyError, TypeError, ValueError) as reason:
        raise _damaged(folder / PUBLIC) from reason


def _is_whole(found: Keyring) -> bool:
    """Return True if the signing key is published as the newest key, and is the only one without an end."""
    return [one.key for one in found.keys if one.until is None] == [found.signing.verifier]


def _mended(folder: Path, found: Keyring) -> Keyring:
    """Repair the public keys after an interrupted rotation, or if their file is missing. Return all keys. The signing key is the newest."""
    now, signing = wall_time(), found.signing.verifier
    known = [one for one in found.keys if one.key == signing] or [PublishedKey(signing, now, None)]
    others = [one._replace(until=now if one.until is None else one.until) for one in found.keys if one.key != signing]
    keys = (*others, known[0]._replace(until=None))
    _write_public(folder, signing.name, keys)
    return Keyring(found.signing, keys)


def _add_key(folder: Path, name: str) -> Keyring:
    """Make a new signing key. Return all keys. Raises KeysUnfit, OSError."""
    before, now = _published(folder), wall_time()
    name = name or (before[-1].key.name if before else f"warledger-{secrets.token_hex(6)}")
    if not valid_name(name) or name in KINDS:
        raise KeysUnfit(f"{name!r} cannot be the name of a server. Use a domain of yours, or another word without spaces and `+`.")
    secret = secrets.token_bytes(32)
    signing = SigningKey(name, secret)
    ended = tuple(one._replace(until=now if one.until is None else one.until) for one in before)
    keys = (*ended, PublishedKey(signing.verifier, now, None))
    _write_public(folder, name, keys)
    _write(folder / PRIVATE, {"name": name, "secret": secret.hex()}, 0o600)
    return Keyring(signing, keys)


def _write_public(folder: Path, name: str, keys: tuple[PublishedKey, ...]) -> None:
    _write(folder / PUBLIC, {"name": name, "keys": [one.as_json() for one in keys]}, 0o644)


def _json(file: Path) -> Any:
    """Return the content of a JSON file, or None if there is no file. Raises KeysUnfit, OSError."""
    try:
        return json.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError:
        raise _damaged(file) from None


def _damaged(file: Path) -> KeysUnfit:
    return KeysUnfit(f"{file} is damaged. Restore it from a copy. Without it, the next start makes a new key and keeps the public ones.")


def _write(file: Path, content: dict[str, Any], mode: int) -> None:
    durable.write(file, json.dumps(content, indent=1).encode(), mode)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the keys against changes by other processes until the end of the block. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / ".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _state(folder: Path) -> tuple[int, ...]:
    """Return what identifies the current file of the private key; () if there is no file."""
    try:
        found = (folder / PRIVATE).stat()
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size
