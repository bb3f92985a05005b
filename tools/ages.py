"""Moments and ages in words, for people who read a verdict. No verdict depends on the clock of the machine."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from games.sentences import counted

_FORM = "%Y-%m-%dT%H:%M:%SZ"
_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000  # ms


def now() -> int:
    """Return the time of the machine in ms since 1970."""
    return time.time_ns() // 1_000_000


def moment(text: str) -> int:
    """Return a time in UTC in ms since 1970. Raises ValueError.

    >>> moment("1970-01-02T00:00:00Z")
    86400000
    """
    return int(datetime.strptime(text, _FORM).replace(tzinfo=UTC).timestamp() * 1000)


def when(at: int) -> str:
    """Return a time in ms since 1970 in words.

    >>> when(90_000_000)
    '1970-01-02T01:00:00Z'
    """
    try:
        return f"{datetime.fromtimestamp(at / 1000, UTC):{_FORM}}"
    except (OverflowError, ValueError, OSError):
        return f"{at} ms after 1970"


def day(at: int) -> str:
    """Return the day (UTC) of a time in ms since 1970.

    >>> day(86_399_999), day(86_400_000)
    ('1970-01-01', '1970-01-02')
    """
    return when(at).partition("T")[0]


def aged(at: int, now: int) -> str:
    """Return a time in ms since 1970 in words, with its age.

    >>> aged(0, 90_000_000), aged(1_000, 0)
    ('1970-01-01T00:00:00Z, 25 hours ago', '1970-01-01T00:00:01Z, which is yet to come')
    """
    age = now - at
    if age < 0:
        return f"{when(at)}, which is yet to come"
    unit, one = (_DAY, "day") if age >= 2 * _DAY else (_HOUR, "hour") if age >= 2 * _HOUR else (_MINUTE, "minute")
    return f"{when(at)}, {counted(age // unit, one, one + 's')} ago"
