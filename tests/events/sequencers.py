"""A process that lets the log of a server grow until it is killed."""

from __future__ import annotations

from events.notary import sequencing
from events.platform import Settings, open_platform
from events.timing.clock import Clock
from tests.tally import TALLY


def keep_sequencing(settings: Settings, ms: int) -> None:
    """Sequence without a pause, at a time that stands."""
    platform = open_platform(settings, {"tally": TALLY}, clock=Clock(lambda: ms, lambda: ms, "b1"))
    while True:
        sequencing.sequence(platform)
