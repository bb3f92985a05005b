"""The look of a game: its picture.json with the parts that all games share (theme.json, table.json), as SVG styles and definitions."""

from __future__ import annotations

import functools
import hashlib
import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from games.kernel import Game
from games.picture import THEMES, Crest, Glyph, Ground, Picture, Stroke, Telling, picture, read
from web.text import number

AUTO = "auto"
_THEME, _TABLE = (json.loads((Path(__file__).parent / name).read_text(encoding="utf-8")) for name in ("theme.json", "table.json"))
BADGES: Mapping[str, str] = _THEME.pop("badges")
SHARED: Picture = read({**_THEME, **_TABLE})
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


class Look:
    """The look of a game. What picture.json does not define comes from the shared look. There is one object for each game.

    `mark` changes with the look, with the renderer, and with `scenes`, the source of the game's scenes.
    """

    def __init__(self, own: Picture, scenes: bytes = b"") -> None:
        self.picture = own
        self.mark = hashlib.sha256(repr((own, SHARED, BADGES, _SOURCES, scenes)).encode()).hexdigest()[:8]
        self.grounds: Mapping[str, Ground] = {**SHARED.grounds, **own.grounds}
        self.paints: Mapping[str, tuple[str, str]] = {**SHARED.paints, **own.paints}
        self.glyphs: Mapping[str, Glyph] = {**SHARED.glyphs, **own.glyphs}
        self.news: Mapping[str, Telling] = {**SHARED.news, **own.news}
        self.rules: Mapping[str, tuple[str, ...]] = {**SHARED.rules, **own.rules}

    def crest(self, seat: str) -> Crest:
        """Return the crest of a seat. A seat without one, such as a neutral power, gets its first letter on plain ground."""
        return self.picture.crests.get(seat) or Crest(self.picture.word(seat).capitalize(), seat[0].upper(), "circle", "plain")

    def word(self, id: str) -> str:
        """Return the words for an id, or the id with blanks."""
        return self.picture.words.get(id) or SHARED.word(id)


def look(game: Game) -> Look:
    """Return the look of a game."""
    return _look(game.folder)


@functools.cache
def _look(folder: Path) -> Look:
    return Look(picture(folder), b"".join([path.read_bytes() for path in folder.glob("scene.py")]))


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
