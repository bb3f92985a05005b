"""The only writer: every match is created here, and every action of it, at the table or in the game, passes through here.

Each request ends in one append, made in one step with all that follows from it. Before the append nothing has happened; after it nothing
can undo it, and the same request id gets the same answer again.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, NamedTuple

import orjson

from events import metrics, recall
from events.cache import Cached
from events.dice import Draws, commitment, dice_key, join_code, new_secret
from events.due import owed
from events.entries import START, Entry, NotCanonical, blind_key, canonical, link, parse
from events.errors import BadList, Busy, MatchClosed, MustBeLast, NoSeat, NoSuchPlayer, NotSeated, NotStarted, PlatformError, Reused, Stale
from events.platform import DAY_MS, Platform
from events.positions import Position, ended, follow, moment_of_play, moved
from events.recall import position as position
from events.recall import state_at as state_at
from events.rules import content_hash
from events.snapshots import due, pack, replaced
from events.standings import changes
from events.store.log import Appended, Changes, Claim, Conflict, Known
from games.chance import Drawn
from games.kernel import SYSTEM, Action, Event, Game, Memory, Refused, State, carry_out, no, remembered
from table import rules as table_rules
from table.deeds import DEEDS
from table.document import Occupant, Table
from table.rematch import rematch as new_rematch
from table.session import Session, fold
from table.state import kept_seats, lock_of

LONGEST_LIST = 50

_ATTEMPTS = 200

Request = dict[str, str]  # the id of a request, and the fingerprint of what it asked for


class Played(NamedTuple):
    """The result of a request: the entries of the versions `first` to `last`, and the position after them.

    `repeated`: the request was carried out before, and this is what it led to then.
    """

    first: int
    last: int
    entries: list[Entry]
    position: Position
    repeated: bool


class Decided(NamedTuple):
    """An entry that is decided but not written, its bytes, and the position that it leads to.

    `revealing`: it drew chance or revealed something, so that nothing more may be decided in the same request.
    """

    entry: Entry
    raw: bytes
    position: Position
    revealing: bool


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
    action = {"type": "create_match", "game": game, "seats": dict(seats), "options": _with_integers(dict(options))}
    if order is not None:
        action["order"] = list(order)
    if code:
        action["code"] = True
    action |= settings or {}
    asked = _request(request, player, action)
    return _create(platform, _match_id(player, request), player, action, asked)


def rematch(platform: Platform, match: str, seat: str, player: str, action: Any) -> Position:
    """Create the rematch of a match that is over, or take the seats of it that are kept for the player, who has a seat of that match.

    It is the same match for everybody who asks (TBL-REM-01, TBL-REM-02). Return its newest position. Raises NoMatch, NoSuchPlayer,
    NotSeated, Busy, StoreUnavailable, and Refused by the table.
    """
    over = recall.position(platform, match)
    _check_player(over, seat, player)
    asked = table_rules.admit(action)
    refusal = DEEDS[asked["type"]].refusal(Session(recall.game_of(platform, over.game), over.table, over.document), seat, asked)
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


def rematch_id(match: str) -> str:
    """Return the id that the rematch of a match has, once somebody has asked for it."""
    return _match_id("rematch", match)


def _create(platform: Platform, match: str, player: str, action: Action, asked: Request | None) -> Position:
    rules, secret = recall.game_of(platform, action["game"]), new_secret()
    published = commitment(secret)
    platform.pulse.take_part()
    now = platform.clock.now()
    expires = now + round(platform.settings.unstarted_days * DAY_MS)
    session = Session(rules, commitment=published, lock=lock_of(published, join_code(secret)), expires=expires)
    try:
        action = table_rules.carry_out(session, player, action)
        canonical([action, session.events])
    except NotCanonical as reason:
        raise Refused(no("bad_options", reason=str(reason))) from None
    blind = blind_key(secret)
    entry, raw = link(START, Entry(match, 1, player, action, session.events, *_rules(rules), now, asked, ""), blind)
    first = follow(rules, None, entry)
    invited = sorted(set(first.table["invited"].values()))
    missing = [id for id, (name, _) in zip(invited, platform.store.accounts.names(invited), strict=True) if name is None]
    there = platform.store.log.read(match, 0, 1) if missing else []
    if not there:
        if missing:
            raise NoSuchPlayer(missing[0])
        answer = platform.store.log.append(match, 0, [raw], changes(None, first)._replace(secret=secret.hex()))
        there = answer.tail if isinstance(answer, Conflict) else []
    if there:
        made = parse(there[0])
        if asked is None or made.request != asked:
            raise Reused()
        metrics.repeats.inc()
        return follow(rules, None, made)
    platform.cache.put(Cached(first, secret, dice_key(secret, match, {}), blind))
    _announce(platform, first, 1)
    return first


def was_created(platform: Platform, player: str, request: str) -> bool:
    """Return True if a request of a player has created a match. Raises StoreUnavailable."""
    return platform.store.log.head(_match_id(player, request)) > 0


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
) -> Played:
    """Carry out an action of the table, such as taking or leaving a seat. The match starts with the last seat taken.

    `actor`: a player, a seat or the system, as the action needs it (table.rules.by_seat). `player` must have the seat; without it the
    caller is trusted. `expected`, `request`, `received` as in `play`. Raises NoMatch, NoSeat, NotSeated, NoSuchPlayer, Stale, Reused, Busy,
    StoreUnavailable, and Refused by the table.
    """
    asked = _request(request, actor, action)

    def decide(cached: Cached, before: Position, received: int) -> list[Decided]:
        _check_player(before, actor, player)
        follows = player is not None or before.seats_of(actor)
        known = before.version if follows else before.public_version
        if expected is not None and expected != known:
            raise Stale(expected, known)
        sent = table_rules.recorded(before.table, actor, action)
        decided = decide_at_table(platform, cached, actor, sent, asked, received)
        offered_to = [event["player"] for event in decided.entry.events if event["type"] == "seat_offered" and event["player"] is not None]
        if offered_to and platform.store.accounts.names(offered_to)[0][0] is None:
            raise NoSuchPlayer(offered_to[0])
        return [decided]

    def claim(before: Position) -> Claim | None:
        return _claim(player or before.roster.get(actor, {}).get("player", actor), asked)

    return _write(platform, match, decide, claim, received)


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
    asked = _request(request, actor, list(actions))

    def decide(cached: Cached, before: Position, received: int) -> list[Decided]:
        _check_actor(before, actor, player)
        if expected is not None and expected != before.version and not _unseen(platform, before, expected, actor):
            raise Stale(expected, before.version)
        decided: list[Decided] = []
        for place, action in enumerate(actions):
            try:
                step = _decide(platform, cached, actor, action, asked, received, owner=player is not None)
            except Refused as refused:
                raise Refused(refused.refusal, place) from None
            if step.revealing and place + 1 < len(actions):
                raise MustBeLast(place)
            decided.append(step)
            cached = cached._replace(position=step.position)
        return decided

    def claim(before: Position) -> Claim | None:
        return _claim(player or before.roster.get(actor, {}).get("player", actor), asked)

    return _write(platform, match, decide, claim, received)


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
        _check_started(cached.position)
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
    def goes_on(self) -> bool:
        """True if the actor must act again and another action can be added."""
        return self._actor in self.position.to_act and len(self._decided) - self._returned < LONGEST_LIST

    def play(self, action: Action) -> None:
        """Add an action. Raises Refused by the rules."""
        step = _decide(self._platform, self._cached, self._actor, action, None, None, owner=False)
        self._decided.append(step)
        self._cached = self._cached._replace(position=step.position)

    def write(self) -> Played:
        """Append the whole run, once. Raises Stale if the match has moved on, and StoreUnavailable."""
        return write_once(self._platform, self._before, self._decided)


# ---------------------------------------------------------------- deciding


def _decide(
    platform: Platform, cached: Cached, actor: str, action: Any, asked: Request | None, received: int | None, owner: bool
) -> Decided:
    """Carry out one action of the game with the dice of its version. `owner`: whether a player acts on a seat. Raises Refused."""
    before = cached.position
    game = recall.game_of(platform, before.game)
    at = moment_of_play(before, actor, platform.clock.now() if received is None else received)
    refusal = table_rules.play_refusal(before.table, before.document, actor, at, owner=owner)
    if refusal is not None:
        raise Refused(refusal)
    draws = Draws(cached.dice, before.version + 1)
    match = carry_out(game, before.document, actor, action, Drawn(draws.number))
    table = before.table
    for event in table_rules.play_follows(table, match.state, actor):
        match.events.append(event)
        table = fold(table, event)
    secret = cached.secret.hex() if match.state["outcome"] is not None else None
    entry = _entry(before, game, actor, match.action, match.events, at, asked, secret)
    revealing = draws.blocks > 0 or any(event["type"] in game.reveals for event in match.events)
    return _link(cached, game, entry, table, match.state, revealing)


def decide_at_table(platform: Platform, cached: Cached, actor: str, action: Any, asked: Request | None, received: int | None) -> Decided:
    """Carry out one action of the table, with the dice of its version for what the game draws. Raises Refused."""
    before = cached.position
    game = recall.game_of(platform, before.game)
    at = max(platform.clock.now() if received is None else received, before.at)
    draws = Draws(cached.dice, before.version + 1)
    session = Session(
        game,
        before.table,
        before.document,
        at=at,
        last=before.at,
        version=before.version,
        fixed=before.fixed,
        chance=Drawn(draws.number),
        earlier=lambda version: _earlier(platform, before, version),
    )
    admitted = table_rules.carry_out(session, actor, action)
    secret = cached.secret.hex() if ended(session.table, session.state) else None
    entry = _entry(before, game, actor, admitted, session.events, at, asked, secret)
    return _link(cached, game, entry, session.table, session.state, draws.blocks > 0)


def give_back(platform: Platform, cached: Cached, received: int | None) -> tuple[Cached, list[Decided]]:
    """Decide the entries that give back what outages took from the running clocks of a match, up to a moment (TBL-CLK-07).

    `received`: the moment, in milliseconds since 1970; without it, now. Return the match after them, too. Most often there are none. Raises
    StoreUnavailable.
    """
    table = cached.position.table
    running = [clock["since"] for clock in table["clocks"]["seats"].values() if clock["since"] is not None]
    decided: list[Decided] = []
    if not running:
        return cached, decided
    if not platform.pulse.is_fresh:
        platform.pulse.beat()
    until = platform.clock.now() if received is None else received
    for outage in platform.pulse.outages.between(max(table["clocks"]["returned"], min(running)), until):
        given = {"type": "return_time", "from": outage.begin, "to": outage.end}
        decided.append(decide_at_table(platform, cached, SYSTEM, given, None, until))
        cached = cached._replace(position=decided[-1].position)
    return cached, decided


def _earlier(platform: Platform, before: Position, version: int) -> tuple[State, Memory]:
    """Return the document and the memory of a match at an earlier version. Raises StoreUnavailable."""
    position = recall.state_at(platform, before.match, version)
    return position.document, position.memory


def _link(cached: Cached, game: Game, entry: Entry, table: Table, document: State, revealing: bool) -> Decided:
    """Return the entry with its digest, and the position that it leads to. Raises Refused for an action that has no canonical JSON."""
    before = cached.position
    try:
        linked, raw = link(before.digest, entry, cached.blind)
    except NotCanonical as reason:
        raise Refused(no("bad_action", reason=str(reason))) from None
    return Decided(linked, raw, moved(game, before, linked, table, document, remembered(game, before.memory, entry.events)), revealing)


def _entry(
    before: Position, game: Game, actor: str, action: Action, events: list[Event], at: int, asked: Request | None, secret: str | None
) -> Entry:
    """Return the entry after a position, without its digest."""
    return Entry(before.match, before.version + 1, actor, action, events, *_rules(game), at, asked, "", secret)


def _rules(game: Game) -> tuple[int, str]:
    return game.revision, content_hash(game)


def _unseen(platform: Platform, now: Position, expected: int, actor: str) -> bool:
    """Return True if all that came after `expected` was decided by others who act together with the actor, and is hidden from it.

    Sealed bids are such actions, and time that is given back changes nothing that anybody decides on. Nothing that the actor could have
    seen is then stale, so neither of two such requests need be sent again.
    """
    if not 1 <= expected < now.version <= expected + 2 * len(now.roster) or actor not in now.to_act:
        return False
    together = recall.state_at(platform, now.match, expected).to_act
    if actor not in together:
        return False
    game = recall.game_of(platform, now.game)
    entries = [parse(raw) for raw in platform.store.log.read(now.match, expected, now.version - expected)]
    return all(
        entry.action["type"] == "return_time"
        or (
            entry.actor in together
            and entry.actor != actor
            and any(table_rules.shown(game, event, actor) != event for event in entry.events)
        )
        for entry in entries
    )


def _check_actor(before: Position, actor: str, player: str | None) -> None:
    """Check who acts for an actor. Raises NoSeat, NotSeated, NotStarted, MatchClosed."""
    _check_player(before, actor, player)
    _check_started(before)


def _check_started(before: Position) -> None:
    """Raise NotStarted or MatchClosed unless the match has started."""
    if before.status == "closed":
        raise MatchClosed("The match was closed before it began.")
    if before.status == "open":
        raise NotStarted("A seat of this match is still free.")


def _check_player(before: Position, seat: str, player: str | None) -> None:
    """Check that a player, if there is one, has a seat. Raises NoSeat, NotSeated."""
    if player is not None and occupant_of(before, seat).get("player") != player:
        raise NotSeated(f"The seat {seat} is not yours.")


def occupant_of(before: Position, seat: str) -> Occupant:
    """Return who has a seat. Raises NoSeat."""
    occupant = before.roster.get(seat)
    if occupant is None:
        raise NoSeat(f"This match has no seat {seat!r}. Its seats are {', '.join(before.document['seats'])}.")
    return occupant


# ---------------------------------------------------------------- writing


def _write(
    platform: Platform,
    match: str,
    decide: Callable[[Cached, Position, int], list[Decided]],
    claim_of: Callable[[Position], Claim | None],
    received: int | None,
) -> Played:
    """Decide on what is known, and append it. If the match has moved on, learn what is new and decide again.

    Before it, in the same append, clocks get back what outages took from them until the request was `received`. `decide` gets the match
    after that, the position that the store has, and the moment at which the request counts as received.
    """
    platform.pulse.take_part()
    cached = recall.cached(platform, match)
    now = platform.clock.now()
    received = now if received is None else min(received, now)
    told = False
    for _ in range(_ATTEMPTS):
        before = cached.position
        claim = claim_of(before)
        try:
            later, returned = give_back(platform, cached, received)
            decided = decide(later, before, received)
        except (Refused, PlatformError) as refusal:
            if refusal.code == "time_is_up" and not told:  # unless an outage is to blame of which this process has not heard yet
                platform.pulse.refresh(received)
                told = True
                continue
            # Memory may be behind, and this may be a request that was carried out and whose answer was lost.
            since = platform.store.log.since(match, before.version, claim.name if claim else "", before.digest)
            if since.known is not None:
                return _repeat(platform, match, claim, since.known)
            if since.head == before.version:
                metrics.refusals.labels(before.game, refusal.code).inc()
                raise
            cached = recall.extend(platform, cached, since.head, since.tail)
            continue
        if claim is not None and returned:
            claim = claim._replace(after=len(returned))
        answer = _append(platform, cached, [*returned, *decided], claim)
        if isinstance(answer, Appended):
            return _written(platform, cached, decided, enqueue=True, returned=len(returned))
        if isinstance(answer, Known):
            return _repeat(platform, match, claim, answer)
        metrics.conflicts.inc()
        cached = recall.extend(platform, cached, answer.head, answer.tail)
    raise Busy("Too many others are writing to this match. Try again.")


def write_once(platform: Platform, cached: Cached, decided: list[Decided]) -> Played:
    """Append what was decided after a position, once, for an actor without a player. Raises Stale if the match has moved on, and
    StoreUnavailable."""
    before = cached.position
    answer = _append(platform, cached, decided, None)
    if isinstance(answer, Appended):
        return _written(platform, cached, decided, enqueue=False)
    metrics.conflicts.inc()
    assert isinstance(answer, Conflict), "what is written once carries no request that could be known"
    newer = recall.extend(platform, cached, answer.head, answer.tail)
    raise Stale(before.version, newer.position.version)


def _append(platform: Platform, cached: Cached, decided: list[Decided], claim: Claim | None) -> Appended | Conflict | Known:
    before = cached.position
    raws = [step.raw for step in decided]
    return platform.store.log.append(before.match, before.version, raws, _changes(before, decided), claim, before.digest)


def _written(platform: Platform, cached: Cached, decided: list[Decided], enqueue: bool, returned: int = 0) -> Played:
    """Cache the new position, count, and enqueue what is now due. `returned`: how many entries of the append came before."""
    after = decided[-1].position
    platform.cache.put(recall.step_to(cached, after))
    _announce(platform, after, returned + len(decided), enqueue)
    return Played(cached.position.version + 1 + returned, after.version, [step.entry for step in decided], after, False)


def _changes(before: Position, decided: list[Decided]) -> Changes:
    """Return all that an append changes beside the log, with the snapshot that may be due."""
    after = decided[-1].position
    changed = changes(before, after)
    version = due(before.version, after.version)
    if version is None:
        return changed
    return changed._replace(snapshot=(version, pack(decided[version - before.version - 1].position), replaced(version)))


def _announce(platform: Platform, after: Position, number: int, enqueue: bool = True) -> None:
    metrics.appends.labels(after.game).inc(number)
    if enqueue:
        platform.jobs.push(owed(after))


def _repeat(platform: Platform, match: str, claim: Claim | None, known: Known) -> Played:
    """Return what a request led to that was carried out before. Raises Reused if it was another one."""
    if claim is None or known.fingerprint != claim.fingerprint:
        raise Reused()
    metrics.repeats.inc()
    entries = [parse(raw) for raw in known.entries]
    return Played(known.first, known.last, entries, recall.state_at(platform, match, known.last), True)


# ---------------------------------------------------------------- requests


def _request(id: str | None, who: str, what: Any) -> Request | None:
    return None if id is None else {"id": id, "fingerprint": _fingerprint(who, what)}


def _claim(owner: str, asked: Request | None) -> Claim | None:
    return None if asked is None else Claim(f"{owner}/{asked['id']}", asked["fingerprint"])


def _fingerprint(who: str, what: Any) -> str:
    """Return 128 bits in hex that tell two requests apart. `what` can be any JSON, legal or not."""
    try:
        encoded = orjson.dumps([who, what], option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a number beyond 64 bits, or half a character
        encoded = json.dumps([who, what], sort_keys=True).encode()
    return sha256(encoded).hexdigest()[:32]


def _with_integers(value: Any) -> Any:
    """Return JSON with 2 for 2.0: the same number, in the form that is kept."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _with_integers(item) for key, item in value.items()}
    return [_with_integers(item) for item in value] if isinstance(value, list) else value


def _match_id(player: str, request: str | None) -> str:
    """Return a new id; for a request of a player always the same."""
    bits = secrets.token_bytes(10) if request is None else sha256(f"{player}/{request}".encode()).digest()[:10]
    return "m" + base64.b32encode(bits).decode().lower()
