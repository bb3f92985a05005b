"""The throttle: it refuses requests beyond a limit before they cost anything.

`admit` is called for every request, before anything parses it, and needs no round trip. `charge` is called after it, with the CPU time that
it took. `spend` counts what is rare and expensive, such as a new match, exactly, in the counters that all processes share. If the counters
are away, each process counts alone.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any

from events.store.queue.counters import Addition, Counters
from service.http import metrics
from service.http.addresses import Addresses
from service.http.limits import OWN, Used
from service.http.meters import Meter, Settlement
from service.http.problems import Problem

PROBES = {"/healthz": "probes", "/readyz": "probes", "/metrics": "metrics"}
DEPOSIT = 20.0  # milliseconds of CPU time that a request counts for until it is known what it took


class Payer:
    """For whom a request counts: the owner of its key, or all others at its address; and the address.

    `caller`: the id of that player, or the address. `waits`: the request counts towards CPU time before it is known how much it takes.
    """

    __slots__ = ("address", "caller", "player", "waits")

    def __init__(self, player: str | None, address: str) -> None:
        self.player = player
        self.address = address
        self.caller = player or address
        self.waits = False


class Limited(Problem):
    """A refusal because a limit is used up."""

    def __init__(self, kind: str, used: Used) -> None:
        limit = used.limit
        more: dict[str, Any] = {"limit": limit.name, "scope": limit.scope, "amount": used.amount, "retry_after": used.seconds}
        super().__init__(kind, more, unit=limit.unit, window=limit.seconds, **more)
        self.headers = used.headers()
        metrics.limited.labels(limit.name).inc()


class Throttle:
    """The meters of a process. Shared by its threads. `amounts`: the amount of each limit, by name; 0 turns it off."""

    def __init__(self, counters: Counters, amounts: Mapping[str, int], addresses: Addresses) -> None:
        self._counters = counters
        self._addresses = addresses
        settlement = Settlement()
        rates = [limit for limit in OWN if limit.seconds is not None and amounts[limit.name]]
        self._meters = {limit.name: Meter(limit, amounts[limit.name], counters, settlement.notify) for limit in rates}
        self._cpu, self._anonymous_cpu, self._address_cpu = map(self._meters.get, ("cpu", "anonymous_cpu", "address_cpu"))
        self._begun: Counter[str] = Counter()
        self._lock = threading.Lock()
        settlement.over([*self._meters.values()])

    def address_of(self, environ: Mapping[str, Any]) -> str:
        """Return the address that a request counts for."""
        return self._addresses.of(environ)

    def probe(self, path: str, address: str) -> Used | None:
        """Count a request of a probe. Return the limit that refuses it, or that is more than half used, or None."""
        return self._take((PROBES[path], address))

    def admit(self, payer: Payer, acts: bool) -> Used | None:
        """Count a request. Return the limit that refuses it, or the scarcest of the limits that are more than half used, or None.

        `acts`: the request is an action of a player. A request that is not refused has begun, and ends with `charge`.
        """
        player, address = payer.player, payer.address
        own = ("anonymous", address) if player is None else ("actions" if acts else "requests", player)
        used = self._take(own, ("address", address))
        calm = self._is_calm(payer)
        if not calm and (used is None or not used.refused):
            used = self._over(payer) or used
        if used is not None and used.refused:
            if player is None or not acts or not self._is_below_floor(player):
                return used
            used = None
        if not calm:
            payer.waits = True
            with self._lock:
                self._begun.update({payer.caller, payer.address})
        return used

    def _is_calm(self, payer: Payer) -> bool:
        """Return True if neither the caller nor the address has used half of its CPU time."""
        own = self._anonymous_cpu if payer.player is None else self._cpu
        return (own is None or own.is_calm(payer.caller)) and (self._address_cpu is None or self._address_cpu.is_calm(payer.address))

    def _over(self, payer: Payer) -> Used | None:
        """Return a limit on CPU time that is used up, together with what has begun, or None.

        What is left of one is never told: how long an answer takes may depend on what its reader must not know.
        """
        own = self._anonymous_cpu if payer.player is None else self._cpu
        for meter, subject in ((own, payer.caller), (self._address_cpu, payer.address)):
            if meter is not None and (spent := meter.peek(subject, DEPOSIT * self._begun[subject])) < 0:
                return meter.used(spent)
        return None

    def charge(self, payer: Payer, seconds: float) -> None:
        """End a request that `admit` has let begin, and count the CPU time that it took."""
        self.charge_more(payer, seconds)
        if payer.waits:
            payer.waits = False
            with self._lock:
                self._begun -= Counter({payer.caller, payer.address})  # which drops what is 0

    def charge_more(self, payer: Payer, seconds: float) -> float:
        """Count CPU time that was used for somebody. Return in how many seconds to go on: 0, unless the caller is beyond the limit."""
        if self._address_cpu is not None:
            self._address_cpu.charge(payer.address, seconds * 1000)
        own = self._anonymous_cpu if payer.player is None else self._cpu
        if own is None:
            return 0.0
        own.charge(payer.caller, seconds * 1000)
        return 0.0 if own.is_calm(payer.caller) else max(0.0, -own.peek(payer.caller))

    def _take(self, *subjects: tuple[str, str]) -> Used | None:
        """Spend a unit of each limit in turn, until one is used up. Return that one, or the scarcest that is more than half used."""
        scarcest: Used | None = None
        for name, subject in subjects:
            meter = self._meters.get(name)
            if meter is None:
                continue
            spent = meter.spend(subject)
            if 0 <= spent <= meter.half:
                continue
            used = meter.used(spent)
            if used.refused:
                return used
            if scarcest is None or used.left * scarcest.amount < scarcest.left * used.amount:
                scarcest = used
        return scarcest

    def _is_below_floor(self, player: str) -> bool:
        floor = self._meters.get("actions_floor")
        return floor is not None and floor.spend(player) >= 0

    def spend(self, *subjects: tuple[str, str]) -> Used | None:
        """Count something rare towards limits and their subjects. Return the use of the first. Raise Problem `too_many_requests`."""
        found = [(meter, subject) for name, subject in subjects if (meter := self._meters.get(name)) is not None]
        for meter, subject in found:
            if (here := meter.peek(subject)) < 0:
                raise Limited("too_many_requests", meter.used(here))
        answers = self._counters.add([Addition(f"{meter.limit.name}:{subject}", meter.cost, meter.window) for meter, subject in found])
        left: list[Used] = []
        for place, (meter, subject) in enumerate(found):
            if answers is None:
                spent = meter.spend(subject)
            else:
                added, held = answers[place]
                meter.learn(subject, held)
                spent = held if added else meter.window - held - meter.cost
            left.append(meter.used(spent))
            if left[-1].refused:
                raise Limited("too_many_requests", left[-1])
        return left[0] if left else None

    def count(self, name: str, subject: str) -> Used | None:
        """Count a request towards another limit, as `admit` does. Raise Problem `too_many_requests`."""
        used = self._take((name, subject))
        if used is not None and used.refused:
            raise Limited("too_many_requests", used)
        return used
