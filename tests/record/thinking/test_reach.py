"""The position is out of a level's reach: in its arguments, in its modules, and in what it decides."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from events import play, recall
from events.due import owed
from events.platform import Platform
from games import GAMES
from games.chance import Chance, Drawn
from games.documents import clone
from games.kernel import Game, State
from players import LEVELS, budget_of, question_of
from players.level import Budget, Question, Thought
from record import thinking
from record.entries import canonical
from record.json_text import loads
from tests.players.golden import questions
from workers import jobs

ROOT = Path(__file__).parents[3]
OURS = ("games", "players")  # what a level may import
EACH = [pytest.param(game, id=game.id) for game in GAMES.values()]


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    """Empty the large caches of rules and levels. Other tests have filled them with millions of objects to walk over."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in OURS:
            for item in vars(module).values():
                if hasattr(item, "cache_clear") and item.cache_info().currsize > 100:
                    item.cache_clear()


def hidden_parts(state: Any, view: Any) -> Iterator[Any]:
    """Yield every dict and list of a state that is not in a view as it is: the document itself, and all on the way to what is hidden."""
    if not isinstance(state, (dict, list)) or canonical(state) == canonical(view):
        return
    yield state
    items = state.items() if isinstance(state, dict) else enumerate(state)
    for key, item in items:
        seen = view.get(key) if isinstance(view, dict) else view[key] if isinstance(view, list) and key < len(view) else None
        yield from hidden_parts(item, seen)


def reachable(*roots: Any) -> set[int]:
    """Return the ids of all objects that can be reached from some, over functions, closures, caches, classes, and the modules of levels.

    Python has no walls: other modules lead to everything in the process. Levels must not import them, which the linter of imports and
    `test_a_level_has_no_way_around` see to. So the walk stops at them.
    """
    others = [module for name, module in sys.modules.items() if isinstance(module, ModuleType) and name.partition(".")[0] not in OURS]
    seen = {id(module) for module in others} | {id(module.__dict__) for module in others}
    seen |= {id(sys.modules), id(seen), id(others)}
    found: set[int] = set()
    left = list(roots)
    while left:
        item = left.pop()
        if id(item) not in seen:
            seen.add(id(item))
            found.add(id(item))
            left += gc.get_referents(item)
    return found


def reaches(roots: Iterable[Any], hidden: Iterable[Any]) -> bool:
    """Return True if something hidden can be reached."""
    return not reachable(*roots).isdisjoint(map(id, hidden))


def moments(game: Game) -> Iterator[tuple[State, dict[str, Any], str]]:
    yield from islice(questions(game, min(game.seats.most, 3), 2), 1, None, 2)


@pytest.mark.parametrize("game", EACH)
def test_nothing_hidden_can_be_reached_from_what_a_level_is_given(game: Game) -> None:
    for state, memory, seat in moments(game):
        question, _ = thinking.put(question_of(game, state, seat, memory))
        hidden = list(hidden_parts(state, game.view(state, seat)))
        assert hidden[0] is state, "something is hidden from every seat"
        chance, budget = thinking.chance_of(1), Budget(5)
        assert not reaches([question, budget, chance, LEVELS], hidden)
        for leak in (
            question._replace(view=state),
            question._replace(game=game._replace(guess=lambda *given, truth=state, **named: truth)),
            question._replace(memory={"deep": [{"er": hidden[-1]}]}),
        ):
            assert reaches([leak, budget, chance, LEVELS], hidden), "the walk finds what it looks for"


def test_nothing_hidden_can_be_reached_within_a_worker(platform: Platform, ann: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the document of the match, nor its secret and what follows from it."""
    seats = {"red": "ai:random", "blue": "ai:strong"}
    match = play.create(platform, ann, "war", seats, {}).match
    jobs.bind(platform)
    looked = []

    def look(level: Callable[..., Thought]) -> Callable[..., Thought]:
        def decide(question: Question, budget: Budget, chance: Chance) -> Thought:
            cached = recall.cached(platform, match)
            document = cached.position.document
            hidden = [
                *hidden_parts(document, question.game.view(document, question.seat)),
                cached.secret,
                cached.dice,
                cached.blind,
                cached,
            ]
            looked.append(reaches([question, budget, chance], [*hidden, platform, platform.store, platform.cache]))
            return level(question, budget._replace(iterations=min(1, budget.iterations)), chance)

        return decide

    monkeypatch.setattr("record.thinking.LEVELS", {name: look(level) for name, level in LEVELS.items()})
    for _ in range(8):
        jobs.carry_out(platform, owed(recall.position(platform, match))[0])
    assert len(looked) >= 5
    assert not any(looked)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("game", EACH)
def test_a_level_decides_the_same_whatever_is_hidden_and_when_it_is_gone(game: Game, level: str) -> None:
    """Law 7, for decisions: positions that a seat cannot tell apart, in whatever order their members stand, have one decision to a seed."""
    others: list[State] = []
    for place, (state, memory, seat) in enumerate(moments(game)):
        budget = Budget(min(3, budget_of(question_of(game, state, seat, memory), level).iterations))
        one = thinking.decide(question_of(game, state, seat, memory), level, budget, place)
        guesses = [game.guess(game.view(state, seat), seat, Drawn(thinking.chance_of(seed).number), memory) for seed in range(2)]
        others += [guess for guess in guesses if canonical(guess) != canonical(state)]
        for other in (*guesses, loads(canonical(state)), backwards(state)):
            assert thinking.decide(question_of(game, other, seat, loads(canonical(memory))), level, budget, place) == one
        lost = clone(state)
        question = question_of(game, lost, seat, memory)
        for part in list(hidden_parts(lost, clone(game.view(lost, seat)))):
            part.clear()
        assert thinking.decide(question, level, budget, place) == one
    assert others, "some of the positions are others"


def backwards(value: Any) -> Any:
    """Return equal JSON with the members of every object in the opposite order."""
    if isinstance(value, dict):
        return {name: backwards(item) for name, item in reversed(value.items())}
    return [backwards(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("path", sorted((ROOT / "players").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_level_has_no_way_around(path: Path) -> None:
    """No level looks into objects from behind, runs text as code, or opens files. Only plans are read from files."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not {attribute for attribute in attributes if attribute.startswith("__")} - {"__file__"}
    assert not names & {"eval", "exec", "compile", "__import__", "open", "globals", "locals", "vars", "breakpoint", "__builtins__"}
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert ("pathlib" in imported) <= (path.name == "plans.py")
