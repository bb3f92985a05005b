"""A whole service under faults that machines have: slow, hanging and full disks, little memory, clocks that jump, kills at any moment.

They take long, so `./run soak` runs them. Whatever happens, nothing that was acknowledged is lost, and the service heals by itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import redis
import requests

from events.keeping import embedded
from tests.whole import faults
from tests.whole.conftest import Client, kill, until
from tests.whole.faults import LINUX, PARTS, RECOVERY, Playing, answer, check, victims_of
from tools import private
from tools.processes import family, lives

pytestmark = [pytest.mark.soak, LINUX]

goes_on, finish = partial(faults.goes_on, more=5), partial(faults.finish, seconds=60.0)

HANG = 20.0  # seconds: ten without a pulse, and what a busy machine needs
HERE = Path(__file__).parent
PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207
CGROUP = Path("/sys/fs/cgroup")
FULL = {"WARLEDGER_MEMORY": "40"}  # megabytes


@pytest.fixture
def play() -> Iterator[Callable[[private.Place], Playing]]:
    """Let somebody play in a service until the end of the test. Then everything that was acknowledged must be there once."""
    players: list[Playing] = []

    def begun(place: private.Place) -> Playing:
        player = Playing(place.url, len(players) + 1)
        players.append(player)
        player.start()
        goes_on(player)
        return player

    yield begun
    for player in players:
        finish(player)


def healed(place: private.Place, player: Playing, seconds: float = RECOVERY) -> None:
    """Wait until play goes on and the service is ready."""
    goes_on(player, seconds)
    until(lambda: answer(place, "/readyz").status_code == 200, seconds, "it is not ready")


@contextlib.contextmanager
def busy(number: int = 2) -> Iterator[None]:
    """Keep this many processors busy."""
    burning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in burning:
            process.kill()
            process.wait()


# ---------------------------------------------------------------- kills, signals and hangs


def test_it_is_back_within_ten_seconds_after_any_kill_on_two_busy_processors(place: private.Place, play: Callable[..., Playing]) -> None:
    player, everything = play(place), family(place.process.pid)
    with busy():
        for _ in range(3):
            groups = [[process.number] for process in family(place.process.pid)]
            for victims in [*groups, [number for (number,) in groups]]:
                kill(victims)
                healed(place, player)
                until(lambda: len(family(place.process.pid)) >= len(everything), RECOVERY, "a part does not come back")


@pytest.mark.parametrize("load", [0, 2, 4])
def test_sigterm_ends_everything_within_three_seconds_or_ten_on_a_busy_machine(load: int, tmp_path: Path) -> None:
    place = private.started(tmp_path)
    player = Playing(place.url, 1)
    player.start()
    goes_on(player)
    children = family(place.process.pid)
    with busy(load):
        began = time.monotonic()
        place.process.terminate()
        assert place.process.wait(20) == 0
        assert time.monotonic() - began < (10 if load else 3.5)
    assert [child for child in children if lives(child.number)] == []
    player.enough.set()


@pytest.mark.parametrize("name", ["SIGHUP", "SIGINT", "SIGQUIT", "SIGALRM", "SIGUSR1", "SIGSEGV", "SIGXCPU", "SIGTSTP", "SIGTTIN"])
def test_a_signal_to_any_part_costs_nothing(name: str, place: private.Place, play: Callable[..., Playing]) -> None:
    player, everything = play(place), family(place.process.pid)
    for process in everything:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.number, signal.Signals[name])
        healed(place, player)
    until(lambda: len(family(place.process.pid)) >= len(everything), RECOVERY, "a part does not come back")


@pytest.mark.parametrize("ignored", [False, True])
def test_sighup_ends_it_as_sigterm_does_unless_it_is_ignored_as_by_nohup(ignored: bool, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "service.supervisor.serve", "--port", "0", "--data", str(tmp_path), *private.SMALL]
    before = partial(signal.signal, signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    process = subprocess.Popen(command, env=private.python_environment(), start_new_session=True, preexec_fn=before)
    until((tmp_path / "serve.json").exists)
    children = family(process.pid)
    process.send_signal(signal.SIGHUP)
    if ignored:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        process.terminate()
    assert process.wait(10) == 0
    assert [child for child in children if lives(child.number)] == []


def test_a_web_process_whose_event_loop_stands_still_is_killed(place: private.Place, play: Callable[..., Playing]) -> None:
    """Its threads are stopped one by one, so the process does not count as stopped."""
    player = play(place)
    (web, *_) = victims_of(place, "one_web_process")
    trace = ctypes.CDLL(None).ptrace
    trace.argtypes = [ctypes.c_long] * 4
    tasks = [int(task.name) for task in Path(f"/proc/{web}/task").iterdir() if (task / "comm").read_text().strip() == "tokio-rt-worker"]
    for number in tasks:
        if trace(PTRACE_SEIZE, number, 0, 0) or trace(PTRACE_INTERRUPT, number, 0, 0):
            pytest.skip("no thread can be stopped here")

    def ended() -> bool:
        with contextlib.suppress(requests.RequestException):
            requests.get(place.url + "/healthz", timeout=0.2)
        return not lives(web)

    until(ended, HANG, "it hangs on")
    for number in tasks:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(number, 0x40000000)
    healed(place, player)


@pytest.mark.parametrize(("name", "script"), [("the_store", ""), ("the_store", "redis.call('{SET}', 'x', '1')"), ("the_queue", "")])
def test_a_server_with_a_script_that_does_not_end_is_killed(name: str, script: str, place: private.Place) -> None:
    player = Playing(place.url, 1)
    player.start()
    goes_on(player)
    player.enough.set()
    player.join(30)
    url = embedded.keeper_url(place.data) if name == "the_store" else embedded.url_of(place.data, embedded.QUEUE)
    code = script.replace("{SET}", embedded.renamed(place.data)["SET"]) + " while true do end"
    (victim,) = victims_of(place, name)

    def spin() -> None:
        with contextlib.suppress(redis.RedisError), redis.Redis.from_url(url, socket_timeout=None) as server:
            server.eval(code, 0)

    threading.Thread(target=spin, daemon=True).start()
    until(lambda: not lives(victim), HANG, "it hangs on")
    until(lambda: answer(place, "/readyz").json() == {"status": "ok"}, RECOVERY)
    check(player.client, player.acknowledged)


# ---------------------------------------------------------------- kills at the first start, and during a restore


def test_after_kills_during_the_first_start_the_next_one_succeeds(tmp_path: Path) -> None:
    dice, data = random.Random(time.time_ns()), tmp_path / "data"
    command = [sys.executable, "-m", "service.supervisor.serve", "--port", "0", "--data", str(data)]
    for _ in range(15):
        shutil.rmtree(data, ignore_errors=True)
        for _ in range(dice.choice((1, 1, 2, 3))):
            process = subprocess.Popen(command, env=private.python_environment(), stderr=subprocess.PIPE, text=True, start_new_session=True)
            after(2.0 * dice.random() ** 2)
            children = [child.number for child in family(process.pid)]
            if children and dice.random() < 0.3:
                kill([dice.choice(children)])
                after(0.5)
                process.terminate()
                assert process.wait(20) == 0
            else:
                kill([process.pid, *(children if dice.random() < 0.5 else [])])
            assert "Traceback" not in process.communicate(timeout=20)[1]
        with private.service(data, *private.SMALL) as place:
            Client(place.url).insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}})


def after(seconds: float) -> None:
    """Return when some seconds have passed. A test that kills at any moment has nothing to wait for."""
    threading.Event().wait(seconds)


def test_after_kills_during_a_restore_the_next_one_has_everything(tmp_path: Path) -> None:
    dice, saved, data = random.Random(time.time_ns()), tmp_path / "saved", tmp_path / "data"
    with private.service(tmp_path / "first", *private.SMALL) as place:
        player = Playing(place.url, 1)
        player.start()
        until(lambda: len(player.acknowledged) > 100)
        player.enough.set()
        player.join(30)
        assert run("tools.backup", saved, tmp_path / "first") == 0
    for turn in range(12):
        shutil.rmtree(data, ignore_errors=True)
        if turn % 2:
            shutil.copytree(tmp_path / "first", data, ignore=shutil.ignore_patterns("*.sock"))
        for _ in range(dice.choice((1, 2))):
            process = subprocess.Popen([*tool("tools.restore", saved, data), "--replace"], env=private.python_environment())
            after(2.0 * dice.random())
            kill([process.pid])
            process.wait()
        assert run("tools.restore", saved, data, "--replace") == 0
        assert not list(data.glob(".restoring")) + list(data.glob(embedded.PLACING))
        with private.service(data, *private.SMALL) as place:
            player.client.url = place.url
            check(player.client, player.acknowledged)


def tool(module: str, folder: Path, data: Path) -> list[str]:
    return [sys.executable, "-m", module, str(folder), "--data", str(data)]


def run(module: str, folder: Path, data: Path, *options: str) -> int:
    return subprocess.run([*tool(module, folder, data), *options], env=private.python_environment(), timeout=120).returncode


# ---------------------------------------------------------------- slow and hanging disks, read-only folders, clocks


def preload(folder: Path, source: str) -> Path:
    """Compile a library that is loaded before others. Skip the test where that is impossible."""
    library = folder / f"{source}.so"
    done = subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(HERE / f"{source}.c"), "-ldl"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"nothing can be compiled here: {done.stderr}")
    return library


def test_a_disk_that_is_slow_makes_it_slow_and_kills_nothing(tmp_path: Path, play: Callable[..., Playing]) -> None:
    library, delay, program = preload(tmp_path, "slow"), tmp_path / "milliseconds", tmp_path / "server"
    delay.write_text("0")
    program.write_text(f'#!/bin/sh\nLD_PRELOAD="{library}" SLOW_FILE="{delay}" exec "{embedded.binary()}" "$@"\n')
    program.chmod(0o700)
    with private.service(tmp_path / "data", environment={"WARLEDGER_REDIS_SERVER": str(program)}) as place:
        player = play(place)
        store = victims_of(place, "the_store")
        for milliseconds, seconds in ((100, 5), (1000, 8), (3000, 10), (7000, 15)):
            delay.write_text(str(milliseconds))
            after(seconds)
            assert answer(place, "/healthz").status_code == 200
            delay.write_text("0")
            healed(place, player, 2 * RECOVERY)
            assert victims_of(place, "the_store") == store
        finish(player)
        delay.write_text("2000")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk that can be frozen."""
    place, image = tmp_path / "disk", tmp_path / "image"
    place.mkdir()
    image.touch()
    os.truncate(image, 200_000_000)
    for command in (["mkfs.ext4", "-q", "-F", str(image)], ["mount", "-o", "loop", str(image), str(place)]):
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as reason:
            pytest.skip(f"no disk can be mounted here: {reason}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_disk_that_hangs_is_waited_for(disk: Path, play: Callable[..., Playing]) -> None:
    with private.service(disk / "data") as place:
        player = play(place)
        for seconds in (3, 15):
            with frozen(disk):
                after(seconds)
            healed(place, player)
        finish(player)


def test_what_cannot_end_while_a_disk_hangs_ends_with_that(disk: Path) -> None:
    place = private.started(disk / "data")
    children = family(place.process.pid)
    with frozen(disk):
        place.process.terminate()
        after(5)
    assert place.process.wait(10) == 0
    assert [child for child in children if lives(child.number)] == []


@contextlib.contextmanager
def frozen(disk: Path) -> Iterator[None]:
    """Let everybody who writes to a disk wait."""
    subprocess.run(["fsfreeze", "-f", str(disk)], check=True)
    try:
        yield
    finally:
        subprocess.run(["fsfreeze", "-u", str(disk)], check=True)


def test_it_needs_no_temporary_folder(tmp_path: Path) -> None:
    data = tmp_path / "data"
    script = """
mount --bind "$2" "$2" || exit 77
for place in /tmp /var/tmp /dev/shm /run; do mount --rbind $place $place && mount -o remount,bind,ro $place || exit 77; done
cd "$2" && exec "$1" -m service.supervisor.serve --port 0 --data "$2"
"""
    data.mkdir()
    command = ["unshare", "-m", "sh", "-c", script, "sh", sys.executable, str(data)]
    process = subprocess.Popen(command, env=private.python_environment(), start_new_session=True)
    until(lambda: (data / "serve.json").exists() or process.poll() is not None)
    if process.poll() == 77:
        pytest.skip("nothing can be mounted here")
    place = private.place_of(data, process)
    player = Playing(place.url, 1)
    player.start()
    goes_on(player)
    for name in PARTS:
        kill(victims_of(place, name))
        healed(place, player)
    finish(player)
    process.terminate()
    assert process.wait(10) == 0


def test_clocks_that_jump_by_any_time_stop_nothing_and_no_time_is_up_early(tmp_path: Path, play: Callable[..., Playing]) -> None:
    library, offset = preload(tmp_path, "jump"), tmp_path / "offset"
    offset.write_bytes(bytes(4096))
    with private.service(tmp_path / "data", environment={"LD_PRELOAD": str(library), "JUMP_FILE": str(offset)}) as place:
        player = play(place)
        clock = {"kind": "bank", "seconds": 3600}
        match = player.client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}, "clock": clock})["id"]
        for seconds in (3600, -3600, 400 * 86_400, -3000 * 86_400, 10, -10, 0):
            with offset.open("r+b") as file:
                file.write(struct.pack("q", seconds))
            after(1.5)
            for name in ("one_web_process", "a_worker", "the_store"):
                kill(victims_of(place, name))
                healed(place, player)
        entries = player.client.insist("GET", f"/v1/matches/{match}/entries")["entries"]
        assert {entry["action"]["type"] for entry in entries} <= {"create_match", "advance", "return_time"}
        assert all(one["at"] <= next_one["at"] for one, next_one in itertools.pairwise(entries))
        finish(player)


