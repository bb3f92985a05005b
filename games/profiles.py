"""House profiles: options of a match under one name, in data.json of each game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Part(NamedTuple):
    """What a profile sets in matches of some numbers of seats."""

    seats: tuple[int, ...]
    options: Mapping[str, Any]


Profiles = Mapping[str, tuple[Part, ...]]


def read(profiles: Mapping[str, Sequence[Mapping[str, Any]]]) -> Profiles:
    """Return the profiles of a data.json: by name, the options for each number of seats.

    >>> read({"even": [{"seats": [2], "options": {"starting_cards": True}}]})
    {'even': (Part(seats=(2,), options={'starting_cards': True}),)}
    """
    return {name: tuple([Part(tuple(row["seats"]), row["options"]) for row in rows]) for name, rows in profiles.items()}
