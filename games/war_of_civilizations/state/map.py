"""The map of a match: which locations there are, and which are adjacent."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

from games.war_of_civilizations.data import BESIDE, CENTRAL, CONTINENT, ISLE, LOCATIONS, NORTH
from games.war_of_civilizations.document import State

Links = tuple[tuple[str, ...], tuple[tuple[str, str], ...], tuple[str, ...]]
"""The variable parts of the map: the seats, the apex island next to each north island, and the covered islands."""


@lru_cache(maxsize=256)
def map_of(links: Links) -> dict[str, tuple[str, ...]]:
    """Return the locations adjacent to each location, by what of the map changes from match to match."""
    seats, attached, covered = links
    near: dict[str, tuple[str, ...]] = {
        place: () if place in covered else tuple(other for other in others if other not in covered) for place, others in BESIDE.items()
    }
    beside = dict(attached)
    for seat in seats:
        apex = beside.get(seat)
        if apex is not None and apex not in covered:
            near[NORTH[seat]] = (*near[NORTH[seat]], apex)
            near[apex] = (*near[apex], NORTH[seat])
    return near


def links_of(state: State) -> Links:
    """Return what of the map changes from match to match (WOC-MAP-09, WOC-MAP-10)."""
    return tuple(state["seats"]), tuple(state["attached"].items()), tuple(state["covered"])


def neighbours(state: State) -> Mapping[str, tuple[str, ...]]:
    """Return the locations adjacent to each location: as printed, without covered islands, and each north island next to one apex island
    (WOC-MAP-06, WOC-MAP-07, WOC-MAP-09, WOC-MAP-10)."""
    return map_of(links_of(state))


@lru_cache(maxsize=16)
def _in_play(seats: tuple[str, ...]) -> frozenset[str]:
    return CENTRAL | {location for location in LOCATIONS if CONTINENT[location] in seats}


def in_play(state: State) -> frozenset[str]:
    """Return the locations of the board: the centre and the continents of the clans in the match (WOC-MAP-01)."""
    return _in_play(tuple(state["seats"]))


def distances(near: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Return the steps on the map from the Isle to each location of the board. Ships in between do not count, nor do teleporters
    (WOC-RND-04)."""
    found, edge = {ISLE: 0}, [ISLE]
    for step in range(1, len(LOCATIONS)):
        edge = [other for here in edge for other in near[here] if other not in found]
        found.update(dict.fromkeys(edge, step))
    return found
