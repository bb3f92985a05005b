"""Choices: complete ones, and open ones with counts that the actor chooses.

A complete choice is `{"action": {...}}`. An open choice also has `choose`, its ranges by field. A range is `[low, high]` for one number, or
`{"each": {key: [low, high]}, "total": [low, high]}` for counts. Every combination in the ranges is legal. Anything else is refused
(games/CONVENTIONS.md, "Actions, and the list of legal ones").
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import product
from typing import Any, NamedTuple

Choice = dict[str, Any]
Ranges = dict[str, Any]
Action = dict[str, Any]


class Outside(NamedTuple):
    """A count of an open action that is outside its range.

    `key` names the count in a field of counts. It is None if `field` is a single number, or if the sum is outside `total`.
    """

    field: str
    key: str | None
    given: int
    low: int
    high: int


def outside(ranges: Ranges, action: Action) -> Outside | None:
    """Return the first count of an action that is outside `ranges`, or None. A field of counts that is left out is the same as no counts.

    Within a field of counts: first the keys that have no range (bounds 0 to 0) in alphabetical order, then each key in the order of the
    ranges, then the sum.

    >>> ranges = {"ships": {"each": {"gunboat": [0, 2], "frigate": [0, 1]}, "total": [1, 2]}}
    >>> outside(ranges, {"type": "move", "ships": {"gunboat": 2}}) is None
    True
    >>> outside(ranges, {"type": "move", "ships": {"gunboat": 3}})
    Outside(field='ships', key='gunboat', given=3, low=0, high=2)
    >>> outside(ranges, {"type": "move", "ships": {}})
    Outside(field='ships', key=None, given=0, low=1, high=2)
    """
    for field, chosen in ranges.items():
        if isinstance(chosen, list):
            if not chosen[0] <= action[field] <= chosen[1]:
                return Outside(field, None, action[field], *chosen)
            continue
        given, each = action.get(field, {}), chosen["each"]
        unknown = [key for key in given if key not in each]
        if unknown:
            key = min(unknown)
            return Outside(field, key, given[key], 0, 0)
        for key, (low, high) in each.items():
            if not low <= given.get(key, 0) <= high:
                return Outside(field, key, given.get(key, 0), low, high)
        total = sum(given.values())
        if not chosen["total"][0] <= total <= chosen["total"][1]:
            return Outside(field, None, total, *chosen["total"])
    return None


def admits(choice: Choice, action: Action, sets: Collection[str] = ()) -> bool:
    """Return True if a choice allows an action.

    A count of 0 is the same as no entry. `sets` names fields as `type.field`. Their lists are compared without order, and an empty list
    is the same as no field. `type.field{}` names a field of counts in which no count is the same as no field.

    >>> choice = {"action": {"type": "move", "to": "c3"}, "choose": {"units": [1, 4]}}
    >>> admits(choice, {"type": "move", "to": "c3", "units": 2}), admits(choice, {"type": "move", "to": "c3", "units": 5})
    (True, False)
    >>> cards = {"action": {"type": "bid", "cards": ["a", "b"]}}
    >>> admits(cards, {"type": "bid", "cards": ["b", "a"]}), admits(cards, {"type": "bid", "cards": ["b", "a"]}, {"bid.cards"})
    (False, True)
    """
    ranges = choice.get("choose", {})
    kind = choice["action"].get("type")
    fields = set(choice["action"]) | set(ranges)
    if fields != {field for field, value in action.items() if field in fields or not _is_empty_set(value, f"{kind}.{field}", sets)}:
        return False
    for field, value in choice["action"].items():
        given = action[field]
        if f"{kind}.{field}" in sets and isinstance(given, list):
            given, value = sorted(given), sorted(value)
        if isinstance(given, dict):
            given = {key: count for key, count in given.items() if isinstance(count, bool) or count != 0}
        if given != value or isinstance(given, bool) != isinstance(value, bool):
            return False
    return all(_inside(chosen, action[field]) for field, chosen in ranges.items())


def _is_empty_set(value: Any, name: str, sets: Collection[str]) -> bool:
    """Return True if a field is an empty set: an empty list, or counts that are all 0 if `sets` has its name with `{}`."""
    if isinstance(value, dict) and f"{name}{{}}" in sets:
        return all(isinstance(count, int) and not isinstance(count, bool) and count == 0 for count in value.values())
    return value == [] and name in sets


def _inside(chosen: Any, value: Any) -> bool:
    if isinstance(chosen, list):
        return isinstance(value, int) and not isinstance(value, bool) and chosen[0] <= value <= chosen[1]
    if not isinstance(value, dict):
        return False
    counts = {key: count for key, count in value.items() if count != 0}
    if not all(isinstance(count, int) and not isinstance(count, bool) for count in counts.values()) or not set(counts) <= set(
        chosen["each"]
    ):
        return False
    within = all(low <= counts.get(key, 0) <= high for key, (low, high) in chosen["each"].items())
    return within and chosen["total"][0] <= sum(counts.values()) <= chosen["total"][1]


def complete(action: Action, ranges: Ranges, number: Callable[[int], int]) -> Action:
    """Return an open action with counts drawn by `number(below)`: the total first, then key by key.

    >>> ranges = {"units": {"each": {"c3": [0, 4], "d2": [0, 4]}, "total": [1, 4]}}
    >>> complete({"type": "move"}, ranges, lambda below: 0), complete({"type": "move"}, ranges, lambda below: below - 1)
    ({'type': 'move', 'units': {'d2': 1}}, {'type': 'move', 'units': {'d2': 4}})
    """
    chosen = dict(action)
    for field, span in ranges.items():
        chosen[field] = span[0] + number(span[1] - span[0] + 1) if isinstance(span, list) else _drawn(_bounds(span), number)
    return chosen


def with_counts(choice: Choice) -> Choice:
    """Return a choice whose action can be submitted as it is. An open choice gets the lowest counts that its ranges allow.

    >>> with_counts({"action": {"type": "take"}, "choose": {"pebbles": [1, 3]}})
    {'action': {'type': 'take', 'pebbles': 1}, 'choose': {'pebbles': [1, 3]}}
    """
    ranges = choice.get("choose")
    if ranges is None:
        return choice
    lowest = {field: span[0] if isinstance(span, list) else _fewest(span) for field, span in ranges.items()}
    return {"action": choice["action"] | lowest, "choose": ranges}


def _fewest(span: Any) -> dict[str, int]:
    """Return the counts that `_drawn` gives with the lowest numbers: as few as possible, and those of the last keys.

    >>> span = {"each": {"a1": [0, 2], "b1": [0, 2]}, "total": [1, 4]}
    >>> _fewest(span), _fewest(span | {"total": [3, 4]}), _fewest({"each": {"a1": [1, 2], "b1": [0, 2]}, "total": [2, 4]})
    ({'b1': 1}, {'a1': 1, 'b1': 2}, {'a1': 1, 'b1': 1})
    """
    each, left = span["each"], span["total"][0]
    last = next(reversed(each), None)
    if last is not None and 0 < left <= each[last][1] and not any(least for least, _ in each.values()):
        return {last: left}  # nearly always
    return _drawn(_bounds(span), lambda below: 0)


def completing(action: Action, ranges: Ranges) -> Callable[[Callable[[int], int]], Action]:
    """Return the function of `number` that gives what `complete` gives, for an open action that is completed several times.

    >>> completed = completing({"type": "move", "units": {"d2": 1}}, {"units": {"each": {"d2": [1, 4]}, "total": [1, 4]}})
    >>> completed(lambda below: 0), completed(lambda below: below - 1)
    ({'type': 'move', 'units': {'d2': 1}}, {'type': 'move', 'units': {'d2': 4}})
    """
    spans = [(field, span if isinstance(span, list) else _bounds(span)) for field, span in ranges.items()]

    def completed(number: Callable[[int], int]) -> Action:
        chosen = dict(action)
        for field, span in spans:
            chosen[field] = span[0] + number(span[1] - span[0] + 1) if isinstance(span, list) else _drawn(span, number)
        return chosen

    return completed


_Bounds = tuple[list[tuple[str, list[int]]], int, int, int, int]


def _bounds(span: Any) -> _Bounds:
    """Return the keys of a range of counts with their bounds, the least and the most of the total, and the sums of both bounds."""
    each = list(span["each"].items())
    low, high = span["total"]
    room = need = 0
    for _, (least, most) in each:
        need += least
        room += most
    if need > low:
        low = need
    if room < high:
        high = room
    return each, low, high, need, room


def _drawn(bounds: _Bounds, number: Callable[[int], int]) -> dict[str, int]:
    each, low, high, need, room = bounds
    each = each.copy()
    left = low + number(high - low + 1)
    counts: dict[str, int] = {}
    for size in range(len(each), 0, -1):
        key, (least, most) = each.pop(number(size))
        room -= most
        need -= least
        if left - room > least:
            least = left - room
        if left - need < most:
            most = left - need
        count = least + number(most - least + 1) if most > least else least
        if count:
            counts[key] = count
            left -= count
    return counts


def count(choice: Choice) -> int:
    """Return the number of complete actions of a choice.

    >>> count({"action": {"type": "end_turn"}}), count({"action": {"type": "take"}, "choose": {"pebbles": [1, 3]}})
    (1, 3)
    >>> count({"action": {"type": "move"}, "choose": {"units": {"each": {"c3": [0, 4], "d2": [0, 4]}, "total": [1, 4]}}})
    14
    """
    total = 1
    for span in choice.get("choose", {}).values():
        if isinstance(span, list):
            total *= span[1] - span[0] + 1
            continue
        ways = {0: 1}
        for low, high in span["each"].values():
            grown: dict[int, int] = {}
            for so_far, number in ways.items():
                for more in range(low, high + 1):
                    grown[so_far + more] = grown.get(so_far + more, 0) + number
            ways = grown
        total *= sum(number for so_far, number in ways.items() if span["total"][0] <= so_far <= span["total"][1])
    return total


def combinations(choice: Choice) -> Iterator[Action]:
    """Yield every complete action of a choice. There may be very many: `count` them first.

    >>> list(combinations({"action": {"type": "take"}, "choose": {"pebbles": [1, 2]}}))
    [{'type': 'take', 'pebbles': 1}, {'type': 'take', 'pebbles': 2}]
    >>> ranges = {"units": {"each": {"c3": [0, 2], "d2": [0, 1]}, "total": [1, 2]}}
    >>> [move["units"] for move in combinations({"action": {"type": "move"}, "choose": ranges})]
    [{'d2': 1}, {'c3': 1}, {'c3': 1, 'd2': 1}, {'c3': 2}]
    """
    fields = list(choice.get("choose", {}).items())
    for values in product(*(list(_spread(span)) for _, span in fields)):
        yield {**choice["action"], **{field: value for (field, _), value in zip(fields, values, strict=True)}}


def _spread(span: Any) -> Iterator[Any]:
    if isinstance(span, list):
        yield from range(span[0], span[1] + 1)
        return
    keys = list(span["each"])
    for numbers in product(*(range(low, high + 1) for low, high in span["each"].values())):
        if span["total"][0] <= sum(numbers) <= span["total"][1]:
            yield {key: number for key, number in zip(keys, numbers, strict=True) if number}
