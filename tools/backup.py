"""Back up the embedded store, also while the service runs: `./run backup DIR`."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from events.archive.objects import open_objects, scheme_of
from events.errors import ArchiveUnavailable
from events.keeping import backup
from events.keeping.aof import NotWhole
from events.keeping.embedded import STORE
from tools.checkup import Checkup, add_sample_option, archive_of, as_text, check, folder_of, moment, progress, started
from tools.platform import Unable, add_data_option


def main(arguments: list[str] | None = None) -> int:
    """Make a backup and test it. Return 0 if it is sound, 1 if it has losses or findings, 2 if there is no backup, 130 if interrupted."""
    parser = argparse.ArgumentParser(
        prog="./run backup",
        description="Copy the store of a data folder to a new folder, start a server on a copy and audit a sample.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the new folder; it will hold secrets, and only you can enter it")
    add_sample_option(parser)
    add_data_option(parser)
    options = parser.parse_args(arguments)
    try:
        found = made(folder_of(options.data), options.folder.resolve(), options.sample)
    except ArchiveUnavailable as reason:
        print(f"There is no backup: the archive does not answer. {reason.reason}", file=sys.stderr)
        return 2
    except (Unable, backup.Unfit, backup.BadBackup, NotWhole, OSError) as reason:
        print(f"There is no backup: {reason}" if not options.folder.exists() else reason, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    return int(not found.ok)


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
