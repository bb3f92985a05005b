"""Every event of the game: how it changes the document, and its fields. Each is beside the rules that emit it (CONTRACT section 8)."""

from __future__ import annotations

from collections.abc import Mapping

from games.kernel import Fact
from games.schema import Fields
from games.pinned.war_of_civilizations.r3 import crystals, economy, effects, flow, movement, privateers, setup, upkeep
from games.pinned.war_of_civilizations.r3.battle import record

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    **setup.FACTS,
    **flow.FACTS,
    **economy.FACTS,
    **movement.FACTS,
    **crystals.FACTS,
    **effects.FACTS,
    **record.FACTS,
    **privateers.FACTS,
    **upkeep.FACTS,
}
