"""Attacks: the dice, the losses, and the elimination of a seat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.chance import Chance
from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Refusal, Seat, no
from games.schema import Fields, described, ids, nullable, record, whole
from games.war.data import MOVES, SIDES, SYMBOL, VALUE
from games.war.document import Match, State
from games.war.flow import after_moves, end_turn, to_phase
from games.war.outcome import end_match
from games.war.state import LAST_SEAT, MOVING, SEAT, TILE, holdings, put, put_out, still_in, take

CONQUERED, REPELLED, STOPPED = "conquered", "repelled", "stopped"
MOST_ROLLS = 1000  # A roll is a draw with a chance of at most 1 in 6, so that nobody ever sees so many in a row.

# ---------------------------------------------------------------- questions


def bonus(state: State, seat: Seat, tile: str) -> int:
    """Return what a seat's combat card adds to its rolls in fights for a tile: its value on its own symbol, to attacker and defender alike,
    and nothing on brown (WAR-COM-03, WAR-COM-04, WAR-COM-05, WAR-COM-06, WAR-COM-07)."""
    card = state["combat"].get(seat)
    return VALUE[card] if card is not None and SYMBOL[card] == state["tiles"][tile]["face"] else 0


def strengths(state: State, tile: str, attacker: Seat, defender: Seat) -> tuple[int, int]:
    """Return what the attacker and the defender add to their dice: their units in the fight and their combat bonus (WAR-ATT-03, WAR-ATT-04,
    WAR-COM-06)."""
    attack = state["attacks"][tile]["units"] + bonus(state, attacker, tile)
    return attack, state["tiles"][tile]["units"] + bonus(state, defender, tile)


# ---------------------------------------------------------------- deeds


def attack_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for each open attack, in any order of play (WAR-ATT-13)."""
    return [{"type": "attack", "tile": tile} for tile in sorted(state["attacks"])]


def attack_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why no dice can be rolled for a tile, or None: no attack on it is open (WAR-ATT-13, WAR-MAP-01)."""
    if action["tile"] not in state["tiles"]:
        return no("unknown_tile", "WAR-MAP-01", tile=action["tile"])
    if action["tile"] not in state["attacks"]:
        return no("no_such_attack", "WAR-ATT-13", tile=action["tile"])
    return None


def attack(match: Match, seat: Seat, action: Action) -> None:
    """Roll the dice until one side loses a unit. This may end the attack and eliminate a seat; the defender decides nothing (WAR-ATT-05,
    WAR-ATT-07, WAR-ATT-11, WAR-ATT-12, WAR-ATT-15, WAR-ELI-06)."""
    tile = action["tile"]
    defender = match.state["tiles"][tile]["seat"]
    assert defender is not None, f"{tile} is attacked, so units stand on it"
    loser = roll_until_a_loss(match, tile, seat, defender)
    left = match.state["attacks"][tile]["units"]
    if left and match.state["tiles"][tile]["units"]:
        return
    match.emit("attack_ended", tile=tile, seat=seat, result=CONQUERED if left else REPELLED, moved=left)
    if not holdings(match.state, loser) and loser not in match.state["eliminated"]:
        eliminate(match, loser, by=defender if loser == seat else seat)
        if match.state["outcome"] is not None:
            return
        if loser == seat:
            end_turn(match, seat)
            return
    after_attack(match, seat)


def roll_until_a_loss(match: Match, tile: str, attacker: Seat, defender: Seat) -> Seat:
    """Roll again after each draw and return the seat that loses a unit (WAR-ATT-05, WAR-ATT-07, WAR-END-06)."""
    for _ in range(MOST_ROLLS):
        loser = roll(match, tile, attacker, defender)
        if loser is not None:
            return loser
    raise AssertionError(f"{MOST_ROLLS} draws in a row in the fight for {tile}")


def roll(match: Match, tile: str, attacker: Seat, defender: Seat) -> Seat | None:
    """Throw a die for each side and return the seat with the lower total, whose unit goes to its reserve; None after a draw (WAR-CMP-09,
    WAR-ATT-01, WAR-ATT-02, WAR-ATT-03, WAR-ATT-05, WAR-ATT-06, WAR-ATT-07)."""
    attack, defence = [_thrown(match.chance, strength) for strength in strengths(match.state, tile, attacker, defender)]
    loser = None
    if attack["total"] < defence["total"]:
        loser = attacker
    elif attack["total"] > defence["total"]:
        loser = defender
    match.emit("attack_rolled", tile=tile, attack=attack, defence=defence, loser=loser)
    return loser


def _thrown(chance: Chance, strength: int) -> dict[str, int]:
    die = chance.roll(SIDES)
    return {"die": die, "total": die + strength}


def eliminate(match: Match, seat: Seat, by: Seat) -> None:
    """Put a seat without units out of the match. The match ends when one seat is left (WAR-ELI-01, WAR-ELI-02, WAR-ELI-03, WAR-ELI-05)."""
    match.emit("seat_eliminated", seat=seat, by=by)
    if len(still_in(match.state)) == 1:
        end_match(match, LAST_SEAT)


def stop_attack_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for each open attack in which dice were rolled (WAR-ATT-08)."""
    return [{"type": "stop_attack", "tile": tile} for tile, fight in sorted(state["attacks"].items()) if fight["rolls"]]


