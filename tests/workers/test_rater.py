"""The rater: a worker counts rated matches, whoever counted before."""

from __future__ import annotations

import pytest

from events import accounts, play, rating
from events.errors import StoreUnavailable
from events.platform import Platform
from tests.conftest import take_seat, within
from workers import rater


def over(platform: Platform) -> str:
    ann, bob = (accounts.register(platform, name)[0].id for name in ("Ann", "Bob"))
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}, settings={"rated": True}).match
    take_seat(platform, match, bob, "two")
    play.act_at_table(platform, match, "one", {"type": "resign"})
    return match


def counted(platform: Platform) -> int:
    (generations,) = platform.store.ratings.generations(["tally"])
    return generations.served.matches


def test_a_worker_counts_what_is_over_and_goes_on_after_errors(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rater, "EVERY", 0.01)
    monkeypatch.setattr(rating, "LAG_MS", -60_000)
    over(platform)
    count, failures = rating.count, [StoreUnavailable("away"), ValueError("odd")]

    def fails_first(*given: object, **more: object) -> bool:
        if failures:
            raise failures.pop()
        return count(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(rating, "count", fails_first)
    thread = rater.begin(platform)
    within(10, lambda: counted(platform) == 1)
    over(platform)
    within(10, lambda: counted(platform) == 2)
    assert failures == []
    thread.stop()
    thread.join(5)
    assert not thread.is_alive()


def test_counting_anew_begins_again_only_after_a_long_rest(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever gets many rulings costs a worker no more than a small part of its time."""
    asked: list[bool] = []
    moments = iter(range(0, 10_000, 10))
    monkeypatch.setattr(rater.time, "monotonic", lambda: float(next(moments)))
    thread = rater.Rater(platform)
    rounds = iter([False] * 30)
    monkeypatch.setattr(thread._stop_it, "wait", lambda pause: next(rounds, True))

    def step(*, renew: bool) -> bool:
        asked.append(renew)
        return len(asked) == 1  # it takes ten seconds

    monkeypatch.setattr(thread, "_step", step)
    thread.run()
    resting = asked[1:].index(True)
    assert not any(asked[1 : 1 + resting])
    assert resting * 20 >= rater.WORTH * 10 - 40
