"""Draw what is beside the board: the heading, and the panels of the seats and of common things."""

from __future__ import annotations

import functools

from games.scene import Card, Detail, Die, Hand, News, Panel, Scene, Track
from games.sentences import listed, say
from web.drawing import Box, Sheet, group
from web.flow import Item, Part, badge, drawn, flow, glyph, moved, rectangle, text
from web.look import BADGE, Look
from web.text import REGULAR, number, safe, width, wrapped

MARGIN = 12.0
SMALL = (40.0, 54.0)  # sizes of cards
LARGE = (154.0, 96.0)
BAND = 44.0  # the coloured part of a large card
TITLE, STATUS, NAME, SCORE, TEXT, FINE = 24, 15, 17, 22, 13, 12  # sizes of text
NAMED = 12.5  # the size of the name of a large card
COIN = 2  # letters of a cost that fit on a coin
MOST = 3  # the most sentences of news; the last ones are shown
PILL = 20.0
BAR = 150.0
FAN, FAN_STEP = 5, 9.0  # face-down cards: the most in a fan, and the distance between two
DIE = 34.0
PIPS = {1: (4,), 2: (0, 8), 3: (0, 4, 8), 4: (0, 2, 6, 8), 5: (0, 2, 4, 6, 8), 6: (0, 2, 3, 5, 6, 8)}


class _Column:
    """A sheet that grows downwards. New things belong to the fragment that was begun last, and at first to the fragment of the sheet."""

    def __init__(self, id: str, wide: float, ground: str) -> None:
        self.id, self.wide, self.ground = id, wide, ground
        self.bottom = MARGIN
        self.parts: list[str] = []
        self.boxes: list[Box] = []
        self._begun = {id: self.parts}

    def begin(self, part: str) -> None:
        """Begin the fragment of a part of the sheet."""
        self.parts = self._begun[f"{self.id}-{part}"] = []

    def sheet(self, height: float, below: str = "") -> Sheet:
        """Return the sheet. `below`: SVG that lies under everything else."""
        contents = {name: "".join(parts) for name, parts in self._begun.items()}
        contents[self.id] = below + contents[self.id]
        fragments = {name: group(name, content) for name, content in contents.items()}
        return Sheet(self.id, 0, 0, self.wide, height, fragments, [Box(self.id, "", 0, 0, self.wide, height), *self.boxes])

    def flow(self, items: list[Item], gap: float = 6) -> None:
        """Add items in rows."""
        placed = flow(items, self.wide - 2 * MARGIN, float("inf"), centred=False, gap=gap)
        for item, x, y in placed.items:
            self.boxes.append(Box(item.id, self.id, MARGIN + x, self.bottom + y, item.width, item.height))
        self.parts.append(drawn(placed, MARGIN, self.bottom))
        self.bottom += placed.height + 6

    def words(self, words: str, size: float = TEXT, style: str = "", left: float = MARGIN) -> None:
        """Add a paragraph."""
        for line in wrapped(words, size, self.wide - left - MARGIN):
            self.add([text(line, size, self.ground, 0, size, style)], line, left, width(line, size), size + 2)
            self.bottom += size + 5
        self.bottom += 1

    def add(self, parts: list[Part], id: str, left: float, wide: float, high: float) -> None:
        """Add parts at the present height."""
        self.parts += [part.at(left, self.bottom) for part in parts]
        self.boxes.append(Box(id, self.id, left, self.bottom, wide, high))


# ---------------------------------------------------------------- the heading


