"""The small game of docs/adding-a-game.md is built from the page, and played."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grimp
import pytest
from jsonschema_rs import Draft202012Validator

import games
from games.choices import combinations
from games.kernel import SPECTATOR, SYSTEM, Branch, Game, Refused, carry_out, evolve, legal, sentence, withdraw
from games.schema import always, record
from players import LEVELS as LEVELS_OF_PLAY
from tests.games.matches import Start, chance, walk
from tests.games.test_imports import GUIDE, LEVELS, faults
from tools.documents import written

BLOCKS = dict(re.findall(r"^\*\*`([\w./]+)`\*\*[^\n]*\n```\w+\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE))
FILES = {name: text for name, text in BLOCKS.items() if "/" not in name}
PLAYERS = {name: text for name, text in BLOCKS.items() if name.startswith("players/")}
SEEDS = range(30)
ROOT = GUIDE.parent.parent
LINE = '    "pebbles",\n'

DECIDE = """
import random
from games import GAMES
from games.chance import Drawn
from players import LEVELS, choose
from players.knowledge import knowledge_of

state = {**GAMES["pebbles"].begin(["white", "black"], {}), "phase": "taking", "active": "white", "to_act": ["white"], "heap": 7}
for level in LEVELS:
    print(level, choose(GAMES["pebbles"], level, state, "white", Drawn(random.Random(3).randrange))["pebbles"])
print(knowledge_of("pebbles").features)
"""


def load() -> Game:
    """Import the game anew from its files."""
    for name in [name for name in sys.modules if name.split(".")[:2] == ["games", "pebbles"]]:
        del sys.modules[name]
    importlib.invalidate_caches()
    found: Game = importlib.import_module("games.pebbles").GAME
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the files of the page, which Python finds as `games.pebbles`."""
    path = tmp_path_factory.mktemp("guide") / "pebbles"
    path.mkdir()
    for name, text in FILES.items():
        (path / name).write_text(text, encoding="utf-8")
    games.__path__.append(str(path.parent))
    yield path
    games.__path__.remove(str(path.parent))
    for name in [name for name in sys.modules if name.split(".")[:2] == ["games", "pebbles"]]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def pebbles(folder: Path) -> Game:
    return load()


