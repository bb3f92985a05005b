"""Put a backup into a data folder: `./run restore DIR`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from events.keeping import backup
from events.keeping.aof import NotWhole
from tools.checkup import Checkup, add_sample_option, as_text, check, folder_of, moment, own, progress, started
from tools.platform import Unable, add_data_option


def main(arguments: list[str] | None = None) -> int:
    """Restore. Return 0 if all is well, 1 if something is lost or wrong in it, 2 if it could not be done, 130 if interrupted."""
    parser = argparse.ArgumentParser(
        prog="run restore", description="Check a backup, put it into a data folder that nobody uses, start it and audit a sample."
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of the backup")
    parser.add_argument("--replace", action="store_true", help="move the data that the folder has aside, to a folder replaced-… in it")
    add_sample_option(parser)
    add_data_option(parser)
    options = parser.parse_args(arguments)
    try:
        found = restored(options.folder.resolve(), folder_of(options.data), options.replace, options.sample)
    except (Unable, backup.BadBackup, backup.Unfit, NotWhole, OSError) as reason:
        print(reason, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted. The same command begins again; what it had moved aside is in replaced-….", file=sys.stderr)
        return 130
    return int(not found.ok)


def restored(folder: Path, data: Path, replace: bool, sample: int) -> Checkup:
    """Restore a backup, say what was done, and return what was found. Raise Unable, BadBackup, Unfit, NotWhole, OSError."""
    with progress(backup.listed(folder).size, "Check") as bar:
        made = backup.check(folder, bar.update)
    own(data)
    with progress(made.size, "Copy") as bar:
        aside = backup.place(folder, data, replace, bar.update)
    if aside is not None:
        print(f"The data that was there is in {aside}.")
    with started(data) as platform:
        found = check(platform, sample)
    print(f"{data} has the store of {moment(made.begun)} again.")
    print(as_text(found))
    print("Everything after that moment is gone. Players' keys and the admin key are those of that moment.")
    return found


if __name__ == "__main__":
    sys.exit(main())
