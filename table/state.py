"""The table's document, and the questions asked of it."""

from __future__ import annotations

from hashlib import sha256
from typing import Any
from unicodedata import category

from games import patterns
from games.lifecycle import DRAW, VOID
from games.patterns import anchored, matches
from games.schema import (
    Malformed,
    Shape,
    always,
    anything,
    described,
    either,
    flag,
    ids,
    known,
    listing,
    mapping,
    nullable,
    optional,
    record,
    text,
    whole,
)
from table.data import (
    CLOSED_MS,
    LEVELS,
    LONGEST_TEXT,
    MOST_DEPARTURES,
    MOST_DISPUTES,
    MOST_OFFERS,
    OPEN_MS,
    PAUSE_HOURS,
    USUAL_PAUSE_HOURS,
    USUAL_WAIT_DAYS,
)
from table.document import Occupant, Table
from table.labels import HELD as LABELS
from table.labels import matching
from table.settings import ACCEPTED, ALL, CLOCK, DECISIONS, DISPUTE_DAYS, NONE, SIGNED, SPECTATORS, TIME_OUT

NEW = "new"
OPEN = "open"
STARTED = "started"
PAUSED = "paused"
DISPUTED = "disputed"
CLOSED = "closed"

PAUSE = "pause"
RESUME = "resume"
TAKEBACK = "takeback"
PROPOSALS = (DRAW, VOID, PAUSE, RESUME, TAKEBACK)
"""What a seat may offer to the others (TBL-OFR-01)."""

RULED = "ruled"
APPEALED = "appealed"
SETTLED = "settled"
WITHDRAWN = "withdrawn"
LAPSED = "lapsed"
UNDECIDED = (OPEN, RULED, APPEALED)
"""The states of a dispute that is not settled. Only such a dispute may freeze its match."""

SAME = "same"
DIFFERS = "differs"
NOT_RUN = "not_run"

REJECTED = "rejected"
UPHELD = "upheld"
VERDICTS = (REJECTED, UPHELD)
NO_REMEDY, VOID_REMEDY, FORFEIT_REMEDY, PLAY_ON_REMEDY = REMEDIES = ("none", VOID, "forfeit", "play_on")

STRETCH = "stretch"
TO_THE_END = "end"
"""Until when a substitute holds a seat: until it has played the stretch that ran out, or to the end (TBL-TIM-05, TBL-TIM-09)."""

REFEREE = "referee"
ADMIN = "admin"

ME = "me"
FREE = "open"
AI = "ai:"
PLAYER = "player:"


SEAT = text(anchored(patterns.SEAT), "a seat of the match's game")
PLAYER_ID = text(anchored(patterns.PLAYER), "the id of a player")
NAMED_PLAYER = matching(patterns.PLAYER, "the id of a player")
GAME = text(anchored(patterns.GAME), "the id of a game")
COMMITMENT = text(anchored(patterns.DIGEST), "SHA-256 of the match's secret, in hex")
DICE = matching(patterns.DIGEST, "the key of all dice, in hex")
LOCK = text(anchored(patterns.DIGEST), "SHA-256 of the commitment, a colon and the code that the match asks for, in hex")
CODE = matching(
    f"{patterns.JOIN_CODE}|{patterns.DIGEST}", "the code that the match asks for, 16 letters and digits; in the record its hash instead"
)
GIVEN = matching(patterns.CONTRIBUTION, "1 to 64 bytes in lower-case hex; they enter the key of the dice")

