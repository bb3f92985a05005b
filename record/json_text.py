r"""JSON with sorted members: written and read by orjson, or by the standard library where orjson is missing, such as in a browser.

Both give the same bytes for the same value, and refuse the same values. The standard library takes several times as long.

>>> dumps({"b": 1, "a": ["é", None]})
b'{"a":["\xc3\xa9",null],"b":1}'
>>> loads(b'{"a": [true, 7]}')
{'a': [True, 7]}
>>> dumps(1 << 53)
Traceback (most recent call last):
TypeError: Integer exceeds 53-bit range
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

_LARGEST = (1 << 53) - 1  # the greatest integer that every JSON parser reads exactly


def _plain_dumps(value: Any) -> bytes:
    """Return a value as JSON. Raises TypeError.

    >>> _plain_dumps({"b": 1, "a": 2}) == dumps({"b": 1, "a": 2})
    True
    """
    _check(value)
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as reason:
        raise TypeError(str(reason)) from None


def _plain_loads(raw: bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError."""
    text = raw.decode()
    try:
        value = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is not a character
    return value


def _check(value: Any) -> None:
    """Raise TypeError if a value is not of a JSON type, or is an integer that some JSON parsers would round."""
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
"""Return a value as JSON, members sorted by name, without white space. Raises TypeError. The form of a fraction is not specified."""
loads: Callable[[bytes], Any]
"""Return the value of a JSON text. Raises ValueError."""

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
