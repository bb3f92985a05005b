"""Notices: what an entry tells players. They follow from the entry alone, so they can be told again in the same words at any time.

`notices(before, entry, after)` returns them. A notice has an identity: its match, version, place (in JSON `index`) and kind. The players in
`to` are told, and the `organiser`, if that player follows the matches that they created. Streams and webhooks send `Notice.body`, the same
to everybody.

The place is that of the event in its entry. What begins to wait for a player (record/questions.py) comes after all events. `KINDS` has the
shape of each kind and an example. Every event of the table is heard of, or `SILENT` says why not.

A match may hide play from spectators. Then who has no seat hears nothing of it, except that a seat is offered: with the version at which
play began in place of the entry's, so that it does not show how far the match has got.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from games.schema import Shape, always, described, ids, listing, nullable, optional, record, text, whole
from record import questions
from record.questions import Question, place_of_offer
from table import state
from table.document import Table

if TYPE_CHECKING:
    from games.kernel import Event
    from record.entries import Entry
    from record.positions import Position


class Notice(NamedTuple):
    """What an entry tells some players.

    `to`: the ids of the players, in alphabetical order. `organiser`: the player who created the match, unless it hides this from a creator
    without a seat. `at`: the moment of the entry in milliseconds since 1970, which never falls within a match. `data`: the members that
    only this kind has. Treat it as frozen.
    """

    kind: str
    match: str
    game: str
    version: int
    place: int
    at: int
    to: tuple[str, ...]
    organiser: str | None
    data: dict[str, Any]

    @property
    def id(self) -> str:
        """The identity in one word of letters, digits, `_` and `.`, such as `maaaaaaaaaaaaaaaa.3.1.turn`. No two notices share it."""
        return f"{self.match}.{self.version}.{self.place}.{self.kind}"

    @property
    def body(self) -> dict[str, Any]:
        """The notice as everybody is sent it, who is told of it: JSON of the shape `KINDS[kind].shape`."""
        identity = {"type": self.kind, "match": self.match, "version": self.version, "index": self.place}
        return {**identity, "game": self.game, "at": self.at, **self.data}


class Kind(NamedTuple):
    """A kind of notice: when a player is told, its shape, and the members that only it has in an example."""

    about: str
    shape: Shape
    example: dict[str, Any]


def notices(before: Position | None, entry: Entry, after: Position) -> tuple[Notice, ...]:
    """Return what an entry tells, in the order of their places. `before`: the position before it; None for the first entry.

    It looks at nothing that a player at the table may not know, and of `before` at no document of the game.

    >>> from record.example import ENTRIES, POSITIONS
    >>> for before, entry, after in zip([None, *POSITIONS], ENTRIES, POSITIONS):
    ...     print([notice.id.partition(".")[2] for notice in notices(before, entry, after)])
    ['1.2.started']
    []
    ['3.2.turn']
    ['4.0.resigned', '4.3.over']
    """
    found: list[Notice] = []
    heard = [(place, event) for place, event in enumerate(entry.events) if event["type"] in HEARD]
    if heard:
        scene = _Scene(before, entry, after)
        found = [notice for place, event in heard for notice in scene.told(place, event)]
    waited = before.asked if before is not None else {}
    if after.asked is not waited:
        new = [Question(*row) for name, row in after.asked.items() if waited.get(name) != row]
        found += [_asking(after, question) for question in sorted(new, key=lambda question: question.place)]
    return tuple(found)


def waiting(position: Position) -> list[Notice]:
    """Return the notices of everything that waits for players at a position, each as it was told when it arose. `organiser` is whom it
    could be told now: a creator may have got a seat since, or handed it over.

    >>> from record.example import POSITIONS
    >>> [(notice.id, notice.to) for notice in waiting(POSITIONS[2])]
    [('maaaaaaaaaaaaaaaa.3.2.turn', ('paaaaaaaaaaaaaaaa',))]
    """
    return [_asking(position, Question(*row)) for row in position.asked.values()]


def _asking(position: Position, question: Question) -> Notice:
    creator, (kind, version, place, at, player, data) = position.table["creator"], question
    at_start = position.begun is not None and position.begun["version"] == version and kind != questions.SEAT_OFFERED
    organiser = creator if position.begun is None or at_start or position.seats_of(creator) else None
    return Notice(kind, position.match, position.game, version, place, at, (player,), organiser, data)


Told = dict[str, list[int]]
"""By player, and by `ORGANISER`, the version and the moment of the last entry that told them something: plain JSON."""

ORGANISER = "organiser"
STRANGERS = 64
"""Of so many players who are no longer at the table a position remembers when they were told something."""


def last_told(before: Position | None, entry: Entry, after: Position) -> Told:
    """Return whom the entries up to this one have told something, and when last. It is the same object if the entry tells nothing.

    `after`: the position after the entry, except that its `told` is still that of the position before it.

    >>> from record.example import POSITIONS
    >>> POSITIONS[2].told
    {'paaaaaaaaaaaaaaaa': [3, 1700000002000], 'organiser': [3, 1700000002000]}
    """
    found = notices(before, entry, after)
    if not found:
        return after.told
    now = [after.version, after.at]
    told = {**after.told, **dict.fromkeys([player for notice in found for player in notice.to], now)}
    if any(notice.organiser is not None for notice in found):
        told[ORGANISER] = now
    if len(told) > STRANGERS:
        stay = {ORGANISER, *concerned(after.table)}
        gone = sorted((row, player) for player, row in told.items() if player not in stay)
        for _, player in gone[: max(0, len(gone) - STRANGERS)]:
            del told[player]
    return told


# ---------------------------------------------------------------- who is told


News = tuple[str, Iterable[str], dict[str, Any]]
"""The kind of a notice, the players whom it is for, and the members that only its kind has."""


class _Scene:
    """An entry between two positions, and who is at the table."""

    def __init__(self, before: Position | None, entry: Entry, after: Position) -> None:
        self.table: Table = after.table
        self.before: Table | None = None if before is None else before.table
        self.after = after
        self.was_hidden = before is not None and before.begun is not None
        self.open = after.begun is None or after.begun["version"] == after.version
        """Whether everybody may know of the entry now."""
        self.seated = seated(after.table)
        self.actor = entry.actor

    def told(self, place: int, event: Event) -> Iterator[Notice]:
        """Yield what an event of the entry tells."""
        after, creator = self.after, self.table["creator"]
        for kind, players, data in HEARD[event["type"]](self, event):
            version, number = after.version, place
            organiser = creator if self.open or creator in self.seated else None
            if kind == "seat_withdrawn" and not self.open and self.seated.isdisjoint(players):
                version, number = self._veiled(data["seat"])
            if event["type"] == "record_opened" and creator in self.seated:
                organiser = None  # it was told when the match ended
            yield Notice(kind, after.match, after.game, version, number, after.at, tuple(sorted(players)), organiser, data)

    def _veiled(self, seat: str) -> tuple[int, int]:
        """Return what stands for the version and the place, for a player who was offered a seat and may not follow the match."""
        assert self.before is not None
        assert self.after.begun is not None
        return self.after.begun["version"], place_of_offer(self.before, self.after.document, seat)

    @property
    def all(self) -> set[str]:
        """The players at the table: those with a seat, and the creator if the entry is not hidden."""
        return self.seated | ({self.table["creator"]} if self.open else set())

    @property
    def others(self) -> set[str]:
        """The players at the table without the one whose action the entry is."""
        return self.all - {self.table["roster"].get(self.actor, {}).get("player", self.actor)}

    def owner(self, seat: str) -> set[str]:
        """Return the player who has a seat."""
        player = self.table["roster"][seat].get("player")
        return set() if player is None else {player}


def seated(table: Table) -> set[str]:
    """Return the players who have a seat."""
    return {one["player"] for one in table["roster"].values() if "player" in one}


def concerned(table: Table) -> set[str]:
    """Return the creator, the players with a seat, those for whom a seat is kept or offered, and the referees of disputes."""
    return {table["creator"], *seated(table), *table["invited"].values(), *table["handovers"].values(), *referees(table)}


def referees(table: Table) -> set[str]:
    """Return the players who took a dispute or ruled on one."""
    disputes = table["disputes"]
    took = {dispute["taken"] for dispute in disputes if dispute["taken"] is not None}
    return took | {ruling["referee"] for dispute in disputes for ruling in dispute["rulings"]}


# ---------------------------------------------------------------- what events tell


def _seat_taken(scene: _Scene, event: Event) -> Iterator[News]:
    yield "joined", scene.all - {event["player"]}, {"seat": event["seat"], "player": event["player"]}


def _seat_left(scene: _Scene, event: Event) -> Iterator[News]:
    yield "left", scene.all - {event["player"]}, {"seat": event["seat"], "player": event["player"]}


def _invitation_declined(scene: _Scene, event: Event) -> Iterator[News]:
    yield "invitation_declined", scene.all - {event["player"]}, {"seat": event["seat"], "player": event["player"]}


def _seats_filled(scene: _Scene, event: Event) -> Iterator[News]:
    yield "started", scene.all, {}


def _match_closed(scene: _Scene, event: Event) -> Iterator[News]:
    yield "over", concerned(scene.table), {"status": "closed", "winners": [], "reason": None}


def _match_ended(scene: _Scene, event: Event) -> Iterator[News]:
    told = concerned(scene.table) if scene.open else scene.all | referees(scene.table)
    yield "over", told, {"status": "over", "winners": event["winners"], "reason": event["reason"]}


def _record_opened(scene: _Scene, event: Event) -> Iterator[News]:
    """Who may see the match only now hears that it is over."""
    if scene.was_hidden:
        outcome = scene.after.document["outcome"]
        told = concerned(scene.table) - scene.seated - referees(scene.table)
        yield "over", told, {"status": "over", "winners": outcome["winners"], "reason": outcome["reason"]}


def _time_ran_out(scene: _Scene, event: Event) -> Iterator[News]:
    seat = event["seat"]
    late = {"seat": seat, "in_a_row": event["in_a_row"], "substitute": scene.table["substitutes"].get(seat)}
    yield "time_out", scene.owner(seat), late


def _seat_substituted(scene: _Scene, event: Event) -> Iterator[News]:
    yield "substituted", scene.all, {"seat": event["seat"], "level": event["level"], "until": event["until"]}
    yield from _withdrawn(scene, event["seat"])


def _seat_returned(scene: _Scene, event: Event) -> Iterator[News]:
    yield "returned", scene.others, {"seat": event["seat"]}


def _vote_cast(scene: _Scene, event: Event) -> Iterator[News]:
    yield "voted", scene.others, {"seat": event["seat"], "about": event["about"], "for": event["for"]}


def _vote_closed(scene: _Scene, event: Event) -> Iterator[News]:
    yield "vote_closed", scene.all, {"about": event["about"], "decision": event["decision"]}


def _seat_resigned(scene: _Scene, event: Event) -> Iterator[News]:
    yield "resigned", scene.others, {"seat": event["seat"]}
    yield from _withdrawn(scene, event["seat"])


def _seat_forfeited(scene: _Scene, event: Event) -> Iterator[News]:
    yield "forfeited", scene.all, {"seat": event["seat"]}
    yield from _withdrawn(scene, event["seat"])


def _seat_offered(scene: _Scene, event: Event) -> Iterator[News]:
    yield from _withdrawn(scene, event["seat"])


def _seat_handed_over(scene: _Scene, event: Event) -> Iterator[News]:
    seat, player = event["seat"], event["player"]
    before = _roster(scene)[seat]["player"]
    yield "handed_over", (scene.all | {before}) - {player}, {"seat": seat, "player": player, "before": before}


def _withdrawn(scene: _Scene, seat: str) -> Iterator[News]:
    """Yield that a seat is no longer offered to a player."""
    assert scene.before is not None
    player = scene.before["handovers"].get(seat)
    if player is not None:
        yield "seat_withdrawn", {player}, {"seat": seat}


def _roster(scene: _Scene) -> Mapping[str, Any]:
    assert scene.before is not None
    return scene.before["roster"]


def _answered(answer: str) -> Callable[[_Scene, Event], Iterator[News]]:
    """Return what tells of an answer to an offer."""

    def tell(scene: _Scene, event: Event) -> Iterator[News]:
        seat, what = event.get("seat"), event["what"]
        made = (scene.before or scene.table)["offers"].get(what)
        by = scene.actor if made is None else made["by"]  # an offer that nobody has to answer is made and agreed in one entry
        said = "withdrawn" if seat is not None and seat == by else answer
        told = scene.others if seat is not None else scene.all
        yield "answered", told, {"what": what, "by": by, "answer": said, "seat": seat}

    return tell


def _paused(scene: _Scene, event: Event) -> Iterator[News]:
    yield "paused", scene.all, {"until": event["until"]}


def _match_resumed(scene: _Scene, event: Event) -> Iterator[News]:
    yield "resumed", scene.all, {}


def _match_frozen(scene: _Scene, event: Event) -> Iterator[News]:
    yield "frozen", scene.all, {}


def _match_unfrozen(scene: _Scene, event: Event) -> Iterator[News]:
    yield "unfrozen", scene.all, {"paused_until": scene.table["paused_until"]}


def _disputed(what: str) -> Callable[[_Scene, Event], Iterator[News]]:
    """Return what tells of a step of a dispute. Texts are never told."""

    def tell(scene: _Scene, event: Event) -> Iterator[News]:
        number = event["dispute"]
        one = scene.table["disputes"][number - 1]
        step = {"dispute": number, "by": one["seat"], "step": what, "state": one["state"], "until": one["until"]}
        yield "dispute", scene.all | referees(scene.table), step

    return tell


def _outcome_overruled(scene: _Scene, event: Event) -> Iterator[News]:
    named = {"dispute": event["dispute"], "remedy": event["remedy"], "seat": event.get("seat")}
    yield "overruled", scene.all | referees(scene.table), named


def _match_continued(scene: _Scene, event: Event) -> Iterator[News]:
    yield "continued", scene.all, {"in": event["match"], "from": event["version"], "dispute": event["dispute"]}


STEPS: Mapping[str, str] = {
    "dispute_opened": "opened",
    "dispute_taken": "taken",
    "side_stated": "stated",
    "report_attached": "reported",
    "dispute_escalated": "escalated",
    "dispute_ruled": "ruled",
    "ruling_accepted": "accepted",
    "ruling_appealed": "appealed",
    "dispute_settled": "settled",
    "dispute_withdrawn": "withdrawn",
    "dispute_lapsed": "lapsed",
}
"""By event, the step of a dispute that it is."""

HEARD: Mapping[str, Callable[[_Scene, Event], Iterator[News]]] = {
    "seat_taken": _seat_taken,
    "seat_left": _seat_left,
    "invitation_declined": _invitation_declined,
    "seats_filled": _seats_filled,
    "match_closed": _match_closed,
    "match_ended": _match_ended,
    "record_opened": _record_opened,
    "time_ran_out": _time_ran_out,
    "seat_substituted": _seat_substituted,
    "seat_returned": _seat_returned,
    "vote_cast": _vote_cast,
    "vote_closed": _vote_closed,
    "seat_resigned": _seat_resigned,
    "seat_forfeited": _seat_forfeited,
    "seat_offered": _seat_offered,
    "seat_handed_over": _seat_handed_over,
    "offer_accepted": _answered("accepted"),
    "offer_agreed": _answered("agreed"),
    "offer_declined": _answered("declined"),
    "offer_lapsed": _answered("lapsed"),
    "match_paused": _paused,
    "pause_shortened": _paused,
    "match_resumed": _match_resumed,
    "match_frozen": _match_frozen,
    "match_unfrozen": _match_unfrozen,
    "outcome_overruled": _outcome_overruled,
    "match_continued": _match_continued,
    **{event: _disputed(step) for event, step in STEPS.items()},
}
"""By event, what tells of it. `match_ended` is an event of every game; all others are of the table."""

SILENT: Mapping[str, str] = {
    "match_created": "Those for whom a seat is kept are asked (`invited`); the rest is told when the match starts.",
    "time_returned": "Whose deadline changes is told so (`turn`).",
    "stretch_played": "The owner of the seat is asked (`may_return`).",
    "vote_opened": "Whoever can vote is asked (`vote`).",
    "offer_made": "Whoever can answer is asked (`offer`).",
    "freeze_ended": "If no other dispute freezes the match, play goes on (`unfrozen`).",
    "continuation_begun": "The match that goes on tells its players that it has started.",
    "origin_opened": "The match that has been opened says so itself.",
}
"""The events of the table of which nobody is told, by the reason."""

# ---------------------------------------------------------------- shapes

_MS = "in milliseconds since 1970"
_SEAT = described(state.SEAT, "the seat")
_MINE = described(state.SEAT, "your seat")
_ABOUT_OFFER = {"what": state.PROPOSAL, "by": described(state.SEAT, "the seat that has made the offer")}
_UNTIL_PAUSE = described(state.MOMENT, f"when the pause ends at the latest, {_MS}")

_ROWS: Mapping[str, tuple[str, Mapping[str, Shape], dict[str, Any]]] = {
    questions.TURN: (
        "Your seat must act: since now, or with another deadline than you were told before.",
        {"seat": _MINE, "deadline": nullable(described(state.MOMENT, f"when its time has run out, {_MS}; null without a running clock"))},
        {"seat": "red", "deadline": 1_767_484_927_500},
    ),
    questions.INVITED: (
        "An open seat is kept for you.",
        {"seat": _SEAT, "creator": described(state.PLAYER_ID, "who has created the match")},
        {"seat": "blue", "creator": "paaaaaaaaaaaaaaaa"},
    ),
    "invitation_declined": (
        "A player does not want the seat that was kept. If you created the match, it is now kept for you.",
        {"seat": _SEAT, "player": described(state.PLAYER_ID, "who has declined")},
        {"seat": "blue", "player": "pbbbbbbbbbbbbbbbb"},
    ),
    "joined": (
        "Another player has taken a seat.",
        {"seat": _SEAT, "player": state.PLAYER_ID},
        {"seat": "blue", "player": "pbbbbbbbbbbbbbbbb"},
    ),
    "left": (
        "Another player has left a seat before the start. It is open again.",
        {"seat": _SEAT, "player": state.PLAYER_ID},
        {"seat": "blue", "player": "pbbbbbbbbbbbbbbbb"},
    ),
    "started": ("The match has started.", {}, {}),
    "over": (
        "The match is over, or was closed before it started.",
        {
            "status": ids(["over", "closed"], "whether it was played"),
            "winners": listing(state.SEAT, about="one seat, or those that share the victory"),
            "reason": nullable(text(about="why it is over, an id of the game; null if it was closed")),
        },
        {"status": "over", "winners": ["red"], "reason": "resigned"},
    ),
    questions.OFFER: (
        "Your seat can answer an offer.",
        {
            "seat": _MINE,
            **_ABOUT_OFFER,
            "back_to": optional(described(state.VERSION, "the version to which a takeback goes back")),
            "hours": optional(described(state.HOURS, "how long a pause lasts, in hours")),
        },
        {"seat": "red", "what": "pause", "by": "blue", "hours": 24},
    ),
    "answered": (
        "An offer was answered, or is gone.",
        {
            **_ABOUT_OFFER,
            "answer": ids(
                ["accepted", "agreed", "declined", "withdrawn", "lapsed"],
                "`accepted`: `seat` agrees; `agreed`: all do, and it happens; `declined`: `seat` does not; `withdrawn`: by the seat that "
                "made it; `lapsed`: play or who must agree has changed",
            ),
            "seat": nullable(described(state.SEAT, "the seat that has answered; null for `agreed` and `lapsed`")),
        },
        {"what": "draw", "by": "blue", "answer": "declined", "seat": "green"},
    ),
    "time_out": (
        "The time of your seat has run out.",
        {
            "seat": _MINE,
            "in_a_row": whole(1, about="how often in a row"),
            "substitute": nullable(described(state.LEVEL, "the level that plays the seat now; null if none does")),
        },
        {"seat": "red", "in_a_row": 1, "substitute": "greedy"},
    ),
    "substituted": (
        "An artificial player plays a seat.",
        {
            "seat": _SEAT,
            "level": state.LEVEL,
            "until": ids(
                [state.STRETCH, state.TO_THE_END], "until when its owner cannot take it back: `stretch`, the one that ran out, or `end`"
            ),
        },
        {"seat": "red", "level": "greedy", "until": "stretch"},
    ),
    questions.MAY_RETURN: (
        "An artificial player plays your seat, and you may take it back.",
        {"seat": _MINE, "level": state.LEVEL},
        {"seat": "red", "level": "greedy"},
    ),
    "returned": ("The owner of a seat plays it again.", {"seat": _SEAT}, {"seat": "red"}),
    questions.VOTE: (
        "Your seat can vote about a seat whose time has run out.",
        {"seat": _MINE, "about": state.ABOUT, "until": described(state.MOMENT, f"when the vote ends, {_MS}")},
        {"seat": "blue", "about": "red", "until": 1_767_484_927_500},
    ),
    "voted": (
        "Another seat has voted.",
        {"seat": _SEAT, "about": state.ABOUT, "for": state.DECISION},
        {"seat": "green", "about": "red", "for": "substitute"},
    ),
    "vote_closed": (
        "A vote is over.",
        {
            "about": state.ABOUT,
            "decision": nullable(described(state.DECISION, "what was decided; null if the seat has acted or the match is over")),
        },
        {"about": "red", "decision": "substitute"},
    ),
    "resigned": ("A seat has resigned.", {"seat": _SEAT}, {"seat": "blue"}),
    "forfeited": ("A seat is out of play by a rule: its time has run out, or a ruling says so.", {"seat": _SEAT}, {"seat": "blue"}),
    questions.SEAT_OFFERED: (
        "A player offers you a seat.",
        {"seat": _SEAT, "player": described(state.PLAYER_ID, "who offers it")},
        {"seat": "red", "player": "paaaaaaaaaaaaaaaa"},
    ),
    "seat_withdrawn": ("A seat is no longer offered to you.", {"seat": _SEAT}, {"seat": "red"}),
    "handed_over": (
        "A seat has another player from now on.",
        {"seat": _SEAT, "player": state.PLAYER_ID, "before": described(state.PLAYER_ID, "the player who had it")},
        {"seat": "red", "player": "pcccccccccccccccc", "before": "paaaaaaaaaaaaaaaa"},
    ),
    "paused": ("The match is paused, or its pause has another end.", {"until": _UNTIL_PAUSE}, {"until": 1_767_484_927_500}),
    "resumed": ("The match goes on after a pause.", {}, {}),
    "frozen": ("The match is frozen for a dispute: nobody acts.", {}, {}),
    "unfrozen": (
        "The match is as before the dispute.",
        {"paused_until": nullable(described(state.MOMENT, f"when its pause ends, {_MS}; null if it is not paused"))},
        {"paused_until": None},
    ),
    "dispute": (
        "A dispute has begun or moved on. Whoever took it or ruled on it is told, too.",
        {
            "dispute": state.DISPUTE_NUMBER,
            "by": described(state.SEAT, "the seat that disputes"),
            "step": ids(STEPS.values(), "what has happened"),
            "state": ids([state.OPEN, state.RULED, state.APPEALED, state.SETTLED, state.WITHDRAWN, state.LAPSED], "its state now"),
            "until": nullable(described(state.MOMENT, f"when the next step comes by itself, {_MS}; null if there is none")),
        },
        {"dispute": 1, "by": "blue", "step": "opened", "state": "open", "until": 1_767_484_927_500},
    ),
    "overruled": (
        "A ruling after the end says what holds of the outcome.",
        {
            "dispute": state.DISPUTE_NUMBER,
            "remedy": ids([state.VOID_REMEDY, state.FORFEIT_REMEDY], "`void`: the match does not count; `forfeit`: the seat does not win"),
            "seat": nullable(described(state.SEAT, "the seat that forfeits; null for `void`")),
        },
        {"dispute": 1, "remedy": "forfeit", "seat": "blue"},
    ),
    "continued": (
        "By a ruling, another match goes on from an earlier version of this one.",
        {
            "in": described(state.MATCH_ID, "the match that goes on"),
            "from": described(state.VERSION, "the version of this match from which it does"),
            "dispute": state.DISPUTE_NUMBER,
        },
        {"in": "mbbbbbbbbbbbbbbbb", "from": 12, "dispute": 1},
    ),
}


def _shape(kind: str, about: str, fields: Mapping[str, Shape]) -> Shape:
    identity = {
        "type": always(kind),
        "match": state.MATCH_ID,
        "version": described(state.VERSION, "the version of the entry that tells it"),
        "index": whole(0, about="tells apart what one entry tells; with `match`, `version` and `type` it is the identity of the event"),
        "game": state.GAME,
        "at": described(state.MOMENT, f"the moment of the entry, {_MS}"),
    }
    return record({**identity, **fields}, about)


KINDS: Mapping[str, Kind] = {kind: Kind(about, _shape(kind, about, fields), example) for kind, (about, fields, example) in _ROWS.items()}
"""Every kind of notice, by its name."""
