"""What a witness does: it keeps the newest checkpoint of each log that it has seen, and cosigns only what continues it.

The rules are those of c2sp.org/tlog-witness. What is kept, and how it stays atomic, is for the caller to see to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evidence import checkpoints, cosigning, tree
from evidence.checkpoints import Checkpoint
from evidence.notes import Malformed, Note, SigningKey, Unverified, VerifierKey, opened


class Answer(NamedTuple):
    """The answer to a request: its status, its body, and the checkpoint to keep from now on, if it is cosigned.

    `fork`: the two checkpoints show that the log has two histories.
    """

    status: int
    body: str
    keep: Checkpoint | None = None
    fork: bool = False


def answer(body: str, logs: Mapping[str, Sequence[VerifierKey]], seen: Mapping[str, Checkpoint], key: SigningKey, seconds: int) -> Answer:
    """Return the answer of a witness to a request, at a moment in seconds since 1970.

    `logs`: the keys of each log that it knows, by origin. `seen`: the newest checkpoint of each that it has cosigned.
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
    """Return True if a note is signed by one of these keys, and none of them is said to have signed it that has not."""
    try:
        opened(note, keys)
    except (Unverified, Malformed):
        return False
    return True
