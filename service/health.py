"""Health: whether the server lives, whether it can serve, and its numbers for Prometheus."""

from __future__ import annotations

import os
import time

import prometheus_client
from flask import Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from events import metrics
from events.connect import House
from service.operations import Answer, Asked, Operation
from service.responses import in_json
from service.shapes import ref


def operations(house: House) -> list[Operation]:
    """What can be asked about the server itself."""

    def get_health(asked: Asked) -> Response:
        return in_json({"status": "ok"})

    def get_readiness(asked: Asked) -> Response:
        house.store.wire.ask("PING")
        return in_json({"status": "ok"})

    def get_metrics(asked: Asked) -> Response:
        _look(house)
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return Response(generate_latest(), content_type=prometheus_client.CONTENT_TYPE_LATEST)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
        return Response(generate_latest(registry), content_type=prometheus_client.CONTENT_TYPE_LATEST)

    well = {200: Answer("All is well.", {"application/json": ref("Health")})}
    return [
        Operation("get_health", "GET", "/healthz", "server", "Ask whether the server lives", get_health, well),
        Operation(
            "get_readiness", "GET", "/readyz", "server", "Ask whether the server can serve", get_readiness, well, problems=("store_away",)
        ),
        Operation(
            "get_metrics", "GET", "/metrics", "server", "Get the server's numbers, for Prometheus", get_metrics,
            {200: Answer("The numbers.", {"text/plain": {"type": "string"}})}, problems=("store_away",),
        ),
    ]  # fmt: skip


OVERDUE_MS = 2000


def _look(house: House) -> None:
    """See how much waits just now."""
    since = int(time.time() * 1000) - OVERDUE_MS
    indexes = [f"{tag}:due" for tag in house.store.tags()]
    metrics.due.set(sum(house.store.wire.ask_all([("ZCARD", index) for index in indexes])))
    metrics.overdue.set(sum(house.store.wire.ask_all([("ZCOUNT", index, "-inf", since) for index in indexes])))
    depth = house.jobs.depth()
    metrics.queue_depth.set(-1 if depth is None else depth)
