"""The scene: what a picture of a match shows."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, cast

from games.kernel import Event, Seat
from games.picture import picture
from games.scene import Area, Card, Detail, Die, Fight, Hand, Link, Panel, Piece, Place, Scene, Side, Track, spread
from games.sentences import counted
from games.war.attacks import CONQUERED, bonus
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


# ---------------------------------------------------------------- fights


def fight(view: State, events: Sequence[Event]) -> Fight | None:
    """Return the attack in which the dice have just fallen, else the first that is open, or None (WAR-ATT-03, WAR-ATT-13)."""
    roll = next((event for event in reversed(events) if event["type"] == "attack_rolled"), None)
    ended = next((event for event in events if event["type"] == "attack_ended"), None)
    tile: str | None = next((event["tile"] for event in (roll, ended) if event is not None), min(view["attacks"], default=None))
    if tile is None or tile not in view["tiles"]:
        return None
    attack, here, loser = view["attacks"].get(tile), view["tiles"][tile], roll["loser"] if roll is not None else None
    attacker = ended["seat"] if ended is not None else view["tiles"][attack["from"]]["seat"] if attack is not None else None
    defender = loser if loser not in (None, attacker) else here["seat"]
    if attacker is None or defender is None:
        return None
    left = attack["units"] if attack is not None else ended["moved"] if ended is not None else 0
    status, rules = _standing(roll, ended)
    return Fight(
        f"Fight for {tile.upper()}",
        tile,
        (
            _fighter(view, tile, attacker, left, roll, "attack"),
            _fighter(view, tile, defender, here["units"] if here["seat"] == defender else 0, roll, "defence"),
        ),
        status,
        rules,
    )


def _standing(roll: Event | None, ended: Event | None) -> tuple[str, tuple[str, ...]]:
    """Return how a fight stands, and the ids of the rules of that."""
    rules = LOOK.rules["attack_rolled"] if roll is not None else LOOK.rules["attack"]
    if ended is not None:
        told, rules = ended["result"], rules[: len(rules) * (roll is not None)]
        words = f"{ended['tile'].upper()} is conquered." if told == CONQUERED else f"The attack is {told}."
        return words, (*rules, *LOOK.rules[f"attack_ended/{told}"])
    if roll is None:
        return "The dice have still to fall.", rules
    return (f"{LOOK.crests[roll['loser']].name} loses a unit. The fight goes on." if roll["loser"] else "A draw."), rules


def _fighter(view: State, tile: str, seat: Seat, left: int, roll: Event | None, thrown: str) -> Side:
    """Return a side with the units that are left to it. What its total has beyond die and units comes from a card (WAR-ATT-03)."""
    loser = roll["loser"] if roll is not None else None
    units, more, card = left + (loser == seat), bonus(view, seat, tile), view["combat"].get(seat)
    die = roll[thrown]["die"] if roll is not None else None
    if roll is not None:
        more = roll[thrown]["total"] - roll[thrown]["die"] - units
    details = [Detail("units", str(units)), *([Detail("card", f"+{more}")] if more else [])]
    return Side(
        name=LOOK.crests[seat].name,
        role="attacks" if thrown == "attack" else "defends",
        seat=seat,
        pieces=(Piece(f"fight_{seat}", "unit", tile, "cube", seat, left),) if left else (),
        details=tuple(details),
        cards=(_card(card),) if card is not None else (),
        dice=(Die(die, LOOK.news["attack_rolled"].dice[thrown]),) if die is not None else (),
        total=str(roll[thrown]["total"]) if roll is not None else "",
        note="loses a unit" if loser == seat else "",
        won=loser not in (None, seat),
    )