def heading(scene: Scene, news: News, look: Look, wide: float) -> Sheet:
    """Return the sheet at the top: the game, whose turn it is, the tracks, and the news."""
    column = _Column("heading", wide, "page")
    column.flow(
        [
            _words("title", scene.title, TITLE, "page", "b"),
            _words("status", scene.status, STATUS, "page"),
            *_turn(scene.winners if scene.over else scene.acting, scene.over, look),
            *[_track(track) for track in scene.tracks],
        ],
        gap=16,
    )
    column.begin("dice")
    if news.dice:
        column.flow([die_item(place, die) for place, die in enumerate(news.dice)], gap=8)
    if news.sentences:
        column.begin("sentences")
        top = column.bottom
        for sentence in news.sentences[-MOST:]:
            column.words(sentence, STATUS, left=MARGIN + 12)
        column.parts.append(rectangle("a-accent", 5, column.bottom - top - 2, 2, MARGIN, top).at(0, 0))
    return column.sheet(column.bottom + 2)


@functools.lru_cache(maxsize=1024)
def _words(id: str, words: str, size: float, ground: str, style: str = "") -> Item:
    return Item(id, width(words, size), size + 6, (text(words, size, ground, 0, size + 1, style),))


@functools.lru_cache(maxsize=256)
def _turn(seats: tuple[str, ...], over: bool, look: Look) -> tuple[Item, ...]:
    """Return who must act, or in a match that is over who has won, as badges and words on the accent colour."""
    if not seats and not over:
        return ()
    names = listed([look.crest(seat).name for seat in seats])
    if names:
        words = look.say(say("{seats} won", seats=names) if over else say("{seats} to act", seats=names))
    else:
        words = look.say(say("Nobody won") if over else say("Nobody to act"))
    wide, left = width(words, STATUS) + 36, len(seats) * (BADGE + 3) + 4
    parts = [
        *[badge(seat, place * (BADGE + 3), 3) for place, seat in enumerate(seats)],
        rectangle("a-accent", wide, 26, 13, left),
        glyph("crown" if over else "acts", "i-accent", left + 9, 6),
        text(words, STATUS, "accent", left + 30, 18, "b"),
    ]
    return (Item("turn", left + wide, 26, parts),)


@functools.lru_cache(maxsize=1024)
def _track(track: Track) -> Item:
    """Return a track as a bar with its name and numbers."""
    words = f"{track.name} {track.value} / {track.most}"
    parts = [
        text(words, STATUS, "page", 0, 13, "b"),
        rectangle("a-plain s-edge", BAR, 9, 4, 0, 18),
        rectangle(f"a-{track.ground}", BAR * min(track.value, track.most) / max(track.most, 1), 9, 4, 0, 18),
    ]
    return Item(track.id, max(BAR, width(words, STATUS)), 28, parts)


def die_item(place: int, die: Die) -> Item:
    """Return a die with its pips. `place`: its number among those that are shown."""
    step = DIE / 4
    spots = [f'cx="{number(step * (pip % 3 + 1))}" cy="{number(step * (pip // 3 + 1))}"' for pip in PIPS[die.face]]
    pips = "".join([f'<circle class="i-{die.ground}" {spot} r="3.4"/>' for spot in spots])
    face = rectangle(f"a-{die.ground} s-edge shape", DIE, DIE, 7).at(0, 0)
    return Item(f"die {place}", DIE, DIE, (Part(0, 0, '<svg class="die" overflow="visible"', f">{face}{pips}</svg>"),))


# ---------------------------------------------------------------- a panel


@functools.lru_cache(maxsize=512)  # from one version to the next, most panels stay as they are
def panel(shown: Panel, over: bool, look: Look, wide: float) -> Sheet:
    """Return the sheet of a panel. Hands of small cards share rows. `over`: True if the match is over."""
    column = _Column(f"panel-{shown.id}", wide, "panel")
    column.begin("name")
    _name(column, shown, over, look)
    column.begin("details")
    if shown.details:
        column.flow([_detail(detail, look) for detail in shown.details], gap=12)
    small: list[Item] = []
    for place, hand in enumerate(shown.hands):
        items = [*[card_item(card, look) for card in hand.cards], *_backs(hand)]
        if any(card.text for card in hand.cards):
            column.begin(f"hand-{place}")
            column.words(hand.name, 12, "b")
            column.flow(items)
        elif items:
            small += [_words(f"{column.id} {hand.name}", hand.name, 12, "panel", "b"), *items]
    column.begin("hands")
    if small:
        column.flow(small)
    column.begin("lines")
    for line in shown.lines:
        column.words(line, 12)
    height = column.bottom + 8
    return column.sheet(height, below=_rim(shown, look, wide, height))._replace(seat=shown.seat)


