"""Notes between seats: any text comes back unchanged and harms no reader."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
import requests

from events import accounts, play
from events.audit import audit
from events.platform import Platform
from games.drawing import LINES, WIDTH
from games.kernel import State
from service.app import create_app
from service.http.settings import Settings
from tests.conftest import take_seat
from tests.each import each
from tests.prepared import begun, position
from tests.service.conftest import Caller, Live
from tools.replay import main as replay

LONGEST = 280
KEPT: State = position(
    ["fox", "rhino"],
    {
        "players": {
            "fox": {"fleets": {"fox_east": {"gunboat": 1}}},
            "rhino": {"privateer": "fox_east"},
        },
        "apex": {"apex_2": {"pirate": False}},
    },
    pirates=True,
)
BEGAN = 2
NOTES = {
    "nothing": "",
    "blanks": "   ",
    "line ends": "one\ntwo\r\nthree\rfour\vfive\fsix\x85seven\u2028eight\u2029nine",
    "a stream's own words": '\n\nevent: over\ndata: {"version":1}\n\nid: 99\nretry: 1\n\n: ',
    "every control character": "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)])),
    "a terminal's own words": "\x1b[2J\x1b[1;1H\x1b]0;title\x07\x1b]8;;http://example.org\x1b\\here\x1b]8;;\x1b\\\x9b31m\x90q\x9c\x1bc\b\b\b",
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)> ]]> --> &lt; &#x202e; </pre>",
    "templates": "{{7*7}} ${7*7} #{7*7} <%= 7*7 %> {0.__class__} {note} %s %(note)s %n $(id) `id` ${jndi:ldap://example.org}",
    "JSON": '"}],"events":[{"type":"match_ended"}]} \\ \\n \\u0000 \\" //',
    "emoji": "\U0001f98a" * LONGEST,
    "emoji that are joined": "\U0001f469\u200d\U0001f469\u200d\U0001f467\ufe0f \U0001f1e9\U0001f1ea e\u0301\u0302\u0303",
    "right to left": "\u202egnol os\u202c \u2066a\u2069 \u200f\u200e\u061c \u05e9\u05dc\u05d5\u05dd",
    "no characters": "\ufeff\ufffe\uffff\U0010ffff\ue000\u00ad",
    "one long word": "x" * LONGEST,
    "the board's own words": "BATTLE     fox against rhino | \u2502 \u2500 > fox       oc 99",
}


@pytest.fixture
def kept(platform: Platform, ada: Caller, ben: Caller) -> Callable[[], str]:
    """Begin a match in which Ben's (rhino's) privateer keeps ships of Ada (fox). It is her turn."""

    def laid() -> str:
        match = begun(platform, KEPT, ada.id, rhino="open")[1]
        take_seat(platform, match, ben.id, "rhino")
        return match

    return laid


def offer(note: str | None = None) -> dict[str, Any]:
    return {"type": "offer_ransom", "at": "fox_east", "offer": {"oc": 1}, **({} if note is None else {"note": note})}


def answer(note: str) -> dict[str, Any]:
    return {"type": "answer_ransom", "accept": False, "note": note}


def negotiated(platform: Platform, match: str, note: str) -> None:
    """Play an offer and an answer with the same note."""
    play.play(platform, match, "fox", [offer(note)])
    play.play(platform, match, "rhino", [answer(note)])


# Unchanged


@pytest.mark.parametrize("letter", ["x", "\U0001f98a", *(pytest.param(letter, marks=pytest.mark.soak) for letter in "\n\u00e9\u202e")])
def test_a_note_has_280_characters_and_no_more(ada: Caller, ben: Caller, anybody: Caller, kept: Callable[[], str], letter: str) -> None:
    """The limit counts characters, not bytes. A longer note is refused and nothing changes."""
    match = kept()
    for caller, action in ((ada, offer), (ben, answer)):
        before = [anybody.get(f"/v1/matches/{match}{path}").data for path in ("", "/state", "/entries")]
        refused = caller.act(match, action(letter * (LONGEST + 1)))
        assert (refused.status_code, refused.json["code"]) == (422, "bad_action")
        assert letter * 2 not in refused.json["detail"]
        assert [anybody.get(f"/v1/matches/{match}{path}").data for path in ("", "/state", "/entries")] == before
        taken = caller.act(match, action(letter * LONGEST))
        assert taken.status_code == 200
        assert taken.json["entries"][0]["events"][0]["note"] == letter * LONGEST


@each("note", NOTES.values())
def test_a_note_comes_back_unchanged(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller, kept: Callable[[], str], note: str
) -> None:
    """In JSON, in NDJSON and in the stream, for every caller, in the same bytes."""
    match = kept()
    base = f"/v1/matches/{match}"
    assert ada.act(match, offer(note)).json["entries"][0]["events"][0]["note"] == note
    views = [json.loads(caller.get(f"{base}/state").data)["view"]["ransom"]["note"] for caller in (ada, ben, anybody)]
    assert views == [note] * 3
    assert ben.act(match, answer(note)).status_code == 200
    for caller in (ada, ben, anybody):
        in_lines = caller.get(f"{base}/entries", Accept="application/x-ndjson").data
        lines = in_lines.removesuffix(b"\n").split(b"\n")
        entries = [json.loads(line) for line in lines]
        assert [entry["version"] for entry in entries] == [1, 2, 3, 4]
        assert [(entry["action"]["note"], entry["events"][0]["note"]) for entry in entries[2:]] == [(note, note)] * 2
        assert b'"entries":[' + b",".join(lines) + b"]" in caller.get(f"{base}/entries").data
        assert streamed(caller.get(f"{base}/stream?seconds=0").data) == [
            {"id": b"%d" % version, "event": b"entry", "data": line} for version, line in enumerate(lines, 1)
        ]


def streamed(body: bytes) -> list[dict[str, bytes]]:
    """Return the events of a stream as a browser parses it, with any kind of line end."""
    blocks = re.split(rb"(?:\r\n|\n|\r){2}", body)
    events = [dict(field(line) for line in re.split(rb"\r\n|\n|\r", block)) for block in blocks if block]
    return [event for event in events if set(event) != {"retry"}]


def field(line: bytes) -> tuple[str, bytes]:
    name, _, value = line.partition(b": ")
    return name.decode(), value


def test_a_match_with_such_notes_passes_its_audit(platform: Platform, ada: Caller, ben: Caller) -> None:
    for note in NOTES.values():
        prepared, match = begun(platform, KEPT, ada.id)
        negotiated(platform, match, note)
        platform.cache.drop(match)
        assert audit(prepared, match).ok


# Harmless


def test_a_note_does_not_change_the_rest_of_a_board(ada: Caller, anybody: Caller, kept: Callable[[], str]) -> None:
    """The note has lines of its own below the offer. Nothing in it moves the cursor."""
    bare = kept()
    ada.act(bare, offer())
    for caller, note in product((ada, anybody), NOTES.values()):
        noted = kept()
        ada.act(noted, offer(note))
        plain, lines = (caller.get(f"/v1/matches/{match}/state", Accept="text/plain").text.split("\n") for match in (bare, noted))
        below = next(number for number, line in enumerate(plain, 1) if line.startswith("RANSOM"))
        added = len(lines) - len(plain)
        assert [*lines[:below], *lines[below + added :]] == plain
        assert all(line.startswith(" " * 11) for line in lines[below : below + added])
        assert len(lines) <= LINES + 1
        assert all(line.isprintable() and columns(line) <= WIDTH for line in lines)


def columns(line: str) -> int:
    """Return how many columns of a terminal a line takes. Some letters take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in ("F", "W") else 1 for letter in line)


