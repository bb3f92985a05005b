"""Draw a fight: both sides beside each other, what each adds up, and how it stands."""

from __future__ import annotations

from collections.abc import Iterator

from games.scene import Fight, Piece, Side
from games.sentences import counted, say
from web.drawing import Box, Sheet, group
from web.flow import Item, Part, badge, drawn, flow, glyph, rectangle, text
from web.look import BADGE, Look
from web.panels import MARGIN, SMALL, card_item, die_item
from web.text import safe, width, wrapped

WIDE = 360.0
HALF = WIDE / 2 - 1.5 * MARGIN  # the width of a side
NAME, TEXT, TOTAL = 15, 13, 24  # sizes of text
LINE = 18.0


def fight(shown: Fight, game: str, look: Look) -> Sheet:
    """Return the sheet of a fight. `game`: the id of the game, for links to its rules."""
    top = MARGIN
    parts = [text(shown.name, 16, "panel", MARGIN, 15, "b").at(0, top)]
    boxes = [Box("fight name", "fight", MARGIN, top, width(shown.name, 16), LINE)]
    top += LINE + 8
    between = top
    for rows in zip(*[_rows(side, look) for side in shown.sides], strict=True):
        placed = [flow(items, HALF, float("inf"), centred=False, gap=5) for items in rows]
        for place, row in enumerate(placed):
            left = MARGIN + place * (HALF + MARGIN)
            parts.append(drawn(row, left, top))
            boxes += [Box(f"{place} {item.id}", "fight", left + x, top + y, item.width, item.height) for item, x, y in row.items]
        high = max([row.height for row in placed])
        top += high + 5 if high else 0
    parts.append(rectangle("a-rule", 2, top - between - 5, 1, WIDE / 2 - 1, between).at(0, 0))
    top += 4
    lines = wrapped(shown.status, NAME, WIDE - 4 * MARGIN)
    high = len(lines) * LINE + 10
    said = [rectangle("a-accent", WIDE - 2 * MARGIN, high, 8, MARGIN, top).at(0, 0)]
    said += [text(line, NAME, "accent", MARGIN * 2, top + 19 + place * LINE, "b").at(0, 0) for place, line in enumerate(lines)]
    boxes.append(Box("fight status", "fight", MARGIN, top, WIDE - 2 * MARGIN, high))
    top += high + 6
    links = flow([_rule(id, game) for id in shown.rules], WIDE - 2 * MARGIN, float("inf"), centred=False, gap=10)
    boxes += [Box(item.id, "fight", MARGIN + x, top + y, item.width, item.height) for item, x, y in links.items]
    said.append(drawn(links, MARGIN, top))
    top += links.height + 8
    paper = (
        rectangle("a-panel s-accent", WIDE - 4, top - 4, 12, 2, 2)
        ._replace(after=f' stroke-width="3" data-at="{safe(shown.place)}"/>')
        .at(0, 0)
    )
    fragments = {"fight": group("fight", "".join([paper, *parts, *said]))}
    return Sheet("fight", 0, 0, WIDE, top, fragments, [Box("fight", "", 0, 0, WIDE, top), *boxes])


def _rows(side: Side, look: Look) -> Iterator[list[Item]]:
    """Yield what is shown of a side, row by row: who it is, its pieces, its cards, what it adds up, its dice, and the sum."""
    sign = [badge(side.seat)] if side.seat is not None else []
    role = [text(side.role, TEXT, "panel", HALF, 15, "e")]
    if side.won:
        role = [rectangle("a-coin", 26, 20, 10, HALF - 26), glyph("crown", "i-coin", HALF - 22, 3)]
    yield [Item("name", HALF, 22, (*sign, text(side.name, NAME, "panel", (BADGE + 6) * len(sign), 16, "b"), *role))]
    yield [_piece(piece, look) for piece in side.pieces]
    yield [*[card_item(card, look) for card in side.cards], *[_sealed(number) for number in range(side.hidden)]]
    yield [_detail(f"{place} {detail.name}", detail.name, detail.value) for place, detail in enumerate(side.details)]
    yield [die_item(place, die) for place, die in enumerate(side.dice)]
    yield [_total(side.total, look)] if side.total else []
    yield [_words("note", line, "b") for line in wrapped(side.note, TEXT, HALF)]


def _words(id: str, words: str, style: str = "") -> Item:
    return Item(f"{id} {words}", width(words, TEXT), LINE, (text(words, TEXT, "panel", 0, 14, style),))


def _piece(piece: Piece, look: Look) -> Item:
    """Return a piece as it is on the board, and its number."""
    art = look.glyphs[piece.glyph]
    style = f"a-{look.crest(piece.seat).ground} s-edge" if piece.seat is not None else "i-panel"
    number, high = f"×{piece.number}" if piece.number > 1 else "", max(art.height, LINE)
    parts = [glyph(piece.glyph, style, 0, high - art.height)]
    if number:
        parts.append(text(number, TEXT, "panel", art.width + 2, high - 4, "b"))
    return Item(f"{counted(piece.number, piece.name)}", art.width + 4 + width(number, TEXT), high, parts)


def _sealed(number: int) -> Item:
    """Return something that the viewer sees from behind."""
    wide, high = SMALL[1], SMALL[0]
    seal = Part(wide / 2 - 6, high / 2 - 6, '<rect class="a-accent s-edge" width="12" height="12" rx="6"')
    return Item(f"sealed {number}", wide, high, (rectangle("a-back s-rule shape", wide, high, 6), seal))


def _detail(id: str, name: str, value: str) -> Item:
    """Return a line with a number at its end."""
    return Item(id, HALF, LINE, (text(name, TEXT, "panel", 0, 14), text(value, TEXT, "panel", HALF, 14, "b e")))


def _total(total: str, look: Look) -> Item:
    high = TOTAL + 8.0
    line = rectangle("a-rule", HALF, 2, 1)
    name = text(look.say(say("sum")), TEXT, "panel", 0, high - 6)
    return Item("total", HALF, high, (line, name, text(total, TOTAL, "panel", HALF, high - 4, "b e")))


def _rule(id: str, game: str) -> Item:
    before = f'<a href="/games/{game}#{safe(id)}"><text font-size="12" class="i-panel u"'
    return Item(id, width(id, 12), 16, (Part(0, 13, before, f">{safe(id)}</text></a>"),))
