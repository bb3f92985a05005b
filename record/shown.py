"""Entries as their viewers may see them, with proofs that they belong to the chain (docs/auditing.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from games.kernel import Game, has_fields
from record.entries import FORMAT, Entry, Proof
from table import rules as table_rules
from table.rules import is_table_action

Prover = Callable[[Entry, dict[str, Any]], Proof]


def shown(game: Game, entry: Entry, viewer: str, prover: Prover | None = None) -> dict[str, Any]:
    """Return an entry as its viewer may see it, with its proof if a `prover` is given (docs/auditing.md).

    If an event hides something from the viewer, the action might reveal it. Then everybody but its actor sees only the action's type. An
    action that never has anything but its type is shown whole.
    """
    events = [table_rules.shown(game, event, viewer) for event in entry.events]
    action = entry.action
    redacted = any(seen is not event for seen, event in zip(events, entry.events, strict=True))
    reveals = table_rules.is_for_seats(action) if is_table_action(action) else has_fields(game, action["type"])
    if redacted and viewer != entry.actor and reveals:
        action = {"type": action["type"]}
    visible = {
        "version": entry.version,
        "actor": entry.actor,
        "action": action,
        "events": events,
        "revision": entry.revision,
        "at": entry.at,
        "digest": entry.digest,
    }
    if entry.secret is not None:
        visible["secret"] = entry.secret
    if prover is not None:
        visible["proof"] = {"format": FORMAT, "rules": entry.rules, **prover(entry, visible)._asdict()}
    return visible
