"""Decide submitted actions: check who may act, apply the rules, and return entries that are not written yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypedDict

from events import recall, signing_keys
from events.cache import Cached
from events.errors import (
    HistoryDiffers,
    MatchClosed,
    MustBeLast,
    NoSeat,
    NoSuchPlayer,
    NotSeated,
    NotStarted,
    SignatureInvalid,
    SigningKeyUnknown,
    Stale,
)
from events.platform import Platform
from events.requests import Request, request_of
from events.store.log import Claim
from evidence.notes import made_by
from games.chance import Drawn
from games.kernel import SYSTEM, Action, Event, Game, Memory, Refused, State, no, remembered
from record.dice import Draws
from record.entries import Entry, NotCanonical, link, parse
from record.positions import Position, ended, moment_of_play, moved, session_after
from record.rules import content_hash
from record.shown import UNSEEN_OF_SEAT, is_unseen
from record.signatures import Signed, Signing, statement, verified
from table import rules as table_rules
from table.data import DAY_MS
from table.document import Occupant, Table

SignsWith = Callable[[str, str], bool]
"""Whether a player has a signing key, in base64, that is not revoked."""


class Given(TypedDict, total=False):
    """The optional arguments of actions.

    `expected`: the version that the match must have. `request`: an id from the caller; the same request is carried out only once.
    `player`: the player who must have the acting seat; without it the caller is trusted. `received`: when the request arrived, in ms since
    1970; default: now. `role`: `referee` or `admin` if the actor is one. `signing`: the signatures, one for each action; then `expected` is
    the version that they are over. `signs_with`: whether a player has a valid signing key, as the caller knows it; default: ask the store.
    """

    expected: int | None
    request: str | None
    player: str | None
    received: int | None
    role: str | None
    signing: Signing | None
    signs_with: SignsWith | None


class Attempt(NamedTuple):
    """An action that is to be decided.

    `asked`: the request of a caller, or the decision of an artificial player. `received`: when it arrived, in ms since 1970; default: now.
    `owner`: a player acts for a seat. `signed`: the signature, which is not checked here. `role`: as in `Given`.
    """

    actor: str
    action: Any
    asked: dict[str, Any] | None = None
    received: int | None = None
    role: str | None = None
    owner: bool = False
    signed: Signed | None = None


class Submission(NamedTuple):
    """Actions that one actor submits to a match. All are carried out, or none. The other members are as in `Given`.

    `actor`: a seat or `system`; for actions of the table also a player. `at_table`: they are actions of the table, not of the game.
    `asked`: the request in the form of entries, or None without an id.
    """

    match: str
    actor: str
    actions: Sequence[Any]
    at_table: bool
    asked: Request | None
    expected: int | None
    player: str | None
    received: int | None
    role: str | None
    signing: Signing | None
    signs_with: SignsWith | None

    def owner(self, before: Position) -> str:
        """Return whose request it is: the player in the seat, or else the actor."""
        return self.player or before.roster.get(self.actor, {}).get("player", self.actor)

    def claim(self, before: Position) -> Claim | None:
        """Return the request in the form of the store, or None."""
        if self.asked is None:
            return None
        return Claim(f"{self.owner(before)}/{self.asked['id']}", self.asked["fingerprint"])

    def attempt(self, place: int, action: Any, received: int) -> Attempt:
        """Return an action as it is decided. `place`: its place in the request, from 0."""
        signed = None if self.signing is None else self.signing.of(place)
        return Attempt(self.actor, action, self.asked, received, self.role, self.player is not None, signed)


def submission(match: str, actor: str, actions: Sequence[Any], given: Given, *, at_table: bool = False) -> Submission:
    """Return actions with the optional arguments that were given for them."""
    asked = request_of(given.get("request"), actor, list(actions))
    expected, player, received, role = given.get("expected"), given.get("player"), given.get("received"), given.get("role")
    signing, signs_with = given.get("signing"), given.get("signs_with")
    return Submission(match, actor, actions, at_table, asked, expected, player, received, role, signing, signs_with)


class Decided(NamedTuple):
    """A decided but unwritten entry, its bytes, and the position after it.

    `revealing`: it drew chance or revealed something, so the request may decide nothing after it.
    """

    entry: Entry
    raw: bytes
    position: Position
    revealing: bool


def decide(platform: Platform, cached: Cached, submission: Submission, received: int) -> tuple[list[Decided], list[Decided]]:
    """Decide actions on a position in memory. Return the entries that must come first, and the entries of the actions.

    The first ones give clocks back the time that outages took until the request was `received` (TBL-CLK-07). Raises Refused by the rules,
    NoSeat, NotSeated, NotStarted, MatchClosed, NoSuchPlayer, Stale, MustBeLast, SigningKeyUnknown, HistoryDiffers, SignatureInvalid,
    StoreUnavailable.
    """
    later, returned = give_back(platform, cached, received)
    decide_them = _decide_at_table if submission.at_table else _decide_in_game
    return returned, decide_them(platform, later, cached.position, submission, received)


def _decide_in_game(platform: Platform, cached: Cached, before: Position, submission: Submission, received: int) -> list[Decided]:
    """Decide actions of the game one after the other. `before`: the position before time is given back."""
    actor, player, expected = submission.actor, submission.player, submission.expected
    check_player(before, actor, player)
    check_started(before)
    seen = before if expected is None or expected == before.version else unseen(platform, before, expected, actor)
    if seen is None:
        raise Stale(expected or 0, before.version)
    decided: list[Decided] = []
    for place, action in enumerate(submission.actions):
        if decided:
            cached = recall.step_to(cached, decided[-1].position)
        try:
            step = decide_in_game(platform, cached, submission.attempt(place, action, received))
        except Refused as refused:
            raise Refused(refused.refusal, place) from None
        if step.revealing and place + 1 < len(submission.actions):
            raise MustBeLast(place)
        decided.append(step)
    if submission.signing is not None:
        check_signatures(platform, submission, submission.signing, before, seen.digest, decided)
    return decided


def _decide_at_table(platform: Platform, cached: Cached, before: Position, submission: Submission, received: int) -> list[Decided]:
    """Decide one action of the table. `before`: the position before time is given back."""
    (action,), actor, player, expected = submission.actions, submission.actor, submission.player, submission.expected
    check_player(before, actor, player)
    known = before.version if player is not None or before.seats_of(actor) else before.public_version
    if expected is not None and expected != known and not (expected == before.version and _rules_on(submission)):
        raise Stale(expected, known)
    sent = table_rules.recorded(before.table, actor, action)
    decided = decide_at_table(platform, cached, submission.attempt(0, sent, received))
    offered_to = [event["player"] for event in decided.entry.events if event["type"] == "seat_offered" and event["player"] is not None]
    if offered_to and platform.store.accounts.names(offered_to)[0][0] is None:
        raise NoSuchPlayer(player=offered_to[0])
    if submission.signing is not None:
        seen = before if expected == before.version else recall.state_at(platform, before.match, known)
        check_signatures(platform, submission, submission.signing, before, seen.digest, [decided])
    return [decided]


def _rules_on(submission: Submission) -> bool:
    """Return True if a referee acts on a dispute. A referee may have seen more of a match than everybody may."""
    return submission.role is not None and table_rules.is_for_referees(submission.actions[0])


def check_signatures(
    platform: Platform, submission: Submission, signing: Signing, before: Position, digest: str, decided: list[Decided]
) -> None:
    """Check the signatures of decided entries. `digest`: that of the version that was seen.

    Raises SigningKeyUnknown, HistoryDiffers, SignatureInvalid, StoreUnavailable.
    """
    if signing.digest not in (None, digest):
        raise HistoryDiffers(version=signing.seen, digest=digest)
    player = submission.owner(before)
    signs_with = submission.signs_with or partial(signing_keys.is_valid, platform)
    if not signs_with(player, signing.key):
        raise SigningKeyUnknown(player=player)
    for place, step in enumerate(decided):
        if not verified(step.entry, digest, made_by):
            raise SignatureInvalid(place, statement(step.entry, digest).decode())


def decide_in_game(platform: Platform, cached: Cached, attempt: Attempt) -> Decided:
    """Decide one action of the game, with the dice of its version. Raises Refused."""
    before = cached.position
    game = recall.rules_of(platform, before)
    actor, action, is_signed = attempt.actor, attempt.action, attempt.signed is not None
    at = moment_of_play(before, actor, platform.clock.now() if attempt.received is None else attempt.received)
    draws = Draws(cached.dice, before.version + 1)
    chance = Drawn(draws.number)
    match, table = table_rules.play(game, before.table, before.document, actor, action, chance, at, owner=attempt.owner, signed=is_signed)
    entry = _entry(cached, game, attempt, match.action, match.events, at, match.state["outcome"] is not None)
    revealing = draws.blocks > 0 or any(event["type"] in game.reveals for event in match.events)
    return _link(cached, game, entry, table, match.state, revealing)


def decide_at_table(platform: Platform, cached: Cached, attempt: Attempt) -> Decided:
    """Decide one action of the table, with the dice of its version for what the game draws. Raises Refused."""
    before, actor = cached.position, attempt.actor
    game = recall.rules_of(platform, before)
    at = max(platform.clock.now() if attempt.received is None else attempt.received, before.at)
    draws = Draws(cached.dice, before.version + 1)
    escalation = round(platform.settings.escalation_days * DAY_MS)
    chance, earlier = Drawn(draws.number), lambda version: _earlier(platform, before, version)
    shown = platform.sidelog.saw_hidden(before.match, before.table, actor)
    is_signed = attempt.signed is not None
    session = session_after(game, before, at, chance, earlier, role=attempt.role, escalation=escalation, shown=shown, signed=is_signed)
    admitted = table_rules.carry_out(session, actor, attempt.action)
    ends = ended(session.table, session.state) and not before.ended
    entry = _entry(cached, game, attempt, admitted, session.events, at, ends)
    return _link(cached, game, entry, session.table, session.state, draws.blocks > 0)


def give_back(platform: Platform, cached: Cached, received: int | None) -> tuple[Cached, list[Decided]]:
    """Decide the entries that give running clocks back the time that outages took (TBL-CLK-07). Usually there are none.

    `received`: up to when, in ms since 1970; default: now. Return the match after these entries, and the entries. Raises StoreUnavailable.
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
        decided.append(decide_at_table(platform, cached, Attempt(SYSTEM, given, received=until)))
        cached = recall.step_to(cached, decided[-1].position)
    return cached, decided


