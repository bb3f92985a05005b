"""Decide whether a witness cosigns a checkpoint: only if it continues the newest checkpoint of that log that the witness has cosigned.

The rules are those of c2sp.org/tlog-witness. The caller stores the newest checkpoint of each log, and makes check and store atomic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evidence import checkpoints, cosigning, tree
from evidence.checkpoints import Checkpoint
from evidence.notes import Malformed, Note, SigningKey, Unverified, VerifierKey, opened


class Answer(NamedTuple):
    """The answer to a request: its HTTP status and body, and the checkpoint to keep from now on, if it is cosigned.

    `fork`: this checkpoint and the kept one show that the log has two histories.
    """

    status: int
    body: str
    keep: Checkpoint | None = None
    fork: bool = False


def answer(body: str, logs: Mapping[str, Sequence[VerifierKey]], seen: Mapping[str, Checkpoint], key: SigningKey, seconds: int) -> Answer:
    """Return the answer of a witness to a request. `seconds`: the time, since 1970.

    `logs`: the keys of each log that the witness knows, by origin. `seen`: the newest checkpoint that it cosigned, by origin.
    """
    try:
        request = cosigning.parse_request(body)
        found, note = checkpoints.of_note(request.note)
    except Malformed as reason:
        return Answer(400, f"{reason}\n")
    if found.origin not in logs:
        return Answer(404, "This witness does not know the log.\n")
    if not is_signed(note, logs[found.origin]):
        return Answer(403, "The checkpoint is not signed by a key of the log.\n")
    if request.old > found.size:
        return Answer(400, "The old size is larger than the checkpoint.\n")
    last = seen.get(found.origin, Checkpoint(found.origin, 0, tree.EMPTY))
    if request.old != last.size:
        return Answer(409, f"{last.size}\n")
    if found.size == last.size and found.root != last.root:
        return Answer(409, f"{last.size}\n", fork=True)
    if found.size == 0 and found.root != tree.EMPTY:
        return Answer(422, "The root is not that of the empty tree.\n")
    if (request.old == 0 and request.path) or not tree.is_consistent(last.size, last.root, found.size, found.root, request.path):
        return Answer(422, "The proof of consistency does not hold.\n")
    return Answer(200, cosigning.lines_of([cosigning.cosign(key, note.text, seconds)]), found)


def is_signed(note: Note, keys: Sequence[VerifierKey]) -> bool:
    """Return True if one of these keys signed the note, and no signature under the name of one of them is wrong."""
    try:
        opened(note, keys)
    except (Unverified, Malformed):
        return False
    return True
