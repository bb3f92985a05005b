"""Put a backup into a data folder: `./run restore DIR`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from events.archive.objects import open_objects
from events.errors import ArchiveUnavailable
from events.keeping import backup
from events.keeping.aof import NotWhole
from tools.checkup import Checkup, add_sample_option, archive_of, as_text, check, folder_of, moment, own, progress, started
from tools.platform import Unable, add_data_option


def main(arguments: list[str] | None = None) -> int:
    """Restore a backup. Return 0 if all is well, 1 after losses or findings, 2 if this is not possible, 130 if interrupted."""
    parser = argparse.ArgumentParser(
        prog="./run restore", description="Check a backup, put it into a data folder that nothing uses, start it and audit a sample."
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of the backup")
    parser.add_argument("--replace", action="store_true", help="first move the present data of the folder to a folder replaced-… in it")
    add_sample_option(parser)
    add_data_option(parser)
    options = parser.parse_args(arguments)
    try:
        found = restored(options.folder.resolve(), folder_of(options.data), options.replace, options.sample)
    except ArchiveUnavailable as reason:
        print(f"The archive does not answer. {reason.reason}", file=sys.stderr)
        return 2
    except (Unable, backup.BadBackup, backup.Unfit, NotWhole, OSError) as reason:
        print(reason, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted. Run the same command to begin again; data that was moved is in replaced-….", file=sys.stderr)
        return 130
    return int(not found.ok)


def restored(folder: Path, data: Path, replace: bool, sample: int) -> Checkup:
    """Restore a backup, print what was done, and return the result of a check. Raises Unable, BadBackup, Unfit, NotWhole, OSError."""
    with progress(backup.listed(folder).size, "Check") as bar:
        made = backup.check(folder, bar.update)
    own(data)
    with progress(made.size, "Copy") as bar:
        aside = backup.place(folder, data, replace, bar.update, open_objects(archive_of(data)))
    if aside is not None:
        print(f"The previous data is in {aside}.")
    with started(data) as platform:
        found = check(platform, sample)
    print(f"{data} has the store of {moment(made.begun)} again.")
    print(as_text(found))
    print("Everything after that time is gone. The keys of players and of the admin are those of that time.")
    return found


if __name__ == "__main__":
    sys.exit(main())
