"""What surrounds documents and events: an entry as each viewer may see it."""

from __future__ import annotations

from typing import Any

import pytest

from games.kernel import AUDITOR, SPECTATOR, Action, Event
from record.entries import FORMAT, Entry, prove
from service import sight
from tests.events.journaling import SEALING

SEAL: Action = {"type": "seal", "by": 2}
SEALED: Event = {"type": "sealed", "seat": "two", "by": 2}
BLIND = b"b" * 32


def entry(actor: str, action: Action, *events: Event, secret: str | None = None) -> Entry:
    return Entry("m" + "a" * 16, 3, actor, action, list(events), 1, "c" * 32, 1_000, None, "d" * 64, secret)


@pytest.mark.parametrize(
    ("viewer", "action", "event"),
    [
        ("two", SEAL, SEALED),
        (AUDITOR, SEAL, SEALED),
        *((viewer, {"type": "seal"}, {**SEALED, "by": None}) for viewer in ("one", SPECTATOR)),
    ],
)
def test_an_action_whose_events_hide_something_is_shown_to_its_actor_and_to_others_its_type(
    viewer: str, action: Action, event: Event
) -> None:
    assert sight.shown(SEALING, entry("two", SEAL, SEALED), viewer) == {
        "version": 3,
        "actor": "two",
        "action": action,
        "events": [event],
        "revision": 1,
        "at": 1_000,
        "digest": "d" * 64,
    }


@pytest.mark.parametrize(
    "done",
    [
        entry("two", SEAL, {"type": "called", "seat": "two"}),
        entry("two", {"type": "call"}, SEALED),
        entry("p" + "a" * 16, {"type": "take_seat", "seat": "two"}, SEALED),
    ],
    ids=["nothing is hidden", "an action without fields", "an action of the table"],
)
def test_other_actions_are_shown_whole(done: Entry) -> None:
    assert sight.shown(SEALING, done, "one")["action"] is done.action


def test_an_entry_is_shown_with_its_secret_and_with_a_proof_if_it_is_asked_for() -> None:
    done = entry("two", SEAL, SEALED, secret="5e" * 32)

    def prover(given: Entry, visible: dict[str, Any]) -> Any:
        return prove(given, visible, BLIND)

    shown = sight.shown(SEALING, done, "one", prover)
    assert shown["secret"] == "5e" * 32
    assert shown["proof"] == {"format": FORMAT, "rules": "c" * 32, **prove(done, shown, BLIND)._asdict()}
    assert list(shown["proof"]["action"]) == ["leaf"], "the action is not shown whole"
    assert list(sight.shown(SEALING, done, "two", prover)["proof"]["action"]) == ["salt"]
