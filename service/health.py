"""Health: whether the server lives, whether it can serve, and its numbers for Prometheus."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import prometheus_client
from flask import Response
from prometheus_client import REGISTRY, CollectorRegistry, Metric, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from events import metrics
from events.platform import Platform
from service.keys import ADMIN
from service.operations import Answer, Asked, Operation
from service.problems import CODES
from service.responses import in_json
from service.shapes import ref


def operations(platform: Platform) -> list[Operation]:
    """What can be asked about the server itself."""

    def get_health(asked: Asked) -> Response:
        return in_json({"status": "ok"})

    def get_readiness(asked: Asked) -> Response:
        platform.store.wire.ask("PING")
        return in_json({"status": "ok"})

    def get_metrics(asked: Asked) -> Response:
        _look(platform)
        counted: Collector = REGISTRY
        if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
            _forget_the_dead(Path(folder))
            counted = MultiProcessCollector(None)
        registry = CollectorRegistry()
        registry.register(counted if asked.caller == ADMIN else Discreet(counted))
        return Response(generate_latest(registry), content_type=prometheus_client.CONTENT_TYPE_LATEST)

    well = {200: Answer("All is well.", {"application/json": ref("Health")})}
    return [
        Operation("get_health", "GET", "/healthz", "server", "Ask whether the server lives", get_health, well),
        Operation(
            "get_readiness", "GET", "/readyz", "server", "Ask whether the server can serve", get_readiness, well, problems=("store_away",)
        ),
        Operation(
            "get_metrics", "GET", "/metrics", "server", "Get the server's numbers, for Prometheus", get_metrics,
            {200: Answer("The numbers.", {"text/plain": {"type": "string"}})},
            "Which rule of a game has refused somebody could tell what he holds: the codes of the games are told to the admin key, and to "
            "others as `against_the_rules`.",
            key="optional",
        ),
    ]  # fmt: skip


class Discreet(Collector):
    """What another collector has counted, with every code that is a game's own as `against_the_rules`."""

    def __init__(self, counted: Collector) -> None:
        self._counted = counted

    def collect(self) -> Iterator[Metric]:
        """The metrics, those by code with fewer codes."""
        for metric in self._counted.collect():
            if metric.name in ("warledger_refusals", "warledger_problems"):
                metric.samples = list(_merged(metric.samples))
            yield metric


def _merged(samples: Iterable[Sample]) -> Iterator[Sample]:
    sums: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()
    for sample in samples:
        code = sample.labels["code"] if sample.labels["code"] in CODES else "against_the_rules"
        if sample.name.endswith("_total"):
            sums[sample.name, tuple(sorted({**sample.labels, "code": code}.items()))] += sample.value  # type: ignore[assignment]
    yield from (Sample(name, dict(labels), value) for (name, labels), value in sums.items())


def _forget_the_dead(folder: Path) -> None:
    """Take away what processes that are gone held open just then, such as streams."""
    for file in folder.glob("gauge_live*_*.db"):
        pid = file.stem.rpartition("_")[2]
        if pid.isdigit() and not _lives(int(pid)):
            mark_process_dead(int(pid), str(folder))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


OVERDUE_MS = 2000


def _look(platform: Platform) -> None:
    """See how much waits just now."""
    since = int(time.time() * 1000) - OVERDUE_MS
    indexes = [f"{tag}:due" for tag in platform.store.tags()]
    metrics.due.set(sum(platform.store.wire.ask_all([("ZCARD", index) for index in indexes])))
    ahead = since + 2 * OVERDUE_MS  # by a clock that has gone wrong
    waits = [("ZCOUNT", index, *span) for index in indexes for span in (("-inf", since), (ahead, "+inf"))]
    metrics.overdue.set(sum(platform.store.wire.ask_all(waits)))
    depth = platform.jobs.depth()
    metrics.queue_depth.set(-1 if depth is None else depth)
