"""Frames: the difference between the picture of a version and the picture of the version before.

A frame is JSON. A *keyframe* has the whole picture. Every other frame leaves out what the reader already has, so that a whole replay is
small. docs/api.md describes both for clients.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from web.drawing import Drawing

Json = dict[str, Any]

MOST = 400  # pieces of a text to compare with each other; a longer text is replaced as a whole
_ELEMENTS = re.compile(r".[^<]*", re.DOTALL).findall
_WORDS = re.compile(r'.[^<" ]*', re.DOTALL).findall  # a word ends before the next `<`, `"` or blank


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


def _number(value: float) -> float:
    rounded = round(float(value), 1)
    return int(rounded) if rounded.is_integer() else rounded


def edits(before: str, after: str) -> list[Any]:
    """Return the edits that turn one text into another, as `[stay, go, text, …]`: keep `stay` words, remove `go` words, insert the text,
    and so on. The words after the last edit stay."""
    found: list[Any] = []
    stay = 0
    for elements, others in _aligned(_ELEMENTS(before), _ELEMENTS(after)):
        for words, new in _aligned(_WORDS("".join(elements)), _WORDS("".join(others))):
            if words == new:
                stay += len(words)
            elif found and not stay:
                found[-2:] = [found[-2] + len(words), found[-1] + "".join(new)]
            else:
                found += [stay, len(words), "".join(new)]
                stay = 0
    return found


def _aligned(before: list[str], after: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield two lists as pairs of stretches that correspond to each other. Equal stretches are as long as possible."""
    front = _common(before, after)
    back = _common(before[front:][::-1], after[front:][::-1])
    old, new = before[front : len(before) - back], after[front : len(after) - back]
    yield before[:front], after[:front]
    if old and new and max(len(old), len(new)) <= MOST:
        for _, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            yield old[first:last], new[start:end]
    else:
        yield old, new
    yield before[len(before) - back :], after[len(after) - back :]


def _common(one: list[str], other: list[str]) -> int:
    """Return the length of the common beginning of two lists."""
    return next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