def _earlier(platform: Platform, before: Position, version: int) -> tuple[State, Memory]:
    """Return the document and the memory of a match at an earlier version. Raises StoreUnavailable."""
    position = recall.state_at(platform, before.match, version)
    return position.document, position.memory


def _link(cached: Cached, game: Game, entry: Entry, table: Table, document: State, revealing: bool) -> Decided:
    """Return the entry with its digest, and the position after it. Raises Refused for an action without canonical JSON."""
    before = cached.position
    try:
        linked, raw = link(before.digest, entry, cached.blind)
    except NotCanonical as reason:
        raise Refused(no("bad_action", reason=str(reason))) from None
    return Decided(linked, raw, moved(game, before, linked, table, document, remembered(game, before.memory, entry.events)), revealing)


def _entry(cached: Cached, game: Game, attempt: Attempt, action: Action, events: list[Event], at: int, ends: bool) -> Entry:
    """Return the entry after a position, without its digest. `action`: as admitted. It tells the secret if the match `ends`."""
    match, version = cached.position.match, cached.position.version + 1
    secret = cached.secret.hex() if ends else None
    return Entry(match, version, attempt.actor, action, events, *named_rules(game), at, attempt.asked, "", secret, attempt.signed)


def named_rules(game: Game) -> tuple[int, str]:
    """Return the revision and the content hash of a game's rules, as an entry names them."""
    return game.revision, content_hash(game)


