"""Write matches: the only code that creates a match or appends to one. Every action of the table or the game passes through here.

Each request ends in one atomic append, which also writes everything derived from the entries. Before the append, nothing has happened.
After it, nothing can undo it, and a request with the same id gets the same answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Unpack

from events import recall
from events.cache import Cached
from events.deciding import (
    Attempt,
    Decided,
    Given,
    Submission,
    check_player,
    check_started,
    decide,
    decide_in_game,
    give_back,
    named_rules,
    submission,
)
from events.due import Owed, owed
from events.errors import BadList, Busy, MustBeLast, NoMatch, NoSuchPlayer, PlatformError, Reused, Stale
from events.notary.leaves import wanted_at
from events.platform import Platform
from events.requests import Request, id_for, request_of, with_integers
from events.snapshots import due, pack, replaced
from events.standings import changes
from events.store.log import Appended, Changes, Claim, Conflict, Known
from events.telemetry import metrics
from evidence.statements import SideLog
from games.chance import Drawn
from games.kernel import SYSTEM, Action, Refused, no
from record.allowances import WINDOW, Turn, turn_of
from record.dice import Draws, commitment, dice_key, join_code, new_secret
from record.entries import START, Entry, NotCanonical, blind_key, canonical, link, parse
from record.positions import Position, follow
from record.thoughts import Decision, seed_of, thought_key
from table import rules as table_rules
from table.data import DAY_MS
from table.deeds import DEEDS
from table.rematch import rematch as new_rematch
from table.session import NewMatch, Now, Origin, Session
from table.state import kept_seats, lock_of

LONGEST_LIST = 50
GIVING_UP = frozenset(("resign", "leave_seat", "decline_seat", "close_match"))
"""The actions of the table that are also carried out when the memory of the store is full. Each can be done once, and ends something."""

_ATTEMPTS = 200


# ---------------------------------------------------------------- acting in a match


class Played(NamedTuple):
    """The result of a request: the entries of the versions `first` to `last`, and the position after them.

    `repeated`: the request was carried out before, and this is its result. `sidelog`: what the receipt of a seat says of the side log.
    """

    first: int
    last: int
    entries: list[Entry]
    position: Position
    repeated: bool
    sidelog: SideLog | None = None


class RefusedAt(Refused):
    """A refusal that was confirmed for the match at a version."""

    def __init__(self, refused: Refused, version: int) -> None:
        super().__init__(refused.refusal, refused.place)
        self.version = version


def play(platform: Platform, match: str, actor: str, actions: Sequence[Any], **given: Unpack[Given]) -> Played:
    """Carry out game actions of one actor: all of them or none. Each becomes an entry.

    The match must be at the version `expected`. Later entries do not count if others decided them in secret at the same time. The same
    `request` gets the same `Played` again, with `repeated`. Everything that is answered is in the store.

    Raises Refused by the rules, and NoMatch, NoSeat, NotSeated, NotStarted, MatchClosed, BadList, MustBeLast, Stale, Reused, Busy,
    StoreUnavailable.
    """
    if not 1 <= len(actions) <= LONGEST_LIST:
        raise BadList(reason=f"it holds 1 to {LONGEST_LIST} actions")
    return submit(platform, submission(match, actor, actions, given))


def act_at_table(platform: Platform, match: str, actor: str, action: Any, **given: Unpack[Given]) -> Played:
    """Carry out an action of the table, such as taking or leaving a seat. The match starts when the last seat is taken.

    `actor`: a player, a seat or the system, depending on the action (table.rules.by_seat).

    Raises NoMatch, NoSeat, NotSeated, NoSuchPlayer, Stale, Reused, Busy, StoreUnavailable, and Refused by the table.
    """
    return submit(platform, submission(match, actor, [action], given, at_table=True))


def submit(platform: Platform, submitted: Submission) -> Played:
    """Decide on the position in memory, and append. If the match has moved on, read the new entries and decide again.

    A refusal is confirmed at the head of the match before it is raised. Raises the errors of `play` and `act_at_table`.
    """
    match = submitted.match
    platform.pulse.take_part()
    cached = recall.cached(platform, match)
    now = platform.clock.now()
    received = now if submitted.received is None else min(submitted.received, now)
    refreshed = False
    for _ in range(_ATTEMPTS):
        before = cached.position
        claim = submitted.claim(before)
        try:
            returned, decided = decide(platform, cached, submitted, received)
        except (Refused, PlatformError) as refusal:
            if refusal.code == "time_is_up" and not refreshed:  # an outage may be the cause, and this process may not know it yet
                platform.pulse.refresh(received)
                refreshed = True
                continue
            # Memory may be behind. Or the request was carried out before, and its answer was lost.
            since = platform.store.log.since(match, before.version, claim.name if claim else "", before.digest)
            if since.known is not None:
                return _repeat(platform, match, claim, since.known)
            if since.head == before.version:
                metrics.refusals.labels(before.game, refusal.code).inc()
                if isinstance(refusal, Refused):
                    raise RefusedAt(refusal, before.version) from None
                if isinstance(refusal, MustBeLast):
                    refusal.version = before.version
                raise
            cached = recall.extend(platform, cached, since.head, since.tail)
            continue
        if claim is not None and returned:
            claim = claim._replace(after=len(returned))
        works = owed(decided[-1].position)
        gives_up = submitted.at_table and submitted.actions[0]["type"] in GIVING_UP
        seat = "" if submitted.player is None else submitted.actor
        answer = _append(platform, cached, [*returned, *decided], works, claim, gives_up, seat)
        if isinstance(answer, Appended):
            played = _written(platform, cached, decided, works, len(returned), answer.sidelog)
            platform.jobs.push(works)
            return played
        if isinstance(answer, Known):
            return _repeat(platform, match, claim, answer)
        metrics.conflicts.inc()
        cached = recall.extend(platform, cached, answer.head, answer.tail)
    raise Busy


def write_once(platform: Platform, cached: Cached, decided: list[Decided]) -> Played:
    """Append decided entries after a position, for an actor without a player. Try once. Raises Stale if the match has moved on, and
    StoreUnavailable."""
    before, works = cached.position, owed(decided[-1].position)
    answer = _append(platform, cached, decided, works, None)
    if isinstance(answer, Appended):
        return _written(platform, cached, decided, works)
    metrics.conflicts.inc()
    assert isinstance(answer, Conflict), "without a request, the answer cannot be Known"
    newer = recall.extend(platform, cached, answer.head, answer.tail)
    raise Stale(before.version, newer.position.version)


def _append(
    platform: Platform,
    cached: Cached,
    decided: list[Decided],
    works: tuple[Owed, ...],
    claim: Claim | None,
    reserve: bool = False,
    seat: str = "",
) -> Appended | Conflict | Known:
    before = cached.position
    raws, changed = [step.raw for step in decided], _changes(cached, decided, works)
    if reserve or seat:
        changed = changed._replace(reserve=reserve, seat=seat)
    return platform.store.log.append(before.match, before.version, raws, changed, claim, before.digest)


def _written(
    platform: Platform, cached: Cached, decided: list[Decided], works: tuple[Owed, ...], returned: int = 0, sidelog: SideLog | None = None
) -> Played:
    """Cache the new position, at which `works` are due, and count. `returned`: how many entries of the append come before `decided`."""
    after = decided[-1].position
    platform.cache.put(recall.step_to(cached, after, works))
    metrics.appends_of(after.game).inc(returned + len(decided))
    return Played(cached.position.version + 1 + returned, after.version, [step.entry for step in decided], after, False, sidelog)


def _changes(cached: Cached, decided: list[Decided], works: tuple[Owed, ...]) -> Changes:
    """Return everything that an append changes in addition to the log, including a snapshot if one is due."""
    before, after = cached.position, decided[-1].position
    changed = changes(before, after, works, wanted_at(decided[0].position, after), cached.works)
    version = due(before.version, after.version)
    if version is None:
        return changed
    return changed._replace(snapshot=(version, pack(decided[version - before.version - 1].position), replaced(version)))


def _repeat(platform: Platform, match: str, claim: Claim | None, known: Known) -> Played:
    """Return the result of a request that was carried out before. Raises Reused if the id belonged to another request."""
    if claim is None or known.fingerprint != claim.fingerprint:
        raise Reused
    metrics.repeats.inc()
    entries = [parse(raw) for raw in known.entries]
    return Played(known.first, known.last, entries, recall.state_at(platform, match, known.last), True)


class Draft:
    """A series of actions of one actor without a player, decided in memory one by one and then written in one append.

    The actor may think for any time between actions: nothing is locked or retried. If the match moves on, nothing is written. The series
    is written whatever its dice show, so an AI seat never sees a die without playing on.
    """

    def __init__(self, platform: Platform, match: str, actor: str, expected: int) -> None:
        """Begin at version `expected`. Raises Stale if the match is at another; NoMatch, NotStarted, MatchClosed, StoreUnavailable."""
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
        """The seed for an artificial player's decision about the next action (record/thoughts.py)."""
        position = self.position
        key = thought_key(self._cached.secret, position.match, position.table["contributions"])
        return seed_of(key, position.version + 1, self._actor)

    def turn(self) -> Turn:
        """Return the turn of the actor up to the next action (record/allowances.py). Raises StoreUnavailable."""
        before = self._before.position
        length = min(WINDOW, before.version)
        raws = self._platform.store.log.read(before.match, before.version - length, length)
        return turn_of([*map(parse, raws), *[step.entry for step in self._decided]], self._actor)

    @property
    def goes_on(self) -> bool:
        """True if the actor must act again, and the series can take another action."""
        return self._actor in self.position.to_act and len(self._decided) - self._returned < LONGEST_LIST

    def play(self, action: Action, decision: Decision | None = None, at: int | None = None) -> None:
        """Add an action, with the decision of the artificial player that led to it. `at`: its moment; default: now. Raises Refused by the
        rules."""
        step = decide_in_game(self._platform, self._cached, Attempt(self._actor, action, decision, at))
        self._decided.append(step)
        self._cached = recall.step_to(self._cached, step.position)

    def write(self) -> Played:
        """Append the whole series. Try once. Raises Stale if the match has moved on, and StoreUnavailable."""
        return write_once(self._platform, self._before, self._decided)


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
    `code`: the match requires a code (TBL-INV-04). `settings`: any of `clock`, `time_out` and `spectators` (TBL-CLK-01, TBL-TIM-01,
    TBL-PRV-01). The same `request` of the same player gets the same match. Raises NoGame, NoSuchPlayer, Reused, StoreUnavailable, and
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
    """Create a practice match from a version of a finished match. Return its first position (TBL-FRK-01).

    The arguments after `version` are as for `create`. Raises NoMatch, NoVersion, NoSuchPlayer, Reused, StoreUnavailable, and Refused by the
    table.
    """
    action = {"type": "fork_match", "fork_of": match, "at": version, "seats": dict(seats)}
    if code:
        action["code"] = True
    action |= settings or {}
    origin = recall.origin(platform, match, version)
    return _create(platform, id_for(player, request), player, action, request_of(request, player, action), origin)


