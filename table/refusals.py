"""Refusals of the table. Each code stands here once, with its status, its title and its sentence.

The rule that refuses is named where it is judged (`no(code, rule, …)`), since one code may serve several rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any, NamedTuple


class Kind(NamedTuple):
    """One kind of failure: its HTTP status, a short title, and a sentence with the facts of the case in braces."""

    status: int
    title: str
    detail: str


REFUSALS: Mapping[str, Kind] = {
    "already_created": Kind(409, "Already created", "The match exists already."),
    "bad_seats": Kind(
        422,
        "Wrong seats",
        "The seat {seat} can be requested as `me`, `open`, `ai:<level>` or `player:<id>`, not as {request!r}.",
    ),
    "bad_order": Kind(422, "Wrong order", "The order must name each seat of the match once: {seats}."),
    "origin_not_over": Kind(409, "Not over", "The match {match} is not over. Only a match that is over can be forked."),
    "nothing_to_play": Kind(409, "Nothing to play", "At version {version} that match was over, so nothing can be played from there."),
    "other_seats": Kind(422, "Other seats", "A fork has the seats of the match that it begins from: {seats}."),
    "no_such_seat": Kind(404, "No such seat", "The match has no seat {seat!r}. Its seats are {seats}."),
    "seat_taken": Kind(409, "Seat taken", "The seat {seat} is taken."),
    "not_your_seat": Kind(403, "Not your seat", "The seat {seat} is not yours."),
    "not_invited": Kind(403, "Not invited", "The seat {seat} is not kept for you."),
    "wrong_code": Kind(403, "Wrong code", "This match asks for a code, and you gave none or another one. Its creator has it."),
    "left_too_often": Kind(409, "Left too often", "You have left {limit} seats of this match, so you can take no more of it."),
    "one_seat_each": Kind(409, "One seat each", "The player {player} has another seat of this match. Only practice allows that."),
    "match_rated": Kind(409, "Rated", "This match is rated. Nothing is taken back in it, and no seat is handed over."),
    "dice_known": Kind(409, "Dice known", "Everybody knows the dice of this match, so nobody else takes a seat of it."),
    "already_started": Kind(409, "Already started", "The match has started. Seats can be left, and the match closed, before that only."),
    "not_creator": Kind(403, "Not the creator", "Only the creator of the match may close it."),
    "match_closed": Kind(409, "Match closed", "The match was closed before it began."),
    "bad_settings": Kind(422, "Wrong settings", "The setting {setting} is not possible: {reason}."),
    "not_started": Kind(409, "Not started", "A seat of this match is still open."),
    "not_in_play": Kind(409, "Out of play", "The seat {seat} is out of play."),
    "match_paused": Kind(409, "Paused", "The match is paused. Nobody can act in it until it goes on."),
    "time_is_up": Kind(409, "Time is up", "The time of the seat {seat} had run out when this was received."),
    "signature_needed": Kind(
        403, "Signature needed", "In this match people sign what they do. Send the signature of {actor} in the header Warledger-Signature."
    ),
    "substituted": Kind(409, "Substituted", "An artificial player plays the seat {seat}. Send `return` first to take it back."),
    "not_substituted": Kind(409, "Not substituted", "No artificial player plays the seat {seat}. It is yours to play."),
    "substitute_stays": Kind(409, "Substitute stays", "The substitute plays the seat {seat} until {until}."),
    "not_late": Kind(409, "Not late", "The time of the seat {seat} has not run out."),
    "not_due": Kind(409, "Not due", "It is too early for this, there is nothing to end, or something else comes first."),
    "nothing_to_return": Kind(
        409,
        "Nothing to return",
        "The time from {start} to {end} cannot be given back: no clock runs, it is not over, or it is before {returned}.",
    ),
    "no_vote": Kind(409, "No vote", "There is no vote about the seat {seat} in which you have a voice."),
    "already_offered": Kind(409, "Already offered", "The seat {seat} has offered this ({what}) already. Accept it, or decline it first."),
    "no_offer": Kind(409, "No such offer", "There is no offer ({what}) that you could answer like this."),
    "too_many_offers": Kind(409, "Too many offers", "The seat has made {limit} offers in this match, so it can make no more."),
    "ai_declines": Kind(409, "No draw", "Artificial players never agree to a draw: {seats}."),
    "nobody_to_agree": Kind(409, "Nobody to agree", "There is no other player who could agree to this ({what})."),
    "player_away": Kind(409, "Player away", "A substitute plays for a player who is away and would have to agree: {seats}."),
    "vote_open": Kind(409, "Vote open", "There is a vote about a seat whose time has run out. The match can be paused after it."),
    "not_paused": Kind(409, "Not paused", "The match is not paused."),
    "cannot_take_back": Kind(
        409,
        "Cannot be taken back",
        "The match cannot go back to version {version}, only to one before now and not before {first}: what was learned from a die, or "
        "when something hidden was shown, cannot be taken back.",
    ),
    "offered_already": Kind(
        409,
        "Nothing changes",
        "This changes nothing: the seat {seat} is offered like that already, or the player has it.",
    ),
    "not_offered": Kind(403, "Not offered", "The seat {seat} is not offered to you."),
    "was_shown": Kind(403, "You saw too much", "You were shown of this match what its seats may not see, so you cannot take over {seat}."),
    "not_over": Kind(409, "Not over", "The match is not over. A rematch can be asked for when it is."),
    "match_disputed": Kind(409, "Disputed", "The match is frozen until a dispute about it is settled."),
    "no_such_past": Kind(409, "No such version", "The match has the versions 1 to {last}, so version {version} cannot be disputed."),
    "too_late": Kind(409, "Too late", "It is too late for this: the time for it ended at {until}."),
    "already_disputed": Kind(409, "Disputed already", "The seat {seat} has a dispute that is not settled."),
    "too_many_disputes": Kind(
        409, "Too many disputes", "The seat {seat} has raised {limit} disputes in this match, so it can raise no more."
    ),
    "no_dispute": Kind(409, "No such dispute", "There is no dispute {dispute} for which you could do this now."),
    "already_stated": Kind(409, "Stated already", "The seat {seat} has stated its side of this dispute."),
    "not_a_referee": Kind(403, "Not a referee", "Only a referee may rule on a dispute."),
    "is_party": Kind(403, "Party", "You have or had a seat in this match, so another referee must rule."),
    "same_referee": Kind(403, "Same referee", "You have ruled on this dispute, so another referee must rule on the appeal."),
    "needs_admin": Kind(403, "Admin needed", "No referee has answered this dispute in time. Now only an admin may rule."),
    "case_taken": Kind(409, "Taken already", "A referee has taken the dispute {dispute} already. You may rule on it all the same."),
    "bad_remedy": Kind(422, "Wrong remedy", "This remedy is not possible: {reason}."),
    "not_continued": Kind(409, "Not continued", "No ruling has another match go on from this one, or this has been done."),
    "already_voted": Kind(409, "Already voted", "You have voted about the seat {seat} already."),
}


def codes_in(judge: Callable[..., Any]) -> frozenset[str]:
    """Return the codes with which a function of the table may refuse: those in its code, and in that of the functions that it calls."""
    found: set[str] = set()
    known: set[object] = set()
    waiting: list[Any] = [judge]
    while waiting:
        function = waiting.pop()
        if not isinstance(function, FunctionType) or not function.__module__.startswith(_HERE) or function in known:
            continue
        known.add(function)
        for part in _parts(function.__code__):
            found |= REFUSALS.keys() & {constant for constant in part.co_consts if isinstance(constant, str)}
            for name in part.co_names:
                called = function.__globals__.get(name)
                waiting += called.values() if isinstance(called, dict) else (called,)
    return frozenset(found)


_HERE = f"{__package__}."


def _parts(code: CodeType) -> Iterator[CodeType]:
    """Yield a piece of code, and each lambda and comprehension inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)
