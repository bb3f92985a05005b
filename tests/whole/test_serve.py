"""`./run serve` when its parts are killed, when it is stopped, and when it cannot start."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
import requests

from events.due import QUICK
from events.keeping import embedded
from events.modules import python_environment
from events.store import library
from events.telemetry.exposition import EVERY
from service.supervisor.servers import room_of
from service.supervisor.supervision import output_of, turn_over
from tests.conftest import Servers
from tests.whole.conftest import Client, kill, until
from tests.whole.faults import LINUX, PARTS, RECOVERY, Playing, answer, check, finish, goes_on, part, serve, victims_of
from tools import private
from tools.processes import family, lives


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[private.Place]:
    """A service for tests that leave it whole."""
    with private.service(tmp_path_factory.mktemp("lasting")) as running:
        yield running


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in ("the_web", "the_store") else pytest.mark.soak) for name in PARTS])
def test_acknowledged_actions_survive_kill_9_of(name: str, lasting: private.Place) -> None:
    place = lasting
    player = Playing(place.url, 1)
    player.start()
    until(lambda: len(player.acknowledged) > 10)
    size = len(part(place, name))
    for _ in range(2):
        kill(until(lambda: victims_of(place, name), RECOVERY, f"{name} does not come back"))
        goes_on(player, RECOVERY, f"without {name}")
    finish(player)
    until(lambda: len(part(place, name)) >= size, RECOVERY, f"{name} is not all there again")


def test_acknowledged_actions_survive_kill_9_of_everything_at_once(tmp_path: Path) -> None:
    place = private.started(tmp_path, "--workers", "1")
    player = Playing(place.url, 2)
    player.start()
    until(lambda: len(player.acknowledged) > 10)
    kill([*(process.number for process in family(place.process.pid)), place.process.pid])
    place.process.wait()
    acknowledged = dict(player.acknowledged)
    player.enough.set()
    with private.service(tmp_path, *private.SMALL) as again:
        client = Client(again.url)
        for match in {match for match, _ in acknowledged}:
            entries = client.insist("GET", f"/v1/matches/{match}/entries?limit=500")["entries"]
            assert len(entries) >= max(version for where, version in acknowledged if where == match)


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name == "the_store" else pytest.mark.soak) for name in PARTS])
def test_a_part_that_is_stopped_is_killed_and_started_again(name: str, lasting: private.Place) -> None:
    place = lasting
    player = Playing(place.url, 3)
    player.start()
    until(lambda: len(player.acknowledged) > 10)
    size, victims = len(part(place, name)), victims_of(place, name)
    for victim in victims:
        os.kill(victim, signal.SIGSTOP)
    player.pause = 0.2  # it takes twenty checks, and other tests need the processor
    until(lambda: not any(lives(victim) for victim in victims), message=f"{name} is stopped and stays so")
    player.pause = 0.0
    goes_on(player, RECOVERY, f"without {name}")
    finish(player)
    until(lambda: len(part(place, name)) >= size, RECOVERY, f"{name} is not all there again")


@pytest.mark.parametrize("name", [pytest.param("the_store", marks=pytest.mark.soak), "the_queue"])
def test_a_server_whose_socket_is_deleted_is_started_again_within_ten_seconds(name: str, lasting: private.Place) -> None:
    player = Playing(lasting.url, 9)
    player.start()
    until(lambda: len(player.acknowledged) > 10)
    old, socket_ = victims_of(lasting, name), lasting.data / PARTS[name] / "redis.sock"
    socket_.unlink()
    until(lambda: socket_.exists() and victims_of(lasting, name) not in ([], old), RECOVERY, f"{name} has no socket")
    goes_on(player, RECOVERY, f"without {name}")
    finish(player)


def is_free(url: str) -> bool:
    """Tell whether nobody listens at an address."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", int(url.rpartition(":")[2])))
        except OSError:
            return False
    return True


