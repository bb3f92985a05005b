"""Store the pulses of processes, and the outages that follow from them. This is source data: it is not derived from anything.

`{pulse}:now` has the newest pulse of each process and of each role, as text: service time, uptime and boot id (events/timing/clock.py).
It is in memory alone. `{pulse}:processes` has a pulse of each role, at most three seconds old. `{pulse}:outages` has the begin of each
outage of the last 61 days, at most 10,000, scored by its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from events.store.client import RedisClient
from events.store.library import script
from events.timing.clock import Beat

_KEYS = ["{pulse}:processes", "{pulse}:outages", "{pulse}:now"]
_PULSE = script("pulse")


class Heard(NamedTuple):
    """The answer to a pulse: the newest pulse of each process and role, the outages (begin, end), and how many of them are new."""

    pulses: Mapping[str, Beat]
    outages: Sequence[tuple[int, int]]
    new: int


class Pulses:
    """The pulses in the store. Every method raises StoreUnavailable."""

    def __init__(self, client: RedisClient, tags: Sequence[str] = ()) -> None:
        self._client = client
        self._tags = tags

    def beat(
        self, role: str, process: str, beat: Beat, since: int, still: Mapping[str, int], gone: Sequence[str], own: int | None
    ) -> Heard:
        """Write the pulse of a process. Return the pulses of all, and the outages that ended after `since`.

        `still`: names without a new pulse, with the moment of their last one; that is an outage. `gone`: processes that have ended. `own`:
        the moment of the last pulse of this process, which the store may have forgotten.
        """
        self._client.hold(self._tags)  # while replicas are away nobody can act, which is an outage
        names = [text for name, moment in still.items() for text in (name, moment)]
        rest = f"{beat.uptime} {beat.boot}"
        words: list[str | bytes | int] = [role, process, beat.moment, rest, since, "" if own is None else own, len(still), *names, *gone]
        found = self._client.run(_PULSE, _KEYS, words, held=False)
        return _heard(*found)

    def look(self, since: int) -> Heard:
        """Return the pulses of all, and the outages that ended after `since`."""
        return _heard(*self._client.run(_PULSE, _KEYS, ["", "", 0, "", since, "", 0], held=False))


def _heard(pulses: list[bytes], outages: list[bytes], new: int) -> Heard:
    named = {name.decode(): pulse.decode().split(" ") for name, pulse in zip(pulses[::2], pulses[1::2], strict=True)}
    spans = [(int(begin), int(end)) for begin, end in zip(outages[::2], outages[1::2], strict=True)]
    return Heard({name: Beat(int(moment), int(up), boot) for name, (moment, up, boot) in named.items()}, spans, new)
