"""The embedded servers: one owner, many other users, nothing left running, nothing lost."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from events import play
from events.errors import StoreUnavailable
from events.keeping import embedded
from events.platform import Settings, open_platform
from events.store import library
from events.store.client import answers, load_library
from tests.conftest import ALL_GAMES, Servers, within
from tools.processes import lives

ROOT = Path(__file__).parents[2]
OWNER = """
import sys, time
from pathlib import Path
from events.keeping import embedded
print(embedded.start(Path(sys.argv[1]), embedded.STORE).url, flush=True)
time.sleep(60)
"""


@pytest.fixture
def owner(tmp_path: Path):  # type: ignore[no-untyped-def]
    """A process that owns a store."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    url = process.stdout.readline().decode().strip()
    yield process, url
    process.kill()
    process.wait()


def test_a_second_process_finds_the_server_of_the_first(owner, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    server = embedded.start(tmp_path, embedded.STORE)
    assert (server.url, server.process) == (owner[1], None)
    assert server.alive()
    server.stop()
    assert server.alive(), "only the owner ends a server"


def test_a_server_ends_with_an_owner_that_is_killed_and_nothing_is_lost(owner, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    process, url = owner
    platform = open_platform(Settings(data=tmp_path, store_url=url, queue_url="unix:///nowhere"), ALL_GAMES)
    match = play.create(platform, "p" + "a" * 16, "tally", {"one": "me", "two": "me"}, {}).match
    process.send_signal(signal.SIGKILL)
    within(20, lambda: not answers(url))
    server = embedded.start(tmp_path, embedded.STORE)
    assert server.url == url
    assert platform.store.log.head(match) == 1
    server.stop()
    assert not answers(url)
    platform.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_server_that_is_stopped_ends_with_an_owner_that_is_killed(owner, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    process, _ = owner
    number = int((tmp_path / embedded.STORE / ".server").read_text())
    os.kill(number, signal.SIGSTOP)
    process.send_signal(signal.SIGKILL)
    process.wait()
    within(20, lambda: not lives(number))


LEFT = """
import fcntl, os, signal, sys, time
os.setsid()
lock = open(sys.argv[1], "ab", buffering=0)
fcntl.flock(lock, fcntl.LOCK_EX)
lock.write(str(os.getpid()).encode())
def ends(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if sys.argv[2] == "slow":
        time.sleep(0.7)
        sys.exit()
signal.signal(signal.SIGTERM, ends)
print(flush=True)
while True:
    time.sleep(60)
"""


@pytest.mark.parametrize("hearing", ["slow", "deaf"])
def test_a_new_server_waits_for_the_end_of_one_that_was_left_behind(tmp_path: Path, hearing: str) -> None:
    """Two servers on the same files would each acknowledge writes that the other does not know."""
    folder = tmp_path / embedded.STORE
    folder.mkdir()
    left = subprocess.Popen([sys.executable, "-c", LEFT, str(folder / ".server"), hearing], stdout=subprocess.PIPE)
    assert left.stdout is not None
    left.stdout.readline()
    began = time.monotonic()
    server = embedded.launch(tmp_path, embedded.STORE, patience=60.0 if hearing == "slow" else 0.6)
    assert 0.5 < time.monotonic() - began < 30, "it waits for the end, and no longer"
    assert left.wait(20) == (0 if hearing == "slow" else -signal.SIGKILL)
    left.stdout.close()
    within(20, lambda: answers(server.url))
    server.stop()


def test_a_folder_with_a_long_path_still_gets_a_socket(tmp_path: Path) -> None:
    path = embedded.socket_of(tmp_path / ("long" * 40))
    assert len(str(path)) < 100


LISTENER = """
import os, socket, sys, time
os.setuid(65534)
os.makedirs(os.path.dirname(sys.argv[1]), exist_ok=True)
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
listener.listen()
print("listening", flush=True)
time.sleep(60)
"""


@pytest.fixture
def public(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary directory in which everybody may write, as /tmp is."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o1777)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


@pytest.fixture
def stranger(public: Path) -> Iterator[Callable[[Path], None]]:
    """Let a process of another user listen on a socket."""
    if os.geteuid() != 0:
        pytest.skip("only root can start a process of another user")
    processes = []

    def listen(path: Path) -> None:
        process = subprocess.Popen([sys.executable, "-c", LISTENER, str(path)], cwd="/", stdout=subprocess.PIPE)
        processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"listening\n"

    yield listen
    for process in processes:
        process.kill()
        process.wait()


def test_a_long_path_has_its_socket_in_a_private_folder(public: Path, tmp_path: Path) -> None:
    data = tmp_path / ("long" * 40)
    server = embedded.start(data, embedded.QUEUE, "off")
    path = embedded.socket_of(data / embedded.QUEUE)
    assert path.parent.parent == public
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.is_socket()
    server.stop()


@pytest.mark.parametrize("temporary", ["", "/" + "t" * 90])
def test_a_long_path_without_a_temporary_folder_is_refused(temporary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> str:
        if not temporary:
            raise FileNotFoundError
        return temporary

    monkeypatch.setattr(tempfile, "gettempdir", found)
    with pytest.raises(embedded.NoServer, match="too long for a socket"):
        embedded.url_of(tmp_path / ("d" * 100), embedded.STORE)


def test_a_stranger_who_made_the_folder_of_the_socket_first_is_not_taken_for_the_store(
    stranger: Callable[[Path], None], tmp_path: Path
) -> None:
    data = tmp_path / ("long" * 40)
    stranger(embedded.socket_of(data / embedded.QUEUE))
    with pytest.raises(embedded.NoServer, match="is not a folder of the user"):
        embedded.start(data, embedded.QUEUE, "off")


def test_a_strangers_process_at_the_socket_is_not_taken_for_the_store(public: Path, stranger: Callable[[Path], None]) -> None:
    data = public / "data"
    folder = data / embedded.QUEUE
    folder.mkdir(parents=True)
    data.chmod(0o777)
    folder.chmod(0o777)
    stranger(embedded.socket_of(folder))
    lock = embedded._lock(folder / ".lock")  # so that the server seems to be another process's
    assert lock is not None
    with pytest.raises(embedded.NoServer, match="a process of the user 65534 listens"):
        embedded.start(data, embedded.QUEUE, "off")
    lock.close()


def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    with pytest.raises(embedded.NoServer, match=f"is not a folder of the user {user + 1}"):
        embedded.start(tmp_path, embedded.QUEUE, "off")


def test_a_link_in_place_of_the_folder_of_the_socket_is_refused(public: Path, tmp_path: Path) -> None:
    data = tmp_path / ("long" * 40)
    embedded.socket_of(data / embedded.QUEUE).parent.symlink_to(tmp_path)
    with pytest.raises(embedded.NoServer, match="is not a folder"):
        embedded.start(data, embedded.QUEUE, "off")


def test_existing_data_folders_that_others_could_enter_are_made_private(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for folder in (data, data / embedded.QUEUE):
        folder.mkdir()
        folder.chmod(0o755)
    server = embedded.start(data, embedded.QUEUE, "off")
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (data, data / embedded.QUEUE)] == [0o700, 0o700]
    server.stop()


def test_a_shared_folder_is_refused_and_left_as_it_is(public: Path) -> None:
    with pytest.raises(embedded.NoServer, match="shared by all users"):
        embedded.start(public, embedded.QUEUE, "off")
    assert stat.S_IMODE(public.stat().st_mode) == 0o1777


def test_a_server_that_cannot_start_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARLEDGER_REDIS_SERVER", "/bin/false")
    with pytest.raises(embedded.NoServer):
        embedded.start(tmp_path, embedded.STORE)


def content(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("mark", ["", "# Warledger, data of format 1\n", "# Warledger, data of format 20\n", "# another tool\n"])
def test_a_folder_of_another_format_is_refused_and_stays_as_it_is(tmp_path: Path, mark: str) -> None:
    file = tmp_path / "store/appendonlydir/commands.conf"
    file.parent.mkdir(parents=True)
    lines = library.configuration("ab" * 16).splitlines(keepends=True)
    file.write_text("".join([mark, *lines[1:]]))
    (file.parent / "appendonly.aof.manifest").touch()
    before = content(tmp_path)
    for refused in (lambda: embedded.check_format(tmp_path), lambda: embedded.start(tmp_path, embedded.STORE)):
        with pytest.raises(embedded.NoServer) as reason:
            refused()
        assert str(reason.value) == library.other_format(str(tmp_path))
    assert content(tmp_path) == before


def test_a_folder_in_which_other_commands_are_renamed_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "store/appendonlydir/commands.conf"
    file.parent.mkdir(parents=True)
    file.write_text("".join(library.configuration("ab" * 16).splitlines(keepends=True)[:-1]))
    with pytest.raises(embedded.NoServer, match="another format"):
        embedded.start(tmp_path, embedded.STORE)


def test_functions_are_loaded_again_if_their_names_of_commands_are_others_and_those_of_other_versions_are_removed(servers: Servers) -> None:
    url, names = embedded.keeper_url(servers.data), embedded.renamed(servers.data)
    servers.keeper.function_load("#!lua name=warledger_older\nredis.register_function('older', function() return 1 end)")
    assert not load_library(url, names)
    servers.keeper.function_load(library.code({}), replace=True)
    assert load_library(url, names, alone=True)
    assert len(servers.keeper.function_list("warledger_*")) == 1
    with pytest.raises(StoreUnavailable) as refused:
        load_library(url, {})
    assert "renamed" in refused.value.reason


HARMLESS = (
    "XTRIM', stream, 'MAXLEN', head",  # removes nothing: it asks whether the caller is the archivist
    'ARCHIVING: Mapping[str, str] = {"XTRIM": f"{_of_matches(',  # what the archivist may trim: this, and the log of the server
    "XTRIM', KEYS[2], 'MINID'",  # leaves and hashes of the server's log that the archive has
    "XTRIM', KEYS[3 + level], 'MINID'",
    "XDEL', of_partition .. 'filed'",  # rows of matches that the archive has
    '"XDEL": _of_matches("filed")',
    'else ("RESTORE", key,',  # by the keeper, into a store that nobody uses yet (ADR 124)
)


def test_no_command_in_the_source_changes_or_removes_an_entry() -> None:
    every = [*(ROOT / "events").rglob("*.py"), *(ROOT / "events").rglob("*.lua")]
    files = [file for file in every if "queue" not in file.parts]  # the queue's server has no entries
    assert {"log.py", "append.lua"} <= {file.name for file in files}
    for file in files:
        lines = [line for line in file.read_text().splitlines() if not line.lstrip().startswith(("#", "--"))]
        text = "\n".join(lines)
        for harmless in HARMLESS:
            text = text.replace(harmless, "")
        found = re.findall(r"['\"](XDEL|XTRIM|XSETID|FLUSH\w+|RENAME\w*|MAXLEN|MINID|DEL|RESTORE)['\"]", text, re.IGNORECASE)
        assert not found, f"{file.name}: {found}"