def start(game: Game, seed: int) -> Start:
    return Start(game, list(game.seats.ids), {}, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_match_is_played_to_its_end(pebbles: Game, seed: int) -> None:
    document = Draft202012Validator(pebbles.document.schema)
    events = {kind: Draft202012Validator(record({"type": always(kind), **fields}).schema) for kind, fields in pebbles.events.items()}
    kinds = []
    for step in walk(start(pebbles, seed)):
        document.validate(step.before)
        state = step.before
        for event in step.events:
            events[event["type"]].validate(event)
            state = evolve(pebbles, state, event)
            kinds.append(event["type"])
        assert state == step.after
        assert step.before["phase"] == "setup" or list(pebbles.invariants(step.before)) == []
        assert pebbles.board(pebbles.view(step.after, SPECTATOR), SPECTATOR)[0].startswith("Pebbles")
    assert kinds[:4] == ["heap_filled", "match_started", "round_started", "turn_started"]
    assert set(kinds) == set(pebbles.events) - {"match_prepared", "match_restored", "seat_withdrawn", "phase_changed"}
    assert list(pebbles.invariants(step.after)) == []
    assert step.after["outcome"]["scores"][step.actor] == 1
    assert step.after["heap"] == 0


def test_each_choice_is_open_and_what_is_outside_is_refused(pebbles: Game) -> None:
    state: Any = {**pebbles.begin(["white", "black"], {}), "phase": "taking", "active": "white", "to_act": ["white"], "heap": 2}
    (choice,) = legal(pebbles, state, "white")
    assert [action["pebbles"] for action in combinations(choice)] == [1, 2]
    with pytest.raises(Refused) as refused:
        carry_out(pebbles, state, "white", {"type": "take", "pebbles": 3}, chance(1))
    assert refused.value.code == "wrong_number"
    assert sentence(pebbles, refused.value.refusal) == "3 pebbles cannot be taken; take 1 to 2."


def test_search_finds_the_move_that_wins(pebbles: Game) -> None:
    state: Any = {**pebbles.begin(["white", "black"], {}), "phase": "taking", "active": "white", "to_act": ["white"], "heap": 7}
    worth = {}
    for number in (1, 2, 3):
        branch = Branch(pebbles, state, chance(1))
        branch.play("white", {"type": "take", "pebbles": number})
        worth[number] = pebbles.worth(branch.state, "white")
    assert worth == {1: 0.0, 2: 0.0, 3: 1.0}


def test_a_seat_may_leave_before_and_during_play(pebbles: Game) -> None:
    for step in walk(start(pebbles, 3)):
        for seat, other in (("white", "black"), ("black", "white")):
            match = withdraw(pebbles, step.before, seat, chance(1))
            assert [event["type"] for event in match.events] == ["seat_withdrawn", "match_ended"]
            assert match.state["outcome"] == {"winners": [other], "reason": "resigned", "scores": {"white": 0, "black": 0}}
            assert list(pebbles.invariants(match.state)) == []
            assert pebbles.board(match.state, SPECTATOR)[-1] == f"{other.capitalize()} won (resigned): white 0, black 0."


def test_a_match_of_default_actions_ends(pebbles: Game) -> None:
    state = pebbles.begin(["white", "black"], {})
    while state["outcome"] is None:
        (actor,) = state["to_act"]
        action = {"type": "advance"} if actor == SYSTEM else pebbles.default(state, actor)
        state = carry_out(pebbles, state, actor, action, chance(2)).state
    assert state["outcome"]["reason"] == "last_pebble"


def test_its_document_can_be_written_and_the_game_plays_with_it(folder: Path, pebbles: Game) -> None:
    text = written(pebbles)
    assert "class State(kernel.Shared):" in text
    assert "heap: int" in text
    (folder / "document.py").write_text(text, encoding="utf-8")
    again = load()
    assert json.dumps([step.events for step in walk(start(again, 1))]) == json.dumps([step.events for step in walk(start(pebbles, 1))])


def test_its_files_are_in_the_order_of_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder.parent / "apart" / "pebbles"
    path.mkdir(parents=True)
    for name, text in FILES.items():
        (path / name).write_text(text.replace("games.pebbles", "pebbles"), encoding="utf-8")
    monkeypatch.syspath_prepend(path.parent)
    graph = grimp.build_graph("pebbles", cache_dir=None)
    assert {"pebbles.taking", "pebbles.state"} <= graph.modules
    assert list(faults(graph, "pebbles")) == []


class Copy:
    """A repository of its own with all files of this one, as they are now."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in filter(None, self.said(ROOT, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")):
            if (ROOT / name).is_file() and not name.startswith("tests/"):
                self.write(name, (ROOT / name).read_bytes())
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "As it was")

    def write(self, name: str, content: bytes) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes(content)

    def git(self, *words: str) -> str:
        return self.said(self.folder, "git", *words)

    def python(self, *words: str) -> list[str]:
        return self.said(self.folder, sys.executable, *words).splitlines()

    def said(self, folder: Path, *words: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "PYTHONSAFEPATH": "1"}
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="these files are no repository")
def test_the_game_is_one_folder_and_one_line_and_its_players_are_one_folder(tmp_path: Path) -> None:
    copy = Copy(tmp_path)
    for name, text in FILES.items():
        copy.write(f"games/pebbles/{name}", text.encode())
    listed = copy.folder / "games" / "__init__.py"
    before = listed.read_text(encoding="utf-8").splitlines(keepends=True)
    place = before.index(")\n")
    listed.write_text("".join([*before[:place], LINE, *before[place:]]), encoding="utf-8")
    copy.python("-m", "tools.documents")
    *decided, known = copy.python("-c", DECIDE)
    assert [line.split()[0] for line in decided] == list(LEVELS_OF_PLAY), "every level plays it"
    assert decided[2:] == ["greedy 3", "strong 3", "expert 3"]
    assert known == "None"
    assert copy.git("status", "--porcelain").splitlines() == [" M games/__init__.py", "?? games/pebbles/"]
    assert copy.git("diff", "--numstat").split() == ["1", "0", "games/__init__.py"]
    for name, text in PLAYERS.items():
        copy.write(name, text.encode())
    *decided, known = copy.python("-c", DECIDE)
    assert decided[2:] == ["greedy 3", "strong 3", "expert 3"]
    assert known.startswith("Features(names=('in the trap',)")
    assert copy.git("status", "--porcelain").splitlines() == [" M games/__init__.py", "?? games/pebbles/", "?? players/pebbles/"]


def test_the_page_has_a_file_for_every_level() -> None:
    levels = {level for name, level in LEVELS.items() if f"{name}.py" in FILES}
    assert levels | {LEVELS["flow"] + 1} == set(LEVELS.values())
    assert "taking.py" in FILES
