"""How one game looks: its picture.json together with what all games share (theme.json), and both as style and definitions."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

from games.kernel import Game
from games.picture import THEMES, Crest, Glyph, Ground, Picture, Stroke, picture, read
from web.text import number

AUTO = "auto"
_SHARED = json.loads((Path(__file__).parent / "theme.json").read_text(encoding="utf-8"))
BADGES: Mapping[str, str] = _SHARED.pop("badges")
SHARED: Picture = read(_SHARED)
BADGE = 20
STYLE = """
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
.b{font-weight:700}.m{text-anchor:middle}.e{text-anchor:end}
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


class Look:
    """The looks of a game with the shared ones below them. There is one for each game. `mark` changes when the looks do."""

    def __init__(self, own: Picture) -> None:
        self.picture = own
        self.mark = hashlib.sha256(repr((own, SHARED, BADGES, STYLE)).encode()).hexdigest()[:8]
        self.grounds: Mapping[str, Ground] = {**SHARED.grounds, **own.grounds}
        self.paints: Mapping[str, tuple[str, str]] = {**SHARED.paints, **own.paints}
        self.glyphs: Mapping[str, Glyph] = {**SHARED.glyphs, **own.glyphs}

    def crest(self, seat: str) -> Crest:
        """Return how a seat is told. A seat without a crest, such as a neutral power, has its first letter on plain ground."""
        return self.picture.crests.get(seat) or Crest(self.picture.word(seat).capitalize(), seat[0].upper(), "circle", "plain")


def look(game: Game) -> Look:
    """Return the looks of a game."""
    return _look(game.folder)


@functools.cache
def _look(folder: Path) -> Look:
    return Look(picture(folder))


@functools.lru_cache(maxsize=4096)
def painted(strokes: tuple[Stroke, ...]) -> str:
    """Return paths as SVG. A path without a paint takes the colour of its user."""
    return "".join([_path(stroke) for stroke in strokes])


def _path(stroke: Stroke) -> str:
    name = stroke.paint
    if not stroke.width:
        kind = "" if not name else f' class="{name}"' if name in ("shade", "shine") else f' class="a-{name}"'
        return f'<path{kind} d="{stroke.path}"/>'
    dash = f' stroke-dasharray="{stroke.dash}"' if stroke.dash else ""
    return f'<path class="line {f"s-{name}" if name else "k"}" stroke-width="{number(stroke.width)}"{dash} d="{stroke.path}"/>'


def style(text: str, look: Look, theme: str) -> str:
    """Return the style of a picture: the rules for the classes that `text` uses, for one theme or for the one that the reader prefers."""
    classes = sorted({name for names in re.findall(r'class="([^"]*)"', text) for name in names.split()})
    sizes = "".join([f".{name}{{font-size:{name[1:].replace('_', '.')}px}}" for name in classes if re.fullmatch(r"f[\d_]+", name)])
    if theme != AUTO:
        return STYLE + sizes + _colours(classes, look, THEMES.index(theme))
    return f"{STYLE}{sizes}{_colours(classes, look, 0)}@media (prefers-color-scheme:dark){{{_colours(classes, look, 1)}}}"


def _colours(classes: list[str], look: Look, theme: int) -> str:
    rules = []
    for name in classes:
        kind, _, colour = name.partition("-")
        if kind == "i" and colour:
            ink = look.grounds[colour].inks[theme]
            rules.append(f".{name}{{fill:{ink};color:{ink}}}")
        elif kind in ("a", "s") and colour:
            value = look.grounds[colour].fills[theme] if colour in look.grounds else look.paints[colour][theme]
            rules.append(f".{name}{{fill:{value};color:{value}}}" if kind == "a" else f".{name}{{stroke:{value}}}")
    return "".join(rules)


def definitions(text: str, look: Look) -> str:
    """Return the definitions that `text` uses, each once: `g-` a glyph, `o-` an outline, `u-` what is under it, `v-` over it, `b-` a
    badge."""
    found = []
    for name in sorted(set(re.findall(r'href="#([^"]+)"', text))):
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
            letter = f'<text class="f12 b m i-{crest.ground}" x="10" y="14.3">{crest.letter}</text>'
            found.append(f'<g id="{name}"><path class="a-{crest.ground} s-edge" d="{BADGES[crest.badge]}"/>{letter}</g>')
    return f"<defs>{''.join(found)}</defs>"
