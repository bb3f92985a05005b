"""What everything here that reads logs has in common: signed checkpoints, and why a log cannot be read. It needs no network."""

from __future__ import annotations

from typing import NamedTuple

from evidence import checkpoints, witness
from evidence.checkpoints import Checkpoint
from evidence.notes import ED25519, Malformed, VerifierKey


class Unable(Exception):
    """A log cannot be read or checked. The text says why."""


class Missing(Unable):
    """The server has nothing at an address."""


class Signed(NamedTuple):
    """A checkpoint, and the note that a key of its log has signed."""

    checkpoint: Checkpoint
    note: str


def signed(note: str, keys: list[VerifierKey], who: str) -> Signed:
    """Return the checkpoint in a note after checking its signature. `who`: shows it. Raises Unable."""
    try:
        found, parsed = checkpoints.of_note(note)
    except Malformed as reason:
        raise Unable(f"{who} shows no checkpoint: {reason}.") from None
    if not witness.is_signed(parsed, [key for key in keys if key.kind == ED25519 and key.name == found.origin]):
        raise Unable(f"The checkpoint of {found.origin} is not signed by a key of that log.")
    return Signed(found, note)
