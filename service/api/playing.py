"""Play: the state of a match, the choices of a seat, and actions."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any, NamedTuple

from flask import Response

from events import play, recall
from events.deciding import Given
from events.errors import BadList, MustBeLast, Reused, Stale
from events.platform import Platform
from events.play import Played
from events.standings import at_table
from events.timing.flight import Received
from games import patterns
from games.kernel import SPECTATOR, Game, Refused
from games.schema import Shape, always, anything, described, either, listing, mapping, nullable, optional, record, text, whole
from record.positions import Position
from service import sight
from service.api.entries import entry
from service.api.game_shapes import actions, declared
from service.api.matches import AT_TABLE, MATCH, match_response
from service.api.operations import UNCHANGED, Answer, Body, Call, Operation, as_text, in_json
from service.api.pictures import picture_response
from service.api.receipts import receipt_at, receipt_for
from service.api.shapes import (
    ACTIVE,
    ANY_TEXT,
    MATCH_ID,
    OUTCOME,
    PHASE,
    PLAYERS,
    RECEIPT,
    ROUND,
    RULE_ID,
    RULE_IDS,
    SEAT,
    TO_ACT,
    VERSION,
    VIEWER,
    by_game,
    extending,
    growing,
    named,
    of_match,
    prefix,
    versions,
)
from service.api.sidelog import note_view
from service.context import Service
from service.http.addresses import address_of
from service.http.keys import Caller
from service.http.parsing import RECEIVED
from service.http.problems import CHOSEN, Problem, refusal_problem
from service.http.quotas import Asked
from service.http.responses import (
    FIXED,
    JSON,
    SVG,
    TEXT,
    XML,
    Reply,
    also_as,
    empty_response,
    names_tag,
    prefers,
    tagged,
    tagged_json,
    tagged_text,
    text_response,
)
from service.http.schemas import ActQuery, ChoicesQuery, PictureQuery, StateQuery
from service.http.signing import SIGNATURE, signing_in
from table.deeds import BEGINNINGS
from table.rematch import rematch
from table.rules import admit, by_seat, is_table_action
from web.languages import ENGLISH

_TAG = re.compile(f'"({patterns.VERSION})(?:[.]{patterns.VERSION})?(?:-gzip)?"|({patterns.VERSION})')
_MINIMAL = re.compile(r"(?:^|,)\s*return\s*=\s*\"?minimal\"?\s*(?:;|,|$)", re.IGNORECASE)  # RFC 7240
_VARY = "Authorization, Accept"
REMATCH, DISPUTE = "rematch", "dispute"
ALONE = "an action of the table is sent alone"


def get_state(service: Service, call: Call, match: str) -> Response | Reply:
    """Return the match at a version as the caller may see it: in JSON, as a board in text, or as a picture."""
    position, viewer = _seen(service, call, match)
    as_text = prefers(call.header("Accept"), TEXT)
    if not as_text and prefers(call.header("Accept"), SVG):
        return picture_response(service, call, position, viewer, _VARY)
    company = service.directory.company(sight.players_at(position))
    language = call.language if as_text else ENGLISH
    tag = company.tag(position.version) + ("-text" if as_text else "") + ("" if language == ENGLISH else f"-{language}")
    if names_tag(call.header("If-None-Match"), tag):
        return tagged(empty_response(304), tag, _VARY)
    game = recall.rules_of(service.platform, position)
    if as_text:
        return tagged(text_response(sight.board(game, position, viewer, company, language)), tag, _VARY)
    view = sight.view(game, position, viewer)
    body = {
        "match": match,
        "game": position.game,
        "version": position.version,
        "viewer": viewer,
        "view": view,
        **at_table(position.table),
        "players": company.players,
    }
    return tagged_json(body, tag, _VARY)


def get_picture(service: Service, call: Call, match: str) -> Response:
    """Return a picture of the match at a version as the caller may see it."""
    position, viewer = _seen(service, call, match)
    query = call.query
    response = picture_response(service, call, position, viewer, "Authorization", query["shape"], query["theme"], query["language"])
    if "at" in query:
        response.headers["Cache-Control"] = FIXED
    return also_as(XML, response, call.header("Accept"))


def _seen(service: Service, call: Call, match: str) -> tuple[Position, str]:
    """Return the position that the caller asks for, and the caller's viewer. Record the view if it is staff's."""
    newest = recall.position(service.platform, match)
    viewer = sight.viewer_of(newest, call.caller, call.query.get("viewer"))
    shown = _position_at(service.platform, sight.seen(service.platform, newest, call.caller), call.query.get("at"))
    note_view(service, newest, call.caller, viewer, shown.version)
    call.info.open = sight.is_open(newest, viewer)
    return shown, viewer


def _position_at(platform: Platform, newest: Position, version: int | None) -> Position:
    if version is None or version == newest.version:
        return newest
    recall.check_version(newest, version)
    return recall.state_at(platform, newest.match, version)


def get_choices(service: Service, call: Call, match: str) -> Response | Reply:
    """Return the caller's legal choices: of a seat in the game, and at the table."""
    position = recall.position(service.platform, match)
    player = call.caller.player()
    seat = sight.seat_or_none(position, call.caller, call.query.get("seat"))
    seen = sight.seen(service.platform, position, call.caller)
    # In a hidden match, a player who is offered a seat sees the offer, and otherwise only what everybody may see.
    language = call.language
    tag = f"{seen.version}{'' if seen is position else '-offered'}{'' if language == ENGLISH else f'-{language}'}"
    if names_tag(call.header("If-None-Match"), tag):
        return tagged(empty_response(304), tag)
    game = recall.rules_of(service.platform, position)
    choices = sight.choices(service.platform, game, position, seat, player)
    body = {
        "match": match,
        "game": position.game,
        "version": seen.version,
        "seat": seat,
        "to_act": seen.to_act,
        "choices": choices,
        **({"blocked": sight.why_not(game, position, seat, language)} if call.query["blocked"] else {}),
        **sight.guided(game, position, seat, language),
    }
    return tagged_json(body, tag)


