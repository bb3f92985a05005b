"""Check the signatures of moves in another process, ahead of the one that decides the entries again."""

from __future__ import annotations

import base64
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path

from evidence.notes import made_by
from record.dossiers.records import lines_of
from record.dossiers.verifying import Source, entries_of
from record.entries import START, parse
from record.signatures import Verifies, statement

LEAST = 300_000  # bytes of a file for which another process is worth it
BLOCK = 64  # signatures of which it tells together
LENGTH = 32  # bytes of a hash


class Ahead:
    """Signatures that the other process has found to be good. What it has not told yet, or does not call good, is checked here."""

    def __init__(self, told: Connection) -> None:
        self._told = told
        self._good: set[bytes] = set()

    def verifies(self, public: bytes, message: bytes, signature: bytes) -> bool:
        """Return True if a signature is good."""
        name = _name(public, message, signature)
        try:
            while name not in self._good and self._told.poll():
                block = self._told.recv_bytes()
                self._good.update(block[place : place + LENGTH] for place in range(0, len(block), LENGTH))
        except (EOFError, OSError):
            pass  # it has told everything
        return name in self._good or made_by(public, message, signature)


@contextmanager
def ahead(files: Sequence[Path]) -> Iterator[Verifies]:
    """Begin to check the signatures in files. Yield what checks a signature, for a block."""
    large = [file for file in files if file.is_file() and file.stat().st_size >= LEAST]
    if sys.platform != "linux" or not large:  # elsewhere a process does not begin as a copy, and imports everything again
        yield made_by
        return
    context = multiprocessing.get_context("fork")
    told, tells = context.Pipe(duplex=False)
    process = context.Process(target=_check, args=(large, tells), daemon=True)
    process.start()
    tells.close()
    try:
        yield Ahead(told).verifies
    finally:
        process.terminate()
        process.join()
        told.close()


def _check(files: Sequence[Path], tells: Connection) -> None:
    """Check the signatures in files, and tell the hashes of those that are good. The first thing that is not as it should be ends it."""
    block: list[bytes] = []
    try:
        for file in files:
            digests = {0: START}
            for raw in entries_of(Source(str(file), partial(lines_of, file))):
                entry = parse(raw)
                digests[entry.version] = entry.digest
                if entry.signed is None:
                    continue
                public, signature = (base64.b64decode(entry.signed[name]) for name in ("key", "signature"))
                message = statement(entry, digests[entry.signed["seen"]])
                if made_by(public, message, signature):
                    block.append(_name(public, message, signature))
                if len(block) == BLOCK:
                    tells.send_bytes(b"".join(block))
                    block.clear()
        if block:
            tells.send_bytes(b"".join(block))
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        pass  # the other process finds out what it is
    tells.close()


def _name(public: bytes, message: bytes, signature: bytes) -> bytes:
    return sha256(public + signature + message).digest()
