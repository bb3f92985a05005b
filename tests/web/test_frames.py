"""Frames: what differs from one picture to the next tells the whole next picture, and little of it."""

from __future__ import annotations

import random
import re
import zlib
from typing import Any

import orjson
import pytest
from hypothesis import given, strategies

from games import GAMES
from games.kernel import AUDITOR, SPECTATOR, Game
from tests.games.matches import ALL, Start, walk
from tests.games.test_laws import in_random_matches
from tests.web.frames import Reader, edited
from tools.pictures import play
from web.frames import Shot, difference, edits, shot, whole
from web.look import all_definitions, look, stylesheet
from web.picture import SHAPES, draw

EVERY_GAME = [pytest.param(game, id=game.id) for game in ALL]
REPLAY = 150  # bytes a version, compressed


def frame(before: Shot | None, after: Shot, version: int) -> dict[str, Any]:
    """Return the picture of a version as a frame, from JSON as a client reads it."""
    told = {"key": True, **whole(after)} if before is None else difference(before, after)
    read: dict[str, Any] = orjson.loads(orjson.dumps({"version": version, **told}))
    return read


def drawn(game: Game, state: Any, events: list[Any], viewer: str, shape: str) -> Shot:
    return shot(draw(game, game.view(state, viewer), [game.shown(event, viewer) for event in events], shape, told=False))


@in_random_matches(4)
def test_frames_lead_to_the_picture_of_every_version(start: Start) -> None:
    game, will = start.game, random.Random(start.seed)
    viewer, shape = will.choice([*start.seats, SPECTATOR, AUDITOR]), will.choice(SHAPES)
    reader, before = Reader(), None
    for step in walk(start):
        after = drawn(game, step.after, step.events, viewer, shape)
        reader.apply(frame(before, after, step.number + 1))
        assert (reader.title, list(reader.sheets), reader.fragments) == (after.title, list(after.sheets), after.fragments)
        assert reader.sheets == after.sheets
        assert [name for sheet in reader.sheets.values() for name in sheet["fragments"]] == list(after.fragments)
        before = after


def test_words_that_stay_in_a_fragment_are_not_sent_again() -> None:
    before = Shot("a", {}, {"one": '<g id="a"/><b x="1"/>', "two": "x", "gone": "y", "same": "z", "twice": "a a", "less": "a b a"})
    after = Shot("a", {}, {"one": '<g id="c"/><b x="2"/>', "two": "", "new": "n", "same": "z", "twice": "a a a", "less": "a a"})
    assert difference(before, after) == {
        "fragments": {"one": [2, 1, '"c', 3, 1, '"2'], "two": [0, 1, ""], "new": "n", "twice": [2, 0, " a"], "less": [1, 1, ""]},
        "gone": ["gone"],
    }
    assert difference(before, before) == {}


TEXTS = strategies.text('<" ab\n😀', max_size=40)


@given(TEXTS, TEXTS)
def test_edits_make_any_text_of_any_other(before: str, after: str) -> None:
    found = edits(before, after)
    assert edited(before, found) == after
    assert (before == after) == (not found)


def test_long_texts_that_have_nothing_in_common_are_replaced_as_a_whole() -> None:
    before, after = "<a" * 2000, "<b c" * 2000
    assert edits(before, after) == [0, 2000, after]


def test_sheets_come_and_go() -> None:
    first, second = Shot("", {"a": {"id": "a"}, "b": {"id": "b"}}, {}), Shot("", {"c": {"id": "c"}, "a": {"id": "a"}}, {})
    assert difference(first, second) == {"order": ["c", "a"], "sheets": [{"id": "c"}]}
    grown = second._replace(sheets={"c": {"id": "c"}, "a": {"id": "a", "box": [1], "seat": None}})
    assert difference(second, grown) == {"sheets": [{"id": "a", "box": [1], "seat": None}]}
    assert difference(grown, grown._replace(sheets={**grown.sheets, "a": {"id": "a", "box": [2], "seat": None}})) == {
        "sheets": [{"id": "a", "box": [2]}]
    }
    assert difference(second, second._replace(sheets={"a": {"id": "a"}})) == {"order": ["a"]}


@pytest.mark.parametrize("game", EVERY_GAME)
def test_every_fragment_uses_what_the_page_of_a_game_has(game: Game) -> None:
    """Definitions and style of pages hold all that any picture needs."""
    looks = look(game)
    known = set(re.findall(r'id="([^"]+)"', all_definitions(looks, game.seats.ids)))
    classes = set(re.findall(r"\.([a-z][\w-]*)", stylesheet(looks)))
    plain = re.compile(r"line|die|comet|m|e|b|k")
    for step in walk(Start(game, list(game.seats.ids), {}, 11)):
        if step.number % 5 == 0:
            text = "".join(drawn(game, step.after, step.events, SPECTATOR, "wide").fragments.values())
            assert set(re.findall(r'href="#([^"]+)"', text)) <= known
            used = {name for names in re.findall(r'class="([^"]*)"', text) for name in names.split()}
            assert {name for name in used - classes if not plain.fullmatch(name)} == set()
            assert "style=" not in text


def test_definitions_refer_to_nothing_else() -> None:
    for game in GAMES.values():
        text = all_definitions(look(game), game.seats.ids)
        known = re.findall(r'id="([^"]+)"', text)
        assert len(known) == len(set(known))
        assert set(re.findall(r'href="#([^"]+)"', text)) <= set(known)


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in GAMES.values()])
def test_a_replay_is_small(game: Game) -> None:
    lines, before = [], None
    for version, step in enumerate(play(game, list(game.seats.ids[: game.seats.most]), "1", "random"), 1):
        after = drawn(game, step.state, step.events, SPECTATOR, "wide")
        lines.append(orjson.dumps(frame(before, after, version)))
        before = after
    assert len(zlib.compress(b"\n".join(lines))) <= REPLAY * len(lines)
