"""Who signed which entries with which key, and whose entries nobody signed (docs/auditing.md). Nothing here checks a signature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from games.kernel import SYSTEM


class Owner(NamedTuple):
    """A player, by id, and a key of that player, in base64."""

    player: str
    key: str


class Signers:
    """The owners of the keys that signed the entries read so far, who has the seats, and how many entries nobody signed.

    `unsigned`: by seat. `by_server`: those of the system, of artificial players and of substitutes, for which only the server answers.

    >>> signers = Signers()
    >>> signers.read(2, "paaaaaaaaaaaaaaaa", None, [{"type": "seat_taken", "seat": "red", "player": "paaaaaaaaaaaaaaaa"}])
    >>> signers.read(3, "red", {"key": "A"}, [])
    >>> signers.versions
    {Owner(player='paaaaaaaaaaaaaaaa', key='A'): {'red': [3]}}
    >>> signers.unsigned, signers.by_server
    (Counter(), 0)
    """

    def __init__(self) -> None:
        self.versions: dict[Owner, dict[str, list[int]]] = {}  # and by actor, as a player may have had several seats
        self.unsigned: Counter[str] = Counter()
        self.by_server = 0
        self._players: dict[str, str] = {}  # by seat
        self._artificial = {SYSTEM}  # the system, and the seats that artificial players have or play for others

    def read(self, version: int, actor: str, signed: Mapping[str, Any] | None, events: Iterable[Mapping[str, Any]]) -> None:
        """Read the next entry. An actor without a seat, such as a referee, is a player. Raises KeyError, TypeError, AttributeError."""
        if signed is not None:
            owner = Owner(self._players.get(actor, actor), signed["key"])
            self.versions.setdefault(owner, {}).setdefault(actor, []).append(version)
        elif actor in self._artificial:
            self.by_server += 1
        elif actor in self._players:
            self.unsigned[actor] += 1
        for event in events:
            kind = event["type"]
            if kind == "match_created":
                self._players = {seat: who["player"] for seat, who in event["roster"].items() if "player" in who and "open" not in who}
                self._artificial.update(seat for seat, who in event["roster"].items() if "ai" in who)
            elif kind in ("seat_taken", "seat_handed_over"):
                self._players[event["seat"]] = event["player"]
                self._artificial.discard(event["seat"])
            elif kind == "seat_left":
                self._players.pop(event["seat"], None)
            elif kind == "seat_substituted":
                self._artificial.add(event["seat"])
            elif kind == "seat_returned":
                self._artificial.discard(event["seat"])


class Signer(NamedTuple):
    """Somebody who signed: the actor of the entries, the player, the key, and the versions of the entries.

    `registered`, `revoked`: ms since 1970, as the log says; `registered` is None if that is not known. `late`: the key was registered after
    the match began, with the last seat that was taken.
    """

    actor: str
    player: str
    key: str
    versions: list[int]
    registered: int | None = None
    revoked: int | None = None
    late: bool = False
