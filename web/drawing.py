"""A drawing: sheets of named SVG fragments, and the boxes of what lies on them."""

from __future__ import annotations

from typing import NamedTuple

from games.scene import News
from web.text import safe


class Box(NamedTuple):
    """A rectangle that something takes up on a sheet. Boxes with the same parent must not overlap, and lie inside their parent's box."""

    id: str
    parent: str
    left: float
    top: float
    width: float
    height: float


class Sheet(NamedTuple):
    """A part of a picture with its own units. `fragments`: SVG by name, in the order of drawing; names are unique in the whole drawing.

    `seat`: whose panel it is, if it is that of a seat.
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
    """The picture of one view: the heading, the board and the panels. `news`: what the last entry did."""

    title: str
    news: News
    heading: Sheet
    board: Sheet
    panels: list[Sheet]

    def sheets(self) -> list[Sheet]:
        """Return all sheets, in the order of reading."""
        return [self.heading, self.board, *self.panels]

    def fragments(self) -> dict[str, str]:
        """Return every fragment by name."""
        found: dict[str, str] = {}
        for sheet in self.sheets():
            found.update(sheet.fragments)
        return found


def group(name: str, content: str, words: str = "") -> str:
    """Return a fragment. With `words` it is an image that screen readers tell by them."""
    told = f' role="img" aria-label="{safe(words)}"' if words else ""
    return f'<g id="{name}"{told}>{content}</g>'
