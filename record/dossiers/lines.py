"""The lines of a dossier: the members of each kind, and what follows from the entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from record.entries import canonical

FORMAT = 1
WHOLE = "all"
"""The viewer of a whole dossier. All others are redacted."""

LONGEST = 1 << 24
"""The bytes of the longest line that a verifier takes in."""

_ENTRY, _LINE = b'{"entry":', b',"line":"entry"}'

Test = Callable[[Any], bool]


def entry_line(raw: bytes) -> bytes:
    """Return the line of an entry, given its bytes in the log."""
    return b"%b%b%b\n" % (_ENTRY, raw, _LINE)


def entry_in(line: bytes) -> bytes | None:
    """Return the bytes of the entry in a line without its line feed, or None if it is not the line of one, or not in these bytes."""
    if line.startswith(_ENTRY) and line.endswith(_LINE):
        return line[len(_ENTRY) : -len(_LINE)]
    return None


def line(kind: str, **members: Any) -> bytes:
    """Return a line of a dossier."""
    return canonical({"line": kind, **members}) + b"\n"


def holders(events: Iterable[Mapping[str, Any]], version: int, at: int) -> list[dict[str, Any]]:
    """Return the members of a line `seat` for each seat that somebody has from these events on."""
    found = []
    for event in events:
        kind = event["type"]
        if kind == "match_created":
            for seat, occupant in sorted(event["roster"].items()):
                if "open" not in occupant:
                    found.append(_holder(seat, occupant.get("player"), occupant.get("ai"), None, version, at))
        elif kind == "seat_taken":
            found.append(_holder(event["seat"], event["player"], None, event["contribution"], version, at))
        elif kind == "seat_handed_over":
            found.append(_holder(event["seat"], event["player"], None, None, version, at))
    return found


def _holder(seat: str, player: str | None, ai: str | None, contribution: str | None, version: int, at: int) -> dict[str, Any]:
    return {"seat": seat, "player": player, "ai": ai, "contribution": contribution, "taken": version, "at": at}


def follow_disputes(disputes: list[dict[str, Any]], events: Iterable[Mapping[str, Any]], version: int, action: str) -> None:
    """Bring the members of the lines `dispute` to what they are after an entry, whose action has this type."""
    for event in events:
        number = event.get("dispute")
        if event["type"] == "dispute_opened":
            disputes.append({"number": number, "seat": event["seat"], "version": event["version"], "steps": [], "verdict": None})
        for dispute in disputes if number is not None else ():
            if dispute["number"] == number:
                if not dispute["steps"] or dispute["steps"][-1]["version"] != version:
                    dispute["steps"].append({"version": version, "type": action})
                if event["type"] == "dispute_ruled":
                    dispute["verdict"] = event["verdict"]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and not value.strip("0123456789abcdef")


def _is_steps(value: Any) -> bool:
    return isinstance(value, list) and all(_fits(step, {"version": _is_number, "type": _is_text}) for step in value)


def _or_null(test: Test) -> Test:
    return lambda value: value is None or test(value)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


MEMBERS: Mapping[str, Sequence[Mapping[str, Test]]] = {
    "dossier": [
        {
            "dossier": lambda value: type(value) is int and value == FORMAT,
            "match": _is_text,
            "game": _is_text,
            "viewer": _is_text,
            "versions": _is_number,
            "at": _is_number,
            "name": _is_text,
            "vkeys": _texts,
            "blind": _or_null(_is_hash),
            "secret": _or_null(_is_hash),
        }
    ],
    "rules": [{"game": _is_text, "revision": _is_number, "rules": _is_text}],
    "entry": [{"entry": _is_object}],
    "shown": [{"entry": _is_object}],
    "seat": [
        {
            "seat": _is_text,
            "player": _or_null(_is_text),
            "ai": _or_null(_is_text),
            "contribution": _or_null(_is_text),
            "taken": _is_number,
            "at": _is_number,
        }
    ],
    "dispute": [{"number": _is_number, "seat": _is_text, "version": _is_number, "steps": _is_steps, "verdict": _or_null(_is_text)}],
    "refused": [
        {
            "seat": _is_text,
            "player": _is_text,
            "version": _is_number,
            "at": _is_number,
            "code": _is_text,
            "rule": _or_null(_is_text),
            **what,
        }
        for what in ({"action": _is_object}, {"sha256": _is_hash})
    ],
    "refusals_dropped": [{"count": _is_number}],
    "read": [{"note": _is_text, "count": _is_number}],
    "receipt": [{"note": _is_text}],
    "leaf": [
        {"leaf": _is_object, "index": _is_number, "proof": _is_text},
        {"leaf": _is_object, "index": _is_number, "proof": _is_text, "opened": _or_null(_is_object)},
    ],
    "end": [{"lines": _is_number, "note": _is_text}],
}
"""By kind of line, the other members that it can have together, each with a test of its value."""


def kind_of(value: Any) -> str | None:
    """Return the kind of a line that was read from JSON, or None if no line of a dossier has these members."""
    if not isinstance(value, dict) or not isinstance(value.get("line"), str):
        return None
    kind: str = value["line"]
    members = {name: member for name, member in value.items() if name != "line"}
    return kind if any(_fits(members, tests) for tests in MEMBERS.get(kind, ())) else None


def _fits(value: Any, tests: Mapping[str, Test]) -> bool:
    return isinstance(value, dict) and value.keys() == tests.keys() and all(test(value[name]) for name, test in tests.items())
