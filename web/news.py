"""What has just happened, from the events of an entry as a viewer is shown them, told by the sentences of picture.json."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from games.drawing import listed
from games.kernel import Event
from games.scene import Die, News, Scene, Travel
from web.look import Look

MOST = 3  # sentences
MOST_PLACES = 8  # that are marked as touched; more than these are the whole map
PART = re.compile(r"\[([^\]]*)\]")
FIELD = re.compile(r"\{(\w+)\}")


def news(scene: Scene, events: Sequence[Event], look: Look) -> News:
    """Return the news of events. An event without a sentence is not told; of many, the last are."""
    places = {place.id: place.name for place in scene.places}
    sentences: list[str] = []
    touched: list[str] = []
    travels: list[Travel] = []
    dice: list[Die] = []
    for event in events:
        telling = look.picture.news.get(event["type"])
        if telling is None:
            continue
        if telling.sentence:
            sentences.append(_sentence(telling.sentence, event, places, look))
        touched += [id for value in event.values() for id in _named(value) if id in places and id not in touched]
        for goal in telling.way[1:]:
            travels += [Travel(event[telling.way[0]], end, event.get("seat")) for end in _named(event[goal])]
        if telling.dice:
            dice = [Die(face, ground) for field, ground in telling.dice.items() for face in _faces(event[field])]
    return News(tuple(sentences[-MOST:]), tuple(touched) if len(touched) <= MOST_PLACES else (), tuple(travels), tuple(dice))


def _sentence(template: str, event: Event, places: Mapping[str, str], look: Look) -> str:
    """Return an event in words. A field of a field has both names with an underscore between them."""
    inner = {f"{name}_{key}": value for name, row in event.items() if isinstance(row, Mapping) for key, value in row.items()}
    fields = {**inner, **event}

    def part(found: re.Match[str]) -> str:
        return found[1] if all(fields[name] not in (None, {}, [], 0) for name in FIELD.findall(found[1])) else ""

    return PART.sub(part, template).format_map({name: _said(value, places, look) for name, value in fields.items()})


def _said(value: Any, places: Mapping[str, str], look: Look) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        if value in look.picture.crests:
            return look.crest(value).name
        return places.get(value) or look.picture.word(value)
    if isinstance(value, Mapping):
        return listed([_pair(key, inner, places, look) for key, inner in value.items()]) or "nothing"
    if isinstance(value, list):
        return listed([_said(inner, places, look) for inner in value]) or "nothing"
    return str(value)


def _pair(key: str, value: Any, places: Mapping[str, str], look: Look) -> str:
    name = _said(key, places, look)
    if isinstance(value, bool) or not isinstance(value, int):
        return f"{name}: {_said(value, places, look)}"
    return f"{value} to {name}" if key in places else f"1 {name}" if value == 1 else f"{value} × {name}"


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
