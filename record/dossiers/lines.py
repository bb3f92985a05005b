r"""The lines of a dossier: which members each kind has, and which lines follow from the entries.

>>> written = line("read", note="a signed note", count=2)
>>> written
b'{"count":2,"line":"read","note":"a signed note"}\n'
>>> import json
>>> kind_of(json.loads(written))
'read'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from games.patterns import SIGNING_KEY, matches
from record.entries import canonical

FORMAT = 1
WHOLE = "all"
"""The viewer of a whole dossier. The dossiers of all other viewers are redacted."""

LONGEST = 1 << 24
"""The longest line that a verifier accepts, in bytes."""

_ENTRY, _LINE = b'{"entry":', b',"line":"entry"}'

Test = Callable[[Any], bool]


def entry_line(raw: bytes) -> bytes:
    r"""Return the line of an entry, given its bytes in the log.

    >>> entry_line(b'{"version":1}')
    b'{"entry":{"version":1},"line":"entry"}\n'
    """
    return b"%b%b%b\n" % (_ENTRY, raw, _LINE)


def entry_in(line: bytes) -> bytes | None:
    """Return the bytes of the entry in a line without its line feed, or None if the line does not have the form of `entry_line`.

    >>> entry_in(b'{"entry":{"version":1},"line":"entry"}')
    b'{"version":1}'
    >>> entry_in(b'{"line":"entry","entry":{"version":1}}') is None
    True
    """
    if line.startswith(_ENTRY) and line.endswith(_LINE):
        return line[len(_ENTRY) : -len(_LINE)]
    return None


def line(kind: str, **members: Any) -> bytes:
    r"""Return a line of a dossier in canonical JSON.

    >>> line("receipt", note="a signed note")
    b'{"line":"receipt","note":"a signed note"}\n'
    """
    return canonical({"line": kind, **members}) + b"\n"


def holders(events: Iterable[Mapping[str, Any]], version: int, at: int) -> list[dict[str, Any]]:
    """Return the members of the lines `seat` that follow an entry: one line for each seat that its events give to somebody.

    >>> taken = {"type": "seat_taken", "seat": "blue", "player": "paaaaaaaaaaaaaaaa", "contribution": "7"}
    >>> [(each["seat"], each["taken"], each["contribution"]) for each in holders([taken], version=2, at=0)]
    [('blue', 2, '7')]
    """
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
    """Update the members of the lines `dispute` after an entry. `action`: the type of its action.

    >>> disputes = []
    >>> follow_disputes(disputes, [{"type": "dispute_opened", "dispute": 1, "seat": "red", "version": 7}], 9, "dispute")
    >>> follow_disputes(disputes, [{"type": "dispute_ruled", "dispute": 1, "verdict": "upheld"}], 12, "rule")
    >>> disputes[0]["verdict"], [step["version"] for step in disputes[0]["steps"]]
    ('upheld', [9, 12])
    """
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


def _is_key(value: Any) -> bool:
    return isinstance(value, str) and matches(SIGNING_KEY, value)


def _is_leaves(value: Any) -> bool:
    return isinstance(value, list) and all(_fits(leaf, {"leaf": _is_object, "index": _is_number, "proof": _is_text}) for leaf in value)


def _are_seen(value: Any) -> bool:
    seen = {"version": _is_number, "at": _is_number, "reader": _is_text, "what": _is_text}
    return isinstance(value, list) and all(_fits(each, seen) for each in value)


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
    "refusals_dropped": [{"seat": _is_text, "count": _is_number, "hash": _is_hash}],
    "read": [{"note": _is_text, "count": _is_number}],
    "reads": [{"count": _is_number, "hash": _is_hash, "newest": _are_seen}],
    "receipt": [{"note": _is_text}],
    "leaf": [
        {"leaf": _is_object, "index": _is_number, "proof": _is_text},
        {"leaf": _is_object, "index": _is_number, "proof": _is_text, "opened": _or_null(_is_object)},
    ],
    "signing_key": [{"key": _is_key, "player": _is_text, "leaves": _is_leaves}],
    "end": [{"lines": _is_number, "note": _is_text}],
}
"""By kind of line: the sets of other members that it can have, each member with a test of its value."""


def kind_of(value: Any) -> str | None:
    """Return the kind of a line that was read from JSON, or None if no kind has these members.

    >>> kind_of({"line": "read", "note": "a signed note", "count": 3})
    'read'
    >>> kind_of({"line": "read", "note": "a signed note", "count": -3}) is None
    True
    """
    if not isinstance(value, dict) or not isinstance(value.get("line"), str):
        return None
    kind: str = value["line"]
    members = {name: member for name, member in value.items() if name != "line"}
    return kind if any(_fits(members, tests) for tests in MEMBERS.get(kind, ())) else None


def _fits(value: Any, tests: Mapping[str, Test]) -> bool:
    return isinstance(value, dict) and value.keys() == tests.keys() and all(test(value[name]) for name, test in tests.items())
