"""The throttle: it refuses requests beyond a limit before they cost anything.

`admit` is called for every request, before anything parses it, and needs no round trip. `spend` counts what is rare and expensive, such as
a new match, exactly, in the counters that all processes share. If the counters are away, each process counts alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from events.store.queue.counters import Addition, Counters
from service.http import metrics
from service.http.addresses import Addresses, Network
from service.http.known_keys import KnownKeys
from service.http.limits import OWN, Used
from service.http.meters import Meter, Settlement
from service.http.problems import Problem

PROBES = frozenset(("/healthz", "/readyz", "/metrics"))


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

    def __init__(self, counters: Counters, amounts: Mapping[str, int], trusted: Sequence[Network] = ()) -> None:
        self._counters = counters
        self._addresses = Addresses(trusted)
        settlement = Settlement()
        rates = [limit for limit in OWN if limit.seconds is not None and amounts[limit.name]]
        self._meters = {limit.name: Meter(limit, amounts[limit.name], counters, settlement.notify) for limit in rates}
        self.known_keys = KnownKeys(counters, settlement.notify)
        settlement.over([*self._meters.values(), self.known_keys])

    def address_of(self, environ: Mapping[str, Any]) -> str:
        """Return the address that a request counts for."""
        return self._addresses.of(environ)

    def admit(self, path: str, address: str, player: str | None, acts: bool) -> Used | None:
        """Count a request. Return the limit that refuses it, or the scarcest of the limits that are more than half used, or None.

        `player`: the owner of the request's key, if this process knows. `acts`: the request is an action.
        """
        if path in PROBES:
            return self._take(("probes", address))
        if player is None:
            return self._take(("anonymous", address), ("address", address))
        if not acts:
            return self._take(("requests", player), ("address", address))
        used = self._take(("actions", player), ("address", address))
        return None if used is not None and used.refused and self._is_below_floor(player) else used

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

    def check_key(self, key: str, address: str) -> None:
        """Raise Problem `too_many_requests` if an address has sent too many wrong keys lately, and this key is not known."""
        meter = self._meters.get("wrong_keys")
        if meter is None or (spent := meter.peek(address)) >= 0 or self.known_keys.owner(key) is not None:
            return
        self.known_keys.learn()
        if self.known_keys.owner(key) is None:
            raise Limited("too_many_requests", meter.used(spent))

    def count_wrong_key(self, address: str) -> None:
        """Count a wrong key from an address."""
        meter = self._meters.get("wrong_keys")
        if meter is not None:
            meter.spend(address)
