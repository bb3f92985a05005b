"""A drawing: sheets of named SVG fragments, and the boxes of the things on them."""

from __future__ import annotations

from typing import NamedTuple

from games.scene import News
from web.text import safe


class Box(NamedTuple):
    """The bounding box of a thing on a sheet. Boxes with the same parent must not overlap, and must lie inside the box of the parent."""

    id: str
    parent: str
    left: float
    top: float
    width: float
    height: float


class Sheet(NamedTuple):
    """A part of a picture with its own units.

    `fragments`: SVG by name, in the order of drawing. The names are unique in the whole drawing. `seat`: the seat, if this is its panel.
    """

    id: str
    left: float
    top: float
    width: float
    height: float
    fragments: dict[str, str]
    boxes: list[Box]
    seat: str | None = None


class Drawing(NamedTuple):
    """The picture of one view: the heading, the board, the panels, and the fight if there is one. `news`: what the last entry did."""

    title: str
    news: News
    heading: Sheet
    board: Sheet
    panels: list[Sheet]
    fight: Sheet | None = None

    def sheets(self) -> list[Sheet]:
        """Return all sheets, in the order of reading."""
        return [self.heading, *([self.fight] if self.fight is not None else []), self.board, *self.panels]

    def fragments(self) -> dict[str, str]:
        """Return every fragment by name."""
        found: dict[str, str] = {}
        for sheet in self.sheets():
            found.update(sheet.fragments)
        return found


def group(name: str, content: str, words: str = "") -> str:
    """Return a fragment. `words`: its description for screen readers."""
    described = f' role="img" aria-label="{safe(words)}"' if words else ""
    return f'<g id="{name}"{described}>{content}</g>'