def rematch(platform: Platform, match: str, seat: str, player: str, action: Any) -> Position:
    """Create the rematch of a finished match, or take the player's seats in it. Return its newest position.

    `seat`: the player's seat in the finished match. Everybody who asks gets the same rematch (TBL-REM-01, TBL-REM-02). Raises NoMatch,
    NoSuchPlayer, NotSeated, Busy, StoreUnavailable, and Refused by the table.
    """
    over = recall.position(platform, match)
    check_player(over, seat, player)
    asked = table_rules.admit(action)
    refusal = DEEDS[asked["type"]].refusal(Session(recall.rules_of(platform, over), over.table, over.document), seat, asked)
    if refusal is not None:
        raise Refused(refusal)
    id = rematch_id(match)
    if not platform.store.log.head(id):
        with suppress(Reused):  # somebody else asked at the same time
            return _create(platform, id, player, new_rematch(over.table, over.document, player, match), None)
    found = recall.position(platform, id)
    for kept, invited in kept_seats(found.table).items():
        if invited == player:
            found = act_at_table(platform, id, player, {"type": "take_seat", "seat": kept}).position
    return found


def begin_continuation(platform: Platform, before: Position) -> None:
    """Create the match that continues an earlier position of a match that a ruling ended, unless it exists (TBL-DIS-13).

    Its id is always the same. Raises StoreUnavailable.
    """
    continued = before.table["continued"]
    assert continued is not None, "a ruling named the match that continues"
    if not platform.store.log.head(continued["match"]):
        origin = recall.origin(platform, before.match, continued["version"])._replace(table=before.table)
        named = {"continues": before.match, "at": continued["version"], "dispute": continued["dispute"]}
        with suppress(Reused):  # another process did it at the same time
            _create(platform, continued["match"], SYSTEM, {"type": "continue_match", **named}, None, origin)


