"""The levels of play that an AI seat may have; workers/search.py has the function behind each name."""

from __future__ import annotations

from collections.abc import Mapping

LEVELS: Mapping[str, str] = {
    "random": "Chooses evenly among the listed choices.",
    "greedy": "Tries every choice on a guess of what it cannot see, and takes the one that is worth most at once.",
}
