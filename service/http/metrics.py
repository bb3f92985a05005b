"""The metrics of the HTTP service for Prometheus. events/telemetry/metrics.py has those of the platform."""

from __future__ import annotations

from events.telemetry.counting import Counter, Gauge, Histogram

requests = Counter("warledger_requests", "Requests, by operation and status.", ["operation", "status"])
problems = Counter("warledger_problems", "Failed requests, by code.", ["code"])
seconds = Histogram(
    "warledger_request_seconds",
    "Time to answer, by operation. For a stream: until it begins.",
    ["operation"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
limited = Counter("warledger_limited", "Requests refused because a limit was used up, by the name of the limit.", ["limit"])
streams = Gauge("warledger_streams", "Open streams and long polls.")
streams_ended = Counter("warledger_streams_ended", "Streams and long polls that ended early because somebody else needed the place more.")

_labelled: dict[tuple[str, int], tuple[Counter, Histogram]] = {}


def count(operation: str, status: int, code: str | None, took: float) -> None:
    """Count a request that has been answered."""
    labelled = _labelled.get((operation, status))
    if labelled is None:
        labelled = _labelled[operation, status] = (requests.labels(operation, str(status)), seconds.labels(operation))
    labelled[0].inc()
    labelled[1].observe(took)
    if code is not None:
        problems.labels(code).inc()
