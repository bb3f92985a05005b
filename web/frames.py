"""Frames: the difference between the picture of a version and the picture of the version before.

A frame is JSON. A *keyframe* has the whole picture. Every other frame leaves out what the reader already has, so that a whole replay is
small. docs/api.md describes both for clients.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from web.drawing import Drawing

Json = dict[str, Any]

MOST = 400  # elements of a text to compare with each other; a longer text is replaced as a whole
FEW = 3  # elements that may always differ where they stand
_ELEMENTS = re.compile(r".[^<]*", re.DOTALL).findall
_WORDS = re.compile(r'.[^<" ]*', re.DOTALL).findall  # a word ends before the next `<`, `"` or blank
_BEGIN = re.compile(r'[<" ]').search
_BEGINS = ("", "<", '"', " ")  # where a word begins, or a text has ended


class Shot(NamedTuple):
    """A drawing in the form in which frames compare it. `sheets`: the frame of each sheet by id, in the order of reading."""

    title: str
    sheets: dict[str, Json]
    fragments: dict[str, str]


def shot(drawing: Drawing) -> Shot:
    """Return a drawing in the form for comparisons."""
    sheets = {
        sheet.id: {
            "id": sheet.id,
            "seat": sheet.seat,
            "box": [_number(value) for value in (sheet.left, sheet.top, sheet.width, sheet.height)],
            "fragments": list(sheet.fragments),
        }
        for sheet in drawing.sheets()
    }
    return Shot(drawing.title, sheets, drawing.fragments())


def whole(after: Shot) -> Json:
    """Return the picture of a keyframe."""
    return {"title": after.title, "order": list(after.sheets), "sheets": list(after.sheets.values()), "fragments": after.fragments}


def difference(before: Shot, after: Shot) -> Json:
    """Return the picture of a frame that follows another one: what is new, and what is gone.

    A fragment that existed before is replaced by its `edits`.
    """
    title = after.title if after.title != before.title else ""
    order = list(after.sheets) if list(after.sheets) != list(before.sheets) else []
    sheets = [_changed(before.sheets.get(id, {}), sheet) for id, sheet in after.sheets.items() if before.sheets.get(id) != sheet]
    fragments = {
        name: edits(before.fragments[name], text) if name in before.fragments else text
        for name, text in after.fragments.items()
        if before.fragments.get(name) != text
    }
    gone = [name for name in before.fragments if name not in after.fragments]
    parts: Json = {"title": title, "order": order, "sheets": sheets, "fragments": fragments, "gone": gone}
    return {name: part for name, part in parts.items() if part}


def _changed(before: Json, after: Json) -> Json:
    """Return the members of a sheet that differ, and its id."""
    return {name: value for name, value in after.items() if name == "id" or name not in before or before[name] != value}


@functools.lru_cache(maxsize=4096)
def _number(value: float) -> float:
    rounded = round(float(value), 1)
    return int(rounded) if rounded.is_integer() else rounded


@functools.lru_cache(maxsize=2048)  # most fragments are the same for all who watch a match
def edits(before: str, after: str) -> list[Any]:
    """Return the edits that turn one text into another, as `[stay, go, text, …]`: keep `stay` words, remove `go` words, insert the text,
    and so on. The words after the last edit stay. Treat the list as frozen."""
    found: list[Any] = []
    stay = 0
    for words, text in _steps(before, after):
        if text is None:
            stay += words
        elif found and not stay:
            found[-2:] = [found[-2] + words, found[-1] + text]
        elif words or text:
            found += [stay, words, text]
            stay = 0
    return found


def _steps(before: str, after: str) -> Iterator[tuple[int, str | None]]:
    """Yield how many words of a text stay (with None), or go and what comes in their place, until all that differs has been told."""
    front, back = _ends(before, after)
    yield _count(before[:front]), None
    for old, new in _aligned(before[front : len(before) - back], after[front : len(after) - back]):
        if old == new:
            yield _count(old), None
        else:
            yield from _reworded(_WORDS(old), _WORDS(new))


def _aligned(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield two texts as pairs of stretches that correspond to each other, most of them elements."""
    old, new = _ELEMENTS(before), _ELEMENTS(after)
    if len(old) == len(new) and _mostly_alike(old, new):
        yield from zip(old, new, strict=True)
    elif not old or not new or max(len(old), len(new)) > MOST:
        yield before, after
    else:
        for _, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if last - first == end - start:
                yield from zip(old[first:last], new[start:end], strict=True)
            else:
                yield "".join(old[first:last]), "".join(new[start:end])


def _mostly_alike(old: list[str], new: list[str]) -> bool:
    """Return True if few elements differ, or at most half, so that nothing seems to have come, gone or moved."""
    differ = sum([one != other for one, other in zip(old, new, strict=True)])
    return differ <= max(FEW, len(old) // 2)


def _reworded(old: list[str], new: list[str]) -> Iterator[tuple[int, str | None]]:
    """Yield the steps from some words to others: word by word if they are as many, else all between the first and the last that differ."""
    if len(old) == len(new):
        yield from ((1, None if one == other else other) for one, other in zip(old, new, strict=True))
        return
    least = min(len(old), len(new))
    front = next((place for place in range(least) if old[place] != new[place]), least)
    back = next((place for place in range(least - front) if old[-1 - place] != new[-1 - place]), least - front)
    yield front, None
    yield len(old) - front - back, "".join(new[front : len(new) - back])
    yield back, None


def _count(text: str) -> int:
    """Return how many words a text has."""
    return text.count("<") + text.count('"') + text.count(" ") + (text[:1] not in _BEGINS)


def _ends(one: str, other: str) -> tuple[int, int]:
    """Return how many letters two texts have in common at the front, and at the back behind them, in whole words."""
    front = _largest(min(len(one), len(other)), lambda low, high: one[low:high] == other[low:high])
    if one[front : front + 1] not in _BEGINS or other[front : front + 1] not in _BEGINS:
        front = max(one.rfind("<", 0, front), one.rfind('"', 0, front), one.rfind(" ", 0, front), 0)
    long, wide = len(one), len(other)
    back = _largest(min(long, wide) - front, lambda low, high: one[long - high : long - low] == other[wide - high : wide - low])
    first = _BEGIN(one, long - back)
    return front, 0 if first is None else long - first.start()


def _largest(most: int, alike: Callable[[int, int], bool]) -> int:
    """Return the largest number up to `most` to which two texts are alike. `alike`: whether they are from one number to another."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if alike(low, middle):
            low = middle
        else:
            high = middle - 1
    return low
