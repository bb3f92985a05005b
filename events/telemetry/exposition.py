"""Expose the metrics of all processes of a machine. Each process counts in memory, and publishes a copy every second if it has changed.

A copy is a file in a shared folder. A full disk cannot stop a process that counts: what cannot be written waits for the next copy.
"""

from __future__ import annotations

import atexit
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import orjson
from prometheus_client import GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR, REGISTRY, Metric
from prometheus_client.registry import Collector

from events.lifeline import is_alive
from events.telemetry.metrics import OF_THE_MOMENT

SETTING = "WARLEDGER_METRICS"
EVERY = 1.0

_token = secrets.token_hex(4)

for _not_ours in (GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR):  # collecting them takes as long as all of ours
    REGISTRY.unregister(_not_ours)


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
    text = orjson.dumps([_as_json(metric) for metric in _ours() if metric.name not in OF_THE_MOMENT])
    if text == published:
        return published
    file = folder / f"{_sign()}.json"
    draft = file.with_suffix(".new")
    try:
        draft.write_bytes(text)
        draft.replace(file)
    except OSError:
        return b""
    return text


class Gathered(Collector):
    """The sums of the metrics of this process and of all published ones. Gauges of ended processes do not count."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        found = {metric.name: metric for metric in _ours()}
        for file in sorted(self._folder.glob("*.json")):
            if file.stem == _sign():
                continue
            with suppress(OSError, orjson.JSONDecodeError):
                _add(found, orjson.loads(file.read_bytes()), is_alive(int(file.stem.partition("-")[0])))
        yield from found.values()


def _ours() -> Iterator[Metric]:
    """Yield the metrics of this process, without the times when they began."""
    for metric in REGISTRY.collect():
        if metric.name.startswith("warledger_"):
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric


def _as_json(metric: Metric) -> dict[str, Any]:
    samples = [[sample.name, sample.labels, sample.value] for sample in metric.samples]
    return {"name": metric.name, "about": metric.documentation, "type": metric.type, "samples": samples}


def _add(found: dict[str, Metric], published: Iterable[dict[str, Any]], alive: bool) -> None:
    """Add the metrics that another process published."""
    for other in published:
        if other["type"] == "gauge" and not alive:
            continue
        metric = found.setdefault(other["name"], Metric(other["name"], other["about"], other["type"]))
        values = {(sample.name, *sorted(sample.labels.items())): sample for sample in metric.samples}
        for name, labels, value in other["samples"]:
            key = (name, *sorted(labels.items()))
            before = values.get(key)
            if before is None:
                metric.add_sample(name, labels, value)
            else:
                values[key] = before._replace(value=before.value + value)
        metric.samples = [values.get((sample.name, *sorted(sample.labels.items())), sample) for sample in metric.samples]


def _sign() -> str:
    """Return a name of this process that no other one ever has. Pids are reused."""
    return f"{os.getpid()}-{_token}"


def _renew() -> None:
    global _token
    _token = secrets.token_hex(4)


os.register_at_fork(after_in_child=_renew)
