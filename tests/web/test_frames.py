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


class Follower:
    """A reader that is given the frame of each version, and must have the picture of that version then. `lines`: the frames."""

    def __init__(self) -> None:
        self.reader = Reader()
        self.before: Shot | None = None
        self.lines: list[bytes] = []

    def see(self, after: Shot) -> None:
        """Send the frame of the next version, and compare."""
        told = frame(self.before, after, len(self.lines) + 1)
        self.lines.append(orjson.dumps(told))
        self.reader.apply(told)
        assert (self.reader.title, list(self.reader.sheets), self.reader.fragments) == (after.title, list(after.sheets), after.fragments)
        assert self.reader.sheets == after.sheets
        assert [name for sheet in self.reader.sheets.values() for name in sheet["fragments"]] == list(after.fragments)
        self.before = after


def followed(start: Start) -> None:
    """Check the frames of every version of a match, for one of its viewers."""
    game, will = start.game, random.Random(start.seed)
    viewer, shape = will.choice([*start.seats, SPECTATOR, AUDITOR]), will.choice(SHAPES)
    follower = Follower()
    for step in walk(start):
        follower.see(drawn(game, step.after, step.events, viewer, shape))


@in_random_matches(1)
def test_frames_lead_to_the_picture_of_every_version(start: Start) -> None:
    followed(start)


@pytest.mark.soak
@in_random_matches(40)
def test_frames_lead_to_the_picture_of_every_version_of_many_matches(start: Start) -> None:
    followed(start)


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
        if step.number % 15 == 0:
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


@pytest.mark.parametrize(
    "game", [pytest.param(game, id=name, marks=() if name == "war" else pytest.mark.soak) for name, game in GAMES.items()]
)
def test_a_replay_is_small_and_leads_to_every_picture(game: Game) -> None:
    follower = Follower()
    for step in play(game, list(game.seats.ids[: game.seats.most]), "1", "random"):
        follower.see(drawn(game, step.state, step.events, SPECTATOR, "wide"))
    assert len(zlib.compress(b"\n".join(follower.lines))) <= REPLAY * len(follower.lines)
