"""The metrics of all processes: sums of what each has published, and never an error for a disk that is full or a file that is broken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client import REGISTRY, generate_latest

from events.modules import python_environment
from events.telemetry import exposition, metrics
from events.telemetry.counting import Series

OTHER = """
import sys
from pathlib import Path
from events.telemetry import exposition, metrics
from events.telemetry.counting import Series
from events.telemetry.counting import Gauge
metrics.appends.labels("tally").inc(5)
metrics.appends.labels("elsewhere").inc(2)
metrics.owed_seconds.labels("think").observe(0.3)
metrics.due.set(9)
Gauge("warledger_open", "Open here.").set(4)
exposition.publish(Path(sys.argv[1]))
print(flush=True)
sys.stdin.read()
"""


def whole(series: Series) -> Series:
    return series


def lines(folder: Path) -> dict[str, float]:
    """Return the samples of all processes, by name and labels."""
    text = exposition.Gathered().text(folder, whole).decode()
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
    (file,) = folder.glob("*.counts")
    both = lines(folder)
    tally, bucket = 'warledger_appends_total{game="tally"}', 'warledger_owed_seconds_bucket{kind="think",le="0.5"}'
    assert both[tally] == own[tally] + 5
    assert both['warledger_appends_total{game="elsewhere"}'] == 2
    assert both[bucket] == own[bucket] + 1
    assert both["warledger_due"] == own["warledger_due"], "it is what the process that answers has measured"
    assert "warledger_open" not in both
    file.rename(folder / f"{os.getppid()}-living.counts")
    assert lines(folder)["warledger_open"] == 4


def test_what_this_process_has_published_does_not_count_twice(folder: Path) -> None:
    before = lines(folder)
    exposition.publish(folder)
    assert len(list(folder.glob("*.counts"))) == 2
    assert lines(folder) == before


def test_a_folder_that_cannot_be_written_and_a_broken_file_are_no_errors(folder: Path) -> None:
    before = lines(folder)
    for number, broken in enumerate((b"", b'[{"name":', b"[]\nxy", b"[[1]]\n", b'[["a","gauge","b","c",[]]]\n', b"{}\n", b"1\n")):
        (folder / f"1-broken{number}.counts").write_bytes(broken)
    (folder / "nobody.counts").write_bytes(b"[]\n")
    assert lines(folder) == before
    exposition.publish(folder / "nowhere")
    (folder / "file").touch()
    exposition.publish(folder / "file")
    assert next(folder.glob("[0-9]*-????????.counts")).read_bytes()


def test_what_has_not_changed_is_not_written_again(tmp_path: Path) -> None:
    published = exposition.publish(tmp_path)
    (file,) = tmp_path.glob("*.counts")
    assert file.read_bytes() == published
    file.unlink()
    assert exposition.publish(tmp_path, published) == published
    assert not file.exists()
    metrics.conflicts.inc()
    assert exposition.publish(tmp_path, published) == file.read_bytes() != published
    assert exposition.publish(tmp_path / "nowhere", published) == b"", "it is tried again"


def test_the_text_is_that_of_the_library() -> None:
    """Every metric of this process is compared, with labels that must be escaped and numbers that are large."""
    metrics.refusals.labels("tally", 'a "b" \\ c\nd').inc(12_345_678)
    metrics.owed_seconds.labels("think").observe(0.3)
    ours = exposition.Gathered().text(None, whole).decode()
    theirs = generate_latest(REGISTRY).decode()

    def samples(text: str) -> list[str]:
        return sorted(line for line in text.splitlines() if line.startswith("warledger_") and "_created" not in line)

    assert samples(ours) == samples(theirs)
    heads = {line for line in ours.splitlines() if line.startswith("#")}
    assert heads <= set(theirs.splitlines())
    assert len(heads) > 30


def test_what_another_process_counts_is_read_again_only_if_it_counts_something_new(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gathered, reads, parsed = exposition.Gathered(), [], []
    read, loads = Path.read_bytes, exposition.orjson.loads
    monkeypatch.setattr(Path, "read_bytes", lambda file: reads.append(file) or read(file))
    monkeypatch.setattr("orjson.loads", lambda text: parsed.append(text) or loads(text))

    def appends() -> float:
        text = gathered.text(folder, whole).decode()
        return float(next(line for line in text.splitlines() if 'appends_total{game="elsewhere"}' in line).split()[1])

    assert [appends() for _ in range(3)] == [2.0] * 3
    assert (len(reads), len(parsed)) == (1, 1)
    (file,) = folder.glob("*.counts")
    head, _, numbers = read(file).partition(b"\n")
    file.write_bytes(head + b"\n" + numbers[: len(numbers) // 2 // 8 * 8] + bytes(len(numbers) - len(numbers) // 2 // 8 * 8))
    os.utime(file, ns=(1, 1))
    appends()
    assert (len(reads), len(parsed)) == (2, 1)
    file.unlink()
    assert appends() == 0.0
