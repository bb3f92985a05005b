"""Deeds of magic crystals: converting by mounted ones, mounting and dismounting, and upgrading an ability."""

from __future__ import annotations

from collections.abc import Mapping

from games.choices import Outside, Ranges
from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Refusal, Seat, no
from games.lifecycle import ROUND
from games.schema import Fields, counts, described, whole
from games.sentences import say
from games.war_of_civilizations import data
from games.war_of_civilizations.checks import bonus_open, cannot_pay, no_bonus, no_step
from games.war_of_civilizations.document import Match, State
from games.war_of_civilizations.flow import change_resources, move_crystals, pay
from games.war_of_civilizations.state.control import controls
from games.war_of_civilizations.state.records import can_pay, goods, own_player, own_turn, so_many, turn_of
from games.war_of_civilizations.state.shape import LOCATION, RESOURCE, SEAT

# ---------------------------------------------------------------- convert


def convertible(state: State, seat: Seat) -> list[str]:
    """Return the resources into which a seat's mounted crystals convert: those that their locations yield, if it controls them. Neither a
    gunboat nor a fertile island is needed (WOC-CNV-01, WOC-CNV-02, WOC-CNV-06)."""
    mounted = state["players"][seat]["mounted"]
    if not mounted:
        return []
    found = {name for location in mounted if controls(state, seat, location) for name in data.YIELDS[location]}
    return [name for name in data.RESOURCES if name in found]


def payable(state: State, seat: Seat, into: str) -> data.Counts:
    """Return what a seat can convert into a resource: its other resources, never crystals (WOC-CNV-01, WOC-CNV-04)."""
    stock = goods(state["players"][seat])
    return {name: stock[name] for name in data.RESOURCES if name != into and stock[name]}


def convert_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for each resource that this action has not converted into (WOC-CNV-03)."""
    turn = state["turn"]
    if turn is None or turn["action"] != data.CONVERTING:
        return []
    return [{"type": "convert", "into": into} for into in convertible(state, seat) if into not in turn["converted"]]


def convert_ranges(state: State, seat: Seat, action: Action) -> Ranges:
    """Return the resources that may be given: any mix of the others (WOC-CNV-01)."""
    stock = payable(state, seat, action["into"])
    return {"pay": {"each": {name: [0, number] for name, number in stock.items()}, "total": [1, sum(stock.values())]}}


def convert_outside(state: State, seat: Seat, action: Action, found: Outside) -> Refusal:
    """Return the refusal for more of a resource than the seat has (WOC-CNV-01)."""
    return no("cannot_pay", "WOC-CNV-01", price=so_many(found.given, found.key), stock=so_many(found.high, found.key))


def _nothing_to_pay(state: State, seat: Seat, into: str) -> Refusal | None:
    return None if payable(state, seat, into) else no("cannot_pay", "WOC-CNV-01", price=say("another resource"), stock=say("nothing"))


def misconverted(action: Action) -> Refusal | None:
    """Return why a conversion contradicts itself, or None: something must be converted, and into another resource (WOC-CNV-01)."""
    if action["pay"] and action["into"] not in action["pay"]:
        return None
    return no("bad_action", "WOC-CNV-01", reason=say("convert: `pay` must name other resources than `into`"))


def convert_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why nothing can be converted into a resource, or None (WOC-CNV-01, WOC-CNV-02, WOC-CNV-03)."""
    into = action["into"]
    refusal = no_step(state, data.CONVERTING)
    if refusal is not None:
        return refusal
    if into not in convertible(state, seat):
        return no("no_crystal", "WOC-CNV-02", reason=say("none is mounted where you control {into}", into=into))
    if into in turn_of(state)["converted"]:
        return no("already_done", "WOC-CNV-03", what=say("Converting into {into} in one action", into=into))
    return _nothing_to_pay(state, seat, into)


def convert(match: Match, seat: Seat, action: Action) -> None:
    """Convert resources, once into each in an action (WOC-CNV-01, WOC-CNV-03)."""
    exchange(match, seat, action)
    match.emit("resource_converted", seat=seat, into=action["into"])


