"""Put a backup into a data folder: `./run restore DIR`, or `./run restore URL` for a continuous one."""

from __future__ import annotations

import argparse
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from events.archive.mirrored import ARCHIVE, Below, copy_missing
from events.archive.objects import Objects, WrongArchive, open_objects
from events.errors import ArchiveUnavailable
from events.keeping import aof, backup, fetching, shipping
from events.keeping.aof import NotWhole
from events.keeping.chain import Damaged
from events.notary import highwater
from events.platform import Platform, settings_from_environment
from tools.checkup import Checkup, add_sample_option, archive_of, as_text, check, counting, folder_of, moment, own, progress, started
from tools.platform import Unable, add_data_option

FETCHED = ".fetched"  # in the data folder, while a store is fetched


def main(arguments: list[str] | None = None) -> int:
    """Restore a backup. Return 0 if all is well, 1 after losses or findings, 2 if this is not possible, 130 if interrupted."""
    parser = argparse.ArgumentParser(
        prog="./run restore", description="Check a backup, put it into a data folder that nothing uses, start it and audit a sample."
    )
    parser.add_argument("place", metavar="DIR|URL", help="the folder of a backup, or the place of a continuous one, as in WARLEDGER_BACKUP")
    parser.add_argument("--replace", action="store_true", help="first move the present data of the folder to a folder replaced-… in it")
    parser.add_argument("--until", type=_moment, metavar="TIME", help="of a continuous one: as it was then, such as 2026-12-24T18:00:00Z")
    parser.add_argument(
        "--server", type=Path, metavar="DIR", help="of a server of your own: put its files into this folder, and start nothing"
    )
    add_sample_option(parser)
    add_data_option(parser)
    options = parser.parse_args(arguments)
    try:
        folder = Path(options.place)
        if (folder / backup.LIST).exists() or (folder.is_dir() and not (folder / "chain").is_dir()):
            found = restored(folder.resolve(), folder_of(options.data), options.replace, options.sample)
        elif options.server is not None:
            return fetched_for_server(open_objects(options.place), options.server, options.until)
        else:
            found = brought_back(open_objects(options.place), folder_of(options.data), options.replace, options.sample, options.until)
    except ArchiveUnavailable as reason:
        print(f"What keeps objects does not answer. {reason.reason}", file=sys.stderr)
        return 2
    except (Unable, backup.BadBackup, backup.Unfit, NotWhole, Damaged, WrongArchive, OSError) as reason:
        print(reason, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted. Run the same command to begin again; data that was moved is in replaced-….", file=sys.stderr)
        return 130
    return int(not found.ok)


def _moment(text: str) -> int:
    """Return a time as ms since 1970. Without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError("must be a time such as 2026-12-24T18:00:00Z") from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def restored(folder: Path, data: Path, replace: bool, sample: int) -> Checkup:
    """Restore a backup, print what was done, and return the result of a check. Raises Unable, BadBackup, Unfit, NotWhole, OSError."""
    with progress(backup.listed(folder).size, "Check") as bar:
        made = backup.check(folder, bar.update)
    own(data)
    with progress(made.size, "Copy") as bar:
        aside = backup.place(folder, data, replace, bar.update, open_objects(archive_of(data)))
    return _tried(data, aside, made.begun, sample)


def brought_back(objects: Objects, data: Path, replace: bool, sample: int, until: int | None) -> Checkup:
    """Restore a continuous backup, print what was done, and return the result of a check.

    Raises Unable, Unfit, NotWhole, Damaged, ArchiveUnavailable, OSError.
    """
    point, damaged = fetching.find(objects, until)
    if damaged:
        print(f"{damaged} So this is the point before it.", file=sys.stderr)
    backup.is_used(data, replace)
    own(data)
    scratch = data / FETCHED
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        with counting(point.last - point.first + 1, "Fetch") as bar:
            found = fetching.fetch(objects, point, scratch, bar.update)
        backup.check(scratch)
        aside = backup.place(scratch, data, replace, move=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if found.cut:
        print(f"{found.cut} bytes of an append that was not complete were left out.")
    settings = settings_from_environment()._replace(data=data)
    if settings.archive_is_local:
        copied = copy_missing(Below(objects, ARCHIVE), open_objects(archive_of(data)))
        print(f"{copied} objects of the archive were copied.")
    if found.marks and not (settings.keys_folder / highwater.FILE).exists():
        highwater.bring_back(settings.keys_folder, found.marks)
    return _tried(data, aside, point.at, sample)


def fetched_for_server(objects: Objects, folder: Path, until: int | None) -> int:
    """Put the files of a continuous backup into the folder of a server of one's own, and print what was done. Return the exit status.

    Raises Unfit, NotWhole, Damaged, ArchiveUnavailable, OSError.
    """
    if (folder / aof.FOLDER).exists():
        raise backup.Unfit(f"{folder / aof.FOLDER} exists. Name a folder without one.")
    point, damaged = fetching.find(objects, until)
    scratch = folder / FETCHED
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        with counting(point.last - point.first + 1, "Fetch") as bar:
            fetching.fetch(objects, point, scratch, bar.update)
        folder.mkdir(parents=True, exist_ok=True)
        (scratch / fetching.FILES).rename(folder / aof.FOLDER)
        if (scratch / shipping.NODES).exists():
            (scratch / shipping.NODES).rename(folder / shipping.NODES)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"{folder} has the store of {moment(point.at)}. {damaged}".rstrip())
    print("Start the server, load its functions by `./run functions`, then check it by `./run audit --all`.")
    return 0


def _tried(data: Path, aside: Path | None, at: int, sample: int) -> Checkup:
    """Start a restored store, print what it has, and return the result of a check. Raises Unable, OSError."""
    if aside is not None:
        print(f"The previous data is in {aside}.")
    with started(data) as platform:
        found = check(platform, sample)
        held = _hold_logs(platform)
    print(f"{data} has the store of {moment(at)} again.")
    print(as_text(found))
    print("Everything after that time is gone. The keys of players and of the admin are those of that time.")
    if held:
        print(f"The log {held} may have been signed further than this, so it stops.")
        print("Begin another by `./run keys rotate --name`, then `./run rebuild`.")
    return found


def _hold_logs(platform: Platform) -> str:
    """Stop the logs of which nobody knows here how far they were signed. Return their names, or ""."""
    logs, folder = platform.store.server_logs, platform.settings.keys_folder
    return ", ".join(origin for origin in logs.origins() if highwater.hold(folder, origin, logs.state(origin).size))


if __name__ == "__main__":
    sys.exit(main())
