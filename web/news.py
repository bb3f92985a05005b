"""The news of an entry: sentences, touched places, travels and dice, from the events that a viewer is shown.

The sentences come from picture.json and table.json.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from games import patterns
from games.kernel import Event
from games.scene import Die, News, Scene, Travel
from games.sentences import listed, say
from web.look import Look

MOST_PLACES = 8  # the most places to mark as touched; more would be the whole map
PART = re.compile(r"\[([^\]|]*)(?:\|([^\]]*))?\]")
FIELD = re.compile(r"\{(\w+)(?::(\w+))?\}")
EMPTY: tuple[Any, ...] = (None, {}, [], 0)
PLAYER = re.compile(patterns.PLAYER)

Named = Callable[[str], str]


def in_braces(player: str) -> str:
    """Return the id of a player in braces, for clients that replace it by the name."""
    return f"{{{player}}}"


def news(scene: Scene, events: Sequence[Event], look: Look, named: Named = in_braces) -> News:
    """Return the news of events. Events without a telling are skipped. `named`: returns the name of a player, given the id."""
    places = {place.id: place.name for place in scene.places}
    sentences: list[str] = []
    touched: list[str] = []
    travels: list[Travel] = []
    dice: list[Die] = []
    for event in events:
        telling = look.news.get(event["type"])
        if telling is None:
            continue
        if telling.sentence:
            sentences.append(_sentence(telling.sentence, event, _Words(places, look, named)))
        touched += [id for value in event.values() for id in _named(value) if id in places and id not in touched]
        for goal in telling.way[1:]:
            travels += [Travel(event[telling.way[0]], end, event.get("seat")) for end in _named(event[goal])]
        if telling.dice:
            dice = [Die(face, ground) for field, ground in telling.dice.items() for face in _faces(event[field])]
    return News(tuple(sentences), tuple(touched) if len(touched) <= MOST_PLACES else (), tuple(travels), tuple(dice))


def faces(event: Event, look: Look) -> dict[str, list[int]]:
    """Return the faces of the dice of an event, by the field that has them. Empty if it has none."""
    telling = look.news.get(event["type"])
    return {} if telling is None else {field: list(_faces(event[field])) for field in telling.dice}


def entry_in_words(sentences: tuple[str, ...], actor: str, action: Mapping[str, Any], look: Look) -> tuple[str, ...]:
    """Return an entry in sentences: those of its events, or, if there are none, a sentence that says who did what."""
    words, telling = _Words({}, look, in_braces), look.news.get(action["type"])
    return sentences or (
        _sentence(telling.sentence, {"type": action["type"], "seat": actor}, words)
        if telling
        else f"{_said(actor, words)}: {look.word(action['type'])}.",
    )


def rules_of(action: Mapping[str, Any], events: Sequence[Event], look: Look) -> list[str]:
    """Return the ids of the rules behind an entry: those of its action, then those of its events."""
    found = list(look.rules.get(action["type"], ()))
    for event in events:
        found += look.rules.get(event["type"], ())
        found += [id for value in event.values() if isinstance(value, str) for id in look.rules.get(f"{event['type']}/{value}", ())]
    return list(dict.fromkeys(found))


class _Words(NamedTuple):
    """What sentences need: the names of places, the look, and the names of players."""

    places: Mapping[str, str]
    look: Look
    named: Named


def _sentence(template: str, event: Event, words: _Words) -> str:
    """Return an event in words. A field of an inner object is named `outer_inner`."""
    inner = {f"{name}_{key}": value for name, row in event.items() if isinstance(row, Mapping) for key, value in row.items()}
    fields = {**inner, **event}

    def part(found: re.Match[str]) -> str:
        return found[1] if all(fields.get(name) not in EMPTY for name, _ in FIELD.findall(found[1])) else found[2] or ""

    def field(found: re.Match[str]) -> str:
        value = fields.get(found[1])
        if found[2] == "signed":
            return f"{value:+}".replace("-", "−")
        return _said(f"{found[2]}_{value}" if found[2] else value, words)

    return FIELD.sub(field, PART.sub(part, template))


def _said(value: Any, words: _Words) -> str:
    """Return a value in words."""
    if value is None:
        return words.look.say(say("nothing"))
    if isinstance(value, str):
        if value in words.look.picture.crests:
            return words.look.crest(value).name
        return words.places.get(value) or (words.named(value) if PLAYER.fullmatch(value) else words.look.word(value))
    if isinstance(value, Mapping):
        return _all([_pair(key, inner, words) for key, inner in value.items()], words)
    if isinstance(value, list):
        return _all([_said(inner, words) for inner in value], words)
    return str(value)


def _all(names: list[str], words: _Words) -> str:
    return words.look.say(listed(names) or say("nothing"))


def _pair(key: str, value: Any, words: _Words) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        return f"{_said(key, words)}: {_said(value, words)}"
    if key in words.places:
        return words.look.say(say("{number} to {place}", number=value, place=words.places[key]))
    return words.look.counted(key, value)


def _named(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value


def _faces(value: Any) -> Iterator[int]:
    if isinstance(value, Mapping):
        yield value["die"]
    elif isinstance(value, list):
        yield from value
    elif value is not None:
        yield value
