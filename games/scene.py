"""A scene: what a picture of a match shows, and where, but not how it is drawn.

A game makes a scene from a view alone. `web` draws it, for every game in the same way. Colours, glyphs, outlines and words are names of
`picture.json` (games/picture.py). Every id is one that actions and events use, so that a choice can be made by pointing at what it names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

Seat = str

WORDS = frozenset({"badge", "cost", "label", "lines", "name", "note", "role", "status", "text", "title", "total", "value"})
"""The fields of a scene that people read. All others are ids, names of picture.json, and numbers."""


class Area(NamedTuple):
    """A rectangle of the board, in board units. What lies in a place is drawn inside its area."""

    left: float
    top: float
    width: float
    height: float


class Place(NamedTuple):
    """A place where pieces can be.

    `x`, `y`, `turn`: where the origin of its outline (`shape`) is, and by how many degrees it is turned. `label`: its short name on the
    board, `name`: its full name. `glyph`: art below the label. `notes`: small glyphs, each with a number, of what the place gives.
    `holder`: the seat that has it. `badge`: a few letters, such as how full it is. `head`: the height of label and art. `land`: the seat
    to whose land it belongs for the whole match, whoever has it.
    """

    id: str
    name: str
    area: Area
    shape: str
    ground: str
    x: float = 0
    y: float = 0
    turn: float = 0
    label: str = ""
    glyph: str = ""
    notes: tuple[tuple[str, int], ...] = ()
    holder: Seat | None = None
    badge: str = ""
    head: float = 18
    land: Seat | None = None


class Piece(NamedTuple):
    """A piece in a place, or `number` like ones. `pile`: they are drawn as a pile. `spent`: it has acted this turn."""

    id: str
    name: str
    place: str
    glyph: str
    seat: Seat | None = None
    number: int = 1
    pile: bool = False
    spent: bool = False


class Mark(NamedTuple):
    """A token in a place, such as a building. `text`: a few letters beside it. Marks of one place lie below its pieces."""

    id: str
    name: str
    place: str
    glyph: str
    ground: str
    text: str = ""
    spent: bool = False


class Link(NamedTuple):
    """A way between two places (`kind` "way"), or something that goes from the first to the second (`kind` "arrow")."""

    source: str
    target: str
    kind: str = "way"
    seat: Seat | None = None
    text: str = ""


class Track(NamedTuple):
    """A counter with an end, such as a countdown. `ground`: the colour of the part that is reached."""

    id: str
    name: str
    value: int
    most: int
    ground: str
    glyph: str = ""


class Detail(NamedTuple):
    """A number or a word about a seat or the match, with a glyph if it has one."""

    name: str
    value: str
    glyph: str = ""


class Card(NamedTuple):
    """A card that lies open, or `number` like ones. One without text is drawn small, one without a glyph as its name alone.

    `options`: the numbers of what can be done with it, in the order of `text`.
    """

    id: str
    name: str
    ground: str
    glyph: str
    cost: str = ""
    text: tuple[str, ...] = ()
    options: tuple[int, ...] = ()
    number: int = 1
    spent: bool = False


class Hand(NamedTuple):
    """Cards that lie together: open ones, and the number of those that the viewer sees from behind."""

    name: str
    cards: tuple[Card, ...] = ()
    hidden: int = 0
    ground: str = "back"


class Panel(NamedTuple):
    """What stands beside the board: of a seat, or of all. `score`: what decides who is ahead. `lines`: sentences."""

    id: str
    name: str
    seat: Seat | None = None
    score: Detail | None = None
    details: tuple[Detail, ...] = ()
    hands: tuple[Hand, ...] = ()
    lines: tuple[str, ...] = ()
    ahead: bool = False
    acts: bool = False
    out: bool = False


class Scene(NamedTuple):
    """Everything that the picture of one view shows. `frame`: the part of the board that is in play."""

    title: str
    status: str
    frame: Area
    places: tuple[Place, ...]
    panels: tuple[Panel, ...]
    pieces: tuple[Piece, ...] = ()
    marks: tuple[Mark, ...] = ()
    links: tuple[Link, ...] = ()
    tracks: tuple[Track, ...] = ()
    acting: tuple[Seat, ...] = ()
    winners: tuple[Seat, ...] = ()
    over: bool = False

    def drawn(self) -> Iterator[str]:
        """Yield the id of everything that can be pointed at: places, pieces, marks, cards and panels."""
        yield from [place.id for place in self.places]
        yield from [piece.id for piece in self.pieces]
        yield from [mark.id for mark in self.marks]
        yield from [panel.id for panel in self.panels]
        for panel in self.panels:
            for hand in panel.hands:
                for card in hand.cards:
                    yield card.id


class Die(NamedTuple):
    """A die that has fallen."""

    face: int
    ground: str


class Travel(NamedTuple):
    """A way that pieces have just gone."""

    source: str
    target: str
    seat: Seat | None


class News(NamedTuple):
    """What has just happened: sentences, the places that it touched, the ways that pieces went, and dice."""

    sentences: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    travels: tuple[Travel, ...] = ()
    dice: tuple[Die, ...] = ()


class Side(NamedTuple):
    """One of two that fight. `role`: what it does, in a word or two. `details`: what its `total` is the sum of.

    `hidden`: how many things the viewer sees from behind, such as a sealed bid. `note`: what has happened to it, or is awaited.
    """

    name: str
    role: str
    seat: Seat | None = None
    pieces: tuple[Piece, ...] = ()
    details: tuple[Detail, ...] = ()
    cards: tuple[Card, ...] = ()
    hidden: int = 0
    dice: tuple[Die, ...] = ()
    total: str = ""
    note: str = ""
    won: bool = False


class Fight(NamedTuple):
    """A fight that goes on, or that the last entry has ended, in a place. `status`: how it stands. `rules`: the ids of rules about that."""

    name: str
    place: str
    sides: tuple[Side, Side]
    status: str
    rules: tuple[str, ...] = ()


def spread(areas: list[Area], margin: float) -> Area:
    """Return the smallest rectangle around areas, with a margin."""
    left, top = min(area.left for area in areas) - margin, min(area.top for area in areas) - margin
    right, bottom = max(area.left + area.width for area in areas) + margin, max(area.top + area.height for area in areas) + margin
    return Area(left, top, right - left, bottom - top)
