"""Simulated servers, and the connections of processes to them, which lose, delay, repeat and cut what they carry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, NoReturn

import redis
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import ReadOnlyError, ResponseError
from redis.exceptions import TimeoutError as TooLate

from events.errors import ArchiveUnavailable
from events.store.wire import Command
from tests.simulation.commands import Data, Failed, Kept
from tests.simulation.functions import FUNCTIONS
from tests.simulation.world import EPOCH, Host, World

TIMEOUT_MS = 5000.0
RETRIES = 3  # of a client of redis-py for the store

REQUEST_LOST, REQUEST_LATE, KILLED, ANSWER_LOST = "request lost", "request late", "killed", "answer lost"
SILENT, MUTE = "silent link", "silent link back"
WRITES = 6


NOTHING_YET = -1
RECORDS: list[list[tuple[Node, list[bytes], Any, float]]] = []
"""While there is one, the last gets every command that a server carries out, its answer, and the time of the server."""


class Replica:
    """How far a replica has got: the offsets at which it arrives, with the moments. `cut`: nothing arrives.

    `reached`: NOTHING_YET before it has a copy of the data.
    """

    def __init__(self) -> None:
        self.arrivals: list[tuple[float, int]] = []
        self.reached = 0
        self.cut = False

    def offset(self, now: float) -> int:
        """Return the offset that it has."""
        while not self.cut and self.arrivals and self.arrivals[0][0] <= now:
            self.reached = self.arrivals.pop(0)[1]
        return self.reached


class Node:
    """A server. `base`: what it began with; its effects lead from there to its data."""

    def __init__(self, world: World, name: str, base: Kept, effects: Sequence[list[bytes]] = (), replicas: int = 0) -> None:
        self.name = name
        self._world = world
        self.base = base
        self.data = Data(lambda: EPOCH + world.now, world.chance, base)
        for words in effects:
            self.data.call(words)
        self.data.told.clear()
        self.data.effects = list(effects) if replicas else None
        self.replicas = [Replica() for _ in range(replicas)]
        for replica in self.replicas:
            replica.reached = len(effects)
        self.down_until = 0.0
        self.demoted = False

    def execute(self, words: list[bytes]) -> Any:
        """Carry out a command and return its answer. Raises the error in it."""
        if RECORDS:
            return self._recorded(words)
        return self._executed(words)

    def _recorded(self, words: list[bytes]) -> Any:
        try:
            answer = self._executed(words)
        except ResponseError as reason:
            RECORDS[-1].append((self, words, reason, self.data.now()))
            raise
        RECORDS[-1].append((self, words, answer, self.data.now()))
        return answer

    def _executed(self, words: list[bytes]) -> Any:
        name = words[0].upper()
        effects = self.data.effects
        before = 0 if effects is None else len(effects)
        self.data.expire()
        try:
            if name in (b"FCALL", b"FCALL_RO"):
                if self.demoted and name == b"FCALL":
                    raise ReadOnlyError("You can't write against a read only replica.")
                number = int(words[2])
                answer = FUNCTIONS.call(self.data, words[1], words[3 : 3 + number], words[3 + number :])
            elif name == b"EVALSHA":
                number = int(words[2])
                answer = FUNCTIONS.run(self.data, words[1], words[3 : 3 + number], words[3 + number :])
            else:
                answer = self.data.call([name, *words[1:]])
        except Failed as reason:
            raise ResponseError(str(reason).removeprefix("ERR ")) from None
        if effects is not None and len(effects) > before:
            self._replicate(len(effects))
        return answer

    def _replicate(self, offset: int) -> None:
        world = self._world
        for replica in self.replicas:
            moment = world.now + world.delay()
            if replica.arrivals:
                moment = max(moment, replica.arrivals[-1][0])
            replica.arrivals.append((moment, offset))

    def held(self, offset: int) -> int:
        """Return how many replicas have got as far as an offset."""
        return sum(replica.offset(self._world.now) >= offset for replica in self.replicas)


class Service:
    """Servers of one kind: a primary, and its replicas. A process may take an earlier primary for the present one."""

    def __init__(self, world: World, name: str, base: Kept, replicas: int = 0) -> None:
        self.world, self.name, self._replicas = world, name, replicas
        self.troubles: list[tuple[str, float]] = []
        self.of_writes: list[tuple[str, float]] = []
        self.primary = Node(world, f"{name}1", base, replicas=replicas)
        self.nodes = [self.primary]
        self._views: dict[Host, tuple[Node, float]] = {}

    def node_of(self, host: Host) -> Node:
        """Return the server that a process takes for the primary."""
        node, until = self._views.get(host, (self.primary, 0.0))
        if node is self.primary or self.world.now >= until:
            self._views.pop(host, None)
            return self.primary
        return node

    def fail_over(self, hosts: Sequence[Host]) -> None:
        """Let the replica that has most become the primary, with what it has. Processes notice it one after the other.

        The old primary may still answer some of them. It then becomes a replica, and forgets what the new one lacks.
        """
        world, old = self.world, self.primary
        best = max(old.replicas, key=lambda replica: replica.offset(world.now))
        if best.reached < 0:  # none has all of the data yet
            return
        assert old.data.effects is not None
        offset, lost = best.reached, len(old.data.effects) - best.reached
        new = Node(world, f"{self.name}{len(self.nodes) + 1}", old.base, old.data.effects[:offset], self._replicas)
        for replica, before in zip(new.replicas, [each for each in old.replicas if each is not best], strict=False):
            replica.reached = before.offset(world.now)
        new.replicas[-1].reached = NOTHING_YET
        for replica in new.replicas:
            replica.arrivals = [(world.now + world.between(0, 1500), offset)]
        for replica in old.replicas:
            replica.cut = True
        alive = world.chance.random() < 0.5
        for host in hosts:
            if alive and host not in self._views and world.chance.random() < 0.5:
                self._views[host] = (old, world.now + world.between(0, 3000))
        self.primary = new
        self.nodes.append(new)
        new.down_until = world.now + world.between(0, 800)
        world.tell(
            f"{old.name} fails over to {new.name}, which lacks {lost} writes" + (f"; {old.name} still answers some" if alive else "")
        )

    def set_weather(self, rates: dict[str, float]) -> None:
        """Say how probable each trouble of a call is. Calls that write have more: they are few, and matter most."""
        self.troubles = self.world.weather(rates)
        self.of_writes = [(name, WRITES * limit) for name, limit in self.troubles]

    def settle(self) -> None:
        """End all faults of servers."""
        self._views.clear()
        self.reconnect()
        self.primary.down_until = 0.0

    def reconnect(self) -> None:
        """Let replicas that were cut off have what they lack."""
        for replica in self.primary.replicas:
            if replica.cut:
                replica.cut = False
                replica.arrivals = [(max(self.world.now, moment), offset) for moment, offset in replica.arrivals]


class Line:
    """The connections of a process to a service."""

    def __init__(self, service: Service, host: Host) -> None:
        self.service, self.host, self._world = service, host, service.world
        self._cut_until = 0.0
        self._silent_until = self._mute_until = 0.0

    def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands together and return their answers; an error stands for that of a command.

        Raises ConnectionError, and BlockingIOError after a time without an answer.
        """
        world, name = self._world, self.service.name
        packed = [
            [word if type(word) is bytes else word.encode() if type(word) is str and word.isascii() else _bytes(word) for word in command]
            for command in commands
        ]
        if world.thread is None:
            return self._answers(self.service.primary, packed)
        world.sleep(world.delay())
        node = self.service.node_of(self.host)
        if world.now < node.down_until or (world.now < self._cut_until and not world.calm):
            raise ConnectionError(f"{node.name} is away")
        if world.now < self._silent_until and not world.calm:
            self._hear_nothing()
        troubles = self.service.of_writes if packed[0][0] == b"FCALL" and b"pulse" not in packed[0][1] else self.service.troubles
        trouble = world.trouble(troubles, lambda: f"{self.host.name} {name} {_named(packed)}")
        if trouble == REQUEST_LOST:
            self._fail()
        if trouble == REQUEST_LATE:
            world.spawn(Host("late"), lambda: self._later(node, packed), world.soon(2 * TIMEOUT_MS))
            world.sleep_unanswered(world.soon(TIMEOUT_MS))
            raise BlockingIOError("timed out")
        if trouble == SILENT:
            self._silent_until = world.now + world.soon(TIMEOUT_MS)
            self._hear_nothing()
        if trouble == MUTE:
            self._mute_until = world.now + world.soon(TIMEOUT_MS)
        answers = self._answers(node, packed)
        if world.now < self._mute_until and not world.calm:
            self._hear_nothing()
        if trouble == KILLED:
            world.kill(self.host)
        if trouble == ANSWER_LOST:
            self._fail()
        world.sleep(world.delay())
        return answers

    def _fail(self) -> None:
        """Cut the connection, and perhaps keep the process from the servers for a while; or say nothing."""
        world = self._world
        drawn = world.chance.random()
        if drawn < 0.3:
            self._cut_until = world.now + world.between(200, 3000)
        if drawn < 0.8:
            raise ConnectionError("cut")
        self._hear_nothing()

    def _hear_nothing(self) -> NoReturn:
        """Wait in vain: the connection is open, and no answer comes."""
        self._world.sleep_unanswered(TIMEOUT_MS)
        raise BlockingIOError("timed out")

    def _later(self, node: Node, packed: list[list[bytes]]) -> None:
        if self._world.now >= node.down_until:
            self._answers(node, packed)

    def _answers(self, node: Node, packed: list[list[bytes]]) -> list[Any]:
        answers: list[Any] = []
        written = 0  # the offset of what these commands have written: WAIT covers nothing else
        for words in packed:
            before = len(node.data.effects or ())
            try:
                answers.append(self._wait(node, words, written) if words[0] == b"WAIT" else node.execute(words))
            except ResponseError as reason:
                answers.append(reason)
            if words[0] != b"WAIT" and len(node.data.effects or ()) > before:
                written = len(node.data.effects or ())
        return answers

    def _wait(self, node: Node, words: list[bytes], offset: int) -> int:
        """Wait until so many replicas have got as far as an offset, or for so many ms. Return how many have."""
        world, wanted, until = self._world, int(words[1]), self._world.now + float(words[2])
        if world.thread is None:
            return wanted
        while (held := node.held(offset)) < wanted and world.now < until:
            moments = [moment for replica in node.replicas if not replica.cut for moment, _ in replica.arrivals]
            coming = [moment for moment in moments if moment > world.now]
            world.sleep(min(until, min(coming, default=until), world.now + 200) - world.now)
        return held


