"""Every event of the game: how it changes the document, and its fields. Each is beside the rules that emit it (CONTRACT section 6)."""

from __future__ import annotations

from collections.abc import Mapping

from games.kernel import Fact
from games.schema import Fields
from games.war_of_the_worlds import actions, buildings, buying, civilians, figures, flow, outcome, setup, sites
from games.war_of_the_worlds.strike import damage

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    **flow.FACTS,
    **setup.FACTS,
    **actions.FACTS,
    **damage.FACTS,
    **figures.FACTS,
    **civilians.FACTS,
    **sites.FACTS,
    **buildings.FACTS,
    **outcome.FACTS,
    **buying.FACTS,
}
