"""The end of the match: when it is over, who has won, and why."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Own
from games.kernel import Event, Fact, Seat
from games.lifecycle import RESIGNED, SETUP
from games.schema import Fields, described, nullable, whole
from games.war_of_the_worlds.data import ALIENS, CIVILIANS, DAMAGE_TO_WIN, HUMANS
from games.war_of_the_worlds.document import Match, State
from games.war_of_the_worlds.state import BY_DAMAGE, BY_EXTINCTION, BY_ROUNDS, DAMAGE, LAND_REGION, SOURCE, civilians_left, round_limit


def scores(state: State) -> dict[Seat, int]:
    """Return the score of each seat: the missing civilians for the aliens, the damage for the humans; nothing before the set-up
    (WOW-END-06, WOW-LEA-03)."""
    if state["phase"] == SETUP:
        return dict.fromkeys(state["seats"], 0)
    return {ALIENS: CIVILIANS - civilians_left(state), HUMANS: state["damage"]}


def deal_damage(match: Match, amount: int, source: str, region: str | None) -> None:
    """Move the damage marker. It stops at the end of its track (WOW-ATK-03, WOW-ATK-04)."""
    total = min(DAMAGE_TO_WIN, match.state["damage"] + amount)
    match.emit("damage_changed", amount=amount, total=total, source=source, region=region)


def check_damage(match: Match) -> None:
    """End the match if the damage is at the end of its track: the humans win (WOW-END-01, WOW-END-03)."""
    if match.state["damage"] >= DAMAGE_TO_WIN:
        _end(match, HUMANS, BY_DAMAGE)


def check_extinction(match: Match) -> None:
    """End the match if no civilian is left: the aliens win. Call this only where civilians were destroyed (WOW-END-02, WOW-END-03,
    WOW-END-05)."""
    if not civilians_left(match.state):
        _end(match, ALIENS, BY_EXTINCTION)


def ends_by_rounds(state: State) -> bool:
    """Return True if this round is the last one (WOW-END-06, WOW-OPT-03)."""
    return state["round"] >= round_limit(state)


def end_by_rounds(match: Match) -> None:
    """End the match for the higher score. If the scores are equal the humans win (WOW-END-06)."""
    points = scores(match.state)
    _end(match, ALIENS if points[ALIENS] > points[HUMANS] else HUMANS, BY_ROUNDS)


def end_by_leaving(match: Match, winner: Seat) -> None:
    """End the match for the seat that is left. Before the set-up nobody has a point (WOW-LEA-01, WOW-LEA-03)."""
    _end(match, winner, RESIGNED)


def is_over(match: Match) -> bool:
    """Return True if a seat has reached its goal. The rest of a card then does not happen (WOW-END-03)."""
    return match.state["outcome"] is not None


def _end(match: Match, winner: Seat, reason: str) -> None:
    match.emit("match_ended", winners=[winner], reason=reason, scores=scores(match.state))


# ---------------------------------------------------------------- facts


def damage_changed(state: State, event: Event, own: Own) -> None:
    """The damage marker moves. Nothing leaves the board (WOW-ATK-03)."""
    state["damage"] = event["total"]


FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "damage_changed": (
        damage_changed,
        {
            "amount": whole(about="what is added, or taken where negative"),
            "total": DAMAGE,
            "source": SOURCE,
            "region": nullable(described(LAND_REGION, "the region where it happened, or null")),
        },
    ),
}
