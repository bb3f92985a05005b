"""Requests in flight: the floor that a process reports, and requests that arrive while it is frozen."""

from __future__ import annotations

import contextlib
import threading

from events.timing.clock import Clock
from events.timing.flight import GRACE_MS, LATE_MS, MOST_MS, Flight


class Time:
    """A time that passes only when a test says so."""

    def __init__(self) -> None:
        self.ms = 10_000

    def clock(self) -> Clock:
        return Clock(lambda: self.ms, lambda: self.ms, "b1")


def test_the_floor_is_the_oldest_request_in_flight_or_now() -> None:
    time = Time()
    flight = Flight(time.clock())
    assert flight.tick() == 10_000
    time.ms += 100
    with flight.receive() as first:
        assert first.moment == 10_100
        time.ms += 100
        with flight.receive() as second:
            assert (second.moment, flight.tick()) == (10_200, 10_100)
        assert flight.tick() == 10_100
    assert flight.tick() == 10_200


def test_a_request_that_fails_is_not_in_flight_any_more() -> None:
    time = Time()
    flight = Flight(time.clock())
    try:
        with flight.receive():
            raise KeyError
    except KeyError:
        time.ms += 1
    assert flight.tick() == 10_001


def test_the_time_that_a_client_takes_for_the_rest_of_its_request_is_its_own() -> None:
    time = Time()
    flight = Flight(time.clock())
    flight.tick()
    with flight.receive() as received:
        time.ms += 400  # of ours: whose key is it?
        with received.incomplete():
            assert flight.tick() == 10_400, "nobody waits for it"
            for _ in range(40):
                time.ms += 200
                flight.tick()
        assert received.moment == 18_000
        assert flight.tick() == 18_000
        time.ms += 100
        with received.incomplete():
            time.ms += 0
        assert received.moment == 18_000
        assert flight.tick() == 18_000
    assert flight.tick() == 18_500


def test_a_request_that_breaks_off_is_not_in_flight() -> None:
    time = Time()
    flight = Flight(time.clock())
    with contextlib.suppress(KeyError), flight.receive() as received, received.incomplete():
        raise KeyError
    time.ms += 1
    assert flight.tick() == 10_001


def test_what_is_read_right_after_a_freeze_came_in_before() -> None:
    time = Time()
    flight = Flight(time.clock())
    flight.tick()
    time.ms += 1500  # frozen
    with flight.receive() as received:
        assert received.moment == 10_000
        assert flight.tick() == 10_000
    for _ in range(4):
        time.ms += GRACE_MS // 4
        assert flight.tick() == 10_000
    with flight.receive() as received:
        assert received.moment == 10_000, "the threads wake one after the other"
    assert flight.tick() == 10_000, "no deadline passes before all have had time to read"
    time.ms += 1
    with flight.receive() as received:
        assert received.moment == time.ms
    assert flight.tick() == time.ms


def test_the_report_may_wake_before_the_request() -> None:
    time = Time()
    flight = Flight(time.clock())
    flight.tick()
    time.ms += LATE_MS + 1
    assert flight.tick() == 10_000
    with flight.receive() as received:
        assert received.moment == 10_000


def test_a_freeze_that_is_an_outage_is_given_back_and_not_given_twice() -> None:
    time = Time()
    flight = Flight(time.clock())
    flight.tick()
    time.ms += 60_000
    with flight.receive() as received:
        assert received.moment == time.ms - MOST_MS


def test_a_small_delay_is_no_freeze() -> None:
    time = Time()
    flight = Flight(time.clock())
    flight.tick()
    time.ms += LATE_MS
    with flight.receive() as received:
        assert received.moment == time.ms


def test_no_request_is_received_before_a_floor_that_was_told() -> None:
    """Threads receive while another one reports: each floor is at most what anybody receives after it."""
    flight = Flight(Clock())
    floors: list[int] = []
    stop = threading.Event()
    wrong: list[tuple[int, int]] = []

    def receive() -> None:
        while not stop.is_set():
            floor = floors[-1] if floors else 0
            with flight.receive() as received:
                if received.moment < floor:
                    wrong.append((received.moment, floor))

    threads = [threading.Thread(target=receive) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(500):
        floors.append(flight.tick())
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert floors == sorted(floors)
