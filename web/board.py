"""Draw the board: places and their content, ways, arrows, and what has just happened."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from games.scene import Area, Link, Mark, News, Piece, Place, Scene
from games.sentences import counted, listed, say
from web.drawing import Box, Sheet, group
from web.flow import GAP, Item, Placed, badge, drawn, flow, glyph, least, rectangle, text
from web.look import BADGE, Look, painted
from web.text import number, safe, whole, width

T = TypeVar("T", Piece, Mark)
COUNT, PILE_COUNT, NOTE = 15, 17, 15  # sizes of numbers
FEW = 3  # letters of a short word
PILES = ((1,), (2,), (2, 1), (2, 2), (3, 2), (3, 2, 1))  # pieces in each row of a pile, from below
STEP, RISE = 0.86, 0.46  # from one piece of a pile to the next, in sizes of the piece
TRIM, ASIDE = 26, 34  # of an arrow: the gap at both ends, and the distance from the middle
WING, SPREAD = 15, 0.5  # of an arrowhead: its length, and its angle in radians


def board(scene: Scene, news: News, look: Look, afar: bool = False) -> Sheet:
    """Return the sheet of the board. `afar`: True for pages, which also get what is shown of a place that is too small for its content."""
    places = {place.id: place for place in scene.places}
    pieces, marks = _by_place(scene.pieces), _by_place(scene.marks)
    drawn_map, titles = _map(tuple([place._replace(holder=None, badge="") for place in scene.places]), look, afar)
    if not scene.places:
        drawn_map = _empty(scene, look)
    fragments = {
        "ground": group("ground", _ground(scene.frame, look, afar)),
        "ways": group("ways", _ways(tuple([(link.source, link.target) for link in scene.links if link.kind == "way"]), scene.places)),
        "map": group("map", drawn_map),
    }
    boxes = list(titles)
    for place in scene.places:
        name = f"p-{place.id}"
        fragments[name], found = _content(name, place, tuple(pieces.get(place.id, ())), tuple(marks.get(place.id, ())), look, afar)
        boxes += found
    arrows = [_arrow(link, places, look, afar) for link in scene.links if link.kind != "way"]
    fragments["arrows"] = group("arrows", "".join(arrows))
    fragments["news"] = group("news", _touched(news, places, look))
    return Sheet("board", *scene.frame, fragments, boxes)


def _by_place(things: Iterable[T]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for thing in things:
        found.setdefault(thing.place, []).append(thing)
    return found


# ---------------------------------------------------------------- what rarely changes


@functools.lru_cache(maxsize=64)
def _ground(frame: Area, look: Look, afar: bool) -> str:
    """Return the table. On pages it goes on beyond the board, since the window on it may be of another shape."""
    more = max(frame.width, frame.height) if afar else 0
    left, top, wide, high = map(number, (frame.left - more, frame.top - more, frame.width + 2 * more, frame.height + 2 * more))
    table = f'<rect class="a-{look.picture.table}" x="{left}" y="{top}" width="{wide}" height="{high}" rx="{0 if afar else 14}"/>'
    return table + painted(look.picture.backdrop)


def _empty(scene: Scene, look: Look) -> str:
    """Return what stands on a board that is not laid out yet: the name of the game."""
    frame = scene.frame
    middle, half = frame.left + frame.width / 2, frame.top + frame.height / 2
    return text(scene.title, frame.width / 12, look.picture.table, middle, half, "b m").at(0, 0)


def _at(x: float, y: float, turn: float) -> str:
    """Return the attribute that moves an outline to its place."""
    return f' transform="translate({whole(x)} {whole(y)}){f"rotate({whole(turn)})" if turn else ""}"' if x or y or turn else ""


@functools.lru_cache(maxsize=64)
def _map(places: tuple[Place, ...], look: Look, afar: bool) -> tuple[str, tuple[Box, ...]]:
    """Return the outlines and the labels of places, and their boxes."""
    outlines = [_outline(place, look, afar) for place in places]
    titles = [_title(place, look, afar) for place in places]
    return "".join([*outlines, *[title for title, _ in titles]]), tuple([box for _, boxes in titles for box in boxes])


@functools.lru_cache(maxsize=4096)
def _outline(place: Place, look: Look, afar: bool) -> str:
    """Return the outline of a place. On pages it says whose land it is."""
    shape, ground, at = place.shape, place.ground, _at(place.x, place.y, place.turn)
    outline, named = look.picture.outlines[shape], f' data-id="{safe(place.id)}"'
    if afar and place.land is not None:
        named += f' data-land="{place.land}"'
    if afar:  # where its content has its middle
        area = place.area
        named += f' data-middle="{whole(area.left + area.width / 2)} {whole(area.top + (area.height + place.head) / 2)}"'
    below, above = f'<use href="#u-{shape}"/>' if outline.below else "", f'<use href="#v-{shape}"/>' if outline.above else ""
    alone = not (at or below or above)
    line = f'<use href="#o-{shape}" class="a-{ground} s-{outline.rim} shape"{named if alone else ""}/>'
    return line if alone else f"<g{at}{named}>{below}{line}{above}</g>"


@functools.lru_cache(maxsize=4096)
def _title(place: Place, look: Look, afar: bool) -> tuple[str, list[Box]]:
    """Return the label, the glyph and the notes of a place, and their boxes. Notes are beside the label if they fit, else below it."""
    area, parts = place.area, []
    boxes = [Box(place.id, "", *area)]
    notes = [_note(name, amount, place.ground, look) for name, amount in place.notes]
    label = [_label(place, look)] if place.label else []
    beside, sizes = _beside(place, look), []
    for top, items in ((0.0, [*label, *notes] if beside else label), (look.picture.label + GAP, [] if beside else notes)):
        placed = flow(items, area.width, look.picture.label + 4)
        parts.append(drawn(placed, area.left, area.top + top))
        sizes.append(least(placed))
        boxes += _boxes(placed, place, area.top + top)
    if afar and place.label:
        code = len(place.label) <= FEW  # it stands in the corner, so that the glyph can be beside it
        parts = [_near("".join(parts), min(sizes), f"{whole(area.left if code else area.left + area.width / 2)} {whole(area.top)}")]
    if place.glyph:
        art = look.glyphs[place.glyph]
        left, top = area.left + (area.width - art.width) / 2, area.top + look.picture.label + 4
        boxes.append(Box(f"{place.id} art", place.id, left, top, art.width, art.height))
        parts.append(glyph(place.glyph, f"i-{place.ground}" + " aside" * (afar and len(place.label) <= FEW), left, top).at(0, 0))
    return "".join(parts), boxes


def _boxes(placed: Placed, place: Place, top: float) -> list[Box]:
    """Return the boxes of items that are laid in the area of a place, from the height `top` down."""
    left, scale = place.area.left, placed.scale
    return [
        Box(f"{place.id} {item.id}", place.id, left + x * scale, top + y * scale, item.width * scale, item.height * scale)
        for item, x, y in placed.items
    ]


def _label(place: Place, look: Look) -> Item:
    size = look.picture.label
    return Item("label", width(place.label, size), size + 2, (text(place.label, size, place.ground, 0, size, "b"),))


def _beside(place: Place, look: Look) -> bool:
    """Return True if the notes of a place fit beside its label."""
    notes = sum([look.glyphs[name].width + 2 + width(str(amount), NOTE) + GAP for name, amount in place.notes])
    return notes + width(place.label, look.picture.label) <= place.area.width


def _note(name: str, amount: int, ground: str, look: Look) -> Item:
    art = look.glyphs[name]
    number_part = text(str(amount), NOTE, ground, art.width + 1, art.height - 1)
    return Item(name, art.width + 2 + width(str(amount), NOTE), art.height, (glyph(name, f"i-{ground}"), number_part))


def _middle(place: Place) -> tuple[float, float]:
    return place.area.left + place.area.width / 2, place.area.top + place.area.height / 2


@functools.lru_cache(maxsize=64)
def _ways(ways: tuple[tuple[str, str], ...], places: tuple[Place, ...]) -> str:
    """Return all ways, each from a place to a place, as one path. A way that begins at the end of the one before continues its line."""
    middles = {place.id: " ".join(map(whole, _middle(place))) for place in places}
    lines, last = "", ""
    for one, other in ways:
        source, target = middles[one], middles[other]
        lines += f"L{target}" if source == last else f"M{source}L{target}"
        last = target
    return f'<path class="way s-way" d="{lines}"/>' if lines else ""


# ---------------------------------------------------------------- the content of places


@functools.lru_cache(maxsize=4096)  # from one version to the next, most places stay as they are
def _content(name: str, place: Place, pieces: tuple[Piece, ...], marks: tuple[Mark, ...], look: Look, afar: bool) -> tuple[str, list[Box]]:
    """Return the content of a place: its holder, pieces and marks, and their boxes."""
    area, head = place.area, place.head + (0 if not place.notes or _beside(place, look) else NOTE + GAP)
    items = [*_pieces(place, pieces, look), *_marks(place, marks, look)]
    placed = flow(items, area.width, area.height - head, most=look.picture.scale)
    top = area.top + head + max((area.height - head - placed.height * placed.scale) / 2, 0)
    content = _holder(place, look)
    if not afar:
        content += drawn(placed, area.left - place.x, top - place.y)
    if content and (place.x or place.y):
        content = f"<g{_at(place.x, place.y, 0)}>{content}</g>"
    if afar:
        content += _near(drawn(placed, area.left, top), least(placed), _from_afar(place, pieces, marks))
    return group(name, content, _in_words(place, pieces, marks, look)), _boxes(placed, place, top)


def _holder(place: Place, look: Look) -> str:
    """Return a thick line in the colour of the seat that has a place, around its origin."""
    if place.holder is None:
        return ""
    outline = f'<use href="#o-{place.shape}" class='
    ground = look.crest(place.holder).ground
    lines = f'{outline}"rim s-edge"/>{outline}"held s-{ground}"/>'
    return f'<g transform="rotate({whole(place.turn)})">{lines}</g>' if place.turn else lines


def _in_words(place: Place, pieces: Sequence[Piece], marks: Sequence[Mark], look: Look) -> str:
    """Return a place and its content in words."""
    words = [_piece_in_words(piece, look) for piece in pieces]
    words += [f"{mark.name} {mark.text}".rstrip() for mark in marks]
    content = listed(words) or say("empty")
    if place.holder is None:
        return look.say(say("{place}: {content}", place=place.name, content=content))
    return look.say(say("{place}, held by {seat}: {content}", place=place.name, seat=look.crest(place.holder).name, content=content))


def _piece_in_words(piece: Piece, look: Look) -> str:
    words: str = counted(piece.number, piece.name) if piece.number > 1 or piece.pile else piece.name
    if piece.seat is not None:
        words = say("{seat} {piece}", seat=look.crest(piece.seat).name, piece=words)
    return say("{piece}, has acted", piece=words) if piece.spent else words


def _pieces(place: Place, pieces: Sequence[Piece], look: Look) -> list[Item]:
    """Return the pieces of a place. The pieces of each seat follow its badge."""
    items: list[Item] = []
    last: str | None = None
    for piece in sorted(pieces, key=lambda piece: piece.seat or ""):
        if piece.seat is not None and piece.seat != last:
            items.append(Item(piece.seat, BADGE, BADGE, (badge(piece.seat),)))
            last = piece.seat
        items.append(_pile(piece, place.ground, look) if piece.pile else _figure(piece, place.ground, look))
    return items


def _style(piece: Piece, ground: str, look: Look) -> str:
    """Return the classes of a piece: the colour of its seat, or the ink of the ground."""
    colour = f"a-{look.crest(piece.seat).ground} s-edge" if piece.seat is not None else f"i-{ground}"
    return f"{colour} spent" if piece.spent else colour


def _figure(piece: Piece, ground: str, look: Look) -> Item:
    art = look.glyphs[piece.glyph]
    parts = [glyph(piece.glyph, _style(piece, ground, look), id=piece.id)]
    wide = art.width
    if piece.spent:
        parts.append(glyph("check", f"i-{ground}", art.width - 9, art.height - 9))
    if piece.number > 1:
        parts.append(text(str(piece.number), COUNT, ground, art.width + 1, art.height - 2, "b"))
        wide += 2 + width(str(piece.number), COUNT)
    return Item(piece.id, wide, max(art.height, COUNT), parts)


def _pile(piece: Piece, ground: str, look: Look) -> Item:
    """Return equal pieces as a pile with their number. A pile never shows more pieces than the largest of PILES."""
    art, style = look.glyphs[piece.glyph], _style(piece, ground, look)
    rows = PILES[min(piece.number, len(PILES)) - 1]
    step, rise = art.width * STEP, art.height * RISE
    high = art.height + rise * (len(rows) - 1)
    parts = [
        glyph(piece.glyph, style, (rows[0] - many) * step / 2 + column * step, high - art.height - row * rise, piece.id)
        for row, many in enumerate(rows)
        for column in range(many)
    ]
    wide = art.width + step * (rows[0] - 1) + 2
    parts.append(text(str(piece.number), PILE_COUNT, ground, wide, high - 3, "b"))
    return Item(piece.id, wide + width(str(piece.number), PILE_COUNT), high, parts)


def _marks(place: Place, marks: Sequence[Mark], look: Look) -> list[Item]:
    """Return the tokens of a place in a row of their own, then its badge."""
    items: list[Item] = []
    for mark in marks:
        art = look.glyphs[mark.glyph]
        size = max(art.width, art.height) + 8
        parts = [
            rectangle(f"a-{mark.ground} s-edge shape" + (" spent" if mark.spent else ""), size, size, size / 3.2),
            glyph(mark.glyph, f"i-{mark.ground}", (size - art.width) / 2, (size - art.height) / 2, mark.id),
        ]
        wide = size
        if mark.text:
            parts.append(text(mark.text, NOTE, place.ground, size + 1, size - 5, "b"))
            wide += 2 + width(mark.text, NOTE)
        items.append(Item(mark.id, wide, size, parts, breaks=not items))
    if place.badge:
        wide = width(place.badge, NOTE) + 6
        parts = [rectangle("a-plain", wide, NOTE + 4, 7), text(place.badge, NOTE, "plain", wide / 2, NOTE, "m")]
        items.append(Item("badge", wide, NOTE + 4, parts))
    return items


# ---------------------------------------------------------------- what pages show of places that are too small for their content


def _near(content: str, smallest: float, afar: str) -> str:
    """Return what is shown where its letters can be read. `smallest`: their least size in board units, infinite if there are none. `afar`:
    what a page draws elsewhere, in its own units."""
    return f'<g class="near" data-least="{number(smallest)}" data-far="{safe(afar)}">{content}</g>' if smallest < math.inf else content


def _from_afar(place: Place, pieces: Sequence[Piece], marks: Sequence[Mark]) -> str:
    """Return what a place has, in words: `@red=3` for 3 pieces of a seat, `*civilian=2` for pieces of nobody by their glyph, and
    `crystal/token=15` for a mark by glyph, ground and letters, if these are few."""
    counts: dict[str, int] = {}
    for piece in sorted(pieces, key=lambda piece: piece.seat or ""):
        key = f"*{piece.glyph}" if piece.seat is None else f"@{piece.seat}"
        counts[key] = counts.get(key, 0) + piece.number
    words = [f"{key}={many}" for key, many in counts.items()]
    words += [f"{mark.glyph}/{mark.ground}={mark.text if len(mark.text) <= FEW else ''}" for mark in marks]
    return " ".join(words)


# ---------------------------------------------------------------- arrows and travels


def _curve(source: Place, target: Place) -> tuple[str, str, float, float]:
    """Return the paths of the shaft and the head of an arrow, and its midpoint. It runs beside the straight line and covers no pieces."""
    (x, y), (u, v) = _middle(source), _middle(target)
    far = math.hypot(u - x, v - y) or 1.0
    across, down = (u - x) / far, (v - y) / far
    trim, aside, bend = min(TRIM, far / 4), min(ASIDE, far / 3), min(far / 8, 20)
    x, y, u, v = x + across * trim, y + down * trim, u - across * trim, v - down * trim
    x, y, u, v = x - down * aside, y + across * aside, u - down * aside, v + across * aside
    bent = (x + u) / 2 - down * bend, (y + v) / 2 + across * bend
    angle = math.atan2(v - bent[1], u - bent[0])
    left, right = [f"{whole(u - WING * math.cos(angle + turn))} {whole(v - WING * math.sin(angle + turn))}" for turn in (SPREAD, -SPREAD)]
    shaft = f"M{whole(x)} {whole(y)}Q{whole(bent[0])} {whole(bent[1])} {whole(u)} {whole(v)}"
    return shaft, f"M{left}L{whole(u)} {whole(v)}L{right}", (x + u + 2 * bent[0]) / 4, (y + v + 2 * bent[1]) / 4


def _arrow(link: Link, places: Mapping[str, Place], look: Look, afar: bool) -> str:
    """Return an arrow, with its text in a bubble. On pages the bubble has the same size however large the board is."""
    shaft, head, x, y = _curve(places[link.source], places[link.target])
    ground = look.crest(link.seat).ground if link.seat is not None else "accent"
    arrow = _line(shaft + head, ground)
    if not link.text:
        return arrow
    wide = width(link.text, 14) + 12
    bubble = rectangle(f"a-{ground} s-edge shape", wide, 22, 11, -wide / 2, -11)
    inside = bubble.at(0, 0) + text(link.text, 14, ground, 0, 5, "b m").at(0, 0)
    if afar:
        inside = f'<g class="px">{inside}</g>'
    return f'{arrow}<g transform="translate({whole(x)} {whole(y)})">{inside}</g>'


def _line(path: str, ground: str) -> str:
    return f'<path class="line s-edge" stroke-width="9" d="{path}"/><path class="line s-{ground}" stroke-width="6" d="{path}"/>'


def _touched(news: News, places: Mapping[str, Place], look: Look) -> str:
    """Return the places that the last entry touched, and the ways of the pieces, with a light that runs along each way once."""
    touched = [places[id] for id in news.places if id in places]
    parts = [f'<use href="#o-{place.shape}" class="touched s-accent"{_at(place.x, place.y, place.turn)}/>' for place in touched]
    for travel in news.travels:
        if travel.source in places and travel.target in places:
            shaft, head, _, _ = _curve(places[travel.source], places[travel.target])
            ground = look.crest(travel.seat).ground if travel.seat is not None else "accent"
            parts.append(f'{_line(shaft + head, ground)}<path class="line comet" d="{shaft}"/>')
    return "".join(parts)
