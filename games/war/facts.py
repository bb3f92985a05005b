"""Every event of the game: how it changes the document, and its fields. Each stands beside the rules that emit it."""

from __future__ import annotations

from collections.abc import Mapping

from games.kernel import Fact
from games.schema import Fields
from games.war import attacks, cards, draw, flow, moves, outcome, placement, setup

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    **setup.FACTS,
    **placement.FACTS,
    **flow.FACTS,
    **cards.FACTS,
    **moves.FACTS,
    **attacks.FACTS,
    **draw.FACTS,
    **outcome.FACTS,
}
