"""Dictionaries as objects of the archive, so that an archive can be read by whoever has only that."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from events.archive.objects import Objects
from events.errors import ArchiveDamaged
from record.dictionaries import content

_kept: WeakKeyDictionary[Objects, set[str]] = WeakKeyDictionary()
"""What this process has seen in each archive, so that it asks once."""


def keep(objects: Objects, name: str) -> None:
    """Write a dictionary into the archive, unless it is there. Call this before the first object that needs it is written.

    Raises ArchiveUnavailable; ArchiveDamaged if the archive has another dictionary of that name; NoDictionary.
    """
    kept = _kept.setdefault(objects, set())
    if name not in kept:
        if not objects.create(_object(name), content(name)) and objects.read(_object(name)) != content(name):
            raise ArchiveDamaged(_object(name), "it is not the dictionary of that name")
        kept.add(name)


def read(objects: Objects, name: str) -> bytes | None:
    """Return a dictionary that the archive has, such as one that a newer program wrote, or None. Raises ArchiveUnavailable."""
    return objects.read(_object(name))


def _object(name: str) -> str:
    return f"dictionaries/{name}"
