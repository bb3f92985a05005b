"""The scene: what a picture of a match shows."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, cast

from games.kernel import Event, Seat
from games.picture import picture
from games.scene import Area, Card, Detail, Die, Fight, Hand, Link, Panel, Piece, Place, Scene, Side, Track, spread
from games.sentences import counted, say
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
        status=say("Round {round}: {phase}", round=view["round"], phase=LOOK.word(view["phase"])),
        frame=spread([place.area for place in places], INSET * 6) if places else EMPTY,
        places=places,
        pieces=tuple(
            [
                Piece(f"units_{tile}", say("unit"), tile, "cube", here["seat"], here["units"], pile=True)
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
        name=tile.upper() if face == BROWN else say("{tile} ({symbol})", tile=tile.upper(), symbol=LOOK.word(face)),
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
        score=Detail(say("points"), str(row["total"])),
        details=(
            Detail(say("tiles"), str(row["tiles"])),
            Detail(say("symbols"), str(row["symbols"])),
            Detail(say("sets"), str(row["sets"])),
            Detail(say("on the board"), str(on_board(view, seat)), "cube"),
            Detail(say("in reserve"), str(view["reserve"].get(seat, 0))),
        ),
        hands=(
            Hand(say("IN FORCE THIS ROUND"), (_card(combat),)) if combat else Hand(""),
            Hand(say("HAND"), tuple([_card(card) for card in view["hands"].get(seat, [])])),
        ),
        ahead=seat in outcome["winners"] if outcome is not None else 0 < best == row["total"] and seat not in view["eliminated"],
        acts=seat in view["to_act"],
        out=seat in view["eliminated"],
    )


@functools.cache
def _card(card: str) -> Card:
    made = CARDS[card]
    name = say("{symbol} {value}", symbol=LOOK.word(made.symbol), value=made.value)
    return Card(card, name, f"card_{made.background}", made.symbol, str(made.value))


def _middle(view: State) -> Panel:
    """Return the panel of the row, and of the turn so far."""
    return Panel(
        id="row",
        name=LOOK.word("row"),
        details=(Detail(say("discarded"), str(len(view["discard"]))),),
        hands=(Hand(say("OPEN CARDS"), tuple([_card(card) for card in view["row"]])), *_seen(view)),
        lines=tuple(_turn(view)),
    )


def _seen(view: Any) -> Iterator[Hand]:
    """Yield the deck, which an auditor sees."""
    if not isinstance(view["deck"], int):
        yield Hand(say("DECK, TOP FIRST"), tuple([_card(card) for card in view["deck"]]))


def _turn(view: State) -> Iterator[str]:
    """Yield what the active seat has done this turn, and who is still to finish."""
    turn, active = view["turn"], view["active"]
    if active is not None and view["phase"] != PLACEMENT:
        yield say(
            "{seat}'s turn: {reinforcements} of {most_reinforcements} reinforcements, "
            "{played} of {combat_cards}, {moves} of {most_moves} moves.",
            seat=LOOK.crests[active].name,
            reinforcements=turn["reinforcements"],
            most_reinforcements=REINFORCEMENTS,
            played=int(turn["combat_card"]),
            combat_cards=counted(COMBAT_CARDS, "combat card"),
            moves=turn["moves"],
            most_moves=MOVES,
        )
    if not view["tiles"]:
        yield say("The map is not laid out yet.")
    if view["final_turns"]:
        yield say("Final turns are still to come: {seats}.", seats=[LOOK.crests[seat].name for seat in view["final_turns"]])


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
        say("Fight for {tile}", tile=tile.upper()),
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
        conquered = say("{tile} is conquered.", tile=ended["tile"].upper())
        words = conquered if told == CONQUERED else say("The attack is {result}.", result=told)
        return words, (*rules, *LOOK.rules[f"attack_ended/{told}"])
    if roll is None:
        return say("The dice have still to fall."), rules
    if roll["loser"]:
        return say("{seat} loses a unit. The fight goes on.", seat=LOOK.crests[roll["loser"]].name), rules
    return say("A draw."), rules


def _fighter(view: State, tile: str, seat: Seat, left: int, roll: Event | None, thrown: str) -> Side:
    """Return a side with the units that are left to it. What its total has beyond die and units comes from a card (WAR-ATT-03)."""
    loser = roll["loser"] if roll is not None else None
    units, more, card = left + (loser == seat), bonus(view, seat, tile), view["combat"].get(seat)
    die = roll[thrown]["die"] if roll is not None else None
    if roll is not None:
        more = roll[thrown]["total"] - roll[thrown]["die"] - units
    details = [Detail(say("units"), str(units)), *([Detail(say("card"), f"+{more}")] if more else [])]
    return Side(
        name=LOOK.crests[seat].name,
        role=say("attacks") if thrown == "attack" else say("defends"),
        seat=seat,
        pieces=(Piece(f"fight_{seat}", say("unit"), tile, "cube", seat, left),) if left else (),
        details=tuple(details),
        cards=(_card(card),) if card is not None else (),
        dice=(Die(die, LOOK.news["attack_rolled"].dice[thrown]),) if die is not None else (),
        total=str(roll[thrown]["total"]) if roll is not None else "",
        note=say("loses a unit") if loser == seat else "",
        won=loser not in (None, seat),
    )
