"""Viewing: a caller follows a match as a viewer. Whether the caller still may is judged anew at each look."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from events import recall
from games.kernel import Game
from record.positions import Position
from service import sight
from service.api.operations import Call
from service.context import Service
from service.http.following import Round
from service.http.keys import Caller
from table.state import delay


class Viewing(NamedTuple):
    """A caller who follows a match. `hides`: whether play is hidden from spectators of this match.

    It keeps nothing else of the request, and nothing of the position at which it began: both are large, and a stream is long.
    """

    service: Service
    game: Game
    match: str
    viewer: str
    proof: bool
    hides: bool
    header: str | None

    def caller(self, round: Round) -> Caller | None:
        """Return the caller as of now, or None if the key is not valid any more."""
        return round.look(partial(self.service.keys.renewed, self.header))

    def newest(self, round: Round, least: int = 0) -> Position:
        """Return the position of the match, at a version of at least `least`."""
        look = partial(recall.position, self.service.platform, self.match)
        return round.share(("position", self.match), look, lambda found: found.version >= least)

    def horizon(self, round: Round, caller: Caller | None, least: int = 0) -> int:
        """Return the newest version that the caller may see (sight.horizon). Versions up to `least` have been read."""
        return sight.horizon(caller, partial(self.newest, round, least), self.viewer, self.hides)

    def may_be_new(self, round: Round, after: int) -> bool:
        """Return False if the caller may see no version after one, so that none needs to be read."""
        return not self.hides or self.horizon(round, self.caller(round)) > after


def viewing(service: Service, call: Call, newest: Position, viewer: str) -> Viewing:
    """Return the sender of a request as a viewer of a match. `newest`: its newest position."""
    game, hides = recall.rules_of(service.platform, newest), delay(newest.table) != 0
    return Viewing(service, game, newest.match, viewer, call.query["proof"], hides, call.header("Authorization"))


def plays(newest: Position, caller: Caller) -> bool:
    """Return True if a caller has a seat in a match that goes on. `newest`: its newest position."""
    return caller.id is not None and not newest.ended and bool(newest.seats_of(caller.id))
