"""Service time: wall clocks jump, machines restart, processes begin and end, and time goes on evenly."""

from __future__ import annotations

import itertools

import pytest

from events.timing.clock import BELIEVED_MS, CARRIED_MS, JUMP_MS, SLOPE, Beat, Clock, boot_id, uptime, wall_time

MINUTE = 60_000
HOUR = 60 * MINUTE


class Machine:
    """A machine whose time passes only when a test says so, and whose wall clock can be set."""

    def __init__(self, wall: int = 1_000_000_000, boot: str = "b1") -> None:
        self.up = 5000
        self.wall = wall
        self.boot = boot

    def pass_ms(self, ms: int) -> None:
        self.up += ms
        self.wall += ms

    def clock(self) -> Clock:
        return Clock(lambda: self.wall, lambda: self.up, self.boot)


def never() -> Beat:
    raise AssertionError("nobody needs to look again")


def run(machine: Machine, clock: Clock, seconds: int) -> None:
    for _ in range(seconds):
        machine.pass_ms(1000)
        clock.compare()


# ---------------------------------------------------------------- one process


def test_service_time_is_the_wall_time_of_the_beginning_and_what_has_passed_since() -> None:
    machine = Machine()
    clock = machine.clock()
    assert clock.now() == 1_000_000_000
    machine.pass_ms(1234)
    assert clock.now() == 1_000_001_234
    assert clock.beat() == (1_000_001_234, 6234, "b1")


@pytest.mark.parametrize("jump", [MINUTE, -MINUTE, 30 * 365 * 24 * HOUR, -HOUR, JUMP_MS, -JUMP_MS])
def test_a_wall_clock_that_jumps_changes_nothing_and_is_noted_once(jump: int) -> None:
    from events.telemetry import metrics

    machine = Machine()
    clock, jumps = machine.clock(), metrics.clock_jumps._value.get()
    run(machine, clock, 3)
    machine.wall += jump
    run(machine, clock, 300)
    assert clock.now() == 1_000_000_000 + 303_000
    assert metrics.clock_jumps._value.get() == jumps + 1
    machine.wall -= jump
    run(machine, clock, 300)
    assert clock.now() == 1_000_000_000 + 603_000
    assert metrics.clock_jumps._value.get() == jumps + 2


@pytest.mark.parametrize("difference", [JUMP_MS - 1, 1 - JUMP_MS, 40, -40, 1, -1])
def test_a_small_difference_is_evened_out_without_a_leap(difference: int) -> None:
    machine = Machine()
    clock = machine.clock()
    machine.wall += difference
    clock.compare()
    before = clock.now()
    for _ in range(150):
        for _ in range(10):
            machine.pass_ms(100)
            now = clock.now()
            assert abs(now - before - 100) <= 100 // SLOPE + 1
            before = now
        clock.compare()
    assert clock.now() == machine.wall


def test_a_small_difference_after_a_jump_is_evened_out_as_well() -> None:
    machine = Machine()
    clock = machine.clock()
    machine.wall += HOUR
    clock.compare()
    machine.wall += 300
    run(machine, clock, 60)
    assert clock.now() == machine.wall - HOUR


def test_no_difference_makes_time_run_backwards_or_ahead_while_nobody_compares() -> None:
    machine = Machine()
    clock = machine.clock()
    machine.wall -= 900
    clock.compare()
    moments = []
    for _ in range(5000):
        machine.pass_ms(1)
        moments.append(clock.now())
    assert all(later >= earlier for earlier, later in itertools.pairwise(moments))
    machine.pass_ms(100 * HOUR)
    assert clock.now() == machine.wall


def test_a_process_that_is_stopped_between_two_readings_takes_it_for_no_jump() -> None:
    machine = Machine()
    stops = iter([0, MINUTE])

    def wall() -> int:
        machine.pass_ms(next(stops, 0))
        return machine.wall

    clock = Clock(wall, lambda: machine.up, "b1")
    clock.compare()
    assert clock.now() == machine.wall


# ---------------------------------------------------------------- the beginning


def test_a_process_beside_others_takes_over_their_time_to_the_millisecond() -> None:
    machine = Machine()
    first = machine.clock()
    run(machine, first, 5)
    beat = first.beat()
    machine.wall += MINUTE
    machine.pass_ms(700)
    second = machine.clock()
    second.begin(beat, never)
    assert second.now() == first.now() == 1_000_005_700
    first.compare()
    second.compare()
    run(machine, second, 200)
    assert second.now() == first.now()


@pytest.mark.parametrize("off", [MINUTE, -MINUTE])
def test_two_machines_with_different_walls_agree(off: int) -> None:
    here, there = Machine(), Machine(1_000_000_000 + off, "b2")
    first, second = here.clock(), there.clock()

    def a_pulse_later() -> Beat:
        here.pass_ms(1250)
        there.pass_ms(1250)
        return first.beat()

    second.begin(first.beat(), a_pulse_later)
    assert abs(second.now() - first.now()) <= JUMP_MS
    run(there, second, 10)
    run(here, first, 10)
    assert abs(second.now() - first.now()) <= JUMP_MS


@pytest.mark.parametrize("jump", [MINUTE, -MINUTE])
def test_after_a_short_outage_of_everything_the_first_process_does_not_bring_in_a_wrong_wall(jump: int) -> None:
    machine = Machine()
    clock = machine.clock()
    beat = clock.beat()
    machine.pass_ms(CARRIED_MS)
    machine.wall += jump
    first = machine.clock()
    first.begin(beat, never)
    assert first.now() == clock.now() == beat.moment + CARRIED_MS


def test_after_everything_was_down_the_wall_counts_again() -> None:
    machine = Machine()
    beat = machine.clock().beat()
    machine.pass_ms(HOUR)
    machine.wall += 5 * MINUTE
    clock = machine.clock()
    clock.begin(beat, never)
    assert clock.now() == machine.wall
    restarted = Machine(machine.wall + HOUR, "b2").clock()
    restarted.begin(beat, lambda: beat)
    assert restarted.now() == machine.wall + HOUR


def test_time_never_begins_before_the_newest_pulse() -> None:
    machine = Machine()
    beat = machine.clock().beat()
    later = Machine(machine.wall - HOUR, "b2").clock()
    later.begin(beat, never)
    assert later.now() == beat.moment
    machine.pass_ms(CARRIED_MS + 1)
    machine.wall -= HOUR
    same = machine.clock()
    same.begin(beat, never)
    assert same.now() == beat.moment


def test_a_pulse_of_the_far_future_is_not_believed() -> None:
    machine = Machine()
    clock = machine.clock()
    clock.begin(Beat(machine.wall + BELIEVED_MS + 1, 0, "b2"), never)
    assert clock.now() == machine.wall
    clock.keep_up(Beat(machine.wall + BELIEVED_MS + 1, 0, "b2"))
    assert clock.now() == machine.wall


def test_a_process_keeps_up_with_one_that_is_well_ahead() -> None:
    machine = Machine()
    clock = machine.clock()
    clock.keep_up(Beat(machine.wall + JUMP_MS, 0, "b2"))
    assert clock.now() == machine.wall
    clock.keep_up(Beat(machine.wall + MINUTE, 0, "b2"))
    assert clock.now() == machine.wall + MINUTE
    run(machine, clock, 10)
    assert clock.now() == machine.wall + MINUTE


def test_the_real_clocks_give_milliseconds() -> None:
    assert abs(Clock().now() - wall_time()) < JUMP_MS
    assert uptime() < wall_time()
    assert boot_id() == boot_id()
