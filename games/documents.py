"""Plain JSON documents: how a fact changes one, and how to copy one.

Only a fact changes a document. It reaches a nested dict or list only through the function `own` that it gets. So the same fact folds into
a recorded document (`copied`: each dict or list is copied before it is changed, and the old document keeps its own) and into a private one
(`owned`: the document is changed in place).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

Document = dict[str, Any]
Own = Callable[[Any, Any], Any]

owned: Own = operator.getitem


def copied(parent: Any, key: Any) -> Any:
    """Replace the dict or list at `key` of `parent` by a copy, and return the copy."""
    child = parent[key] = parent[key].copy()
    return child


def clone(value: Any) -> Any:
    """Return a copy of a JSON value that shares no dict and no list with it."""
    if isinstance(value, dict):
        return {key: clone(item) if isinstance(item, (dict, list)) else item for key, item in value.items()}
    if isinstance(value, list):
        return [clone(item) if isinstance(item, (dict, list)) else item for item in value]
    return value
