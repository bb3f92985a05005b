"""Write a file completely or not at all, even if the power is cut or the process is killed."""

from __future__ import annotations

import os
from pathlib import Path


def write(file: Path, content: bytes, mode: int = 0o600) -> None:
    """Put a file with these permissions in place, and return when it is on disk. Raises OSError.

    A draft left by an interrupted write is replaced.
    """
    draft = file.with_name(f"{file.name}.new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
    draft.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
