"""When the match is over, who has won and why."""

from __future__ import annotations

from games.kernel import Match, Seat, State
from games.war_of_the_worlds.data import ALIENS, CIVILIANS, DAMAGE_TO_WIN, HUMANS
from games.war_of_the_worlds.state import civilians_left, option


def scores(state: State) -> dict[Seat, int]:
    """The aliens count the civilians that are missing, the humans the damage (WOW-END-06)."""
    return {ALIENS: CIVILIANS - civilians_left(state), HUMANS: state["damage"]}


def deal_damage(match: Match, amount: int, source: str, region: str | None) -> None:
    """The humans' damage moves the marker, which stops at the end of its track (WOW-ATK-03, WOW-ATK-04)."""
    total = min(DAMAGE_TO_WIN, match.state["damage"] + amount)
    match.emit("damage_changed", amount=amount, total=total, source=source, region=region)


def check_damage(match: Match) -> None:
    """At the end of the damage track the humans win at once (WOW-END-01, WOW-END-03)."""
    if match.state["damage"] >= DAMAGE_TO_WIN:
        _end(match, HUMANS, "damage")


def destroy_civilians(match: Match, region: str, count: int) -> None:
    """Civilians leave the board; with the last one the aliens win at once, and only here is it looked at (WOW-END-02, WOW-END-03,
    WOW-END-05)."""
    match.emit("civilians_destroyed", region=region, count=count)
    if not civilians_left(match.state):
        _end(match, ALIENS, "extinction")


def ends_by_rounds(state: State) -> bool:
    """Whether the round that ends now is the last one (WOW-END-06, WOW-OPT-03)."""
    return bool(state["round"] >= option(state, "round_limit"))


def end_by_rounds(match: Match) -> None:
    """The higher score wins, and an equal one is a win for the humans (WOW-END-06)."""
    points = scores(match.state)
    _end(match, ALIENS if points[ALIENS] > points[HUMANS] else HUMANS, "round_limit")


def is_over(match: Match) -> bool:
    """Whether a goal has been reached: the rest of a card then does not happen (WOW-END-03)."""
    return match.state["outcome"] is not None


def _end(match: Match, winner: Seat, reason: str) -> None:
    match.emit("match_ended", winners=[winner], reason=reason, scores=scores(match.state))
