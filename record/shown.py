"""Redaction: an entry as one viewer may see it, with a proof that it belongs to the chain; and entries unseen by a seat."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from operator import is_not
from typing import Any

from games.kernel import Game, has_fields
from record.entries import FORMAT, Entry, Proof
from table import rules as table_rules
from table.rules import is_table_action

UNSEEN_OF_SEAT = 2
"""How many entries of each seat may come after the version that a seat has seen. More of them are not looked at."""

Prover = Callable[[Entry, dict[str, Any]], Proof]


def shown(game: Game, entry: Entry, viewer: str, prover: Prover | None = None) -> dict[str, Any]:
    """Return an entry as a viewer may see it, with its proof if a `prover` is given (docs/auditing.md).

    If an event hides something from the viewer, the action might reveal it. Then only its actor sees the whole action, and everybody else
    its type. An action that never has other fields is shown whole. Whoever sees the whole action sees its signature, too. To others it
    would confirm a guess of the action.

    >>> from games import GAMES
    >>> from record.example import ENTRIES
    >>> def deck(viewer):
    ...     built = next(event for event in shown(GAMES["war"], ENTRIES[1], viewer)["events"] if event["type"] == "deck_built")
    ...     return built["deck"]
    >>> type(deck("auditor")), type(deck("red"))
    (<class 'list'>, <class 'int'>)
    """
    events = [table_rules.shown(game, event, viewer) for event in entry.events]
    action = entry.action
    if viewer != entry.actor and any(map(is_not, events, entry.events)):
        reveals = table_rules.is_for_seats(action) if is_table_action(action) else has_fields(game, action["type"])
        if reveals:
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
    if entry.signed is not None and action is entry.action:
        visible["signed"] = entry.signed
    if prover is not None:
        visible["proof"] = {"format": FORMAT, "rules": entry.rules, **prover(entry, visible)._asdict()}
    return visible


def is_unseen(game: Game, together: Collection[str], entries: Iterable[Entry], actor: str) -> bool:
    """Return True if an actor could see nothing of these entries, which come after a version. `together`: who was to act at that version.

    Then others decided them who act at the same time as the actor, and they are hidden from it. Sealed bids are such actions. Time that is
    given back does not count either.
    """
    return actor in together and all(
        entry.action["type"] == "return_time"
        or (
            entry.actor in together
            and entry.actor != actor
            and any(table_rules.shown(game, event, actor) != event for event in entry.events)
        )
        for entry in entries
    )