def open_record(platform: Platform, match: str) -> None:
    """Open a match to everybody, since its continuation is over (TBL-DIS-13). Do nothing if it is open. Raises StoreUnavailable."""
    with suppress(Refused, NoMatch):
        act_at_table(platform, match, SYSTEM, {"type": "open_record"})


def rematch_id(match: str) -> str:
    """Return the id of the rematch of a match, whether it exists or not."""
    return id_for("rematch", match)


def _create(platform: Platform, match: str, player: str, action: Action, asked: Request | None, origin: Origin | None = None) -> Position:
    """Create a match by an action of the table. Return its first position. `origin`: where a fork begins."""
    rules = recall.game_of(platform, action["game"]) if origin is None else recall.game_of_match(platform, origin.match)
    secret = new_secret()
    published = commitment(secret)
    platform.pulse.take_part()
    now = platform.clock.now()
    expires = now + round(platform.settings.unstarted_days * DAY_MS)
    dice = dice_key(secret, match, {}, action.get("dice"))
    new = NewMatch(published, lock_of(published, join_code(secret)), expires, origin)
    session = Session(rules, new=new, now=Now(chance=Drawn(Draws(dice, 1).number)))
    try:
        action = table_rules.carry_out(session, player, action)
        canonical([action, session.events])
    except NotCanonical as reason:
        raise Refused(no("bad_options", reason=str(reason))) from None
    blind = blind_key(secret)
    entry, raw = link(START, Entry(match, 1, player, action, session.events, *named_rules(rules), now, asked, ""), blind)
    first = follow(rules, None, entry)
    works = owed(first)
    invited = sorted(set(first.table["invited"].values()))
    missing = [id for id, (name, _) in zip(invited, platform.store.accounts.names(invited), strict=True) if name is None]
    there = platform.store.log.read(match, 0, 1) if missing else []
    if not there:
        if missing:
            raise NoSuchPlayer(player=missing[0])
        answer = platform.store.log.append(
            match, 0, [raw], changes(None, first, works, wanted_at(first, first))._replace(secret=secret.hex())
        )
        there = answer.tail if isinstance(answer, Conflict) else []
    if there:
        made = parse(there[0])
        if asked is None or made.request != asked:
            raise Reused
        metrics.repeats.inc()
        return follow(recall.folding(platform, rules.id, made.revision), None, made)
    platform.cache.put(Cached(first, secret, dice, blind, works))
    metrics.appends_of(first.game).inc(1)
    platform.jobs.push(works)
    return first


def were_created(platform: Platform, player: str, requests: Sequence[str]) -> list[bool]:
    """Return for each of these requests of a player whether it created a match, in one round trip. Raises StoreUnavailable."""
    return [head > 0 for head in platform.store.log.heads([id_for(player, request) for request in requests])]


def was_created(platform: Platform, player: str, request: str) -> bool:
    """Return True if this request of a player created a match. Raises StoreUnavailable."""
    return platform.store.log.head(id_for(player, request)) > 0
