"""The processes of the platform in a simulated world: web processes and workers, with the real code of both over simulated servers.

What is replaced is listed in `simulated`: clocks, randomness, the connections to both servers, the lock and the file of marks of a machine,
and RQ, which only calls a worker.
"""

from __future__ import annotations

import gc
import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from unittest import mock

from events.archive.archivist import Archivist
from events.archive.reading import Archive, attach
from events.cache import Cache
from events.due import KINDS, QUICK
from events.errors import StoreRefused, StoreUnavailable
from events.notary import highwater, signer
from events.notary.leading import Lead
from events.notary.sidelog import SideLog
from events.notary.signer import Signer
from events.platform import Platform, Settings
from events.store import Store, holding, wire
from events.store import client as store_client
from events.store import queue as store_queue
from events.store.client import RedisClient
from events.store.queue import Jobs, floors
from events.store.queue.floors import Floors
from events.timing import pulse
from events.timing.clock import Clock
from events.timing.pulse import WEB, Pulse
from evidence import checkpoints
from evidence.notes import Malformed
from tests.simulation.functions import FUNCTIONS
from tests.simulation.network import LINES, REDIS, Bucket, Connection, Line, Service, Wire, connection, give_back
from tests.simulation.world import EPOCH, Host, Promise, Thread, Time, World
from tests.tally import TALLY
from workers import jobs, sequencer, sweep
from workers.background import Background

PARTITIONS = 2
ARCHIVIST = "archivist"
FOREVER_MS = 1e9
GAMES = {TALLY.id: TALLY}
TIME = Time()


class Machine:
    """A machine: its folder of keys, the file of marks there, and the locks that its processes have."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.marks: dict[str, Any] = {}
        self.locks: dict[str, Host] = {}


class Lock:
    """A lock of the threads of a process. Whoever waits for it lets the others act."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._held = False
        self._waiting: list[Thread] = []

    def __enter__(self) -> None:
        while self._held:
            assert self._world.thread is not None
            self._waiting.append(self._world.thread)
            self._world.sleep(FOREVER_MS)
        self._held = True

    def __exit__(self, *_: object) -> None:
        self._held = False
        while self._waiting:
            self._world.wake(self._waiting.pop(0))


class Stop:
    """In place of the event that stops a background thread. Nothing sets it: threads end with their process."""

    def __init__(self, world: World, began: bool = True) -> None:
        self._world, self._began = world, began

    def wait(self, seconds: float) -> bool:
        """Wait, a little longer or shorter each time. If it has not `began`, it may do so at any moment of a pause."""
        self._world.rest(seconds * 1000 * self._world.between(0.7 if self._began else 0, 1.3))
        self._began = True
        return False


class WatchedSigner(Signer):
    """The signer of a machine. The world notes what it signs."""

    def __init__(self, keys: Signer, platforms: Platforms) -> None:
        super().__init__(Path())
        self._keyring, self._looked = keys.load(), float("inf")
        self._platforms = platforms

    def sign(self, text: str) -> str:
        """Return the signed note of a text."""
        self._platforms.note_signed(text)
        return super().sign(text)


class Process(Host):
    """A process of the platform. Its memory is its own: the cache, the clock, what it knows of others."""

    def __init__(self, name: str, role: str, machine: Machine, number: int) -> None:
        super().__init__(name)
        self.role, self.machine, self.number = role, machine, number
        self.platform: Platform = cast(Platform, None)
        self.asked: list[Promise] = []
        self.after: Callable[[], None] = lambda: None

    def ended(self) -> None:
        """Do what follows from the end of the process."""
        self.after()


