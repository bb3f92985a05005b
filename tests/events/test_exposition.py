"""The metrics of all processes: sums of what each has published, and never an error for a disk that is full or a file that is broken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from events.modules import python_environment
from events.telemetry import exposition, metrics

OTHER = """
import sys
from pathlib import Path
from events.telemetry import exposition, metrics
from prometheus_client import Gauge
metrics.appends.labels("tally").inc(5)
metrics.appends.labels("elsewhere").inc(2)
metrics.owed_seconds.labels("think").observe(0.3)
metrics.due.set(9)
Gauge("warledger_open", "Open here.").set(4)
exposition.publish(Path(sys.argv[1]))
print(flush=True)
sys.stdin.read()
"""


def lines(folder: Path) -> dict[str, float]:
    """Return the samples of all processes, by name and labels."""
    registry = CollectorRegistry()
    registry.register(exposition.Gathered(folder))
    text = generate_latest(registry).decode()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a process that has published and ended, and the file of one that runs."""
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(tmp_path)], env=python_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        other.communicate()
    return tmp_path


def test_counts_are_sums_and_of_gauges_only_those_of_living_processes_count(folder: Path) -> None:
    metrics.appends.labels("tally").inc(0)
    metrics.owed_seconds.labels("think")
    own = lines(folder / "nowhere")
    (file,) = folder.glob("*.json")
    both = lines(folder)
    tally, bucket = 'warledger_appends_total{game="tally"}', 'warledger_owed_seconds_bucket{kind="think",le="0.5"}'
    assert both[tally] == own[tally] + 5
    assert both['warledger_appends_total{game="elsewhere"}'] == 2
    assert both[bucket] == own[bucket] + 1
    assert both["warledger_due"] == own["warledger_due"], "it is what the process that answers has measured"
    assert "warledger_open" not in both
    file.rename(folder / f"{os.getppid()}-living.json")
    assert lines(folder)["warledger_open"] == 4


def test_what_this_process_has_published_does_not_count_twice(folder: Path) -> None:
    before = lines(folder)
    exposition.publish(folder)
    assert len(list(folder.glob("*.json"))) == 2
    assert lines(folder) == before


def test_a_folder_that_cannot_be_written_and_a_broken_file_are_no_errors(folder: Path) -> None:
    before = lines(folder)
    (folder / "1-broken.json").write_bytes(b'[{"name":')
    assert lines(folder) == before
    exposition.publish(folder / "nowhere")
    (folder / "file").touch()
    exposition.publish(folder / "file")
    assert orjson.loads(next(folder.glob("[0-9]*-????????.json")).read_bytes())


def test_what_has_not_changed_is_not_written_again(tmp_path: Path) -> None:
    published = exposition.publish(tmp_path)
    (file,) = tmp_path.glob("*.json")
    assert file.read_bytes() == published
    file.unlink()
    assert exposition.publish(tmp_path, published) == published
    assert not file.exists()
    metrics.conflicts.inc()
    assert exposition.publish(tmp_path, published) == file.read_bytes() != published
    assert exposition.publish(tmp_path / "nowhere", published) == b"", "it is tried again"
