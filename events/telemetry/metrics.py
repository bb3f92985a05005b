"""Define the metrics of the platform, for Prometheus. They have numbers and codes, never the content of a match."""

from __future__ import annotations

from functools import cache

from events.telemetry.counting import Counter, Gauge, Histogram

appends = Counter("warledger_appends", "Entries appended, by game.", ["game"])
appends_of = cache(appends.labels)  # by game; the library looks a label up in microseconds
conflicts = Counter("warledger_conflicts", "Appends refused because the match was at another version.")
refusals = Counter("warledger_refusals", "Actions refused, by game and code.", ["game", "code"])
repeats = Counter("warledger_repeats", "Repeated requests, which had been carried out before.")
snapshots_refused = Counter("warledger_snapshots_refused", "Snapshots without a valid signature. The log was read instead.")
journaled = Counter("warledger_journaled", "Entries written to the journal outside the store.")
leaves = Counter("warledger_log_leaves", "Leaves appended to the server's log.")
log_size = Gauge("warledger_log_size", "Leaves in the published checkpoint of the server's log; -1 if there is none.")
log_late = Gauge("warledger_log_late", "Matches and signing keys with a leaf that has been due for more than a minute.")
log_stopped = Gauge("warledger_log_stopped", "1 while the server's log has stopped, because the store does not continue the signed log.")
cosigned = Counter("warledger_log_cosigned", "Cosignatures of witnesses, by witness.", ["witness"])
witness_failures = Counter("warledger_log_witness_failures", "Times that a witness did not cosign, by witness.", ["witness"])
store_memory = Gauge("warledger_store_memory_bytes", "Bytes that the data and the buffers of the store take.")
store_memory_limit = Gauge("warledger_store_memory_limit_bytes", "Bytes beyond which the store refuses writes; 0 if they are not known.")
archived = Counter("warledger_archived", "Finished matches that were moved to the archive.")
archive_read = Counter("warledger_archive_read", "Archived matches that were read and unpacked.")
archive_brought_back = Counter("warledger_archive_brought_back", "Archived matches that were brought back into the store.")
archive_failures = Counter("warledger_archive_failures", "Times that a match could not be archived.")
archive_matches = Gauge("warledger_archive_matches", "Matches that are in the archive, and not in the store.")
archive_waiting = Gauge("warledger_archive_waiting", "Finished matches that are old enough for the archive, and still in the store.")
archive_oldest = Gauge("warledger_archive_oldest_seconds", "Seconds since the creation of the oldest match that waits for the archive.")
entries_lost = Gauge("warledger_entries_lost", "Entries that the store has lost and no operator has accepted as lost.")
backup_point = Gauge("warledger_backup_point_seconds", "When the newest point of the continuous backup was, in seconds since 1970.")
backup_failures = Counter("warledger_backup_failures", "Rounds of the continuous backup that failed. Each is tried again.")
queue_failures = Counter("warledger_queue_failures", "Times that the queue did not answer. The sweep finds lost work.")
queue_dropped = Counter("warledger_queue_dropped", "Keys of the queue's server that were dropped because they could not be read.")
swept = Counter("warledger_swept", "Lost steps that the sweep enqueued again.")
tickets = Counter("warledger_tickets", "RQ jobs that called a worker, by kind of work.", ["kind"])
steps_failed = Counter("warledger_steps_failed", "Steps that failed, by kind. They are retried, less and less often.", ["kind"])
clock_jumps = Counter("warledger_clock_jumps", "Times that the wall clock was set, or that service time followed another process.")
pulses_failed = Counter("warledger_pulses_failed", "Times that a process could not give its pulse to the store.")
outages = Counter("warledger_outages", "Recorded outages. Running clocks get their time back.")
searches_stopped = Counter(
    "warledger_search_stopped", "Searches that the time limit ended before their iterations were done, by level.", ["level"]
)
search_memory = Gauge("warledger_search_memory_bytes", "The peak memory of all processes that search, in total.")
queue_depth = Gauge("warledger_queue_depth", "Steps waiting for a worker, by kind; -1 if the queue does not answer.", ["kind"])
workers = Gauge("warledger_workers", "Workers for a kind of work; -1 if the queue does not answer.", ["kind"])
oldest_due = Gauge("warledger_oldest_due_seconds", "Seconds since the oldest due step became due.")
due = Gauge("warledger_due", "Due steps of the system and of AI seats.")
overdue = Gauge("warledger_overdue", "Steps that have been due for more than two seconds.")
hook_messages = Counter(
    "warledger_hook_messages", "Webhooks sent, by result: `arrived`, `refused` by the receiver, or why there was no answer.", ["result"]
)
hooks_due = Gauge("warledger_hooks_due", "Matches of which a hook has something to send, now or later.")
OF_THE_MOMENT = (
    "warledger_hooks_due",
    "warledger_queue_depth",
    "warledger_workers",
    "warledger_oldest_due_seconds",
    "warledger_due",
    "warledger_overdue",
    "warledger_archive_matches",
    "warledger_entries_lost",
    "warledger_log_size",
    "warledger_log_late",
    "warledger_log_stopped",
    "warledger_store_memory_bytes",
    "warledger_store_memory_limit_bytes",
)
"""Gauges that the answering process measures on request."""
owed_seconds = Histogram(
    "warledger_owed_seconds",
    "Seconds from when a step became due until its append, by kind.",
    ["kind"],
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 100),
)
hook_seconds = Histogram(
    "warledger_hook_seconds",
    "Seconds that a receiver of webhooks took to answer, or until it was given up.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
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
    "The largest number of tree nodes in memory during a search for a decision, by level.",
    ["level"],
    buckets=(0, 10, 100, 300, 1000, 3000, 10_000, 30_000, 100_000),
)
FOR_OPERATORS = ("warledger_search_", "warledger_store_memory")
"""What the metrics for operators alone begin with: what a search costs, and how much is stored, may depend on hidden cards."""
