"""Rules are pinned: in a copy of the program whose rules change, a match goes on under the rules that it began with."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from events import accounts, play, recall
from events.platform import Platform
from games import GAMES
from games.kernel import Game, any_action
from games.pinned import LIST
from tools.pin import files_of

ROOT = Path(__file__).parents[2]
PARTS = [*sorted(file.parent.name for file in ROOT.glob("*/__init__.py")), "verify"]
WAR = GAMES["war"]
FACES, FEWER = 6, 4


class Copy:
    """A copy of the program that works on the store of the tests."""

    def __init__(self, folder: Path, platform: Platform) -> None:
        self.folder = folder
        for part in PARTS:
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("*.pyc.*"))  # what others compile just now
        settings = platform.settings
        urls = {"WARLEDGER_REDIS_URL": settings.store_url, "WARLEDGER_QUEUE_URL": settings.queue_url}
        self._environment = {**os.environ, **urls, "PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1"}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the copy to its end."""
        return subprocess.run(
            [sys.executable, *words], cwd=self.folder, env=self._environment, capture_output=True, text=True, timeout=120, check=False
        )

    def played(self, key: str, *matches: str) -> list[dict[str, Any]]:
        """Play matches on, or ask about them, as going_on.py says."""
        done = self.run(str(ROOT / "tests/whole/going_on.py"), key, *matches)
        assert done.returncode == 0, done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
        return found

    def change(self, name: str, old: str, new: str) -> None:
        """Replace a text that a file has once."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, name
        path.write_text(text.replace(old, new), encoding="utf-8")


def begun(platform: Platform, player: str, steps: int) -> str:
    """Begin a match of War! against an artificial player, and play some steps of it at random."""
    match = play.create(platform, player, "war", {"red": "me", "blue": "ai:greedy"}, {}).match
    dice = random.Random(match)
    for _ in range(steps):
        position = recall.position(platform, match)
        action = any_action(WAR, position.document, position.to_act[0], dice.randrange)
        play.play(platform, match, position.to_act[0], [action])
    return match


@pytest.fixture
def copy(tmp_path: Path, platform: Platform) -> Copy:
    return Copy(tmp_path / "copy", platform)


def test_a_match_goes_on_under_the_rules_it_began_with(copy: Copy, platform: Platform) -> None:
    player, key = accounts.register(platform, "Ann")
    waiting, *old = (begun(platform, player.id, 12) for _ in range(4))  # three, so that a high die falls in one of them
    hash_before = recall.position(platform, waiting).rules

    pinned = copy.run("-m", "tools.pin", "war")
    assert (pinned.returncode, pinned.stderr) == (0, "")
    assert f"games/pinned/war/r{WAR.revision}" in pinned.stdout
    again = copy.run("-m", "tools.pin", "war")
    assert (again.returncode, again.stdout) == (1, "")
    copy.change("games/war/data.json", f'"sides": {FACES}', f'"sides": {FEWER}')
    copy.change("games/war/__init__.py", f"revision={WAR.revision},", f"revision={WAR.revision + 1},")

    *under_old, under_new = copy.played(key, *old, "new")
    for about, revision in (*((about, WAR.revision) for about in under_old), (under_new, WAR.revision + 1)):
        assert about["findings"] == []
        assert (about["ok"], about["replayed_only"], about["revisions"], about["standing"]) == (True, 0, [revision], revision)
        assert (about["picture"], about["state"], about["choices"]) == ([200, "<svg"], 200, 200)
    assert [about["rules"] for about in under_old] == [[hash_before]] * 3  # pinning changes no hash
    assert under_new["rules"] != [hash_before]
    first = recall.position(platform, waiting).version
    assert max(face for about in under_old for version, face in about["rolls"] if version > first) > FEWER
    assert max(face for _, face in under_new["rolls"]) <= FEWER
    scenarios = copy.run("-m", "tools.scenarios", f"games/pinned/war/r{WAR.revision}/scenarios.yaml")
    assert scenarios.returncode == 0, scenarios.stdout

    needed = copy.run("-m", "tools.pin", "--needed")
    assert needed.returncode == 0
    assert f"war revision {WAR.revision}: pinned; 1 running and 3 finished matches need it" in needed.stdout
    assert f"war revision {WAR.revision + 1}: newest; 0 running and 1 finished matches need it" in needed.stdout

    shutil.rmtree(copy.folder / f"games/pinned/war/r{WAR.revision}")
    needed = copy.run("-m", "tools.pin", "--needed")
    assert needed.returncode == 1
    assert f"war revision {WAR.revision}: MISSING" in needed.stdout
    before = recall.position(platform, waiting).version
    (without,) = copy.played(key, f"?{waiting}")
    assert without["answers"].pop("standing") == [200, None]
    assert set(map(tuple, without["answers"].values())) == {(503, "rules_missing")}
    assert without["version"] == before
    assert without["audit"] == [True, "partly", before]
    assert without["missing"] == [{"game": "war", "revision": WAR.revision, "matches": 1}]


def test_an_edited_revision_is_found(copy: Copy) -> None:
    assert copy.run("-m", "tools.pin", "war_of_the_worlds").returncode == 0
    revision = GAMES["war_of_the_worlds"].revision
    folder = copy.folder / f"games/pinned/war_of_the_worlds/r{revision}"
    assert edited(folder) == []
    with (folder / "strike/damage.py").open("a", encoding="utf-8") as file:
        file.write("# a correction\n")
    (folder / "more.py").touch()
    (folder / "guess.py").unlink()
    assert edited(folder) == ["guess.py", "more.py", "strike/damage.py"]


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_pinned_rules_are_as_they_were_pinned(game: Game) -> None:
    assert {revision: edited(earlier.folder) for revision, earlier in game.earlier.items()} == {revision: [] for revision in game.earlier}
    assert [earlier.revision for earlier in game.earlier.values()] == list(game.earlier)
    assert game.revision not in game.earlier


def edited(folder: Path) -> list[str]:
    """Return the files of a pinned revision that were changed, added or removed since it was copied."""
    copied = json.loads((folder / LIST).read_text(encoding="utf-8"))
    here = {file.relative_to(folder).as_posix(): sha256(file.read_bytes()).hexdigest() for file in files_of(folder)}
    return sorted(name for name in copied.keys() | here.keys() if copied.get(name) != here.get(name))