OCCUPANT = either(
    record({"player": PLAYER_ID}, "A player."),
    record({"ai": ids(LEVELS, "the level of play")}, "An artificial player."),
    record({"open": always(True, "the seat is open")}, "Nobody yet."),
    about="who has a seat",
)
OCCUPANT.schema["title"] = "Occupant"
EXPIRES = whole(0, about="when the match is removed unless it has started by then, in milliseconds since 1970")
MOMENT = whole(0, about="a moment, in milliseconds since 1970")
DURATION = whole(0, about="milliseconds")
MATCH_ID = matching(patterns.MATCH, "the id of a match")
LEVEL = ids(LEVELS, "the level of play")
ABOUT = described(SEAT, "the seat that the vote is about")
PROPOSAL = known(PROPOSALS, "something that can be offered: draw, void, pause, resume or takeback")
DECISION = known(DECISIONS, "something that can be decided: forfeit, substitute or void")
VERSION = whole(1, about="the version of the match to go back to")
SEAT_CLOCK = record(
    {
        "bank": described(DURATION, "what is left in the bank at `since`, in milliseconds; with the clock `days`, of the vacation"),
        "free": described(DURATION, "what may pass from `since` on before the bank is used, in milliseconds"),
        "since": nullable(described(MOMENT, "since when the clock runs, in milliseconds since 1970; null while it stands")),
        "late": whole(0, about="how often in a row the time of the seat has run out"),
    },
    about="the clock of a seat",
)
SEAT_CLOCK.schema["title"] = "SeatClock"
CLOCKS = record(
    {
        "returned": described(MOMENT, "until when time that an outage took has been given back; 0 if none has"),
        "seats": mapping(SEAT, SEAT_CLOCK, about="the clock of each seat that has one"),
    },
    about="the clocks of the seats",
)
HOURS = whole(*PAUSE_HOURS, f"after how many hours the pause ends; {USUAL_PAUSE_HOURS} if left out")
OFFER = record(
    {
        "by": SEAT,
        "version": optional(VERSION),
        "hours": optional(HOURS),
        "accepted": listing(SEAT, about="the seats that have accepted, in the order in which they did"),
    },
    about="an open offer",
)
VOTE = record(
    {
        "until": described(MOMENT, "when `then` of the match decides if nothing is decided, in milliseconds since 1970"),
        "votes": mapping(SEAT, DECISION, about="what each seat that has voted is for"),
    },
    about="a vote about a seat whose time has run out",
)
DISPUTE_NUMBER = whole(1, about="the number of the dispute in its match, from 1")


def _written() -> Shape:
    """Return the shape of a text that somebody writes: not blank, and without control characters but line ends (TBL-DIS-01)."""
    about = f"1 to {LONGEST_TEXT} characters, without control characters but line ends, of which one is a letter, a digit or a mark"
    shape = matching(rf"[^\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]{{1,{LONGEST_TEXT}}}", about)

    def clean(given: Any) -> Any:
        if not any(category(letter)[0] in "LNPS" and letter not in _INVISIBLE for letter in shape.clean(given)):
            raise Malformed(f"the value must be {about}")
        return given

    return shape._replace(clean=clean)


_INVISIBLE = "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and symbols of which nothing is seen."""

