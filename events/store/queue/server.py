"""The queue's server: its connection and its scripts. Everything there may be lost, so what cannot be read is dropped, and counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import structlog

from events.errors import AWAY, MEMORY
from events.store.client import is_out_of_memory, is_unknown_script, is_unreadable, queue_client, queue_errors
from events.store.wire import Wires
from events.telemetry import metrics

log = structlog.get_logger(__name__)

Script = Callable[..., Any]
"""A script: it is called with `keys` and `args`, both optional."""


class QueueServer:
    """A connection to the queue's server. Its threads may share it."""

    def __init__(self, url: str) -> None:
        self.connection: Any = queue_client(url)
        self._wires = Wires(self.connection.connection_pool)
        self._mend = self.connection.register_script(_text("mend"))

    def script(self, name: str, before: str = "") -> Script:
        """Return the script in `name`.lua, with Lua to run before it. If it meets a key of a wrong type, it runs again without it."""
        registered = self.connection.register_script(before + _text(name))

        def call(keys: Sequence[str], args: Sequence[str | bytes | int]) -> Any:
            try:
                return self._wires.exchange([("EVALSHA", registered.sha, len(keys), *keys, *args)])[0]
            except queue_errors as reason:
                if not is_unknown_script(reason):
                    raise
            return registered(keys=keys, args=args)  # which loads it

        def run(keys: Sequence[str] = (), args: Sequence[str | bytes | int] = ()) -> Any:
            try:
                return call(keys, args)
            except queue_errors as reason:
                if not is_unreadable(reason):
                    raise
            self.mend()
            return call(keys, args)

        return run

    def mend(self) -> None:
        """Drop all keys of another type than their names say. Raises the errors in `queue_errors`."""
        if dropped := self._mend():
            metrics.queue_dropped.inc(dropped)
            log.warning("queue_mended", dropped=dropped)

    def trouble(self) -> str:
        """Return MEMORY if the server refuses writes since its memory is full, AWAY if it does not answer, "" if all is well."""
        try:
            self.connection.set("fair:probe", 1, ex=1)
        except queue_errors as reason:
            return MEMORY if is_out_of_memory(reason) else AWAY
        return ""

    def close(self) -> None:
        """Close the connections."""
        self._wires.close()
        self.connection.close()


def _text(name: str) -> str:
    return (Path(__file__).parent / f"{name}.lua").read_text()
