"""What the platform counts, for Prometheus: numbers and codes, never what is in a match."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

appends = Counter("warledger_appends", "Entries appended, by game.", ["game"])
conflicts = Counter("warledger_conflicts", "Appends that found the match at another version.")
refusals = Counter("warledger_refusals", "Actions refused, by game and code.", ["game", "code"])
repeats = Counter("warledger_repeats", "Requests that had been carried out before.")
queue_failures = Counter("warledger_queue_failures", "Jobs that could not be enqueued; the sweep makes good.")
swept = Counter("warledger_swept", "Steps that the sweep had to ask for again.")
queue_depth = Gauge("warledger_queue_depth", "Jobs that wait.", multiprocess_mode="mostrecent")
due = Gauge("warledger_due", "Matches that wait for the system or an AI seat.", multiprocess_mode="mostrecent")
overdue = Gauge("warledger_overdue", "Of these, matches that have waited for more than two seconds.", multiprocess_mode="mostrecent")
owed_seconds = Histogram(
    "warledger_owed_seconds",
    "From a step's becoming due to its append.",
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