DISPUTE_TEXT = _written()
FINDING = record({"version": whole(0, about="the version where it shows"), "code": text(about="what is wrong, as a stable code")})
DISPUTED_FIELD = matching(patterns.FIELD, "the field of the view that it is about, as a JSON Pointer of at most 6 names")
REFUSED = record(
    {
        "seat": SEAT,
        "version": whole(0, about="the version of the match at which it was refused"),
        "at": described(MOMENT, "when it was received, in milliseconds since 1970"),
        "code": text(about="why, as a stable code"),
        "rule": nullable(text(about="the rule that forbids it, or null")),
        "action": optional(anything("the action as it was sent; left out if it has more than 300 bytes")),
    },
    about="an action of a seat that was refused near that version",
)
DECIDED_AGAIN = record(
    {
        "version": described(VERSION, "the version that the decision led to"),
        "seat": SEAT,
        "level": LEVEL,
        "again": ids(
            [SAME, DIFFERS, NOT_RUN],
            "`same`: the level decides so, given what its seat sees; `differs`: it does not; `not_run`: not looked into",
        ),
        "options": listing(
            record(
                {
                    "action": anything("an action that the level considered"),
                    "worth": whole(0, 1000, "what the level expects after it, in thousandths"),
                    "tries": whole(0, about="how often it tried the action; 0 if `worth` only orders the actions"),
                }
            ),
            high=5,
            about="the actions that the level considered, the best first; empty if it compares none",
        ),
    },
    about="a decision of an artificial player near that version, made again",
)
REPORT = record(
    {
        "version": described(VERSION, "the version of the match that was looked at"),
        "audit": record(
            {
                "state": ids(["holds", "fails", "too_long"], "whether the record holds; a record that is too long is not looked at"),
                "findings": listing(FINDING, high=20, about="what is wrong, the first few"),
                "found": whole(0, about="how many findings there are"),
            },
            about="the audit of the match",
        ),
        "refused": listing(
            REFUSED, high=60, about="refused actions around that version, of each seat the newest ten; seats see their own, referees all"
        ),
        "decisions": listing(
            DECIDED_AGAIN,
            high=9,
            about="decisions of artificial players around that version; seats see those of their own seat, referees all",
        ),
    },
    about="the first report, which the service makes by itself",
)
FREEZES = record(
    {
        "since": described(MOMENT, "since when it freezes the match, in milliseconds since 1970"),
        "until": described(MOMENT, "until when it does at most, in milliseconds since 1970"),
    },
    about="how a dispute freezes the match; left out if it does not",
)
CLOCK_LEFT = record(
    {
        "bank": described(DURATION, "what is in the bank, in milliseconds"),
        "free": described(DURATION, "what is left before it, in milliseconds"),
    },
    about="the clock of the seat that disputes, if it goes on or gets its time back",
)
RULING_MADE = record(
    {
        "referee": described(PLAYER_ID, "who has ruled"),
        "verdict": ids(VERDICTS, "what the ruling says"),
        "remedy": ids(REMEDIES, "what follows from it"),
        "seat": optional(described(SEAT, "the seat that forfeits")),
        "version": optional(described(VERSION, "the version from which another match goes on")),
    },
    about="a ruling on a dispute",
)
RULING_MADE.schema["title"] = "Ruling"
DISPUTE = record(
    {
        "seat": described(SEAT, "the seat that disputes"),
        "version": described(VERSION, "the version that the dispute is about"),
        "opened": described(VERSION, "the version of the entry that opened it"),
        "entries": listing(VERSION, about="the versions of all entries about it"),
        "state": ids(
            [*UNDECIDED, SETTLED, WITHDRAWN, LAPSED],
            "`open` until a referee rules; then `ruled`, or `appealed` until another one rules; at last `settled`, `withdrawn` or `lapsed`",
        ),
        "sides": listing(SEAT, about="the other seats that have stated their sides"),
        "reported": flag("whether the first report is attached"),
        "escalated": flag("whether only an admin may rule"),
        "rulings": listing(RULING_MADE, high=2, about="the ruling, and the one on appeal"),
        "accepted": listing(SEAT, about="the seats that accept the ruling"),
        "appeal": nullable(described(SEAT, "the seat that has appealed")),
        "until": nullable(described(MOMENT, "when the next step comes by itself, in milliseconds since 1970; null if there is none")),
        "taken": nullable(described(PLAYER_ID, "the first referee who has taken the case")),
        "freezes": nullable(described(FREEZES, "how it freezes the match; null if it does not, or not any more")),
        "left": nullable(described(CLOCK_LEFT, "what its seat had left on a clock that has gone on since the dispute; null if none has")),
        "cost": described(DURATION, "what the dispute has taken from that clock, in milliseconds"),
    },
    about="a dispute",
)
DISPUTE.schema["title"] = "Dispute"
CONTINUED = record(
    {
        "match": described(MATCH_ID, "the match that goes on from an earlier position of this one"),
        "version": described(VERSION, "the version from which it does"),
        "dispute": DISPUTE_NUMBER,
        "begun": flag("whether that match has been created"),
        "opened": flag("whether that match is over, so that everybody may see this one"),
    },
    about="how a match goes on that has ended by a ruling",
)
CONTINUED.schema["title"] = "Continued"
ORIGIN = record(
    {
        "match": described(MATCH_ID, "the match from which this one begins"),
        "version": described(VERSION, "the version of it"),
        "digest": text(anchored(patterns.DIGEST), "the digest of the entry of that version"),
        "dispute": optional(
            described(DISPUTE_NUMBER, "the number of the dispute by whose ruling the match goes on; left out for practice")
        ),
        "opened": optional(always(True, "this match is over, and everybody may see that one now")),
    },
    about="the position from which a match begins that does not begin with the first document of its game",
)
ORIGIN.schema["title"] = "Origin"
OVERRULED = record(
    {
        "dispute": DISPUTE_NUMBER,
        "remedy": ids([VOID_REMEDY, FORFEIT_REMEDY], "`void`: the match does not count; `forfeit`: the seat does not win"),
        "seat": optional(described(SEAT, "the seat that forfeits")),
    },
    about="what a ruling after the end says of the outcome",
)
OVERRULED.schema["title"] = "Overruled"
REFILL = record(
    {
        "round": whole(0, about="the round in which the bank was refilled"),
        "times": whole(1, about="how often it has been"),
    },
    about="how a seat got time",
)
ROSTER = mapping(SEAT, OCCUPANT, about="who has each seat")
INVITED = mapping(SEAT, PLAYER_ID, about="for whom a seat is kept, whether or not the player has it by now; other seats are left out")