def act(service: Service, call: Call, match: str) -> Response | Reply:
    """Carry out one action of the caller, or a list of them."""
    if isinstance(call.body, dict) and call.body.get("type") == REMATCH:
        return _ask_rematch(service, call, match)
    done = carry_out(service, call, match)
    if _MINIMAL.search(call.header("Prefer") or ""):
        receipt = receipt_for(service.platform, done.played)
        return tagged_text(receipt, done.played.last, ("Preference-Applied", "return=minimal"))
    return played_response(service.platform, done.played, done.seat, call.caller.player(), call.query["proof"])


def carry_out(service: Service, call: Call, match: str) -> Done:
    """Carry out the actions in the body. Raise Problem, and the errors of `play.play` and `play.act_at_table` except Refused."""
    actions, player = actions_in(call.body), call.caller.player()
    given: Given = {**_given(call, len(actions)), "signs_with": service.directory.signs_with}
    listed = isinstance(call.body, list)
    if listed and any(map(is_table_action, actions)):
        raise BadList(reason=ALONE)
    action, chosen = actions[0], call.query.get("seat")
    if action.get("type") == DISPUTE:
        call.info.used = service.throttle.spend(("disputes", player))
        service.quotas.check_dispute(player, recall.position(service.platform, match))
    with _in_flight(service, call) as received:
        seats = _Seats(service.platform, match, player, actions, {**given, "received": received.moment})
        try:
            if not is_table_action(action):
                return seats.play(chosen)
            return seats.act_as_seat(chosen) if by_seat(action) else seats.act_at_table()
        except Refused as refused:
            seats.note(refused)
            raise _refused(service, match, refused, refused.place if listed else None) from None
        except (Stale, MustBeLast) as refused:
            seats.note(refused)
            raise