@LINUX
@pytest.mark.parametrize(
    ("killed", "stopped"),
    [
        ((), False),
        pytest.param((), True, marks=pytest.mark.soak),
        pytest.param(("the_web",), False, marks=pytest.mark.soak),
        pytest.param(("the_web",), True, marks=pytest.mark.soak),
        pytest.param(("one_web_process",), False, marks=pytest.mark.soak),
        pytest.param(("one_web_process",), True, marks=pytest.mark.soak),
        pytest.param(tuple(PARTS), False, marks=pytest.mark.soak),
        (tuple(PARTS), True),
    ],
)
def test_no_process_outlives_a_killed_supervisor_by_three_seconds(killed: tuple[str, ...], stopped: bool, tmp_path: Path) -> None:
    place = private.started(tmp_path, "--workers", "1")
    children = {process.number for process in family(place.process.pid)}
    victims = {number for name in killed for number in victims_of(place, name)}
    assert len(children) >= 8
    for number in children - victims if stopped else ():
        os.kill(number, signal.SIGSTOP)
    kill([place.process.pid, *victims])
    place.process.wait()
    ended = time.monotonic()
    until(lambda: not [number for number in children if lives(number)], 3, "a process has outlived its supervisor")
    # The supervisor may have begun a process anew, which is not in `children`, before it was ended itself: it would hold the port.
    until(lambda: is_free(place.url), max(0.1, ended + 3 - time.monotonic()), "a process that was begun meanwhile holds the port")


@LINUX
def test_the_supervisor_stays_fit_to_be_forked_and_what_it_forks_has_a_name(lasting: private.Place) -> None:
    """Only one thread, so that a fork finds no lock of another one. It has begun everything, and begun some of it again."""
    kill(victims_of(lasting, "the_store") + victims_of(lasting, "a_worker"))
    until(lambda: answer(lasting, "/readyz").status_code == 200 and len(part(lasting, "a_worker")) == 4, RECOVERY)
    assert len(list(Path(f"/proc/{lasting.process.pid}/task").iterdir())) == 1

    def named() -> list[str]:
        commands = [process.command.split() for process in family(lasting.process.pid) if process.parent == lasting.process.pid]
        return sorted(name for name, *_ in filter(None, commands) if "/" not in name)

    # What loads the functions of the store may still be ending.
    others = ["workers.archivist", "workers.hooks.run", "workers.journal"]
    until(lambda: named() == ["service.supervisor.web"] * 2 + others + ["workers.run"] * 4, RECOVERY, named)
    exe = Path(f"/proc/{lasting.process.pid}/exe").readlink()
    assert all(Path(f"/proc/{process.number}/exe").readlink() == exe for process in part(lasting, "a_worker"))


UNFORKED = """
import sys
from service.supervisor import forking
forking.FORKS = False
from service.supervisor import serve
sys.exit(serve.main(sys.argv[1:]))
"""


