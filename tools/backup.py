"""Back up the embedded store, also while the service runs: `./run backup DIR`, or into a continuous backup: `./run backup URL`."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
from pathlib import Path

from events.archive.objects import WrongArchive, open_objects, scheme_of
from events.errors import ArchiveUnavailable
from events.keeping import backup
from events.keeping.aof import NotWhole
from events.keeping.chain import Taken
from events.keeping.embedded import STORE
from events.keeping.shipping import Moving
from events.platform import settings_from_environment
from events.telemetry import logs
from tools.checkup import Checkup, add_sample_option, archive_of, as_text, check, folder_of, moment, own, progress, started
from tools.platform import Unable, add_data_option
from workers import shipping
from workers.listening import Life, add_option, listen


def main(arguments: list[str] | None = None) -> int:
    """Make a backup and test it. Return 0 if it is sound, 1 if it has losses or findings, 2 if there is no backup, 130 if interrupted."""
    parser = argparse.ArgumentParser(
        prog="./run backup",
        description="Copy the store of a data folder to a new folder, start a server on a copy and audit a sample. "
        "Or send it once to the place of a continuous backup, such as s3://bucket/backup.",
    )
    parser.add_argument("place", metavar="DIR|URL", help="the new folder, or the place; it will hold secrets")
    parser.add_argument("--server", type=Path, metavar="DIR", help="with a place: send the files of the server of your own in this folder")
    parser.add_argument("--follow", action="store_true", help="with --server: go on until the process is ended")
    add_option(parser)
    add_sample_option(parser)
    add_data_option(parser)
    options = parser.parse_args(arguments)
    if options.follow and options.server is None:
        parser.error("--follow is for a server of your own; `serve` sends the store that comes along if WARLEDGER_BACKUP is set")
    try:
        if "://" in options.place or options.server is not None:
            return sent(options.place, folder_of(options.data), options.server, options.follow, options.listen)
        found = made(folder_of(options.data), Path(options.place).resolve(), options.sample)
    except ArchiveUnavailable as reason:
        print(f"There is no backup: what keeps objects does not answer. {reason.reason}", file=sys.stderr)
        return 2
    except (Unable, backup.Unfit, backup.BadBackup, NotWhole, WrongArchive, Taken, Moving, OSError) as reason:
        print(f"There is no backup: {reason}" if not Path(options.place).exists() else reason, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    return int(not found.ok)


def sent(place: str, data: Path, server: Path | None, follow: bool, address: tuple[str, int] | None) -> int:
    """Send a store into a continuous backup, print of which moment it is, and return the exit status. Raises the errors of `main`.

    `follow`: go on, and answer at an address how it is.
    """
    settings = settings_from_environment()._replace(data=data, backup=place)
    if server is not None:
        sender = shipping.of_server(settings, server)
    elif (data / STORE).is_dir():
        own(data)
        sender = shipping.of_data_folder(settings)
    else:
        raise Unable(f"There is no data in {data}. Name its folder with --data, or that of a server of your own with --server.")
    if follow:
        logs.configure("stderr")
        life = Life()
        if address is not None:
            listen(address, life)
        shipping.send(sender, settings, threading.Event(), life)
    while (point := sender.round()) is None:
        pass
    sender.copy_archive()
    print(f"{place} has the store of {moment(point.at)}.")
    return 0


def made(data: Path, target: Path, sample: int) -> Checkup:
    """Make a backup, print what is in it, and return the result of its test. Raises Unable, Unfit, BadBackup, NotWhole, OSError."""
    if not (data / STORE).is_dir():
        raise Unable(f"There is no data in {data}. Name its folder with --data. Copy a server of your own with its own tools.")
    place = archive_of(data)
    with progress(0, "Copy") as bar:
        done = backup.make(data, target, bar.update, None if scheme_of(place) else open_objects(place))
    print(f"{target} has the store of {moment(done.begun)}: {len(done.files)} files with {done.size} bytes.")
    found = tried(target, sample)
    if scheme_of(place):
        backup.note(target, [place, *found.needed])
        print(f"The archive is in {place}, not in the backup. {backup.NEEDS} names the {len(found.needed)} objects that are needed.")
    print(as_text(found))
    print("The backup holds secrets of matches and the admin key. Keep it where only you can read it.")
    return found


def tried(folder: Path, sample: int) -> Checkup:
    """Start a server on a copy of a backup, and return the result of a check. Raises Unable, BadBackup, OSError."""
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.trial-", dir=folder.parent))
    try:
        backup.clone(folder, scratch)
        with started(scratch) as platform:
            found = check(platform, sample)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