def _rim(shown: Panel, look: Look, wide: float, height: float) -> str:
    """Return the paper of a panel with a border in the colour of its seat, and a second one in the accent colour if the seat must act."""
    ground, line = (look.crest(shown.seat).ground, 5) if shown.seat is not None else ("rule", 2)
    inset = 6 if shown.acts else 3
    paper = rectangle(f"a-panel s-{ground}", wide - 2 * inset, height - 2 * inset, 12, inset, inset)
    paper = paper._replace(after=f' stroke-width="{line}"/>')
    return (rectangle("a-accent", wide, height, 14).at(0, 0) if shown.acts else "") + paper.at(0, 0)


def _name(column: _Column, shown: Panel, over: bool, look: Look) -> None:
    """Add the first line of a panel: badge, name, state, score. The score gets its own line if it does not fit."""
    left, parts = 0.0, []
    if shown.seat is not None:
        parts.append(badge(shown.seat))
        left = BADGE + 8
    parts.append(text(shown.name, NAME, "panel", left, 16, "b"))
    left += width(shown.name, NAME) + 6
    states = (
        (shown.acts, "acts", say("to act"), "accent"),
        (shown.ahead, "crown", say("won") if over else say("ahead"), "coin"),
        (shown.out, "skull", say("out"), "plain"),
    )
    for true, sign, state, ground in states:
        if true:
            words = look.say(state)
            wide = width(words, 12) + 34
            pill = rectangle(f"a-{ground}", wide, PILL, PILL / 2), glyph(sign, f"i-{ground}", 7, 3), text(words, 12, ground, 28, 14.5, "b")
            column.parts.append(moved(Item(sign, wide, PILL, pill), MARGIN + left, column.bottom))
            left += wide + 6
    column.add(parts, f"{column.id} name", MARGIN, left - 6, 22)
    if shown.score is not None:
        wide = width(shown.score.value, SCORE) + 4 + width(shown.score.name, 12)
        start = column.wide - MARGIN - wide
        if MARGIN + left > start:
            column.bottom += 24
        value = text(shown.score.value, SCORE, "panel", wide, 18, "b e")
        label = text(shown.score.name, 12, "panel", wide - width(shown.score.value, SCORE) - 4, 17, "e")
        if shown.score.name in look.picture.terms:
            label = label._replace(before=f'{label.before} data-term="{safe(shown.score.name)}"')
        column.add([value, label], f"{column.id} score", start, wide, 22)
    column.bottom += 28


@functools.lru_cache(maxsize=1024)
def _detail(detail: Detail, look: Look) -> Item:
    parts, left, high = [], 0.0, 18.0
    if detail.glyph:
        art = look.glyphs[detail.glyph]
        high = max(high, art.height)
        parts.append(glyph(detail.glyph, "i-panel", 0, (high - art.height) / 2))
        left = art.width + 4
    words = f"{detail.name} {detail.value}".strip()
    value = f'<tspan class="b">{safe(detail.value)}</tspan>' if detail.value else ""
    content = f"{safe(detail.name)} {value}".strip()
    term = f' data-term="{safe(detail.name)}"' if detail.name in look.picture.terms else ""
    parts.append(Part(left, high / 2 + 5, f'<text font-size="{TEXT}" class="i-panel"{term}', f">{content}</text>"))
    return Item(words, left + width(words, TEXT), high, parts)


# ---------------------------------------------------------------- cards


