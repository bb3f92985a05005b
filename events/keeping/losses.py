"""Record what the embedded store has lost, in a file of the data folder. The service reports losses until an operator accepts them."""

from __future__ import annotations

import fcntl
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from events.keeping import durable
from games.sentences import counted

FOLDER = "journal"

GONE = "gone"  # an entry in the journal is missing
REPLACED = "replaced"  # another entry has its version
DAMAGED = "damaged"  # its digest is the same, but other bytes changed
CUT = "cut"  # it was in the damaged end of the append-only file, and not in the journal yet

FILE = "losses.json"
_ACCEPTED = "accepted.ndjson"
_REMOVED = "removed"
_NAMED = 5


class Loss(NamedTuple):
    """Lost entries of a match, from version `first` to `last`. `digest`: of the last one, if known. `found`: ms since 1970."""

    match: str
    first: int
    last: int
    what: str
    digest: str
    found: int


class Cut(NamedTuple):
    """An end of the append-only file that was cut off, or must be. `at`: the byte. `size`: how many bytes. `kept`: where they are kept.

    `entries`: the number of readable entries in it. `players`: the ids of players with fields in it.
    """

    file: str
    at: int
    size: int
    kept: str
    entries: int
    players: list[str]
    found: int


class Losses(NamedTuple):
    """All losses that are not accepted yet. `refused`: a cut that an operator must decide on before the store can start."""

    losses: list[Loss] = []
    cuts: list[Cut] = []
    refused: Cut | None = None

    def __bool__(self) -> bool:
        return bool(self.losses or self.cuts)

    @property
    def entries(self) -> int:
        """The number of lost entries."""
        return sum(last - first + 1 for _, first, last in self.merged())

    def merged(self) -> list[tuple[str, int, int]]:
        """Return the lost versions of each match as ranges that do not overlap."""
        spans = defaultdict(list)
        for loss in self.losses:
            spans[loss.match].append((loss.first, loss.last))
        found = []
        for match, known in sorted(spans.items()):
            first, last = min(known)
            for next_first, next_last in sorted(known):
                if next_first > last + 1:
                    found.append((match, first, last))
                    first = next_first
                last = max(last, next_last)
            found.append((match, first, last))
        return found


def read(data: Path) -> Losses:
    """Return the losses of a data folder. An unreadable file counts as empty."""
    file = data / FOLDER / FILE
    try:
        found = file.stat()
    except OSError:
        return Losses()
    return _read(file, found.st_ino, found.st_mtime_ns)


