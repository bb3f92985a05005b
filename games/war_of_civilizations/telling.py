"""The turn under way, and what waits for a decision, in words: for the board as text and for the panel of a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from games.drawing import tallied
from games.sentences import counted, listed
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
    yield counted(record["actions_used"], "action") + " begun"
    if record["action"]:
        yield f"{names.word(record['action'])} under way"
    if record["extra_actions"]:
        yield f"{record['extra_actions']} more from cards"
    if record["mover"]:
        yield f"{counted(record['mover']['steps_left'], 'step')} left from {names.place(record['mover']['at'])}"
    if record["cards_bought"]:
        yield counted(record["cards_bought"], "card") + " bought"


def battle(view: View, names: Names) -> Iterator[str]:
    """Yield the battle under way, a clause at a time, with the bids that the viewer sees (WOC-BAT-05)."""
    record = view["battle"]
    if record is None:
        return
    yield f"{names.seat(record['attacker'])} against {names.seat(record['defender'])} at {names.place(record['at'])}"
    if record["privateer"] is not None:
        yield f"the {record['privateer']} is a privateer"
    if record["hostages"]:
        yield f"hostages: {_goods(record['hostages'], names)}"
    for seat, bid in record["bids"].items():
        if bid is None:
            yield f"{names.seat(seat)} has sealed a bid"
        else:
            yield f"{names.seat(seat)} bids {listed([str(bid['ammo']) + ' ammo', *tallied(map(names.card, bid['cards']))])}"
    if record["dice"]:
        yield f"dice: {listed([str(face) for face in record['dice']])}"
    if record["result"] is not None:
        totals = [f"{side} {row['total']}" for side, row in record["result"]["sides"].items()]
        yield f"the {record['result']['winner']} has won ({', '.join(totals)})"
    if record["retreat"] is not None:
        yield f"{names.seat(record['retreat']['seat'])} sends {counted(record['retreat']['count'], 'ship')} home"


def blockade(view: View, names: Names) -> Iterator[str]:
    """Yield the privateer that waits for an answer."""
    record = view["blockade"]
    if record is not None:
        yield f"the privateer of {names.seat(record['owner'])} waits for {names.seat(record['occupant'])} at {names.place(record['at'])}"


def ransom(view: View, names: Names) -> Iterator[str]:
    """Yield the offer that waits for an answer, without its note."""
    record = view["ransom"]
    if record is not None:
        offer = _goods(record["offer"], names)
        yield f"{names.seat(record['from'])} offers {names.seat(record['to'])} {offer} for {names.place(record['at'])}"


def _goods(counts: dict[str, int], names: Names) -> str:
    return listed([f"{number} {names.word(name)}" for name, number in counts.items()]) or "nothing"
