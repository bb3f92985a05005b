"""The metrics of the platform, for Prometheus. They hold numbers and codes, never the content of a match."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

appends = Counter("warledger_appends", "Entries appended, by game.", ["game"])
conflicts = Counter("warledger_conflicts", "Appends refused because the match was at another version.")
refusals = Counter("warledger_refusals", "Actions refused, by game and code.", ["game", "code"])
repeats = Counter("warledger_repeats", "Requests that had been carried out before.")
snapshots_refused = Counter("warledger_snapshots_refused", "Snapshots without a valid signature. The log was read instead.")
queue_failures = Counter("warledger_queue_failures", "Jobs that could not be enqueued. The sweep enqueues them again.")
swept = Counter("warledger_swept", "Steps that the sweep enqueued again.")
queue_depth = Gauge("warledger_queue_depth", "Jobs in all queues.")
due = Gauge("warledger_due", "Steps that are due for the system or AI seats.")
overdue = Gauge("warledger_overdue", "Steps that have been due for more than two seconds.")
OF_THE_MOMENT = ("warledger_queue_depth", "warledger_due", "warledger_overdue")  # measured when somebody asks, by the process that answers
owed_seconds = Histogram(
    "warledger_owed_seconds",
    "Seconds from the moment that a step is due to its append.",
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
