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

import pytest

from tests.simulation.__main__ import told
from tests.simulation.plants import PLANTS
from tests.simulation.processes import simulated
from tests.simulation.schedule import run, shortened
from tools import private

SCHEDULES = 5  # as many as fit into a second or two; `./run soak` plays thousands
UNTIL_FOUND = 200
SOAK_SECONDS = float(os.environ.get("WARLEDGER_SIMULATED_SECONDS", "600"))


@pytest.fixture(autouse=True)
def _simulated() -> Iterator[None]:
    with simulated():
        yield


def check(seed: int) -> None:
    """Play a schedule. If it breaks a law, tell what must go wrong for that."""
    outcome = run(seed)
    if outcome.broken:
        pytest.fail(told(shortened(outcome)), pytrace=False)


def test_the_laws_hold() -> None:
    for seed in range(SCHEDULES):
        check(seed)


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_fault_is_found(name: str) -> None:
    plant = PLANTS[name]
    with plant.plant():
        broken = next(
            (
                outcome.broken
                for outcome in map(run, range(plant.seed, plant.seed + UNTIL_FOUND))
                if any(law.startswith(plant.law) for law in outcome.broken)
            ),
            [],
        )
    assert broken, f"{UNTIL_FOUND} schedules do not find this: {plant.what}"


def test_a_schedule_follows_from_its_seed() -> None:
    first = run(3)
    assert len(first.faults) > 3
    assert run(3) == first


def test_what_breaks_a_law_is_told_with_the_faults_that_matter() -> None:
    plant = PLANTS["due work forgotten"]
    with plant.plant():
        outcome = next(found for found in map(run, range(plant.seed, plant.seed + UNTIL_FOUND)) if found.broken and len(found.faults) > 3)
        short = shortened(outcome, tries=1)
    assert short.broken
    assert len(short.faults) < len(outcome.faults)
    assert f"seed {outcome.seed}" in told(short)


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
    warnings.warn(f"{number} schedules in {used:.0f} s of processor time: {3600 * number / used:.0f} an hour", stacklevel=1)
