"""Entries in words. The words come from the types and the field names alone, so this module knows no game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

from games.drawing import legible

LONG = 100  # characters of a line
BIG = 48  # characters of a value; for a longer one, only the size is shown
LINKS = {"from": "from", "to": "to", "by": "by", "region": "in", "tile": "on", "target": "against", "place": "at", "location": "in"}


def move(entry: Mapping[str, Any]) -> str:
    """Return an entry in one line: its version, its actor, its action."""
    return f"{entry['version']:>5}  {entry['actor']:<10.10}  {cut(phrase(entry['action']))}"


def facts(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield the events of an entry, each in one or more lines. The seat of an event is named if it is not the actor."""
    for event in entry["events"]:
        seat = event.get("seat")
        whose = f"{plain(seat)}: " if seat is not None and seat != entry["actor"] else ""
        text = whose + phrase({name: what for name, what in event.items() if name != "seat"})
        yield from wrap(text, LONG, subsequent_indent="    ")


def phrase(fact: Mapping[str, Any]) -> str:
    """Return an action or an event in words: `unit moved: tripod 1 from cumbria to yorkshire`.

    Fields that are null, false or empty are left out. So is the name of a field if the type contains it.
    """
    kind = plain(fact["type"])
    text, named = kind, False
    for name, what in fact.items():
        if name == "type" or what is None or what is False or what in ({}, []):
            continue
        if name in LINKS and not big(what):
            text += f" {LINKS[name]} {value(what)}"
        else:
            text += (", " if named else ": ") + field(kind, name, what)
            named = True
    return text


def field(kind: str, name: str, what: Any) -> str:
    """Return a field in words: its name and value, only the value if the type contains the name, or only the name if the value is true."""
    word = plain(name)
    if what is True:
        return word
    if big(what):
        return f"{len(what)} {word}" if word.endswith("s") else f"{word} of {len(what)}"
    if isinstance(what, Mapping) and len(what) > 1:
        return f"{word} ({value(what)})"
    return value(what) if named_in(word, kind) else f"{word} {value(what)}"


def named_in(word: str, kind: str) -> bool:
    """Return True if a type contains the name of a field, in the singular or the plural."""
    return word.rstrip("s") in [part.rstrip("s") for part in kind.split()]


def big(what: Any) -> bool:
    """Return True if a value is too long to be written in full."""
    return isinstance(what, (Mapping, list)) and len(value(what)) > BIG and (isinstance(what, Mapping) or len(set(map(str, what))) > 5)


def value(what: Any) -> str:
    """Return a value in words. Equal items of a list are written once, with their count."""
    if isinstance(what, Mapping):
        return ", ".join(f"{plain(name)} {value(inner)}" for name, inner in what.items() if inner is not None)
    if isinstance(what, list):
        items = [value(inner) for inner in what]
        return ", ".join(item if number == 1 else f"{item} x{number}" for item, number in Counter(items).items())
    return plain(what)


def plain(what: Any) -> str:
    """Return an id or a number as people say it. Control characters are replaced, because players write some texts."""
    if isinstance(what, bool):
        return "yes" if what else "no"
    return legible(str(what)).replace("_", " ")


def cut(text: str) -> str:
    """Return a text, cut to one line."""
    return text if len(text) <= LONG else text[: LONG - 1] + "…"
