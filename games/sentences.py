"""Sentences: texts that know their facts, so that they can be said in other languages.

A sentence is a string, in English, so code that knows no languages needs nothing else. To say it in another language, its template is
looked up in a catalogue (web/languages.py), and its facts are said in that language, too. Templates are found in the code by the names of
the functions here (`./run texts`), so they are literals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, reduce
from typing import Any

Tell = Callable[[str], str]
"""What says a text or a sentence in a language: `str` for English."""


class Sentence(str):
    """A text in English with its facts.

    `template`: the text with the names of its facts in braces. `many`: the same for several, chosen by `number`; "" if there is one form.
    A fact may be a sentence itself, or a list of names, which stand with commas between them.
    """

    __slots__ = ("facts", "many", "number", "template")

    template: str
    facts: Mapping[str, Any]
    many: str
    number: int

    def __new__(cls, template: str, facts: Mapping[str, Any], many: str = "", number: int = 1) -> Sentence:
        """Return a sentence, said in English."""
        form = many if many and number != 1 else template
        said = {name: ", ".join(value) if isinstance(value, (list, tuple)) else value for name, value in facts.items()}
        made = super().__new__(cls, form.format_map(said) if said else form)
        made.template, made.facts, made.many, made.number = template, facts, many, number
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.template, self.facts, self.many, self.number


def say(template: str, /, **facts: Any) -> Sentence:
    """Return a sentence with its facts.

    >>> say("{seat} moves to {place}.", seat="Red", place="C2")
    'Red moves to C2.'
    >>> say("Still to come: {seats}.", seats=["Red", "Blue"])
    'Still to come: Red, Blue.'
    """
    return Sentence(template, facts) if facts else _plain(template)


@lru_cache(maxsize=1024)
def named(id: str, english: str = "") -> Sentence:
    """Return what an id is called: in English as given, or the id with blanks; in other languages as the look of the game says it.

    >>> named("north_sea"), named("end_void", "void")
    ('north sea', 'void')
    """
    made: Sentence = str.__new__(Sentence, english or id.replace("_", " "))
    made.template, made.facts, made.many, made.number = "{name}", {"name": id}, "", 1
    return made


@lru_cache(maxsize=1024)
def _plain(text: str) -> Sentence:
    return Sentence(text, {})


def say_many(one: str, many: str, number: int, /, **facts: Any) -> Sentence:
    """Return a sentence in the form for a number.

    >>> [say_many("{count} match is over", "{count} matches are over", count, count=count) for count in (1, 2)]
    ['1 match is over', '2 matches are over']
    """
    return Sentence(one, facts, many, number)


def counted(number: int, thing: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "card"), counted(2, "card")
    ('1 card', '2 cards')
    """
    return Sentence("{number} {thing}", {"number": number, "thing": Sentence(thing, {}, many or f"{thing}s", number)})


def listed(names: Sequence[str]) -> str:
    """Return names as a phrase.

    >>> listed(["red", "blue", "green"]), listed(["red"]), listed([])
    ('red, blue and green', 'red', '')
    """
    if len(names) < 2:
        return names[0] if names else ""
    return Sentence("{names} and {last}", {"names": list(names[:-1]), "last": names[-1]})


def either(names: Iterable[str]) -> str:
    """Return names as a choice.

    >>> either(["move", "attack", "pass"]), either(["pass"])
    ('move or attack or pass', 'pass')
    """
    return reduce(lambda one, other: say("{one} or {other}", one=one, other=other), names)


def joined(names: Sequence[str]) -> str:
    """Return names with commas between them.

    >>> joined(["red", "blue"]), joined([])
    ('red, blue', '')
    """
    return Sentence("{names}", {"names": list(names)}) if names else ""