def _given(call: Call, count: int = 1) -> Given:
    """Return the expected version, the id of the request, the caller's role, and the signatures. Raise Problem `bad_header`.

    `count`: how many actions the request has.
    """
    expected, signing = expected_version(call), signing_in(call.header(SIGNATURE), count)
    if signing is not None and expected not in (None, signing.seen):
        raise Problem("bad_header", header=SIGNATURE, reason=f"`seen` is {signing.seen}, and If-Match is {expected}")
    given: Given = {"expected": expected, "request": call.request(), "role": role_of(call.caller)}
    return given if signing is None else {**given, "expected": signing.seen, "signing": signing}


def _refused(service: Service, match: str, refused: Refused, place: int | None = None) -> Problem:
    """Return a refusal by the rules as a problem. `place`: the place of the action in a list."""
    return refusal_problem(recall.game_of_match(service.platform, match), refused.refusal, place)


def actions_in(body: Any) -> list[Any]:
    """Return the actions of a body. Raise Problem `bad_body`."""
    actions = body if isinstance(body, list) else [body]
    if not actions or len(actions) > play.LONGEST_LIST or not all(isinstance(action, dict) for action in actions):
        raise Problem("bad_body", reason=f"it must be one action or a list of 1 to {play.LONGEST_LIST}, and an action is an object")
    return actions


def _in_flight(service: Service, call: Call) -> AbstractContextManager[Received]:
    """Return the request in flight. Receive it here if the middleware has not, as with `raise_dispute`."""
    received: Received | None = call.environ.get(RECEIVED)
    return service.opened.pulse.flight.receive() if received is None else nullcontext(received)


def _ask_rematch(service: Service, call: Call, match: str) -> Response:
    """Create the rematch of a match, or join it. Return the rematch's standing."""
    platform, player = service.platform, call.caller.player()
    _given(call)  # not used, but refused if malformed
    over = recall.position(platform, match)
    seat = sight.seat_of(over, call.caller, call.query.get("seat"))
    with ExitStack() as stack:
        try:
            if over.status == "over" and not platform.store.log.head(play.rematch_id(match)):
                new = rematch(over.table, over.document, player, match)
                asked = Asked(new["seats"].values(), new)
                call.info.used = service.throttle.spend(*asked.rates(player, address_of(call.environ)))
                stack.enter_context(service.quotas.creating(player, asked, None))
            position = play.rematch(platform, match, seat, player, call.body)
        except Refused as refused:
            raise _refused(service, match, refused) from None
    response = match_response(service, call, sight.seen(platform, position, call.caller), 201, receipt_at(platform, position))
    response.headers["Location"] = f"/v1/matches/{position.match}"
    return response


class Done(NamedTuple):
    """What followed from actions, and the seat that acted. After an action at the table: a seat of the player, or None."""

    played: Played
    seat: str | None


