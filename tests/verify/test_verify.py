"""verify/verify.mjs: its own tests under Node, and the command on records of matches that were really played."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from events import play
from events.platform import Platform
from games import GAMES
from games.kernel import any_action
from tools import node

ROOT = Path(__file__).parent.parent.parent
NODE = node.binary() or ""

pytestmark = pytest.mark.skipif(not NODE, reason="there is no Node here: install the packages for tests, or Node 20")


def verify(*words: object) -> subprocess.CompletedProcess[str]:
    """Run the command from another folder, as somebody does who has only that file."""
    return subprocess.run([NODE, ROOT / "verify" / "verify.mjs", *map(str, words)], capture_output=True, text=True, cwd="/", check=False)


def test_the_tests_under_node() -> None:
    files = sorted(ROOT.glob("tests/verify/*.test.mjs"))
    done = subprocess.run([NODE, "--test", *files], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_records_of_every_game(platform: Platform, tmp_path: Path) -> None:
    games = [*GAMES, "war", "war"]  # in a short match of War! it may be that no die falls
    known = [None] * len(GAMES) + [None, "0a" * 32]  # the key of dice that everybody knows
    files = [recorded(platform, game, tmp_path, dice) for game, dice in zip(games, known, strict=True)]
    done = verify("--json", *files)
    result = json.loads(done.stdout)
    assert done.returncode == 0, result["findings"]
    assert [file["game"] for file in result["files"]] == games
    assert result["checked"]["digests"] == sum(file["versions"] for file in result["files"])
    assert result["checked"]["rolls"] > 0, "no dice fell in any of the matches"


def test_the_command_says_what_it_found(platform: Platform, tmp_path: Path) -> None:
    honest = recorded(platform, "war", tmp_path)
    done = verify(honest)
    assert done.returncode == 0
    assert "Everything that was checked holds." in done.stdout
    assert "Not checked:\n" in done.stdout
    lines = honest.read_bytes().splitlines(keepends=True)
    at = next(place for place, line in enumerate(lines) if b'"actor":"red"' in line)
    lines[at] = lines[at].replace(b'"actor":"red"', b'"actor":"blue"')
    (tmp_path / "tampered").write_bytes(b"".join(lines))
    done = verify(tmp_path / "tampered")
    assert done.returncode == 1
    assert f"version {at}: digest_broken: " in done.stdout
    assert verify(tmp_path / "missing").returncode == 2
    assert verify().returncode == 2
    assert verify(honest, "--key", "no key").returncode == 2
    assert verify("--what", honest).returncode == 2
    assert verify("--help").returncode == 0


def test_it_works_alone(tmp_path: Path) -> None:
    shutil.copy(ROOT / "verify" / "verify.mjs", tmp_path / "check.mjs")
    (tmp_path / "empty").write_bytes(b"")
    done = subprocess.run([NODE, tmp_path / "check.mjs", tmp_path / "empty"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "empty: There is no entry." in done.stdout


def recorded(platform: Platform, game: str, folder: Path, known: str | None = None) -> Path:
    """Play a match at random to its end. Return the file of its record. `known`: the key of its dice, if everybody knows it."""
    settings = None if known is None else {"dice": known}
    rules, dice = GAMES[game], random.Random(game)
    position = play.create(platform, "p" + "a" * 16, game, dict.fromkeys(rules.seats.ids[: rules.seats.least], "me"), {}, settings=settings)
    while position.status != "over":
        actor = position.to_act[0]
        action = any_action(rules, position.document, actor, dice.randrange)
        position = play.play(platform, position.match, actor, [action]).position
    first = json.dumps({"blind": None, "match": position.match}).encode()
    path = folder / f"{position.match}.ndjson"
    path.write_bytes(b"".join(line + b"\n" for line in [first, *platform.store.log.read_all(position.match)]))
    return path
