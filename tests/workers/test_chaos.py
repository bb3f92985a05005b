"""Chaos: workers are killed while they think, the queue is flushed, the store is restarted, jobs come twice, clocks are wrong by a minute.

In every trial the AI seat or the time-out acts within ten seconds of its deadline, and exactly once.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import redis

from events import play, recall
from events.audit import audit
from events.due import owed
from events.errors import PlatformError, StoreUnavailable
from events.keeping import embedded
from events.platform import Platform
from games.kernel import Refused
from record.entries import Entry, parse
from tests.conftest import within
from tests.workers.conftest import ANN, TEN_SECONDS, Hire, Worker

CLOCK = {"kind": "per_action", "seconds": 5}
STORM = 4.5  # seconds of disturbances, so that the last ones meet the deadlines
PATIENT = 60.0  # seconds in which a trial of a loaded machine must have ended; what counts is in the entries
ADD = {"type": "add", "by": 1, "stay": False}
NEVER_THINKS = ("--queues", "advance,deadline")

Servers = dict[str, embedded.Server]


class Trial(NamedTuple):
    """A match in which the second seat thinks, or in which the first seat does nothing and runs out of time."""

    match: str
    thinks: bool


class Storm:
    """What happens to the processes while matches are played. Everything follows from the seed but the time that things take."""

    def __init__(self, platform: Platform, servers: Servers, hire: Hire, folder: Path, seed: int) -> None:
        self.platform = platform
        self.servers = servers
        self.folder = folder
        self.chance = random.Random(seed)
        self._hire = hire
        self.workers: list[tuple[Worker, tuple[str, ...]]] = []
        for queues in ((), (), NEVER_THINKS):
            self.hire(queues, 0)

    def hire(self, queues: tuple[str, ...], off: int) -> None:
        self.workers.append((self._hire("tests.workers.skewed", str(off), *queues), queues))

    def kill_worker(self) -> None:
        worker, queues = self.workers.pop(self.chance.randrange(len(self.workers)))
        worker.kill()
        worker.wait()
        self.hire(queues, self.chance.choice([0, 60_000, -60_000]))

    def kill_thinking_worker(self) -> None:
        for file in self.folder.glob("thinking-*"):
            file.unlink(missing_ok=True)
            for place, (worker, _) in enumerate(self.workers):
                if file.name == f"thinking-{worker.pid}":
                    _, queues = self.workers.pop(place)
                    worker.kill()
                    worker.wait()
                    self.hire(queues, 0)
                    return

    def flush_queue(self) -> None:
        redis.Redis.from_url(self.platform.settings.queue_url).flushall()

    def restart_queue(self) -> None:
        self._restart(embedded.QUEUE, "off")

    def restart_store(self) -> None:
        self._restart(embedded.STORE, "no")

    def look_after(self) -> None:
        """Start those workers again that have ended because the store was away when they began, as `serve` does."""
        for place, (worker, queues) in enumerate(self.workers):
            if worker.poll() is not None:
                del self.workers[place]
                self.hire(queues, 0)
                return

    def _restart(self, name: str, fsync: str) -> None:
        process = self.servers[name].process
        assert process is not None
        process.kill()
        process.wait()
        self.servers[name] = embedded.start(self.folder, name, fsync)

    def send_twice(self, trials: list[Trial]) -> None:
        for trial in trials:
            work = owed(insist(lambda trial=trial: recall.position(self.platform, trial.match)))
            self.platform.jobs.push(work)
            self.platform.jobs.push(work)

    def take_back(self, trials: list[Trial]) -> None:
        """Let the player take back an action while the AI thinks about its answer, and act again."""
        for trial in self.chance.sample(trials, min(2, len(trials))):
            position = insist(lambda trial=trial: recall.position(self.platform, trial.match))
            if not trial.thinks or position.to_act != ["two"]:
                continue
            offer = {"type": "offer", "what": "takeback", "version": position.version - 1}
            with contextlib.suppress(Refused, PlatformError):
                play.act_at_table(self.platform, trial.match, "one", offer, player=ANN, expected=position.version)
                insist(lambda trial=trial: play.play(self.platform, trial.match, "one", [ADD], player=ANN))


def insist(call: Callable[[], Any]) -> Any:
    """Return the result of a call as soon as the store is there."""

    def tried() -> list[Any]:
        with contextlib.suppress(StoreUnavailable):
            return [call()]
        return []

    return within(PATIENT, tried)[0]


def begun(storm: Storm, thinks: bool) -> Trial:
    """Begin a match: an AI seat is about to think, or the clock of a player runs."""
    platform = storm.platform
    seats = {"one": "me", "two": "ai:greedy"} if thinks else {"one": "me", "two": "me"}
    policy = storm.chance.choice(["forfeit", "substitute"])
    settings = {} if thinks else {"clock": CLOCK, "time_out": {"policy": policy, "level": "random"}}
    match = play.create(platform, ANN, "slow" if thinks else "tally", seats, {"target": 5}, settings=settings).match
    within(PATIENT, lambda: "one" in insist(lambda: recall.position(platform, match)).to_act)
    if thinks:
        insist(lambda: play.play(platform, match, "one", [ADD], player=ANN))
    return Trial(match, thinks)


def entries(platform: Platform, match: str) -> list[Entry]:
    return [parse(raw) for raw in insist(lambda: list(platform.store.log.read_all(match)))]


def time_outs(platform: Platform, match: str) -> list[tuple[int, int, str]]:
    """Return the moment, the deadline and the seat of each time-out."""
    found = [(entry.at, event) for entry in entries(platform, match) for event in entry.events]
    return [(at, event["deadline"], event["seat"]) for at, event in found if event["type"] == "time_ran_out"]


def rage(storm: Storm, number: int) -> None:
    """Carry out some trials at once."""
    (storm.folder / "go").unlink(missing_ok=True)
    trials = [begun(storm, place % 2 == 0) for place in range(number)]
    ends = time.monotonic() + STORM
    disturbances: list[Callable[[], None]] = [
        storm.kill_worker,
        storm.kill_thinking_worker,
        storm.flush_queue,
        storm.restart_queue,
        storm.restart_store,
        lambda: storm.send_twice(trials),
        lambda: storm.take_back(trials),
    ]
    storm.chance.shuffle(disturbances)
    for act in disturbances * 5:
        if time.monotonic() > ends:
            break
        act()
        storm.look_after()
        time.sleep(storm.chance.uniform(0.1, 0.7))
    (storm.folder / "go").touch()
    began = storm.platform.clock.now()
    for trial in trials:
        check(storm, trial, began)


def check(storm: Storm, trial: Trial, began: int) -> None:
    """Check that the AI seat, or the system, has acted in time and once."""
    platform, match = storm.platform, trial.match
    if trial.thinks:

        def answers() -> list[Entry]:
            storm.look_after()
            found = entries(platform, match)
            human = max(entry.version for entry in found if entry.actor == "one" and entry.action["type"] == "add")
            return [entry for entry in found if entry.version > human and entry.actor == "two"]

        within(PATIENT, lambda: answers() and insist(lambda: recall.position(platform, match)).to_act != ["two"])
        given = answers()
        assert given[0].at - began <= TEN_SECONDS * 1000, "it could think from then on"
        assert sum(not entry.action.get("stay", False) for entry in given) <= 1, "it has had one turn"
    else:
        within(PATIENT, lambda: storm.look_after() or time_outs(platform, match))
        found = time_outs(platform, match)
        assert len({deadline for _, deadline, _ in found}) == len(found) <= 2, "each seat runs out of time once"
        for at, deadline, _ in found:
            assert deadline < at <= deadline + TEN_SECONDS * 1000
    report = insist(lambda: audit(platform, match))
    assert report.ok, report.findings


@pytest.fixture
def storm(place: tuple[Platform, Servers], hire: Hire, tmp_path: Path, request: pytest.FixtureRequest) -> Storm:
    platform, servers = place
    return Storm(platform, servers, hire, tmp_path, getattr(request, "param", 1))


def test_in_a_storm_every_deadline_and_every_turn_comes_once_and_in_time(storm: Storm) -> None:
    rage(storm, 4)


@pytest.mark.soak
@pytest.mark.parametrize("storm", range(10, 14), indirect=True)
def test_in_two_hundred_trials_every_deadline_and_every_turn_comes_once_and_in_time(storm: Storm) -> None:
    for _ in range(10):
        rage(storm, 5)