class _Seats:
    """A player who acts in a match. `play` and `act_as_seat` find the seat that acts. `note` records refusals in the side log."""

    __slots__ = ("_actions", "_given", "_match", "_platform", "_player", "_refused_as")

    def __init__(self, platform: Platform, match: str, player: str, actions: list[Any], given: Given) -> None:
        self._platform = platform
        self._match = match
        self._player = player
        self._actions = actions
        self._given = given
        self._refused_as: dict[Exception, str] = {}

    def play(self, chosen: str | None) -> Done:
        """Play as the chosen seat, or as the player's seat that most likely must act. Raise Problem `not_seated`."""
        if chosen is not None:
            return self._act_as(chosen)
        seats = self._seats()
        for place, seat in enumerate(seats):
            try:
                return self._act_as(seat)
            except Refused as refused:
                # If another of the player's seats turns out to be the one to act, the cached position was behind.
                if refused.code != "not_your_turn" or place > 0 or self._seats()[0] == seat:
                    raise
                return self._act_as(self._seats()[0])
            except Reused:
                # The first answer may have been lost, and by now another of the player's seats may be the one to act.
                if place == len(seats) - 1:
                    raise
        raise Problem("not_seated")

    def act_as_seat(self, chosen: str | None) -> Done:
        """Carry out the only action at the table as the chosen seat, or as the first seat that may, the likeliest first.

        Raise Problem `not_seated`. A malformed action is refused at any version.
        """
        admit(self._actions[0])
        seats = self._seats() if chosen is None else [chosen]
        first: Refused | Reused | None = None
        for seat in seats:
            try:
                return self._act_as(seat)
            except (Refused, Reused) as refused:
                # This may repeat a request whose answer was lost: then another of the player's seats has acted.
                first = refused if first is None or isinstance(first, Reused) else first
        raise first or Problem("not_seated")

    def act_at_table(self) -> Done:
        """Carry out the only action at the table as the player, not as a seat. A malformed action is refused at any version."""
        (action,) = self._actions
        admit(action)
        played = play.act_at_table(self._platform, self._match, self._player, action, **self._given)
        seats = played.position.seats_of(self._player)
        return Done(played, action["seat"] if action.get("seat") in seats else next(iter(seats), None))

    def note(self, refused: Refused | Stale | MustBeLast) -> None:
        """Record in the side log that an action of a seat was refused. Refusals before the seat is known are not recorded."""
        seat, version, received = self._refused_as.get(refused), getattr(refused, "version", None), self._given["received"]
        self._refused_as.clear()  # the errors refer to this object through their frames
        if seat is None or version is None or received is None:
            return
        action = self._actions[0 if isinstance(refused, Stale) else refused.place]
        rule = refused.refusal.rule if isinstance(refused, Refused) else None
        self._platform.sidelog.note_refusal(self._match, seat, self._player, version, received, action, refused.code, rule)

    def _act_as(self, seat: str) -> Done:
        given: Given = {**self._given, "player": self._player}
        try:
            if is_table_action(self._actions[0]):
                return Done(play.act_at_table(self._platform, self._match, seat, self._actions[0], **given), seat)
            return Done(play.play(self._platform, self._match, seat, self._actions, **given), seat)
        except (Refused, Stale, MustBeLast) as refused:
            self._refused_as[refused] = seat
            raise

    def _seats(self) -> list[str]:
        """Return the player's seats, the likeliest to act first. It may rely on a cached position that is behind."""
        position = recall.cached(self._platform, self._match).position
        seats = position.seats_of(self._player)
        if not seats:
            position = recall.position(self._platform, self._match)
            seats = position.seats_of(self._player)
        if len(seats) > 1:
            likeliest = sight.acting(position, seats)
            seats = [likeliest, *(seat for seat in seats if seat != likeliest)]
        return seats


def played_response(platform: Platform, played: Played, seat: str | None, player: str, proof: bool) -> Reply:
    """Return what followed from actions, as the seat sees it, or as spectators see it if `seat` is None. `proof`: with proofs.

    A repeated request gets the same bytes: the answer follows from the version and the server's newest key.
    """
    position = played.position
    game = recall.rules_of(platform, position)
    document = position.document
    prover = recall.prover(platform, position.match) if proof else None
    body = {
        "match": position.match,
        "game": position.game,
        "seat": seat,
        "first": played.first,
        "version": played.last,
        "round": document["round"],
        "phase": document["phase"],
        "active": document["active"],
        "to_act": position.to_act,
        "outcome": document["outcome"],
        **at_table(position.table),
        "entries": [sight.shown(game, entry, seat or SPECTATOR, prover) for entry in played.entries],
        "choices": sight.choices(platform, game, position, seat, player),
        "receipt": receipt_for(platform, played),
    }
    return tagged_json(body, played.last)


def role_of(caller: Caller) -> str | None:
    """Return the role that lets a caller rule on disputes, or None if the caller has none or the key does not allow it."""
    return caller.role if caller.referees else None