class Platforms:
    """Opens the platforms of processes in a world, on the same servers. `signed`: the root of each signed size of the
    server's log. `broken`: the laws that turned out broken meanwhile."""

    def __init__(self, world: World, store: Service, queue: Service, machines: list[Machine], replicas: int = 0) -> None:
        self.world, self.store, self.queue, self.machines, self.replicas = world, store, queue, machines, replicas
        self.bucket: dict[str, bytes] = {}
        self.signed: dict[int, bytes] = {}
        self.broken: list[str] = []
        self.running: dict[int, Process] = {}
        self.connections: list[Connection] = []
        self._numbers = 0

    def open(self, name: str, role: str, machine: Machine) -> Process:
        """Return a new process with an empty memory."""
        world = self.world
        self._numbers += 1
        process = Process(name, role, machine, self._numbers)
        settings = Settings(
            "redis://simulated",
            "redis://simulated",
            machine.folder / "data",
            partitions=PARTITIONS,
            keys=machine.folder,
            replicas=self.replicas,
        )
        url = f"redis://simulated/{process.number}"
        LINES[url] = Line(self.store, process)
        client = RedisClient(url, replicas=self.replicas)
        store = Store(client, PARTITIONS)
        clock = Clock(lambda: EPOCH + int(world.now), lambda: 1_000_000 + int(world.now), machine.name)
        queue = connection(Line(self.queue, process), tries=1)
        self.connections += [client._made, queue]
        shared = Floors.__new__(Floors)
        shared._connection, shared._again = queue, 0.0
        given = Pulse(store.pulses, shared, clock)
        given._here, given._lock, given._stop = machine.name, Lock(world), Stop(world)  # type: ignore[assignment]
        if role != ARCHIVIST:
            given.join(role, process.number)
        signs = WatchedSigner(KEYS.signer, self)
        unused = cast(Any, None)
        archive = Archive("memory:")
        archive._reading = [Lock(world)] * len(archive._reading)  # type: ignore[list-item]
        archive.put(Bucket(self.bucket, self.world, process))
        process.platform = Platform(
            settings,
            store,
            QueueOf(queue, clock),
            unused,
            unused,
            Cache(64),
            GAMES,
            clock,
            given,
            signs,
            SideLog(store, signs, clock),
            Lead(store.server_logs, lambda: machine.name * 16, TIME.monotonic),
            archive,
        )
        attach(process.platform)
        self.running[process.number] = process
        return process

    def close(self, process: Process) -> None:
        """Take back what a process had that has ended."""
        self.running.pop(process.number, None)
        for what in [what for what, host in process.machine.locks.items() if host is process]:
            del process.machine.locks[what]

    def end(self) -> None:
        """End the world, and keep its connections for the next one."""
        self.world.end()
        for found in self.connections:
            give_back(found)
        LINES.clear()

    def note_signed(self, text: str) -> None:
        """Note a text that is signed. A second root for a size of the log is a fork."""
        try:
            origin, size, root = checkpoints.parse(text)
        except Malformed:
            return
        if origin == KEYS.signer.name and self.signed.setdefault(size, root) != root:
            self.broken.append(f"one log: two roots were signed for {size} leaves")


class _Keys:
    """The keys of the server, which all machines have."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory()
        self.root = Path(self._folder.name)
        self.signer = Signer(self.root / "a", "simulated")
        self.signer.load()
        for name in ("b",):
            (self.root / name).mkdir()
            for file in (signer.PRIVATE, signer.PUBLIC):
                (self.root / name / file).write_bytes((self.root / "a" / file).read_bytes())

    def machines(self) -> list[Machine]:
        """Return two machines without marks."""
        return [Machine(name, self.root / name) for name in ("a", "b")]


KEYS = _Keys()


class QueueOf(Jobs):
    """The queue of a process: the real scripts. A ticket is an item of a list, as RQ has one, without RQ's job."""

    def __init__(self, line: Connection, clock: Clock) -> None:
        self.url = "redis://simulated"
        self._clock = clock
        self.name = "simulated"
        self.called = self.call
        self._connection = line
        self._exchange_script = self._script(_EXCHANGE)
        self._lost_script = self._script(_LOST)

    def _script(self, name: str) -> Callable[..., Any]:
        def run(args: list[Any]) -> Any:
            return self._connection.execute_command("EVALSHA", name, 0, *args)

        return run

    def call(self, kind: str) -> None:
        """Enqueue a ticket."""
        try:
            self._connection.execute_command("RPUSH", f"rq:queue:{kind}", "ticket")
        except store_queue.queue_errors as reason:
            store_queue.note_failure(reason)

    def begin(self, kind: str) -> bool:
        """Take a ticket, as a worker of RQ does. Return False if there is none."""
        try:
            return self._connection.execute_command("LPOP", f"rq:queue:{kind}") is not None
        except store_queue.queue_errors:
            return False


def _exchange_source() -> str:
    kinds = []
    for name, kind in KINDS.items():
        pool, alone = "slow" if kind.slow else "quick", str(kind.alone).lower()
        kinds.append(f"{name} = {{queue = 'rq:queue:{name}', pool = '{pool}', patience = {kind.patience_ms}, alone = {alone}}}")
    return f"local KINDS = {{{', '.join(kinds)}}}\n" + store_queue.server._text("exchange")


_EXCHANGE = FUNCTIONS.register(_exchange_source())
_LOST = FUNCTIONS.register(store_queue.server._text("lost"))


# ---------------------------------------------------------------- what processes do


