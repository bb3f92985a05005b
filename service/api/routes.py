"""The operations of the service, in the order of openapi.yaml."""

from __future__ import annotations

from service.api import (
    audits,
    beside,
    catalogue,
    disputes,
    dossiers,
    entries,
    frames,
    health,
    ledger,
    matches,
    player_keys,
    player_stream,
    players,
    playing,
    receipts,
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
    *ledger.MATCH_OPERATIONS,
    *ledger.OPERATIONS,
    *beside.OPERATIONS,
    *catalogue.SERVER_OPERATIONS,
    *receipts.SERVER_OPERATIONS,
    *health.OPERATIONS,
)