def expected_version(call: Call) -> int | None:
    """Return the version in If-Match, or None if there is no condition. Raise Problem `bad_header`."""
    given = call.header("If-Match")
    if given is None or given == "*":
        return None
    tag = _TAG.fullmatch(given)
    if tag is None:
        raise Problem("bad_header", header="If-Match", reason='it must be a version, as in "41"')
    return int(tag[1] or tag[2])


_RANGE = named("Range", listing(whole(), 2, 2, "The lowest and the highest number that you may choose."))
_COUNTS = named(
    "Counts",
    record(
        {"each": mapping(ANY_TEXT, _RANGE, "The range of each key."), "total": described(_RANGE, "The range of the sum.")},
        "Counts by key. Each count is within its range in `each`, and their sum within `total`.",
    ),
)


_CHOICE = named(
    "ChoiceBase",
    record(
        {
            "choose": optional(
                mapping(
                    ANY_TEXT,
                    growing(either(_RANGE, _COUNTS)),
                    "The values that you may choose instead, by field of `action`. Every combination is legal.",
                )
            ),
            "at_table": optional(always(True, "Only for actions of the table, such as `resign`.")),
        },
        "What every choice may have.",
    ),
)


def choice(game: Game) -> Shape:
    """Return the shape of a legal choice."""
    return named(
        f"{prefix(game)}Choice",
        extending(
            _CHOICE,
            {
                "action": described(
                    declared(game).choice, "A complete legal action. Submit it as it is. With `choose`, it has the lowest counts."
                ),
            },
            f"A legal choice in a match of {game.title}.",
        ),
    )


_BLOCKED = named(
    "Blocked",
    record(
        {
            "action": anything("The action, without counts."),
            "code": text(about="The code of the refusal."),
            "detail": text(about="Why it is not possible, in a sentence."),
            "rule": nullable(described(RULE_ID, "The rule that forbids it.")),
        },
        "An action of the phase that is not possible now.",
    ),
)

_GUIDE = named(
    "Guide",
    record(
        {
            "step": whole(0, about="0 outside the guide."),
            "steps": whole(about="How many."),
            "text": text(about="In words."),
            "rules": RULE_IDS,
            "action": nullable(anything("What to do.")),
        },
        "A step of a guide.",
    ),
)

_YOURS = named(
    "ChoicesBase",
    record(
        {
            "match": MATCH_ID,
            "version": VERSION,
            "seat": nullable(described(SEAT, "Your seat. null if you have none and the match has a seat that is open or offered to you.")),
            "to_act": TO_ACT,
            "guide": optional(_GUIDE),
            "blocked": optional(listing(_BLOCKED, about="With `blocked=true`: what is not possible for your seat in the game.")),
        },
        "What every answer with choices has.",
    ),
)


def _choices(game: Game) -> Shape:
    """Return the shape of what `get_choices` answers."""
    return extending(
        _YOURS,
        {
            **of_match(game),
            "choices": listing(choice(game), about="Every legal choice: of your seat in the game, and at the table."),
        },
        f"What you may do now in a match of {game.title}: in the game, and at the table.",
    )


_STATE = named(
    "StateBase",
    extending(
        AT_TABLE,
        {"match": MATCH_ID, "version": VERSION, "viewer": VIEWER, "players": PLAYERS},
        "What every state has.",
    ),
)
_PLAYED = named(
    "PlayedBase",
    extending(
        AT_TABLE,
        {
            "match": MATCH_ID,
            "seat": nullable(described(SEAT, "The seat that acted. For an action of the table: a seat that you now have, or null.")),
            "first": versions("The version of the first action's entry."),
            "version": versions("The version of the last action's entry, and of the match after it."),
            "round": ROUND,
            "phase": PHASE,
            "active": ACTIVE,
            "to_act": TO_ACT,
            "outcome": OUTCOME,
            "receipt": RECEIPT,
        },
        "What every answer to actions has.",
    ),
)


def _state(game: Game) -> Shape:
    """Return the shape of what `get_state` answers."""
    return extending(
        _STATE,
        {**of_match(game), "view": described(declared(game).view, "The state document as the viewer may see it.")},
        f"A match of {game.title} at a version, as its viewer may see it.",
    )


