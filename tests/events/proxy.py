"""A proxy between a client and a server that breaks on command. It uses real sockets, so nothing of ours is replaced."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterable
from pathlib import Path


class Proxy:
    """Pass everything on between its own socket and the server's, and break at the n-th call counted from `arm`.

    `request`: the connection is lost before the server gets the call. `reply`: the server carries the call out, and its answer is lost.
    """

    def __init__(self, path: Path, server: str) -> None:
        self.url = f"unix://{path}"
        self._server = server.removeprefix("unix://")
        self._lock = threading.Lock()
        self._calls = 0
        self._breaks: frozenset[int] = frozenset()
        self._what = ""
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, what: str, calls: Iterable[int]) -> None:
        """Break at these calls, the next one being 1."""
        with self._lock:
            self._calls, self._what, self._breaks = 0, what, frozenset(calls)

    def disarm(self) -> bool:
        """Break no more. Return True if a call was broken."""
        with self._lock:
            broke = any(self._calls >= call for call in self._breaks)
            self._breaks = frozenset()
            return broke

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, contextlib.suppress(OSError):
            server.connect(self._server)
            while call := client.recv(1 << 20):
                with self._lock:
                    self._calls += 1
                    broken = self._what if self._calls in self._breaks else ""
                if broken == "request":
                    return
                server.sendall(call)
                reply = server.recv(1 << 20)
                if broken == "reply" or not reply:
                    return
                client.sendall(reply)
