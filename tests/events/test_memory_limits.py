"""How much memory the embedded servers get."""

from __future__ import annotations

import itertools
import os
import resource
from pathlib import Path

import pytest
from environs import EnvError

from events.keeping import embedded, memory

MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(autouse=True)
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for /sys/fs/cgroup; this process is in no group."""
    monkeypatch.delenv(memory.SETTING, raising=False)
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    monkeypatch.setattr(memory, "_OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return tmp_path


def group(file: Path, limit: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{limit}\n")


def test_the_store_gets_half_of_the_machine_and_the_queue_a_quarter_of_that() -> None:
    assert (memory.of_machine(), memory.of_store(), memory.of_queue()) == (MACHINE, MACHINE // 2, MACHINE // 8)


@pytest.mark.parametrize(
    ("own", "file"),
    [
        ("0::/a/b\n", "a/b/memory.max"),
        ("0::/a/b\n", "a/memory.max"),
        ("0::/elsewhere\n", "memory.max"),
        ("5:memory:/a/b\n0::/\n", "memory/a/memory.limit_in_bytes"),
        ("5:cpu,memory:/x\n", "memory/memory.limit_in_bytes"),
    ],
)
def test_a_control_group_above_the_process_bounds_it(own: str, file: str, groups: Path) -> None:
    (groups / "own").write_text(own)
    group(groups / file, "300000000")
    assert memory.of_machine() == 300_000_000


def test_a_control_group_without_a_limit_or_of_another_kind_bounds_nothing(groups: Path) -> None:
    (groups / "own").write_text("0::/a\n4:pids:/b\n")
    group(groups / "a/memory.max", "max")
    group(groups / "memory/b/memory.limit_in_bytes", "1")
    assert memory.of_machine() == MACHINE


def test_the_address_space_bounds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (400_000_000, resource.RLIM_INFINITY))
    assert (memory.of_store(), memory.of_queue()) == (200_000_000, 50_000_000)


def test_the_setting_decides_and_each_server_gets_enough_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(memory.SETTING, "100")
    assert (memory.chosen(), memory.of_store(), memory.of_queue()) == (100_000_000, 100_000_000, 32_000_000)
    monkeypatch.setenv(memory.SETTING, "31")
    with pytest.raises(EnvError):
        memory.of_store()


def test_the_servers_get_their_limits_and_the_stand_in_gets_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(memory.SETTING, "200")

    def limit(fsync: str, place: Path) -> list[str]:
        command = embedded.command(tmp_path, place, tmp_path / "socket", fsync, writable=True)
        return [value for name, value in itertools.pairwise(command) if name == "--maxmemory"]

    assert (limit("always", tmp_path), limit("off", tmp_path), limit("no", tmp_path / "copy")) == (["200000000"], ["50000000"], [])
