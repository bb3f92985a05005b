"""`./run serve` over a store that has lost something: it starts with all that was there before, and says what is gone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import requests

from events.keeping import aof, embedded, journal, losses
from events.modules import python_environment
from sdk.python.warledger_client import in_the_game
from tests.events.test_aof import longer
from tests.whole.conftest import Client, kill, until
from tests.whole.test_commands import run
from tools import private
from tools.processes import family


@pytest.fixture
def match(tmp_path: Path) -> str:
    """A match whose entries are the last ones of a store, whose service was killed as by a power cut."""
    place = private.started(tmp_path / "data", *private.SMALL)
    try:
        client = Client(place.url)
        made: str = client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})["id"]
        until(lambda: in_the_game(client.insist("GET", f"/v1/matches/{made}/choices")["choices"]))
        version = client.insist("GET", f"/v1/matches/{made}")["version"]
        until(lambda: journal.read(place.data / losses.FOLDER)[made].version == version, 60)
    finally:
        kill([*(process.number for process in family(place.process.pid)), place.process.pid])
        place.process.wait()
    return made


def metric(place: private.Place, name: str) -> float:
    """Return the value of a metric without labels."""
    lines = requests.get(f"{place.url}/metrics", timeout=10).text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def hear(capfd: pytest.CaptureFixture[str], *sentences: str) -> None:
    """Wait until `serve` has printed some sentences. It looks at the losses once a second."""
    said = ""

    def heard() -> bool:
        nonlocal said
        said += capfd.readouterr().err
        return all(sentence in said for sentence in sentences)

    until(heard, 60)


def test_a_lost_entry_is_said_on_stderr_by_readyz_metrics_and_audit_until_it_is_accepted(
    tmp_path: Path, match: str, capfd: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    (file,) = aof.files(data / embedded.STORE)
    version = journal.read(data / losses.FOLDER)[match].version
    file.write_bytes(longer(file.read_bytes()))
    capfd.readouterr()
    with private.service(data, *private.SMALL) as place:
        lost = until(lambda: requests.get(f"{place.url}/readyz", timeout=10).json().get("lost"), 60)
        assert (lost["entries"], lost["matches"]) == (1, 1)
        until(lambda: losses.read(data).losses[0].what in (losses.GONE, losses.REPLACED), 60)  # a worker may have done the step again
        hear(capfd, f"The store has lost 1 entry: {match} {version}.", "were cut off the damaged end of")
        assert metric(place, "warledger_entries_lost") == 1
        audited = run("audit", match, "--data", str(data))
        assert audited.returncode == 1
        assert f"version {version}: entries_lost: The entry {version} was in the journal and is gone." in audited.stdout
    with private.service(data, *private.SMALL) as place:
        assert requests.get(f"{place.url}/readyz", timeout=10).json()["lost"] == lost
        hear(capfd, f"The store has lost 1 entry: {match} {version}.")
        losses.accept(data)
        assert requests.get(f"{place.url}/readyz", timeout=10).json() == {"status": "ok"}
        assert metric(place, "warledger_entries_lost") == 0
        assert run("audit", match, "--data", str(data)).returncode == 0


def test_zero_bytes_at_the_end_lose_nothing(tmp_path: Path, match: str, capfd: pytest.CaptureFixture[str]) -> None:
    (file,) = aof.files(tmp_path / "data" / embedded.STORE)
    with file.open("ab") as opened:
        opened.write(bytes(512))
    with private.service(tmp_path / "data", *private.SMALL) as place:
        assert requests.get(f"{place.url}/readyz", timeout=10).json()["lost"]["bytes_cut"] == 512
        assert metric(place, "warledger_entries_lost") == 0
        hear(capfd, "512 bytes were cut off the damaged end of")


def test_a_store_that_must_not_be_cut_by_itself_waits_for_an_operator(
    tmp_path: Path, match: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (file,) = aof.files(tmp_path / "data" / embedded.STORE)
    content = file.read_bytes()
    more = b"".join(b"*2\r\n$4\r\nXADD\r\n$24\r\n{p1}:s:%b\r\n$3\r\n%d\r\n" % (match.encode(), number) for number in range(1, 150))
    file.write_bytes(content[:-3] + more)
    command = [sys.executable, "-m", "service.supervisor.serve", "--port", "0", "--data", str(tmp_path / "data")]
    capfd.readouterr()
    process = subprocess.Popen(command, env=python_environment(), start_new_session=True)
    try:
        hear(
            capfd,
            "Waiting for an operator. The append-only file",
            "Stop the service and restore a backup, or cut the file there by `./run repair --cut`.",
        )
    finally:
        process.terminate()
    assert process.wait(30) == 0
    assert file.read_bytes() == content[:-3] + more
