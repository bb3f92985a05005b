"""Entries in words, for people: who did what, and what followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

LONG = 90


def move(entry: Mapping[str, Any]) -> str:
    """An entry in one line: its version, its actor, what was done."""
    return f"{entry['version']:>5}  {entry['actor']:<10.10}  {phrase(entry['action'])}"


def facts(entry: Mapping[str, Any]) -> Iterator[str]:
    """A line for each fact that followed."""
    for event in entry["events"]:
        yield phrase(event)


def phrase(fact: Mapping[str, Any]) -> str:
    """An action or an event in words: its type, then its fields, cut where they grow long."""
    told = {name: what for name, what in fact.items() if name != "type" and what not in (None, {}, [])}
    fields = ", ".join(f"{name.replace('_', ' ')} {value(what)}" for name, what in told.items())
    text = str(fact["type"]).replace("_", " ") + (f": {fields}" if fields else "")
    return text if len(text) <= LONG else text[: LONG - 1] + "…"


def value(what: Any) -> str:
    """A value in words."""
    if isinstance(what, Mapping):
        return " ".join(f"{name} {value(inner)}" for name, inner in what.items())
    if isinstance(what, list):
        return " ".join(value(inner) for inner in what)
    return str(what)
