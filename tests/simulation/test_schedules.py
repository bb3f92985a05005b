"""The laws of the platform hold in simulated schedules, and planted faults are found.

`python -m tests.simulation --seed 17` plays a schedule again.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from unittest import mock

import pytest

from tests.simulation.__main__ import told
from tests.simulation.commands import NOTHING
from tests.simulation.network import MUTE, SILENT, TIMEOUT_MS, Line, Service
from tests.simulation.plants import PLANTS, SCHEDULES
from tests.simulation.processes import simulated
from tests.simulation.schedule import NETWORK, OBJECTS, OF_PROCESSES, OF_SERVERS, STORE, Outcome, run, shortened
from tests.simulation.world import Host, World
from tools import private

PARTS = 8
SOAK_SECONDS = float(os.environ.get("WARLEDGER_SIMULATED_SECONDS", "600"))


@pytest.fixture(autouse=True)
def _simulated() -> Iterator[None]:
    with simulated():
        yield


def check(seed: int) -> Outcome:
    """Play a schedule. If it breaks a law, tell what must go wrong for that."""
    outcome = run(seed)
    if outcome.broken:
        pytest.fail(told(shortened(outcome)), pytrace=False)
    return outcome


@pytest.mark.parametrize("part", range(PARTS))
def test_the_laws_hold(part: int) -> None:
    size = SCHEDULES // PARTS
    stories = "\n".join(line for seed in range(part * size, (part + 1) * size) for line in check(seed).story)
    for fault in (*STORE, *OBJECTS, *NETWORK, *OF_PROCESSES, *OF_SERVERS):
        assert f": {fault}" in stories, f"{size} schedules have no fault of this kind: {fault}"


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_fault_is_found(name: str) -> None:
    plant = PLANTS[name]
    with plant.plant():
        assert any(law.startswith(plant.law) for outcome in map(run, range(plant.seed, SCHEDULES)) for law in outcome.broken), (
            f"The {SCHEDULES} schedules do not find this: {plant.what}"
        )


def test_a_schedule_follows_from_its_seed() -> None:
    first = run(7)
    assert len(first.faults) > 3
    assert run(7) == first


def test_what_breaks_a_law_is_told_with_the_faults_that_matter() -> None:
    plant = PLANTS["due work forgotten"]
    with plant.plant():
        outcome = next(found for found in map(run, range(plant.seed, SCHEDULES)) if found.broken and len(found.faults) > 3)
        short = shortened(outcome, tries=8)
    assert short.broken
    assert len(short.faults) < len(outcome.faults)
    assert f"seed {outcome.seed}" in told(short)


@pytest.mark.parametrize(("trouble", "arrives"), [(SILENT, 0), (MUTE, 2)])
def test_a_silent_link_is_open_and_no_answer_comes_until_it_is_well_again(trouble: str, arrives: int) -> None:
    world = World(0)
    world.calm = False
    store, host = Service(world, "store", NOTHING), Host("web 1")
    line, waited = Line(store, host), []

    def ask() -> None:
        for _ in range(3):
            began = world.now
            with suppress(BlockingIOError):
                line.exchange([("HINCRBY", "{p0}:n", "f", 1)])
            waited.append(world.now - began)

    with mock.patch.object(world, "trouble", side_effect=[trouble, "", "", ""]), mock.patch.object(world, "soon", lambda most: 2 * most):
        world.spawn(host, ask)
        world.run(1.5 * TIMEOUT_MS)
        assert store.primary.data.call([b"HGET", b"{p0}:n", b"f"]) == (b"%d" % arrives if arrives else None)
        world.heal()
        world.run(2 * TIMEOUT_MS)
    assert TIMEOUT_MS <= waited[0] < TIMEOUT_MS + 20
    assert 0.4 * TIMEOUT_MS < waited[1] < 0.5 * TIMEOUT_MS
    assert waited[2] < 20
    assert store.primary.data.call([b"HGET", b"{p0}:n", b"f"]) == b"%d" % (arrives + 1)


@pytest.mark.soak
def test_a_schedule_follows_from_its_seed_in_every_process() -> None:
    stories = set()
    for seed in ("0", "1", "2"):
        command = [sys.executable, "-m", "tests.simulation", "--seed", "17"]
        done = subprocess.run(
            command, cwd=private.ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        stories.add(done.stdout.rpartition("\n1 schedules")[0])
    assert len(stories) == 1


@pytest.mark.soak
@pytest.mark.parametrize("part", [1, 2])
def test_the_laws_hold_for_long(part: int, record_property: pytest.RecordProperty) -> None:
    first, number, until, began = random.SystemRandom().randrange(1 << 40), 0, time.monotonic() + SOAK_SECONDS, time.process_time()
    while time.monotonic() < until:
        check(first + number)
        number += 1
    used = time.process_time() - began
    record_property("schedules", number)
    warnings.warn(f"{number} schedules in {used:.0f} s of processor time: {3600 * number / used:.0f} an hour and core", stacklevel=1)
