"""The events of the table: how each changes the document (CONTRACT section 4), and its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.documents import Own
from games.kernel import Event, Fact
from games.schema import Fields, always, described, ids, nullable, optional, record, veiled, whole
from table import state
from table.clocks import at_start, shifted
from table.document import Table
from table.labels import GIVEN as LABELS_GIVEN
from table.settings import CLOCK, DISPUTE_DAYS, SIGNED, SPECTATORS, TIME_OUT


def match_created(table: Table, event: Event, own: Own) -> None:
    """There is a match, with its roster, the commitment to its dice, and how its open seats can be taken."""
    table["phase"] = state.OPEN
    table["game"] = event["game"]
    table["creator"] = event["creator"]
    table["commitment"] = event["commitment"]
    table["roster"] = {seat: occupant.copy() for seat, occupant in event["roster"].items()}
    table["invited"] = dict(event.get("invited", {}))
    table["lock"] = event.get("lock")
    table["expires"] = event.get("expires")
    table["rematch_of"] = event.get("rematch_of")
    table["origin"] = event.get("origin")
    table["dice"] = event.get("dice")
    table["clock"] = event.get("clock", state.BLANK["clock"]).copy()
    table["time_out"] = event.get("time_out", state.BLANK["time_out"]).copy()
    table["spectators"] = event.get("spectators", state.BLANK["spectators"])
    table["dispute_days"] = event["dispute_days"]
    table["signed"] = event.get("signed", state.BLANK["signed"])
    table["practice"] = event.get("practice", False)
    table["rated"] = event.get("rated", False)
    table["name"] = event.get("name")
    table["tags"] = list(event.get("tags", ()))
    table["departures"] = {}
    table["contributions"] = {}
    table["clocks"] = {"returned": 0, "seats": {}}
    table["substitutes"] = {}
    table["held"] = {}
    table["refills"] = {}
    table["offers"] = {}
    table["offered"] = {}
    table["handovers"] = {}
    table["paused_until"] = None
    table["votes"] = {}
    table["disputes"] = []
    table["disputed_since"] = None
    table["waited"] = {}
    table["overruled"] = None
    table["former"] = {}
    table["continued"] = None


def seat_taken(table: Table, event: Event, own: Own) -> None:
    """A player has the seat. What the player adds to the dice is kept."""
    own(table, "roster")[event["seat"]] = {"player": event["player"]}
    if event["contribution"] is not None:
        own(table, "contributions")[event["seat"]] = event["contribution"]


def seat_left(table: Table, event: Event, own: Own) -> None:
    """The seat is open again. What its player added to the dice is gone, and the departure is counted."""
    departures = own(table, "departures")
    departures[event["player"]] = departures.get(event["player"], 0) + 1
    own(table, "roster")[event["seat"]] = {"open": True}
    own(table, "contributions").pop(event["seat"], None)


def invitation_declined(table: Table, event: Event, own: Own) -> None:
    """The player does not want the seat. It is kept for somebody else, or for nobody."""
    invited = own(table, "invited")
    if event["kept_for"] is None:
        del invited[event["seat"]]
    else:
        invited[event["seat"]] = event["kept_for"]


def seats_filled(table: Table, event: Event, own: Own) -> None:
    """Every seat is taken. Play begins. Each seat of a player has a clock, if the match has clocks."""
    table["phase"] = state.STARTED
    own(table, "clocks")["seats"] = at_start(table["clock"], [seat for seat, one in table["roster"].items() if "player" in one])


def match_closed(table: Table, event: Event, own: Own) -> None:
    """The match will never begin."""
    table["phase"] = state.CLOSED


# ---------------------------------------------------------------- clocks and time-outs


def time_returned(table: Table, event: Event, own: Own) -> None:
    """Time that an outage took is given back: as far as clocks ran from `from` to `to`, they run that much longer."""
    clocks = own(table, "clocks")
    clocks["returned"] = event["to"]
    clocks["seats"] = {seat: shifted(clock, event["from"], event["to"]) for seat, clock in clocks["seats"].items()}


def time_ran_out(table: Table, event: Event, own: Own) -> None:
    """The time of a seat has run out, so often in a row. What follows depends on the match."""
    own(own(own(table, "clocks"), "seats"), event["seat"])["late"] = event["in_a_row"]


def seat_substituted(table: Table, event: Event, own: Own) -> None:
    """An artificial player plays the seat: until its owner returns, or to the end of the match."""
    own(table, "substitutes")[event["seat"]] = event["level"]
    own(table, "held")[event["seat"]] = event["until"]
    own(table, "handovers").pop(event["seat"], None)
    _absent(table, event["seat"], own)


def stretch_played(table: Table, event: Event, own: Own) -> None:
    """The substitute has played the stretch that ran out. The owner of the seat may return."""
    own(table, "held").pop(event["seat"], None)


def seat_returned(table: Table, event: Event, own: Own) -> None:
    """The owner of the seat plays again. Its bank may have been refilled."""
    own(table, "substitutes").pop(event["seat"], None)
    _refill(table, event, own)


def vote_opened(table: Table, event: Event, own: Own) -> None:
    """The others vote about a seat whose time has run out. Without a decision `then` of the match decides at `until`."""
    own(table, "votes")[event["seat"]] = {"until": event["until"], "votes": {}}


def vote_cast(table: Table, event: Event, own: Own) -> None:
    """A seat has voted about another."""
    own(own(own(table, "votes"), event["about"]), "votes")[event["seat"]] = event["for"]


def vote_closed(table: Table, event: Event, own: Own) -> None:
    """The vote about a seat is over: decided, or null because the seat has acted after all."""
    own(table, "votes").pop(event["about"], None)


# ---------------------------------------------------------------- leaving and handing over


def seat_resigned(table: Table, event: Event, own: Own) -> None:
    """The seat gives up. The game takes it out of play."""
    _out(table, event["seat"], own)


def seat_forfeited(table: Table, event: Event, own: Own) -> None:
    """The seat has lost by time. The game takes it out of play."""
    _out(table, event["seat"], own)


def seat_offered(table: Table, event: Event, own: Own) -> None:
    """The owner of the seat offers it to a player, or to nobody any more if `player` is null."""
    if event["player"] is None:
        own(table, "handovers").pop(event["seat"], None)
    else:
        own(table, "handovers")[event["seat"]] = event["player"]
        _count(table, event["seat"], own)


def seat_handed_over(table: Table, event: Event, own: Own) -> None:
    """Another player has the seat from now on, with the clock and the time-outs as they are. The bank may have been refilled."""
    seat = event["seat"]
    before = table["roster"][seat].get("player")
    if before is not None:
        own(table, "former")[before] = sorted({*table["former"].get(before, ()), seat})
    own(table, "roster")[seat] = {"player": event["player"]}
    own(table, "handovers").pop(seat, None)
    own(table, "substitutes").pop(seat, None)
    own(table, "held").pop(seat, None)
    _absent(table, seat, own)
    _refill(table, event, own)


# ---------------------------------------------------------------- offers


def offer_made(table: Table, event: Event, own: Own) -> None:
    """A seat offers something to the others."""
    offer: Any = {"by": event["seat"], "accepted": []}
    offer.update((name, event[name]) for name in ("version", "hours") if name in event)
    own(table, "offers")[event["what"]] = offer
    _count(table, event["seat"], own)


def offer_accepted(table: Table, event: Event, own: Own) -> None:
    """A seat agrees to an offer."""
    offer = own(own(table, "offers"), event["what"])
    offer["accepted"] = [*offer["accepted"], event["seat"]]


def offer_agreed(table: Table, event: Event, own: Own) -> None:
    """All who must agree to an offer do. What was offered follows."""
    own(table, "offers").pop(event["what"], None)


def offer_declined(table: Table, event: Event, own: Own) -> None:
    """A seat does not agree to an offer, or takes its own back. The offer is gone."""
    own(table, "offers").pop(event["what"], None)


def offer_lapsed(table: Table, event: Event, own: Own) -> None:
    """Play or those who must agree have changed, so the offer is gone."""
    own(table, "offers").pop(event["what"], None)


def match_paused(table: Table, event: Event, own: Own) -> None:
    """Nobody acts and no clock runs until the match goes on, at `until` at the latest."""
    table["phase"] = state.PAUSED
    table["paused_until"] = event["until"]


def pause_shortened(table: Table, event: Event, own: Own) -> None:
    """A seat has given notice. The pause ends at `until`."""
    table["paused_until"] = event["until"]


def match_resumed(table: Table, event: Event, own: Own) -> None:
    """The match goes on. Each clock runs on with what was left."""
    table["phase"] = state.STARTED
    table["paused_until"] = None


# ---------------------------------------------------------------- disputes


def dispute_opened(table: Table, event: Event, own: Own) -> None:
    """A seat disputes what happened at a version. If no referee has ruled by `until`, the dispute goes to an admin."""
    table["disputes"] = [
        *table["disputes"],
        {
            "seat": event["seat"],
            "version": event["version"],
            "opened": event["opened"],
            "entries": [event["opened"]],
            "state": state.OPEN,
            "sides": [],
            "reported": False,
            "escalated": False,
            "rulings": [],
            "accepted": [],
            "appeal": None,
            "until": event["until"],
            "taken": None,
            "freezes": event.get("freezes"),
            "left": event.get("left"),
            "cost": 0,
        },
    ]


def match_frozen(table: Table, event: Event, own: Own) -> None:
    """Nobody acts, and no clock runs but that of the seat that disputes."""
    table["phase"] = state.DISPUTED
    table["disputed_since"] = event["since"]


def match_unfrozen(table: Table, event: Event, own: Own) -> None:
    """The match is as before the dispute. Its pause and its votes end that much later."""
    paused = table["paused_until"]
    table["phase"] = state.STARTED if paused is None else state.PAUSED
    table["disputed_since"] = None
    table["paused_until"] = None if paused is None else paused + event["frozen"]
    if table["votes"]:
        votes = own(table, "votes")
        for about in votes:
            own(votes, about)["until"] += event["frozen"]


def dispute_withdrawn(table: Table, event: Event, own: Own) -> None:
    """The seat does not dispute any more."""
    _dispute(table, event, own).update(state=state.WITHDRAWN, until=None)


def dispute_taken(table: Table, event: Event, own: Own) -> None:
    """A referee has taken the case. No clock runs any more."""
    _dispute(table, event, own).update(taken=event["referee"], cost=event["cost"])


def freeze_ended(table: Table, event: Event, own: Own) -> None:
    """The dispute freezes the match no longer. How long it did counts for the seat that disputes."""
    one = _dispute(table, event, own)
    one.update(freezes=None, cost=event["cost"])
    if event["waited"]:
        waited = own(table, "waited")
        waited[one["seat"]] = waited.get(one["seat"], 0) + event["waited"]


def side_stated(table: Table, event: Event, own: Own) -> None:
    """Another seat has stated its side."""
    one = _dispute(table, event, own)
    one["sides"] = [*one["sides"], event["seat"]]


def report_attached(table: Table, event: Event, own: Own) -> None:
    """The service has made its report."""
    _dispute(table, event, own)["reported"] = True


def dispute_escalated(table: Table, event: Event, own: Own) -> None:
    """No referee has ruled in time. Now only an admin may, until `until`."""
    _dispute(table, event, own).update(escalated=True, until=event["until"])


def dispute_lapsed(table: Table, event: Event, own: Own) -> None:
    """Nobody has ruled, so nothing follows from the dispute."""
    _dispute(table, event, own).update(state=state.LAPSED, until=None)


def dispute_ruled(table: Table, event: Event, own: Own) -> None:
    """A referee has ruled. The ruling takes effect at `until` unless a seat appeals; without `until` it is final, and takes effect now."""
    one = _dispute(table, event, own)
    named = ("referee", "verdict", "remedy", "seat", "version")
    ruling = {name: event[name] for name in named if name in event}
    one.update(state=state.RULED, escalated=False, rulings=[*one["rulings"], ruling], until=event.get("until"))
    if "frozen_until" in event:
        own(one, "freezes")["until"] = event["frozen_until"]
    if "left" in event:
        clock = own(own(own(table, "clocks"), "seats"), one["seat"])
        clock.update(event["left"])
        one["cost"] = 0
        if one["freezes"] is not None:
            clock["since"] = None


def ruling_accepted(table: Table, event: Event, own: Own) -> None:
    """A seat accepts the ruling."""
    one = _dispute(table, event, own)
    one["accepted"] = [*one["accepted"], event["seat"]]


def ruling_appealed(table: Table, event: Event, own: Own) -> None:
    """A seat does not accept the ruling. Another referee rules by `until`, or else an admin."""
    one = _dispute(table, event, own)
    one.update(state=state.APPEALED, appeal=event["seat"], until=event["until"])
    if "frozen_until" in event:
        own(one, "freezes")["until"] = event["frozen_until"]


def dispute_settled(table: Table, event: Event, own: Own) -> None:
    """The last ruling takes effect."""
    _dispute(table, event, own).update(state=state.SETTLED, until=None)


def outcome_overruled(table: Table, event: Event, own: Own) -> None:
    """A ruling after the end says what holds: the match does not count, or a seat does not win."""
    table["overruled"] = {name: event[name] for name in ("dispute", "remedy", "seat") if name in event}  # type: ignore[typeddict-item]


def match_continued(table: Table, event: Event, own: Own) -> None:
    """By a ruling, another match begins from a version of this one. Until it is over, what is hidden here stays hidden."""
    named = {name: event[name] for name in ("match", "version", "dispute")}
    table["continued"] = {**named, "begun": False, "opened": False}  # type: ignore[typeddict-item]


def continuation_begun(table: Table, event: Event, own: Own) -> None:
    """The match that goes on has been created."""
    own(table, "continued")["begun"] = True


def record_opened(table: Table, event: Event, own: Own) -> None:
    """The match that went on from this one is over, so everybody may see all of this one."""
    own(table, "continued")["opened"] = True


def origin_opened(table: Table, event: Event, own: Own) -> None:
    """This match is over, and everybody may see all of the one from which it went on."""
    own(table, "origin")["opened"] = True


def _dispute(table: Table, event: Event, own: Own) -> dict[str, Any]:
    """Return the dispute of an event, to be changed. The entry of the event is one of its entries."""
    one: dict[str, Any] = own(own(table, "disputes"), event["dispute"] - 1)
    if event["entry"] not in one["entries"]:
        one["entries"] = [*one["entries"], event["entry"]]
    return one


def _count(table: Table, seat: str, own: Own) -> None:
    """Count an offer of a seat."""
    offered = own(table, "offered")
    offered[seat] = offered.get(seat, 0) + 1


def _refill(table: Table, event: Event, own: Own) -> None:
    """Refill the bank of a seat for the player who comes to it, if the event says so."""
    given = event.get("refill")
    if given is not None:
        own(own(own(table, "clocks"), "seats"), event["seat"])["bank"] = given["bank"]
        own(table, "refills")[event["seat"]] = {"round": given["round"], "times": given["times"]}


def _absent(table: Table, seat: str, own: Own) -> None:
    """Take the votes about a seat and by it away."""
    if table["votes"]:
        votes = own(table, "votes")
        votes.pop(seat, None)
        for about in votes:
            if seat in votes[about]["votes"]:
                own(own(votes, about), "votes").pop(seat)


def _out(table: Table, seat: str, own: Own) -> None:
    """Take away what only a seat in play has."""
    _absent(table, seat, own)
    own(table, "substitutes").pop(seat, None)
    own(table, "held").pop(seat, None)
    own(table, "handovers").pop(seat, None)


_MILLISECONDS = "in milliseconds since 1970"
HIDDEN_TEXT = veiled(
    described(state.DISPUTE_TEXT, "for the seats and referees; for others it is null until the match is over"), {"type": "null"}
)
_HIDDEN_FIELD = nullable(described(state.DISPUTED_FIELD, "the field of the view that it is about, or null; for others as `text`"))
_FROZEN_UNTIL = described(state.MOMENT, f"until when it freezes the match at most, {_MILLISECONDS}; left out if it does not")
_ENTRY = described(state.VERSION, "the version of this entry")
_COST = described(state.DURATION, "what it has taken from the clock of the seat that disputes, in milliseconds")
REFILL = record(
    {
        "bank": described(state.DURATION, "what the bank holds now, in milliseconds"),
        "round": whole(0, about="the round of the game"),
        "times": whole(1, about="how often the bank of the seat has been refilled"),
    },
    about="how the bank was refilled; left out if it was not",
)

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "match_created": (
        match_created,
        {
            "game": state.GAME,
            "creator": state.PLAYER_ID,
            "commitment": state.COMMITMENT,
            "roster": state.ROSTER,
            "invited": optional(state.INVITED),
            "lock": optional(state.LOCK),
            "expires": optional(state.EXPIRES),
            "rematch_of": optional(described(state.MATCH_ID, "the match of which this one is the rematch; left out if it is none")),
            "origin": optional(state.ORIGIN),
            "dice": optional(state.DICE),
            "clock": optional(CLOCK),
            "time_out": optional(TIME_OUT),
            "spectators": optional(SPECTATORS),
            "dispute_days": DISPUTE_DAYS,
            "signed": optional(SIGNED),
            "practice": optional(always(True, "the match counts for nobody's results, and a player may have several of its seats")),
            "rated": optional(always(True, "it counts for ratings")),
            **LABELS_GIVEN,
        },
    ),
    "seat_taken": (seat_taken, {"seat": state.SEAT, "player": state.PLAYER_ID, "contribution": nullable(state.GIVEN)}),
    "seat_left": (seat_left, {"seat": state.SEAT, "player": state.PLAYER_ID}),
    "invitation_declined": (invitation_declined, {"seat": state.SEAT, "player": state.PLAYER_ID, "kept_for": nullable(state.PLAYER_ID)}),
    "seats_filled": (seats_filled, {}),
    "match_closed": (match_closed, {}),
    "time_returned": (
        time_returned,
        {
            "from": described(state.MOMENT, f"when the outage began, {_MILLISECONDS}"),
            "to": described(state.MOMENT, f"when it ended, {_MILLISECONDS}"),
        },
    ),
    "time_ran_out": (
        time_ran_out,
        {
            "seat": state.SEAT,
            "deadline": described(state.MOMENT, f"when its time had run out, {_MILLISECONDS}"),
            "in_a_row": whole(1, about="how often in a row"),
        },
    ),
    "seat_substituted": (
        seat_substituted,
        {
            "seat": state.SEAT,
            "level": state.LEVEL,
            "until": ids(
                [state.STRETCH, state.TO_THE_END], "until when its owner cannot take it back: `stretch`, the one that ran out, or `end`"
            ),
        },
    ),
    "stretch_played": (stretch_played, {"seat": state.SEAT}),
    "seat_returned": (seat_returned, {"seat": state.SEAT, "refill": optional(REFILL)}),
    "vote_opened": (vote_opened, {"seat": state.SEAT, "until": described(state.MOMENT, f"when `then` decides, {_MILLISECONDS}")}),
    "vote_cast": (vote_cast, {"seat": state.SEAT, "about": state.ABOUT, "for": state.DECISION}),
    "vote_closed": (vote_closed, {"about": state.ABOUT, "decision": nullable(state.DECISION)}),
    "seat_resigned": (seat_resigned, {"seat": state.SEAT}),
    "seat_forfeited": (seat_forfeited, {"seat": state.SEAT}),
    "seat_offered": (seat_offered, {"seat": state.SEAT, "player": nullable(state.PLAYER_ID)}),
    "seat_handed_over": (seat_handed_over, {"seat": state.SEAT, "player": state.PLAYER_ID, "refill": optional(REFILL)}),
    "offer_made": (
        offer_made,
        {"seat": state.SEAT, "what": state.PROPOSAL, "version": optional(state.VERSION), "hours": optional(state.HOURS)},
    ),
    "offer_accepted": (offer_accepted, {"seat": state.SEAT, "what": state.PROPOSAL}),
    "offer_agreed": (offer_agreed, {"what": state.PROPOSAL}),
    "offer_declined": (offer_declined, {"seat": state.SEAT, "what": state.PROPOSAL}),
    "offer_lapsed": (offer_lapsed, {"what": state.PROPOSAL}),
    "match_paused": (match_paused, {"until": described(state.MOMENT, f"when the pause ends at the latest, {_MILLISECONDS}")}),
    "pause_shortened": (pause_shortened, {"until": described(state.MOMENT, f"when the pause ends now, {_MILLISECONDS}")}),
    "match_resumed": (match_resumed, {}),
    "dispute_opened": (
        dispute_opened,
        {
            "dispute": state.DISPUTE_NUMBER,
            "seat": state.SEAT,
            "version": described(state.VERSION, "the version that the dispute is about"),
            "opened": described(state.VERSION, "the version of this entry"),
            "text": HIDDEN_TEXT,
            "field": _HIDDEN_FIELD,
            "until": described(state.MOMENT, f"when it goes to an admin, {_MILLISECONDS}"),
            "freezes": optional(state.FREEZES),
            "left": optional(state.CLOCK_LEFT),
        },
    ),
    "dispute_taken": (
        dispute_taken,
        {
            "dispute": state.DISPUTE_NUMBER,
            "entry": _ENTRY,
            "referee": described(state.PLAYER_ID, "who has taken the case"),
            "role": ids([state.REFEREE, state.ADMIN], "the role of who has taken it"),
            "cost": _COST,
        },
    ),
    "freeze_ended": (
        freeze_ended,
        {
            "dispute": state.DISPUTE_NUMBER,
            "entry": _ENTRY,
            "waited": described(state.DURATION, "how much of it counts for the seat that disputes, in milliseconds"),
            "cost": _COST,
        },
    ),
    "match_frozen": (match_frozen, {"since": described(state.MOMENT, f"since when nobody acts, {_MILLISECONDS}")}),
    "match_unfrozen": (match_unfrozen, {"frozen": whole(0, about="how long the match was frozen, in milliseconds")}),
    "dispute_withdrawn": (dispute_withdrawn, {"dispute": state.DISPUTE_NUMBER, "entry": _ENTRY}),
    "side_stated": (side_stated, {"dispute": state.DISPUTE_NUMBER, "entry": _ENTRY, "seat": state.SEAT, "text": HIDDEN_TEXT}),
    "report_attached": (
        report_attached,
        {"dispute": state.DISPUTE_NUMBER, "entry": _ENTRY, "report": veiled(state.REPORT, {"type": "null"})},
    ),
    "dispute_escalated": (
        dispute_escalated,
        {
            "dispute": state.DISPUTE_NUMBER,
            "entry": _ENTRY,
            "until": described(state.MOMENT, f"until when an admin may rule, {_MILLISECONDS}"),
        },
    ),
    "dispute_lapsed": (dispute_lapsed, {"dispute": state.DISPUTE_NUMBER, "entry": _ENTRY}),
    "dispute_ruled": (
        dispute_ruled,
        {
            "dispute": state.DISPUTE_NUMBER,
            "entry": _ENTRY,
            "referee": described(state.PLAYER_ID, "who rules"),
            "role": ids([state.REFEREE, state.ADMIN], "the role of who rules"),
            "verdict": ids(state.VERDICTS, "what the ruling says"),
            "remedy": ids(state.REMEDIES, "what follows from it"),
            "seat": optional(described(state.SEAT, "the seat that forfeits")),
            "version": optional(described(state.VERSION, "the version from which another match goes on")),
            "text": HIDDEN_TEXT,
            "until": optional(
                described(state.MOMENT, f"when it takes effect unless a seat appeals, {_MILLISECONDS}; left out if it is final")
            ),
            "frozen_until": optional(_FROZEN_UNTIL),
            "left": optional(state.CLOCK_LEFT),
        },
    ),
    "ruling_accepted": (ruling_accepted, {"dispute": state.DISPUTE_NUMBER, "entry": _ENTRY, "seat": state.SEAT}),
    "ruling_appealed": (
        ruling_appealed,
        {
            "dispute": state.DISPUTE_NUMBER,
            "entry": _ENTRY,
            "seat": state.SEAT,
            "text": HIDDEN_TEXT,
            "until": described(state.MOMENT, f"when it goes to an admin, {_MILLISECONDS}"),
            "frozen_until": optional(_FROZEN_UNTIL),
        },
    ),
    "dispute_settled": (dispute_settled, {"dispute": state.DISPUTE_NUMBER, "entry": _ENTRY}),
    "outcome_overruled": (
        outcome_overruled,
        {
            "dispute": state.DISPUTE_NUMBER,
            "remedy": ids([state.VOID_REMEDY, state.FORFEIT_REMEDY], "what holds"),
            "seat": optional(described(state.SEAT, "the seat that forfeits")),
        },
    ),
    "match_continued": (
        match_continued,
        {
            "match": described(state.MATCH_ID, "the match that goes on"),
            "version": described(state.VERSION, "the version of this match from which it does"),
            "dispute": state.DISPUTE_NUMBER,
        },
    ),
    "continuation_begun": (continuation_begun, {}),
    "record_opened": (record_opened, {}),
    "origin_opened": (origin_opened, {}),
}
