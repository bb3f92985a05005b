"""Give a pulse: every web process and worker reports to the store each second that it runs, and learns of outages.

A process without a pulse for two seconds is frozen, unless it has ended. That is an outage. Two seconds without any pulse of a role are an
outage, too: the store was away, or everything was down. Other processes record an outage while it lasts. The first pulse after it records
it as well.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event, Lock, Thread
from typing import NamedTuple

import structlog

from events.errors import StoreRefused, StoreUnavailable
from events.lifeline import is_running, start_of
from events.store.pulses import Heard, Pulses
from events.store.queue.floors import Floors
from events.telemetry import metrics
from events.timing.clock import ALIVE_MS, Beat, Clock
from events.timing.flight import TICK_MS, Flight
from events.timing.outages import Outages

WEB = "web"
WORKER = "worker"

EVERY_MS = 1000
GONE_MS = 10_000  # after this time a frozen process counts as ended, if this process cannot ask the kernel about it

log = structlog.get_logger(__name__)


class _Seen(NamedTuple):
    """The newest pulse of a name, and the uptime of this machine when it last changed."""

    moment: int
    since: int


class Pulse:
    """The pulse of a process, and what it knows of other processes. The threads of the process share it.

    Before `start`, the process gives no pulse and only reads those of others.
    """

    def __init__(self, pulses: Pulses, floors: Floors, clock: Clock) -> None:
        self.outages = Outages()
        self.flight = Flight(clock)
        self._pulses = pulses
        self._floors = floors
        self._clock = clock
        self._role = ""
        self._name = ""
        self._here = _place()
        self._last: Beat | None = None  # the last successful pulse or look of this process
        self._seen: dict[str, _Seen] = {}
        self._still: dict[str, int] = {}
        self._lock = Lock()
        self._stop = Event()

    def start(self, role: str) -> None:
        """Give a pulse of this role every second from now on. A WEB process also reports its requests in flight."""
        self.join(role, os.getpid())
        Thread(target=self._run, args=(self._beat_or_warn, EVERY_MS), name="pulse", daemon=True).start()
        if role == WEB:
            Thread(target=self._run, args=(self._report, TICK_MS), name="flight", daemon=True).start()

    def join(self, role: str, number: int) -> None:
        """Take a role, as the process with this pid. From then on each `beat` is a pulse."""
        self._role, self._name = role, f"{role}:{self._here}:{number}:{start_of(number)}"

    def stop(self) -> None:
        """Give no more pulses."""
        self._stop.set()

    def beat(self) -> None:
        """Report to the store that this process runs, and read pulses and outages. Raises StoreUnavailable, StoreRefused."""
        with self._lock:
            if self._last is None:
                self._begin()
            self._clock.compare()
            beat = self._clock.beat()
            if self._last is not None and beat.uptime - self._last.uptime > ALIVE_MS:
                # This process was frozen, or the store was away. So it does not know for how long others have given no pulse.
                self._seen = {name: seen._replace(since=beat.uptime) for name, seen in self._seen.items()}
            gone = [name for name, seen in self._seen.items() if self._has_ended(name, beat.uptime - seen.since)]
            still = {
                name: seen.moment
                for name, seen in self._seen.items()
                if beat.uptime - seen.since > ALIVE_MS and name not in gone and name != self._name
            }
            since = self.outages.since
            own = None if self._last is None else self._last.moment
            heard = self._pulses.beat(self._role, self._name, beat, since, still, gone, own) if self._role else self._pulses.look(since)
            self._learn(heard, beat, gone)
            still = {name: moment for name, moment in still.items() if name not in heard.pulses or heard.pulses[name].moment == moment}
            if still.keys() - self._still.keys():
                log.warning("processes_frozen", number=len(still))
            self._still, self._last = still, beat

    def take_part(self) -> None:
        """Adopt the service time of other processes before the first write. Does nothing without a role or after the first pulse.

        Raises StoreUnavailable, StoreRefused.
        """
        if self._last is None and self._role:
            self.beat()

    def refresh(self, moment: int) -> None:
        """Learn all outages that are recorded up to a moment. It takes one round trip, unless the last pulse was after the moment.

        Raises StoreUnavailable, StoreRefused.
        """
        if self._last is None or self._last.moment <= moment:
            self.beat()

    @property
    def is_fresh(self) -> bool:
        """True if this process read the pulses of others in the last two seconds."""
        last = self._last
        return last is not None and self._clock.uptime() - last.uptime <= ALIVE_MS

    @property
    def is_disturbed(self) -> bool:
        """True if an outage still lasted at the last pulse, so its end is unknown."""
        return bool(self._still)

    def floor(self, now: int) -> int | None:
        """Return the moment before which web processes have carried out all received requests, at most `now`. It takes one round trip.

        Return None if a web process has not reported: nobody knows what it has received.
        """
        floors = self._floors.read([name for name in list(self._seen) if name.startswith(f"{WEB}:")])
        return None if floors is None or None in floors else min([now, *[floor for floor in floors if floor is not None]])

    def _begin(self) -> None:
        """Adopt the service time of the running processes."""
        newest = _newest(self._pulses.look(0).pulses)
        if newest is not None:
            self._clock.begin(newest, self._newest_later)

    def _newest_later(self) -> Beat:
        time.sleep(EVERY_MS / 800)
        newest = _newest(self._pulses.look(0).pulses)
        assert newest is not None, "there was a pulse before, and roles are never removed"
        return newest

    def _learn(self, heard: Heard, beat: Beat, gone: list[str]) -> None:
        """Remember the pulses and outages in an answer."""
        self.outages.add(heard.outages)
        metrics.outages.inc(heard.new)
        # A store that was started anew has forgotten the processes that have given no pulse since. They may be frozen.
        forgotten = {name: seen for name, seen in self._seen.items() if name not in heard.pulses and name not in gone}
        self._seen = forgotten | {name: self._seen_now(name, pulse, beat) for name, pulse in heard.pulses.items() if name not in gone}
        others = _newest({name: pulse for name, pulse in heard.pulses.items() if name != self._name})
        if others is not None:
            self._clock.keep_up(others)

    def _seen_now(self, name: str, pulse: Beat, beat: Beat) -> _Seen:
        known = self._seen.get(name)
        if known is None:  # by its own time, it has not changed since then
            return _Seen(pulse.moment, beat.uptime - max(0, beat.moment - pulse.moment))
        return known if known.moment == pulse.moment else _Seen(pulse.moment, beat.uptime)

    def _has_ended(self, name: str, still_ms: int) -> bool:
        """Return True if a process has ended. For a process elsewhere, only the time counts. A role never ends."""
        if name == self._name or ":" not in name or still_ms < EVERY_MS:
            return False
        _, place, number, start = name.split(":")
        return still_ms > GONE_MS if place != self._here else not is_running(int(number), start)

    def _run(self, act: Callable[[], None], every_ms: int) -> None:
        while True:
            act()
            if self._stop.wait(every_ms / 1000):
                return

    def _beat_or_warn(self) -> None:
        try:
            self.beat()
        except (StoreUnavailable, StoreRefused) as reason:
            metrics.pulses_failed.inc()
            log.warning("pulse_failed", error=type(reason).__name__)
        except Exception as reason:  # noqa: BLE001 - it is logged
            # If this thread ended, it would look like an endless outage.
            log.error("pulse_failed", error=type(reason).__name__)

    def _report(self) -> None:
        self._floors.report(self._name, self.flight.tick())


def _newest(pulses: Mapping[str, Beat]) -> Beat | None:
    return max(pulses.values(), default=None)


def _place() -> str:
    """Return a name for the set of processes whose pids are valid here (the pid namespace)."""
    try:
        return Path("/proc/self/ns/pid").readlink().name.strip("pid:[]")
    except OSError:
        return "0"