def exchange(match: Match, seat: Seat, action: Action) -> None:
    """Exchange resources one for one (WOC-CNV-01)."""
    given = action["pay"]
    paid = {name: -given[name] for name in data.RESOURCES if name in given}
    change_resources(match, seat, {**paid, action["into"]: sum(given.values())}, "convert")


def powder_offers(state: State, seat: Seat) -> list[Action]:
    """Return the conversion into ammunition, the only one during a battle, as often as the seat likes (WOC-CNV-05)."""
    return [{"type": "convert", "into": data.POWDER}] if data.POWDER in convertible(state, seat) else []


def powder_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why nothing can be converted into a resource during a battle, or None (WOC-CNV-02, WOC-CNV-05)."""
    into = action["into"]
    if into not in convertible(state, seat):
        return no("no_crystal", "WOC-CNV-02", reason=say("none is mounted where you control {into}", into=into))
    if into != data.POWDER:
        return no("wrong_moment", "WOC-CNV-05", what=say("Converting into {into}", into=into), when=say("in your own turn"))
    return _nothing_to_pay(state, seat, into)


# ---------------------------------------------------------------- mount and dismount


def mount_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for every location of the own continent (WOC-MNT-01)."""
    if not bonus_open(state, data.MOUNTING) or not state["players"][seat]["crystals"] or not can_pay(state, seat, data.MOUNT_PRICE):
        return []
    return [{"type": "mount", "at": location} for location in data.CONTINENT_OF[seat]]


def mount_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why no crystal can be mounted on a location, or None. One goes on each, under control on the own continent, without
    dismounting in the same turn; where it comes from does not matter (WOC-MNT-01, WOC-MNT-03, WOC-MNT-06)."""
    at = action["at"]
    refusal = no_bonus(state, data.MOUNTING)
    if refusal is not None:
        return refusal
    player = state["players"][seat]
    if turn_of(state)["crystal_use"] == data.DISMOUNTING:
        return no("mount_or_dismount", "WOC-MNT-03", use=say("dismounted"))
    if not player["crystals"]:
        return no("no_crystal", "WOC-MNT-01", reason=say("you have none in stock"))
    if data.CONTINENT[at] != seat:
        return no("not_your_continent", "WOC-MNT-01", at=at)
    if not controls(state, seat, at):
        return no("not_controlled", "WOC-MNT-01", at=at)
    if at in player["mounted"]:
        return no("already_there", "WOC-MNT-01", what=say("A crystal"), at=at)
    return cannot_pay(state, seat, data.MOUNT_PRICE, "WOC-MNT-01")


def mount(match: Match, seat: Seat, action: Action) -> None:
    """Mount a crystal. From now on it cannot be spent (WOC-MNT-01, WOC-MNT-05)."""
    pay(match, seat, data.MOUNT_PRICE, "mount")
    match.emit("crystal_mounted", seat=seat, at=action["at"], round=match.state["round"])


def dismount_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for every mounted crystal (WOC-MNT-02)."""
    mounted = state["players"][seat]["mounted"]
    if not mounted or not bonus_open(state, data.DISMOUNTING):
        return []
    return [{"type": "dismount", "at": location} for location in data.CONTINENT_OF[seat] if location in mounted]


