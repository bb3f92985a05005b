"""Of the workers of a machine one does what one needs to do, until it ends or a process is frozen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from events.platform import Platform
from events.timing.pulse import Pulse
from workers.background import Turn


@pytest.fixture
def other(platform: Platform, another_platform: Callable[[], Platform]) -> Platform:
    """Another process of the machine, which like the first one has just heard of all others."""
    opened = another_platform()
    for each in (platform, opened):
        each.pulse.beat()
    return opened


def test_one_has_the_turn_until_it_ends(platform: Platform, other: Platform) -> None:
    first, second = Turn(platform, "sweep"), Turn(other, "sweep")
    assert [first.is_mine(), second.is_mine(), first.is_mine()] == [True, False, True]
    assert Turn(other, "sequencer").is_mine(), "another thing has a turn of its own"
    first.close()
    assert [second.is_mine(), first.is_mine()] == [True, False]
    second.close()


@pytest.mark.parametrize("what", ["is_disturbed", "is_fresh"])
def test_all_have_it_while_a_process_is_frozen_or_nobody_knows(
    what: str, platform: Platform, other: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Turn(platform, "sweep"), Turn(other, "sweep")
    assert [first.is_mine(), second.is_mine()] == [True, False]
    with monkeypatch.context() as frozen:
        frozen.setattr(Pulse, what, what == "is_disturbed")
        assert [first.is_mine(), second.is_mine()] == [True, True]
    assert not second.is_mine()
    first.close()


def test_two_services_with_the_same_keys_have_turns_of_their_own(platform: Platform, other: Platform) -> None:
    elsewhere = replace(other, settings=other.settings._replace(store_url="x"))
    assert [Turn(platform, "sweep").is_mine(), Turn(elsewhere, "sweep").is_mine()] == [True, True]


def test_where_no_lock_can_be_had_each_has_the_turn(platform: Platform, other: Platform, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    lost = replace(other, settings=other.settings._replace(keys=tmp_path / "file"))
    assert [Turn(lost, "sweep").is_mine(), Turn(lost, "sweep").is_mine()] == [True, True]
