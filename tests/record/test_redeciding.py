"""Files are decided again by the zip that a browser gets, where nothing but the standard library is at hand."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from events import play, recall
from events.audit import record_header
from events.platform import Platform
from games import GAMES
from record.dossiers.lines import entry_line, line
from record.entries import START, Entry, blind_key, link, parse
from record.redeciding import NotWhole, decide_again, record_in
from service.pages.pyodide import rules_archive
from tests.events.test_audit import record

SCRIPT = """
import json, sys
sys.path[:] = [{rules!r}, *[path for path in sys.path if path.startswith((sys.base_prefix, sys.base_exec_prefix))]]
from record.redeciding import decide_again
told = []
print(json.dumps([decide_again(open(file, "rb").read(), lambda *far: told.append(far)) for file in sys.argv[1:]]))
print(json.dumps(told))
print(*[name for name in ("orjson", "redis", "structlog", "cachetools", "socket", "nacl", "flask") if name in sys.modules])
"""


@pytest.fixture
def lines(platform: Platform, ann: str) -> list[bytes]:
    """The record of a match of War! that ends by a resignation."""
    match = play.create(platform, ann, "war", {"red": "me", "blue": "me"}, {}).match
    play.play(platform, match, "system", [{"type": "advance"}])
    seat = recall.position(platform, match).to_act[0]
    play.act_at_table(platform, match, seat, {"type": "resign"}, player=ann)
    return [record_header(platform, match), *record(platform, match)]


def forged(lines: list[bytes], version: int, **members: Any) -> list[bytes]:
    """Return a record with other members in an entry, and every digest computed anew."""
    entries: list[Entry] = [parse(line) for line in lines[1:]]
    secret = entries[-1].secret
    assert secret is not None
    entries[version - 1] = entries[version - 1]._replace(**members)
    digest, found = START, [lines[0]]
    for entry in entries:
        again, raw = link(digest, entry, blind_key(bytes.fromhex(secret)))
        digest = again.digest
        found.append(raw)
    return found


def test_the_zip_decides_a_record_again_with_the_standard_library_alone(lines: list[bytes], tmp_path: Path) -> None:
    with zipfile.ZipFile(BytesIO(rules_archive())) as archive:
        archive.extractall(tmp_path / "rules")
    assert rules_archive() == rules_archive()
    last = parse(lines[-1])
    files = {"honest": lines, "forged": forged(lines, last.version, events=[*last.events[:-1], {**last.events[-1], "reason": "conquest"}])}
    for name, content in files.items():
        (tmp_path / name).write_bytes(b"\n".join(content))
    script = SCRIPT.format(rules=str(tmp_path / "rules"))
    command = [sys.executable, "-I", "-S", "-c", script, *files]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    reports, told, modules = ran.stdout.splitlines()
    assert modules == ""
    count = len(lines) - 1
    assert json.loads(told) == [[place, count] for place in range(1, count + 1)] * 2
    honest, other = json.loads(reports)
    assert honest == json.loads(json.dumps(decide_again(b"\n".join(lines))))
    assert (honest["ok"], honest["chain"], honest["replayed_only"]) == (True, "verified", 0)
    assert honest["rules"] == [honest["rules_here"]], "the zip has every file of the content hash"
    assert [(found["version"], found["code"]) for found in other["findings"]] == [(last.version, "events_differ")]


def test_the_zip_has_every_game() -> None:
    with zipfile.ZipFile(BytesIO(rules_archive())) as archive:
        names = archive.namelist()
    assert {f"games/{game.folder.name}/data.json" for game in GAMES.values()} < set(names)
    assert not [name for name in names if "__pycache__" in name or "store" in name]


def test_a_whole_dossier_is_a_record_and_what_is_no_line_of_one_is_found(lines: list[bytes]) -> None:
    entries = [entry_line(raw) for raw in lines[1:]]
    header = {"dossier": 1, "match": parse(lines[1]).match, "game": "war", "versions": len(entries), "at": 0, "name": "x", "vkeys": []}
    blind = json.loads(lines[0])["blind"]
    first = line("dossier", **header, viewer="all", blind=blind, secret=None)
    end = line("end", lines=len(entries) + 1, note="")
    assert list(record_in([first, *entries, end])) == [lines[0], *lines[1:]]
    assert decide_again(b"".join([first, *entries, end])) == decide_again(b"\n".join(lines))
    report = decide_again(b"".join([first, *entries[:-1], b"gone\n", end]))
    assert [(found["version"], found["code"]) for found in report["findings"]] == [(len(entries), "unreadable")]
    with pytest.raises(NotWhole, match="what red sees"):
        decide_again(line("dossier", **header, viewer="red", blind=None, secret=None))


@pytest.mark.parametrize("file", [b"", b"\n", b"{}", b"[1]", b"\xff\x00", b'{"line":"dossier"}'])
def test_what_is_no_file_of_a_match_does_not_hold(file: bytes) -> None:
    assert not decide_again(file)["ok"]