DOCUMENT = record(
    {
        "phase": ids(
            [NEW, OPEN, STARTED, PAUSED, DISPUTED, CLOSED],
            "`open` while a seat is free; then `started` or `closed`. A match that has started may be `paused` or `disputed`. Play is "
            "possible in `started` only",
        ),
        "game": GAME,
        "creator": PLAYER_ID,
        "commitment": COMMITMENT,
        "roster": ROSTER,
        "invited": INVITED,
        "lock": nullable(LOCK),
        "expires": nullable(EXPIRES),
        "rematch_of": nullable(described(MATCH_ID, "the match of which this one is the rematch")),
        "origin": nullable(ORIGIN),
        "dice": nullable(DICE),
        "clock": CLOCK,
        "time_out": TIME_OUT,
        "spectators": SPECTATORS,
        "dispute_days": DISPUTE_DAYS,
        "signed": SIGNED,
        "practice": flag("whether the match counts for nobody's results, and a player may have several of its seats"),
        "rated": flag("whether the match counts for the ratings of its players"),
        **LABELS,
        "departures": mapping(PLAYER_ID, whole(1), about="how often each player has left a seat of the match"),
        "contributions": mapping(SEAT, GIVEN, about="what seats have added to the dice; seats that gave nothing are left out"),
        "clocks": CLOCKS,
        "substitutes": mapping(SEAT, LEVEL, about="the level of play at which an artificial player plays a seat until its owner returns"),
        "held": mapping(
            SEAT,
            ids([STRETCH, TO_THE_END]),
            about="the seats that their owners cannot take back yet: until the substitute has played the `stretch` that ran out, or to "
            "the `end` of the match",
        ),
        "refills": mapping(SEAT, REFILL, about="the seats whose banks were refilled for a player who came to it"),
        "offers": mapping(ids(PROPOSALS), OFFER, about="the open offers, by what is offered"),
        "offered": mapping(SEAT, whole(1), about="how many offers each seat has made; seats that made none are left out"),
        "handovers": mapping(SEAT, PLAYER_ID, about="to whom the owner of a seat offers it; other seats are left out"),
        "paused_until": nullable(described(MOMENT, "when the pause ends, in milliseconds since 1970; null if there is none")),
        "votes": mapping(SEAT, VOTE, about="the votes about seats whose time has run out"),
        "disputes": listing(DISPUTE, about=f"the disputes, in the order of their numbers; at most {MOST_DISPUTES} of each seat"),
        "disputed_since": nullable(described(MOMENT, "since when the match is frozen, in milliseconds since 1970; null if it is not")),
        "waited": mapping(SEAT, DURATION, about="how long the match was frozen for the disputes of each seat; others are left out"),
        "overruled": nullable(OVERRULED),
        "former": mapping(PLAYER_ID, listing(SEAT), about="by player who has handed a seat over, the seats that the player has had"),
        "continued": nullable(CONTINUED),
    },
    about="the state of the table of a match",
)

BLANK: Table = {
    "phase": NEW,
    "game": "",
    "creator": "",
    "commitment": "",
    "roster": {},
    "invited": {},
    "lock": None,
    "expires": None,
    "rematch_of": None,
    "origin": None,
    "dice": None,
    "clock": {"kind": NONE},
    "time_out": {},
    "spectators": ALL,
    "dispute_days": USUAL_WAIT_DAYS,
    "signed": ACCEPTED,
    "practice": False,
    "rated": False,
    "name": None,
    "tags": [],
    "departures": {},
    "contributions": {},
    "clocks": {"returned": 0, "seats": {}},
    "substitutes": {},
    "held": {},
    "refills": {},
    "offers": {},
    "offered": {},
    "handovers": {},
    "paused_until": None,
    "votes": {},
    "disputes": [],
    "disputed_since": None,
    "waited": {},
    "overruled": None,
    "former": {},
    "continued": None,
}
"""The table before the match is created."""


def occupant(seat_request: str, player: str) -> Occupant | None:
    """Return who has a seat that was requested as "me", "open", "ai:<level>" or "player:<id>"; None for any other request.

    (TBL-CRE-03, TBL-INV-01)
    """
    if seat_request == ME:
        return {"player": player}
    if seat_request == FREE or invited_player(seat_request) is not None:
        return {"open": True}
    level = seat_request.removeprefix(AI)
    return {"ai": level} if seat_request.startswith(AI) and level in LEVELS else None


