"""Every language says all that there is, and nothing else."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from babel.messages import pofile

from games import GAMES, patterns
from games.drawing import LINES, WIDTH
from games.kernel import AUDITOR, SPECTATOR
from games.sentences import say
from tests.games.matches import Start, sampled
from tests.games.test_laws import in_random_matches
from tests.web.test_scenes import faults, shown
from tools.texts import Text, is_translated, kept, texts_by_folder
from web.languages import ENGLISH, LANGUAGES, compiled
from web.look import look
from web.picture import PAGE, TALL, WIDE, draw

OTHERS = [language for language in LANGUAGES if language != ENGLISH]
FIELD = re.compile(r"\{(\w+(?:![rs])?(?::[^}]+)?)\}")
WORDS = re.compile(r">([^<>]*[A-Za-z]{3}[^<>]*)<")


@cache
def texts() -> dict[Path, list[Text]]:
    return texts_by_folder()


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_is_translated_and_every_translation_is_used(language: str) -> None:
    for folder, there in texts().items():
        catalog = kept(folder / f"{language}.po")
        said = {message.id: message for message in catalog if message.id}
        wanted = {(text.one, text.many) if text.many else text.one for text in there}
        assert {id for id in wanted if id not in said or not is_translated(said[id])} == set(), "./run texts writes them"
        assert said.keys() - wanted == set(), "nobody says these: ./run texts takes them out"
        assert all(len(message.string) == catalog.num_plurals for message in said.values() if message.pluralizable)
        ids = re.findall(r"^(msgid (?:.*\n)+?)(?=msgstr|msgid_plural)", (folder / f"{language}.po").read_text("utf-8"), re.MULTILINE)
        assert len(ids) == len(set(ids)), "a text stands there twice"


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_fields_of_the_text(language: str) -> None:
    for folder in texts():
        for message in kept(folder / f"{language}.po"):
            forms = [message.string] if isinstance(message.string, str) else message.string
            there = set(FIELD.findall(message.id if isinstance(message.id, str) else message.id[-1]))
            assert all(set(FIELD.findall(form)) == there for form in forms), message.id


@in_random_matches(1)
def test_pictures_and_boards_in_another_language_have_no_english_and_nothing_overlaps(start: Start) -> None:
    if start.game.id not in GAMES:
        return
    for language in OTHERS:
        for step in sampled(start, 6):
            for viewer, shape in ((step.actor, TALL), (SPECTATOR, PAGE), (SPECTATOR, WIDE)):
                view, events = start.game.view(step.after, viewer), shown(start.game, step.events, viewer)
                drawing = draw(start.game, view, events, shape, language=language)
                for sheet in drawing.sheets():
                    assert list(faults(sheet.boxes)) == []
                there = {word for fragment in drawing.fragments().values() for word in WORDS.findall(fragment)}
                assert {word for word in there if not patterns.matches(patterns.RULE, word)} == set()
                for reader in {viewer, AUDITOR}:
                    lines = start.game.board(start.game.view(step.after, reader), reader, look(start.game, language).say)
                    assert len(lines) <= LINES
                    assert [line for line in lines if len(line) > WIDTH or line != line.rstrip() or re.search("[A-Za-z]{3}", line)] == []


def test_many_threads_that_want_a_catalogue_at_once_read_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads, read = [], pofile.read_po

    def counted(file: Any) -> Any:
        reads.append(file.name)
        return read(file)

    monkeypatch.setattr(pofile, "read_po", counted)
    path = tmp_path / "ru.po"
    path.write_text("".join([f'msgid "{number}"\nmsgstr "{number}."\n\n' for number in range(2000)]))
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(compiled, [path] * 8))) == 1
    assert len(reads) == 1


def test_counts_and_the_names_of_places_are_said_in_their_forms() -> None:
    looks = look(GAMES["war_of_civilizations"], "ru")
    assert [looks.counted("gunboat", number) for number in (1, 2, 5)] == ["1 канонерка", "2 канонерки", "5 канонерок"]
    assert looks.say(say("{at} was laid waste in this turn", at="fox_haven")) == "Опустошение случилось в этот же ход: Гавань (Лиса)"
