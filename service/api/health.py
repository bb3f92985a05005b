"""Health: liveness, readiness, and metrics for Prometheus."""

from __future__ import annotations

from typing import Any

import prometheus_client
from flask import Response

from events.due import KINDS
from events.errors import DISK, MEMORY, StoreUnavailable
from events.keeping import losses, memory
from events.notary import highwater
from events.platform import Platform
from events.store import WrongStore
from events.store.holding import MARK
from events.store.library import HALTED
from events.telemetry import exposition, metrics
from events.telemetry.counting import Series
from games.schema import ids, listing, optional, record, text, whole
from service.api.operations import TEXT_SCHEMA, Answer, Call, Operation, in_json
from service.api.shapes import named
from service.context import Service
from service.http.keys import ADMIN
from service.http.problems import CODES, Problem
from service.http.responses import TEXT, json_response

_FULL = {
    DISK: "the disk of the store. It is full or cannot be written. Reads are answered",
    MEMORY: "memory of the store. It is full. Reads are answered, and players can resign and leave",
}
OVERDUE_MS = 2000
LATE_MS = 60_000

_GATHERED = exposition.Gathered()


def get_health(service: Service, call: Call) -> Response:
    """Answer that the server is alive."""
    return json_response({"status": "ok"})


def get_readiness(service: Service, call: Call) -> Response:
    """Answer if the store can read and write, and report what it has lost. Raise Problem `not_ready`, which names what is missing."""
    lost = losses.read(service.opened.settings.data)
    try:
        full = service.opened.store.what_is_full()
    except WrongStore as wrong:
        raise Problem("not_ready", what=f"an operator. {wrong}".rstrip(".")) from wrong
    except StoreUnavailable as away:
        if lost.refused is not None:
            raise Problem("not_ready", what=f"an operator. {losses.refusal(lost.refused)}".rstrip(".")) from away
        if away.reason.startswith(HALTED):
            raise Problem("not_ready", what=f"an operator. {away.reason.removeprefix(HALTED)}".rstrip(".")) from away
        what = "it is loading its data" if "loading" in away.reason else "it does not answer"
        if away.reason.startswith(MARK):
            what = "its replicas do not answer"
        raise Problem("not_ready", what=f"the store: {what}") from away
    if full:
        raise Problem("not_ready", what=_FULL[full])
    service.opened.store.check()
    rules = [{"game": need.game, "revision": need.revision, "matches": need.running} for need in service.rules_missing.known()]
    found: dict[str, Any] = {"lost": losses.as_json(lost)} if lost else {}
    if stopped := highwater.as_json(service.opened.settings.keys_folder, service.opened.signer.name):
        found["log_stopped"] = stopped
    limit = service.opened.settings.memory
    if limit and (used := service.opened.store.memory()) >= memory.WARNING * limit:
        found["memory"] = {"used": used - used % -(-limit // 100), "limit": limit}  # to the byte it would tell of what is hidden
    if (connected := service.opened.store.connected()) > 0 or service.opened.settings.replicas:
        found["replicas"] = {"held": service.opened.settings.replicas, "connected": max(connected, 0)}
    if trouble := service.opened.jobs.trouble():
        found["queue"] = trouble
    if trouble := service.opened.archive.trouble():
        found["archive"] = trouble
    return json_response({"status": "ok", **found, **({"rules_missing": rules} if rules else {})})


def get_metrics(service: Service, call: Call) -> Response:
    """Return the metrics of all processes."""
    _measure_queues(service.platform)
    metrics.entries_lost.set(losses.read(service.opened.settings.data).entries)
    _measure_log(service.platform)
    metrics.store_memory.set(service.platform.store.memory())
    metrics.archive_matches.set(service.platform.store.archiving.number())
    metrics.store_memory_limit.set(service.platform.settings.memory)
    text = _GATHERED.text(exposition.shared_folder(), _whole if call.caller == ADMIN else for_everybody)
    return Response(text, content_type=prometheus_client.CONTENT_TYPE_LATEST)


def _whole(series: Series) -> Series:
    return series


def for_everybody(series: Series) -> Series | None:
    """Return the series as everybody may see it: none for operators alone, and refusal codes of games as `against_the_rules`."""
    if series.metric.startswith(metrics.FOR_OPERATORS):
        return None
    if series.metric not in ("warledger_refusals", "warledger_problems"):
        return series
    return series._replace(labels=tuple([(name, _code(code) if name == "code" else code) for name, code in series.labels]))


def _code(code: str) -> str:
    return code if code in CODES else "against_the_rules"


def _measure_log(platform: Platform) -> None:
    """Set the gauges of the log of the server."""
    origin = platform.signer.name
    metrics.log_size.set(platform.store.server_logs.state(origin).served)
    late = platform.clock.now() - LATE_MS
    metrics.log_late.set(platform.store.server_logs.late(late) + platform.store.signing_keys.late(late))
    metrics.log_stopped.set(1 if highwater.as_json(platform.settings.keys_folder, origin) else 0)


def _measure_queues(platform: Platform) -> None:
    """Set the gauges of due work, queues and workers."""
    now = platform.clock.now()
    counts = platform.store.due.counts(now - OVERDUE_MS)
    metrics.due.set(counts.all)
    metrics.hooks_due.set(platform.store.hooks.size())
    metrics.overdue.set(counts.before)
    oldest = min(platform.store.due.earliest(now, 1).values(), default=now)
    metrics.oldest_due.set((now - oldest) / 1000)
    for kind in KINDS:
        depth, workers = platform.jobs.depth(kind), platform.jobs.workers(kind)
        metrics.queue_depth.labels(kind).set(-1 if depth is None else depth)
        metrics.workers.labels(kind).set(-1 if workers is None else workers)


_STATUS = named("HealthStatus", ids(["ok"], "`ok`: all is well."))
HEALTH = named("Health", record({"status": _STATUS}, "All is well."))
READINESS = named(
    "Readiness",
    record(
        {
            "status": _STATUS,
            "lost": optional(
                record(
                    {
                        "entries": whole(0, about="How many entries are lost."),
                        "matches": whole(0, about="Of how many matches."),
                        "players": whole(0, about="How many players are known to be lost."),
                        "bytes_cut": whole(0, about="How many bytes were cut off the damaged end of the store's file."),
                        "since": whole(0, about="When the first of these losses was found, in milliseconds since 1970."),
                    },
                    "What the store has lost, until an operator accepts it.",
                )
            ),
            "log_stopped": optional(
                record(
                    {
                        "why": named("LogStopped", ids(["older", "forked", "restored", "unreadable"], "What is wrong.")),
                        "signed": whole(0, about="How many leaves of the log are signed."),
                        "stored": whole(0, about="How many the store has."),
                    },
                    "The log of the server has stopped: the store does not continue what was signed, as after restoring a backup.",
                )
            ),
            "memory": optional(
                record(
                    {
                        "used": whole(0, about="How many bytes the store takes."),
                        "limit": whole(0, about="At how many it refuses writes."),
                    },
                    "The memory of the store, from 80 % of its limit on.",
                )
            ),
            "replicas": optional(
                record(
                    {
                        "held": whole(0, about="How many have what is acknowledged (`WARLEDGER_REPLICAS`)."),
                        "connected": whole(0, about="How many the primary with the fewest has. If more, a failover may lose the rest."),
                    },
                    "The replicas of the store.",
                )
            ),
            "queue": optional(
                named("QueueTrouble", ids(["memory", "away"], "Why the queue does nothing: its memory is full, or it does not answer."))
            ),
            "archive": optional(ids(["away"], "The archive does not answer: finished matches in it are not shown.")),
            "rules_missing": optional(
                listing(
                    record(
                        {
                            "game": text(about="The game."),
                            "revision": whole(1, about="The revision of its rules."),
                            "matches": whole(1, about="How many running matches began with it, and wait for it."),
                        },
                        "A revision of rules that this server does not have.",
                    ),
                    about="Rules that running matches need and this server does not have.",
                )
            ),
        },
        "The store can read and write.",
    ),
)

_OK = {200: in_json("All is well.", HEALTH)}
_READY = {200: in_json("The store can read and write.", READINESS)}

OPERATIONS = (
    Operation(
        "get_health", "GET", "/healthz", "server", "Ask whether the server is alive", get_health, _OK,
        "Answers without asking the store.",
    ),
    Operation(
        "get_readiness", "GET", "/readyz", "server", "Ask whether the server is ready", get_readiness, _READY,
        "503 while the store cannot read and write. The sentence says what the server waits for. A server that has lost entries is ready, "
        "and reports the loss until an operator accepts it. A server that lacks the rules of some running matches is ready, too. "
        "So is one without its queue or its archive: people can play.",
        problems=("not_ready", "store_away", "store_refused"),
    ),
    Operation(
        "get_metrics", "GET", "/metrics", "server", "Get the server's metrics for Prometheus", get_metrics,
        {200: Answer("The metrics.", {TEXT: TEXT_SCHEMA})},
        "A refusal code may reveal what the refused player has. So only the admin key sees the refusal codes of the games. Others see "
        "`against_the_rules`. Only the admin key sees what searches of artificial players used (`warledger_search_…`).",
        key="optional",
    ),
)  # fmt: skip
