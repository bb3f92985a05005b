"""Words and numbers as SVG wants them: how wide words are, and where lines break."""

from __future__ import annotations

import functools
from html import escape

from games.drawing import legible

WIDTHS = {**dict.fromkeys("ijlI.,:;'|!()[]/ ", 0.4), **dict.fromkeys('frt-"*', 0.5), **dict.fromkeys("mwMW@%—", 1.05)}
USUAL, CAPITAL, WIDE = 0.68, 0.8, 1.3  # of the size, in bold, in the widest of the common fonts; WIDE is for other scripts
REGULAR = 0.9  # of the width in bold


@functools.lru_cache(maxsize=8192)
def width(words: str, size: float) -> float:
    """Return how wide words in bold are at most, in units of `size`."""
    return size * sum([WIDTHS.get(letter) or _usual(letter) for letter in words])


def _usual(letter: str) -> float:
    return WIDE if ord(letter) > 0x2FF and letter != "…" else CAPITAL if letter.isupper() else USUAL


@functools.lru_cache(maxsize=8192)
def wrapped(words: str, size: float, room: float) -> tuple[str, ...]:
    """Return words as lines that are not wider than `room`."""
    lines: list[str] = []
    line = ""
    for word in [part for whole in words.split() for part in _parts(whole, size, room)]:
        longer = f"{line} {word}" if line else word
        if line and width(longer, size) > room:
            lines.append(line)
            line = word
        else:
            line = longer
    return (*lines, line) if line else tuple(lines)


def _parts(word: str, size: float, room: float) -> list[str]:
    """Return a word, in parts that fit if it is wider than a line."""
    if width(word, size) <= room:
        return [word]
    most = max(int(room / size / WIDE), 1)
    return [word[start : start + most] for start in range(0, len(word), most)]


@functools.lru_cache(maxsize=16384)
def number(value: float) -> str:
    """Return a number with at most one decimal."""
    return f"{round(value, 1):g}"


def whole(value: float) -> str:
    """Return a number without decimals, for where something lies: half a unit aside is seen by nobody."""
    return str(round(value))


@functools.lru_cache(maxsize=8192)
def safe(words: str) -> str:
    """Return words as XML text, without characters that XML or a reader cannot take."""
    return escape(legible(words))
