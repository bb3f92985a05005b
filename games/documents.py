"""Plain JSON documents: how a fact changes one, and how to copy one.

Only a fact changes a document. It reaches a nested dict or list only through the function `own` that it gets. So the same fact folds into
a recorded document (`copied`: each dict or list is copied before it is changed, and the old document keeps its own), into a private one
(`owned`: the document is changed in place), and into one that shares with others what it has not reached (`reaching`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

Document = dict[str, Any]
Own = Callable[[Any, Any], Any]

owned: Own = operator.getitem


def copied(parent: Any, key: Any) -> Any:
    """Replace the dict or list at `key` of `parent` by a copy, and return the copy.

    >>> before = {"hands": {"red": ["a"], "blue": []}}
    >>> after = before.copy()
    >>> copied(copied(after, "hands"), "red").append("b")
    >>> before["hands"]["red"], after["hands"]["red"], before["hands"]["blue"] is after["hands"]["blue"]
    (['a'], ['a', 'b'], True)
    """
    child = parent[key] = parent[key].copy()
    return child


def reaching() -> Own:
    """Return a function for a series of facts: it copies a dict or list when it is first reached, and returns that copy ever after.

    >>> before = {"hand": ["a"]}
    >>> after, own = before.copy(), reaching()
    >>> own(after, "hand").append("b")
    >>> own(after, "hand") is own(after, "hand"), before["hand"], after["hand"]
    (True, ['a'], ['a', 'b'])
    """
    mine: dict[int, Any] = {}  # the copies by their id; it keeps them alive, so that no id is used again

    def own(parent: Any, key: Any) -> Any:
        child = parent[key]
        if id(child) not in mine:
            child = parent[key] = child.copy()
            mine[id(child)] = child
        return child

    return own


def clone(value: Any) -> Any:
    """Return a copy of a JSON value that shares no dict and no list with it.

    >>> before = {"row": ["a", {"b": 1}]}
    >>> after = clone(before)
    >>> after["row"][1]["b"] = 2
    >>> before, after
    ({'row': ['a', {'b': 1}]}, {'row': ['a', {'b': 2}]})
    """
    if isinstance(value, dict):
        copy = value.copy()
        for key, item in value.items():
            if isinstance(item, (dict, list)):
                copy[key] = clone(item)
        return copy
    if isinstance(value, list):
        return [clone(item) if isinstance(item, (dict, list)) else item for item in value]
    return value
