"""Plain JSON documents: reaching into them, copying them, and comparing what they say.

A document is never changed in place by anyone but a fact. A fact reaches a nested dict or list only through the `own` it is given,
so that the same fact serves a recorded document (`copied`: what is reached is copied first, the old document stays as it was) and a
private one (`owned`: it is changed where it lies).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

Document = dict[str, Any]
Own = Callable[[Any, Any], Any]

owned: Own = operator.getitem


def copied(parent: Any, key: Any) -> Any:
    """The dict or list at `key` of `parent`, replaced there by a copy that may be changed."""
    child = parent[key] = parent[key].copy()
    return child


def clone(value: Any) -> Any:
    """A copy of a JSON value that shares no dict and no list with it."""
    if isinstance(value, dict):
        return {key: clone(item) if isinstance(item, (dict, list)) else item for key, item in value.items()}
    if isinstance(value, list):
        return [clone(item) if isinstance(item, (dict, list)) else item for item in value]
    return value


def merged(document: Any, patch: Any) -> Any:
    """`document` under an RFC 7396 merge patch; neither is changed."""
    if not isinstance(patch, dict):
        return clone(patch)
    result = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def at(document: Any, pointer: str) -> Any:
    """The value at an RFC 6901 JSON Pointer. Raises KeyError where the pointer leads nowhere."""
    value = document
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            if not key.isdigit() or int(key) >= len(value):
                raise KeyError(pointer)
            value = value[int(key)]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            raise KeyError(pointer)
    return value
