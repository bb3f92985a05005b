"""The look of a game: its picture.json with the parts that all games share (theme.json, table.json), as SVG styles and definitions."""

from __future__ import annotations

import functools
import hashlib
import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from gettext import NullTranslations
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from games.chance import Drawn
from games.kernel import SPECTATOR, SYSTEM, Game, carry_out, legal
from games.picture import THEMES, Crest, Glyph, Ground, Picture, Stroke, Telling, picture, read
from games.scene import WORDS, Fight, Piece, Scene
from games.sentences import counted
from web.languages import ENGLISH, Words, catalogue, files
from web.text import number

S = TypeVar("S", Scene, Fight)

AUTO = "auto"
_THEME, _TABLE = (json.loads((Path(__file__).parent / name).read_text(encoding="utf-8")) for name in ("theme.json", "table.json"))
BADGES: Mapping[str, str] = _THEME.pop("badges")
SHARED: Picture = read({**_THEME, **_TABLE})
"""What all games share, in English."""
PHRASES = tuple([word.removeprefix("say_") for word in SHARED.words if word.startswith("say_")])
"""What players may say at a table: set phrases, by ids. Their words are in table.json."""

BADGE = 20
STYLE = """
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
.b{font-weight:700}.m{text-anchor:middle}.e{text-anchor:end}.u{text-decoration:underline}
.line{fill:none;stroke-linejoin:round;stroke-linecap:round}.k{stroke:currentColor}
.shape{stroke-width:1.5}.held{fill:none;stroke-width:6}.rim{fill:none;stroke-width:9}
.spent{opacity:.5}.shade{fill:#000;fill-opacity:.28}.shine{fill:#fff;fill-opacity:.4}
.touched{fill:none;stroke-width:4;stroke-dasharray:9 6}
.way{fill:none;stroke-width:5;stroke-linecap:round;stroke-dasharray:1 11}
.comet{stroke:#fff;stroke-width:4;stroke-dasharray:12 600;opacity:0;animation:go 1.2s ease-in-out}
.die{animation:fall .5s ease-out;transform-box:fill-box;transform-origin:center}
@keyframes go{from{stroke-dashoffset:0;opacity:.8}to{stroke-dashoffset:-600;opacity:.8}}
@keyframes fall{from{transform:rotate(-180deg)}}
@media (prefers-reduced-motion:reduce){.comet,.die{animation:none}}
""".replace("\n", "")


_SOURCES = hashlib.sha256(b"".join([path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))])).hexdigest()


_NO_TEXTS, _NO_PLACES = NullTranslations(), MappingProxyType[str, str]({})


class Look:
    """The look of a game in a language. What picture.json does not define comes from the shared look. There is one object for each game
    and language.

    `mark` changes with the look, with the language, with the renderer, and with `sources`: those of the game's scenes, and catalogues.
    `places`: the names of places that are known without a match. `say` says texts and sentences.
    """

    def __init__(
        self,
        own: Picture,
        language: str = ENGLISH,
        texts: NullTranslations = _NO_TEXTS,
        sources: bytes = b"",
        places: Mapping[str, str] = _NO_PLACES,
    ) -> None:
        self._own = own
        said = Words(language, texts, {})
        self.picture = said_picture(own, said)
        self.shared = said_picture(SHARED, said)
        self.mark = hashlib.sha256(repr((own, SHARED, BADGES, _SOURCES, sources)).encode()).hexdigest()[:8]
        self.grounds: Mapping[str, Ground] = {**SHARED.grounds, **own.grounds}
        self.paints: Mapping[str, tuple[str, str]] = {**SHARED.paints, **own.paints}
        self.glyphs: Mapping[str, Glyph] = {**SHARED.glyphs, **own.glyphs}
        self.news: Mapping[str, Telling] = {**self.shared.news, **self.picture.news}
        self.rules: Mapping[str, tuple[str, ...]] = {**SHARED.rules, **own.rules}
        crests = {seat: crest.name for seat, crest in self.picture.crests.items()}
        names = {**self.picture.words, **crests}
        known = Words(language, texts, names)  # names of places may have facts
        self.say = said if language == ENGLISH else Words(language, texts, {**{id: known(name) for id, name in places.items()}, **names})

    def shown(self, scene: S) -> S:
        """Return a scene, or a fight, in the language of the look."""
        return scene if self.say.language == ENGLISH else _said(scene, self.say)

    def counted(self, id: str, number: int) -> str:
        """Return a number of things in words. Their id with an s is that of several, if there is one."""
        many = self._own.several(id)
        if not many:
            return f"1 {self.word(id)}" if number == 1 else f"{number} × {self.word(id)}"
        return self.say(counted(number, self._own.word(id), many))

    def crest(self, seat: str) -> Crest:
        """Return the crest of a seat. A seat without one, such as a neutral power, gets its first letter on plain ground."""
        return self.picture.crests.get(seat) or Crest(self.picture.word(seat).capitalize(), seat[0].upper(), "circle", "plain")

    def word(self, id: str) -> str:
        """Return the words for an id, or the id with blanks."""
        return self.picture.words.get(id) or self.shared.word(id)


