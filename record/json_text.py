"""JSON texts with sorted members: by orjson, or by the standard library where nothing else is at hand, such as in a browser.

Both give the same bytes for the same value, and refuse the same. The standard library takes several times as long.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

_LARGEST = (1 << 53) - 1  # the greatest integer that every reader of JSON has exactly


def _plain_dumps(value: Any) -> bytes:
    """Return the text of a value. Raises TypeError if it has none."""
    _check(value)
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as reason:
        raise TypeError(str(reason)) from None


def _plain_loads(raw: bytes) -> Any:
    """Return the value of a text. Raises ValueError."""
    text = raw.decode()
    try:
        value = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is no character
    return value


def _check(value: Any) -> None:
    """Raise TypeError if a value is not of a JSON type, or is an integer that not every reader of JSON has exactly."""
    kind = type(value)
    if kind is dict:
        for name, item in value.items():
            if type(name) is not str:
                raise TypeError(f"{name!r} cannot be the name of a member")
            _check(item)
    elif kind is list or kind is tuple:
        for item in value:
            _check(item)
    elif kind is int and not -_LARGEST <= value <= _LARGEST:
        raise TypeError("Integer exceeds 53-bit range")
    elif kind not in (str, int, float, bool, type(None)):
        raise TypeError(f"{kind.__name__} is not a type of JSON")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


dumps: Callable[[Any], bytes]
"""Return the text of a value, members sorted by name, without white space. Raises TypeError. A fraction is written somehow."""
loads: Callable[[bytes], Any]
"""Return the value of a text. Raises ValueError."""

try:
    import orjson
except ImportError:
    dumps, loads = _plain_dumps, _plain_loads
else:
    _OPTIONS = (
        orjson.OPT_SORT_KEYS
        | orjson.OPT_STRICT_INTEGER
        | orjson.OPT_PASSTHROUGH_DATACLASS
        | orjson.OPT_PASSTHROUGH_DATETIME
        | orjson.OPT_PASSTHROUGH_SUBCLASS
    )

    def _quick_dumps(value: Any) -> bytes:
        return orjson.dumps(value, option=_OPTIONS)

    dumps, loads = _quick_dumps, orjson.loads
