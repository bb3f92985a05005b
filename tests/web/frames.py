"""A reader of frames, written from docs/api.md: it keeps a picture and applies each frame to it."""

from __future__ import annotations

import re
from typing import Any


def edited(before: str, edits: list[Any]) -> str:
    """Return a text with edits: so many words stay, so many go, a text comes, and so on. A word ends before `<`, `"` or a blank."""
    words, parts = re.findall(r'(?s).[^<" ]*', before), []
    for stay, go, text in zip(edits[::3], edits[1::3], edits[2::3], strict=True):
        parts += [*words[:stay], text]
        words = words[stay + go :]
    return "".join([*parts, *words])


class Reader:
    """A picture that follows frames."""

    def __init__(self) -> None:
        self.version = 0
        self.title = ""
        self.now: dict[str, Any] = {}
        self.sheets: dict[str, Any] = {}
        self.fragments: dict[str, str] = {}

    def apply(self, frame: dict[str, Any]) -> None:
        """Show the version of a frame."""
        if frame.get("key"):
            self.now, self.sheets, self.fragments = {}, {}, {}
        else:
            assert frame["version"] == self.version + 1
        self.version = frame["version"]
        self.title = frame.get("title", self.title)
        self.now |= frame.get("now", {})
        self.sheets |= {sheet["id"]: {**self.sheets.get(sheet["id"], {}), **sheet} for sheet in frame.get("sheets", [])}
        self.sheets = {id: self.sheets[id] for id in frame.get("order", self.sheets)}
        for name, change in frame.get("fragments", {}).items():
            if isinstance(change, list):
                change = edited(self.fragments[name], change)
            self.fragments[name] = change
        for name in frame.get("gone", []):
            del self.fragments[name]