_LOOKS: dict[tuple[Path, str], Look] = {}


def look(game: Game, language: str = ENGLISH) -> Look:
    """Return the look of a game in a language."""
    found = _LOOKS.get((game.folder, language))
    if found is None:
        sources = b"".join([path.read_bytes() for path in (*game.folder.glob("scene.py"), *files(language, game.folder))])
        texts = catalogue(language, game.folder)
        places = {} if language == ENGLISH else _places(game)
        found = _LOOKS.setdefault((game.folder, language), Look(picture(game.folder), language, texts, sources, places))
    return found


def _places(game: Game) -> dict[str, str]:
    """Return the names of the places that are the same in every match, by id: those on the map before it is set up, and those of lands."""
    state = game.begin(list(game.seats.ids), {})
    found = {place.id: place.name for place in game.scene(game.view(state, SPECTATOR)).places}
    while SYSTEM in state["to_act"]:
        state = carry_out(game, state, SYSTEM, legal(game, state, SYSTEM)[0]["action"], Drawn(lambda below: 0)).state
    return found | {place.id: place.name for place in game.scene(game.view(state, SPECTATOR)).places if place.land is not None}


def said_picture(own: Picture, say: Words) -> Picture:
    """Return a picture with its texts in a language. Words that panels explain are found in both languages."""
    if say.language == ENGLISH:
        return own

    def said(texts: Mapping[str, str]) -> dict[str, str]:
        return {id: say(text) for id, text in texts.items()}

    return own._replace(
        goal=say(own.goal),
        length=say(own.length),
        weight=say(own.weight),
        words=said(own.words),
        deeds=said(own.deeds),
        asks=said(own.asks),
        terms={**said(own.terms), **{say(name): say(text) for name, text in own.terms.items()}},
        crests={seat: crest._replace(name=say(crest.name), letter=say(crest.letter)) for seat, crest in own.crests.items()},
        news={kind: telling._replace(sentence=say(telling.sentence)) for kind, telling in own.news.items()},
    )


def _said(shown: Any, say: Words) -> Any:
    """Return a part of a scene in a language. The names of pieces stay: what is counted is said with its number."""
    if isinstance(shown, Piece) or not hasattr(shown, "_fields"):
        return shown
    return type(shown)(*[_said_value(name in WORDS, value, say) for name, value in zip(shown._fields, shown, strict=True)])


_said_part = functools.lru_cache(maxsize=4096)(_said)  # from one version to the next, most parts stay as they are


def _said_value(words: bool, value: Any, say: Words) -> Any:
    if isinstance(value, str):
        return say(value) if words else value
    if not isinstance(value, tuple):
        return value
    return _said_part(value, say) if hasattr(value, "_fields") else tuple([_said_value(words, one, say) for one in value])


@functools.lru_cache(maxsize=4096)
def painted(strokes: tuple[Stroke, ...]) -> str:
    """Return paths as SVG. A path without a paint takes the colour of its user."""
    return "".join([_path(stroke) for stroke in strokes])


