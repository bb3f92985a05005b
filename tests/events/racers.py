"""A process that races others for the next versions of a match."""

from __future__ import annotations

from events import play, recall
from events.errors import Stale
from events.platform import Settings, open_platform
from tests.tally import TALLY


def race(settings: Settings, match: str, name: str, number: int, guarded: bool) -> list[int]:
    """Append `number` actions, each with a request id of its own and some of them twice. Return their versions."""
    platform = open_platform(settings, {"tally": TALLY})
    versions = []
    for place in range(number):
        request = f"{name}-{place}"
        while True:
            expected = recall.position(platform, match).version if guarded else None
            try:
                played = play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}], expected=expected, request=request)
            except Stale:
                continue
            break
        versions.append(played.first)
        if place % 3 == 0:
            again = play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}], request=request)
            assert (again.first, again.repeated) == (played.first, True)
    platform.close()
    return versions
