"""The core of an audit needs nothing but the standard library and the rules: it runs where no package is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from events import play, recall
from events.audit import record_header
from events.platform import Platform
from games import GAMES
from record.trail import as_json, audit_entries
from tests.events.test_audit import record

ROOT = Path(__file__).parents[2]

SCRIPT = """
import json, sys
sys.path.insert(0, {root!r})
from record.trail import as_json, audit_entries
from games import GAMES
print(json.dumps(as_json(audit_entries(GAMES, open({file!r}, "rb")))))
print(*[name for name in ("orjson", "redis", "structlog", "cachetools", "socket", "nacl") if name in sys.modules])
"""


def test_a_record_is_audited_where_no_package_is_installed(platform: Platform, ann: str, tmp_path: Path) -> None:
    match = play.create(platform, ann, "war", {"red": "me", "blue": "me"}, {}).match
    play.play(platform, match, "system", [{"type": "advance"}])
    seat = recall.position(platform, match).to_act[0]
    play.act_at_table(platform, match, seat, {"type": "resign"}, player=ann)
    lines = [record_header(platform, match), *record(platform, match)]
    (tmp_path / "record.ndjson").write_bytes(b"".join(line + b"\n" for line in lines))
    script = SCRIPT.format(root=str(ROOT), file=str(tmp_path / "record.ndjson"))
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    report, modules = ran.stdout.splitlines()
    assert modules == ""
    assert json.loads(report) == json.loads(json.dumps(as_json(audit_entries(GAMES, lines))))
    assert json.loads(report)["ok"]
    assert json.loads(report)["chain"] == "verified"