def _path(stroke: Stroke) -> str:
    name = stroke.paint
    if not stroke.width:
        kind = "" if not name else f' class="{name}"' if name in ("shade", "shine") else f' class="a-{name}"'
        if stroke.scale:
            return f'<use href="#o-{stroke.path}"{kind} transform="scale({stroke.scale:g})"/>'
        return f'<path{kind} d="{stroke.path}"/>'
    dash = f' stroke-dasharray="{stroke.dash}"' if stroke.dash else ""
    return f'<path class="line {f"s-{name}" if name else "k"}" stroke-width="{number(stroke.width)}"{dash} d="{stroke.path}"/>'


def style(text: str, look: Look, theme: str) -> str:
    """Return the style of a picture: the rules for the classes that `text` uses, for one theme or for the reader's preferred theme."""
    classes = sorted({name for names in re.findall(r'class="([^"]*)"', text) for name in names.split()})
    if theme != AUTO:
        return STYLE + _colours(classes, look, lambda pair: pair[THEMES.index(theme)])
    light, dark = [_colours(classes, look, operator.itemgetter(place)) for place in range(len(THEMES))]
    return f"{STYLE}{light}@media (prefers-color-scheme:dark){{{dark}}}"


def stylesheet(look: Look) -> str:
    """Return the style for everything that a picture of a game may contain, for pages. The `color-scheme` of the page chooses the theme."""
    classes = [f"{kind}-{name}" for kind in "as" for name in (*look.grounds, *look.paints)] + [f"i-{name}" for name in look.grounds]
    return STYLE + _colours(classes, look, lambda pair: f"light-dark({pair[0]},{pair[1]})")


def _colours(classes: list[str], look: Look, chosen: Callable[[tuple[str, str]], str]) -> str:
    """Return the rules for the classes that are colours. `chosen`: returns the value of a rule, given a colour for each theme."""
    rules = []
    for name in classes:
        kind, _, colour = name.partition("-")
        if kind == "i" and colour:
            ink = chosen(look.grounds[colour].inks)
            rules.append(f".{name}{{fill:{ink};color:{ink}}}")
        elif kind in ("a", "s") and colour:
            value = chosen(look.grounds[colour].fills if colour in look.grounds else look.paints[colour])
            rules.append(f".{name}{{fill:{value};color:{value}}}" if kind == "a" else f".{name}{{stroke:{value}}}")
    return "".join(rules)


def definitions(text: str, look: Look) -> str:
    """Return the definitions that `text` uses, each once: `g-` a glyph, `o-` an outline, `u-` the part under it, `v-` the part over it,
    `b-` a badge."""
    return _defined(set(re.findall(r'href="#([^"]+)"', text)), look)


def all_definitions(look: Look, seats: Iterable[str]) -> str:
    """Return every definition that a picture of a game may use, for pages. `seats`: the seats of the game."""
    names = {f"g-{name}" for name in look.glyphs} | {f"b-{seat}" for seat in (*look.picture.crests, *seats)}
    for name, outline in look.picture.outlines.items():
        names |= {f"o-{name}", *([f"u-{name}"] if outline.below else []), *([f"v-{name}"] if outline.above else [])}
    return _defined(names, look)


def _defined(names: set[str], look: Look) -> str:
    found = []
    for name in sorted(names):
        kind, _, rest = name.partition("-")
        if kind == "g":
            found.append(f'<g id="{name}">{painted(look.glyphs[rest].strokes)}</g>')
        elif kind == "o":
            found.append(f'<path id="{name}" d="{look.picture.outlines[rest].path}"/>')
        elif kind == "u":
            found.append(f'<g id="{name}">{painted(look.picture.outlines[rest].below)}</g>')
        elif kind == "v":
            found.append(f'<g id="{name}">{painted(look.picture.outlines[rest].above)}</g>')
        elif kind == "b":
            crest = look.crest(rest)
            letter = f'<text font-size="15" class="b m i-{crest.ground}" x="10" y="15.4">{crest.letter}</text>'
            found.append(f'<g id="{name}"><path class="a-{crest.ground} s-edge" d="{BADGES[crest.badge]}"/>{letter}</g>')
    return f"<defs>{''.join(found)}</defs>"
