"""Simultaneous secret choices of several seats: none makes another stale."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from events import play, recall
from events.audit import audit
from events.errors import Stale
from events.platform import Platform, open_platform
from tests.events.journaling import SEALING


@pytest.fixture
def sealing(platform: Platform) -> Iterator[Platform]:
    with_sealing = open_platform(platform.settings, {**platform.games, SEALING.id: SEALING})
    yield with_sealing
    with_sealing.close()


@pytest.fixture
def begun(sealing: Platform, ann: str) -> str:
    match = play.create(sealing, ann, "sealing", {"one": "me", "two": "me", "three": "me"}, {}).match
    play.play(sealing, match, "system", [{"type": "advance"}])
    return match


def seal(by: int) -> list[dict[str, Any]]:
    return [{"type": "seal", "by": by}]


def test_sealed_choices_of_others_do_not_make_a_choice_stale(sealing: Platform, begun: str) -> None:
    for seat in ("two", "three", "one"):
        play.play(sealing, begun, seat, seal(2), expected=2)
    assert recall.position(sealing, begun).version == 5
    assert audit(sealing, begun).ok


def test_two_choices_at_the_same_moment_are_both_taken(sealing: Platform, begun: str) -> None:
    platforms = [open_platform(sealing.settings, sealing.games) for _ in range(3)]
    together = threading.Barrier(3)
    done: list[int] = []

    def one(platform: Platform, seat: str, expected: int | None) -> None:
        together.wait()
        done.append(play.play(platform, begun, seat, seal(1), expected=expected).last)

    threads = [threading.Thread(target=one, args=work) for work in zip(platforms, ("one", "two", "three"), (2, 2, None), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [3, 4, 5]
    for platform in platforms:
        platform.close()


def test_an_open_choice_makes_others_stale(sealing: Platform, begun: str) -> None:
    play.play(sealing, begun, "two", [{"type": "call"}])
    with pytest.raises(Stale):
        play.play(sealing, begun, "one", seal(1), expected=2)
    play.play(sealing, begun, "two", seal(1))
    play.play(sealing, begun, "one", seal(1), expected=3)
    for expected in (0, 1, 2, 9):
        with pytest.raises(Stale):
            play.play(sealing, begun, "three", seal(1), expected=expected)


def test_a_choice_makes_the_next_of_the_same_seat_stale(sealing: Platform, begun: str) -> None:
    play.play(sealing, begun, "one", [{"type": "call"}])
    with pytest.raises(Stale):
        play.play(sealing, begun, "one", seal(1), expected=2)
