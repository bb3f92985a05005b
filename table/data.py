"""data.json as typed constants. No other module opens the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
_DATA: dict[str, Any] = json.loads((FOLDER / "data.json").read_text(encoding="utf-8"))

LEAST_BYTES: int = _DATA["contribution_bytes"]["least"]
MOST_BYTES: int = _DATA["contribution_bytes"]["most"]
MOST_DEPARTURES: int = _DATA["departures"]["most"]
OPEN_MS: int = _DATA["unstarted_days"]["open"] * 86_400_000
CLOSED_MS: int = _DATA["unstarted_days"]["closed"] * 86_400_000
LEVELS: Mapping[str, str] = _DATA["levels"]
"""The levels of play that an AI seat may have, each with a description (TBL-CRE-03). `players` has the function behind each."""
