"""Hold: wait until replicas have what a connection has read or written, before anybody is told (ADR 120).

Commands that must be held are sent with two more on the same connection: the function `barrier`, which writes something, and WAIT. WAIT
covers only what its own connection has written. The barrier is written after everything that the commands have read or found done, so
replicas that have the barrier have all of that, too. The server answers all who wait for the same replicas at once. So nothing is shared
between the threads of a process, and nobody remembers which versions are held.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from redis.cluster import RedisCluster
from redis.exceptions import AskError, ClusterDownError, MovedError, ReadOnlyError, TryAgainError
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import TimeoutError as TooLate

from events.errors import StoreUnavailable
from events.store.library import script

Command = Sequence[str | bytes | int]

PATIENCE_MS = 1000  # that replicas have to answer. A connection waits longer for its server
MARK = "replicas: "  # the beginning of the reason of a StoreUnavailable, if replicas do not answer

_BARRIER = script("barrier")
_TAGGED = ("FCALL", "FCALL_RO")


def tag_of(command: Command) -> str:
    """Return the hash tag of the first key of a command, such as `{p3}`."""
    key = str(command[3 if command[0] in _TAGGED else 1])
    return key[: key.index("}") + 1]


def with_barrier(commands: Sequence[Command], replicas: int, tag: str = "") -> list[Command]:
    """Return commands that are held: with a barrier and WAIT. `tag`: of a partition on their server; the default is that of the first."""
    barrier = (_BARRIER.command, _BARRIER.function, 1, f"{tag or tag_of(commands[0])}:barrier")
    return [*commands, barrier, ("WAIT", replicas, PATIENCE_MS)]


def checked(answers: list[Any], replicas: int) -> list[Any]:
    """Return the answers of commands `with_barrier`, without the last two. Raises StoreUnavailable if fewer replicas have the barrier."""
    held = int(answers[-1])
    if held < replicas:
        raise StoreUnavailable(f"{MARK}{held} of {replicas} have what was written last")
    return answers[:-2]


class Nodes:
    """The primaries of a cluster. `send` sends commands on one connection to the server of a client of redis-py. It returns the answers."""

    def __init__(self, cluster: RedisCluster, send: Callable[[Any, Sequence[Command]], list[Any]]) -> None:
        self._cluster: Any = cluster
        self._send = send

    def exchange(self, commands: Sequence[Command], replicas: int, pauses: Sequence[float], sleep: Callable[[float], None]) -> list[Any]:
        """Send commands to the nodes of their keys, and return the answers when all are held.

        After an error that a failover or a moved slot explains, the commands are sent again: once after each of the `pauses`. Raises
        StoreUnavailable, and the errors of redis-py.
        """
        answers: list[Any] = [None] * len(commands)
        left = list(range(len(commands)))
        for pause in (*pauses, None):
            node = None
            try:
                while left:
                    slot = self._slot(commands[left[0]])
                    node = self._cluster.nodes_manager.get_node_from_slot(slot)
                    here = [place for place in left if self._cluster.nodes_manager.get_node_from_slot(self._slot(commands[place])) == node]
                    found = self._held(node, [commands[place] for place in here], replicas)
                    for place, answer in zip(here, found, strict=True):
                        answers[place] = answer
                    left = [place for place in left if place not in here]
                return answers
            except (MovedError, ReadOnlyError, TryAgainError, ClusterDownError, Disconnected, TooLate, OSError) as reason:
                if not isinstance(reason, TryAgainError):
                    self._cluster.nodes_manager.initialize(last_failed_node_name=node and node.name)
                if pause is None or isinstance(reason, TooLate):  # who has waited for a frozen node does not wait again
                    raise
                sleep(0 if isinstance(reason, MovedError) else pause)
        raise AssertionError("unreachable")

    def _slot(self, command: Command) -> int:
        return int(self._cluster.keyslot(f"{tag_of(command)}"))

    def _held(self, node: Any, commands: Sequence[Command], replicas: int) -> list[Any]:
        sent = with_barrier(commands, replicas)
        try:
            return checked(self._send(self._cluster.get_redis_connection(node), sent), replicas)
        except AskError as reason:  # the slot is on its way to this node
            there = self._cluster.get_node(host=reason.host, port=reason.port)
            asking = [each for command in sent for each in (("ASKING",), command)]
            return checked(self._send(self._cluster.get_redis_connection(there), asking)[1::2], replicas)