@pytest.mark.soak
def test_where_nothing_is_forked_every_part_is_started_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(arguments: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", UNFORKED, *arguments], env=environment, start_new_session=True)

    monkeypatch.setattr(private, "start", start)
    with private.service(tmp_path, "--queues", ",".join(QUICK)) as place:
        assert [len(part(place, name)) for name in ("the_web", "a_worker")] == [2, 1]
        assert all(" -m " in process.command for process in part(place, "the_web") + part(place, "a_worker"))
        player = Playing(place.url, 8)
        player.start()
        for name in ("one_web_process", "the_web", "a_worker"):
            goes_on(player, 2 * RECOVERY)
            kill(victims_of(place, name))
        until(lambda: len(part(place, "the_web")) == 2 and part(place, "a_worker"), RECOVERY)
        finish(player)


# ---------------------------------------------------------------- a store that loads


@pytest.fixture
def slow_store(tmp_path: Path) -> dict[str, str]:
    """A data folder with many keys, and the environment for a store that needs some seconds to load them."""
    store = embedded.start(tmp_path / "data", embedded.STORE, "no")
    data = tmp_path / "data"
    set_command = embedded.renamed(data)["SET"]
    with redis.Redis.from_url(embedded.keeper_url(data)) as keeper, keeper.pipeline(transaction=False) as pipeline:
        for number in range(10_000):
            pipeline.execute_command(set_command, f"filler:{number}", number)
        pipeline.execute()
    store.stop()
    program = tmp_path / "slow-server"
    program.write_text(f'#!/bin/sh\nexec "{embedded.binary()}" "$@" --key-load-delay 300\n')
    program.chmod(0o700)
    return {"WARLEDGER_REDIS_SERVER": str(program)}


def loads(place: private.Place) -> bool:
    """Return True if the service says that it waits for the store to load."""
    said = answer(place, "/readyz")
    return said.status_code == 503 and "it is loading its data" in said.json()["detail"]


def kill_the_store(place: private.Place) -> None:
    """Kill the store as soon as it runs."""
    (store,) = until(lambda: part(place, "the_store"), RECOVERY, "the store does not come back")
    os.kill(store.number, signal.SIGKILL)
    until(lambda: not lives(store.number))


@pytest.mark.soak
def test_a_store_that_is_killed_again_while_it_loads_comes_back_and_readyz_says_what_is_waited_for(
    tmp_path: Path, slow_store: dict[str, str]
) -> None:
    with private.service(tmp_path / "data", *private.SMALL, environment=slow_store) as place:
        client = Client(place.url)
        match = client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}})["id"]
        for _ in range(3):
            kill_the_store(place)
            until(lambda: loads(place), RECOVERY, "it does not say that the store loads")
            assert answer(place, "/healthz").status_code == 200
        os.kill(part(place, "the_web")[0].number, signal.SIGKILL)
        until(lambda: loads(place) or answer(place, "/readyz").status_code == 200, RECOVERY, "the web does not start while the store loads")
        assert client.insist("GET", f"/v1/matches/{match}", seconds=30)["id"] == match
        assert answer(place, "/readyz").json() == {"status": "ok"}
        assert place.process.poll() is None


@pytest.mark.parametrize(
    "moment", ["at the first start", *(pytest.param(moment, marks=pytest.mark.soak) for moment in ("killed", "stopped"))]
)
def test_sigterm_is_heeded_within_three_seconds_while_the_store(moment: str, tmp_path: Path, slow_store: dict[str, str]) -> None:
    data = tmp_path / "data"
    if moment == "at the first start":
        command = [sys.executable, "-m", "service.supervisor.serve", "--port", "0", "--data", str(data)]
        process = subprocess.Popen(command, cwd=private.ROOT, env={**python_environment(), **slow_store}, start_new_session=True)
        until(lambda: any("workers.run" in child.command for child in family(process.pid)))
    else:
        place = private.started(data, *private.SMALL, environment=slow_store)
        process = place.process
        if moment == "killed":
            kill_the_store(place)
            until(lambda: loads(place), RECOVERY)
        else:
            os.kill(part(place, "the_store")[0].number, signal.SIGSTOP)
    children = family(process.pid)
    began = time.monotonic()
    process.terminate()
    assert process.wait(10) == 0
    assert time.monotonic() - began < 3.5
    assert [child for child in children if lives(child.number)] == []


