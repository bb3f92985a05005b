"""Parts of boards drawn as text: a sheet of boxes and words, and paragraphs of a fixed width."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from games.kernel import AUDITOR, SPECTATOR, SYSTEM
from games.lifecycle import DRAW, VOID
from games.sentences import Tell, listed, named, say

WIDTH = 120  # columns of a board, at most
LINES = 60  # lines of a board, at most

_UP, _RIGHT, _DOWN, _LEFT = 1, 2, 4, 8
_STROKES = " ╵╶└╷│┌├╴┘─┴┐┤┬┼"  # the index is the sum of the directions of the strokes from a place


_Box = tuple[int, int, int, int]  # top, left, bottom, right


class Sheet:
    """Boxes and words by line and column. Boxes with a common edge share its stroke. Words cover strokes."""

    def __init__(self) -> None:
        self._boxes: list[_Box] = []
        self._words: list[tuple[int, int, str]] = []

    def box(self, top: int, left: int, bottom: int, right: int) -> None:
        """Draw a box with its strokes on these lines and columns."""
        self._boxes.append((top, left, bottom, right))

    def write(self, line: int, column: int, text: str) -> None:
        """Write words to the right, from a line and a column."""
        if text:
            self._words.append((line, column, text))

    def lines(self) -> list[str]:
        """Return the lines of the sheet, from the first to the last."""
        rows = list(_strokes(tuple(self._boxes)))
        for line, column, text in self._words:
            rows += [""] * (line + 1 - len(rows))
            row = rows[line].ljust(column)
            rows[line] = row[:column] + text + row[column + len(text) :]
        return [row.rstrip() for row in rows]


@lru_cache(maxsize=100)
def _strokes(boxes: tuple[_Box, ...]) -> list[str]:
    """Return the lines of boxes without words. The boxes of a map hardly change, and drawing them takes the most time of a board."""
    strokes: dict[tuple[int, int], int] = {}
    for top, left, bottom, right in boxes:
        edges = [(line, column, _RIGHT, line, column + 1, _LEFT) for line in (top, bottom) for column in range(left, right)]
        edges += [(line, column, _DOWN, line + 1, column, _UP) for column in (left, right) for line in range(top, bottom)]
        for line, column, there, next_line, next_column, back in edges:
            strokes[line, column] = strokes.get((line, column), 0) | there
            strokes[next_line, next_column] = strokes.get((next_line, next_column), 0) | back
    lines = range(max([line for line, _ in strokes], default=-1) + 1)
    columns = range(max([column for _, column in strokes], default=-1) + 1)
    return ["".join([_STROKES[strokes.get((line, column), 0)] for column in columns]) for line in lines]


def paragraph(label: str, parts: Iterable[str], gap: str = ", ", width: int = WIDTH) -> list[str]:
    """Return a label and the parts after it, wrapped between parts. Later lines are indented to the first part."""
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
    """Return a line with words at both ends."""
    return left + " " * max(2, width - len(left) - len(right)) + right


def verdict(outcome: Mapping[str, Any], tell: Tell = str) -> str:
    """Return how a match ended as a sentence, with the scores if there are any, such as `Red won (last seat): red 12, blue 0`."""
    reason = outcome["reason"]
    if reason == VOID:
        return tell(say("The match does not count."))
    winners = listed([named(seat) for seat in outcome["winners"]])
    if reason == DRAW:
        return _capital(tell(say("{winners} agreed on a draw.", winners=winners)))
    scores = [say("{seat} {score}", seat=named(seat), score=score) for seat, score in outcome["scores"].items()]
    why = named(f"end_{reason}", reason.replace("_", " "))
    return _capital(tell(say("{winners} won ({reason}): {scores}.", winners=winners, reason=why, scores=scores)))


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def ended(view: Mapping[str, Any], tell: Tell = str) -> list[str]:
    """Return the line that says how a match ended, or none while it goes on."""
    return [] if view["outcome"] is None else [verdict(view["outcome"], tell)]


def letter(name: str) -> str:
    """Return the letter that stands for a name in a small drawing."""
    return name[0].upper()


def tallied(names: Iterable[str]) -> list[str]:
    """Return each name once with its number, in the order of first occurrence: `Reap x3`."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return [name if number == 1 else say("{name} x{number}", name=name, number=number) for name, number in counts.items()]


def legible(text: str) -> str:
    """Return a text with a space for every character that is not printable, such as the escape of a terminal."""
    return "".join([letter if letter.isprintable() else " " for letter in text])


def heading(title: str, view: Mapping[str, object], viewer: str, tell: Tell = str) -> str:
    """Return the first line of a board: the game, the round, the phase, who must act, and the viewer."""
    to_act = view["to_act"]
    assert isinstance(to_act, list)
    progress: str = named("over")
    if view["outcome"] is None:
        seats = [say("system") if seat == SYSTEM else named(seat) for seat in to_act]
        progress = say("{phase}, {seats} to act", phase=named(str(view["phase"])), seats=listed(seats))
    seen = {SPECTATOR: say("seen by spectator"), AUDITOR: say("seen by auditor")}.get(viewer) or say("seen by {seat}", seat=named(viewer))
    return apart(tell(say("{title}   round {round}: {progress}", title=title, round=view["round"], progress=progress)), tell(seen))
