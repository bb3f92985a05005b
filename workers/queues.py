"""The RQ worker: it reads only JSON, calls only tickets, and is found dead within seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import structlog
from rq import Queue, SimpleWorker
from rq.exceptions import StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer

from events.store.client import queue_client, queue_errors
from events.store.queue import LONGEST, TICKET, Jobs
from events.store.queue.shards import Shards
from workers.brake import end_soon, is_ending
from workers.listening import Life

log = structlog.get_logger(__name__)


class AllowedJob(Job):
    """A job that can only be a ticket. JSON alone is not a sandbox: a job could name any function."""

    @property
    def func(self) -> Callable[..., Any]:
        """The function of tickets. Raises PermissionError for any other."""
        if self.func_name != TICKET:
            raise PermissionError(f"{self.func_name} is not a job of this platform")
        return super().func


class Worker(SimpleWorker):
    """A worker in one process, without a fork for each job."""

    exponential_backoff_factor = 1.0  # look for a lost server every second; RQ would sleep for up to a minute
    dequeue_timeout = 5  # seconds between two signs of life; they must come within `worker_ttl`
    connection_timeout = 12  # seconds after which a server without an answer counts as lost
    life: Life
    leaves = False  # it ends when its server is away, because there are others

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        """Show that the worker goes on, to others on the server and to those who look after this process."""
        self.life.promise(timeout or self.worker_ttl)
        try:
            super().heartbeat(timeout, pipeline)
        except queue_errors:
            if self.leaves:
                raise StopRequested from None
            raise

    def get_heartbeat_ttl(self, job: Job, working_time: float = 0.0) -> int:
        """Return how many seconds a job counts as alive without a heartbeat. RQ's minute is too long."""
        return int(job.timeout or LONGEST) + 3

    def handle_warm_shutdown_request(self) -> None:
        """End the current step soon: a search plays its best so far. Then end the worker."""
        end_soon()

    def procline(self, message: str) -> None:
        """Keep the name of the process, because operators look for it. RQ would change it if setproctitle is installed."""

    def handle_exception(self, job: Job, *exc_info: Any) -> None:
        """Log that a job has failed, with the type of the error only: its text may hold secrets."""
        log.error("job_failed", job=job.id, error=exc_info[0].__name__)


def listen(jobs: Jobs | Shards, kinds: Sequence[str], life: Life) -> None:
    """Carry out tickets until a signal comes. With several servers, listen at another one while the own one is away.

    It also ends at a key that RQ cannot read.
    """
    if isinstance(jobs, Jobs):
        worker(jobs.url, kinds, life).work(logging_level="WARNING")
        return
    while not is_ending():
        url = jobs.home()
        made = worker(url, kinds, life)
        made.leaves = True
        try:
            made.work(logging_level="WARNING")
        except queue_errors:
            log.warning("queue_left")
        if not is_ending():
            jobs.leave(url)
            jobs.mend()
            life.promise(made.worker_ttl)
            time.sleep(1.0)


def worker(url: str, kinds: Sequence[str], life: Life | None = None) -> Worker:
    """Return a worker on the queues of these kinds at `url`, with connections of its own. It empties the first queue before the next."""
    connection = queue_client(url, patient=True)
    queues = [Queue(kind, connection=connection, serializer=JSONSerializer, job_class=AllowedJob) for kind in kinds]
    made = Worker(
        queues,
        connection=connection,
        serializer=JSONSerializer,
        job_class=AllowedJob,
        worker_ttl=17,
        maintenance_interval=60,  # it removes what dead workers leave; nothing waits for it, because lost tickets are requested again
    )
    made.life = life or Life()
    return made
