"""The sequencer and the witnesses beside a worker: the log grows by itself, and no witness can hold it up."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from werkzeug.serving import make_server

from events import accounts, play
from events.notary import highwater, sequencing, server_log
from events.notary.witnessing import Witnesses
from events.platform import Platform, Settings, Witness, open_platform, settings_from_environment
from events.telemetry import metrics
from evidence import checkpoints, cosigning
from evidence.notes import COSIGNATURE, SigningKey, parse, parse_vkey
from tests.conftest import ALL_GAMES, Servers, within
from tools.witness import State, witness_app
from workers import sequencer

AWAY = SigningKey("away.example", b"a" * 32, COSIGNATURE)


class Witnessed:
    """A server with a log, and witnesses of it that listen on this machine."""

    def __init__(self, servers: Servers, folder: Path) -> None:
        self.folder = folder
        self.settings = Settings(store_url=servers.store_url, queue_url=servers.queue_url, data=folder, keys=folder / "keys")
        self.opened = [open_platform(self.settings, ALL_GAMES)]
        self.logs = [parse_vkey(vkey) for vkey in self.opened[0].signer.vkeys()]
        self.player = accounts.register(self.opened[0], "Ann")[0].id
        self.listening: list[socket.socket] = []
        self.stops = []

    def witness(self, name: str) -> Witness:
        """Start a witness."""
        state = State(self.folder / name)
        key = state.key(f"{name}.example").verifier
        server = make_server("127.0.0.1", 0, witness_app(state, self.logs), threaded=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.stops.append(server.shutdown)
        return Witness(f"http://127.0.0.1:{server.port}", key)

    def silent(self) -> Witness:
        """Return a witness that takes connections and never answers."""
        self.listening.append(socket.create_server(("127.0.0.1", 0)))
        return Witness(f"http://127.0.0.1:{self.listening[-1].getsockname()[1]}", AWAY.verifier)

    def with_witnesses(self, *witnesses: Witness) -> Platform:
        self.opened.append(open_platform(self.settings._replace(witnesses=witnesses), ALL_GAMES))
        return self.opened[-1]

    def begin(self, platform: Platform) -> str:
        return play.create(platform, self.player, "tally", {"one": "me", "two": "open"}, {}).match


@pytest.fixture
def witnessed(quiet_servers: Servers, tmp_path: Path) -> Iterator[Witnessed]:
    found = Witnessed(quiet_servers, tmp_path)
    yield found
    for stop in found.stops:
        stop()
    for listening in found.listening:
        listening.close()
    for platform in found.opened:
        platform.close()


def names(platform: Platform) -> list[str]:
    """Return whose cosignatures are under the checkpoint that is served, after checking them."""
    note = parse(server_log.shown(platform).note)
    return [signature.name for signature in cosigning.cosignatures(note, [witness.key for witness in platform.settings.witnesses])]


def test_each_checkpoint_is_cosigned_by_every_witness_that_answers(witnessed: Witnessed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.notary.witnessing.SECONDS", 0.3)
    away = Witness("http://127.0.0.1:9", AWAY.verifier)
    platform = witnessed.with_witnesses(witnessed.witness("one"), away, witnessed.silent(), witnessed.witness("two"))
    asking = Witnesses(platform)
    for size in range(3):
        sequencing.sequence(platform)
        assert server_log.shown(platform).size == size
        assert names(platform) == []
        assert asking.visit() == 2
        assert names(platform) == ["one.example", "two.example"]
        assert asking.visit() == 0, "those that are away are not asked again for the same checkpoint"
        match = witnessed.begin(platform)
    sequencing.sequence(platform)
    assert Witnesses(platform).visit() == 2, "another process learns from the witness what it has seen"
    proof = checkpoints.parse_proof(server_log.leaves(platform, match)[0]["proof"])
    assert proof.note == server_log.shown(platform).note
    assert names(platform) == ["one.example", "two.example"]


def test_answers_that_are_no_cosignatures_are_not_served(witnessed: Witnessed) -> None:
    real = witnessed.witness("one")
    platform = witnessed.with_witnesses(real._replace(key=AWAY.verifier))
    sequencing.sequence(platform)
    before = server_log.shown(platform).note
    assert Witnesses(platform).visit() == 0
    assert server_log.shown(platform).note == before
    assert metrics.witness_failures.labels("away.example")._value.get() >= 1


def test_the_log_grows_beside_a_worker_while_a_witness_is_silent(witnessed: Witnessed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequencer, "EVERY", 0.05)
    monkeypatch.setattr(sequencer, "WITNESSED", 0.05)
    platform = witnessed.with_witnesses(witnessed.silent())
    threads = sequencer.begin(platform)
    made = [witnessed.begin(platform) for _ in range(3)]
    within(20, lambda: platform.store.server_logs.state(platform.signer.name).served == 3)
    (platform.settings.keys_folder / highwater.FILE).write_text("torn")
    witnessed.begin(platform)
    threading.Event().wait(0.3)
    assert server_log.shown(platform).size == 3
    (platform.settings.keys_folder / highwater.FILE).unlink()
    within(20, lambda: server_log.shown(platform).size == 4)
    assert all(server_log.leaves(platform, match) for match in made)
    for thread in threads:
        thread.stop()


def test_witnesses_are_named_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    vkey = AWAY.verifier.vkey
    monkeypatch.setenv("WARLEDGER_WITNESSES", f"https://one.example {vkey} , http://127.0.0.1:8100/w {vkey}")
    assert settings_from_environment().witnesses == (
        Witness("https://one.example", AWAY.verifier),
        Witness("http://127.0.0.1:8100/w", AWAY.verifier),
    )
    signing = SigningKey("log.example", b"l" * 32).verifier.vkey
    for wrong in (
        vkey,
        "https://one.example",
        f"ftp://one.example {vkey}",
        f"https://one.example {vkey}x",
        f"https://one.example {signing}",
    ):
        monkeypatch.setenv("WARLEDGER_WITNESSES", wrong)
        with pytest.raises(Exception, match="WARLEDGER_WITNESSES"):
            settings_from_environment()
