"""Places: how many requests of a kind may last at the same time, in all, for each caller and for each address.

A process has a thread for every place but those of streams, and some more. So threads for other requests are left, however many requests
of these kinds come.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from types import TracebackType
from typing import Any

from prometheus_client import Gauge

from service.http.addresses import address_of
from service.http.problems import Problem


class Place:
    """A place that is taken. It may be given back twice."""

    __slots__ = ("_address", "_caller", "_places", "_taken")

    def __init__(self, places: Places, caller: str, address: str) -> None:
        self._places = places
        self._caller = caller
        self._address = address
        self._taken = True

    def give_back(self) -> None:
        """Give the place back."""
        if self._taken:
            self._taken = False
            self._places.give_back(self._caller, self._address)

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


class Places:
    """The places for one kind of request. Shared by the threads of a process.

    A caller is a player, or everybody without a key at one address. Once `calm` places are taken, a caller may have `per_caller` of them,
    and an address `per_address`. `full` and `shared` are the codes of the refusals.
    """

    def __init__(
        self,
        what: str,
        capacity: int,
        per_caller: int,
        per_address: int,
        *,
        calm: int = 0,
        full: str = "busy",
        shared: str = "too_many_at_once",
        gauge: Gauge | None = None,
    ) -> None:
        self.capacity = capacity
        self._what = what
        self._per_caller = per_caller
        self._per_address = per_address
        self._calm = calm
        self._full = full
        self._shared = shared
        self._gauge = gauge
        self.taken = 0
        self._callers: Counter[str] = Counter()
        self._addresses: Counter[str] = Counter()
        self._lock = threading.Lock()

    def take(self, player: str | None, environ: Mapping[str, Any]) -> Place:
        """Take a place for a request. Raise Problem `full` if none is left, or `shared` if the caller or the address has its share."""
        address = address_of(environ)
        caller = player or f"anybody at {address}"
        with self._lock:
            if self.taken >= self._calm:
                if self._callers[caller] >= self._per_caller:
                    raise Problem(self._shared, what=self._what, limit=self._per_caller, whose="caller")
                if self._addresses[address] >= self._per_address:
                    raise Problem(self._shared, what=self._what, limit=self._per_address, whose="address")
                if self.taken >= self.capacity:
                    raise Problem(self._full)
            self.taken += 1
            self._callers[caller] += 1
            self._addresses[address] += 1
        if self._gauge is not None:
            self._gauge.inc()
        return Place(self, caller, address)

    def give_back(self, caller: str, address: str) -> None:
        """Give a place back. `Place` calls this."""
        with self._lock:
            self.taken -= 1
            for counter, name in ((self._callers, caller), (self._addresses, address)):
                counter[name] -= 1
                if not counter[name]:
                    del counter[name]
        if self._gauge is not None:
            self._gauge.dec()
