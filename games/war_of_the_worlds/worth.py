"""What a position is worth to a seat, for search."""

from __future__ import annotations

from games.kernel import Seat, State


def worth(state: State, seat: Seat) -> float:
    """To be."""
    return 0.0
