"""Inside a game each file imports only those before it, in the order of docs/adding-a-game.md section 2; no game imports another."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from games import GAMES

GUIDE = Path(__file__).resolve().parents[2] / "docs/adding-a-game.md"
DEEDS = "every other file or folder"


def levels() -> dict[str, int]:
    """Return the level of each named file, from the table of the guide; the game's `__init__.py` has the highest."""
    rows = re.findall(r"^\| (\d+) \| (?:`(\w+)\.py`|(" + DEEDS + r")) \|", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name or others: int(level) for level, name, others in rows}


LEVELS = levels()


def faults(graph: grimp.ImportGraph, game: str) -> Iterator[str]:
    """Yield a sentence for each import of a game that breaks the order, and for a cycle."""
    modules = {module for module in graph.modules if module == game or module.startswith(f"{game}.")}
    parts: dict[str, set[str]] = {}
    files: dict[str, set[str]] = {}
    for module in sorted(modules):
        files[module] = graph.find_modules_directly_imported_by(module) & modules
        parts.setdefault(part(game, module), set()).update(part(game, other) for other in files[module])
    for importer, imported in sorted(parts.items()):
        imported.discard(importer)
        for other in sorted(imported):
            if level(importer) < level(other):
                yield f"{importer} imports {other}, which comes after it"
    for nodes in (parts, files):
        try:
            TopologicalSorter(nodes).prepare()
        except CycleError as cycle:
            yield f"a cycle: {' -> '.join(cycle.args[1])}"


def part(game: str, module: str) -> str:
    """Return the file or folder directly below a game that a module belongs to."""
    return module.removeprefix(game).removeprefix(".").split(".")[0] or "__init__"


def level(part: str) -> int:
    """Return the level of a file or folder of a game. A file without a name of its own in the guide belongs to the deeds."""
    return LEVELS.get(part, LEVELS[DEEDS])


@functools.cache
def graph_of_games() -> grimp.ImportGraph:
    return grimp.build_graph("games", cache_dir=None)


def test_the_guide_names_the_levels() -> None:
    assert sorted(set(LEVELS.values())) == list(range(1, max(LEVELS.values()) + 1))
    assert LEVELS["data"] < LEVELS["document"] < LEVELS["state"] < LEVELS["flow"] < LEVELS[DEEDS] < LEVELS["phases"] < LEVELS["__init__"]


@pytest.mark.parametrize("game", GAMES)
def test_inside_a_game_each_file_imports_only_those_before_it(game: str) -> None:
    assert f"games.{game}.phases" in graph_of_games().modules
    assert list(faults(graph_of_games(), f"games.{game}")) == []


@pytest.mark.parametrize("game", GAMES)
def test_a_game_imports_of_games_only_what_belongs_to_no_game(game: str) -> None:
    graph = graph_of_games()
    shared = {module for module in graph.modules if module.count(".") == 1 and module.split(".")[1] not in GAMES}
    own = {module for module in graph.modules if f"{module}.".startswith(f"games.{game}.")}
    imported = {other for module in own for other in graph.find_modules_directly_imported_by(module)}
    assert imported - own - shared == set()


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (
            {
                "data.py": "",
                "state.py": "from toy.data import x",
                "battle/__init__.py": "",
                "battle/deeds.py": "from toy import flow, state",
            },
            [],
        ),
        ({"data.py": "import toy.state"}, ["data imports state, which comes after it"]),
        ({"flow.py": "from toy import battle"}, ["flow imports battle, which comes after it"]),
        ({"moves.py": "from toy.phases import P"}, ["moves imports phases, which comes after it"]),
        ({"moves.py": "from toy.worth import worth"}, ["moves imports worth, which comes after it"]),
        ({"state.py": "import toy"}, ["state imports __init__, which comes after it"]),
        ({"cards.py": "import toy.moves", "moves.py": "import toy.cards"}, ["a cycle: ", "a cycle: "]),
        ({"battle/a.py": "import toy.battle.b", "battle/b.py": "import toy.battle.a"}, ["a cycle: "]),
        ({"battle/a.py": "import toy.moves", "moves.py": "import toy.battle.b", "battle/b.py": ""}, ["a cycle: "]),
    ],
)
def test_faults_are_found(files: dict[str, str], found: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    present = ["data", "state", "flow", "moves", "cards", "phases", "worth", "battle/__init__", "__init__"]
    for name, text in {**{f"{name}.py": "" for name in present}, **files}.items():
        path = tmp_path / "toy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    came = list(faults(grimp.build_graph("toy", cache_dir=None), "toy"))
    assert len(came) == len(found), came
    assert all(text.startswith(start) for text, start in zip(came, found, strict=True)), came
