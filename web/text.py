"""Words and numbers for SVG: the width of words, and line breaks."""

from __future__ import annotations

import functools
from html import escape

from games.drawing import legible

WIDTHS = {
    **dict.fromkeys("ijlI.,:;'|!()[]/ ", 0.4),
    **dict.fromkeys('frt-"*г', 0.5),
    **dict.fromkeys("mwMW@%—жмфыюМФЫ", 1.05),
    **dict.fromkeys("шщЖШЩЮ№", 1.25),
}
USUAL, CAPITAL, WIDE = 0.68, 0.8, 1.3  # widths in sizes, in bold, in the widest common font; WIDE is for other scripts
LATIN, CYRILLIC = 0x2FF, range(0x400, 0x530)  # the last Latin letter and what is like one; the letters of Cyrillic
REGULAR = 0.9  # the width of regular letters, in widths of bold ones


@functools.lru_cache(maxsize=8192)
def width(words: str, size: float) -> float:
    """Return the greatest width of words in bold, in the unit of `size`."""
    return size * sum([WIDTHS.get(letter) or _usual(letter) for letter in words])


def _usual(letter: str) -> float:
    return WIDE if letter != "…" and not _breaks(letter) else CAPITAL if letter.isupper() else USUAL


def _breaks(letter: str) -> bool:
    """Return True for letters of scripts that break words with hyphens."""
    return ord(letter) <= LATIN or ord(letter) in CYRILLIC


@functools.lru_cache(maxsize=8192)
def wrapped(words: str, size: float, room: float) -> tuple[str, ...]:
    """Return words as lines of at most the width `room`."""
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
    """Return a word in a list, or its parts if it is wider than a line: with hyphens if its script has them."""
    parts = []
    while width(word, size) > room and len(word) > 1:
        hyphen = "-" if word[:2].isalpha() and all(map(_breaks, word)) else ""
        end = next((end for end in range(len(word) - 1, 1, -1) if width(word[:end] + hyphen, size) <= room), 1)
        parts.append(word[:end] + hyphen)
        word = word[end:]
    return [*parts, word]


@functools.lru_cache(maxsize=16384)
def number(value: float) -> str:
    """Return a number with at most one decimal."""
    return f"{round(value, 1):g}"


def whole(value: float) -> str:
    """Return a number without decimals, for positions. Nobody sees half a unit."""
    return str(round(value))


@functools.lru_cache(maxsize=8192)
def safe(words: str) -> str:
    """Return words as XML text, without characters that XML forbids or that could mislead a reader."""
    return escape(legible(words))