@lru_cache(maxsize=8)
def _read(file: Path, *state: int) -> Losses:
    """Return the losses in a file. Each change replaces the file, so its `state` identifies its content."""
    try:
        stored = json.loads(file.read_bytes())
        return Losses(
            [Loss(*loss) for loss in stored["losses"]],
            [Cut(*cut) for cut in stored["cuts"]],
            None if stored["refused"] is None else Cut(*stored["refused"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return Losses()


def note_removal(data: Path, match: str) -> None:
    """Note that a match will be removed on purpose, so the journal does not take it for lost, even if it does not run now.

    Without a journal in the data folder this does nothing. Raises OSError.
    """
    if (data / FOLDER).is_dir():
        with _locked(data / FOLDER), (data / FOLDER / _REMOVED).open("ab") as file:
            file.write(match.encode() + b"\n")


def removals(data: Path) -> set[str]:
    """Return the matches with noted removals."""
    try:
        return set((data / FOLDER / _REMOVED).read_text().split())
    except OSError:
        return set()


def forget_removals(data: Path, done: Set[str]) -> None:
    """Drop the notes of finished removals. Raises OSError."""
    if done:
        with _locked(data / FOLDER):
            left = removals(data) - done
            durable.write(data / FOLDER / _REMOVED, "".join(f"{match}\n" for match in sorted(left)).encode())


def update(data: Path, change: Callable[[Losses], Losses]) -> Losses:
    """Change the losses of a data folder atomically, and return them. Several processes may do so. Raises OSError."""
    folder = data / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    with _locked(folder):
        before = read(data)
        after = change(before)
        if after != before:
            durable.write(folder / FILE, json.dumps(after._asdict()).encode())
    return after


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the losses and removals against changes by other processes until the end of the block. Raises OSError."""
    with (folder / ".losses.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def add(data: Path, found: Iterable[Loss]) -> None:
    """Add losses to those of a data folder. Entries that were cut off and are also in the journal are recorded once. Raises OSError."""
    new = list(found)
    if not new:
        return

    def change(known: Losses) -> Losses:
        recorded = {(loss.match, version) for loss in new for version in range(loss.first, loss.last + 1)}
        kept = [
            loss
            for loss in known.losses
            if loss.what != CUT or not all((loss.match, v) in recorded for v in range(loss.first, loss.last + 1))
        ]
        return known._replace(losses=[*kept, *[loss for loss in new if not _is_known(loss, kept)]])

    update(data, change)


def _is_known(loss: Loss, known: Iterable[Loss]) -> bool:
    return any(old[:5] == loss[:5] for old in known)


def accept(data: Path) -> Losses:
    """Move the losses of a data folder to the file of accepted losses, and return them. Raises OSError."""
    accepted = read(data)
    if accepted:
        with (data / FOLDER / _ACCEPTED).open("ab") as file:
            file.write(json.dumps(accepted._asdict()).encode() + b"\n")
            os.fsync(file.fileno())

        def without(known: Losses) -> Losses:
            return Losses(
                [one for one in known.losses if one not in accepted.losses],
                [one for one in known.cuts if one not in accepted.cuts],
                known.refused,
            )

        update(data, without)
    return accepted


def ranges(entries: Iterable[tuple[str, int]]) -> list[tuple[str, int, int]]:
    """Return pairs of a match and a version as ranges of versions."""
    return Losses([Loss(match, version, version, CUT, "", 0) for match, version in entries]).merged()


def sentence(data: Path, losses: Losses) -> str:
    """Return what is lost and what to do about it, in sentences for people; "" if nothing is lost."""
    said = []
    if losses.refused is not None:
        said.append(refusal(losses.refused))
    merged = losses.merged()
    if merged:
        named = ", ".join(f"{match} {first if first == last else f'{first} to {last}'}" for match, first, last in merged[:_NAMED])
        more = f" and more of {len(merged) - _NAMED} others" if len(merged) > _NAMED else ""
        said.append(f"The store has lost {counted(losses.entries, 'entry', 'entries')}: {named}{more}.")
        unknown = sum(last - first + 1 for _, first, last in Losses([loss for loss in losses.losses if loss.what == CUT]).merged())
        if unknown:
            said.append(f"{unknown} of these were not in the journal yet, and may never have been acknowledged.")
    for done in losses.cuts[-_NAMED:]:
        players = f", with the players {', '.join(done.players)}," if done.players else ""
        said.append(f"{done.size} bytes{players} were cut off the damaged end of {done.file}; they are kept in {done.kept}.")
    if losses:
        said.append(f"{data / FOLDER / FILE} has the full list. `./run repair --accept` ends this message.")
    return " ".join(said)


def about(loss: Loss) -> str:
    """Return a loss of a match, in a sentence for people."""
    entries = f"The entry {loss.first}" if loss.first == loss.last else f"The entries {loss.first} to {loss.last}"
    was, were = ("was", "is") if loss.first == loss.last else ("were", "are")
    if loss.what == CUT:
        return f"{entries} {was} in the damaged end of the store's file, which was cut off."
    digest = f" The digest of version {loss.last} was {loss.digest}." if len(loss.digest) == 64 else ""
    return {
        GONE: f"{entries} {was} in the journal and {were} gone.{digest}",
        REPLACED: f"{entries} {was} in the journal and {were} gone. Others have been appended in that place.{digest}",
        DAMAGED: f"{entries} {was} in the journal and {were} stored with other bytes.",
    }[loss.what]


def refusal(cut: Cut) -> str:
    """Return why the store does not start and what to do about it, in sentences for people."""
    entries = counted(cut.entries, "entry", "entries")
    return (
        f"The append-only file {cut.file} of the store is damaged at byte {cut.at}, and {entries} after that would be lost. "
        "Stop the service and restore a backup, or cut the file there by `./run repair --cut`."
    )


def as_json(losses: Losses) -> dict[str, Any]:
    """Return the losses in numbers, for /readyz."""
    return {
        "entries": losses.entries,
        "matches": len({loss.match for loss in losses.losses}),
        "players": len({player for cut in losses.cuts for player in cut.players}),
        "bytes_cut": sum(cut.size for cut in losses.cuts),
        "since": min([loss.found for loss in losses.losses] + [done.found for done in losses.cuts]),
    }
