"""Where the archive keeps its objects: in a folder, in object storage, or in memory for tests.

An object has a name such as `matches/ab/mabcdefghijklmnop/812` and bytes that never change. It is created only if the name is free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Protocol

NAME = re.compile(r"(?=.{1,200}\Z)[a-z0-9][a-z0-9_.-]*(?:/[a-z0-9][a-z0-9_.-]*)*")
REMOTE = ("s3", "gs", "az")  # the schemes of object storage
MEMORY = "memory:"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


class WrongArchive(ValueError):
    """There cannot be an archive at such a place. The text says why, in a sentence."""


class Objects(Protocol):
    """A place of objects. The threads of a process share it. Every method raises ArchiveUnavailable if the place does not answer."""

    def create(self, name: str, content: bytes) -> bool:
        """Create an object, and return True. Return False if there is one of that name; it stays as it is. It is durable on return.

        False may also mean that the first try of this very call created it, and that its answer was lost. Whoever must know reads it.
        """
        ...

    def read(self, name: str) -> bytes | None:
        """Return the content of an object, or None if there is no such object."""
        ...

    def names(self, prefix: str = "", after: str = "") -> Iterator[str]:
        """Yield the names that begin with `prefix` and are greater than `after`, in the order of their bytes."""
        ...

    def remove(self, name: str) -> None:
        """Remove an object, if there is one. Only tools do this."""
        ...


def open_objects(place: str) -> Objects:
    """Return the objects at a place: a folder, `s3://bucket/prefix`, `gs://…`, `az://…`, or `memory:`. Nothing is read or written yet.

    Raises WrongArchive.
    """
    scheme = scheme_of(place)
    if scheme in REMOTE:
        from events.archive.remote import Remote  # late: remote.py says why

        return Remote(place)
    from events.archive.folder import Folder

    return Memory() if scheme else Folder(Path(place))


def scheme_of(place: str) -> str:
    """Return the scheme of a place, or "" if it is a folder. Raises WrongArchive if it has another scheme, or needs another package."""
    found = _SCHEME.match(place)
    scheme = found[1] if found else ""
    if not place.strip():
        raise WrongArchive("The place of the archive is empty. Name a folder, or an address such as s3://bucket/prefix.")
    if scheme and scheme not in REMOTE and place != MEMORY:
        raise WrongArchive(f"{place!r} is no place for an archive. Name a folder, or an address that begins with s3://, gs:// or az://.")
    if scheme in REMOTE and not re.match(r"[a-z0-9]+://[^/?#]", place):
        raise WrongArchive(f"{place!r} names no bucket. Write {scheme}://bucket/prefix.")
    if scheme in REMOTE and find_spec("obstore") is None:
        raise WrongArchive("An archive in object storage needs the package obstore: `pip install warledger[archive]`.")
    return scheme


def checked(name: str) -> str:
    """Return a name if an object may have it. Raises ValueError: a name is made by the program, so a wrong one is a mistake of ours."""
    if NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} cannot be the name of an object")
    return name


class Memory:
    """Objects in the memory of this process, for tests."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[str, bytes] = {}

    def create(self, name: str, content: bytes) -> bool:
        """Create an object (Objects)."""
        with self._lock:
            there = checked(name) in self._kept
            self._kept.setdefault(name, bytes(content))
        return not there

    def read(self, name: str) -> bytes | None:
        """Return the content of an object (Objects)."""
        return self._kept.get(checked(name))

    def names(self, prefix: str = "", after: str = "") -> Iterator[str]:
        """Yield names (Objects)."""
        with self._lock:
            found = sorted(name for name in self._kept if name.startswith(prefix) and name > after)
        yield from found

    def remove(self, name: str) -> None:
        """Remove an object (Objects)."""
        with self._lock:
            self._kept.pop(checked(name), None)
