"""data.json as typed constants. No other module opens the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
_DATA: dict[str, Any] = json.loads((FOLDER / "data.json").read_text(encoding="utf-8"))
SECOND_MS = 1000
HOUR_MS = 3_600_000
DAY_MS = 86_400_000

Bounds = tuple[int, int]
"""The least and the most that a setting may be."""


class Level(NamedTuple):
    """A level of play as people read of it: its name, and how it plays in a sentence or two."""

    name: str
    about: str


def _bounds(row: Mapping[str, int]) -> Bounds:
    return row["least"], row["most"]


LONGEST_MATCH_NAME: int = _DATA["labels"]["name"]
MOST_TAGS: int = _DATA["labels"]["tags"]
MOST_BYTES: int = _DATA["contribution_bytes"]["most"]
MOST_DEPARTURES: int = _DATA["departures"]["most"]
OPEN_MS: int = _DATA["unstarted_days"]["open"] * DAY_MS
CLOSED_MS: int = _DATA["unstarted_days"]["closed"] * DAY_MS
LEVELS: Mapping[str, Level] = {level: Level(row["name"], row["about"]) for level, row in _DATA["levels"].items()}
"""The levels of play that an AI seat may have (TBL-CRE-03). `players` has the function behind each."""
SEARCHING: Mapping[str, tuple[int, float]] = {
    level: (row["seconds"], row["pace"]) for level, row in _DATA["levels"].items() if "seconds" in row
}
"""The levels that search, each with the seconds that it may take for a decision. The others decide at once."""

SECONDS = _bounds(_DATA["clock"]["seconds"])
HOURS = _bounds(_DATA["clock"]["hours"])
INCREMENT = _bounds(_DATA["clock"]["increment"])
DELAY = _bounds(_DATA["clock"]["delay"])
VACATION_DAYS = _bounds(_DATA["clock"]["vacation_days"])
CLAIM_DAYS = _bounds(_DATA["clock"]["claim_days"])
USUAL_HOURS: int = _DATA["clock"]["usual_hours"]
RETURNING_MS: int = _DATA["clock"]["returning_seconds"] * SECOND_MS

POLICY: str = _DATA["time_out"]["policy"]
LEVEL: str = _DATA["time_out"]["level"]
IN_A_ROW = _bounds(_DATA["time_out"]["in_a_row"])
USUAL_IN_A_ROW: int = _DATA["time_out"]["in_a_row"]["default"]
THEN: str = _DATA["time_out"]["then"]
SPECTATORS_DELAY = _bounds(_DATA["spectators"]["delay"])

MOST_OFFERS: int = _DATA["offers"]["most"]
PAUSE_HOURS = _bounds(_DATA["pause"]["hours"])
USUAL_PAUSE_HOURS: int = _DATA["pause"]["hours"]["default"]
NOTICE_MS: int = _DATA["pause"]["notice_hours"] * HOUR_MS
VOTE_MS: int = _DATA["days"]["vote"] * DAY_MS
ABANDONMENT_DAYS: int = _DATA["days"]["abandonment"]
ABANDONMENT_MS = ABANDONMENT_DAYS * DAY_MS

MOST_DISPUTES: int = _DATA["disputes"]["most_of_seat"]
WAIT_DAYS = _bounds(_DATA["disputes"]["wait_days"])
USUAL_WAIT_DAYS: int = _DATA["disputes"]["wait_days"]["default"]
LONGEST_TEXT: int = _DATA["disputes"]["text"]
DISPUTABLE_MS: int = _DATA["disputes"]["after_the_end_days"] * DAY_MS
APPEAL_MS: int = _DATA["disputes"]["appeal_days"] * DAY_MS
ESCALATION_MS: int = _DATA["disputes"]["escalation_days"] * DAY_MS
LAPSE_MS: int = _DATA["disputes"]["lapse_days"] * DAY_MS
