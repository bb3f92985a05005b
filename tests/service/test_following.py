"""Followers: what is sent step by step, by one thread for all of them, and over lines whose clients read more slowly than that."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from events.errors import ArchiveUnavailable, NoMatch, StoreUnavailable
from service.http.following import Displaced, Follower, Loop, Round, Steps, Wake
from service.http.places import Places, Shares
from tests.conftest import within

HERE = {"REMOTE_ADDR": "127.0.0.1"}
LONG = time.monotonic() + 3600


class Sent:
    """A line that keeps what is sent over it. It takes `most` chunks; then its client has read nothing until `read` is called."""

    def __init__(self, most: int = 1000) -> None:
        self.chunks: list[bytes] = []
        self.most = most
        self.looks = 0
        self.ended = threading.Event()

    def send(self, data: bytes) -> bool:
        self.chunks.append(data)
        return len(self.chunks) < self.most

    def lag(self) -> float:
        self.looks += 1
        return 0.0 if len(self.chunks) < self.most else 0.01

    def read(self) -> None:
        self.most += 1000

    def end(self) -> None:
        self.ended.set()


@pytest.fixture
def places() -> Places:
    return Places("streams", 1000, Shares(1000, 1000, 1000))


@pytest.fixture
def follow(places: Places) -> Callable[..., Follower]:
    """Let a follower take these steps over a line."""

    def followed(loop: Loop, steps: Callable[[Wake], Steps], line: Sent) -> Follower:
        follower = Follower(places.take(None, HERE), steps)
        loop.serve(follower, line)
        return follower

    return followed


def test_followers_share_what_they_look_up_in_a_round(follow: Callable[..., Follower]) -> None:
    looked: list[str] = []
    loop, woken = Loop(), []
    held, go = threading.Event(), threading.Event()

    def look() -> bytes:
        looked.append("")
        return b"%d" % len(looked)

    def steps(wake: Wake) -> Steps:
        woken.append(wake)
        round = yield 0.0
        round = yield LONG
        while True:
            yield round.share("it", look)
            round = yield LONG

    def gate(wake: Wake) -> Steps:
        yield 0.0
        held.set()
        go.wait(20)
        yield LONG

    lines = [Sent() for _ in range(200)]
    for line in lines:
        follow(loop, steps, line)
    follow(loop, gate, Sent())  # holds the loop until all the others have been woken
    assert held.wait(20)
    for wake in woken:
        wake()
    go.set()
    within(20, lambda: all(line.chunks for line in lines))
    assert len(looked) == 1


def test_a_round_finds_again_only_what_serves() -> None:
    round, looked = Round(), iter((1, 2, 3))
    assert round.share("it", lambda: next(looked)) == 1
    assert round.share("it", lambda: next(looked), lambda found: found >= 1) == 1
    assert round.share("it", lambda: next(looked), lambda found: found >= 2) == 2
    assert round.share("it", lambda: next(looked)) == 2
    assert round.look(lambda: next(looked)) == 3


def test_a_store_that_is_away_is_tried_once_in_a_round() -> None:
    round, tries = Round(), []

    def away() -> None:
        tries.append("")
        raise StoreUnavailable("away")

    def absent() -> None:
        raise NoMatch(match="m")

    for _ in range(2):
        with pytest.raises(NoMatch):
            round.look(absent)
    for number in range(3):
        with pytest.raises(StoreUnavailable):
            round.share(number, away)
    with pytest.raises(StoreUnavailable):
        round.look(absent)
    assert len(tries) == 1


def test_an_archive_that_is_away_ends_nobody_elses_step() -> None:
    round = Round()
    with pytest.raises(ArchiveUnavailable):
        round.look(_no_archive)
    assert round.look(lambda: 1) == 1


def _no_archive() -> None:
    raise ArchiveUnavailable


def test_a_follower_that_is_woken_during_its_step_takes_another_one(follow: Callable[..., Follower]) -> None:
    def steps(wake: Wake) -> Steps:
        yield 0.0
        for number in range(3):
            wake()
            yield b"%d" % number
            yield LONG

    line = Sent()
    follow(Loop(), steps, line)
    assert line.ended.wait(20)
    assert line.chunks == [b"0", b"1", b"2"]


def test_a_follower_takes_a_step_when_it_is_due_and_no_earlier(follow: Callable[..., Follower], monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop()
    monkeypatch.setattr(loop, "_thread", threading.current_thread())  # rounds are taken here, at moments of a clock of our own

    def steps(wake: Wake) -> Steps:
        yield 0.0
        yield 10.0
        yield b"at 10"
        yield 30.0
        yield b"at 20, as it was woken"
        yield 25.0
        yield b"at 25"
        yield 40.0
        yield b"at 40"

    line = Sent()
    follower = follow(loop, steps, line)
    seen = []
    for moment in (1, 9, 10, 11, 20, 24, 25, 30, 39, 40):
        if moment == 20:
            follower.wake()
        loop.take_round(moment)
        seen.append(len(line.chunks))
    assert seen == [0, 0, 1, 1, 2, 2, 3, 3, 3, 4]
    assert line.ended.is_set()


def test_a_client_that_does_not_read_is_sent_no_more_and_holds_nobody_up(follow: Callable[..., Follower]) -> None:
    def steps(wake: Wake) -> Steps:
        yield 0.0
        for number in range(10):
            yield b"%d" % number

    loop, slow, quick = Loop(), Sent(most=3), Sent()
    follow(loop, steps, slow)
    follow(loop, steps, quick)
    assert quick.ended.wait(20)
    within(20, lambda: slow.looks > 3)
    assert slow.chunks == [b"0", b"1", b"2"]
    slow.read()
    assert slow.ended.wait(20)
    assert slow.chunks == quick.chunks == [b"%d" % number for number in range(10)]


@pytest.mark.parametrize("error", [NoMatch(match="m"), StoreUnavailable("away"), ZeroDivisionError("secret")])
def test_a_follower_that_fails_ends_alone(
    follow: Callable[..., Follower], places: Places, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    def failing(wake: Wake) -> Steps:
        yield 0.0
        yield b"first"
        raise error

    def fine(wake: Wake) -> Steps:
        yield 0.0
        yield b"fine"
        yield LONG

    loop, broken, other = Loop(), Sent(), Sent()
    follow(loop, failing, broken)
    follow(loop, fine, other)
    assert broken.ended.wait(20)
    within(20, lambda: other.chunks == [b"fine"])
    assert not other.ended.is_set()
    within(20, lambda: places.taken == 1)
    assert "secret" not in capsys.readouterr().out


def test_a_client_that_leaves_gives_its_place_back(follow: Callable[..., Follower], places: Places) -> None:
    closed = threading.Event()

    def steps(wake: Wake) -> Steps:
        yield 0.0
        try:
            yield b"begun"
            yield LONG
        finally:
            closed.set()

    loop, line = Loop(), Sent()
    follower = follow(loop, steps, line)
    within(20, lambda: line.chunks)
    loop.leave(follower)
    assert line.ended.wait(20)
    assert closed.wait(20)
    within(20, lambda: places.taken == 0)
    follower.wake()
    loop.leave(follower)
    follower.close()
    assert places.taken == 0


def test_a_server_without_a_loop_iterates(places: Places) -> None:
    def steps(wake: Wake) -> Steps:
        round = yield 0.0
        threading.Timer(0.0, wake).start()
        round = yield LONG
        yield round.share("it", lambda: b"woken")

    follower = Follower(places.take(None, HERE), steps)
    assert (list(follower), places.taken) == ([b"woken"], 0)


def test_a_follower_that_loses_its_place_yields_a_last_time(follow: Callable[..., Follower], places: Places) -> None:
    def steps(wake: Wake) -> Steps:
        try:
            yield 0.0
            yield b"first"
            yield LONG
        except Displaced:
            yield b"last"

    line, full = Sent(), Places("streams", 2, Shares(2, 2, 2))
    loop, first = Loop(), full.take(None, HERE)
    loop.serve(Follower(first, steps), line)
    other = full.take(None, HERE)
    within(20, lambda: line.chunks)
    with full.take("ada", {"REMOTE_ADDR": "10.0.0.1"}, plays=True):
        assert line.ended.wait(20)
        assert (line.chunks, full.taken) == ([b"first", b"last"], 2)
    other.give_back()
    assert full.taken == 0


def test_a_follower_that_loses_its_place_while_its_client_does_not_read_ends_at_once() -> None:
    def steps(wake: Wake) -> Steps:
        yield 0.0
        for number in range(10):
            yield b"%d" % number

    line, full = Sent(most=3), Places("streams", 1, Shares(1, 1, 1))
    Loop().serve(Follower(full.take(None, HERE), steps), line)
    within(20, lambda: line.looks)
    with full.take("ada", {"REMOTE_ADDR": "10.0.0.1"}, plays=True):
        assert line.ended.wait(20)
    assert len(line.chunks) == 3


def test_comments_are_no_use_of_a_place(places: Places) -> None:
    place = places.take(None, HERE)

    def steps(wake: Wake) -> Steps:
        yield 0.0
        yield b": still here\n\n"
        yield b"data\n\n"

    follower, began = Follower(place, steps), place.used
    next(follower)
    assert place.used == began
    next(follower)
    assert place.used > began
    follower.close()


def test_a_follower_whose_caller_has_used_too_much_rests(follow: Callable[..., Follower], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its steps are charged to somebody. While that caller is beyond the limit it takes none, whoever wakes it, and others go on."""
    used, charged, left = 0.0, [], [0.05, 0.05, 0.0]

    def steps(wake: Wake) -> Steps:
        nonlocal used
        yield 0.0
        while True:
            used += 0.5
            yield b"page"
            yield LONG

    def charge(seconds: float) -> float:
        charged.append(seconds)
        return left.pop(0) if left else 0.0

    monkeypatch.setattr("time.thread_time", lambda: used)
    loop, line, other = Loop(), Sent(), Sent()
    follower = Follower(Places("streams", 10, Shares(10, 10, 10)).take(None, HERE), steps)
    follower.charged_by(charge)
    loop.serve(follower, line)
    within(20, lambda: charged == [0.5])
    follower.wake()
    follow(loop, steps, other)
    within(20, lambda: len(other.chunks) == 1)
    within(20, lambda: len(line.chunks) == 2)
    assert charged[:3] == [0.5, 0.0, 0.0], "it asks again before it goes on"
    assert left == []


def test_a_loop_goes_on_unless_a_step_does_not_end(follow: Callable[..., Follower]) -> None:
    loop, stuck, free = Loop(), threading.Event(), threading.Event()
    assert [loop.goes_on() for _ in range(3)] == [True] * 3, "it has nothing to do yet"

    def steps(wake: Wake) -> Steps:
        yield b""
        yield time.monotonic() + 3600
        stuck.set()
        free.wait()
        yield LONG

    follower = follow(loop, steps, Sent())
    for _ in range(3):
        within(5, loop.goes_on)
    follower.wake()
    assert stuck.wait(5)
    within(5, lambda: not loop.goes_on())
    assert not loop.goes_on()
    free.set()
    within(5, loop.goes_on)