def invited_player(seat_request: str) -> str | None:
    """Return the player for whom a seat that was requested as "player:<id>" is kept; None for any other request (TBL-INV-01)."""
    id = seat_request.removeprefix(PLAYER)
    return id if seat_request.startswith(PLAYER) and matches(patterns.PLAYER, id) else None


def lock_of(commitment: str, code: str) -> str:
    """Return the hash of a code, in hex. It is salted, so that no code opens two matches (TBL-INV-04)."""
    return sha256(f"{commitment}:{code}".encode()).hexdigest()


def is_open(one: Occupant) -> bool:
    """Return True if nobody has the seat yet."""
    return "open" in one


def open_seats(table: Table) -> list[str]:
    """Return the seats that nobody has yet, in alphabetical order (TBL-SEA-01)."""
    return sorted(seat for seat, one in table["roster"].items() if is_open(one))


def kept_seats(table: Table) -> dict[str, str]:
    """Return the open seats that are kept for a player, each with the player; none unless seats can be taken (TBL-INV-01, TBL-INV-03)."""
    if table["phase"] != OPEN:
        return {}
    return {seat: player for seat, player in sorted(table["invited"].items()) if is_open(table["roster"][seat])}


def needs_code(table: Table, player: str, seat: str) -> bool:
    """Return True if the player must give the code to take the seat (TBL-INV-04)."""
    return table["lock"] is not None and table["invited"].get(seat) != player


def removal(table: Table, created: int, changed: int) -> int | None:
    """Return the moment when a match is removed because it has not started, or None if it has (TBL-EXP-01, TBL-EXP-02).

    `created`, `changed`: when it was created, and when it last changed. All are in milliseconds since 1970. A match that was created
    before such moments were published has the time of data.json.
    """
    published = created + OPEN_MS if table["expires"] is None else table["expires"]
    if table["phase"] == CLOSED:
        return min(published, changed + CLOSED_MS)
    return published if table["phase"] == OPEN else None


def may_take_seats(table: Table, player: str) -> bool:
    """Return False for a player who has left seats of the match too often (TBL-SEA-08)."""
    return table["departures"].get(player, 0) < MOST_DEPARTURES


def has_another(table: Table, player: str, seat: str) -> bool:
    """Return True if a player has another seat than this one in a match in which each may have one only (TBL-CRE-06)."""
    return not table["practice"] and any(one.get("player") == player and other != seat for other, one in table["roster"].items())


def was_shown(table: Table, player: str, seat: str) -> bool:
    """Return True if the record itself shows that a player has seen what a seat may not see: as the referee of a dispute, or with another
    seat, unless the match is practice (TBL-HND-04)."""
    if any(player in (one["taken"], *(ruling["referee"] for ruling in one["rulings"])) for one in table["disputes"]):
        return True
    return not table["practice"] and any(other != seat for other in table["former"].get(player, ()))


def is_sealed(table: Table) -> bool:
    """Return True if a match is over whose hidden things are still in play in the match that goes on from it (TBL-DIS-13)."""
    return table["continued"] is not None and not table["continued"]["opened"]


def players_of(table: Table) -> list[str]:
    """Return the players who have a seat, in alphabetical order."""
    return sorted({one["player"] for one in table["roster"].values() if "player" in one})


def delay(table: Table) -> int | None:
    """Return by how many versions spectators see play late; None if they see nothing of it before it is over."""
    spectators = table["spectators"]
    if isinstance(spectators, str):
        return 0 if spectators == ALL else None
    return spectators["delay"]


def seats_of(table: Table, player: str) -> list[str]:
    """Return the seats of a player, in alphabetical order."""
    found = [seat for seat, one in table["roster"].items() if one.get("player") == player]
    return found if len(found) < 2 else sorted(found)


def player_of(table: Table, seat: str) -> str | None:
    """Return the player who has a seat; None for the seat of an artificial player, for an open one, or if there is no such seat."""
    return table["roster"].get(seat, {}).get("player")


def may_offer(table: Table, seat: str) -> bool:
    """Return False for a seat that has made too many offers (TBL-OFR-04)."""
    return table["offered"].get(seat, 0) < MOST_OFFERS
