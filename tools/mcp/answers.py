"""Answers of tools: texts of at most 5,000 bytes, in pages where there is more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

LIMIT = 5000  # bytes of a whole answer, as it comes over HTTP
ROOM = 4700  # bytes of its text in JSON; the rest is what surrounds it
FOOT = 160  # bytes of the line that says how to get the next page
CUT = " … (cut)"


def size(text: str) -> int:
    """Return how many bytes a text has in JSON: a quotation mark and a line end count twice."""
    return len(json.dumps(text, ensure_ascii=False).encode())


def fits(lines: Sequence[str], room: int = ROOM) -> bool:
    """Return True if lines fit into an answer."""
    return size("\n".join(lines)) <= room


def short(text: str, most: int) -> str:
    """Return a text of at most `most` characters. An ellipsis stands for what is cut off."""
    return text if len(text) <= most else text[: most - 1] + "…"


def bounded(text: str) -> str:
    """Return a text that fits into an answer. What is too much is cut off, and the text says so."""
    if size(text) <= ROOM:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size(text[:middle] + CUT) <= ROOM else (low, middle - 1)
    return text[:low] + CUT


def paged(head: Sequence[str], lines: Sequence[str], page: int = 1) -> str:
    """Return a page of lines below a head that each page has. The last line says how many pages there are, if there are several."""
    pages = list(_pages(lines, ROOM - FOOT - size("\n".join(head))))
    number = min(max(page, 1), len(pages))
    foot = [f"Page {number} of {len(pages)}." + (f" More: page={number + 1}." if number < len(pages) else "")] if len(pages) > 1 else []
    return "\n".join([*head, *pages[number - 1], *foot])


def _pages(lines: Sequence[str], room: int) -> Iterator[list[str]]:
    """Yield the lines by pages, at least one. A line that is longer than a page is broken."""
    page: list[str] = []
    used = 0
    for line in (part for whole in lines for part in _broken(whole, room)):
        if page and used + size(line) > room:
            yield page
            page, used = [], 0
        page.append(line)
        used += size(line)
    yield page


def _broken(line: str, room: int) -> Iterator[str]:
    """Yield a line in parts that fit into a page."""
    while size(line) > room:
        most = room // 2
        while size(line[:most]) > room:
            most //= 2
        yield line[:most]
        line = line[most:]
    yield line


def newest(lines: Sequence[str], room: int) -> list[str]:
    """Return the last lines that fit into `room` bytes."""
    kept: list[str] = []
    for line in reversed(lines):
        if not fits([line, *kept], room):
            break
        kept.insert(0, line)
    return kept


def oldest(lines: Sequence[str], room: int) -> list[str]:
    """Return the first lines that fit into `room` bytes."""
    kept: list[str] = []
    for line in lines:
        if not fits([*kept, line], room):
            break
        kept.append(line)
    return kept
