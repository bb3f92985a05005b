"""The operations of the service, in the order of openapi.yaml."""

from __future__ import annotations

from service.api import (
    audits,
    catalogue,
    disputes,
    dossiers,
    entries,
    frames,
    health,
    hooks,
    matches,
    player_keys,
    player_stream,
    players,
    playing,
    receipts,
    server_log,
    sidelog,
    streams,
    studies,
    tries,
    why,
)
from service.api.operations import Operation

OPERATIONS: tuple[Operation, ...] = (
    *players.OPERATIONS,
    *player_keys.OPERATIONS,
    *player_stream.OPERATIONS,
    *hooks.OPERATIONS,
    *catalogue.OPERATIONS,
    *matches.OPERATIONS,
    *playing.OPERATIONS,
    *tries.OPERATIONS,
    *studies.OPERATIONS,
    *disputes.OPERATIONS,
    *entries.OPERATIONS,
    *frames.OPERATIONS,
    *why.OPERATIONS,
    *streams.OPERATIONS,
    *receipts.OPERATIONS,
    *audits.OPERATIONS,
    *dossiers.OPERATIONS,
    *server_log.MATCH_OPERATIONS,
    *server_log.OPERATIONS,
    *sidelog.OPERATIONS,
    *catalogue.SERVER_OPERATIONS,
    *receipts.SERVER_OPERATIONS,
    *health.OPERATIONS,
)
