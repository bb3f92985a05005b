"""The looks of every game: contrast, and words and glyphs for everything."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from games import GAMES
from games.kernel import Game
from games.picture import THEMES, Glyph, Picture, Stroke, read
from games.scene import Die, News, Travel
from tests.games.matches import Start, walk
from web.look import BADGES, SHARED, Look, look, style
from web.news import news

LEAST = 4.5  # WCAG 2.2, 1.4.3: text on its ground
LEAST_FIGURE = 3.0  # WCAG 2.2, 1.4.11: what is needed to understand a picture
EVERY_GAME = [pytest.param(game, id=game.id) for game in GAMES.values()]


def luminance(colour: str) -> float:
    """Return the relative luminance of `#rrggbb`."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    dark, bright = sorted([luminance(one), luminance(other)])
    return (bright + 0.05) / (dark + 0.05)


def test_contrast_is_computed_as_the_standard_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("game", EVERY_GAME)
def test_every_ink_can_be_read_on_its_ground_in_both_themes(game: Game) -> None:
    for name, ground in look(game).grounds.items():
        for theme, fill, ink in zip(THEMES, ground.fills, ground.inks, strict=True):
            assert contrast(fill, ink) >= LEAST, f"{name}, {theme}"


@pytest.mark.parametrize("game", EVERY_GAME)
def test_seats_differ_in_letter_in_shape_and_in_colour(game: Game) -> None:
    crests = look(game).picture.crests
    assert set(crests) == set(game.seats.ids)
    for part in ("letter", "badge", "ground", "name"):
        assert len({getattr(crest, part) for crest in crests.values()}) == len(crests)
    assert all(crest.badge in BADGES and len(crest.letter) == 1 for crest in crests.values())
    for theme in range(len(THEMES)):
        assert len({look(game).grounds[crest.ground].fills[theme] for crest in crests.values()}) == len(crests)


@pytest.mark.parametrize("game", EVERY_GAME)
def test_the_accent_shows_on_the_page_and_on_panels(game: Game) -> None:
    grounds = look(game).grounds
    for theme in range(len(THEMES)):
        for ground in ("page", "panel"):
            assert contrast(grounds["accent"].fills[theme], grounds[ground].fills[theme]) >= LEAST_FIGURE


@pytest.mark.parametrize("game", EVERY_GAME)
def test_every_type_of_action_has_words(game: Game) -> None:
    assert set(game.deeds()) <= set(look(game).picture.words)


@pytest.mark.parametrize("game", EVERY_GAME)
def test_every_game_says_its_goal_its_length_and_its_weight_in_short_sentences(game: Game) -> None:
    found = look(game).picture
    for told in (found.goal, found.length, found.weight):
        assert 10 < len(told) < 140
        assert told.endswith(".")


@pytest.mark.parametrize("game", EVERY_GAME)
def test_every_phase_has_words_and_every_sentence_is_about_an_event_or_an_action(game: Game) -> None:
    found = look(game).picture
    assert set(game.phases) <= set(found.words)
    assert set(found.news) <= {*game.events, *game.deeds()}


@pytest.mark.parametrize("game", EVERY_GAME)
def test_every_colour_that_a_stroke_names_exists(game: Game) -> None:
    found = look(game)
    for stroke in strokes(found.picture):
        assert stroke.paint in ("", "shade", "shine") or stroke.paint in found.grounds or stroke.paint in found.paints, stroke
    assert found.picture.table in found.grounds


def strokes(found: Picture) -> Iterator[Stroke]:
    yield from found.backdrop
    for glyph in found.glyphs.values():
        yield from glyph.strokes
    for outline in found.outlines.values():
        yield from (*outline.below, *outline.above)


@pytest.mark.parametrize("game", EVERY_GAME)
def test_no_text_of_a_picture_is_a_symbol_that_fonts_lack(game: Game) -> None:
    text = (game.folder / "picture.json").read_text(encoding="utf-8") + json.dumps(GAMES[game.id].title)
    assert all(ord(letter) < 0x250 for letter in text), "glyphs are paths of our own"


def test_a_picture_with_a_missing_theme_or_an_unknown_key_is_refused() -> None:
    with pytest.raises(KeyError, match="dark"):
        read({"grounds": {"sea": {"light": ["#000000", "#ffffff"]}}})
    with pytest.raises(ValueError, match="colors"):
        read({"colors": {}})


def test_a_class_that_no_look_has_is_an_error() -> None:
    with pytest.raises(KeyError):
        style('<rect class="a-nowhere"/>', Look(SHARED), "light")


def test_glyphs_have_a_size() -> None:
    for game in GAMES.values():
        assert all(isinstance(glyph, Glyph) and glyph.width > 0 and glyph.height > 0 for glyph in look(game).glyphs.values())


def test_news_tells_of_a_fight_with_its_dice() -> None:
    game = GAMES["war"]
    step = next(step for step in walk(Start(game, ["red", "blue"], {}, 1)) if step.action["type"] == "attack")
    told = news(game.scene(game.view(step.after, "spectator")), step.events, look(game))
    rolled = next(event for event in reversed(step.events) if event["type"] == "attack_rolled")
    assert told.dice == (Die(rolled["attack"]["die"], "accent"), Die(rolled["defence"]["die"], "bone"))
    assert any(f"attacker {rolled['attack']['total']}, defender {rolled['defence']['total']}" in sentence for sentence in told.sentences)
    assert step.action["tile"] in told.places


def test_news_tells_of_a_move_with_its_way() -> None:
    game = GAMES["war"]
    step = next(step for step in walk(Start(game, ["red", "blue"], {}, 1)) if step.action["type"] == "move")
    told = news(game.scene(game.view(step.after, "spectator")), step.events, look(game))
    moved = step.events[0]
    assert set(told.travels) == {Travel(moved["from"], goal, moved["seat"]) for goal in (*moved["to"], *moved["attacks"])}


def test_there_is_no_news_without_events() -> None:
    game = GAMES["war"]
    assert news(game.scene(game.begin(["red", "blue"], {})), [], look(game)) == News()


@pytest.mark.parametrize("game", EVERY_GAME)
def test_every_event_can_be_told_to_every_viewer(game: Game) -> None:
    options = {"war_of_civilizations": {"pirates": True, "disasters": True}}.get(game.id, {})
    found = look(game)
    told = set()
    for seed in range(1):
        for step in walk(Start(game, list(game.seats.ids), options, seed)):
            events = [game.shown(event, "spectator") for event in step.events]
            sentences = news(game.scene(game.view(step.after, "spectator")), events, found).sentences
            assert all(sentence and "{" not in sentence for sentence in sentences)
            told.update(event["type"] for event in events if event["type"] in found.picture.news)
    assert told >= {"match_ended", "round_started"}
