"""Questions that the refusals of several deeds ask."""

from __future__ import annotations

from collections.abc import Mapping

from games.choices import Outside
from games.kernel import Action, Refusal, Seat, no
from games.sentences import say
from games.war_of_civilizations.data import BONUS_OF
from games.war_of_civilizations.document import State
from games.war_of_civilizations.state.fleets import room
from games.war_of_civilizations.state.records import can_pay, either_of, goods, in_words, option, turn_of

_CALLED = {"pirates": say("pirates"), "disasters": say("disasters")}


def played_without(state: State, name: str) -> Refusal | None:
    """Return why an action of an expansion is refused, or None: the match is played without its option (WOC-SET-09, WOC-SET-10)."""
    return None if option(state, name) else no("option_off", option=_CALLED[name])


def no_step(state: State, *actions: str) -> Refusal | None:
    """Return why a main step is refused, or None: its active action is not under way (WOC-TRN-02)."""
    turn = state["turn"]
    if turn is not None and turn["action"] in actions:
        return None
    return no("no_action", "WOC-TRN-05", wanted=either_of(actions))


def no_bonus(state: State, step: str) -> Refusal | None:
    """Return why a bonus step is refused, or None. It belongs to its active action and comes before its first main step (WOC-TRN-06,
    WOC-TRN-07)."""
    refusal = no_step(state, *BONUS_OF[step])
    turn = turn_of(state)
    if refusal is not None or turn["bonus_open"]:
        return refusal
    return no("bonus_closed", "WOC-TRN-07", action=turn["action"])


def bonus_open(state: State, step: str) -> bool:
    """Return True if a bonus step is still possible."""
    turn = state["turn"]
    return turn is not None and turn["bonus_open"] and turn["action"] in BONUS_OF[step]


def cannot_pay(state: State, seat: Seat, price: Mapping[str, int], rule: str | None = None) -> Refusal | None:
    """Return why a seat cannot pay a price, or None: it lacks something (WOC-GEN-04)."""
    if can_pay(state, seat, price):
        return None
    stock = goods(state["players"][seat])
    return no("cannot_pay", rule, price=in_words(price), stock=in_words({name: stock[name] for name in price}))


def no_room(state: State, location: str, number: int) -> Refusal | None:
    """Return why a location takes no more ships, or None: it is full, whatever they come for (WOC-MAP-13)."""
    left = room(state, location)
    return None if number <= left else no("capacity_full", "WOC-MAP-13", at=location, wanted=number, room=left)


def cannot_take_ships(action: Action, found: Outside, there: Mapping[str, int], rule: str) -> Refusal:
    """Return the refusal for more ships than there is room for (WOC-MAP-13), for none at all, or for ships that are not `there`, which
    `rule` refuses."""
    if found.key is None and found.given > found.high:
        return no("capacity_full", "WOC-MAP-13", at=action["to"], wanted=found.given, room=found.high)
    return no("no_ships", rule, at=action["from"], wanted=in_words(action["ships"]), there=in_words(there))
