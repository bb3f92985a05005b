"""The scene: what a picture of a match shows."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, cast

from games.drawing import counted
from games.kernel import Seat
from games.picture import picture
from games.scene import Area, Card, Detail, Hand, Link, Panel, Piece, Place, Scene, Track, spread
from games.war.data import BROWN, CARDS, COLUMNS, COMBAT_CARDS, FOLDER, MOVES, REINFORCEMENTS
from games.war.document import ScoreSheetRow, State
from games.war.outcome import points
from games.war.state import PLACEMENT, on_board, still_in

LOOK = picture(FOLDER)
TILE: float = LOOK.map["tile"]
PITCH: float = LOOK.map["pitch"]
INSET: float = LOOK.map["inset"]
HEAD: float = LOOK.map["head"]
EMPTY = Area(*LOOK.map["empty"])


def scene(view: State) -> Scene:
    """Return what a picture of a view shows."""
    places = tuple([_place(tile, here["face"], here["seat"]) for tile, here in sorted(view["tiles"].items())])
    sheet = view["score_sheet"] or {seat: points(view, seat) for seat in view["seats"]}
    deck = cast("list[str] | int", view["deck"])
    size = deck if isinstance(deck, int) else len(deck)
    total = sum([card.symbol in view["symbols"] for card in CARDS.values()])
    outcome = view["outcome"]
    return Scene(
        title=LOOK.word(view["game"]),
        status=f"Round {view['round']}: {LOOK.word(view['phase'])}",
        frame=spread([place.area for place in places], INSET * 6) if places else EMPTY,
        places=places,
        pieces=tuple(
            [
                Piece(f"units_{tile}", "unit", tile, "cube", here["seat"], here["units"], pile=True)
                for tile, here in sorted(view["tiles"].items())
                if here["units"]
            ]
        ),
        links=tuple(
            [
                Link(attack["from"], tile, "arrow", view["tiles"][attack["from"]]["seat"], str(attack["units"]))
                for tile, attack in sorted(view["attacks"].items())
            ]
        ),
        tracks=(Track("deck", LOOK.word("deck"), size, total, "deck", "card"),) if total else (),
        panels=(*[_seat(view, seat, sheet) for seat in view["seats"]], _middle(view)),
        acting=tuple([seat for seat in view["to_act"] if seat in view["seats"]]),
        winners=tuple(outcome["winners"]) if outcome is not None else (),
        over=outcome is not None,
    )


@functools.lru_cache(maxsize=4096)
def _place(tile: str, face: str, holder: Seat | None) -> Place:
    """Return a tile at its column and row (WAR-MAP-01)."""
    left, top = COLUMNS.index(tile[0]) * PITCH, int(tile[1:]) * PITCH
    return Place(
        id=tile,
        name=tile.upper() if face == BROWN else f"{tile.upper()} ({LOOK.word(face)})",
        area=Area(left + INSET, top + INSET, TILE - 2 * INSET, TILE - 2 * INSET),
        shape="tile",
        ground=f"tile_{face}",
        x=left,
        y=top,
        label=tile.upper(),
        glyph="" if face == BROWN else face,
        holder=holder,
        head=HEAD,
    )


def _seat(view: State, seat: Seat, sheet: dict[Seat, ScoreSheetRow]) -> Panel:
    """Return the panel of a seat. Its cards are open to all (WAR-SET-10)."""
    row, outcome = sheet[seat], view["outcome"]
    best = max([sheet[other]["total"] for other in still_in(view)], default=0)
    combat = view["combat"].get(seat)
    return Panel(
        id=seat,
        name=LOOK.crests[seat].name,
        seat=seat,
        score=Detail("points", str(row["total"])),
        details=(
            Detail("tiles", str(row["tiles"])),
            Detail("symbols", str(row["symbols"])),
            Detail("sets", str(row["sets"])),
            Detail("on the board", str(on_board(view, seat)), "cube"),
            Detail("in reserve", str(view["reserve"].get(seat, 0))),
        ),
        hands=(
            Hand("IN FORCE THIS ROUND", (_card(combat),)) if combat else Hand(""),
            Hand("HAND", tuple([_card(card) for card in view["hands"].get(seat, [])])),
        ),
        ahead=seat in outcome["winners"] if outcome is not None else 0 < best == row["total"] and seat not in view["eliminated"],
        acts=seat in view["to_act"],
        out=seat in view["eliminated"],
    )


@functools.cache
def _card(card: str) -> Card:
    made = CARDS[card]
    return Card(card, f"{LOOK.word(made.symbol)} {made.value}", f"card_{made.background}", made.symbol, str(made.value))


def _middle(view: State) -> Panel:
    """Return the panel of the row, and of the turn so far."""
    return Panel(
        id="row",
        name=LOOK.word("row"),
        details=(Detail("discarded", str(len(view["discard"]))),),
        hands=(Hand("OPEN CARDS", tuple([_card(card) for card in view["row"]])), *_seen(view)),
        lines=tuple(_turn(view)),
    )


def _seen(view: Any) -> Iterator[Hand]:
    """Yield the deck, which an auditor sees."""
    if not isinstance(view["deck"], int):
        yield Hand("DECK, TOP FIRST", tuple([_card(card) for card in view["deck"]]))


def _turn(view: State) -> Iterator[str]:
    """Yield what the active seat has done this turn, and who is still to finish."""
    turn, active = view["turn"], view["active"]
    if active is not None and view["phase"] != PLACEMENT:
        yield (
            f"{LOOK.crests[active].name}'s turn: {turn['reinforcements']} of {REINFORCEMENTS} reinforcements, "
            f"{int(turn['combat_card'])} of {counted(COMBAT_CARDS, 'combat card')}, {turn['moves']} of {MOVES} moves."
        )
    if not view["tiles"]:
        yield "The map is not laid out yet."
    if view["final_turns"]:
        yield f"Final turns are still to come: {', '.join([LOOK.crests[seat].name for seat in view['final_turns']])}."
