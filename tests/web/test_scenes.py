"""Laws of scenes and pictures in every game, by random play."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as Tree
from collections.abc import Iterator
from itertools import combinations, cycle
from typing import Any

import pytest

from games import GAMES
from games.documents import clone
from games.kernel import AUDITOR, SPECTATOR, SYSTEM, Event, Game, State, evolve, legal
from games.picture import picture
from games.scene import Scene
from tests.games.matches import ALL, Start, alike, sampled, walk
from tests.games.test_laws import in_random_matches
from web.drawing import Box
from web.languages import LANGUAGES
from web.look import AUTO
from web.picture import SHAPES, TALL, WIDE, draw, svg

MATCHES = 3
NEAR = 0.51  # units by which rounding may bring two things together
EVERY_GAME = [pytest.param(game, id=game.id) for game in ALL]


def shown(game: Game, events: list[Event], viewer: str) -> list[Event]:
    return [game.shown(event, viewer) for event in events]


def named(choice: dict[str, Any]) -> Iterator[str]:
    """Yield everything that a choice names: its type, every string in it, and every key of its counts."""
    values = [*choice["action"].values(), *choice.get("choose", {}).values()]
    while values:
        value = values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            values += value
        elif isinstance(value, dict):
            yield from value.get("each", value)
            values += value.values()


def options_of(scene: Scene) -> dict[str, set[int]]:
    """Return the options of the cards of a scene."""
    cards = [card for panel in scene.panels for hand in panel.hands for card in hand.cards]
    return {card.id: set(card.options) for card in cards}


@in_random_matches(MATCHES)
def test_everything_that_a_choice_names_is_drawn_or_has_words_for_a_button(start: Start) -> None:
    game, words = start.game, picture(start.game.folder).words
    for step in sampled(start, 12):
        for actor in [actor for actor in step.before["to_act"] if actor != SYSTEM]:
            scene = game.scene(game.view(step.before, actor))
            there, options = set(scene.drawn()), options_of(scene)
            for choice in legal(game, step.before, actor):
                lost = [name for name in named(choice) if name not in there and name not in words]
                assert not lost, f"{choice} names {lost}"
                if "option" in choice["action"]:
                    assert choice["action"]["option"] in options[choice["action"]["card"]]


def looks(start: Start, steps: int) -> Iterator[tuple[State, list[Event], str]]:
    """Yield what three viewers see after some steps, with the events, for each shape of a picture."""
    game = start.game
    for step in sampled(start, steps):
        for viewer in (step.actor, SPECTATOR, AUDITOR):
            for shape in SHAPES:
                yield game.view(step.after, viewer), shown(game, step.events, viewer), shape


@in_random_matches(MATCHES)
def test_nothing_overlaps_and_everything_lies_inside_what_it_belongs_to(start: Start) -> None:
    for (view, events, shape), language in zip(looks(start, 3), cycle(LANGUAGES), strict=False):
        for sheet in draw(start.game, view, events, shape, language=language).sheets():
            assert list(faults(sheet.boxes)) == []


def faults(boxes: list[Box]) -> Iterator[str]:
    """Yield a sentence for each box that is outside its parent or overlaps another of the same parent."""
    parents = {box.id: box for box in boxes if not box.parent}
    families: dict[str, list[Box]] = {}
    for box in boxes:
        families.setdefault(box.parent, []).append(box)
        parent = parents.get(box.parent)
        if parent is not None and not inside(box, parent):
            yield f"{box} is outside {parent}"
    for family in families.values():
        for one, other in combinations(family, 2):
            if overlap(one, other):
                yield f"{one} overlaps {other}"


def inside(box: Box, parent: Box) -> bool:
    return (
        box.left >= parent.left - NEAR
        and box.top >= parent.top - NEAR
        and box.left + box.width <= parent.left + parent.width + NEAR
        and box.top + box.height <= parent.top + parent.height + NEAR
    )


def overlap(one: Box, other: Box) -> bool:
    return (
        one.left + one.width > other.left + NEAR
        and other.left + other.width > one.left + NEAR
        and one.top + one.height > other.top + NEAR
        and other.top + other.height > one.top + NEAR
    )


def test_the_law_of_boxes_finds_what_overlaps_and_what_sticks_out() -> None:
    place = Box("place", "", 0, 0, 10, 10)
    assert list(faults([place, Box("one", "place", 0, 0, 5, 5), Box("other", "place", 5, 5, 5, 5)])) == []
    assert len(list(faults([place, Box("one", "place", 0, 0, 6, 6), Box("other", "place", 5, 5, 5, 5)]))) == 1
    assert len(list(faults([place, Box("one", "place", 8, 0, 6, 6)]))) == 1


@in_random_matches(MATCHES)
def test_a_picture_is_whole_and_everything_in_it_exists_once(start: Start) -> None:
    for view, events, shape in looks(start, 2):
        text = svg(start.game, view, events, shape, AUTO)
        Tree.fromstring(text)
        ids = re.findall(r' id="([^"]+)"', text)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'href="#([^"]+)"', text)) <= set(ids)
        colours = {name for names in re.findall(r'class="([^"]*)"', text) for name in names.split() if re.match(r"[ais]-", name)}
        assert all(text.count(f".{name}{{") == 2 for name in colours), "light and dark"
        fragments = draw(start.game, view, shape=shape).fragments()
        assert set(fragments) <= set(ids)


@in_random_matches(MATCHES)
def test_a_picture_refers_to_nothing_outside_and_holds_no_script(start: Start) -> None:
    for step in sampled(start, 1):
        text = svg(start.game, start.game.view(step.after, SPECTATOR), step.events)
        assert not re.search(r"<script|<foreignObject|<image|\bon\w+=|javascript:|@import|url\(", text)
        assert set(re.findall(r'https?://[^"\s]+', text)) == {"http://www.w3.org/2000/svg"}
        assert all(letter.isprintable() for letter in text)


@in_random_matches(MATCHES)
def test_positions_that_differ_only_in_what_a_viewer_cannot_know_give_the_same_bytes(start: Start) -> None:
    for _, seen, other in alike(start, 2):
        assert svg(start.game, other) == svg(start.game, seen)


@in_random_matches(MATCHES)
def test_a_scene_depends_on_the_view_alone_and_leaves_it_as_it_was(start: Start) -> None:
    game = start.game
    for step in sampled(start, 3):
        view = game.view(step.after, SPECTATOR)
        before = clone(view)
        scene = game.scene(view)
        assert view == before
        assert game.scene(before) == scene


def test_hidden_cards_do_not_show() -> None:
    game = GAMES["war_of_the_worlds"]
    seats = list(game.seats.ids)
    step = next(step for step in walk(Start(game, seats, {}, 3)) if step.number == 40)
    for seat in seats:
        for viewer in (*seats, SPECTATOR, AUDITOR):
            panel = next(panel for panel in game.scene(game.view(step.after, viewer)).panels if panel.seat == seat)
            hand = next(hand for hand in panel.hands if hand.name == "HAND")
            assert bool(hand.cards) == (viewer in (seat, AUDITOR))


@pytest.mark.parametrize("game", EVERY_GAME)
def test_a_new_match_can_be_drawn_and_whoever_acts_is_told(game: Game) -> None:
    for number in range(game.seats.least, game.seats.most + 1):
        seats = list(game.seats.ids[:number])
        assert svg(game, game.view(game.begin(seats, {}), SPECTATOR)).startswith("<svg ")
        step = next(step for step in walk(Start(game, seats, {}, 1)) if step.after["active"] is not None)
        scene = game.scene(game.view(step.after, SPECTATOR))
        assert scene.acting == tuple(step.after["to_act"])
        assert [panel.seat for panel in scene.panels if panel.acts] == list(scene.acting)
        assert "to act" in svg(game, game.view(step.after, SPECTATOR))


@pytest.mark.parametrize("game", EVERY_GAME)
def test_the_end_of_a_match_tells_who_has_won(game: Game) -> None:
    *_, last = walk(Start(game, list(game.seats.ids[: game.seats.least]), {}, 7))
    view = game.view(last.after, SPECTATOR)
    scene = game.scene(view)
    assert list(scene.winners) == last.after["outcome"]["winners"]
    assert [panel.seat for panel in scene.panels if panel.ahead] == list(scene.winners)
    names = [picture(game.folder).crests[seat].name for seat in scene.winners]
    assert all(f"{name} won" in svg(game, view, last.events) or len(names) > 1 for name in names)


@pytest.mark.parametrize("game", EVERY_GAME)
def test_a_match_without_a_winner_says_so(game: Game) -> None:
    seats = list(game.seats.ids[: game.seats.least])
    step = next(step for step in walk(Start(game, seats, {}, 1)) if step.after["active"] is not None)
    outcome = {"winners": [], "reason": "void", "scores": dict.fromkeys(seats, 0)}
    event = {"type": "match_ended", **outcome}
    over = evolve(game, step.after, event)
    text = svg(game, game.view(over, SPECTATOR), [event])
    assert ">Nobody won<" in text
    assert ">The match is over: it does not count.<" in text
    assert "to act" not in text


@pytest.mark.parametrize("game", EVERY_GAME)
def test_wide_and_tall_pictures_hold_the_same_things(game: Game) -> None:
    will = random.Random(3)
    step = will.choice(list(walk(Start(game, list(game.seats.ids), {}, 5))))
    wide, tall = (draw(game, game.view(step.after, SPECTATOR), step.events, shape) for shape in (WIDE, TALL))
    assert list(wide.fragments()) == list(tall.fragments())
    assert wide.board.fragments == tall.board.fragments
