"""What the platform declines, apart from the rules of a game: each with a stable code and a sentence. Nothing has changed then."""

from __future__ import annotations


class PlatformError(Exception):
    """The platform does not do what was asked; `code` is stable, `sentence` is for people."""

    code = "declined"

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class NoMatch(PlatformError):
    """There is no match of that id."""

    code = "no_such_match"


class NoVersion(PlatformError):
    """The match has not come to that version."""

    code = "no_such_version"


class NoGame(PlatformError):
    """There is no game of that id."""

    code = "no_such_game"


class NoSeat(PlatformError):
    """The match has no seat of that name."""

    code = "no_such_seat"


class NotSeated(PlatformError):
    """The player does not hold the seat."""

    code = "not_your_seat"


class NotStarted(PlatformError):
    """A seat of the match is still free."""

    code = "not_started"


class SeatTaken(PlatformError):
    """Somebody holds the seat already."""

    code = "seat_taken"


class BadSeats(PlatformError):
    """The seats were not told as they must be."""

    code = "bad_seats"


class BadContribution(PlatformError):
    """A contribution to the dice is not 1 to 64 bytes in hex."""

    code = "bad_contribution"


class BadList(PlatformError):
    """A list of actions is empty or too long."""

    code = "bad_list"


class MustBeLast(PlatformError):
    """An action that draws chance or reveals something can only stand last in a list: all or none would be a way to peek."""

    code = "must_be_last"

    def __init__(self, place: int) -> None:
        super().__init__(f"Action {place + 1} of the list draws chance or reveals something, so nothing can follow it in the same request.")
        self.place = place


class Stale(PlatformError):
    """The match is not at the version that was expected; `version` says where it is."""

    code = "stale"

    def __init__(self, expected: int, version: int) -> None:
        super().__init__(f"The match is at version {version}, not {expected}.")
        self.version = version


class Reused(PlatformError):
    """The id of a request has been used before for another one."""

    code = "request_reused"

    def __init__(self) -> None:
        super().__init__("This request id was used before, for another request.")


class Busy(PlatformError):
    """So many others write to the match that this request did not get its turn."""

    code = "busy"
