"""Remove matches that have not started, with everything that belongs to them."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from events.store.keys import OfMatches
from events.store.library import script

_REMOVE = script("remove_unstarted")


class Removal(OfMatches):
    """Removes matches. The store checks their entries and its own clock, and never removes a match that has started."""

    def remove(self, match: str, head: int, indexes: Iterable[str], due: Iterable[str], open_ms: int, closed_ms: int) -> bool:
        """Remove a match at version `head` that has not started in time, also from these indexes and members of the due index.

        `open_ms`: how long a match without an expiry of its own may wait. `closed_ms`: how long a closed match stays. Return False if the
        match has moved on, or if it is too early by the clock of the store. Raises StoreUnavailable.
        """
        words: list[str | bytes | int] = [head, open_ms, closed_ms, orjson.dumps(sorted(indexes)), *sorted(due)]
        return bool(self._client.run(_REMOVE, [self._keys.stream(match)], words))
