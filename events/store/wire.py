"""Connections of redis-py, written and read without its layers. Those cost more than the rest of an append."""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from hiredis import Reader, pack_command

from events.turns import TURNS

Command = Sequence[str | bytes | int]

_PIECE = 65_536
_MISSING = object()


class Wires:
    """The open connections to a server, shared by the threads of a process. `pool`: of redis-py, which makes them."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._idle: deque[Wire] = deque()

    def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands together and return their answers. They are sent again if the server has closed the connection since its last use.

        Raises as `Wire.exchange`, and the errors of redis-py for a new connection.
        """
        if not commands:
            return []
        try:
            return self._exchange(self._idle.pop(), commands)
        except (ConnectionError, IndexError):
            return self._exchange(Wire(self._pool.make_connection()), commands)

    def _exchange(self, wire: Wire, commands: Sequence[Command]) -> list[Any]:
        try:
            answers = wire.exchange(commands)
        except BaseException as reason:
            wire.close()
            if isinstance(reason, OSError):  # the others go to the same server
                self.close()
            raise
        self._idle.append(wire)
        return answers

    def close(self) -> None:
        """Close the connections that nobody uses."""
        while self._idle:
            with suppress(IndexError):
                self._idle.pop().close()


class Wire:
    """An open connection for one thread at a time. It waits for an answer as long as redis-py would.

    redis-py opens it and says who we are. The kernel keeps the time, so an exchange is one call to send and one to receive. With a timeout
    of Python's, each would be two.
    """

    __slots__ = ("_connection", "_reader", "_socket")

    def __init__(self, connection: Any) -> None:
        """Open a connection of redis-py. Raises its errors."""
        connection.connect()
        seconds: float = connection.socket_timeout
        self._connection = connection
        self._reader = _reader(connection)
        self._socket: socket.socket = connection._sock
        limit = struct.pack("@ll", int(seconds), int(seconds % 1 * 1_000_000))
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)

    def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands together and return their answers. After an exception, the connection must be closed.

        Raises the error in an answer, as redis-py does, and OSError for the connection.
        """
        packed = [pack_command(command) for command in commands]  # type: ignore[arg-type]  # its stub allows one word only
        had_turn = TURNS.leave()
        try:
            self._socket.sendall(packed[0] if len(packed) == 1 else b"".join(packed))
            self._reader.feed(_received(self._socket))
        finally:
            if had_turn:
                TURNS.take()
        return [self._answer() for _ in commands]

    def _answer(self) -> Any:
        reader = self._reader
        while (answer := reader.gets()) is _MISSING:
            reader.feed(_received(self._socket))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """Close the connection."""
        self._connection.disconnect()


class Ear:
    """An open connection that listens to channels, for one thread. `patience`: the seconds of silence after which it says that it hears
    nothing."""

    def __init__(self, connection: Any, patience: float) -> None:
        """Open a connection of redis-py. Raises its errors."""
        connection.connect()
        self._connection = connection
        self._reader = _reader(connection)
        self._socket: socket.socket = connection._sock
        self._socket.settimeout(patience)

    def subscribe(self, channels: Sequence[str]) -> None:
        """Begin to hear channels. Raises the error in the answer, and OSError."""
        self._socket.sendall(pack_command(("SUBSCRIBE", *channels)))  # type: ignore[arg-type]

    def hear(self) -> list[tuple[str, bytes]]:
        """Return the messages that have come, with their channels. Wait for one; return none after a silence. Raises OSError."""
        found: list[tuple[str, bytes]] = []
        try:
            while not found:
                self._reader.feed(_received(self._socket))
                while (message := self._reader.gets()) is not _MISSING:
                    if isinstance(message, Exception):
                        raise message
                    if message[0] == b"message":
                        found.append((message[1].decode(), message[2]))
        except TimeoutError:
            pass
        return found

    def close(self) -> None:
        """Close the connection."""
        self._connection.disconnect()


def _reader(connection: Any) -> Reader:
    """Return a reader of answers for a connection of redis-py. The errors in them become its exceptions."""
    return Reader(protocolError=ConnectionError, replyError=connection._parser.parse_error, notEnoughData=_MISSING)


def _received(line: socket.socket) -> bytes:
    """Return the next bytes that come. Raises ConnectionError if there are no more, and OSError."""
    data = line.recv(_PIECE)
    if not data:
        raise ConnectionError("The server has closed the connection.")
    return data
