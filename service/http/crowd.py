"""Crowds: who holds the places of a kind, and who gives one up for somebody else (docs/decisions/0093).

A crowd is a tree. Prefixes hold all places, the addresses of a prefix hold those of the prefix, and the callers at an address those of the
address. Where there is no room, a newcomer may end a place of a holder that has more. So no number of requests gets a holder more than
others who ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

RESERVED = 4  # those who play may take a quarter of the places of any holder from those who only watch


class Path(NamedTuple):
    """Who holds a place: a /24 or /48 prefix, an address in it, and a caller there."""

    prefix: str
    address: str
    caller: str


class Held(Protocol):
    """A place that is held. `plays`: its holder plays. `used`: when it was last of use, in seconds."""

    path: Path
    plays: bool
    used: float

    @property
    def may_end(self) -> bool:
        """True if the request at the place can be ended early."""


class Branch:
    """The places of one holder: of everybody, a prefix, an address, or a caller at an address. Only the last kind has no parts."""

    __slots__ = ("held", "parts", "places", "playing")

    def __init__(self) -> None:
        self.held = 0
        self.playing = 0  # how many of them are held by those who play
        self.parts: dict[str, Branch] = {}
        self.places: dict[Held, None] = {}

    def count(self, plays: bool, by: int) -> None:
        """Count a place that is held now, or no longer. `by`: 1 or -1."""
        self.held += by
        self.playing += by if plays else 0

    def has_room_for_play(self, share: int) -> bool:
        """Return True if those who play hold less than what is reserved for them."""
        return RESERVED * self.playing < share

    def chosen(self, names: Sequence[str], plays: bool, share: int) -> Held | None:
        """Return the place that ends for a newcomer, or None. `names`: the newcomer's path from here. `share`: how many may be held here.

        It is a place of the largest holder, if that holds more than the newcomer even afterwards. A newcomer who only watches ends nobody
        who plays. One who plays ends somebody who watches, however few places that one has, until those who play hold what is reserved.
        """
        entitled = plays and self.has_room_for_play(share)
        watching = entitled or not plays
        branch, is_larger = self, entitled
        for name in names:
            own = branch.parts.get(name)
            largest = branch.largest(watching)
            if largest is not None and (is_larger or largest.held > (own.held if own else 0) + 1):
                branch, is_larger = largest, True
            elif own is not None:
                branch = own
            else:
                return None
        return longest_unused(branch.places, watching) if is_larger else None

    def surplus(self, share: int) -> Held | None:
        """Return the place that ends when too many are held here, or None. Those who play keep what is reserved for them."""
        watching, branch = RESERVED * self.playing <= share, self
        while branch.parts:
            largest = branch.largest(watching=True) or (None if watching else branch.largest(watching=False))
            if largest is None:
                return None
            branch = largest
        return longest_unused(branch.places, watching)

    def largest(self, watching: bool) -> Branch | None:
        """Return the part that holds most places, or None. `watching`: of those parts in which somebody only watches."""
        parts = [part for part in self.parts.values() if part.held > (part.playing if watching else 0)]
        return max(parts, key=lambda part: part.held, default=None)


def longest_unused(places: dict[Held, None], watching: bool) -> Held | None:
    """Return the place that has been of no use for the longest, of those that may end: one whose holder only watches, if there is one.

    `watching`: no other.
    """
    ending = [place for place in places if place.may_end and not (watching and place.plays)]
    return min(ending, key=lambda place: (place.plays, place.used), default=None)


class Crowd:
    """All places of a kind that are held."""

    def __init__(self) -> None:
        self.all = Branch()
        self.callers: dict[str, Branch] = {}  # a caller may come from several addresses

    def __len__(self) -> int:
        return self.all.held

    def add(self, place: Held) -> None:
        """Add a place that is held now."""
        self.all.count(place.plays, 1)
        branch = self.all
        for name in place.path:
            branch = branch.parts.setdefault(name, Branch())
            branch.count(place.plays, 1)
        caller = self.callers.setdefault(place.path.caller, Branch())
        caller.count(place.plays, 1)
        branch.places[place] = caller.places[place] = None

    def remove(self, place: Held) -> None:
        """Remove a place that was added."""
        self.all.count(place.plays, -1)
        branch, path = self.all, [(self.callers, place.path.caller)]
        for name in place.path:
            path.append((branch.parts, name))
            branch = branch.parts[name]
        for holders, name in path:
            holder = holders[name]
            holder.count(place.plays, -1)
            holder.places.pop(place, None)
            if not holder.held:
                del holders[name]

    def holders(self, path: Path) -> dict[str, Branch]:
        """Return the branches of those who would hold a place, by what they are, the narrowest first. An empty one stands for a new one."""
        prefix = self.all.parts.get(path.prefix) or Branch()
        address = prefix.parts.get(path.address) or Branch()
        return {"caller": self.callers.get(path.caller) or Branch(), "address": address, "prefix": prefix}

    def everybody(self) -> Iterator[tuple[str, str, Branch]]:
        """Yield every holder: what it is, its name, and its branch."""
        for caller, branch in self.callers.items():
            yield "caller", caller, branch
        for prefix, branch in self.all.parts.items():
            yield "prefix", prefix, branch
            for address, part in branch.parts.items():
                yield "address", address, part