def _bytes(word: str | float) -> bytes:
    return word.encode(errors="surrogateescape") if isinstance(word, str) else b"%d" % word


def _named(packed: list[list[bytes]]) -> str:
    words = packed[0]
    name = words[1].decode().rpartition("_")[0].removesuffix("_reserve") if words[0].startswith(b"FCALL") else words[0].decode()
    return name if name != "EVALSHA" else "exchange"


class Pool:
    """In place of a pool of redis-py: its connections are those of a line. `LINES`: by URL."""

    def __init__(self, line: Line) -> None:
        self.line = line

    @classmethod
    def from_url(cls, url: str, **_: Any) -> Pool:
        """Return the pool of a process that has this URL."""
        return cls(LINES[url])

    def make_connection(self) -> Line:
        """Return what a `Wire` is made from."""
        return self.line

    def disconnect(self) -> None:
        """Do nothing: nothing is open."""


LINES: dict[str, Line] = {}


class Wire:
    """In place of events.store.wire.Wire, which `Wires` make and use: an open connection."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands together and return their answers. Raises as the original."""
        answers = self._line.exchange(commands)
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    def close(self) -> None:
        """Do nothing: nothing is open."""


class Connection(redis.Redis):
    """A client of redis-py whose commands go over a line. It retries as long as redis-py would."""

    def __init__(self, tries: int) -> None:
        super().__init__(legacy_responses=False)
        self.tries = tries
        self.line: Line | None = None

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Send a command and return its answer."""
        return self._all([args])[0]

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> Any:
        """Return a pipeline."""
        return _Pipeline(self)

    def _all(self, commands: Sequence[Sequence[Any]], raises: bool = True) -> list[Any]:
        assert self.line is not None
        answers: list[Any] = []
        for attempt in range(self.tries):
            try:
                answers = self.line.exchange(commands)
                break
            except (ConnectionError, BlockingIOError) as reason:
                if attempt == self.tries - 1:
                    raise (Disconnected if isinstance(reason, ConnectionError) else TooLate)(str(reason)) from None
                self.line.service.world.sleep(20 * 2**attempt)
        found = []
        for command, answer in zip(commands, answers, strict=True):
            if isinstance(answer, Exception) and raises:
                raise answer
            found.append(_in_python(command, answer))
        return found


def _in_python(command: Sequence[Any], answer: Any) -> Any:
    """Return an answer in the form that redis-py gives it."""
    if isinstance(answer, Exception):
        return answer
    if command[0] in ("XRANGE", "XREVRANGE"):
        return [(id, dict(zip(fields[::2], fields[1::2], strict=True))) for id, fields in answer]
    if command[0] == "SCAN":
        return int(answer[0]), answer[1]
    if command[0] == "HGETALL":
        return dict(zip(answer[::2], answer[1::2], strict=True))
    if "WITHSCORES" in command:
        return [[member, float(score)] for member, score in zip(answer[::2], answer[1::2], strict=True)]
    if command[0] in ("ZSCORE", "ZMSCORE"):
        return [score and float(score) for score in answer] if isinstance(answer, list) else answer and float(answer)
    return answer


class _Pipeline:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._commands: list[Sequence[Any]] = []

    def __enter__(self) -> _Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        self._commands.clear()

    def execute_command(self, *args: Any) -> None:
        """Add a command."""
        self._commands.append(args)

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        """Send the commands together and return their answers."""
        return self._connection._all(self._commands, raise_on_error)


_POOL: dict[int, list[Connection]] = {}


def connection(line: Line, tries: int) -> Connection:
    """Return a client on a line. Making one takes long, so those of earlier worlds are used again."""
    pool = _POOL.setdefault(tries, [])
    found = pool.pop() if pool else Connection(tries)
    found.line = line
    return found


def give_back(found: Connection) -> None:
    """Return a client that nobody uses any more."""
    _POOL[found.tries].append(found)


REDIS = SimpleNamespace(ConnectionPool=Pool, Redis=lambda connection_pool: connection(connection_pool.line, RETRIES + 1))
"""In place of the module `redis` in events.store.client."""


class Bucket:
    """The objects of the archive as a process reaches them (events.archive.objects). What was created stays, if nobody learns of it."""

    def __init__(self, objects: dict[str, bytes], world: World, host: Host) -> None:
        self._objects, self._world, self._host = objects, world, host

    def create(self, name: str, content: bytes) -> bool:
        """Create an object, and return True. Return False if there is one of that name. Raises ArchiveUnavailable."""
        return bool(self._done("create", lambda: self._objects.setdefault(name, content) is content))

    def read(self, name: str) -> bytes | None:
        """Return the content of an object, or None if there is no such object. Raises ArchiveUnavailable."""
        found: bytes | None = self._done("read", lambda: self._objects.get(name))
        return found

    def names(self, prefix: str = "", after: str = "") -> Iterator[str]:
        """Yield the names that begin with `prefix` and are greater than `after`. Raises ArchiveUnavailable."""
        found: list[str] = self._done("names", lambda: sorted(self._objects))
        yield from (name for name in found if name.startswith(prefix) and name > after)

    def remove(self, name: str) -> None:
        """Remove an object."""
        self._objects.pop(name, None)

    def _done(self, what: str, act: Callable[[], Any]) -> Any:
        world = self._world
        if world.thread is None:
            return act()
        world.sleep(5 * world.delay())
        weather = world.of_objects if what == "create" else [(name, limit / WRITES) for name, limit in world.of_objects]
        trouble = world.trouble(weather, lambda: f"{self._host.name} archive {what}")
        if trouble == REQUEST_LOST:
            raise ArchiveUnavailable("simulated")
        if trouble == REQUEST_LATE:
            world.spawn(Host("late"), act, world.between(1, TIMEOUT_MS))
            raise ArchiveUnavailable("simulated")
        found = act()
        if trouble == KILLED:
            world.kill(self._host)
        if trouble == ANSWER_LOST:
            raise ArchiveUnavailable("simulated")
        world.sleep(5 * world.delay())
        return found
