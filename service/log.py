"""The log: one JSON object a line on standard output. What is in a match is never in it."""

from __future__ import annotations

import logging

import orjson
import structlog


def configure() -> None:
    """Let everything that this process notes be JSON."""
    structlog.configure(
        processors=[
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            structlog.processors.JSONRenderer(serializer=lambda line, **_: orjson.dumps(line, default=str)),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.BytesLoggerFactory(),
        cache_logger_on_first_use=True,
    )
