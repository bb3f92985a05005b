"""The removal of matches that have not started, with everything that belongs to them."""

from __future__ import annotations

from collections.abc import Iterable

from events.store.keys import OfMatches
from events.store.library import script

_REMOVE = script("remove_unstarted")


class Removal(OfMatches):
    """Removes matches. The store looks at their entries and at its own clock, and removes none that has started."""

    def remove(self, match: str, head: int, indexes: Iterable[str], due: Iterable[str], open_ms: int, closed_ms: int) -> bool:
        """Remove a match at version `head` that has not started in time, from these indexes and members of what is due, and say so.

        `open_ms`: how long a match may wait that names no end of its own, `closed_ms`: how long a closed one stays. Return False if the
        match has moved on or its time has not come by the clock of the store. Raises StoreUnavailable.
        """
        keys = self._keys.of(match)
        places = [keys.indexes + name for name in sorted(indexes)]
        own = [*keys[:7], keys.refusals, keys.reads]
        return bool(self._client.run(_REMOVE, [*own, *places], [head, open_ms, closed_ms, *sorted(due)]))
