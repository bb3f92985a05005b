"""The worker: RQ, with JSON only, a list of what it may call, and timings that notice a dead one within seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import structlog
from rq import Queue, SimpleWorker
from rq.job import Job
from rq.serializers import JSONSerializer

from events.reactions import JOB_SECONDS, QUEUE
from events.wire import queue_client
from workers.jobs import ALLOWED

log = structlog.get_logger(__name__)


class AllowedJob(Job):
    """A job that calls what it may call. JSON alone is no sandbox: without this, whoever can enqueue could call anything."""

    @property
    def func(self) -> Callable[..., Any]:
        """The function to call. Raises PermissionError for any other."""
        if self.func_name not in ALLOWED:
            raise PermissionError(f"{self.func_name} is not a job of this platform")
        return super().func


class Worker(SimpleWorker):
    """A worker in one process, without a fork for each job. It hands over safely, having one queue only."""

    def get_heartbeat_ttl(self, job: Job, working_time: float = 0.0) -> int:
        """How long a job counts as alive without a sign of life; RQ's own minute is far too long."""
        return int(job.timeout or JOB_SECONDS) + 3

    def handle_exception(self, job: Job, *exc_info: Any) -> None:
        """Tell that a job has failed and by which kind of error; RQ's own lines would hold its text, and so perhaps what is hidden."""
        log.error("job_failed", job=job.id, error=exc_info[0].__name__)


def worker(url: str) -> Worker:
    """A worker on the queue at `url`, with connections of its own."""
    connection = queue_client(url, patient=True)
    queue = Queue(QUEUE, connection=connection, serializer=JSONSerializer, job_class=AllowedJob)
    return Worker(
        [queue],
        connection=connection,
        serializer=JSONSerializer,
        job_class=AllowedJob,
        worker_ttl=17,
        maintenance_interval=2,
    )
