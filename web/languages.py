"""Languages: the catalogues that say in other languages what code, templates and data say in English.

A catalogue is a PO file named by its language: one in the folder of each game, `table/ru.po` and `web/ru.po`. A language exists if
`web/` has a catalogue of it. What a catalogue lacks is said in English. English has no catalogue, and no catalogue is read before somebody
asks for its language.
"""

from __future__ import annotations

import functools
import io
import threading
from collections.abc import Iterator, Mapping
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Any

from games.sentences import Sentence

ENGLISH = "en"
_ROOT = Path(__file__).parents[1]
WEB, TABLE = _ROOT / "web", _ROOT / "table"
LANGUAGES = (ENGLISH, *sorted([path.stem for path in WEB.glob("*.po")]))
"""Every language, by its code: those that have a catalogue, after English."""


@functools.cache
def own_name(language: str) -> str:
    """Return the name of a language in that language."""
    from babel import Locale

    return str(Locale.parse(language).get_display_name(language)).capitalize()


def day_of(moment: float, language: str) -> str:
    """Return the day of a moment, in ms, in words."""
    from babel.dates import format_skeleton

    return format_skeleton("yMMMMd", moment / 1000, locale="en_GB" if language == ENGLISH else language)


@functools.cache
def catalogue(language: str, *folders: Path) -> NullTranslations:
    """Return the catalogue of a language: that of several files as one, of which the first that has a text says it."""
    found = NullTranslations()
    for path in reversed(files(language, *folders)):
        own = GNUTranslations(io.BytesIO(compiled(path)))
        own.add_fallback(found)
        found = own
    return found


def files(language: str, *folders: Path) -> list[Path]:
    """Return the PO files of a language that exist, in the order in which a text is looked up: those of folders, then of the table, then
    of pages. Without folders, that of pages is the first.
    """
    order = (*folders, TABLE, WEB) if folders else (WEB, TABLE)
    return [path for folder in order if language != ENGLISH and (path := folder / f"{language}.po").exists()]


_READING = threading.Lock()


def compiled(path: Path) -> bytes:
    """Return a PO file as gettext reads it. After a start, many threads may want it at once: one reads it."""
    with _READING:
        return _compiled(path)


@functools.cache
def _compiled(path: Path) -> bytes:
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    written = io.BytesIO()
    with path.open("rb") as file:
        write_mo(written, read_po(file))
    return written.getvalue()


def texts(language: str, folder: Path = WEB) -> Iterator[tuple[str, str, str]]:
    """Yield each text of a catalogue: its English, its English for several or "", and what is said, for several the first form."""
    from babel.messages.pofile import read_po

    with (folder / f"{language}.po").open("rb") as file:
        for message in read_po(file):
            if message.id and message.string:
                one, many = (message.id, "") if isinstance(message.id, str) else message.id
                yield one, many, message.string if isinstance(message.string, str) else message.string[0]


def forms(language: str, one: str, many: str, *folders: Path) -> dict[str, str]:
    """Return the forms of a text with a number by the category of CLDR, such as "few", as Intl.PluralRules of browsers names it.

    >>> forms("en", "{count} match", "{count} matches")
    {'one': '{count} match', 'other': '{count} matches'}
    """
    said = catalogue(language, *folders)
    return {category: said.ngettext(one, many, number) for category, number in _numbers(language).items()}


@functools.cache
def _numbers(language: str) -> dict[str, int]:
    """Return a number of each category that whole numbers have in a language."""
    if language == ENGLISH:
        return {"one": 1, "other": 2}
    from babel import Locale

    return {Locale.parse(language).plural_form(number): number for number in range(101)}


class Words:
    """What is said in a language. `names`: what ids among the facts of a sentence are called. There is one object for each language.

    >>> from games.sentences import say
    >>> words_of("en")(say("{seat} won.", seat="Red"))
    'Red won.'
    """

    def __init__(self, language: str, texts: NullTranslations, names: Mapping[str, str]) -> None:
        self.language = language
        self._texts = texts
        self._names = names

    def __call__(self, text: str) -> str:
        """Return a text in the language. The facts of a sentence are said, too."""
        if self.language == ENGLISH:
            return text
        if not isinstance(text, Sentence):
            return self._texts.gettext(text) if text else text
        template = self._texts.ngettext(text.template, text.many, text.number) if text.many else self._texts.gettext(text.template)
        return template.format_map({name: self._fact(value) for name, value in text.facts.items()}) if text.facts else template

    def _fact(self, value: Any) -> Any:
        """Return a fact in the language: a list of names with commas, an id by its name."""
        if isinstance(value, (list, tuple)):
            return ", ".join([self._fact(one) for one in value])
        if not isinstance(value, str):
            return value
        name = None if isinstance(value, Sentence) else self._names.get(value)  # the plural of a noun may be an id, too
        return name or self(value)


@functools.cache
def words_of(language: str) -> Words:
    """Return what is said in a language outside games."""
    return Words(language, catalogue(language), {})
