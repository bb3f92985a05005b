"""Places: how many requests of a kind may last at the same time, in all, for each caller and for each address.

A process has a thread for every place but those of streams, and some more. So threads for other requests are left, however many requests
of these kinds come.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from math import ceil
from types import TracebackType
from typing import Any, NamedTuple, cast

from prometheus_client import Counter, Gauge

from service.http.addresses import address_of, prefix_of
from service.http.crowd import Branch, Crowd, Path
from service.http.elsewhere import Elsewhere, is_much
from service.http.problems import Problem


class Place:
    """A place that is taken. It may be given back twice.

    `plays`: it is taken by a player for a match that the player plays. `used`: when it was last of use to its caller, in seconds.
    """

    __slots__ = ("_end", "_places", "path", "plays", "taken", "used")

    def __init__(self, places: Places, path: Path, plays: bool) -> None:
        self._places = places
        self._end: Callable[[], None] | None = None
        self.path = path
        self.plays = plays
        self.taken = True
        self.used = time.monotonic()

    def ends_by(self, end: Callable[[], None]) -> None:
        """Set what ends the request early, if its place is wanted more by somebody else. It is called once, and must not wait."""
        self._end = end

    @property
    def may_end(self) -> bool:
        """True if the request can be ended early."""
        return self._end is not None

    def end(self) -> None:
        """End the request early. Its place is somebody else's already."""
        end, self._end = self._end, None
        if end is not None:
            end()

    def use(self) -> None:
        """Note that the place is of use now: something was sent that the caller waited for."""
        self.used = time.monotonic()

    def mark(self, plays: bool) -> None:
        """Note whether the caller plays by now."""
        if plays != self.plays:
            self._places.mark(self, plays)

    def give_back(self) -> None:
        """Give the place back."""
        self._end = None
        if self.taken:
            self._places.give_back(self)

    def __enter__(self) -> Place:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.give_back()


