"""Bind an archive to one store: two services that write to one place would take each other's matches for their own.

The object `store/0001` has the id of the store that wrote first, which follows from the secret that the store was made with. A restored or
moved store is the same one. A new store that has learnt from the archive what another one has lost takes it by the next number, on demand:
no object is ever replaced.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from events.archive.objects import Objects

if TYPE_CHECKING:
    from events.platform import Platform

PREFIX = "store/"


def id_of(platform: Platform) -> bytes:
    """Return the id of the store of a platform. It reveals nothing of its secret. Raises WrongStore, StoreUnavailable."""
    return sha256(b"archive/" + platform.store.secret).hexdigest()[:32].encode()


def owner(objects: Objects) -> bytes:
    """Return the id of the store to which an archive belongs, or b"" if it belongs to none. Raises ArchiveUnavailable."""
    last = _last(objects)
    return objects.read(last) or b"" if last else b""


def claim(objects: Objects, id: bytes) -> bytes:
    """Let an archive that belongs to no store belong to one. Return to which it belongs then. Raises ArchiveUnavailable."""
    found = owner(objects)
    if not found:
        objects.create(f"{PREFIX}0001", id)
        found = owner(objects)
    return found


def adopt(objects: Objects, id: bytes) -> None:
    """Let an archive belong to a store from now on, whoever had it. Raises ArchiveUnavailable."""
    while owner(objects) != id:
        objects.create(f"{PREFIX}{int(_last(objects).removeprefix(PREFIX) or 0) + 1:04}", id)


def _last(objects: Objects) -> str:
    """Return the name of the object that counts, or ""."""
    return max(objects.names(PREFIX), default="")
