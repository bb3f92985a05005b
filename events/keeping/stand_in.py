"""Run a stand-in for the embedded store while its disk cannot be written: a server in memory, over a copy of the newest file.

It answers reads and refuses all writes. The store itself ends when it cannot write, and cannot start on such a disk.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from events.keeping import embedded
from events.lifeline import end_with


def private_folder() -> Path | None:
    """Return a folder that only this user can enter, in memory if possible, else in the temporary directory, or None."""
    for place in (Path("/dev/shm"), Path(tempfile.gettempdir())):
        folder = place / f"warledger-{os.geteuid()}"
        with contextlib.suppress(OSError, embedded.NoServer):
            if place.is_dir():
                embedded.make_private(folder)
                return folder
    return None


def can_write(folder: Path) -> bool:
    """Return False if the disk of a folder cannot be written, for another reason than a full disk."""
    try:
        with (folder / ".probe").open("wb", buffering=0) as probe:
            probe.write(b".")
            os.fsync(probe.fileno())
    except OSError as reason:
        return reason.errno in (errno.ENOSPC, errno.EDQUOT)
    return True


def has_failed(folder: Path) -> bool:
    """Return True if the system reports that the disk of a folder is read-only after a failure."""
    with contextlib.suppress(OSError):
        device = folder.stat().st_dev
        number = f"{os.major(device)}:{os.minor(device)}"
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            words = line.split()
            if words[2] == number and "emergency_ro" in words[-1].split(","):
                return True
    return False


def start(data: Path, place: Path) -> subprocess.Popen[bytes]:
    """Start a stand-in for the store of `data`. Its files and its socket, of the same name, are in `place`. Raises OSError."""
    store = (data / embedded.STORE).resolve()
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(mode=0o700)
    _copy(store / embedded.FILES, place / embedded.FILES)
    return subprocess.Popen(
        embedded.command(store, place, place / embedded.socket_of(store).name, "no", writable=False),
        start_new_session=True,
        preexec_fn=partial(end_with, os.getpid()),
    )


def _copy(files: Path, place: Path) -> None:
    """Copy the newest append-only file, since a server cuts off its torn end. Link the others, which a server only reads."""
    place.mkdir(mode=0o700)
    manifest = next(files.glob("*.manifest"), files / "manifest")
    shutil.copyfile(manifest, place / manifest.name)
    listed = [line.split() for line in manifest.read_text().splitlines()]
    names = [words[1] for words in listed if words[:1] == ["file"] and words[-1] in "bi"]
    for name in names[:-1]:
        (place / name).symlink_to(files / name)
    shutil.copyfile(files / names[-1], place / names[-1])
