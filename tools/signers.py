"""Who signed the moves of a match, in sentences for people who read a verdict."""

from __future__ import annotations

from collections.abc import Sequence

from games.drawing import counted
from record.dossiers.signers import Signer
from tools import ages


def told(signers: Sequence[Signer]) -> list[str]:
    """Return a sentence for people about each signer. `signers`: in the order of their first entries.

    >>> ada = Signer("red", "paaaaaaaaaaaaaaaa", "A", [3, 5], 1_790_000_000_000)
    >>> for sentence in told([ada, ada._replace(key="B", versions=[7], late=True), ada._replace(actor="blue", registered=None)]):
    ...     print(sentence)
    2 moves of red (paaaaaaaaaaaaaaaa), signed by the key that this player registered on 2026-09-21
    1 move of red (paaaaaaaaaaaaaaaa) from version 7 on, signed by another key, registered on 2026-09-21, after the match began
    2 moves of blue (paaaaaaaaaaaaaaaa), signed by a key whose owner is not checked
    """
    found = []
    before: set[tuple[str, str]] = set()
    for signer in signers:
        who = signer.actor, signer.player
        moves = f"{counted(len(signer.versions), 'move', 'moves')} of {signer.actor}"
        if signer.actor != signer.player:
            moves += f" ({signer.player})"
        if who in before:
            moves += f" from version {signer.versions[0]} on"
        if signer.registered is None:
            key = "another key, whose owner is not checked" if who in before else "a key whose owner is not checked"
        else:
            key = "another key, registered on " if who in before else "the key that this player registered on "
            key += ages.day(signer.registered) + (", after the match began" if signer.late else "")
        revoked = "" if signer.revoked is None else f"; it was revoked on {ages.day(signer.revoked)}"
        found.append(f"{moves}, signed by {key}{revoked}")
        before.add(who)
    return found
