"""Ratings: how strong players are, computed from the results of matches. The arena, the service and everybody with the files use this.

The model is Plackett-Luce (Weng and Lin 2011) as openskill has it. A rating is a mean and a deviation on the scale of Elo: with two seats,
400 points more are ten victories for each defeat. The 95 % interval is the mean plus and minus 1.96 deviations.

Results count one after the other, so their order matters. Those of a service are in the order of `Result.order`: by the moment when the
match was over, then by the id of the match.

>>> from record.example import ADA, POSITIONS
>>> result = result_of(POSITIONS[-1])
>>> result.places == {ADA: 2, "ai:greedy": 1}, result.rated
(True, False)
>>> [(who, rating.points, rating.deviation, rating.won) for who, rating in ratings([result]).items()]
[('ai:greedy', 1578, 238, 1), ('paaaaaaaaaaaaaaaa', 1422, 238, 0)]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from openskill.models import PlackettLuce

from record.positions import Position
from table.results import places_of
from table.state import AI

MEAN = 1500.0
BETA = 400 / math.log(10) / math.sqrt(2)  # so that differences between two seats are those of Elo
DEVIATION = 2 * BETA  # of a player without matches
DRIFT = DEVIATION / 100  # how far a player's strength moves between two matches
STEADY = 0.0  # the drift of programs, which do not change within an arena
Z = 1.959964


class Result(NamedTuple):
    """The result of a match that is over. `at`: when it was over, in milliseconds since 1970. `digest`: that of its last entry.

    `places`: the place of each player from 1 on, several may share one. Players are ids, or `ai:` and a level. It is empty if the match
    does not count. `rated`: whether the match counts for the ratings of a service.
    """

    match: str
    game: str
    at: int
    digest: str
    rated: bool
    places: Mapping[str, int]

    @property
    def order(self) -> tuple[int, str]:
        """What the results of a service are ordered by."""
        return self.at, self.match


class Rating(NamedTuple):
    """The rating of a player, after some matches. `mean` and `sigma` are those of the model."""

    mean: float = MEAN
    sigma: float = DEVIATION
    matches: int = 0
    won: int = 0

    @property
    def points(self) -> int:
        """The mean as a whole number. The last digits of a fraction differ between machines; these do not."""
        return round(self.mean)

    @property
    def deviation(self) -> int:
        """The deviation as a whole number."""
        return round(self.sigma)

    @property
    def low(self) -> int:
        """The lower end of the 95 % interval. Lists are in its order, so that nobody leads by one lucky match."""
        return round(self.mean - Z * self.sigma)

    @property
    def high(self) -> int:
        """The upper end of the 95 % interval."""
        return round(self.mean + Z * self.sigma)

    def as_json(self) -> dict[str, int]:
        """Return the rating as answers and tables have it.

        >>> Rating().as_json()
        {'rating': 1500, 'low': 1018, 'high': 1982, 'matches': 0, 'won': 0}
        """
        return {"rating": self.points, "low": self.low, "high": self.high, "matches": self.matches, "won": self.won}


def result_of(position: Position) -> Result | None:
    """Return the result at the newest position of a match, or None if the match goes on or is not open to everybody yet.

    >>> from record.example import POSITIONS
    >>> result_of(POSITIONS[2]) is None
    True
    """
    outcome = position.document["outcome"]
    if outcome is None or not position.ended:
        return None
    assert position.finished is not None, "a match with an outcome is over"
    roster = position.roster
    places: dict[str, int] = {}
    for seat, place in places_of(position.table, outcome).items():
        who = roster[seat].get("player") or AI + roster[seat]["ai"]
        places[who] = min(place, places.get(who, place))
    rated = position.table["rated"]
    return Result(position.match, position.game, position.finished, position.digest, rated, places if len(places) > 1 else {})


def after(known: Mapping[str, Rating], result: Result, drift: float = DRIFT) -> dict[str, Rating]:
    """Return the ratings of the players of a result after it. `known`: those before; who is not there has no matches yet."""
    if not result.places:
        return {}
    model = PlackettLuce(mu=MEAN, sigma=DEVIATION, beta=BETA, tau=drift)
    players = sorted(result.places)  # the order counts for nothing but the last digits
    decided = len(set(result.places.values())) > 1  # or it was a draw
    before = [known.get(player, Rating()) for player in players]
    teams = [[model.create_rating([rating.mean, rating.sigma])] for rating in before]
    rated = model.rate(teams, ranks=[float(result.places[player]) for player in players])
    return {
        player: Rating(new.mu, new.sigma, old.matches + 1, old.won + (decided and result.places[player] == 1))
        for player, old, (new,) in zip(players, before, rated, strict=True)
    }


def ratings(results: Iterable[Result], drift: float = DRIFT) -> dict[str, Rating]:
    """Return the ratings after results, which are in their order."""
    found: dict[str, Rating] = {}
    for result in results:
        found |= after(found, result, drift)
    return found