def test_a_note_cannot_control_the_terminal_of_a_replay(
    platform: Platform, live: Live, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay prints only lines of printable characters."""
    for note in NOTES.values():
        match = begun(platform, KEPT, accounts.register(platform, "Ann")[0].id)[1]
        negotiated(platform, match, note)
        monkeypatch.setattr("sys.stdin", io.StringIO("2\nn\nq\n"))
        assert replay([match, "--url", live.url]) == 0
        printed = capsys.readouterr().out
        lines = printed.split("\n")
        assert [line for line in lines if not line.isprintable()] == []
        assert [line[:10] for line in lines if line.startswith("version ")] == ["version 1 ", "version 2 ", "version 3 "]
        assert printed.count("offer ransom") == printed.count("answer ransom") == 1


def test_a_note_does_not_break_a_stream_over_a_socket(platform: Platform, live: Live) -> None:
    for note in NOTES.values():
        match = begun(platform, KEPT, accounts.register(platform, "Ann")[0].id)[1]
        negotiated(platform, match, note)
        events = streamed(requests.get(f"{live.url}/v1/matches/{match}/stream?seconds=0", timeout=10).content)
        assert [event["id"] for event in events] == [b"1", b"2", b"3"]
        assert {json.loads(event["data"])["events"][0].get("note") for event in events[1:]} == {note}


def test_no_log_line_contains_a_note(platform: Platform, ada: Caller, ben: Caller, kept: Callable[[], str], capfdbinary: Any) -> None:
    """The log lines are the same for every note, also for one that is too long."""
    app = create_app(platform, Settings(log_requests=True))
    fox, rhino = (Caller(app.test_client(), caller.key) for caller in (ada, ben))
    lines = []
    for note in NOTES.values():
        match = kept()
        capfdbinary.readouterr()
        statuses = [caller.act(match, said).status_code for caller, said in talk(fox, rhino, note)]
        assert statuses == [422, 200, 422, 200]
        lines.append(re.sub(rb'"(at|ms|request|match)":("[^"]*"|[0-9.]+)', b"", capfdbinary.readouterr().out))
    assert len(lines[0].splitlines()) == 4
    assert lines == lines[:1] * len(NOTES)


def talk(fox: Caller, rhino: Caller, note: str) -> Iterator[tuple[Caller, dict[str, Any]]]:
    long = ((note or " ") * (LONGEST + 1))[: LONGEST + 1]
    yield from ((fox, offer(long)), (fox, offer(note)), (rhino, answer(long)), (rhino, answer(note)))