def unseen(platform: Platform, now: Position, expected: int, actor: str) -> Position | None:
    """Return the position at version `expected` if the actor could see nothing of what came after it, else None (record.shown.is_unseen).

    The actor has then seen everything that it may see, so its request is not stale.
    """
    if not 1 <= expected < now.version <= expected + UNSEEN_OF_SEAT * len(now.roster) or actor not in now.to_act:
        return None
    seen = recall.state_at(platform, now.match, expected)
    game = recall.rules_of(platform, now)
    entries = [parse(raw) for raw in platform.store.log.read(now.match, expected, now.version - expected)]
    return seen if is_unseen(game, seen.to_act, entries, actor) else None


def check_started(before: Position) -> None:
    """Raise NotStarted or MatchClosed unless the match has started."""
    if before.status == "closed":
        raise MatchClosed
    if before.status == "open":
        raise NotStarted


def check_player(before: Position, seat: str, player: str | None) -> None:
    """Check that a player, if there is one, has a seat. Raises NoSeat, NotSeated."""
    if player is not None and occupant_of(before, seat).get("player") != player:
        raise NotSeated(seat=seat)


def occupant_of(before: Position, seat: str) -> Occupant:
    """Return who has a seat. Raises NoSeat."""
    occupant = before.roster.get(seat)
    if occupant is None:
        raise NoSeat(seat, before.roster)
    return occupant
