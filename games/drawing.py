"""What boards are drawn with: a sheet of boxes and words, and paragraphs that keep to a width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

WIDTH = 120
LINES = 60

_UP, _RIGHT, _DOWN, _LEFT = 1, 2, 4, 8
_STROKES = " ╵╶└╷│┌├╴┘─┴┐┤┬┼"  # by the sum of the directions in which a stroke leaves a place


class Sheet:
    """Boxes and words by line and column; boxes that share an edge share its stroke, and words lie over strokes."""

    def __init__(self) -> None:
        self._strokes: dict[tuple[int, int], int] = {}
        self._words: dict[tuple[int, int], str] = {}

    def box(self, top: int, left: int, bottom: int, right: int) -> None:
        """A box with its strokes on these lines and columns."""
        for column in range(left, right):
            for line in (top, bottom):
                self._stroke(line, column, _RIGHT)
                self._stroke(line, column + 1, _LEFT)
        for line in range(top, bottom):
            for column in (left, right):
                self._stroke(line, column, _DOWN)
                self._stroke(line + 1, column, _UP)

    def write(self, line: int, column: int, text: str) -> None:
        """Words, from a place on to the right."""
        for place, letter in enumerate(text):
            self._words[line, column + place] = letter

    def lines(self) -> list[str]:
        """The sheet from its first line to its last."""
        drawn = {place: _STROKES[stroke] for place, stroke in self._strokes.items()} | self._words
        rows: dict[int, dict[int, str]] = {}
        for (line, column), letter in drawn.items():
            rows.setdefault(line, {})[column] = letter
        found = []
        for line in range(max(rows, default=-1) + 1):
            row = rows.get(line, {})
            found.append("".join([row.get(column, " ") for column in range(max(row, default=-1) + 1)]).rstrip())
        return found

    def _stroke(self, line: int, column: int, direction: int) -> None:
        self._strokes[line, column] = self._strokes.get((line, column), 0) | direction


def paragraph(label: str, parts: Iterable[str], gap: str = ", ", width: int = WIDTH) -> list[str]:
    """A label and parts after it, broken between parts; later lines begin where the first part did. No part is broken."""
    lines, line, indent = [], label, " " * len(label)
    empty = True
    for part in parts:
        if not empty and len(line) + len(gap) + len(part) + len(gap.rstrip()) > width:
            lines.append((line + gap).rstrip())
            line, empty = indent, True
        line += part if empty else gap + part
        empty = False
    return [*lines, line.rstrip()]


def apart(left: str, right: str, width: int = WIDTH) -> str:
    """Words at both ends of a line."""
    return left + " " * max(2, width - len(left) - len(right)) + right


def counted(number: int, thing: str, many: str = "") -> str:
    """A number of things: `1 card`, `2 cards`."""
    return f"{number} {thing}" if number == 1 else f"{number} {many or thing + 's'}"


def listed(names: Sequence[str]) -> str:
    """Names as one reads them: `red, blue and green`."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def tallied(names: Iterable[str]) -> list[str]:
    """Names with how often each stands there, in the order of their first coming: `Reap x3`."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return [name if number == 1 else f"{name} x{number}" for name, number in counts.items()]


def legible(text: str) -> str:
    """Somebody's words without what a terminal would take for more than words."""
    return "".join([letter if letter.isprintable() else " " for letter in text])


def heading(title: str, view: dict[str, object], viewer: str) -> str:
    """The first line of a board: the game, where the match stands, and through whose eyes one looks."""
    to_act = view["to_act"]
    assert isinstance(to_act, list)
    phase = str(view["phase"]).replace("_", " ")
    where = "over" if view["outcome"] is not None else f"{phase}, {listed(to_act)} to act"
    return apart(f"{title}   round {view['round']}: {where}", f"seen by {viewer}")
