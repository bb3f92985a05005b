"""Signed notes by a key of our own, which a client may be told to trust."""

from __future__ import annotations

import base64
from hashlib import sha256

from sdk.python.warledger_client import Key

FORGER = Key(bytes(32))  # a key of the server in the hands of whoever forges


def vkey_of(key: Key, name: str = "forger") -> str:
    public = b"\x01" + base64.b64decode(key.public)
    return f"{name}+{sha256(name.encode() + bytes([10]) + public).hexdigest()[:8]}+{base64.b64encode(public).decode()}"


def note_of(text: str, key: Key = FORGER) -> str:
    """Return a text as a note that a key has signed."""
    name, mark, _ = vkey_of(key).split("+", 2)
    signature = base64.b64encode(bytes.fromhex(mark) + base64.b64decode(key.sign(text.encode()))).decode()
    return f"{text}\n— {name} {signature}\n"
