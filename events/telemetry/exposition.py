"""Expose the metrics of all processes of a machine. Each process counts in memory, and publishes a copy every second if it has changed.

A copy is a file in a shared folder: a line of JSON with what is counted, then the numbers. A full disk cannot stop a process that counts:
what cannot be written waits for the next copy.
"""

from __future__ import annotations

import atexit
import os
import secrets
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import compress
from pathlib import Path
from threading import Event, Lock, Thread

import orjson
from prometheus_client.utils import floatToGoString

from events.lifeline import is_alive
from events.telemetry.counting import Series, counted
from events.telemetry.metrics import OF_THE_MOMENT

SETTING = "WARLEDGER_METRICS"
EVERY = 1.0
LARGE = 1e6  # from here on, numbers are written with an exponent

Shown = Callable[[Series], Series | None]

_written = 0, b""
_token = secrets.token_hex(4)


def shared_folder() -> Path | None:
    """Return the folder where the processes of a service publish their metrics, or None if the environment names none."""
    named = os.environ.get(SETTING)
    return Path(named) if named else None


def publish_always() -> None:
    """If there is a folder for metrics, publish those of this process every second, and once more when it ends."""
    folder = shared_folder()
    if folder is None:
        return
    thread = Thread(target=_publish_on_and_on, args=(folder,), name="metrics", daemon=True)
    thread.start()
    atexit.register(publish, folder)


def _publish_on_and_on(folder: Path) -> None:
    pause, published = Event(), b""
    while not pause.wait(EVERY):
        published = publish(folder, published)


def publish(folder: Path, published: bytes = b"") -> bytes:
    """Publish the metrics of this process now, unless they equal the `published` ones. Return what is published afterwards.

    If the folder cannot be written, nothing changes.
    """
    found = [each for each in counted() if each[0].metric not in OF_THE_MOMENT]
    data = _head([series for series, _ in found]) + array("d", [number for _, number in found]).tobytes()
    if data == published:
        return published
    file = folder / f"{_sign()}.counts"
    draft = file.with_suffix(".new")
    try:
        draft.write_bytes(data)
        draft.replace(file)
    except OSError:
        return b""
    return data


def _head(series: list[Series]) -> bytes:
    """Return the first line of a copy."""
    global _written
    if _written[0] != len(series):
        of_metric = {each.metric: each[:3] for each in series}
        places = {metric: place for place, metric in enumerate(of_metric)}
        counts = [(places[each.metric], each.name, each.labels) for each in series]
        _written = len(series), orjson.dumps([[*of_metric.values()], counts]) + b"\n"
    return _written[1]


class _Copy:
    """The metrics of a process: what it counts, and the numbers."""

    def __init__(self, series: tuple[Series, ...]) -> None:
        self.series = series
        self.numbers: Sequence[float] = ()
        self._lines: dict[tuple[Shown, bool], tuple[list[bool], list[str]]] = {}

    def lines_of(self, shown: Shown, alive: bool, by_line: dict[str, Series]) -> tuple[list[bool], list[str]]:
        """Return which numbers are shown, and their lines. Note in `by_line` what each line counts."""
        found = self._lines.get((shown, alive))
        if found is None:
            as_shown = [shown(series) if alive or series.kind != "gauge" else None for series in self.series]
            by_line.update({_line(series): series for series in as_shown if series is not None and _line(series) not in by_line})
            lines = [_line(series) for series in as_shown if series is not None]
            found = self._lines[shown, alive] = [series is not None for series in as_shown], lines
        return found


