"""Draw a view as one self-contained SVG document: without scripts, and without style sheets or fonts from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from games.kernel import Event, Game
from games.scene import News
from web.board import board
from web.drawing import Drawing, Sheet
from web.fight import fight
from web.languages import ENGLISH
from web.look import AUTO, Look, definitions, look, style
from web.news import news
from web.panels import heading, panel
from web.text import number, safe

WIDE, TALL = "wide", "tall"
SHAPES = (WIDE, TALL)
BOARD = "board"  # a picture of the board alone
PAGE = "page"  # sheets for an HTML page, which lays them out itself
GAP = 14.0
WIDTHS = {WIDE: 1440.0, TALL: 520.0, PAGE: 520.0}
PANEL = 340.0
HIGHEST = 1000.0  # of a board in a wide picture


def draw(game: Game, view: Any, events: Sequence[Event] = (), shape: str = WIDE, told: bool = True, language: str = ENGLISH) -> Drawing:
    """Return the drawing of a view. `events`: the events of the last entry, as the same viewer sees them. `told`: True if the heading shows
    them as sentences."""
    looks = look(game, language)
    scene = looks.shown(game.scene(view))
    fresh = news(scene, events, looks) if events else News()
    fought = game.fight(view, events) if game.fight is not None else None
    if fought is not None:
        fought = looks.shown(fought)
    if fought is not None and any(side.dice for side in fought.sides):
        fresh = fresh._replace(dice=())  # they are beside what they add up to
    wide = WIDTHS[shape] - 2 * GAP
    below = _room(looks) if shape == WIDE else PANEL if shape == PAGE else wide
    beside = wide if shape == TALL else PANEL
    return Drawing(
        f"{scene.title}, {scene.status}",
        fresh,
        heading(scene, fresh if told else fresh._replace(sentences=()), looks, wide),
        board(scene, fresh, looks, afar=shape == PAGE),
        [panel(shown, scene.over, looks, beside if shown.seat is not None else below) for shown in scene.panels],
        fight(fought, game.id, looks) if fought is not None else None,
    )


def _room(looks: Look) -> float:
    """Return how wide the board of a wide picture may be."""
    return WIDTHS[WIDE] - 2 * GAP - looks.picture.columns * (PANEL + GAP)


def svg(game: Game, view: Any, events: Sequence[Event] = (), shape: str = WIDE, theme: str = AUTO, language: str = ENGLISH) -> str:
    """Return the picture of a view. `shape`: WIDE has the panels beside the board, TALL below it, and BOARD has none. `theme`: light, dark,
    or AUTO for the reader's preference."""
    drawing, looks = draw(game, view, events, WIDE if shape == BOARD else shape, language=language), look(game, language)
    body, high = (_wide if shape == WIDE else _tall if shape == TALL else _alone)(drawing, looks)
    wide = number(drawing.board.width if shape == BOARD else WIDTHS[shape])
    page = f'<rect class="a-page" width="{wide}" height="{number(high)}"/>{body}'
    defined = definitions(page, looks)
    size = f'viewBox="0 0 {wide} {number(high)}" width="{wide}" height="{number(high)}"'
    in_language = f' lang="{language}"' if language != ENGLISH else ""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"{in_language}><title>{safe(drawing.title)}</title>'
    return f"{head}<style>{style(defined + page, looks, theme)}</style>{defined}{page}</svg>"


def _tall(drawing: Drawing, looks: Look) -> tuple[str, float]:
    """Return the sheets one below the other, and their total height."""
    wide = WIDTHS[TALL] - 2 * GAP
    top, parts = GAP / 2, []
    for sheet in drawing.sheets():
        parts.append(_placed(sheet, GAP, top, wide))
        top += sheet.height * wide / sheet.width + GAP
    return "".join(parts), top


def _wide(drawing: Drawing, looks: Look) -> tuple[str, float]:
    """Return the board with the common panels below it and the panels of seats in columns to its right, and the total height."""
    columns = [0.0] * looks.picture.columns
    room, sheet = _room(looks), drawing.board
    high = min(room * sheet.height / sheet.width, HIGHEST)
    top = drawing.heading.height + GAP / 2
    across = high * sheet.width / sheet.height
    parts = [_placed(drawing.heading, GAP, GAP / 2, drawing.heading.width), _placed(sheet, GAP + (room - across) / 2, top, across)]
    bottom = top + high + GAP
    if drawing.fight is not None:
        parts.append(_placed(drawing.fight, GAP + (room - drawing.fight.width) / 2, bottom, drawing.fight.width))
        bottom += drawing.fight.height + GAP
    for beside in drawing.panels:
        if beside.width == room:
            parts.append(_placed(beside, GAP, bottom, room))
            bottom += beside.height + GAP
        else:
            column = columns.index(min(columns))
            parts.append(_placed(beside, GAP + room + GAP + column * (PANEL + GAP), top + columns[column], PANEL))
            columns[column] += beside.height + GAP
    return "".join(parts), max(bottom, top + max(columns))


def _alone(drawing: Drawing, looks: Look) -> tuple[str, float]:
    """Return the board, and its height."""
    return _placed(drawing.board, 0, 0, drawing.board.width), drawing.board.height


def _placed(sheet: Sheet, left: float, top: float, across: float) -> str:
    """Return a sheet at a point of the picture. `across`: its width in units of the picture."""
    scale = across / sheet.width
    box = f"{number(sheet.left)} {number(sheet.top)} {number(sheet.width)} {number(sheet.height)}"
    size = f'x="{number(left)}" y="{number(top)}" width="{number(across)}" height="{number(sheet.height * scale)}"'
    return f'<svg {size} viewBox="{box}">{"".join(sheet.fragments.values())}</svg>'
