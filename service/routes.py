"""The operations of the service, in the order of openapi.yaml."""

from __future__ import annotations

from service import audits, catalogue, health, matches, pages, player_keys, player_stream, players, playing, streams
from service.operations import Operation

OPERATIONS: tuple[Operation, ...] = (
    *players.OPERATIONS,
    *player_keys.OPERATIONS,
    *player_stream.OPERATIONS,
    *catalogue.OPERATIONS,
    *matches.OPERATIONS,
    *playing.OPERATIONS,
    *pages.OPERATIONS,
    *streams.OPERATIONS,
    *audits.OPERATIONS,
    *catalogue.SERVER_OPERATIONS,
    *health.OPERATIONS,
)