def start(platforms: Platforms, process: Process) -> None:
    """Start the threads of a process."""
    world, platform = platforms.world, process.platform
    if process.role != ARCHIVIST:
        world.spawn(process, lambda: platform.pulse._run(platform.pulse._beat_or_warn, pulse.EVERY_MS), world.between(0, 50))
    if process.role == WEB:
        world.spawn(process, lambda: platform.pulse._run(platform.pulse._report, pulse.TICK_MS))
        return
    if process.role == ARCHIVIST:
        world.spawn(process, lambda: _archive(world, platform), world.between(0, 50))
        return
    for kind in (sweep.Sweep, sequencer.Sequencer):
        world.spawn(process, _background(world, kind, platform).run)
    world.spawn(process, lambda: _tickets(platforms, process), world.between(0, 50))


def _archive(world: World, platform: Platform) -> None:
    """Do what the process of the archivist does, more often."""
    archivist = Archivist(platform)
    while True:
        with suppress(StoreUnavailable, StoreRefused):
            archivist.round()
        world.sleep(world.between(20, 300))


def _background(world: World, kind: type[Background], platform: Platform) -> Background:
    thread = kind(platform)
    thread._stop_it = Stop(world, began=False)  # type: ignore[assignment]
    return thread


def _tickets(platforms: Platforms, process: Process) -> None:
    """Do what a worker of RQ does: wait for tickets, and carry out one after the other."""
    world, queue = platforms.world, cast(QueueOf, process.platform.jobs)
    while True:
        waiting = platforms.queue.primary.data.keys
        kind = next((kind for kind in QUICK if b"rq:queue:" + kind.encode() in waiting), None)
        if kind is None:
            world.sleep(world.between(5, 40))
        elif queue.begin(kind):
            work(process, kind)


def work(process: Process, kind: str) -> None:
    """Carry out a ticket."""
    jobs.bind(process.platform)
    jobs.work(kind)


# ---------------------------------------------------------------- what is replaced


class _Quiet:
    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args, **more: None


@contextmanager
def _limitless(*_: object) -> Iterator[None]:
    yield


@contextmanager
def _alone(folder: Path, what: str) -> Iterator[bool]:
    world = TIME.world
    assert world is not None
    host = None if world.thread is None else world.thread.host
    machine = CURRENT.machine(folder)
    if host is None:
        yield True
        return
    if what in machine.locks:
        yield False
        return
    machine.locks[what] = host
    try:
        yield True
    finally:
        if machine.locks.get(what) is host:
            del machine.locks[what]


class _Current:
    platforms: Platforms

    def machine(self, folder: Path) -> Machine:
        """Return the machine with a folder of keys."""
        return next(machine for machine in self.platforms.machines if machine.folder == folder)


CURRENT = _Current()


def _marks(folder: Path) -> dict[str, Any]:
    return {origin: dict(mark) for origin, mark in CURRENT.machine(folder).marks.items()}


def _write(file: Path, content: bytes, mode: int = 0o600) -> None:
    CURRENT.machine(file.parent).marks = json.loads(content)


def _runs(number: int, start: str) -> bool:
    return number in CURRENT.platforms.running


@contextmanager
def simulated() -> Iterator[None]:
    """Replace what a simulated process may not touch: clocks, chance, files, signals, and the kernel."""
    quiet = _Quiet()
    chance = random.getstate()
    with ExitStack() as stack:
        stack.enter_context(_rare_collections())
        for module in (store_client, pulse, floors, jobs, sweep):
            stack.enter_context(mock.patch.object(module, "time", TIME))
        for module in (pulse, jobs, sweep, sequencer, highwater, store_queue):
            if hasattr(module, "log"):
                stack.enter_context(mock.patch.object(module, "log", quiet))
        for place, name, value in (
            (pulse, "start_of", lambda number: str(number)),
            (pulse, "is_running", _runs),
            (store_client, "redis", REDIS),
            (wire, "Wire", Wire),
            (holding, "Waits", partial(holding.Waits, seconds=TIME.monotonic)),
            (jobs, "UnixSignalDeathPenalty", _limitless),
            (highwater, "alone", _alone),
            (highwater, "_read", _marks),
            (highwater, "durable", mock.Mock(write=_write)),
            (signer, "read", lru_cache(signer.read)),
            (random, "_urandom", lambda size: random.randbytes(size)),
            (threading.Thread, "start", _no_thread),
        ):
            stack.enter_context(mock.patch.object(place, name, value))
        for name in ("notary.sequencing.log", "store.log.logger", "timing.clock.log", "archive.archivist.log", "archive.returning.log"):
            stack.enter_context(mock.patch(f"events.{name}", quiet))
        try:
            yield
        finally:
            random.setstate(chance)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Collect garbage rarely: worlds make many objects that live until their end, and are full of cycles."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(500_000, 5, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _no_thread(self: threading.Thread) -> None:
    raise AssertionError(f"the simulated code starts a thread, {self.name}, whose steps would not follow from the seed")
