"""THE ONLY WRITER: a match is begun here, its seats are taken here, and every action of it passes here.

Each of these ends in one append, made in one step with all that follows from it. Until then nothing has happened; after it nothing can
undo it, and whoever asks again under the same request id is told the same.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import orjson

from events import metrics, recall
from events.cache import Cached
from events.dice import Draws, commitment, dice_key, new_secret
from events.entries import START, Entry, NotCanonical, canonical, parse, seal
from events.errors import (
    BadContribution,
    BadList,
    BadSeats,
    Busy,
    MustBeLast,
    NoSeat,
    NotSeated,
    NotStarted,
    PlatformError,
    Reused,
    SeatTaken,
    Stale,
)
from events.levels import LEVELS
from events.platform import Platform
from events.positions import CREATE, CREATED, TAKE, TAKEN, Position, begun, moved, seated
from events.reactions import owed
from events.recall import position as position
from events.recall import state_at as state_at
from events.snapshots import due, pack, replaced
from events.standings import changes
from events.store import Appended, Changes, Claim, Conflict, Known
from games.chance import Drawn
from games.choices import Choice
from games.kernel import SPECTATOR, SYSTEM, Action, Event, Game, Memory, Refused, State, admit, carry_out, legal, no, remembered

LONGEST_LIST = 50

_ATTEMPTS = 200
_CONTRIBUTION = re.compile(r"([0-9a-f]{2}){1,64}")

Choose = Callable[[State, list[Choice], Memory], Action]


class Played(NamedTuple):
    """What came of a request: the entries of the versions `first` to `last`, and the position after them.

    `repeated`: the request had been carried out before, and this is what came of it then.
    """

    first: int
    last: int
    entries: list[Entry]
    position: Position
    repeated: bool


class Made(NamedTuple):
    """An entry that is decided but not written, its bytes, and the position that it leads to."""

    entry: Entry
    wire: bytes
    position: Position


def create(
    platform: Platform,
    player: str,
    game: str,
    seats: Mapping[str, str],
    options: Mapping[str, Any],
    *,
    request: str | None = None,
) -> Position:
    """Begin a match and give its first position. `seats`, in their order round the table: "me", "open", or "ai:" and a level.

    The same player's same request gives the same match. Raises NoGame, BadSeats, Reused, StoreUnavailable, and Refused `bad_options`.
    """
    played = recall.game_of(platform, game)
    options = _whole(dict(options))
    roster = {seat: holder(seat, said, player) for seat, said in seats.items()}
    document = played.begin(list(seats), options)
    _keepable(document, options)
    action = {"type": CREATE, "game": game, "seats": dict(seats), "options": options}
    asked = None if request is None else {"id": request, "fingerprint": _fingerprint(player, [action, list(seats)])}
    match = _match_id(player, request)
    secret = new_secret()
    event = {"type": CREATED, "game": game, "seats": roster, "commitment": commitment(secret), "document": document}
    entry, wire = seal(START, Entry(match, 1, player, action, [event], played.revision, _now(), asked, ""))
    position = begun(entry)
    answer = platform.store.append(match, 0, [wire], changes(None, position)._replace(secret=secret.hex()))
    if isinstance(answer, Conflict):
        first = parse(answer.tail[0])
        if asked is None or first.request != asked:
            raise Reused()
        metrics.repeats.inc()
        return begun(first)
    platform.cache.put(Cached(position, secret, dice_key(secret, match, {})))
    _tell(platform, position, 1)
    return position


def join(
    platform: Platform, match: str, player: str, seat: str, contribution: str | None = None, *, request: str | None = None
) -> Position:
    """Take an open seat, perhaps with a contribution to the dice (1 to 64 bytes in hex). The match starts with the last seat taken.

    Raises NoMatch, NoSeat, SeatTaken, BadContribution, Reused, Busy, StoreUnavailable.
    """
    if contribution is not None and not _CONTRIBUTION.fullmatch(contribution):
        raise BadContribution("A contribution is 1 to 64 bytes, written in lower-case hex.")
    action = {"type": TAKE, "seat": seat, "contribution": contribution}
    asked = None if request is None else {"id": request, "fingerprint": _fingerprint(player, action)}

    def decide(held: Cached) -> list[Made]:
        before = held.position
        holder = _held_by(before, seat)
        if "open" not in holder:
            raise SeatTaken(f"The seat {seat} is taken.")
        event = {"type": TAKEN, "seat": seat, "player": player, "contribution": contribution}
        entry, wire = seal(before.digest, _entry(before, player, action, [event], before.rules, asked))
        return [Made(entry, wire, seated(before, entry))]

    return _write(platform, match, decide, lambda position: _claim(player, asked)).position


def play(
    platform: Platform,
    match: str,
    actor: str,
    actions: Sequence[Any],
    *,
    expected: int | None = None,
    request: str | None = None,
    player: str | None = None,
) -> Played:
    """Carry out the actions of one actor, all or none, one entry for each.

    `expected` is the version that the match must be at, but for what others have since then decided in secret and at the same time.
    `request` is an id of the caller's own: the same request again gives the same
    `Played`, with `repeated`. `player` must hold the seat; without it the caller is trusted. What was answered stands in the store.
    Raises Refused by the rules, and NoMatch, NoSeat, NotSeated, NotStarted, BadList, MustBeLast, Stale, Reused, Busy, StoreUnavailable.
    """
    if not 1 <= len(actions) <= LONGEST_LIST:
        raise BadList(f"A list holds 1 to {LONGEST_LIST} actions.")
    asked = None if request is None else {"id": request, "fingerprint": _fingerprint(actor, list(actions))}

    def decide(held: Cached) -> list[Made]:
        position = held.position
        _may_act(position, actor, player)
        game = recall.game_of(platform, position.game)
        if expected is not None and expected != position.version and not _unseen(platform, game, position, expected, actor):
            raise Stale(expected, position.version)
        made: list[Made] = []
        for place, action in enumerate(actions):
            try:
                one, open_hand = _decided(game, held, position, actor, action, asked)
            except Refused as refused:
                raise Refused(refused.refusal, place) from None
            if open_hand and place + 1 < len(actions):
                raise MustBeLast(place)
            made.append(one)
            position = one.position
        return made

    def claim(position: Position) -> Claim | None:
        return _claim(player or position.roster.get(actor, {}).get("player", actor), asked)

    return _write(platform, match, decide, claim)


def play_on(
    platform: Platform,
    match: str,
    actor: str,
    choose: Choose,
    *,
    limit: int = LONGEST_LIST,
    expected: int | None = None,
    follow_up: bool = True,
) -> Played:
    """Let `choose` decide for a seat, by its view, its choices and what all have watched, as long as it is to act.

    At most `limit` actions, all in one append.

    For seats without a player: the run is written whatever its dice give, so nothing is learnt that is not also done. `follow_up` tells
    the queue of what is owed next. Raises what `play` raises.
    """

    def decide(held: Cached) -> list[Made]:
        position = held.position
        _may_act(position, actor, None)
        if expected is not None and expected != position.version:
            raise Stale(expected, position.version)
        game = recall.game_of(platform, position.game)
        made: list[Made] = []
        if actor not in position.to_act:
            raise Refused(no("not_your_turn", actor=actor, to_act=" and ".join(position.to_act)))
        while len(made) < limit and actor in position.to_act:
            view = game.view(position.document, SPECTATOR if actor == SYSTEM else actor)
            action = choose(view, legal(game, position.document, actor), position.memory)
            one, _ = _decided(game, held, position, actor, action, None)
            made.append(one)
            position = one.position
        return made

    return _write(platform, match, decide, lambda position: None, follow_up)


def _write(
    platform: Platform,
    match: str,
    decide: Callable[[Cached], list[Made]],
    claim_of: Callable[[Position], Claim | None],
    follow_up: bool = True,
) -> Played:
    """Decide on what is known, and append it; where the match has moved on, learn what is new and decide again."""
    held = recall.hold(platform, match)
    for _ in range(_ATTEMPTS):
        before = held.position
        claim = claim_of(before)
        try:
            made = decide(held)
        except (Refused, PlatformError) as refusal:
            # What is in memory may be behind, and this may be a request that was carried out and whose answer was lost.
            since = platform.store.since(match, before.version, claim.name if claim else "", before.digest)
            if since.known is not None:
                return _repeat(platform, held, claim, since.known)
            if since.head == before.version:
                metrics.refusals.labels(before.game, refusal.code).inc()
                raise
            held = recall.extend(platform, held, since.head, since.tail)
            continue
        after = made[-1].position
        answer = platform.store.append(match, before.version, [one.wire for one in made], _changes(before, made), claim, before.digest)
        if isinstance(answer, Appended):
            key = held.key if after.contributions is before.contributions else dice_key(held.secret, match, after.contributions)
            platform.cache.put(Cached(after, held.secret, key))
            _tell(platform, after, len(made), follow_up)
            return Played(before.version + 1, after.version, [one.entry for one in made], after, False)
        if isinstance(answer, Known):
            return _repeat(platform, held, claim, answer)
        metrics.conflicts.inc()
        held = recall.extend(platform, held, answer.head, answer.tail)
    raise Busy("Too many others are writing to this match; ask again.")


def _decided(game: Game, held: Cached, position: Position, actor: str, action: Any, asked: dict[str, str] | None) -> tuple[Made, bool]:
    """One action carried out with the dice of its version; and whether it drew chance or revealed anything. Raises Refused."""
    draws = Draws(held.key, position.version + 1)
    match = carry_out(game, position.document, actor, action, Drawn(draws.number))
    secret = held.secret.hex() if match.state["outcome"] is not None else None
    unsealed = _entry(position, actor, admit(game, action), match.events, game.revision, asked, secret)
    try:
        entry, wire = seal(position.digest, unsealed)
    except NotCanonical as reason:
        raise Refused(no("bad_action", reason=str(reason))) from None
    open_hand = draws.blocks > 0 or any(event["type"] in game.reveals for event in match.events)
    return Made(entry, wire, moved(position, entry, match.state, remembered(game, position.memory, match.events))), open_hand


def _unseen(platform: Platform, game: Game, position: Position, expected: int, actor: str) -> bool:
    """Whether all that came after `expected` was decided by others who were to act together with the actor, and is hidden from it: sealed
    bids, say. Nothing that the actor could have seen is then stale, and neither of two such requests need be sent again."""
    if not 1 <= expected < position.version <= expected + len(position.roster) or actor not in position.to_act:
        return False
    together = recall.state_at(platform, position.match, expected).to_act
    if actor not in together:
        return False
    entries = [parse(wire) for wire in platform.store.read(position.match, expected, position.version - expected)]
    return all(
        entry.actor in together and entry.actor != actor and any(game.shown(event, actor) != event for event in entry.events)
        for entry in entries
    )


def _entry(
    before: Position,
    actor: str,
    action: Action,
    events: list[Event],
    rules: int,
    asked: dict[str, str] | None,
    secret: str | None = None,
) -> Entry:
    """The entry after a position, not yet sealed. Time never runs backwards within a match, whatever the clocks say."""
    return Entry(before.match, before.version + 1, actor, action, events, rules, max(_now(), before.at), asked, "", secret)


def _changes(before: Position, made: list[Made]) -> Changes:
    """All that an append changes beside the stream, with the snapshot that may be due."""
    after = made[-1].position
    changed = changes(before, after)
    version = due(before.version, after.version)
    if version is None:
        return changed
    return changed._replace(snapshot=(version, pack(made[version - before.version - 1].position), replaced(version)))


def _tell(platform: Platform, after: Position, number: int, follow_up: bool = True) -> None:
    metrics.appends.labels(after.game).inc(number)
    step = owed(after) if follow_up else None
    if step is not None:
        platform.jobs.enqueue(step)


def _repeat(platform: Platform, held: Cached, claim: Claim | None, known: Known) -> Played:
    """What came of a request that has been carried out before. Raises Reused if it was another one."""
    if claim is None or known.fingerprint != claim.fingerprint:
        raise Reused()
    metrics.repeats.inc()
    match = held.position.match
    return Played(known.first, known.last, [parse(wire) for wire in known.entries], recall.state_at(platform, match, known.last), True)


def _may_act(position: Position, actor: str, player: str | None) -> None:
    """Guard who speaks for an actor. Raises NoSeat, NotSeated, NotStarted."""
    if player is not None and _held_by(position, actor).get("player") != player:
        raise NotSeated(f"The seat {actor} is not yours.")
    if position.status == "open":
        raise NotStarted("A seat of this match is still free.")


def _held_by(position: Position, seat: str) -> dict[str, Any]:
    holder = position.roster.get(seat)
    if holder is None:
        raise NoSeat(f"This match has no seat {seat!r}; its seats are {', '.join(position.document['seats'])}.")
    return holder


def holder(seat: str, said: str, player: str) -> dict[str, Any]:
    """Who holds a seat that was asked for as `said`. Raises BadSeats."""
    if said == "me":
        return {"player": player}
    if said == "open":
        return {"open": True}
    kind, _, level = said.partition(":")
    if kind != "ai" or level not in LEVELS:
        raise BadSeats(f'The seat {seat} can be "me", "open", or one of {", ".join(f"ai:{level}" for level in LEVELS)}; not {said!r}.')
    return {"ai": level}


def _claim(owner: str, asked: dict[str, str] | None) -> Claim | None:
    return None if asked is None else Claim(f"{owner}/{asked['id']}", asked["fingerprint"])


def _fingerprint(who: str, what: Any) -> str:
    """What tells two requests apart, in 128 bits. What is asked for can be any JSON, be it legal or not."""
    try:
        told = orjson.dumps([who, what], option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a number beyond 64 bits, or half a character
        told = json.dumps([who, what], sort_keys=True).encode()
    return sha256(told).hexdigest()[:32]


def _whole(value: Any) -> Any:
    """JSON with 2 for 2.0: the same number, and the one that is kept."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value


def _keepable(*values: Any) -> None:
    """Guard what goes into the first entry. Raises Refused `bad_options`."""
    try:
        canonical(values)
    except NotCanonical as reason:
        raise Refused(no("bad_options", reason=str(reason))) from None


def _match_id(player: str, request: str | None) -> str:
    """A new id; for a request of a player always the same."""
    bits = secrets.token_bytes(10) if request is None else sha256(f"{player}/{request}".encode()).digest()[:10]
    return "m" + base64.b32encode(bits).decode().lower()


def _now() -> int:
    return time.time_ns() // 1_000_000
