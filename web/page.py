"""What HTML pages need besides the sheets of a picture: the badges of seats, for several games on one page."""

from __future__ import annotations

from games.kernel import Game
from web.drawing import Sheet
from web.languages import ENGLISH
from web.look import BADGES, Look, look
from web.text import number, safe


def crests(game: Game, language: str = ENGLISH) -> str:
    """Return the badges of a game's seats as SVG symbols, `c-<game>-<seat>`. Their colours come from `crest_style`."""
    looks = look(game, language)
    return "".join([_crest(game.id, seat, looks) for seat in game.seats.ids])


def _crest(game: str, seat: str, looks: Look) -> str:
    crest = looks.crest(seat)
    letter = f'<text font-size="15" class="b m {game}-{seat}-ink" x="10" y="15.4">{crest.letter}</text>'
    shape = f'<path class="{game}-{seat} s-edge" d="{BADGES[crest.badge]}"/>'
    return f'<symbol id="c-{game}-{seat}" viewBox="-1 -1 22 22">{shape}{letter}</symbol>'


def crest_style(game: Game) -> str:
    """Return the style with the colours of `crests`. The `color-scheme` of the page chooses the theme."""
    looks = look(game)
    rules = [".b{font-weight:700}.m{text-anchor:middle}"]
    for seat in game.seats.ids:
        fills, inks = looks.grounds[looks.crest(seat).ground]
        name = f".{game.id}-{seat}"
        rules.append(f"{name}{{fill:light-dark({fills[0]},{fills[1]})}}{name}-ink{{fill:light-dark({inks[0]},{inks[1]})}}")
    return "".join(rules)


def sheet_svg(sheet: Sheet) -> str:
    """Return a sheet as an SVG element of a page."""
    box = " ".join(map(number, (sheet.left, sheet.top, sheet.width, sheet.height)))
    return f'<svg data-sheet="{safe(sheet.id)}" viewBox="{box}">{"".join(sheet.fragments.values())}</svg>'