# ---------------------------------------------------------------- little memory


@pytest.mark.parametrize("kilobytes", [400_000, 1_000_000])
def test_a_small_address_space_is_enough(kilobytes: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "service.supervisor.serve", "--port", "0", "--data", str(tmp_path)]
    limits = partial(resource.setrlimit, resource.RLIMIT_AS, (kilobytes * 1024, kilobytes * 1024))
    process = subprocess.Popen(command, env=private.python_environment(), start_new_session=True, preexec_fn=limits)
    until((tmp_path / "serve.json").exists)
    place = private.place_of(tmp_path, process)
    player = Playing(place.url, 1)
    player.start()
    healed(place, player)
    finish(player)
    process.terminate()
    assert process.wait(10) == 0


@pytest.mark.parametrize("name", [embedded.STORE, embedded.QUEUE])
def test_a_full_memory_is_said_and_heals(name: str, tmp_path: Path) -> None:
    with private.service(tmp_path, *private.SMALL, environment=FULL) as place:
        client = Client(place.url)
        match = client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})["id"]
        url, names = embedded.url_of(tmp_path, embedded.QUEUE), {"SET": "SET", "UNLINK": "UNLINK"}
        if name == embedded.STORE:
            url, names = embedded.keeper_url(tmp_path), embedded.renamed(tmp_path)
        with redis.Redis.from_url(url) as server:
            with contextlib.suppress(redis.RedisError):  # it is full, or was emptied meanwhile
                for number in itertools.count():
                    server.execute_command(names["SET"], f"filler:{number}", bytes(100_000 if number < 1000 else 100))
            if name == embedded.QUEUE:
                until(lambda: answer(place, "/readyz").json() == {"status": "ok"} and not server.exists("filler:0"), 2 * HANG)
                return

            def is_said() -> bool:
                with contextlib.suppress(redis.RedisError):  # what goes on beside frees a little now and then
                    for _ in range(1000):
                        server.execute_command(names["SET"], f"filler:{random.random()}", bytes(100))
                return "Waiting for memory of the store" in answer(place, "/readyz").text

            until(is_said, RECOVERY)
            assert client.call("POST", f"/v1/matches/{match}/actions", {"type": "resign"}).status_code == 200
            server.execute_command(names["UNLINK"], *server.keys("filler:*"))
            until(lambda: answer(place, "/readyz").json() == {"status": "ok"}, RECOVERY)
            client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})


