"""picture.json as typed constants: how a game looks. No rule reads it, so a change of looks is no change of the rules' revision."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

THEMES = ("light", "dark")
_NOUN = re.compile(r"\{\w+:([^}]+)\}")


class Ground(NamedTuple):
    """A colour that things are drawn on, and the colour of the ink on it, for each theme of THEMES."""

    fills: tuple[str, str]
    inks: tuple[str, str]


class Stroke(NamedTuple):
    """A path. `paint`: a ground, a paint, shade or shine; "" is the colour that the user sets. `width`: of its line; 0 means filled.

    `scale`: if it is not 0, `path` is the name of an outline, which is drawn filled and so many times as large.
    """

    paint: str
    path: str
    width: float = 0
    dash: str = ""
    scale: float = 0


class Glyph(NamedTuple):
    """A small drawing in a box with the origin at the upper left."""

    width: float
    height: float
    strokes: tuple[Stroke, ...]


class Outline(NamedTuple):
    """The outline of places, the paint of its line, and what is drawn below and above it."""

    path: str
    rim: str
    below: tuple[Stroke, ...]
    above: tuple[Stroke, ...]


class Crest(NamedTuple):
    """How a seat is told: by letter, by the shape of its badge (a name of `web/theme.json`), and by its ground."""

    name: str
    letter: str
    badge: str
    ground: str


class Telling(NamedTuple):
    """How an event is told.

    `sentence` has the fields of the event in braces, `{what:offer}` for the word `offer_` and the value. A part in square brackets is left
    out where one of its fields is empty, and what it has after a bar is told instead. `dice`: the grounds of dice, by the field that has
    their faces. `way`: the field of the place that pieces left, and those of where they went.
    """

    sentence: str
    dice: Mapping[str, str]
    way: tuple[str, ...]


class Picture(NamedTuple):
    """A whole picture.json.

    `goal`, `length`, `weight`: what one plays for, how long, and how hard it is to learn, each in a sentence; "" if it does not say.
    `deeds`: an action as a sentence, by its type, in the language of `Telling`; `{to:unit to}` says a count with what is counted. `asks`:
    the question for a field of an action, by the name of the field, or by type and field with a slash between them. `terms`: what a word
    of this game means, by the word on a panel, or by the id in an action.
    `columns`: of panels in a wide picture. `table`: the ground below the board. `label`: the size of the names of places. `scale`: how much
    pieces grow where there is room. `rules`: the ids of the rules by which actions and events happen, by the type, and by the type and a
    value of a field with a slash between them. `map` is the game's own: where its places lie.
    """

    goal: str
    length: str
    weight: str
    columns: int
    table: str
    label: float
    scale: float
    grounds: Mapping[str, Ground]
    paints: Mapping[str, tuple[str, str]]
    crests: Mapping[str, Crest]
    glyphs: Mapping[str, Glyph]
    outlines: Mapping[str, Outline]
    backdrop: tuple[Stroke, ...]
    words: Mapping[str, str]
    deeds: Mapping[str, str]
    asks: Mapping[str, str]
    terms: Mapping[str, str]
    news: Mapping[str, Telling]
    rules: Mapping[str, tuple[str, ...]]
    map: Any

    def word(self, id: str) -> str:
        """Return the words for an id, or the id with blanks."""
        return self.words.get(id) or id.replace("_", " ")

    def several(self, id: str) -> str:
        """Return the word for several of what an id names: that of the id with an s, if it is like the word for one; else ""."""
        one, many = self.words.get(id, ""), self.words.get(f"{id}s", "")
        return many if one and many.startswith(one[:-1]) else ""

    @property
    def nouns(self) -> dict[str, str]:
        """The nouns that deeds count, such as "unit to", with the words for several, such as "units to", in the order of the alphabet."""
        found = sorted({noun for deed in self.deeds.values() for noun in _NOUN.findall(deed)})
        return {noun: re.sub(r"\w+", r"\g<0>s", noun, count=1) for noun in found}


@functools.cache
def picture(folder: Path) -> Picture:
    """Return the looks of the game in a folder."""
    return read(json.loads((folder / "picture.json").read_text(encoding="utf-8")))


def read(data: Mapping[str, Any]) -> Picture:
    """Return looks from JSON. A theme that is missing, and a key that is unknown, raise an error."""
    unknown = set(data) - set(Picture._fields) - {"about"}
    if unknown:
        raise ValueError(f"unknown keys: {', '.join(sorted(unknown))}")
    return Picture(
        goal=data.get("goal", ""),
        length=data.get("length", ""),
        weight=data.get("weight", ""),
        columns=data.get("columns", 1),
        table=data.get("table", "table"),
        label=data.get("label", 13),
        scale=data.get("scale", 1),
        grounds={name: Ground(*zip(*(row[theme] for theme in THEMES), strict=True)) for name, row in data.get("grounds", {}).items()},
        paints={name: (row[0], row[1]) for name, row in data.get("paints", {}).items()},
        crests={seat: Crest(**row) for seat, row in data.get("crests", {}).items()},
        glyphs={name: Glyph(row["size"][0], row["size"][1], _strokes(row["strokes"])) for name, row in data.get("glyphs", {}).items()},
        outlines={
            name: Outline(row["path"], row.get("rim", "edge"), _strokes(row.get("below", []), name), _strokes(row.get("above", []), name))
            for name, row in data.get("outlines", {}).items()
        },
        backdrop=_strokes(data.get("backdrop", [])),
        words=data.get("words", {}),
        deeds=data.get("deeds", {}),
        asks=data.get("asks", {}),
        terms=data.get("terms", {}),
        news={
            kind: Telling(row.get("say", ""), row.get("dice", {}), tuple(row.get("way", ()))) for kind, row in data.get("news", {}).items()
        },
        rules={kind: tuple(row) for kind, row in data.get("rules", {}).items()},
        map=data.get("map", {}),
    )


def _strokes(rows: list[list[Any]], outline: str = "") -> tuple[Stroke, ...]:
    """Return strokes from JSON. A number instead of a path is the outline itself, so many times as large."""
    return tuple([Stroke(*row) if isinstance(row[1], str) else Stroke(row[0], outline, scale=row[1]) for row in rows])