def _played(game: Game) -> Shape:
    """Return the shape of what `act` answers."""
    return extending(
        _PLAYED,
        {
            **of_match(game),
            "entries": listing(entry(game), about="One entry for each action, as your seat may see it."),
            "choices": listing(choice(game), about="What you may do next."),
        },
        f"What followed from your actions in a match of {game.title}.",
    )


CHOICES = by_game("Choices", "What you may do now: in the game, and at the table.", _choices)
STATE = by_game("State", "A match at a version, as its viewer may see it.", _state)
PLAYED = by_game("Played", "What followed from your actions.", _played)

_EXAMPLES = {
    "one action": {"type": "end_moves"},
    "giving up": {"type": "resign"},
    "an offer": {"type": "offer", "what": "draw"},
    "two, all or none": [{"type": "move", "from": "c4", "to": {"c5": 2}}, {"type": "end_moves"}],
}

OPERATIONS = (
    Operation(
        "get_state", "GET", "/v1/matches/{match}/state", "play", "See the match", get_state,
        {
            200: Answer(
                "The match at a version, as its viewer may see it. `Accept: text/plain` gets a board in text, and "
                "`Accept: image/svg+xml` a picture.",
                {JSON: STATE}, ("ETag",), (TEXT, SVG),
            ),
            304: UNCHANGED,
        },
        "The viewer `spectator` is open to everybody. A seat is open to its player, and `auditor` and every seat to referees who do not "
        "play in the match. Once the match is over, everything is open to everybody. With `Accept: text/plain` the answer is a board of at "
        "most 60 lines of 120 columns. With `Accept: image/svg+xml` it is the picture of `get_picture`.",
        key="optional", query=StateQuery(), headers=("If-None-Match",), said=True,
    ),
    Operation(
        "get_picture", "GET", "/v1/matches/{match}/state.svg", "play", "See the match as a picture", get_picture,
        {
            200: Answer("The match at a version, as its viewer may see it: one SVG document.", as_text(SVG, XML), ("ETag",)),
            304: UNCHANGED,
        },
        "The board, the panels of the seats, whose turn it is, and what the last entry did, as one SVG document without external "
        "references. Without a key it shows what a spectator sees, so you can use the address in an `<img>`. Viewers may see the same as "
        "with `get_state`.",
        key="optional", query=PictureQuery(), headers=("If-None-Match",), said=True,
    ),
    Operation(
        "get_choices", "GET", "/v1/matches/{match}/choices", "play", "Ask what you may do", get_choices,
        {200: in_json("Every legal choice: of your seat in the game, and at the table.", CHOICES, ("ETag",)), 304: UNCHANGED},
        "You can send the action of each choice as it is. If a choice has `choose`, the action has the lowest counts, and `choose` has the "
        "ranges that you may choose from.",
        key="needed", by="player", query=ChoicesQuery(), headers=("If-None-Match",), said=True,
    ),
    Operation(
        "act", "POST", "/v1/matches/{match}/actions", "play", "Act", act,
        {
            200: Answer(
                "What followed. With `Prefer: return=minimal` the receipt alone, a signed note.", {JSON: PLAYED}, ("ETag",), (TEXT,),
            ),
            201: in_json("The rematch that you asked for.", MATCH, ("ETag", "Location")),
        },
        "One action, or a list of actions: all are carried out, or none. In a list, an action that draws chance or reveals something must "
        "be the last. Send actions of the table, such as `resign`, alone. Your time counts until the server has received the request. "
        "`rematch` creates another match, the same for everybody who asks, and answers with it.",
        key="needed", scope="play", query=ActQuery(), headers=("If-Match", "Idempotency-Key", "Prefer", "Warledger-Signature"),
        body=Body(actions, examples=_EXAMPLES),
        deeds=tuple(kind for kind in CHOSEN if kind not in BEGINNINGS), plays="acts",
        problems=("already_created",),
    ),
)  # fmt: skip