@functools.lru_cache(maxsize=1024)
def card_item(card: Card, look: Look) -> Item:
    """Return a card: with its text, as a small one, or as its name alone."""
    return _large(card, look) if card.text else _small(card, look) if card.glyph else _strip(card)


def _paper(card: Card, size: tuple[float, float]) -> Part:
    return rectangle("a-card s-edge shape" + (" spent" if card.spent else ""), *size, 6, id=card.id)


def _art(card: Card, look: Look, size: float, middle: float, top: float) -> Part:
    """Return the glyph of a card in a square of the given size."""
    art = look.glyphs[card.glyph]
    scale = size / max(art.width, art.height)
    left, upper = middle - art.width * scale / 2, top + (size - art.height * scale) / 2
    placed = f'transform="translate({number(left)} {number(upper)})scale({scale:.3g})"'
    return Part(0, 0, f'<use href="#g-{card.glyph}" class="i-{card.ground}" {placed}')


def _strip(card: Card) -> Item:
    """Return a card that shows only its name."""
    wide = width(card.name, 12) + 16
    parts = [rectangle(f"a-{card.ground} s-edge shape", wide, 24, 6, id=card.id), text(card.name, 12, card.ground, 8, 16.5, "b")]
    return Item(card.id, wide, 24, parts)


def _small(card: Card, look: Look) -> Item:
    wide, high = SMALL
    parts = [
        _paper(card, SMALL),
        rectangle(f"a-{card.ground}", wide - 6, high - 6, 4, 3, 3),
        _art(card, look, 24, wide / 2, 6),
        text(card.cost, 16, card.ground, wide / 2, high - 8, "b m"),
    ]
    return Item(card.id, wide, high, parts)


def _large(card: Card, look: Look) -> Item:
    """Return a card with its text. A cost of up to COIN letters is on a coin; a longer cost is below the text."""
    wide = LARGE[0]
    coin = 0 < len(card.cost) <= COIN
    lines = [wrapped(option, FINE * REGULAR, wide - 11) for option in card.text]
    foot = 14 if card.number > 1 or (card.cost and not coin) else 0
    high = max(LARGE[1], BAND + 10 + sum([len(rows) * (FINE + 1.5) + 1.5 for rows in lines]) + foot)
    names = wrapped(card.name, NAMED, wide - 50 - (BADGE if coin else 0))[:2]
    parts = [
        _paper(card, (wide, high)),
        rectangle(f"a-{card.ground}", wide - 6, BAND, 4, 3, 3),
        *[text(name, NAMED, card.ground, 42, 25 + NAMED * (place + 0.7 - len(names) / 2), "b") for place, name in enumerate(names)],
        _art(card, look, 30, 23, 10),
    ]
    if coin:
        parts.append(rectangle("a-coin s-edge shape", BADGE, BADGE, BADGE / 2, wide - BADGE - 6, 15))
        parts.append(text(card.cost, 12, "coin", wide - 16, 29.5, "b m"))
    elif card.cost:
        parts.append(text(card.cost, FINE, "card", 6, high - 6, "b"))
    if card.number > 1:
        parts.append(text(f"×{card.number}", TEXT, "card", wide - 6, high - 6, "b e"))
    top = BAND + 15
    for rows in lines:
        for line in rows:
            parts.append(text(line, FINE, "card", 6, top))
            top += FINE + 1.5
        top += 1.5
    return Item(card.id, wide, high, parts)


def _backs(hand: Hand) -> list[Item]:
    """Return the face-down cards of a hand: a fan with their number."""
    if not hand.hidden:
        return []
    wide, high = SMALL
    left = (min(hand.hidden, FAN) - 1) * FAN_STEP
    parts = [rectangle(f"a-{hand.ground} s-rule shape", wide, high, 6, place * FAN_STEP) for place in range(min(hand.hidden, FAN))]
    parts.append(text(str(hand.hidden), 18, hand.ground, left + wide / 2, high / 2 + 6, "b m"))
    return [Item(f"{hand.name} hidden", wide + left, high, parts)]
