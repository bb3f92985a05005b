"""A folder in which a client keeps what the server has signed, and what others need to see it: receipts, checkpoints, alarms, keys."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from .canonical import decoded
from .evidence import Receipt
from .log import Checkpoint
from .problems import Alarm, BadReceipt, TwoHistories
from .signing import Key, verifies

KEYS, LOG = "server-keys.txt", "log.jsonl"


class Receipts:
    """A folder of receipts: a file for each match, `<match>.jsonl`, with one JSON text a line, and the keys of the server.

    It also has the checkpoints of the server's log, the keys with which players sign moves, and a file for each alarm.
    `keys`: keys of the server that you have noted (vkeys). Without them the folder notes the keys that the server publishes when it gives
    its first receipt, and later ones as they come.
    """

    def __init__(self, folder: str | Path, keys: Iterable[str] = ()) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._given = list(keys)

    @classmethod
    def usual(cls, url: str) -> Receipts:
        """Return the folder of a server where nobody has named one: below `WARLEDGER_HOME`, or `.warledger` in the home of the user.

        Raises OSError if it cannot be made.
        """
        name = re.sub(r"[^A-Za-z0-9.-]+", "_", url.partition("://")[2])
        made = cls(Path(os.environ.get("WARLEDGER_HOME") or Path.home() / ".warledger") / name)
        if not os.access(made.folder, os.W_OK):
            raise PermissionError(f"{made.folder} cannot be written")
        return made

    @property
    def keys(self) -> list[str]:
        """The keys that are trusted."""
        noted = self.folder / KEYS
        return self._given or (noted.read_text(encoding="utf-8").split() if noted.exists() else [])

    def note(self, published: Iterable[str]) -> None:
        """Note keys that the server publishes, unless keys were given."""
        if not self._given and (new := [key for key in published if key not in self.keys]):
            with (self.folder / KEYS).open("a", encoding="utf-8") as file:
                file.writelines(f"{key}\n" for key in new)

    def knows(self, note: str) -> bool:
        """Return whether a line of a note names a key that is trusted."""
        return any(_signatures(note, self.keys))

    def of(self, match: str) -> dict[int, str]:
        """Return the receipts of a match by version. Raises TwoHistories if two of them differ."""
        found: dict[int, str] = {}
        for note in self._lines(f"{match}.jsonl"):
            receipt = Receipt.of(note)
            if Receipt.of(found.setdefault(receipt.version, note)) != receipt:
                raise TwoHistories(match, receipt.version, found[receipt.version], note)
        return found

    def keep(self, note: str) -> None:
        """Check the signature of a receipt, and append it to the file of its match. Raises BadReceipt."""
        receipt = Receipt.of(note)
        if not self.is_signed(note):
            raise BadReceipt(receipt.match, receipt.version, note, "no key of the server that is trusted has signed the receipt")
        self._append(f"{receipt.match}.jsonl", note)

    def is_signed(self, note: str) -> bool:
        """Return whether a key of the server that is trusted has signed a note."""
        return any(check() for check in _signatures(note, self.keys))

    # The server's log

    def checkpoint(self, origin: str | None = None) -> str | None:
        """Return the newest checkpoint that was kept of a log, by default of any, or None."""
        kept = [note for note in self._lines(LOG) if origin in (None, Checkpoint.of(note).origin)]
        return kept[-1] if kept else None

    def keep_checkpoint(self, note: str) -> None:
        """Keep a checkpoint as the newest one."""
        self._append(LOG, note)

    # Keys of players

    def signing_key(self, player: str, revoked: Collection[str] = ()) -> Key:
        """Return the key with which a player signs. Make one if there is none, or if it is `revoked`. Raises OSError, ValueError."""
        file = self.folder / f"signing-key-{player}.pem"
        if file.exists():
            key = Key.read(file.read_text(encoding="ascii"))
            if key.public not in revoked:
                return key
            file.unlink()
        made = file.with_suffix(f".{os.getpid()}")
        made.touch(0o600)
        made.write_text(Key.new().pem(), encoding="ascii")
        with suppress(FileExistsError):  # another program has just made one
            os.link(made, file)
        made.unlink()
        return Key.read(file.read_text(encoding="ascii"))

    # Alarms

    def save(self, alarm: Alarm, **more: Any) -> None:
        """Write what an alarm has into a file for others, with the keys of the server. Its text then names the file."""
        found = {"alarm": type(alarm).__name__, **vars(alarm), **more, "server_keys": self.keys}
        content = json.dumps(found, indent=1, sort_keys=True, default=str) + "\n"
        mark = sha256(content.encode()).hexdigest()[:8]
        alarm.file = self.folder / f"alarm-{alarm.match or 'log'}-{mark}.json"
        alarm.file.write_text(content, encoding="utf-8")
        alarm.args = (f"{alarm}. What proves it is in {alarm.file}",)

    def _lines(self, name: str) -> list[str]:
        """Return the texts in a file."""
        file = self.folder / name
        return [str(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []

    def _append(self, name: str, text: str) -> None:
        with (self.folder / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(text) + "\n")


def _signatures(note: str, vkeys: Iterable[str]) -> Iterator[Callable[[], bool]]:
    """Yield, for each line that names one of the keys, a function that says whether the signature is right."""
    text, _, lines = note.rpartition("\n\n")
    for line in lines.splitlines():
        mark, name, encoded = (*line.split(" "), "", "")[:3]
        for vkey in vkeys:
            key_name, key_id, key = (*vkey.split("+", 2), "", "")[:3]
            signature = decoded(encoded)
            if (mark, name, signature[:4].hex()) == ("—", key_name, key_id):
                yield partial(verifies, decoded(key)[1:], f"{text}\n".encode(), signature[4:])
