"""What was deleted also leaves the files of the store, a day later and at most once a day."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from events import accounts
from events.keeping import embedded, erasing
from events.keeping.embedded import STORE
from events.keeping.erasing import AFTER, AGAIN, MARK, is_due
from events.platform import Platform, Settings, open_platform
from events.store.accounts import Signer
from tests.conftest import ALL_GAMES

NAME = b"Zebulon Quartermaine"


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    server = embedded.start(tmp_path, STORE, "always")
    opened = open_platform(Settings(store_url=server.url, queue_url="unix:///nowhere", data=tmp_path), ALL_GAMES)
    yield opened
    opened.close()
    server.stop()


def on_disk(data: Path) -> bool:
    """Return True if the name is in a file of the store."""
    return any(NAME in file.read_bytes() for file in (data / STORE).rglob("*") if file.is_file())


def delete(platform: Platform, player: str) -> None:
    (key,) = accounts.keys_of(platform, player)
    accounts.delete(platform, player, Signer(key.id, key.hash))


def age(data: Path, seconds: float) -> None:
    os.utime(data / MARK, (time.time() - seconds,) * 2)


def test_a_deleted_name_leaves_the_files_a_day_later(platform: Platform, tmp_path: Path) -> None:
    player, _ = accounts.register(platform, NAME.decode())
    other, _ = accounts.register(platform, "Ann")
    assert not (tmp_path / MARK).exists()
    delete(platform, player.id)
    assert on_disk(tmp_path), "or the test looks in the wrong files"
    for seconds in (0, AFTER - 60):
        age(tmp_path, seconds)
        assert not is_due(tmp_path)
    age(tmp_path, AFTER + 1)
    assert is_due(tmp_path)
    assert erasing.erase(tmp_path)
    assert not on_disk(tmp_path)
    assert not (tmp_path / MARK).exists()
    assert accounts.get(platform, other.id) is not None
    assert not is_due(tmp_path)


def test_many_deletions_are_one_rewrite_and_none_is_forgotten(platform: Platform, tmp_path: Path) -> None:
    one, two = (accounts.register(platform, f"{name}")[0] for name in ("Ann", NAME.decode()))
    delete(platform, one.id)
    age(tmp_path, 5000)
    before = (tmp_path / MARK).stat().st_mtime
    delete(platform, two.id)
    assert (tmp_path / MARK).stat().st_mtime == before
    assert erasing.erase(tmp_path)
    assert not on_disk(tmp_path)


def test_a_rewrite_that_fails_is_due_again_in_an_hour(platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    erasing.note(tmp_path)
    age(tmp_path, AFTER + 1)
    monkeypatch.setattr(erasing, "rewrite_files", lambda url: False)
    assert not erasing.erase(tmp_path)
    due = (tmp_path / MARK).stat().st_mtime + AFTER - time.time()
    assert AGAIN - 60 < due <= AGAIN


def test_without_an_embedded_store_nothing_is_noted(tmp_path: Path) -> None:
    erasing.note(tmp_path)
    assert not is_due(tmp_path)
    assert list(tmp_path.iterdir()) == []
