"""Move a running service to another store: `./run move --to URL`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from environs import EnvError
from tqdm import tqdm

from events.errors import StoreRefused, StoreUnavailable
from events.keeping import durable, embedded, moving
from events.keeping.embedded import NoServer
from events.keeping.moving import Moved
from events.platform import Settings, settings_from_environment
from events.store.copying import Address
from tools import functions
from tools.platform import add_data_option


def main(arguments: list[str] | None = None) -> int:
    """Move, and print what was done. Return 0 if the target can be used, 1 if nothing was moved, 130 if interrupted."""
    parser = argparse.ArgumentParser(
        prog="./run move",
        description="Copy the store of the data folder, or of WARLEDGER_REDIS_URL, to another server or cluster while the service runs. "
        "For the last part nothing can be written. Then start the service again with the other store.",
    )
    parser.add_argument("--to", required=True, metavar="URL", help="an empty server, or nodes of a cluster: redis://…@a:6379,b:6379")
    parser.add_argument("--to-cluster", action="store_true", help="the URL leads to a cluster")
    parser.add_argument("--with", dest="files", type=Path, metavar="DIR", help="the target's files of `./run functions --configure`")
    parser.add_argument("--from", dest="source", type=Path, metavar="DIR", help="those of the source, if that is a server of your own")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    try:
        settings = settings_from_environment()
        if options.data is not None:
            settings = settings._replace(data=options.data)
        target = address(options.to, options.to_cluster, options.files)
        done = moved(settings, target, shown(options.to), options.source)
    except (EnvError, NoServer, moving.Unfit, OSError) as reason:
        print(f"Nothing was moved. {reason}", file=sys.stderr)
        return 1
    except (StoreUnavailable, StoreRefused) as reason:
        print(f"Nothing was moved. {reason.reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. The service goes on, within a minute. The same command begins again.", file=sys.stderr)
        return 130
    total, matches = sum(done.keys.values()), done.keys.get("{p}:s", 0)
    setting = f"WARLEDGER_REDIS_URL={shown(options.to)} (and the password){', WARLEDGER_CLUSTER=1' * options.to_cluster}"
    print(f"{shown(options.to)} has {total} keys, {matches} of them matches. Nothing could be written for {done.seconds:.1f} s.")
    print(f"Start the service with {setting}.")
    print("The old store answers nobody any more. Keep it until you have a backup of the new one.")
    return 0


def moved(settings: Settings, target: Address, place: str, files: Path | None) -> Moved:
    """Move the store of some settings. Raises NoServer, Unfit, StoreUnavailable, StoreRefused, OSError."""
    with tqdm(unit="key", leave=False, disable=None) as bar:

        def progress(what: str, number: int) -> None:
            bar.set_description(what, refresh=False)
            bar.update(number)

        if settings.store_url:
            return moving.move(address(settings.store_url, settings.cluster, files), target, place, progress)
        folder = settings.data / embedded.STORE
        if not folder.is_dir():
            raise moving.Unfit(f"There is no data in {settings.data}. Name its folder with --data, or its server in WARLEDGER_REDIS_URL.")
        server = embedded.start(settings.data, embedded.STORE, settings.fsync)
        try:
            source = Address(embedded.keeper_url(settings.data), embedded.renamed(settings.data), False)
            done = moving.move(source, target, place, progress)
            durable.write(folder / embedded.MOVED, place.encode() + b"\n")
        finally:
            server.stop()
    return done


def address(url: str, cluster: bool, files: Path | None) -> Address:
    """Return how the keeper reaches a server. Without files its URL must have a user with all rights. Raises OSError."""
    if files is None:
        return Address(url, {}, cluster)
    return Address(*functions.as_keeper(url, files), cluster)


def shown(url: str) -> str:
    """Return a URL without its user and password."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


if __name__ == "__main__":
    sys.exit(main())
