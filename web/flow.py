"""Lay out small things in rows that fill a rectangle, like words on a page, and make the SVG of their parts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from web.text import number, safe, whole

SCALES = (1.0, 0.9, 0.8, 0.7, 0.62, 0.55, 0.48, 0.42, 0.36, 0.3, 0.25, 0.2)
GAP = 3.0
BADGE_LETTER = 15.0  # the size of the letter on a badge
_SIZE = re.compile(r'font-size="([\d.]+)"').search


class Part(NamedTuple):
    """An SVG element without its position: `before`, then x and y, then `after`."""

    x: float
    y: float
    before: str
    after: str = "/>"

    def at(self, x: float, y: float) -> str:
        """Return the element with the origin of its item at a point. A coordinate of 0 is left out, because it is the default of SVG."""
        left, top = number(x + self.x), number(y + self.y)
        across = f' x="{left}"' if left != "0" else ""
        down = f' y="{top}"' if top != "0" else ""
        return f"{self.before}{across}{down}{self.after}"


class Item(NamedTuple):
    """A thing in a row, with its size. `breaks`: it begins a new row."""

    id: str
    width: float
    height: float
    parts: Sequence[Part]
    breaks: bool = False


class Placed(NamedTuple):
    """Items with their positions, to be drawn at one scale. `height` is the height before scaling."""

    scale: float
    height: float
    items: list[tuple[Item, float, float]]


def rectangle(style: str, width: float, height: float, radius: float, x: float = 0, y: float = 0, id: str = "") -> Part:
    """Return a rectangle with round corners. `style`: its classes. `id`: the thing that it shows, if readers can point at it."""
    size = f'width="{number(width)}" height="{number(height)}" rx="{number(radius)}"'
    return Part(x, y, f'<rect class="{style}" {size}', f' data-id="{safe(id)}"/>' if id else "/>")


def text(words: str, size: float, ground: str, x: float, y: float, style: str = "") -> Part:
    """Return words in the ink of a ground, with their baseline at `y`. `style`: b for bold, m for centred, e for ending at `x`."""
    return Part(x, y, f'<text font-size="{number(size)}" class="i-{ground}{" " if style else ""}{style}"', f">{safe(words)}</text>")


def glyph(name: str, style: str, x: float = 0, y: float = 0, id: str = "") -> Part:
    """Return a glyph. `style`: its classes. `id`: the thing that it shows, if readers can point at it."""
    return Part(x, y, f'<use href="#g-{name}" class="{style}"', f' data-id="{safe(id)}"/>' if id else "/>")


def badge(seat: str, x: float = 0, y: float = 0) -> Part:
    """Return the badge of a seat."""
    return Part(x, y, f'<use href="#b-{seat}"')


def flow(items: Sequence[Item], width: float, height: float, *, centred: bool = True, gap: float = GAP, most: float = 1) -> Placed:
    """Lay items in rows, at the largest scale up to `most` at which they fit in a rectangle."""
    for step in SCALES:
        placed = _laid(items, width / (step * most), step * most, centred, gap)
        if placed.height * placed.scale <= height and not any(item.width * placed.scale > width for item in items):
            break
    return placed


def _laid(items: Sequence[Item], width: float, scale: float, centred: bool, gap: float) -> Placed:
    top = 0.0
    found: list[tuple[Item, float, float]] = []
    for row, wide in _rows(items, width, gap):
        left = (width - wide) / 2 if centred else 0.0
        high = max([item.height for item in row])
        for item in row:
            found.append((item, left, top + high - item.height))
            left += item.width + gap
        top += high + GAP
    return Placed(scale, max(top - GAP, 0), found)


def _rows(items: Sequence[Item], width: float, gap: float) -> Iterator[tuple[list[Item], float]]:
    row: list[Item] = []
    wide = 0.0
    for item in items:
        longer = wide + gap + item.width if row else item.width
        if row and (item.breaks or longer > width):
            yield row, wide
            row, longer = [], item.width
        row.append(item)
        wide = longer
    if row:
        yield row, wide


def least(placed: Placed) -> float:
    """Return the size of the smallest letters of placed items, those of badges among them; infinite if there are none."""
    parts = [part.before for item, _, _ in placed.items for part in item.parts]
    sizes = [float(found[1]) for before in parts if (found := _SIZE(before))]
    return min([*sizes, *[BADGE_LETTER for before in parts if before.startswith('<use href="#b-')], math.inf]) * placed.scale


def drawn(placed: Placed, left: float, top: float) -> str:
    """Return placed items as SVG, with the upper left corner of their rectangle at a point."""
    if not placed.items:
        return ""
    inside = "".join([moved(item, x, y) for item, x, y in placed.items])
    scale = f"scale({placed.scale:g})" if placed.scale != 1 else ""
    return f'<g transform="translate({whole(left)} {whole(top)}){scale}">{inside}</g>'


def moved(item: Item, x: float, y: float) -> str:
    """Return an item at a point. An item with several parts is moved as a whole, so that its text is the same at every point."""
    if len(item.parts) == 1:
        return item.parts[0].at(round(x), round(y))
    inside = "".join([part.at(0, 0) for part in item.parts])
    at = f' transform="translate({whole(x)} {whole(y)})"' if round(x) or round(y) else ""
    return f"<g{at}>{inside}</g>"