# ---------------------------------------------------------------- full disks


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 40 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(disk)], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def fill(disk: Path) -> Path:
    """Fill a disk to the last byte. Return the file to delete."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 10, 1):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)):
                    pass
    return filler


def test_while_the_disk_of_the_store_is_full_reads_are_answered_and_writes_refused_and_it_heals_within_ten_seconds(
    small_disk: Path,
) -> None:
    with private.service(small_disk / "data", *private.SMALL) as place:
        client = Client(place.url)
        match = client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})["id"]
        player = Playing(place.url, 4)
        player.start()
        until(lambda: len(player.acknowledged) > 10)
        player.enough.set()
        filler = fill(small_disk)
        until(lambda: answer(place, "/readyz").status_code == 503)
        player.join(30)
        for round in range(3):
            if round == 1:
                kill_the_store(place)
                until(lambda: client.call("GET", f"/v1/matches/{match}").ok, RECOVERY, "a store on a full disk does not start")
            refused = client.call("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})
            assert (refused.status_code, refused.json()["code"]) == (503, "store_away")
            assert client.call("GET", f"/v1/matches/{match}/choices").json()["choices"]
            assert "Waiting for the disk of the store" in answer(place, "/readyz").json()["detail"]
            assert answer(place, "/healthz").status_code == answer(place, "/metrics").status_code == 200
        filler.unlink()
        client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}}, seconds=10)
        assert answer(place, "/readyz").status_code == 200
        check(client, player.acknowledged)


def test_a_disk_that_can_only_be_read_has_no_room_and_prevents_a_start_with_a_sentence(small_disk: Path) -> None:
    assert room_of(small_disk) > 0
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert room_of(small_disk) == 0
    ended = serve("--port", "0", "--data", str(small_disk))
    assert (ended.returncode, ended.stderr.count("cannot be written (Read-only file system)")) == (1, 1)
    assert "Traceback" not in ended.stderr


class FailingDisk:
    """A disk that turns read-only when it fails, as ext4 does, and that can be repaired: checked, and mounted again."""

    def __init__(self, folder: Path) -> None:
        self.place = folder / "disk"
        self.place.mkdir()
        self.image = folder / "image"
        self.image.touch()
        os.truncate(self.image, 80_000_000)
        self.mount("mkfs.ext4", "-q", "-F", str(self.image))
        self.failure = Path("/sys/fs/ext4", Path("/sys/dev/block", self.number()).resolve().name, "trigger_fs_error")
        if not self.failure.exists():
            self.unmount()
            pytest.skip("this system cannot let a disk fail")

    def number(self) -> str:
        """Return the device of the disk, such as 7:0."""
        device = self.place.stat().st_dev
        return f"{os.major(device)}:{os.minor(device)}"

    def mount(self, *before: str) -> None:
        """Run a command on the image, then mount it."""
        for command in (before, ("mount", "-o", "loop,errors=remount-ro", str(self.image), str(self.place))):
            try:
                done = subprocess.run(command, capture_output=True, text=True)
            except FileNotFoundError as reason:
                pytest.skip(f"no disk can be mounted here: {reason}")
            if done.returncode > 2:
                pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")

    def unmount(self) -> None:
        """Take the disk away, also from processes that have files open on it."""
        subprocess.run(["umount", "-l", str(self.place)], check=True)

    def fail(self) -> None:
        """Let the file system find an error."""
        self.failure.write_text("1")

    def repair(self) -> None:
        """Check a copy of the disk, and mount that in its place."""
        self.unmount()
        self.image = self.image.rename(self.image.with_suffix(".failed")).parent / "image"
        shutil.copyfile(self.image.with_suffix(".failed"), self.image)
        self.mount("e2fsck", "-fy", str(self.image))


@pytest.fixture
def failing_disk(tmp_path: Path) -> Iterator[FailingDisk]:
    disk = FailingDisk(tmp_path)
    yield disk
    disk.unmount()


@pytest.mark.parametrize("ends", [pytest.param("and nobody writes", marks=pytest.mark.soak), "and the store is killed"])
def test_while_a_failed_disk_can_only_be_read_reads_are_answered_and_it_heals_within_ten_seconds(
    ends: str, failing_disk: FailingDisk
) -> None:
    with private.service(failing_disk.place / "data", *private.SMALL) as place:
        client = Client(place.url)
        match = client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})["id"]
        player = Playing(place.url, 7)
        player.start()
        until(lambda: len(player.acknowledged) > 10)
        player.enough.set()
        player.join(30)
        (store,) = part(place, "the_store")
        failing_disk.fail()
        if ends == "and the store is killed":
            with contextlib.suppress(ProcessLookupError):  # it may have ended by itself, at its next write
                os.kill(store.number, signal.SIGKILL)
        until(lambda: client.call("GET", f"/v1/matches/{match}/choices").ok, RECOVERY, "reads are not answered")
        for _ in range(3):
            refused = client.call("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})
            assert (refused.status_code, refused.json()["code"]) == (503, "store_away")
            until(lambda: client.call("GET", f"/v1/matches/{match}/choices").ok, RECOVERY, "reads are not answered")
            assert "Waiting for the disk of the store" in answer(place, "/readyz").json()["detail"]
            assert answer(place, "/healthz").status_code == answer(place, "/metrics").status_code == 200
        check(client, player.acknowledged)
        failing_disk.repair()
        client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}}, seconds=10)
        until(lambda: answer(place, "/readyz").status_code == 200, RECOVERY)
        check(client, player.acknowledged)
        assert place.process.poll() is None


def test_with_the_disk_of_logs_and_metrics_full_no_answer_is_lost_and_no_process_dies(tmp_path: Path, small_disk: Path) -> None:
    servers = [embedded.start(tmp_path / "elsewhere", *server) for server in ((embedded.STORE, "always"), (embedded.QUEUE, "off"))]
    environment = {"WARLEDGER_REDIS_URL": servers[0].url, "WARLEDGER_QUEUE_URL": servers[1].url}
    with private.service(small_disk / "data", environment=environment) as place:
        filler = fill(small_disk)
        processes = {process.number for process in family(place.process.pid)}
        player = Playing(place.url, 5)
        player.start()
        until(lambda: len(player.acknowledged) > 100 or player.failed, 60)
        for _ in range(50):
            for path in ("/healthz", "/readyz", "/metrics", "/v1/games", "/v1/nothing"):
                said = requests.get(place.url + path, timeout=15)
                assert said.status_code == (404 if path == "/v1/nothing" else 200)
                assert said.content
        finish(player)
        assert {process.number for process in family(place.process.pid)} == processes
        for name in ("the_web", "a_worker"):
            kill(victims_of(place, name))
        until(lambda: answer(place, "/healthz").status_code == 200 and part(place, "a_worker"), RECOVERY)
        filler.unlink()
        counted = appends(place)  # what a killed process could not publish is lost
        player.client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})
        until(lambda: appends(place) > counted, RECOVERY, "the metrics do not come back")
    for server in servers:
        server.stop()


def test_metrics_cover_every_process_also_those_that_were_killed(place: private.Place) -> None:
    player = Playing(place.url, 6)
    player.start()
    until(lambda: len(player.acknowledged) > 20)
    player.enough.set()
    player.join(30)
    published = time.monotonic() + 2 * EVERY
    until(lambda: time.monotonic() > published)
    kill(process.number for process in part(place, "the_web"))
    until(lambda: answer(place, "/readyz").status_code == 200, RECOVERY)
    assert appends(place) >= len(player.acknowledged)


def appends(place: private.Place) -> float:
    """Return the number of appends by the metrics."""
    return sum(
        float(number) for number in re.findall(r"^warledger_appends_total\{.*\} (\S+)$", answer(place, "/metrics").text, re.MULTILINE)
    )


# ---------------------------------------------------------------- the end, and what prevents a start


def test_a_killed_supervisor_leaves_no_process_and_the_next_one_has_the_data_and_the_admin_key(tmp_path: Path) -> None:
    place = private.started(tmp_path, *private.SMALL)
    client = Client(place.url)
    match = client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}})["id"]
    children = {process.number for process in family(place.process.pid)}
    place.process.kill()
    place.process.wait()
    with private.service(tmp_path, "--web", "1", "--workers", "0") as again:
        assert Client(again.url).insist("GET", f"/v1/matches/{match}")["id"] == match
        assert again.admin_key == place.admin_key
        assert stat.S_IMODE((tmp_path / "admin.key").stat().st_mode) == 0o600
    until(lambda: not [number for number in children if lives(number)], message="the children of a killed supervisor live on")


def test_on_sigterm_it_ends_within_three_seconds_even_with_open_streams(tmp_path: Path) -> None:
    place = private.started(tmp_path, *private.SMALL)
    client = Client(place.url)
    match = client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}})["id"]
    streams = [requests.get(f"{place.url}/v1/matches/{match}/stream", stream=True, timeout=10) for _ in range(5)]
    children = family(place.process.pid)
    assert len(children) >= 5
    began = time.monotonic()
    place.process.terminate()
    assert place.process.wait(10) == 0
    assert time.monotonic() - began < 3.5
    assert [child for child in children if lives(child.number)] == []
    for stream in streams:
        stream.close()


def test_a_second_serve_on_the_same_folder_says_that_it_is_in_use(lasting: private.Place) -> None:
    ended = serve("--port", "0", "--data", str(lasting.data))
    assert ended.returncode == 1
    assert f"is in use by another `serve` (process {lasting.process.pid})" in ended.stderr


def test_a_data_folder_of_another_format_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "store/appendonlydir/commands.conf"
    file.parent.mkdir(parents=True)
    file.write_text(library.configuration("ab" * 16).replace(f"format {library.FORMAT}", "format 0"))
    ended = serve("--port", "0", "--data", str(tmp_path))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.strip() == library.other_format(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"store", "serve.lock"}


def test_a_server_of_another_format_is_refused_with_what_to_do(tmp_path: Path, servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARLEDGER_REDIS_URL", servers.store_url)
    servers.keeper.set("{store}:begun", "16")
    ended = serve("--port", "0", "--data", str(tmp_path))
    servers.keeper.delete("{store}:begun")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.strip() == library.other_format("The store")


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = serve("--port", str(port), "--data", str(tmp_path))
    assert ended.returncode == 1
    assert f"Port {port} of 127.0.0.1 cannot be used" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("files", [pytest.param(16, marks=pytest.mark.soak), 256])
def test_too_few_open_files_prevent_a_start_with_a_sentence(files: int, tmp_path: Path) -> None:
    ended = serve("--port", "0", "--data", str(tmp_path), before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
    said = f"The hard limit of open files is {files}, and a web process needs at least 320. Raise it (`ulimit -Hn`).\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", said)


def test_what_a_restore_has_put_there_in_part_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / embedded.PLACING).mkdir()
    ended = serve("--port", "0", "--data", str(tmp_path))
    assert (ended.returncode, ended.stderr.strip()) == (1, f"a restore into {tmp_path} was interrupted; run it again, with --replace")
    assert not (tmp_path / embedded.STORE).exists()


def test_the_admin_key_makes_referees_and_only_its_owner_can_read_it(lasting: private.Place) -> None:
    assert lasting.admin_key.startswith("wl_")  # never with a dash, as an option would
    assert stat.S_IMODE((lasting.data / "admin.key").stat().st_mode) == 0o600
    made = requests.post(
        f"{lasting.url}/v1/players",
        json={"name": "judge", "role": "referee"},
        headers={"Authorization": f"Bearer {lasting.admin_key}"},
        timeout=10,
    )
    assert made.status_code == 201, made.text


def test_a_large_log_is_rotated_while_a_process_writes_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.supervisor.supervision.LOG_LIMIT", 10)
    log = tmp_path / "web.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"small\n")
        turn_over(log)
        assert (log.read_bytes(), list(tmp_path.iterdir())) == (b"small\n", [log])
        writer.write(b"much more\n")
        turn_over(log)
        writer.write(b"after\n")
    assert log.read_bytes() == b"after\n"
    assert (tmp_path / "web.log.1").read_bytes() == b"small\nmuch more\n"
    assert stat.S_IMODE((tmp_path / "web.log.1").stat().st_mode) == 0o600
    turn_over(None)


def test_only_their_owner_can_read_logs(lasting: private.Place, tmp_path: Path) -> None:
    logs = [*(lasting.data / "logs").iterdir(), *lasting.data.glob("*/server.log")]
    assert len(logs) > 6
    assert {stat.S_IMODE(log.stat().st_mode) for log in logs} == {0o600}
    assert {stat.S_IMODE(log.parent.stat().st_mode) for log in [*logs, lasting.data / "logs", lasting.data / "metrics/x"]} == {0o700}
    open_to_all = tmp_path / "web.log"
    open_to_all.touch(0o666)
    os.close(output_of(open_to_all)[0])
    assert stat.S_IMODE(open_to_all.stat().st_mode) == 0o600
