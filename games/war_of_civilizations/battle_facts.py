"""How the events of battles, of the Isle and of pirates change the document (CONTRACT section 8), and what each holds."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Document, Own, clone
from games.kernel import Event, Fact, State
from games.schema import BLANK, Fields, always, either, flag, ids, listing, mapping, nullable, text, veiled, whole
from games.war_of_civilizations.data import COUNTDOWN, ISLE, RESOURCES, ROUNDS_TO_WIN
from games.war_of_civilizations.state import (
    APEX_ISLAND,
    BATTLE,
    BID,
    BLOCKADE,
    CARD,
    DICE,
    LOCATION,
    OFFER,
    ROUND,
    SEAT,
    SHIP,
    SIDE,
    SIDES,
    own_player,
)


def _battle(state: State, own: Own) -> Document:
    battle: Document = own(state, "battle")
    return battle


# ---------------------------------------------------------------- battles


def battle_started(state: State, event: Event, own: Own) -> None:
    """Two sides meet."""
    state["battle"] = clone(event["battle"])


def ability_used(state: State, event: Event, own: Own) -> None:
    """A seat has used its ability in this battle."""
    own(_battle(state, own), "ability_used").append(event["seat"])


def bid_sealed(state: State, event: Event, own: Own) -> None:
    """A side has bid; what, it alone knows (WOC-BAT-05)."""
    own(_battle(state, own), "bids")[event["seat"]] = {"ammo": event["ammo"], "cards": list(event["cards"])}


def dice_rolled(state: State, event: Event, own: Own) -> None:
    """A pirate's dice lie open."""
    _battle(state, own)["dice"] = list(event["dice"])


def bids_revealed(state: State, event: Event, own: Own) -> None:
    """All bids lie open."""
    _battle(state, own)["bids"] = clone(event["bids"])


def battle_resolved(state: State, event: Event, own: Own) -> None:
    """A side has won."""
    _battle(state, own)["result"] = {"winner": event["winner"], "sides": clone(event["sides"])}


def retreat_ordered(state: State, event: Event, own: Own) -> None:
    """The loser must choose which ships go home."""
    _battle(state, own)["retreat"] = {"seat": event["seat"], "count": event["count"]}


def battle_ended(state: State, event: Event, own: Own) -> None:
    """The battle is over."""
    state["battle"] = None


def seat_eliminated(state: State, event: Event, own: Own) -> None:
    """All of a seat leaves the board; its cards go to the discard pile (WOC-ELM-03)."""
    player = own_player(state, event["seat"], own)
    player["eliminated"] = True
    for name in (*RESOURCES, "crystals"):
        player[name] = 0
    own(own(state, "power"), "discard").extend(player["cards"])
    player["cards"] = []
    player["fleets"] = {}
    player["mounted"] = {}
    player["teleporters"] = []
    player["privateer"] = None


# ---------------------------------------------------------------- the Isle of Myth


def isle_taken(state: State, event: Event, own: Own) -> None:
    """The Isle has a holder, and the round is noted (WOC-ISL-02)."""
    state[ISLE] = {"holder": event["seat"], "since": event["round"], "full_rounds": 0}


def isle_lost(state: State, event: Event, own: Own) -> None:
    """The Isle has no holder."""
    state[ISLE] = {"holder": None, "since": None, "full_rounds": 0}


def isle_round_held(state: State, event: Event, own: Own) -> None:
    """The holder has held the Isle for one more full round."""
    own(state, ISLE)["full_rounds"] = event["full_rounds"]


def countdown_set(state: State, event: Event, own: Own) -> None:
    """The tracker shows another number."""
    state["countdown"] = event["value"]


# ---------------------------------------------------------------- pirates and privateers


def pirate_removed(state: State, event: Event, own: Own) -> None:
    """A pirate has left its island."""
    own(own(state, "apex"), event["apex"])["pirate"] = False


def privateer_moved(state: State, event: Event, own: Own) -> None:
    """A privateer is somewhere else, or in the reserve."""
    own_player(state, event["seat"], own)["privateer"] = event["to"]


def blockade_started(state: State, event: Event, own: Own) -> None:
    """A privateer that has arrived waits for an answer."""
    state["blockade"] = dict(event["blockade"])
    state["offers"] = 0


def blockade_ended(state: State, event: Event, own: Own) -> None:
    """The answer is given; the offers that the owner has made in its turn count on (WOC-RAN-04)."""
    state["offers"] = state["blockade"].get("offers", 0)
    state["blockade"] = None


def ransom_offered(state: State, event: Event, own: Own) -> None:
    """An offer lies on the table."""
    state["ransom"] = {
        "from": event["from"],
        "to": event["to"],
        "at": event["at"],
        "offer": dict(event["offer"]),
        "note": event["note"],
    }
    state["offers"] = event["offers"]


def ransom_answered(state: State, event: Event, own: Own) -> None:
    """An offer is taken or not."""
    state["ransom"] = None


BATTLE_FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "battle_started": (battle_started, {"battle": BATTLE}),
    "ability_used": (ability_used, {"seat": SEAT, "at": LOCATION, "ship": SHIP}),
    "bid_sealed": (bid_sealed, {"seat": SEAT, "ammo": veiled(whole(0), BLANK), "cards": veiled(listing(CARD), BLANK)}),
    "dice_rolled": (dice_rolled, {"dice": DICE}),
    "bids_revealed": (bids_revealed, {"bids": mapping(SEAT, BID)}),
    "battle_resolved": (battle_resolved, {"winner": SIDE, "sides": SIDES}),
    "retreat_ordered": (retreat_ordered, {"seat": SEAT, "count": whole(1)}),
    "battle_ended": (battle_ended, {"at": LOCATION}),
    "seat_eliminated": (seat_eliminated, {"seat": SEAT, "by": SEAT}),
    "isle_taken": (isle_taken, {"seat": SEAT, "round": ROUND}),
    "isle_lost": (isle_lost, {"seat": SEAT}),
    "isle_round_held": (isle_round_held, {"seat": SEAT, "full_rounds": whole(1, ROUNDS_TO_WIN)}),
    "countdown_set": (countdown_set, {"value": whole(1, COUNTDOWN)}),
    "pirate_removed": (pirate_removed, {"apex": APEX_ISLAND, "reason": ids(["defeated", "hired"])}),
    "privateer_moved": (privateer_moved, {"seat": SEAT, "to": either(LOCATION, always("reserve"))}),
    "blockade_started": (blockade_started, {"blockade": BLOCKADE}),
    "blockade_ended": (blockade_ended, {"at": LOCATION, "result": ids(["hostages", "ransom", "fought"])}),
    "ransom_offered": (
        ransom_offered,
        {"from": SEAT, "to": SEAT, "at": LOCATION, "offer": OFFER, "note": nullable(text()), "offers": whole(1)},
    ),
    "ransom_answered": (ransom_answered, {"seat": SEAT, "accepted": flag(), "note": nullable(text())}),
}
