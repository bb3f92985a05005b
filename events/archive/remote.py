"""Objects in object storage: Amazon S3 and what speaks its language, Google Cloud Storage, Azure Blob Storage, by the package obstore.

obstore reads the usual settings of these services from the environment, such as `AWS_ACCESS_KEY_ID` and `AWS_ENDPOINT_URL`.

A process that has used obstore must not fork: the child's first call never ends. So the package is imported by the first call, and a call
in a child is refused. `RETRY` and `TIMES` bound each call. After a call that failed, calls fail at once for `AWAY` seconds. So the threads
that serve requests do not all wait for storage that is away.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any

from events.archive.objects import checked
from events.errors import ArchiveUnavailable

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig

RETRY: RetryConfig = {
    "max_retries": 2,
    "retry_timeout": timedelta(seconds=5),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=1), "base": 2},
}
TIMES: ClientConfig = {
    "connect_timeout": timedelta(seconds=2),
    "timeout": timedelta(seconds=10),  # of one request
    "allow_http": True,  # if the address that the operator has set begins with it
}
AWAY = 5.0  # seconds for which nobody asks after a call that failed
PROBE = "create-only"  # the object that shows whether the storage creates only what is absent

_used_in: int | None = None  # the process that has imported obstore


class Remote:
    """The objects below an address such as `s3://bucket/prefix` (Objects)."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._lock = Lock()
        self._store: Any = None
        self._probed = False
        self._away_until = 0.0

    def create(self, name: str, content: bytes) -> bool:
        """Create an object (Objects). Storage that would replace an object is refused."""
        checked(name)
        if not self._probed:
            if self._put(PROBE, b"") and self._put(PROBE, b""):
                raise ArchiveUnavailable(f"{self.url} ignores If-None-Match, so it cannot keep what must not be replaced")
            self._probed = True
        return self._put(name, content)

    def read(self, name: str) -> bytes | None:
        """Return the content of an object (Objects)."""
        with self._asking() as store:
            try:
                return bytes(store.get(checked(name)).bytes())
            except FileNotFoundError:
                return None

    def names(self, prefix: str = "", after: str = "") -> Iterator[str]:
        """Yield names (Objects)."""
        folder = prefix.rpartition("/")[0] or None
        with self._asking() as store:
            pages = iter(store.list(folder, offset=after or None, chunk_size=1000))
        while True:
            with self._asking():
                page = next(pages, None)
            if page is None:
                return
            for found in page:
                name = str(found["path"])
                if name.startswith(prefix) and name > after and name != PROBE:
                    yield name

    def remove(self, name: str) -> None:
        """Remove an object (Objects)."""
        with self._asking() as store, suppress(FileNotFoundError):
            store.delete(checked(name))

    def _put(self, name: str, content: bytes) -> bool:
        with self._asking() as store:
            from obstore.exceptions import AlreadyExistsError

            try:
                store.put(name, content, mode="create", use_multipart=False)
            except AlreadyExistsError:
                return False
        return True

    @contextmanager
    def _asking(self) -> Iterator[Any]:
        """Yield the store for a call. Tell its errors as ArchiveUnavailable."""
        global _used_in
        if _used_in not in (None, os.getpid()):
            raise RuntimeError("obstore was used before the process forked, so it would never answer")
        if time.monotonic() < self._away_until:
            raise ArchiveUnavailable(f"{self.url} has just not answered")
        _used_in = os.getpid()
        from obstore.exceptions import BaseError
        from obstore.store import from_url

        try:
            with self._lock:
                if self._store is None:
                    self._store = from_url(self.url, retry_config=RETRY, client_options=TIMES)
            yield self._store
        except (BaseError, OSError, ValueError) as reason:
            self._away_until = time.monotonic() + AWAY
            raise ArchiveUnavailable(f"{self.url}: {type(reason).__name__}: {reason}") from None
