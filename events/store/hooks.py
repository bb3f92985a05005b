"""What hooks have to send: an index and a cursor in each partition. The append script adds to them (append.lua, `add_hook`).

`{p3}:hooked` has the hooks of each player who has some. `{p3}:hooks` is a sorted set with members `match|player/hook`, scored by the moment
when there is something to send, by the clock of the store. `{p3}:cursors` has for each member the version after which it begins, since when
it fails (ms since 1970, or 0), and how often it was tried. A member is there only while there is something to send.

It is an index of its own: thousands of members of a receiver that is down would stand in the way of all other work that is overdue.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from events.store.heads import listen
from events.store.keys import OfMatches
from events.store.library import script

_CLAIM = script("claim_hooks")
_SETTLE = script("settle_hook")
_CALL = script("call_hook")
_HOOKED = script("hooked")
_MEND = script("mend_hooks")


class Cursor(NamedTuple):
    """How far a hook has sent the events of a match: all up to `version`. The next one fails `since` a moment, or 0, after `tries`."""

    version: int
    since: int = 0
    tries: int = 0

    def text(self) -> str:
        """Return the cursor in stored form."""
        return f"{self.version} {self.since} {self.tries}"


class Unsent(NamedTuple):
    """What a hook of a player has to send for a match. `message`: the one message that was asked for again, or ""."""

    match: str
    player: str
    hook: str
    message: str
    cursor: Cursor

    @property
    def target(self) -> str:
        """The player, the hook and perhaps a message, as the index names them."""
        return f"{self.player}/{self.hook}" + (f"/{self.message}" if self.message else "")


class HookIndex(OfMatches):
    """The index over all partitions. Every method raises StoreUnavailable."""

    def claim(self, lease_ms: int, most: int, longest_ms: int) -> tuple[list[Unsent], int | None]:
        """Take what hooks have to send, the earliest first, at most `most` of each partition. During the lease nobody else gets it.

        What is due only after `longest_ms` was put there by a wrong clock, and is taken, too. Return also in how many ms something is due.
        """
        found: list[Unsent] = []
        moments = []
        for taken, following in self._client.run_all(
            _CLAIM, [([f"{tag}:hooks"], [lease_ms, most, longest_ms]) for tag in self._keys.tags()]
        ):
            found += [_unsent(item.decode(), cursor.decode()) for item, cursor in zip(taken[::2], taken[1::2], strict=True)]
            moments += [following] if following >= 0 else []
        return found, min(moments, default=None)

    def put_off(self, unsent: Unsent, cursor: Cursor, delay_ms: int) -> bool:
        """Hand in what was taken, with its new cursor. It is due again later. Return False if another worker has handed it in."""
        return self._settle(unsent, cursor.text(), delay_ms)

    def finish(self, unsent: Unsent, version: int | None) -> bool:
        """Hand in what was taken: all up to `version` is sent, or nothing is ever to be sent (None). What was appended since is due now.

        Return False if another worker has handed it in.
        """
        return self._settle(unsent, "" if version is None else str(version), 0)

    def call(self, where: str, target: str) -> None:
        """Let a hook send one message, once more if a worker has it now. `where`: the match, or what else names the partition."""
        self._client.run(_CALL, [self._keys.stream(where)], [target])

    def tell(self, player: str, changes: int, hooks: str, anew: bool = False) -> None:
        """Tell every partition the hooks of a player after so many changes: ` id` or ` id:match` for each, ` *id` for an organiser's.

        A partition that knows of more changes keeps what it knows, unless it is to be told `anew`.
        """
        for tag in self._keys.tags():
            self._client.run(_HOOKED, [f"{tag}:hooked"], [player, changes, hooks, "anew" if anew else ""])

    def told(self) -> set[str]:
        """Return each player of whom a partition knows hooks."""
        return {player.decode() for tag in self._keys.tags() for player in self._client.ask("HKEYS", f"{tag}:hooked")}

    def mend(self) -> int:
        """Derive the index from the cursors. Return how many members were missing or too many."""
        return sum(self._client.run(_MEND, [f"{tag}:hooks"], []) for tag in self._keys.tags())

    def size(self) -> int:
        """Return how many members there are."""
        return sum(self._client.ask_all([("ZCARD", f"{tag}:hooks") for tag in self._keys.tags()]))

    def news(self, patience: float) -> Iterator[None]:
        """Yield whenever there is something new to send, or may be, and after each `patience` seconds of silence."""
        for _ in listen(self._client, [f"{tag}:hooks" for tag in self._keys.tags()], patience):
            yield None

    def _settle(self, unsent: Unsent, cursor: str, delay_ms: int) -> bool:
        return bool(self._client.run(_SETTLE, [self._keys.stream(unsent.match)], [unsent.target, unsent.cursor.text(), cursor, delay_ms]))


def _unsent(item: str, cursor: str) -> Unsent:
    match, _, target = item.partition("|")
    player, hook, *message = target.split("/")
    version, since, tries = map(int, cursor.split(" "))
    return Unsent(match, player, hook, message[0] if message else "", Cursor(version, since, tries))
