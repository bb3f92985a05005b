"""Store the bulk files of a server's log: which matches are in each part, and how far they have come. The records stay where they are.

The keys begin with those of the server's log (events/store/server_logs.py):

- `bulk`: a hash with the state of the collector, and a field for each file that is complete;
- `b:<game>/<month>`: the rows of the parts of a file; part 41 has the id `41-0`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from events.store.keys import OfMatches
from events.store.library import script
from events.store.server_logs import start_of

_KEEP = script("keep_bulk")


class NewPart(NamedTuple):
    """A complete part: the name of its file, its number in it, from 1, and its row."""

    file: str
    number: int
    row: bytes


class Bulks(OfMatches):
    """The bulk files of each server's log. Every method raises StoreUnavailable."""

    def state(self, origin: str) -> dict[str, bytes]:
        """Return the fields of the state."""
        return {name.decode(): value for name, value in self._client.ask("HGETALL", f"{start_of(origin)}bulk").items()}

    def field(self, origin: str, name: str) -> bytes:
        """Return a field of the state, or b"" if there is none."""
        return self._client.ask("HGET", f"{start_of(origin)}bulk", name) or b""

    def keep(self, origin: str, revision: int, fields: Mapping[str, bytes], parts: Sequence[NewPart]) -> bool:
        """Keep these fields of the state and these parts. Return False, and change nothing, if the state has another revision."""
        start = start_of(origin)
        keys = [f"{start}bulk", *[f"{start}b:{part.file}" for part in parts]]
        pairs = [word for pair in fields.items() for word in pair]
        rows = [word for part in parts for word in (part.number, part.row)]
        return bool(self._client.run(_KEEP, keys, [revision, len(fields), *pairs, *rows]))

    def parts(self, origin: str, file: str, first: int, count: int) -> list[bytes]:
        """Return the rows of the parts of a file from number `first` on, at most `count`."""
        found = self._client.ask("XRANGE", f"{start_of(origin)}b:{file}", f"{first}-0", "+", "COUNT", count)
        return [fields[b"p"] for _, fields in found]
