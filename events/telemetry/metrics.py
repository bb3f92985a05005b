"""The metrics of the platform, for Prometheus. They hold numbers and codes, never the content of a match."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

appends = Counter("warledger_appends", "Entries appended, by game.", ["game"])
conflicts = Counter("warledger_conflicts", "Appends refused because the match was at another version.")
refusals = Counter("warledger_refusals", "Actions refused, by game and code.", ["game", "code"])
repeats = Counter("warledger_repeats", "Requests that had been carried out before.")
snapshots_refused = Counter("warledger_snapshots_refused", "Snapshots without a valid signature. The log was read instead.")
journaled = Counter("warledger_journaled", "Entries written to the journal outside the store.")
leaves = Counter("warledger_log_leaves", "Leaves that were added to the log of the server.")
log_size = Gauge("warledger_log_size", "Leaves in the checkpoint of the log that is served; -1 if there is none.")
log_late = Gauge("warledger_log_late", "Matches of which the log has wanted a leaf for more than a minute.")
log_stopped = Gauge("warledger_log_stopped", "1 while the log stands because the store does not continue what was signed.")
cosigned = Counter("warledger_log_cosigned", "Cosignatures of witnesses, by witness.", ["witness"])
witness_failures = Counter("warledger_log_witness_failures", "Times that a witness did not cosign, by witness.", ["witness"])
entries_lost = Gauge("warledger_entries_lost", "Entries that the store has lost, until an operator accepts that.")
queue_failures = Counter("warledger_queue_failures", "Times that the queue did not answer. The sweep finds what was lost.")
swept = Counter("warledger_swept", "Steps that were lost and that the sweep let wait again.")
tickets = Counter("warledger_tickets", "RQ jobs that called for a worker, by kind of work.", ["kind"])
steps_failed = Counter("warledger_steps_failed", "Steps that ended in an error, by kind. They are tried again, ever more rarely.", ["kind"])
clock_jumps = Counter("warledger_clock_jumps", "Times that the wall clock was set, or that service time followed another process.")
pulses_failed = Counter("warledger_pulses_failed", "Times that a process could not tell the store that it runs.")
outages = Counter("warledger_outages", "Outages that were recorded. Running clocks get their time back.")
searches_stopped = Counter(
    "warledger_search_stopped", "Searches that a brake in seconds ended before their iterations were done, by level.", ["level"]
)
search_memory = Gauge("warledger_search_memory_bytes", "The most memory that each process which searches has used, added up.")
queue_depth = Gauge("warledger_queue_depth", "Steps that wait for a worker, by kind; -1 if the queue does not answer.", ["kind"])
workers = Gauge("warledger_workers", "Workers that do work of a kind; -1 if the queue does not answer.", ["kind"])
oldest_due = Gauge("warledger_oldest_due_seconds", "Seconds for which the oldest due step has been due.")
due = Gauge("warledger_due", "Steps that are due for the system or AI seats.")
overdue = Gauge("warledger_overdue", "Steps that have been due for more than two seconds.")
OF_THE_MOMENT = (
    "warledger_queue_depth",
    "warledger_workers",
    "warledger_oldest_due_seconds",
    "warledger_due",
    "warledger_overdue",
    "warledger_entries_lost",
    "warledger_log_size",
    "warledger_log_late",
    "warledger_log_stopped",
)
"""Gauges that are measured when somebody asks, by the process that answers."""
owed_seconds = Histogram(
    "warledger_owed_seconds",
    "Seconds from the moment that a step is due to its append, by kind.",
    ["kind"],
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 100),
)
search_seconds = Histogram(
    "warledger_search_seconds",
    "Seconds of a search for a decision, by level.",
    ["level"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40),
)
search_iterations = Histogram(
    "warledger_search_iterations",
    "Iterations of a search for a decision, by level; 0 for a decision without a choice.",
    ["level"],
    buckets=(0, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000),
)
search_nodes = Histogram(
    "warledger_search_nodes",
    "The most nodes of a tree that a search for a decision held in memory, by level.",
    ["level"],
    buckets=(0, 10, 100, 300, 1000, 3000, 10_000, 30_000, 100_000),
)
SEARCHES = "warledger_search_"
"""How the names of the metrics of searches begin. They are for operators: what a search used may depend on what its seat has."""
