"""The errors of the platform, apart from refusals by rules. Each has a stable code and a sentence. After an error nothing has changed."""

from __future__ import annotations


class PlatformError(Exception):
    """The platform does not do what was asked. `code` is stable, `sentence` is for people."""

    code = "broken"

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class StoreUnavailable(PlatformError):
    """The store does not answer, or cannot write. Whether the last append was carried out is unknown; the same request again tells."""

    code = "store_away"

    def __init__(self, reason: str = "") -> None:
        super().__init__("The store cannot be reached just now. Try again.")
        self.reason = reason


class StoreRefused(PlatformError):
    """The store answered a command with an error: it has rights, a type or a version that this program does not expect."""

    code = "store_refused"

    def __init__(self, reason: str = "") -> None:
        super().__init__("The store refused a command. It has been logged.")
        self.reason = reason


class NoMatch(PlatformError):
    """There is no match with that id."""

    code = "no_such_match"


class NotInLedger(PlatformError):
    """The server's log does not have what was asked for, or not yet. The sentence says what."""

    code = "not_in_log"


class NoSuchPlayer(PlatformError):
    """There is no player with that id."""

    code = "no_such_player"

    def __init__(self, id: str | None = None) -> None:
        super().__init__("There is no player with this id." if id is None else f"There is no player {id}.")


class NoSuchKey(PlatformError):
    """The player has no key with that id."""

    code = "no_such_key"

    def __init__(self) -> None:
        super().__init__("The player has no key with this id.")


class KeyRevoked(PlatformError):
    """The key that asks is not valid any more."""

    code = "bad_key"

    def __init__(self) -> None:
        super().__init__("No player has this key.")


class ScopeNeeded(PlatformError):
    """The key that asks does not have a scope that is needed."""

    code = "scope_needed"

    def __init__(self, scope: str) -> None:
        super().__init__(f"This key does not have the scope {scope}.")


class TooManyKeys(PlatformError):
    """The player has as many keys as a player may have."""

    code = "too_many_keys"

    def __init__(self, most: int) -> None:
        super().__init__(f"A player has at most {most} keys. Revoke one first.")


class StillSeated(PlatformError):
    """The player has seats in too many matches that have not started to leave them all at once."""

    code = "still_seated"

    def __init__(self, limit: int) -> None:
        super().__init__(f"You have seats in more than {limit} matches that have not started; {limit} of them were left. Ask again.")


class SecretLost(PlatformError):
    """The secret of a match that goes on is not in the store, or is not the one that the match is committed to."""

    code = "secret_lost"

    def __init__(self, match: str) -> None:
        super().__init__(f"The secret of the match {match} is missing from the store, so the match cannot go on.")


class RulesMissing(PlatformError):
    """The rules that a match began with are not in this program. No other rules decide it, or show it."""

    code = "rules_missing"

    def __init__(self, game: str, revision: int) -> None:
        super().__init__(f"The match is played by revision {revision} of the rules of {game}, which this server does not have.")


class NoVersion(PlatformError):
    """The match has no such version yet."""

    code = "no_such_version"


class NoGame(PlatformError):
    """There is no game with that id."""

    code = "no_such_game"


class NoSeat(PlatformError):
    """The match has no seat with that name."""

    code = "no_such_seat"


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
    """A list of actions is empty, too long, or holds an action of the table beside others."""

    code = "bad_list"


class MustBeLast(PlatformError):
    """An action that draws chance or reveals something can only be the last of a list: lists that fail would be a way to peek.

    `version`: that of the match for which this was confirmed.
    """

    code = "must_be_last"
    version: int | None = None

    def __init__(self, place: int) -> None:
        super().__init__(f"Action {place + 1} of the list draws chance or reveals something, so nothing can follow it in the same request.")
        self.place = place


class Stale(PlatformError):
    """The match is not at the version that was expected; `version` is where it is."""

    code = "stale"

    def __init__(self, expected: int, version: int) -> None:
        super().__init__(f"The match is at version {version}, not {expected}.")
        self.version = version


class Reused(PlatformError):
    """The id of a request was used before for another request."""

    code = "request_reused"

    def __init__(self) -> None:
        super().__init__("This request id was used before, for another request.")


class BadCursor(PlatformError):
    """A cursor was not given by any page of the list."""

    code = "bad_query"


class Busy(PlatformError):
    """So many others write to the match that this request did not get its turn."""

    code = "busy"
