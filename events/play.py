"""The only writer: every match is created here, and every action of it, at the table or in the game, passes through here.

Each request ends in one append, made in one step with all that follows from it. Before the append nothing has happened; after it nothing
can undo it, and the same request id gets the same answer again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from events import recall
from events.cache import Cached
from events.deciding import (
    Decided,
    check_actor,
    check_player,
    check_started,
    decide_at_table,
    decide_in_game,
    give_back,
    named_rules,
    unseen,
)
from events.errors import BadList, MustBeLast, NoMatch, NoSuchPlayer, Reused, Stale
from events.notary.leaves import wanted_at
from events.platform import DAY_MS, Platform
from events.requests import Request, claim_of, id_for, request_of, with_integers
from events.standings import changes
from events.store.log import Claim, Conflict
from events.telemetry import metrics
from events.writing import Played, announce, write, write_once
from games.kernel import SYSTEM, Action, Refused, no
from record.allowances import WINDOW, Turn, turn_of
from record.dice import commitment, dice_key, join_code, new_secret
from record.entries import START, Entry, NotCanonical, blind_key, canonical, link, parse
from record.positions import Position, follow
from record.thoughts import Decision, seed_of, thought_key
from table import rules as table_rules
from table.deeds import DEEDS
from table.rematch import rematch as new_rematch
from table.session import NewMatch, Origin, Session
from table.state import kept_seats, lock_of

LONGEST_LIST = 50


# ---------------------------------------------------------------- creating a match


def create(
    platform: Platform,
    player: str,
    game: str,
    seats: Mapping[str, str],
    options: Mapping[str, Any],
    *,
    order: Sequence[str] | None = None,
    code: bool = False,
    settings: Mapping[str, Any] | None = None,
    request: str | None = None,
) -> Position:
    """Create a match and return its first position.

    `seats`: "me", "open", "ai:" and a level, or "player:" and an id (TBL-CRE-03). `order`: the seats around the board (TBL-CRE-07).
    `code`: whether it asks for a code (TBL-INV-04). `settings`: `clock`, `time_out` and `spectators`, those that are chosen (TBL-CLK-01,
    TBL-TIM-01, TBL-PRV-01). The same player's same request gives the same match. Raises NoGame, NoSuchPlayer, Reused, StoreUnavailable, and
    Refused by the table or the game.
    """
    recall.game_of(platform, game)
    action = {"type": "create_match", "game": game, "seats": dict(seats), "options": with_integers(dict(options))}
    if order is not None:
        action["order"] = list(order)
    if code:
        action["code"] = True
    action |= settings or {}
    asked = request_of(request, player, action)
    return _create(platform, id_for(player, request), player, action, asked)


def fork(
    platform: Platform,
    player: str,
    match: str,
    version: int,
    seats: Mapping[str, str],
    *,
    code: bool = False,
    settings: Mapping[str, Any] | None = None,
    request: str | None = None,
) -> Position:
    """Create a practice match that begins from a version of a match that is over, and return its first position (TBL-FRK-01).

    All but `match` and `version` is as for `create`. Raises NoMatch, NoVersion, NoSuchPlayer, Reused, StoreUnavailable, and Refused by the
    table.
    """
    action = {"type": "fork_match", "fork_of": match, "at": version, "seats": dict(seats)}
    if code:
        action["code"] = True
    action |= settings or {}
    origin = recall.origin(platform, match, version)
    return _create(platform, id_for(player, request), player, action, request_of(request, player, action), origin)


def rematch(platform: Platform, match: str, seat: str, player: str, action: Any) -> Position:
    """Create the rematch of a match that is over, or take the seats of it that are kept for the player, who has a seat of that match.

    It is the same match for everybody who asks (TBL-REM-01, TBL-REM-02). Return its newest position. Raises NoMatch, NoSuchPlayer,
    NotSeated, Busy, StoreUnavailable, and Refused by the table.
    """
    over = recall.position(platform, match)
    check_player(over, seat, player)
    asked = table_rules.admit(action)
    refusal = DEEDS[asked["type"]].refusal(Session(recall.rules_of(platform, over), over.table, over.document), seat, asked)
    if refusal is not None:
        raise Refused(refusal)
    id = rematch_id(match)
    if not platform.store.log.head(id):
        with suppress(Reused):  # somebody else has asked at the same moment
            return _create(platform, id, player, new_rematch(over.table, over.document, player, match), None)
    found = recall.position(platform, id)
    for kept, invited in kept_seats(found.table).items():
        if invited == player:
            found = act_at_table(platform, id, player, {"type": "take_seat", "seat": kept}).position
    return found


def begin_continuation(platform: Platform, before: Position) -> None:
    """Create the match that goes on from an earlier position of one that has ended by a ruling, if it is not there yet (TBL-DIS-13).

    It has the same id whenever it is asked for. Raises StoreUnavailable.
    """
    continued = before.table["continued"]
    assert continued is not None, "a ruling says that another match goes on"
    if not platform.store.log.head(continued["match"]):
        origin = recall.origin(platform, before.match, continued["version"])._replace(table=before.table)
        named = {"continues": before.match, "at": continued["version"], "dispute": continued["dispute"]}
        with suppress(Reused):  # another process has done it at the same moment
            _create(platform, continued["match"], SYSTEM, {"type": "continue_match", **named}, None, origin)


def open_record(platform: Platform, match: str) -> None:
    """Open a match to everybody: the one that went on from it is over (TBL-DIS-13). Do nothing if it is open. Raises StoreUnavailable."""
    with suppress(Refused, NoMatch):
        act_at_table(platform, match, SYSTEM, {"type": "open_record"})


def rematch_id(match: str) -> str:
    """Return the id that the rematch of a match has, once somebody has asked for it."""
    return id_for("rematch", match)


def _create(platform: Platform, match: str, player: str, action: Action, asked: Request | None, origin: Origin | None = None) -> Position:
    """Create a match by an action of the table, and return its first position. `origin`: from where it begins, if it is a fork."""
    rules = recall.game_of(platform, action["game"]) if origin is None else recall.game_of_match(platform, origin.match)
    secret = new_secret()
    published = commitment(secret)
    platform.pulse.take_part()
    now = platform.clock.now()
    expires = now + round(platform.settings.unstarted_days * DAY_MS)
    session = Session(rules, new=NewMatch(published, lock_of(published, join_code(secret)), expires, origin))
    try:
        action = table_rules.carry_out(session, player, action)
        canonical([action, session.events])
    except NotCanonical as reason:
        raise Refused(no("bad_options", reason=str(reason))) from None
    blind = blind_key(secret)
    entry, raw = link(START, Entry(match, 1, player, action, session.events, *named_rules(rules), now, asked, ""), blind)
    first = follow(rules, None, entry)
    invited = sorted(set(first.table["invited"].values()))
    missing = [id for id, (name, _) in zip(invited, platform.store.accounts.names(invited), strict=True) if name is None]
    there = platform.store.log.read(match, 0, 1) if missing else []
    if not there:
        if missing:
            raise NoSuchPlayer(missing[0])
        answer = platform.store.log.append(
            match, 0, [raw], changes(None, first)._replace(secret=secret.hex(), leaf=wanted_at(first, first))
        )
        there = answer.tail if isinstance(answer, Conflict) else []
    if there:
        made = parse(there[0])
        if asked is None or made.request != asked:
            raise Reused()
        metrics.repeats.inc()
        return follow(recall.folding(platform, rules.id, made.revision), None, made)
    platform.cache.put(Cached(first, secret, dice_key(secret, match, {}), blind))
    announce(platform, first, 1)
    return first


def was_created(platform: Platform, player: str, request: str) -> bool:
    """Return True if a request of a player has created a match. Raises StoreUnavailable."""
    return platform.store.log.head(id_for(player, request)) > 0


# ---------------------------------------------------------------- acting in a match


def act_at_table(
    platform: Platform,
    match: str,
    actor: str,
    action: Any,
    *,
    expected: int | None = None,
    request: str | None = None,
    player: str | None = None,
    received: int | None = None,
    role: str | None = None,
) -> Played:
    """Carry out an action of the table, such as taking or leaving a seat. The match starts with the last seat taken.

    `actor`: a player, a seat or the system, as the action needs it (table.rules.by_seat). `player` must have the seat; without it the
    caller is trusted. `role`: `referee` or `admin` if the actor is one. `expected`, `request`, `received` as in `play`.

    Raises NoMatch, NoSeat, NotSeated, NoSuchPlayer, Stale, Reused, Busy, StoreUnavailable, and Refused by the table.
    """
    asked = request_of(request, actor, action)

    def decide(cached: Cached, before: Position, received: int) -> list[Decided]:
        check_player(before, actor, player)
        follows = player is not None or before.seats_of(actor)
        known = before.version if follows else before.public_version
        if expected is not None and expected != known:
            raise Stale(expected, known)
        sent = table_rules.recorded(before.table, actor, action)
        decided = decide_at_table(platform, cached, actor, sent, asked, received, role)
        offered_to = [event["player"] for event in decided.entry.events if event["type"] == "seat_offered" and event["player"] is not None]
        if offered_to and platform.store.accounts.names(offered_to)[0][0] is None:
            raise NoSuchPlayer(offered_to[0])
        return [decided]

    def claim(before: Position) -> Claim | None:
        return claim_of(player or before.roster.get(actor, {}).get("player", actor), asked)

    return write(platform, match, decide, claim, received)


def play(
    platform: Platform,
    match: str,
    actor: str,
    actions: Sequence[Any],
    *,
    expected: int | None = None,
    request: str | None = None,
    player: str | None = None,
    received: int | None = None,
) -> Played:
    """Carry out the game's actions of one actor, all or none, one entry for each.

    `expected` is the version that the match must be at; what others have since decided in secret and at the same time does not count.
    `request` is an id of the caller's own: the same request again gives the same `Played`, with `repeated`. `player` must have the seat;
    without it the caller is trusted. `received` is when the request was received, in milliseconds since 1970; without it, now. What was
    answered is in the store. Raises Refused by the rules, and NoMatch, NoSeat, NotSeated,
    NotStarted, MatchClosed, BadList, MustBeLast, Stale, Reused, Busy, StoreUnavailable.
    """
    if not 1 <= len(actions) <= LONGEST_LIST:
        raise BadList(f"A list holds 1 to {LONGEST_LIST} actions.")
    asked = request_of(request, actor, list(actions))

    def decide(cached: Cached, before: Position, received: int) -> list[Decided]:
        check_actor(before, actor, player)
        if expected is not None and expected != before.version and not unseen(platform, before, expected, actor):
            raise Stale(expected, before.version)
        decided: list[Decided] = []
        for place, action in enumerate(actions):
            try:
                step = decide_in_game(platform, cached, actor, action, asked, received, owner=player is not None)
            except Refused as refused:
                raise Refused(refused.refusal, place) from None
            if step.revealing and place + 1 < len(actions):
                raise MustBeLast(place)
            decided.append(step)
            cached = cached._replace(position=step.position)
        return decided

    def claim(before: Position) -> Claim | None:
        return claim_of(player or before.roster.get(actor, {}).get("player", actor), asked)

    return write(platform, match, decide, claim, received)


class Draft:
    """A run of actions of one actor, decided one after the other in memory, and then written in one append.

    For actors without a player. They may think as long as they like between the actions: nothing is locked or retried meanwhile, and
    if the match moves on, nothing is written. The run is written with any result of its dice, so an AI seat never learns a die without
    playing it.
    """

    def __init__(self, platform: Platform, match: str, actor: str, expected: int) -> None:
        """Begin a run at version `expected`. Raises Stale if the match is not there; NoMatch, NotStarted, MatchClosed, StoreUnavailable."""
        cached = recall.cached(platform, match)
        if cached.position.version < expected:
            cached = recall.catch_up(platform, cached)
        if cached.position.version != expected:
            raise Stale(expected, cached.position.version)
        check_started(cached.position)
        self._platform = platform
        self._actor = actor
        self._before = cached
        self._cached, self._decided = give_back(platform, cached, None)
        self._returned = len(self._decided)

    @property
    def position(self) -> Position:
        """The position after the actions so far."""
        return self._cached.position

    @property
    def seed(self) -> int:
        """The seed by which an artificial player decides the next action of the actor (record/thoughts.py)."""
        position = self.position
        key = thought_key(self._cached.secret, position.match, position.table["contributions"])
        return seed_of(key, position.version + 1, self._actor)

    def turn(self) -> Turn:
        """Return what the actor has done of its turn before the next action (record/allowances.py). Raises StoreUnavailable."""
        before = self._before.position
        length = min(WINDOW, before.version)
        raws = self._platform.store.log.read(before.match, before.version - length, length)
        return turn_of([*map(parse, raws), *[step.entry for step in self._decided]], self._actor)

    @property
    def goes_on(self) -> bool:
        """True if the actor must act again and another action can be added."""
        return self._actor in self.position.to_act and len(self._decided) - self._returned < LONGEST_LIST

    def play(self, action: Action, decision: Decision | None = None) -> None:
        """Add an action, with the decision of the artificial player that led to it. Raises Refused by the rules."""
        step = decide_in_game(self._platform, self._cached, self._actor, action, decision, None, owner=False)
        self._decided.append(step)
        self._cached = self._cached._replace(position=step.position)

    def write(self) -> Played:
        """Append the whole run, once. Raises Stale if the match has moved on, and StoreUnavailable."""
        return write_once(self._platform, self._before, self._decided)
