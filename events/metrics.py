"""The metrics of the platform, for Prometheus. They hold numbers and codes, never the content of a match."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

appends = Counter("warledger_appends", "Entries appended, by game.", ["game"])
conflicts = Counter("warledger_conflicts", "Appends refused because the match was at another version.")
refusals = Counter("warledger_refusals", "Actions refused, by game and code.", ["game", "code"])
repeats = Counter("warledger_repeats", "Requests that had been carried out before.")
snapshots_refused = Counter("warledger_snapshots_refused", "Snapshots without a valid signature. The log was read instead.")
sealed = Counter("warledger_sealed", "Entries sealed outside the store.")
entries_lost = Gauge("warledger_entries_lost", "Entries that the store has lost, until an operator accepts that.")
queue_failures = Counter("warledger_queue_failures", "Times that the queue did not answer. The sweep finds what was lost.")
swept = Counter("warledger_swept", "Steps that were lost and that the sweep let wait again.")
tickets = Counter("warledger_tickets", "RQ jobs that called for a worker, by kind of work.", ["kind"])
steps_failed = Counter("warledger_steps_failed", "Steps that ended in an error, by kind. They are tried again, ever more rarely.", ["kind"])
clock_jumps = Counter("warledger_clock_jumps", "Times that the wall clock was set, or that service time followed another process.")
pulses_failed = Counter("warledger_pulses_failed", "Times that a process could not tell the store that it runs.")
outages = Counter("warledger_outages", "Outages that were recorded. Running clocks get their time back.")
queue_depth = Gauge("warledger_queue_depth", "Steps that wait for a worker, by kind; -1 if the queue does not answer.", ["kind"])
oldest_due = Gauge("warledger_oldest_due_seconds", "Seconds for which the oldest due step has been due.")
due = Gauge("warledger_due", "Steps that are due for the system or AI seats.")
overdue = Gauge("warledger_overdue", "Steps that have been due for more than two seconds.")
OF_THE_MOMENT = (
    "warledger_queue_depth",
    "warledger_oldest_due_seconds",
    "warledger_due",
    "warledger_overdue",
    "warledger_entries_lost",
)
"""Gauges that are measured when somebody asks, by the process that answers."""
owed_seconds = Histogram(
    "warledger_owed_seconds",
    "Seconds from the moment that a step is due to its append, by kind.",
    ["kind"],
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 100),
)