class HeldBody:
    """The body of a response that keeps a place until it ends. The server calls `close` when all is sent, or the client has gone."""

    def __init__(self, place: Place, chunks: Generator[bytes, None, None], on_close: Callable[[], None] | None = None) -> None:
        self._place = place
        self._chunks = chunks
        self._on_close = on_close

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._chunks)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the place back and end the body. Call `on_close` once."""
        self._place.give_back()
        self._chunks.close()
        on_close, self._on_close = self._on_close, None
        if on_close is not None:
            on_close()


class HeldAnswer(list[bytes]):
    """The body of a response that is there as a whole, and keeps a place until its client has read it or has gone: until `close`."""

    def __init__(self, place: Place, content: bytes) -> None:
        super().__init__((content,))
        self._place = place

    def close(self) -> None:
        """Give the place back, once."""
        self._place.give_back()


class Shares(NamedTuple):
    """How many places of a kind a caller, an address and a prefix may have, in all web processes that share what they hold."""

    caller: int
    address: int
    prefix: int

    @classmethod
    def of(cls, capacity: int) -> Shares:
        """Return the shares where requests are short: a quarter for a caller, half for an address, and three quarters for a prefix."""
        return cls(capacity // 4, capacity // 2, capacity * 3 // 4)


class Places:
    """The places for one kind of request. Shared by the threads of a process.

    A caller is a player, or everybody without a key at one address. Shares bind once `calm` places are taken. Beyond a share, and where all
    places are taken, a newcomer gets the place of a request that can be ended early, as `Crowd` chooses it; or else none. `full` and
    `shared` are the codes of the refusals. With `elsewhere`, shares are of what all web processes hold.
    """

    def __init__(
        self,
        what: str,
        capacity: int,
        shares: Shares,
        *,
        calm: int = 0,
        full: str = "busy",
        shared: str = "too_many_at_once",
        elsewhere: Elsewhere | None = None,
        gauge: Gauge | None = None,
        ended: Counter | None = None,
    ) -> None:
        self.capacity = capacity
        self._what = what
        self._shares = shares
        self._calm = calm
        self._full = full
        self._shared = shared
        self._elsewhere = elsewhere or Elsewhere()
        self._gauge = gauge
        self._ended = ended
        self._crowd = Crowd()
        self._lock = threading.Lock()

    @property
    def taken(self) -> int:
        """The number of places that are taken."""
        return len(self._crowd)

    def take(self, player: str | None, environ: Mapping[str, Any], plays: bool = False) -> Place:
        """Take a place for a request. `plays`: the player takes it for a match that the player plays.

        Raise Problem `full` if none is left, or `shared` if the caller, the address or the prefix has its share.
        """
        address = address_of(environ)
        place = Place(self, Path(prefix_of(address), address, player or f"anybody at {address}"), plays)
        ended: list[Place] = []
        with self._lock:
            try:
                if len(self._crowd) >= self._calm:
                    self._make_room(place, ended)
            except Problem:
                for each in ended:
                    each.taken = True
                    self._crowd.add(each)
                raise
            self._crowd.add(place)
            for whose, branch in self._crowd.holders(place.path).items():
                self._elsewhere.note(f"{whose} {getattr(place.path, whose)}", branch.held, getattr(self._shares, whose))
        if self._gauge is not None:
            self._gauge.inc()
        self._end(ended)
        return place

    def _make_room(self, place: Place, ended: list[Place]) -> None:
        """End what has to end for a place to be taken, and add it to `ended`. Raise Problem if that is impossible."""
        for depth, whose in ((3, "caller"), (2, "address"), (1, "prefix")):
            branch, share = self._crowd.holders(place.path)[whose], getattr(self._shares, whose)
            if branch.held + self._elsewhere.held(f"{whose} {getattr(place.path, whose)}") < share:
                continue
            if not self._gives_way(branch, place.path[depth:], place, share, ended) and not (
                place.plays and branch.held < share and branch.has_room_for_play(share)  # others have it in another process
            ):
                raise Problem(self._shared, what=self._what, limit=share, whose=whose)
        if len(self._crowd) >= self.capacity and not self._gives_way(self._crowd.all, place.path, place, self.capacity, ended):
            raise Problem(self._full)

    def _gives_way(self, branch: Branch, names: Sequence[str], place: Place, share: int, ended: list[Place]) -> bool:
        chosen = branch.chosen(names, place.plays, share)
        if chosen is None:
            return False
        self._remove(cast(Place, chosen), ended)
        return True

    def _remove(self, place: Place, ended: list[Place]) -> None:
        self._crowd.remove(place)
        place.taken = False
        ended.append(place)

    def _end(self, ended: Sequence[Place]) -> None:
        """End requests whose places are no longer theirs."""
        for place in ended:
            if self._gauge is not None:
                self._gauge.dec()
            if self._ended is not None:
                self._ended.inc()
            place.end()

    def settle(self) -> bool:
        """Learn what the other web processes hold. End what is too much. Return False if this process holds little of any share.

        What is too much ends in each process in proportion to what it holds.
        """
        with self._lock:
            held = {
                f"{whose} {name}": branch.held
                for whose, name, branch in self._crowd.everybody()
                if is_much(branch.held, getattr(self._shares, whose))
            }
        if not self._elsewhere.exchange(held):
            return False
        ended: list[Place] = []
        with self._lock:
            for whose, name, branch in list(self._crowd.everybody()):
                share, others = getattr(self._shares, whose), self._elsewhere.held(f"{whose} {name}")
                total = branch.held + others
                for _ in range(ceil((total - share) * branch.held / total) if others else 0):
                    chosen = branch.surplus(share)
                    if chosen is None:
                        break
                    self._remove(cast(Place, chosen), ended)
        self._end(ended)
        return True

    def mark(self, place: Place, plays: bool) -> None:
        """Note whether the holder of a place plays by now. `Place` calls this."""
        with self._lock:
            if place.taken:
                self._crowd.remove(place)
            place.plays = plays
            if place.taken:
                self._crowd.add(place)

    def give_back(self, place: Place) -> None:
        """Give a place back. `Place` calls this."""
        with self._lock:
            if not place.taken:
                return
            place.taken = False
            self._crowd.remove(place)
        if self._gauge is not None:
            self._gauge.dec()
