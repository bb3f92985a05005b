"""The process that archives: it goes on after every error, rests when nothing is to be done, and shows that it lives."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from events.archive.archivist import Round
from events.errors import ArchiveUnavailable, StoreRefused, StoreUnavailable
from events.platform import Settings
from tests.conftest import Servers
from workers import archivist
from workers.archivist import EVERY, LEAST
from workers.listening import Life


def test_after_an_error_the_next_round_comes() -> None:
    rounds: list[Any] = [
        Round(1, True),
        ArchiveUnavailable("away"),
        StoreRefused("no"),
        StoreUnavailable("away"),
        ValueError(),
        Round(0, False),
    ]
    waited: list[float] = []

    def act() -> Round:
        result = rounds.pop(0)
        if isinstance(result, Exception):
            raise result
        return result  # type: ignore[no-any-return]

    def wait(seconds: float) -> bool:
        waited.append(seconds)
        return not rounds

    stop: Any = SimpleNamespace(wait=wait)
    archivist.archive(SimpleNamespace(round=act), stop, Life())  # type: ignore[arg-type]
    assert waited[0] == LEAST
    assert waited[1] < EVERY
    assert waited[2:] == [EVERY, EVERY, 1.0, EVERY, EVERY]


def test_it_opens_the_store_as_its_archivist(monkeypatch: pytest.MonkeyPatch, servers: Servers) -> None:
    opened: list[str] = []

    def started(where: object, settings: Settings, games: object) -> tuple[Any, Life]:
        opened.append(settings.store_url)
        return SimpleNamespace(settings=settings, archive=SimpleNamespace(check=lambda: None)), Life()

    for name in ("archive", "give_way", "Archivist"):
        monkeypatch.setattr(archivist, name, lambda *words: None)
    monkeypatch.setattr(archivist.os, "nice", lambda more: None)
    monkeypatch.setattr(archivist, "started", started)
    for url in (servers.store_url, "redis://archivist:secret@store:6379", "unix://archivist:secret@/elsewhere.sock"):
        assert archivist.main([], Settings(store_url=url, data=servers.data)) == 0
    assert opened[0].startswith("unix://archivist:")
    assert opened[1:] == ["redis://archivist:secret@store:6379", "unix://archivist:secret@/elsewhere.sock"]
