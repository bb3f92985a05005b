"""The turn under way, and what waits for a decision, in words: for the board as text and for the panel of a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from games.drawing import tallied
from games.sentences import counted, listed, say
from games.war_of_civilizations.sight import View


class Names(NamedTuple):
    """How a seat, a location, a card, and any other word is written."""

    seat: Callable[[str], str]
    place: Callable[[str], str]
    card: Callable[[str], str]
    word: Callable[[str], str]


def turn(view: View, names: Names) -> Iterator[str]:
    """Yield what the active seat has done this turn, in parts of one sentence."""
    record = view["turn"]
    if record is None:
        return
    yield say("{actions} begun", actions=counted(record["actions_used"], "action"))
    if record["action"]:
        yield say("{action} under way", action=names.word(record["action"]))
    if record["extra_actions"]:
        yield say("{count} more from cards", count=record["extra_actions"])
    if record["mover"]:
        mover = record["mover"]
        yield say("{steps} left from {place}", steps=counted(mover["steps_left"], "step"), place=names.place(mover["at"]))
    if record["cards_bought"]:
        yield say("{cards} bought", cards=counted(record["cards_bought"], "card"))


def battle(view: View, names: Names) -> Iterator[str]:
    """Yield the battle under way, a clause at a time, with the bids that the viewer sees (WOC-BAT-05)."""
    record = view["battle"]
    if record is None:
        return
    attacker, defender, place = names.seat(record["attacker"]), names.seat(record["defender"]), names.place(record["at"])
    yield say("{attacker} against {defender} at {place}", attacker=attacker, defender=defender, place=place)
    if record["privateer"] is not None:
        yield say("the {role} is a privateer", role=names.word(record["privateer"]))
    if record["hostages"]:
        yield say("hostages: {ships}", ships=_goods(record["hostages"], names))
    for seat, bid in record["bids"].items():
        if bid is None:
            yield say("{seat} has sealed a bid", seat=names.seat(seat))
        else:
            powder = say("{number} {name}", number=bid["ammo"], name=names.word("ammo"))
            yield say("{seat} bids {bid}", seat=names.seat(seat), bid=listed([powder, *tallied(map(names.card, bid["cards"]))]))
    if record["dice"]:
        yield say("dice: {faces}", faces=listed([str(face) for face in record["dice"]]))
    if record["result"] is not None:
        totals = [say("{side} {total}", side=names.word(side), total=row["total"]) for side, row in record["result"]["sides"].items()]
        yield say("the {role} has won ({totals})", role=names.word(record["result"]["winner"]), totals=totals)
    if record["retreat"] is not None:
        back = record["retreat"]
        yield say("{seat} sends {ships} home", seat=names.seat(back["seat"]), ships=counted(back["count"], "ship"))


def blockade(view: View, names: Names) -> Iterator[str]:
    """Yield the privateer that waits for an answer."""
    record = view["blockade"]
    if record is not None:
        owner, occupant, place = names.seat(record["owner"]), names.seat(record["occupant"]), names.place(record["at"])
        yield say("The privateer of {owner} waits for {occupant} at {place}.", owner=owner, occupant=occupant, place=place)


def ransom(view: View, names: Names) -> Iterator[str]:
    """Yield the offer that waits for an answer, without its note."""
    record = view["ransom"]
    if record is not None:
        offer = _goods(record["offer"], names)
        seat, other, place = names.seat(record["from"]), names.seat(record["to"]), names.place(record["at"])
        yield say("{seat} offers {other} {goods} for {place}.", seat=seat, other=other, goods=offer, place=place)


def _goods(counts: dict[str, int], names: Names) -> str:
    return listed([say("{number} {name}", number=number, name=names.word(name)) for name, number in counts.items()]) or say("nothing")
