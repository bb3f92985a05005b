"""Objects in two places: what is created here is in a continuous backup, too, before anybody relies on it (ADR 123)."""

from __future__ import annotations

from collections.abc import Iterator

from events.archive.objects import Objects, open_objects

ARCHIVE = "archive/"  # what the names of an archive's objects begin with in a backup


class Below:
    """The objects whose names begin with a prefix, by the rest of their names (Objects)."""

    def __init__(self, objects: Objects, prefix: str) -> None:
        self._objects = objects
        self._prefix = prefix

    def create(self, name: str, content: bytes) -> bool:
        """Create an object (Objects)."""
        return self._objects.create(self._prefix + name, content)

    def read(self, name: str) -> bytes | None:
        """Return the content of an object (Objects)."""
        return self._objects.read(self._prefix + name)

    def names(self, prefix: str = "", after: str = "") -> Iterator[str]:
        """Yield names (Objects)."""
        for name in self._objects.names(self._prefix + prefix, self._prefix + after if after else ""):
            yield name.removeprefix(self._prefix)

    def remove(self, name: str) -> None:
        """Remove an object (Objects)."""
        self._objects.remove(self._prefix + name)


class Mirrored:
    """Objects that are created in `copy` as well, before it is said that they are there (Objects). They are read here alone."""

    def __init__(self, objects: Objects, copy: Objects) -> None:
        self._objects = objects
        self._copy = copy
        self.read = objects.read
        self.names = objects.names
        self.remove = objects.remove

    def create(self, name: str, content: bytes) -> bool:
        """Create an object (Objects). If there is one of that name here, that one is copied."""
        created = self._objects.create(name, content)
        if not created:
            content = self._objects.read(name) or content
        self._copy.create(name, content)
        return created


def open_archive(place: str, backup: str) -> Objects:
    """Return the objects of an archive. `backup`: the place of the continuous backup if that has a copy of them, or "".

    Raises WrongArchive.
    """
    objects = open_objects(place)
    return Mirrored(objects, Below(open_objects(backup), ARCHIVE)) if backup else objects


def copy_missing(objects: Objects, copy: Objects) -> int:
    """Copy every object that is missing in another place. Return how many. Raises ArchiveUnavailable."""
    copied, there = 0, copy.names()
    next_there = next(there, None)
    for name in objects.names():
        while next_there is not None and next_there < name:
            next_there = next(there, None)
        if next_there != name and (content := objects.read(name)) is not None:
            copied += copy.create(name, content)
    return copied