def dismount_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why a crystal cannot be dismounted, or None. It stays in the round of mounting, without control, and after mounting in the
    same turn (WOC-MNT-02, WOC-MNT-03)."""
    at = action["at"]
    refusal = no_bonus(state, data.DISMOUNTING)
    if refusal is not None:
        return refusal
    mounted = state["players"][seat]["mounted"]
    if turn_of(state)["crystal_use"] == data.MOUNTING:
        return no("mount_or_dismount", "WOC-MNT-03", use=say("mounted"))
    if at not in mounted:
        return no("no_crystal", "WOC-MNT-02", reason=say("none of yours is mounted in {at}", at=at))
    if not controls(state, seat, at):
        return no("not_controlled", "WOC-MNT-02", at=at)
    if mounted[at] == state["round"]:
        return no("too_soon", "WOC-MNT-02", what=say("The crystal in {at} was mounted in this round", at=at))
    return None


def dismount(match: Match, seat: Seat, action: Action) -> None:
    """Take a crystal back into the stock, free of charge (WOC-MNT-02)."""
    match.emit("crystal_dismounted", seat=seat, at=action["at"])


# ---------------------------------------------------------------- abilities


def upgrade_offers(state: State, seat: Seat) -> list[Action]:
    """Return the upgrade, which a seat may make at each of its decisions (WOC-ABL-01)."""
    player = state["players"][seat]
    return [{"type": "upgrade_ability"}] if player["ability"] < data.MAX_LEVEL and player["crystals"] >= data.UPGRADE_PRICE else []


def upgrade_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why the ability cannot be upgraded, or None. It has two more levels, each for a crystal in stock (WOC-ABL-01, WOC-MNT-05)."""
    player = state["players"][seat]
    if player["ability"] >= data.MAX_LEVEL:
        return no("max_level", "WOC-ABL-01", level=data.MAX_LEVEL)
    if player["crystals"] < data.UPGRADE_PRICE:
        return no("no_crystal", "WOC-ABL-01", reason=say("you have none in stock"))
    return None


def upgrade(match: Match, seat: Seat, action: Action) -> None:
    """Return a crystal to the supply and raise the ability by a level. What was fixed before does not change (WOC-ABL-01, WOC-LIM-02)."""
    move_crystals(match, seat, data.SUPPLY, data.UPGRADE_PRICE, "upgrade")
    match.emit("ability_upgraded", seat=seat, level=match.state["players"][seat]["ability"] + 1)


# ---------------------------------------------------------------- facts


def resource_converted(state: State, event: Event, own: Own) -> None:
    """The seat has converted into a resource in this action."""
    turn = own_turn(state, own)
    own(turn, "converted").append(event["into"])
    turn["bonus_open"] = False


def crystal_mounted(state: State, event: Event, own: Own) -> None:
    """A crystal goes from the stock on a location."""
    player = own_player(state, event["seat"], own)
    player["crystals"] -= 1
    own(player, "mounted")[event["at"]] = event["round"]
    own_turn(state, own)["crystal_use"] = data.MOUNTING


def crystal_dismounted(state: State, event: Event, own: Own) -> None:
    """A mounted crystal comes back."""
    player = own_player(state, event["seat"], own)
    player["crystals"] += 1
    del own(player, "mounted")[event["at"]]
    own_turn(state, own)["crystal_use"] = data.DISMOUNTING


def ability_upgraded(state: State, event: Event, own: Own) -> None:
    """A seat can do more."""
    own_player(state, event["seat"], own)["ability"] = event["level"]


FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "resource_converted": (resource_converted, {"seat": SEAT, "into": RESOURCE}),
    "crystal_mounted": (crystal_mounted, {"seat": SEAT, "at": LOCATION, "round": ROUND}),
    "crystal_dismounted": (crystal_dismounted, {"seat": SEAT, "at": LOCATION}),
    "ability_upgraded": (ability_upgraded, {"seat": SEAT, "level": whole(1, data.MAX_LEVEL, "the new level")}),
}

# ---------------------------------------------------------------- deeds

_EXCHANGE = {"into": described(RESOURCE, "the resource gained"), "pay": counts(RESOURCE, about="what is paid, by resource")}
CONVERT = Deed(_EXCHANGE, convert_offers, convert_refusal, convert, convert_ranges, convert_outside)
CONVERT_TO_POWDER = Deed(_EXCHANGE, powder_offers, powder_refusal, exchange, convert_ranges, convert_outside)
MOUNT = Deed({"at": LOCATION}, mount_offers, mount_refusal, mount)
DISMOUNT = Deed({"at": LOCATION}, dismount_offers, dismount_refusal, dismount)
UPGRADE = Deed({}, upgrade_offers, upgrade_refusal, upgrade)