def stop_attack_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why an attack cannot stop, or None: none is open on the tile, or no die was rolled in it (WAR-ATT-08, WAR-ATT-09)."""
    refusal = attack_refusal(state, seat, action)
    if refusal is None and not state["attacks"][action["tile"]]["rolls"]:
        return no("must_roll_first", "WAR-ATT-08", tile=action["tile"])
    return refusal


def stop_attack(match: Match, seat: Seat, action: Action) -> None:
    """Leave the remaining attackers on the tile they came from (WAR-ATT-09, WAR-ATT-10, WAR-ATT-14)."""
    match.emit("attack_ended", tile=action["tile"], seat=seat, result=STOPPED, moved=0)
    after_attack(match, seat)


def after_attack(match: Match, seat: Seat) -> None:
    """Go on when the last attack of a move has ended (WAR-ATT-14, WAR-MOV-08)."""
    if match.state["attacks"]:
        return
    if match.state["turn"]["moves"] < MOVES:
        to_phase(match, MOVING, seat)
    else:
        after_moves(match, seat)


# ---------------------------------------------------------------- facts


def attack_rolled(state: Any, event: Event, own: Own) -> None:
    """The dice are rolled. The loser takes a unit back into its reserve."""
    tile, loser = event["tile"], event["loser"]
    fight = own(own(state, "attacks"), tile)
    fight["rolls"] += 1
    if loser is None:
        return
    tiles = own(state, "tiles")
    if loser == tiles[tile]["seat"]:
        take(tiles, tile, 1, own)
    else:
        take(tiles, fight["from"], 1, own)
        fight["units"] -= 1
    own(state, "reserve")[loser] += 1


def attack_ended(state: Any, event: Event, own: Own) -> None:
    """An attack is closed. The victors enter."""
    source = own(state, "attacks").pop(event["tile"])["from"]
    if event["moved"]:
        tiles = own(state, "tiles")
        take(tiles, source, event["moved"], own)
        put(tiles, event["tile"], event["seat"], event["moved"], own)


def seat_eliminated(state: Any, event: Event, own: Own) -> None:
    """A seat is out. Its hand and its combat card are discarded, and it has no final turn."""
    put_out(state, event["seat"], own)


ATTACK = Deed({"tile": TILE}, attack_offers, attack_refusal, attack)
STOP_ATTACK = Deed({"tile": TILE}, stop_attack_offers, stop_attack_refusal, stop_attack)

_ROLL = record(
    {"die": whole(1, SIDES, "the face of the die"), "total": whole(2, about="the die, the units in the fight and the combat bonus")}
)

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "attack_rolled": (
        attack_rolled,
        {
            "tile": TILE,
            "attack": described(_ROLL, "the attacker's roll"),
            "defence": described(_ROLL, "the defender's roll"),
            "loser": nullable(described(SEAT, "the seat that loses a unit; null for a draw")),
        },
    ),
    "attack_ended": (
        attack_ended,
        {
            "tile": TILE,
            "seat": SEAT,
            "result": ids([CONQUERED, REPELLED, STOPPED], "how the attack ended"),
            "moved": whole(0, about="units that enter the tile"),
        },
    ),
    "seat_eliminated": (seat_eliminated, {"seat": SEAT, "by": described(SEAT, "the seat that has eliminated it")}),
}