HOG = """
import os
open("{group}/cgroup.procs", "w").write(str(os.getpid()))
open("/proc/self/oom_score_adj", "w").write("-1000")
taken = []
while True:
    taken.append(b"x" * 1_000_000)
"""


@pytest.fixture
def group() -> Iterator[tuple[Path, str]]:
    """A control group for memory, and the name of the file with its limit."""
    for root, limit in ((CGROUP / "memory", "memory.limit_in_bytes"), (CGROUP, "memory.max")):
        place = root / f"warledger-{os.getpid()}"
        with contextlib.suppress(OSError):
            place.mkdir()
            if (place / limit).exists():
                yield place, limit
                until(lambda place=place: not (place / "cgroup.procs").read_text().strip())
                place.rmdir()
                return
            place.rmdir()
    pytest.skip("no control group can be made here")


def test_when_memory_is_short_searches_give_way_first_and_the_store_never(
    group: tuple[Path, str], tmp_path: Path, play: Callable[..., Playing]
) -> None:
    place_of_group, limit = group
    with private.service(tmp_path) as place:
        player = play(place)
        matches = [
            player.client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "ai:expert", "blue": "ai:expert"}})["id"]
            for _ in range(2)
        ]
        members = family(place.process.pid)
        for number in (place.process.pid, *(process.number for process in members)):
            (place_of_group / "cgroup.procs").write_text(str(number))
        store = victims_of(place, "the_store")
        usage = int((place_of_group / ("memory.usage_in_bytes" if "usage" in limit or "limit" in limit else "memory.current")).read_text())
        (place_of_group / limit).write_text(str(usage + 150_000_000))
        hog = subprocess.Popen([sys.executable, "-c", HOG.format(group=place_of_group)])
        dead = until(lambda: [process for process in members if not lives(process.number)], 30, "nothing was killed")
        hog.kill()
        hog.wait()
        assert dead[0].command.startswith("workers.run")
        assert victims_of(place, "the_store") == store
        healed(place, player)
        before = [versions(player.client, match) for match in matches]
        until(lambda: all(versions(player.client, match) > known for match, known in zip(matches, before, strict=True)), 60)
        finish(player)


def versions(client: Client, match: str) -> int:
    """Return the version of a match."""
    version: int = client.insist("GET", f"/v1/matches/{match}")["version"]
    return version
