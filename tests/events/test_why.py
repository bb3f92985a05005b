"""Why a field has its value: random changes of every game are explained by the entries and the events that made them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from jsonpointer import JsonPointer, resolve_pointer

from events.why import NOTHING, Change, changes, same
from games import GAMES
from games.kernel import AUDITOR, SPECTATOR, Game, evolve
from record.entries import Entry
from table.facts import FACTS
from tests.table.going_on import Run, steps

LENGTH, BACK = 120, 25
EVERY_GAME = [pytest.param(game, id=game.id) for game in GAMES.values()]
NUMBERS = [pytest.param(60, id="60 changes"), pytest.param(1000, id="1000 changes", marks=pytest.mark.soak)]


def differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Yield a pointer to every field that differs, at every depth."""
    if old == new and type(old) is type(new):
        return
    yield place
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from differences(old.get(key, NOTHING), new.get(key, NOTHING), f"{place}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            pair = [part[index] if index < len(part) else NOTHING for part in (old, new)]
            yield from differences(*pair, f"{place}/{index}")


def field(view: Any, pointer: str) -> Any:
    return resolve_pointer(view, pointer, NOTHING)


def makers(game: Game, state: Any, entry: Entry, pointer: str, viewer: str) -> list[int]:
    """Return the places of the events before and after which the field differs."""
    found, before = [], field(game.view(state, viewer), pointer)
    for place, event in enumerate(entry.events):
        state = state if event["type"] in FACTS else evolve(game, state, event)
        after = field(game.view(state, viewer), pointer)
        if before is not after and (NOTHING in (before, after) or list(differences(before, after))):
            found.append(place)
        before = after
    return found


@pytest.mark.parametrize("game", EVERY_GAME)
@pytest.mark.parametrize("number", NUMBERS)
def test_random_changes_are_explained_by_the_entries_and_events_that_made_them(game: Game, number: int) -> None:
    will, kinds, explained = random.Random(f"{game.id}/{number}"), set[str](), 0
    while explained < number:
        run = list(steps(game, will.randrange(10**6), LENGTH))[-1]
        for _ in range(min(50, number - explained)):
            version, viewer = will.randrange(2, len(run.entries) + 1), will.choice([*run.now.document["seats"], SPECTATOR, AUDITOR])
            views = [game.view(position.document, viewer) for position in run.positions]
            changed = list(differences(views[version - 2], views[version - 1]))
            if not changed:
                continue
            pointer = will.choice(changed)
            found = _explained(run, version, pointer, viewer)
            assert found[-1].entry.version == version
            assert same(found[-1].before, field(views[version - 2], pointer))
            assert same(found[-1].after, field(views[version - 1], pointer))
            assert found[-1].places == makers(game, run.positions[version - 2].document, run.entries[version - 1], pointer, viewer)
            first = max(1, version - BACK)
            moved = [at for at in range(first + 1, version + 1) if list(_moved(views[at - 2], views[at - 1], pointer))]
            assert [change.entry.version for change in found] == moved
            kinds |= {found[-1].entry.events[place]["type"] for place in found[-1].places}
            explained += 1
    assert len(kinds) > 8


def _explained(run: Run, version: int, pointer: str, viewer: str) -> list[Change]:
    first = max(1, version - BACK)
    return list(changes(run.game, run.positions[first - 1], run.entries[first:version], JsonPointer(pointer), viewer))


def _moved(old: Any, new: Any, pointer: str) -> Iterator[str]:
    before, after = field(old, pointer), field(new, pointer)
    if before is NOTHING or after is NOTHING:
        yield from [] if before is after else [pointer]
    else:
        yield from differences(before, after)


@pytest.mark.parametrize("game", EVERY_GAME)
def test_the_first_entry_explains_what_was_there_from_the_beginning(game: Game) -> None:
    run = list(steps(game, 1, 5))[-1]
    (change,) = changes(game, None, run.entries[:1], JsonPointer("/seats"), SPECTATOR)
    assert (change.entry.version, change.before, change.after) == (1, NOTHING, run.positions[0].document["seats"])
    assert [change.entry.events[place]["type"] for place in change.places] == ["match_prepared"]


def test_true_is_not_one_and_nothing_is_not_null() -> None:
    assert not same(True, 1)
    assert not same(None, NOTHING)
    assert same({"a": [1, 2]}, {"a": [1, 2]})
    assert same(NOTHING, NOTHING)
