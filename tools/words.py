"""Entries in words, for people: who did what, and what followed. Nothing here knows a game; an event's type and fields say it all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

from games.drawing import legible

LONG = 100
BIG = 48
LINKS = {"from": "from", "to": "to", "by": "by", "region": "in", "tile": "on", "target": "against", "place": "at", "location": "in"}


def move(entry: Mapping[str, Any]) -> str:
    """An entry in one line: its version, its actor, what was done."""
    return f"{entry['version']:>5}  {entry['actor']:<10.10}  {cut(phrase(entry['action']))}"


def facts(entry: Mapping[str, Any]) -> Iterator[str]:
    """The facts that followed, each in a line or more; a seat is named where it is not the actor."""
    for event in entry["events"]:
        seat = event.get("seat")
        whose = f"{plain(seat)}: " if seat is not None and seat != entry["actor"] else ""
        told = whose + phrase({name: what for name, what in event.items() if name != "seat"})
        yield from wrap(told, LONG, subsequent_indent="    ")


def phrase(fact: Mapping[str, Any]) -> str:
    """An action or an event in words: `unit moved: tripod 1 from cumbria to yorkshire`. What is empty or not so is left out, and so
    is the name of a field that the type has named already."""
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
    """A field in words: its value alone where the type has named it, its name alone where it is so, its size where it is big."""
    word = plain(name)
    if what is True:
        return word
    if big(what):
        return f"{len(what)} {word}" if word.endswith("s") else f"{word} of {len(what)}"
    if isinstance(what, Mapping) and len(what) > 1:
        return f"{word} ({value(what)})"
    return value(what) if named_in(word, kind) else f"{word} {value(what)}"


def named_in(word: str, kind: str) -> bool:
    """Whether a type names a field, in the singular or the plural."""
    return word.rstrip("s") in [part.rstrip("s") for part in kind.split()]


def big(what: Any) -> bool:
    """Whether a value holds too much to be told in full."""
    return isinstance(what, (Mapping, list)) and len(value(what)) > BIG and (isinstance(what, Mapping) or len(set(map(str, what))) > 5)


def value(what: Any) -> str:
    """A value in words; what stands several times in a list is told once, with how often."""
    if isinstance(what, Mapping):
        return ", ".join(f"{plain(name)} {value(inner)}" for name, inner in what.items() if inner is not None)
    if isinstance(what, list):
        told = [value(inner) for inner in what]
        return ", ".join(each if told.count(each) == 1 else f"{each} x{told.count(each)}" for each in dict.fromkeys(told))
    return plain(what)


def plain(what: Any) -> str:
    """An id or a number as one would say it; of what somebody has written, only what can do nothing to a terminal."""
    if isinstance(what, bool):
        return "yes" if what else "no"
    return legible(str(what)).replace("_", " ")


def cut(text: str) -> str:
    """A text that keeps to a line."""
    return text if len(text) <= LONG else text[: LONG - 1] + "…"
