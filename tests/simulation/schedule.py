"""Schedules: what people do, what goes wrong meanwhile, and whether the laws hold in the end. All follow from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from events import accounts, play, recall
from events.archive import returning
from events.due import KINDS, split
from events.errors import PlatformError, StoreUnavailable
from events.notary import sequencing
from events.platform import Platform
from events.timing.pulse import WEB, WORKER
from games.kernel import SYSTEM, Refused, Seat
from record.entries import parse
from service.api import receipts
from tests.simulation.commands import NOTHING, Kept
from tests.simulation.laws import Witness, due_now
from tests.simulation.network import ANSWER_LOST, KILLED, MUTE, REQUEST_LATE, REQUEST_LOST, SILENT, Service
from tests.simulation.processes import ARCHIVIST, CURRENT, KEYS, PARTITIONS, TIME, Platforms, Process, start
from tests.simulation.world import EPOCH, Host, Promise, World

HEALING_MS = 30_000  # in which all must be well afterwards
PATIENCE_MS = 1000  # after which a client asks again
LONG_AGO_MS = 15 * 86_400_000
SHORT, LONG = 12, 40  # targets: a match that soon ends, and one that goes on
REPLICAS = (0, 1, 0, 2, 1)
REPEATED, KILL, FREEZE, EMPTIED, RESTARTED = "repeated", "kill", "freeze", "queue emptied", "store restarted"
CUT, FAILOVER = "replica cut", "failover"
LOOK_MS = 200  # after which it is seen again whether all is well

# How probable each fault is. The weather of a schedule makes it absent, rare or common.
STORE = {REQUEST_LOST: 0.01, REQUEST_LATE: 0.003, KILLED: 0.004, ANSWER_LOST: 0.01, SILENT: 0.002, MUTE: 0.002}
QUEUE = {REQUEST_LOST: 0.02, REQUEST_LATE: 0.003, KILLED: 0.004, ANSWER_LOST: 0.02, SILENT: 0.003, MUTE: 0.003}
OBJECTS = {REQUEST_LOST: 0.1, REQUEST_LATE: 0.1, KILLED: 0.1, ANSWER_LOST: 0.1}
NETWORK = {REQUEST_LOST: 0.05, REPEATED: 0.1, ANSWER_LOST: 0.1}
OF_PROCESSES = {KILL: 0.1, FREEZE: 0.07}
OF_SERVERS = {EMPTIED: 0.1, RESTARTED: 0.05, CUT: 0.15, FAILOVER: 0.05}


class Extent(NamedTuple):
    """How large a schedule is. `troubled_ms`: while faults happen. `harshness`: by which they are more probable. `both`: how probable it is
    that both machines have a web process, and that both have a worker. `tabs`: of each player. `moves`: of each tab. `creates`: how
    probable it is that somebody creates matches. `pauses_ms`: the longest of players, and of the director."""

    troubled_ms: tuple[float, ...]
    harshness: float
    both: float
    tabs: tuple[int, ...]
    moves: int
    creates: float
    pauses_ms: tuple[float, float]


TINY = Extent((60, 120, 200, 400), 2.5, 0.2, (1,), 2, 0.25, (20, 60))
SMALL = Extent((200, 300, 400, 1200), 1.6, 0.5, (1, 1, 2), 4, 0.3, (30, 150))
LARGE = Extent((2500,), 1, 1, (2,), 20, 1, (150, 400))
EVERY = {98: LARGE, 14: SMALL}  # of so many schedules one has another extent than TINY
AUDITED = 8  # of so many tiny schedules one ends with an audit of each match. All others do


def extent_of(seed: int) -> Extent:
    """Return how large a schedule is."""
    return next((extent for every, extent in EVERY.items() if seed % every == every - 1), TINY)


class Prepared(NamedTuple):
    """What the servers have when a schedule begins: two players and matches.

    `seats`: the seats of people in each match, with players. `over`: the digests of the entries of matches that were over long ago.
    """

    store: Kept
    queue: Kept
    players: list[str]
    seats: dict[str, dict[Seat, str]]
    over: dict[str, list[str]]
    now: float


class Outcome(NamedTuple):
    """What came of a schedule: the laws that are broken, its story, and the numbers of its faults."""

    seed: int
    broken: list[str]
    story: list[str]
    faults: list[int]


SCENARIOS: dict[str, list[dict[str, Any]]] = {
    "two people": [{"seats": {"one": "me", "two": "player:{bob}"}, "target": LONG}],
    "a person and a program": [{"seats": {"one": "me", "two": "ai:random"}, "target": SHORT}],
    "two matches": [
        {"seats": {"one": "me", "two": "player:{bob}"}, "target": SHORT},
        {"seats": {"one": "ai:random", "two": "me"}, "target": LONG},
    ],
    "an archive": [
        {"seats": {"one": "me", "two": "me"}, "target": SHORT, "over": True},
        {"seats": {"one": "me", "two": "player:{bob}"}, "target": LONG},
    ],
    "a clock": [
        {
            "target": LONG,
            "seats": {"one": "me", "two": "player:{bob}"},
            "settings": {"clock": {"kind": "per_action", "seconds": 5}, "time_out": {"policy": "forfeit"}},
        }
    ],
}
TURNS = (*(name for name in SCENARIOS if name != "an archive"), *SCENARIOS)  # the one with an archive costs most


@lru_cache
def prepared(scenario: str) -> Prepared:
    """Return the beginning of a scenario."""
    world = World(0)
    TIME.world = world
    random.seed(0)
    store, queue = Service(world, "store", NOTHING), Service(world, "queue", NOTHING)
    platforms = CURRENT.platforms = Platforms(world, store, queue, KEYS.machines())
    process = platforms.open("web", WEB, platforms.machines[0])
    platform = process.platform
    platform.store.check()
    ann, bob = (accounts.register(platform, name)[0].id for name in ("Ann", "Bob"))
    seats: dict[str, dict[Seat, str]] = {}
    over: dict[str, list[str]] = {}
    for given in SCENARIOS[scenario]:
        occupants = {seat: occupant.format(bob=bob) for seat, occupant in given["seats"].items()}
        made = play.create(platform, ann, "tally", occupants, {"target": given["target"]}, settings=given.get("settings"))
        for seat, occupant in occupants.items():
            if occupant.startswith("player:"):
                play.act_at_table(platform, made.match, bob, {"type": "take_seat", "seat": seat})
        people = {"me": ann, f"player:{bob}": bob}
        if given.get("over"):
            over[made.match] = _played_to_the_end(platform, made.match)
            sequencing.sequence(platform)
            platform.lead.give_up()
            world.now += LONG_AGO_MS
        seats[made.match] = {seat: people[occupant] for seat, occupant in occupants.items() if occupant in people}
    platforms.end()
    kept = [Kept(service.primary.data.keys, service.primary.data.ends) for service in (store, queue)]
    return Prepared(*kept, [ann, bob], seats, over, world.now)


def _played_to_the_end(platform: Platform, match: str) -> list[str]:
    """Play a match to its end. Return the digests of its entries."""
    while (position := recall.position(platform, match)).document["outcome"] is None:
        actor = position.to_act[0]
        action = {"type": "advance"} if actor == SYSTEM else {"type": "add", "by": 3, "stay": False}
        play.play(platform, match, actor, [action])
    return [parse(raw).digest for raw in platform.store.log.read_all(match)]


class Schedule:
    """A schedule. Half of them have a store with replicas, which may fail over."""

    def __init__(self, seed: int, skip: frozenset[int] = frozenset()) -> None:
        self.seed = seed
        replicas = REPLICAS[seed % len(REPLICAS)]
        self.begun = prepared(TURNS[seed // len(REPLICAS) % len(TURNS)])
        world = self.world = World(seed, skip)
        self.extent = extent_of(seed)
        world.harshness = self.extent.harshness
        TIME.world = world
        random.seed(seed)
        world.now = world.zero = self.begun.now
        self.witness = Witness()
        store = Service(world, "store", self.begun.store, replicas)
        self.platforms = Platforms(world, store, Service(world, "queue", self.begun.queue), KEYS.machines(), replicas)
        CURRENT.platforms = self.platforms
        self.replicas = replicas
        self.requests = 0
        self.created: dict[str, str] = {}
        self.processes: list[Process] = []
        for match, digests in self.begun.over.items():
            for version, digest in enumerate(digests, 1):
                self.witness.acknowledge(match, version, digest)
        self.busy = 0

    # ------------------------------------------------------------ the course

    def run(self) -> Outcome:
        """Play the schedule, let all heal, and judge."""
        world = self.world
        self.platforms.store.set_weather(STORE)
        self.queue_fails = world.chance.random() < 0.4  # when it does, a match often waits for the sweep, and little else happens
        self.platforms.queue.set_weather(QUEUE if self.queue_fails else {})
        self.network = world.weather(NETWORK)
        world.of_objects = world.weather(OBJECTS)
        alone = {role: world.chance.choice((1, 2)) for role in (WEB, WORKER) if world.chance.random() >= self.extent.both}
        for number, machine in enumerate(self.platforms.machines, 1):
            for role in (WEB, WORKER):
                if alone.get(role, number) == number:
                    self.begin(f"{role} {number}", role, machine)
            if self.begun.over and alone.get(WORKER, number) == number:
                self.begin(f"archivist {number}", ARCHIVIST, machine)
        for name, player in zip(("Ann", "Bob"), self.begun.players, strict=True):
            for tab in range(world.chance.choice(self.extent.tabs)):
                self.busy += 1
                world.spawn(Host(f"{name} {tab + 1}"), self._player(Host(f"{name} {tab + 1}"), player))
        if world.chance.random() < self.extent.creates:
            self.busy += 1
            world.spawn(Host("Ann 3"), self._creator(Host("Ann 3"), self.begun.players[0]))
        if self.begun.over:
            world.spawn(Host("operator"), self._operator)
        world.spawn(Host("director"), self._director)
        world.calm = False
        world.run(world.now + world.chance.choice(self.extent.troubled_ms))
        self.heal()
        judge = self.platforms.open("judge", WEB, self.platforms.machines[0])
        healed = self._well_within(HEALING_MS, judge)
        broken = self.witness.broken
        broken += self.platforms.broken
        if self.busy:
            broken.append("everything due: a request was not answered after all was well again")
        world.end()
        if healed or self.busy == 0:
            audits = self.extent is not TINY or self.seed % AUDITED == 0
            self.witness.judge(judge.platform, [*self.begun.seats, *self.created.values()], self.platforms.signed, audits)
        self.platforms.end()
        return Outcome(self.seed, broken, world.story, world.faults)

    def heal(self) -> None:
        """End all faults: start what was killed, and let what was frozen go on."""
        world = self.world
        world.heal()
        world.tell("all is well again")
        for service in (self.platforms.store, self.platforms.queue):
            service.settle()
        for process in self.processes:
            world.thaw(process)

    def _well_within(self, ms: float, look: Process) -> bool:
        """Let time pass until nothing is due and everybody was answered. Return False if that takes longer."""
        world = self.world
        until = world.now + ms
        while world.now < until:
            world.run(world.now + LOOK_MS)
            if not self.busy and not self._works() and not due_now(look.platform) and self._published(look) and self._archived(look):
                return True
        return False

    def _works(self) -> bool:
        """Return True if something is due, as the data show at once. Asking the platform costs more."""
        keys = self.platforms.store.primary.data.keys
        due, pending = ([keys.get(b"{p%d}:%s" % (number, name), {}) for number in range(PARTITIONS)] for name in (b"due", b"pending"))
        return any(KINDS[split(member.decode())[0]].at_once for index in due for member in index) or any(
            moment <= EPOCH + self.world.now for index in pending for moment in index.values()
        )

    def _published(self, look: Process) -> bool:
        state = look.platform.store.server_logs.state(look.platform.signer.name)
        return state.size == state.served

    def _archived(self, look: Process) -> bool:
        return all(where.away is not None for where in look.platform.store.archiving.where(list(self.begun.over)))

    def _operator(self) -> None:
        """Bring matches back from the archive."""
        world = self.world
        while not world.calm:
            world.sleep(world.between(0, 2.5 * self.extent.pauses_ms[1]))
            webs = [process for process in self.processes if process.role == WEB]
            if webs:
                world.spawn(world.chance.choice(webs), partial(self._bring_back, webs[0]))

    def _bring_back(self, process: Process) -> None:
        for match in self.begun.over:
            try:
                returning.bring_back(process.platform, match)
            except StoreUnavailable:
                pass
            except PlatformError as reason:
                self.witness.broken.append(f"nothing lost: {match} cannot be brought back: {reason.code}")

    def begin(self, name: str, role: str, machine: Any) -> None:
        """Start a process, and start it anew whenever it ends."""
        process = self.platforms.open(name, role, machine)
        self.processes.append(process)

        def after() -> None:
            self.platforms.close(process)
            for answer in process.asked:  # their connections are reset
                answer.keep(None)
            self.processes.remove(process)
            self.world.tell(f"{name} has ended")
            self.world.spawn(Host("supervisor"), partial(self._begin_again, name, role, machine))

        process.after = after
        start(self.platforms, process)

    def _begin_again(self, name: str, role: str, machine: Any) -> None:
        self.world.rest(self.world.soon(1500))
        self.begin(name, role, machine)

    def _director(self) -> None:
        """Let large things go wrong."""
        world, store = self.world, self.platforms.store
        kinds = {EMPTIED} if self.queue_fails else set()
        kinds |= {RESTARTED, CUT, FAILOVER} if self.replicas else {RESTARTED}
        of_servers = world.weather({kind: rate for kind, rate in OF_SERVERS.items() if kind in kinds})
        of_processes = world.weather(OF_PROCESSES)
        while not world.calm:
            world.sleep(world.between(0.1, 1) * self.extent.pauses_ms[1])
            if self.processes:
                process = world.chance.choice(self.processes)
                trouble = world.trouble(of_processes, partial(getattr, process, "name"))
                if trouble == KILL:
                    world.kill(process)
                elif trouble == FREEZE:
                    process.frozen_until = world.now + world.chance.choice((300, 1500, 6000)) * world.between(0.5, 1)
            trouble = world.trouble(of_servers, lambda: store.primary.name)
            if trouble == EMPTIED:
                self.platforms.queue.primary.data.keys.clear()
            elif trouble == RESTARTED:
                store.primary.data.restart()
                store.primary.down_until = world.now + world.between(50, 1000)
            elif trouble == CUT:
                world.spawn(Host("link"), lambda: self._cut(store), 0)
            elif trouble == FAILOVER:
                store.fail_over([*self.processes])

    def _cut(self, store: Service) -> None:
        """Cut the replicas off for a while. Then the primary fails, or they go on where they were."""
        world, primary = self.world, store.primary
        for replica in primary.replicas:
            replica.cut = True
        world.sleep(world.between(50, 1500))
        if primary is store.primary and not world.calm and world.chance.random() < 0.7:
            store.fail_over([*self.processes])
        elif primary is store.primary:
            store.reconnect()

    # ------------------------------------------------------------ players

    def _player(self, host: Host, player: str) -> Callable[[], None]:
        def run() -> None:
            mine = [(match, seat) for match, seats in self.begun.seats.items() for seat, owner in seats.items() if owner == player]
            for _ in range(self.extent.moves if mine else 0):
                if self.world.calm:
                    break
                self.world.sleep(self.world.chance.choice((0, 1, 1, 1)) * self.world.between(0, self.extent.pauses_ms[0]))
                self._move(host, player, *self.world.chance.choice(mine))
            self.busy -= 1

        return run

    def _move(self, host: Host, player: str, match: str, seat: Seat) -> None:
        """Wait for a turn of a seat, for a while, and act. Ask until there is an answer."""
        world, chance = self.world, self.world.chance
        for _ in range(4):
            seen = self._asked(host, self._read(match))
            if seen is not None and seen.document["outcome"] is not None:
                return
            if seen is not None and seat in seen.to_act:
                break
            world.sleep(world.soon(100))
        else:
            return
        actions = chance.choice(
            (
                [{"type": "add", "by": chance.randint(1, 3), "stay": False}],
                [{"type": "roll"}],
                [{"type": "add", "by": 1, "stay": True}, {"type": "add", "by": 1, "stay": False}],
                [{"type": "draw"}],
                [{"type": "add", "by": 7, "stay": False}],
            )
        )
        self.requests += 1
        request = f"r{self.requests}"
        expected = seen.version if chance.random() < 0.5 else None
        self.witness.ask(match, request, len(actions))
        while True:  # the answer never comes only if the platform breaks a law; the world then ends first
            answer = self._asked(host, self._act(match, seat, player, actions, expected, request), acts=True)
            if answer is not None:
                world.tell(f"{host.name} {seat} of {match[:5]} {request} {[each['type'] for each in actions]}: {answer}")
                return
            world.rest(world.soon(500))

    def _creator(self, host: Host, player: str) -> Callable[[], None]:
        """Return what creates matches, each of which gets a leaf in the server's log at once."""

        def run() -> None:
            while not self.world.calm:
                self.requests += 1
                request = f"c{self.requests}"
                while (made := self._asked(host, self._create(player, request), acts=True)) is None:
                    self.world.rest(self.world.soon(500))
                if self.created.setdefault(request, made) != made:
                    self.witness.broken.append(f"nothing twice: the request {request} has created two matches")
                self.world.sleep(self.world.between(0, 4 * self.extent.pauses_ms[0]))
            self.busy -= 1

        return run

    def _create(self, player: str, request: str) -> Callable[[Process], Any]:
        """Return a handler that creates a match with an open seat."""

        def handle(process: Process) -> Any:
            try:
                made = play.create(process.platform, player, "tally", {"one": "me", "two": "open"}, {"target": SHORT}, request=request)
            except StoreUnavailable:
                return None
            self.witness.acknowledge(made.match, made.version, made.digest)
            self.witness.keep(receipts.receipt_at(process.platform, made))
            return made.match

        return handle

    def _asked(self, host: Host, handle: Callable[[Process], Any], acts: bool = False) -> Any:
        """Send a request to some web process, and return its answer, or None if there is none."""
        world = self.world
        webs = [process for process in self.processes if process.role == WEB]
        if not webs:
            world.sleep(20)
            return None
        process, answer = world.chance.choice(webs), Promise(world)
        process.asked.append(answer)
        trouble = world.trouble(self.network, lambda: f"{host.name} to {process.name}") if acts else ""

        def serve() -> None:
            found = handle(process)
            if trouble != ANSWER_LOST:
                world.sleep(world.delay())
                answer.keep(found)

        if trouble != REQUEST_LOST:
            world.spawn(process, serve, world.delay())
        if trouble == REPEATED:
            world.spawn(process, serve, world.soon(8000))
        if trouble in (REQUEST_LOST, ANSWER_LOST):
            world.sleep_unanswered(PATIENCE_MS)
        else:
            answer.wait(PATIENCE_MS)
        return answer.value

    def _read(self, match: str) -> Callable[[Process], Any]:
        """Return a handler that shows a match."""

        def handle(process: Process) -> Any:
            before = self.witness.reached.get(match, 0)
            try:
                position = recall.position(process.platform, match)
                some = self.world.chance.random() < 0.4
                raws = process.platform.store.log.read(match, max(0, position.version - 3)) if some else []
            except (StoreUnavailable, PlatformError):
                return None
            self.witness.show(match, position.version, position.digest)
            for entry in map(parse, raws):
                self.witness.show(match, entry.version, entry.digest)
            if position.version < before and not self.replicas:
                self.witness.broken.append(f"nothing lost: version {before} of {match} was acknowledged, and then {position.version} shown")
            return position

        return handle

    def _act(
        self, match: str, seat: Seat, player: str, actions: Sequence[Any], expected: int | None, request: str
    ) -> Callable[[Process], Any]:
        """Return a handler that carries out actions, as the API does."""

        def handle(process: Process) -> Any:
            platform = process.platform
            with platform.pulse.flight.receive() as received:
                try:
                    played = carry_out(platform, match, seat, actions, player, expected, request, received.moment)
                except StoreUnavailable:
                    return None
                except Refused as refused:
                    return refused.refusal.code
                except PlatformError as error:
                    return error.code
            for entry in played.entries:
                self.witness.acknowledge(match, entry.version, entry.digest)
            self.witness.keep(receipts.receipt_for(platform, played))
            return f"{played.first} to {played.last}"

        return handle


def carry_out(
    platform: Platform, match: str, seat: Seat, actions: Sequence[Any], player: str, expected: int | None, request: str, received: int
) -> play.Played:
    """Carry out actions of a seat."""
    return play.play(platform, match, seat, actions, player=player, expected=expected, request=request, received=received)


def run(seed: int, skip: frozenset[int] = frozenset()) -> Outcome:
    """Play the schedule of a seed."""
    return Schedule(seed, skip).run()


def shortened(outcome: Outcome, tries: int = 60) -> Outcome:
    """Leave out faults of a schedule as long as it breaks a law. Return the schedule with the fewest that was found."""
    skip: frozenset[int] = frozenset()
    size = len(outcome.faults)
    while size and tries:
        for place in range(0, len(outcome.faults), size):
            tries -= 1
            without = skip.union(outcome.faults[place : place + size])
            found = run(outcome.seed, without)
            if found.broken and len(found.faults) < len(outcome.faults):
                outcome, skip = found, without
                break
            if not tries:
                break
        else:
            size //= 2
    return outcome