class Gathered:
    """The sums of the metrics of this process and of all published ones. Gauges of ended processes do not count.

    What another process counts is read again only if it counts something new. Shared by the threads of a process.
    """

    def __init__(self) -> None:
        self._own = _Copy(())
        self._files: dict[str, tuple[tuple[int, int], bytes, _Copy]] = {}
        self._by_line: dict[Shown, dict[str, Series]] = {}
        self._blocks: dict[Shown, tuple[int, list[_Block]]] = {}
        self._lock = Lock()

    def text(self, folder: Path | None, shown: Shown) -> bytes:
        """Return the metrics in the text format of Prometheus. `shown` returns the series to which a series is added, or None."""
        with self._lock:
            by_line = self._by_line.setdefault(shown, {})
            copies = [(self._read_own(), True), *(self._read(folder) if folder is not None else ())]
            found = [(copy.numbers, *copy.lines_of(shown, alive, by_line)) for copy, alive in copies]
            sums = dict.fromkeys(by_line, 0.0)
            for numbers, which, lines in found:
                for line, number in zip(lines, compress(numbers, which), strict=True):
                    if number:
                        sums[line] += number
            return "".join(_text(self._blocks_of(shown, by_line), sums)).encode()

    def _blocks_of(self, shown: Shown, by_line: Mapping[str, Series]) -> list[_Block]:
        known, blocks = self._blocks.get(shown, (0, []))
        if known != len(by_line):
            blocks = _blocks(by_line)
            self._blocks[shown] = len(by_line), blocks
        return blocks

    def _read_own(self) -> _Copy:
        found = counted()
        if len(found) != len(self._own.series):
            self._own = _Copy(tuple([series for series, _ in found]))
        self._own.numbers = [number for _, number in found]
        return self._own

    def _read(self, folder: Path) -> Iterator[tuple[_Copy, bool]]:
        """Yield the copy of every other process, and whether that is alive."""
        files = {}
        for file in sorted(folder.glob("*.counts")):
            if file.stem == _sign():
                continue
            with suppress(OSError, ValueError, TypeError, LookupError):
                files[file.name] = self._read_file(file)
                yield files[file.name][2], is_alive(int(file.stem.partition("-")[0]))
        self._files = files

    def _read_file(self, file: Path) -> tuple[tuple[int, int], bytes, _Copy]:
        """Return the state of a file, its first line, and the copy in it. Raises OSError, or other errors if it is broken."""
        known = self._files.get(file.name)
        stat = file.stat()
        state = stat.st_mtime_ns, stat.st_size
        if known is not None and known[0] == state:
            return known
        head, _, numbers = file.read_bytes().partition(b"\n")
        same = known is not None and known[1] == head
        copy = known[2] if known is not None and same else _Copy(tuple(_series(*orjson.loads(head))))
        copy.numbers = array("d", numbers)
        if len(copy.numbers) != len(copy.series):
            raise ValueError(file.name)
        return state, head, copy


def _series(metrics: list[list[str]], counts: list[tuple[int, str, list[list[str]]]]) -> Iterator[Series]:
    for place, name, labels in counts:
        metric, kind, about = metrics[place]
        yield Series(metric, kind, about, name, tuple([(label, value) for label, value in labels]))


@cache
def _line(series: Series) -> str:
    """Return the line of a series without its number."""
    labels = ",".join([f'{label}="{_escaped(value)}"' for label, value in sorted(series.labels)])
    return sys.intern(f"{series.name}{{{labels}}} " if labels else f"{series.name} ")


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


_Block = tuple[str, list[tuple[list[str], list[str]]]]
"""The head of a metric, and its lines: of a histogram by the labels, first those of the buckets, then that of the count and others."""


def _blocks(by_line: Mapping[str, Series]) -> list[_Block]:
    found: dict[str, _Block] = {}
    groups: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[list[str], list[str]]] = {}
    for line, series in by_line.items():
        name = f"{series.metric}_total" if series.kind == "counter" else series.metric
        about = series.about.replace("\\", r"\\").replace("\n", r"\n")
        _, parts = found.setdefault(series.metric, (f"# HELP {name} {about}\n# TYPE {name} {series.kind}\n", []))
        bucket = series.name == f"{series.metric}_bucket"
        labels = tuple([pair for pair in series.labels if not bucket or pair[0] != "le"])
        group = groups.get((series.metric, labels))
        if group is None:
            group = groups[series.metric, labels] = ([], [])
            parts.append(group)
            if series.kind == "histogram":
                group[1].append(_line(series._replace(name=f"{series.metric}_count", labels=labels)))
        group[0 if bucket else 1].append(line)
    return list(found.values())


def _text(blocks: list[_Block], sums: Mapping[str, float]) -> Iterator[str]:
    for head, groups in blocks:
        yield head
        for buckets, others in groups:
            number = 0.0
            for line in buckets:
                number += sums[line]
                yield f"{line}{number if number < LARGE else _in_go(number)}\n"
            for line in others:
                number = sums.get(line, number)  # the count of a histogram is what all its buckets have
                yield f"{line}{number if number < LARGE else _in_go(number)}\n"


def _in_go(number: float) -> str:
    text: str = floatToGoString(number)  # type: ignore[no-untyped-call]
    return text


def _sign() -> str:
    """Return a name of this process that no other one ever has. Pids are reused."""
    return f"{os.getpid()}-{_token}"


def _renew() -> None:
    global _token
    _token = secrets.token_hex(4)


os.register_at_fork(after_in_child=_renew)
