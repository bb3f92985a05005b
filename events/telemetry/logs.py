"""Write the log of a process: one JSON object per line. It never has the content of a match."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, BinaryIO, Literal, cast

import orjson
import structlog


def configure(stream: Literal["stdout", "stderr"]) -> None:
    """Write everything that this process logs to a standard stream, including warnings of libraries."""
    global _lines
    _lines = _Lossy(getattr(sys, stream).buffer)

    def logger(*_: Any) -> structlog.BytesLogger:
        return structlog.BytesLogger(cast(BinaryIO, _Lossy(getattr(sys, stream).buffer)))

    structlog.configure(
        processors=[
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=_json),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=logger,
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, handlers=[_Libraries()])


def write(event: str, fields: dict[str, Any]) -> None:
    """Log an event at the level info, without the processors of structlog, which take five times as long. For what every request logs."""
    assert _lines is not None, "`configure` comes first"
    line = fields | {"event": event, "level": "info", "at": datetime.now(UTC)}
    _lines.write_now(orjson.dumps(line, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE))


class _Lossy:
    """A binary stream that drops what it cannot write. So a request is answered even if its line cannot be logged."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, line: bytes) -> None:
        """Write a line, or drop it if the stream is full or closed."""
        with suppress(OSError, ValueError):
            self._stream.write(line)

    def write_now(self, line: bytes) -> None:
        """Write a line and flush the stream, if possible."""
        try:
            self._stream.write(line)
            self._stream.flush()
        except (OSError, ValueError):
            pass

    def flush(self) -> None:
        """Flush the stream, if possible."""
        with suppress(OSError, ValueError):
            self._stream.flush()


class _Libraries(logging.Handler):
    """Logs the records of libraries: their message, and the type of an error without its text."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log a record."""
        error = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        structlog.get_logger().log(record.levelno, "library", logger=record.name, message=record.getMessage(), error=error)


_lines: _Lossy | None = None


def _json(line: Any, **_: Any) -> bytes:
    return orjson.dumps(line, default=str)
