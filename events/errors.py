"""The errors of the platform, except refusals by rules. Each has a stable code and a sentence. An error changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from table.refusals import REFUSALS, Kind

ERRORS: Mapping[str, Kind] = {
    "bad_list": Kind(400, "Wrong list", "The list of actions is wrong: {reason}."),
    "bad_query": Kind(400, "Wrong query", "The query does not match its schema: {reason}."),
    "bad_key": Kind(401, "Unknown key", "No player has this key."),
    "scope_needed": Kind(403, "Scope needed", "This key does not have the scope {scope}."),
    "no_such_game": Kind(404, "No such game", "There is no game {game!r}. The games are {games}."),
    "no_such_key": Kind(404, "No such key", "The player has no key with this id."),
    "no_such_match": Kind(404, "No such match", "There is no match {match}."),
    "no_such_player": Kind(404, "No such player", "There is no player {player}."),
    "no_such_version": Kind(404, "No such version", "The match has the versions 1 to {last}. There is no version {version}."),
    "not_in_log": Kind(404, "Not in the log", "The log does not have this: {reason}."),
    "still_seated": Kind(
        409, "Still seated", "You have seats in more than {limit} matches that have not started; {limit} of them were left. Ask again."
    ),
    "too_many_keys": Kind(409, "Too many keys", "A player has at most {limit} keys. Revoke one first."),
    "stale": Kind(412, "Stale", "The match is at version {version}, not {expected}."),
    "must_be_last": Kind(
        422,
        "Must be last",
        "Action {number} of the list draws chance or reveals something, so nothing can follow it in the same request.",
    ),
    "request_reused": Kind(422, "Idempotency key reused", "This Idempotency-Key was used before for another request."),
    "broken": Kind(500, "Broken", "Something went wrong in the server. It has been logged."),
    "store_refused": Kind(500, "Store error", "The store refused a command. It has been logged."),
    "busy": Kind(503, "Busy", "Too many requests of this kind are being answered now. Try again."),
    "rules_missing": Kind(
        503,
        "Rules missing",
        "The match is played by revision {revision} of the rules of {game}, which this server does not have. No others decide it.",
    ),
    "secret_lost": Kind(503, "Secret lost", "The secret of the match {match} is missing from the store, so the match cannot go on."),
    "store_away": Kind(503, "Store unavailable", "The store cannot be reached now. Try again."),
}


class PlatformError(Exception):
    """The platform did not carry out a request. `code`: a key of ERRORS or REFUSALS. `facts`: the values for its sentence."""

    code = "broken"

    def __init__(self, **facts: Any) -> None:
        self.facts = facts
        super().__init__((ERRORS.get(self.code) or REFUSALS[self.code]).detail.format_map(facts))


class StoreUnavailable(PlatformError):
    """The store does not answer, or cannot write. It is unknown whether the last append was carried out. Repeat the request to find out."""

    code = "store_away"

    def __init__(self, reason: str = "") -> None:
        super().__init__()
        self.reason = reason


class StoreRefused(PlatformError):
    """The store answered a command with an error. Its rights, a type or its version are not what this program expects."""

    code = "store_refused"

    def __init__(self, reason: str = "") -> None:
        super().__init__()
        self.reason = reason


class NoMatch(PlatformError):
    """There is no match with that id."""

    code = "no_such_match"


class NotInLog(PlatformError):
    """The server's log does not have this, or not yet. `reason`: the end of a sentence."""

    code = "not_in_log"


class NoSuchPlayer(PlatformError):
    """There is no player with that id."""

    code = "no_such_player"


class NoSuchKey(PlatformError):
    """The player has no key with that id."""

    code = "no_such_key"


class KeyRevoked(PlatformError):
    """The key of the request is no longer valid."""

    code = "bad_key"


class ScopeNeeded(PlatformError):
    """The key of the request lacks a required scope."""

    code = "scope_needed"


class TooManyKeys(PlatformError):
    """The player has the maximum number of keys."""

    code = "too_many_keys"


class StillSeated(PlatformError):
    """The player has too many seats in matches that have not started to leave all of them in one request."""

    code = "still_seated"


class SecretLost(PlatformError):
    """The secret of an unfinished match is missing from the store, or does not match the commitment of the match."""

    code = "secret_lost"


class RulesMissing(PlatformError):
    """This program does not have the rules that a match began with. No other rules may decide or show it."""

    code = "rules_missing"


class NoVersion(PlatformError):
    """The match has no such version yet. It has the versions 1 to `last`."""

    code = "no_such_version"


class NoGame(PlatformError):
    """There is no game with that id. `games`: the ids that exist."""

    code = "no_such_game"

    def __init__(self, game: str, games: Iterable[str]) -> None:
        super().__init__(game=game, games=", ".join(sorted(games)))


class NoSeat(PlatformError):
    """The match has no seat with that name. `seats`: its seats."""

    code = "no_such_seat"

    def __init__(self, seat: str, seats: Iterable[str]) -> None:
        super().__init__(seat=seat, seats=", ".join(sorted(seats)))


class NotSeated(PlatformError):
    """The player does not have the seat."""

    code = "not_your_seat"


class NotStarted(PlatformError):
    """A seat of the match is still free."""

    code = "not_started"


class MatchClosed(PlatformError):
    """The match was closed before it began."""

    code = "match_closed"


class BadList(PlatformError):
    """A list of actions is empty, too long, or has an action of the table among others. `reason`: the end of a sentence."""

    code = "bad_list"


class MustBeLast(PlatformError):
    """An action that draws chance or reveals something must be the last of its list. Otherwise a failing list would be a way to peek.

    `place`: its place in the list, from 0. `version`: the version of the match for which this was confirmed.
    """

    code = "must_be_last"
    version: int | None = None

    def __init__(self, place: int) -> None:
        super().__init__(number=place + 1)
        self.place = place


class Stale(PlatformError):
    """The match is not at the expected version. `version`: its version."""

    code = "stale"

    def __init__(self, expected: int, version: int) -> None:
        super().__init__(expected=expected, version=version)
        self.version = version


class Reused(PlatformError):
    """The id of a request was used before for another request."""

    code = "request_reused"


class BadCursor(PlatformError):
    """A cursor does not come from a page of this list."""

    code = "bad_query"

    def __init__(self, cursor: str) -> None:
        super().__init__(reason=f"{cursor!r} is not a cursor of this list")


class Busy(PlatformError):
    """Too many others write to the match, so this request did not get its turn."""

    code = "busy"
