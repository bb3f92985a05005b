"""Prepare a Redis or Valkey server of your own as the store, and load its functions: `./run functions`."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from events.errors import StoreRefused, StoreUnavailable
from events.platform import settings_from_environment
from events.store import library
from events.store.client import load_library, what_to_change

PASSWORD, ARCHIVISTS = "WARLEDGER_STORE_PASSWORD", "WARLEDGER_ARCHIVIST_PASSWORD"
COMMANDS, USERS, KEEPER = "commands.conf", "users.acl", "keeper"


class Unable(Exception):
    """The command cannot be carried out. The text says why, in a sentence."""


def main(arguments: list[str] | None = None) -> int:
    """Write the files of a server, or load the functions, and print what was done. Return 1 if this fails."""
    parser = argparse.ArgumentParser(prog="./run functions", description="Load the store's functions into a server of your own.")
    parser.add_argument("url", nargs="?", help="URL of the server, such as redis://host:6379")
    parser.add_argument(
        "--with", dest="folder", type=Path, metavar="DIR", help="take the keeper and the names of commands from this folder"
    )
    parser.add_argument("--cluster", action="store_true", help="the URL leads to a cluster; load them into every primary")
    parser.add_argument("--alone", action="store_true", help="remove the functions of other versions; no process may use them")
    parser.add_argument(
        "--configure",
        type=Path,
        metavar="DIR",
        help=f"write a server's files; ${PASSWORD} and ${ARCHIVISTS} are the passwords of its users",
    )
    options = parser.parse_args(arguments)
    if (options.url is None) == (options.configure is None):
        parser.error("name either the URL of a server, or a folder with --configure")
    try:
        if options.configure is not None:
            configure(options.configure, os.environ.get(PASSWORD, ""), os.environ.get(ARCHIVISTS, ""))
            print(f"{options.configure} has the files {COMMANDS}, {USERS} and {KEEPER}.")
            return 0
        url, renamed = as_keeper(options.url, options.folder) if options.folder else (options.url, {})
        loaded = load_library(url, renamed, options.cluster, options.alone)
        advice = what_to_change(url, options.cluster, settings_from_environment().replicas)
    except OSError as reason:
        print(f"{reason.filename} cannot be used ({reason.strerror}).", file=sys.stderr)
        return 1
    except Unable as reason:
        print(reason, file=sys.stderr)
        return 1
    except (StoreUnavailable, StoreRefused) as reason:
        print(f"The functions cannot be loaded: {reason.reason}", file=sys.stderr)
        return 1
    for sentence in advice:
        print(f"{sentence}.", file=sys.stderr)
    print(f"The server has the functions of this version ({library.NAME})." if loaded else f"It had them already ({library.NAME}).")
    return 0


def configure(folder: Path, password: str, archivists: str = "") -> None:
    """Write the files of a server. Raises Unable, OSError.

    `archivists`: the password of the archivist; without it there is none, and nothing can be archived. The names of the commands and the
    password of the keeper are written once, the users each time. Only your user can enter the folder.
    """
    if not password:
        raise Unable(f"Choose a long random password for the service, and set it as {PASSWORD}.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    commands, keeper = folder / COMMANDS, folder / KEEPER
    if not commands.exists():
        commands.write_text(library.configuration(library.new_token()))
    if not library.fits(commands.read_text()):
        raise Unable(f"{commands} is from a version with another format of data. Name an empty folder, for an empty server.")
    if not keeper.exists():
        keeper.write_text(secrets.token_hex(32))
    users = [("default", password.encode(), library.RIGHTS), (KEEPER, keeper.read_bytes(), "~* &* +@all")]
    if archivists:
        users.append((library.ARCHIVIST, archivists.encode(), library.ARCHIVIST_RIGHTS))
    (folder / USERS).write_text("".join(f"user {name} on #{sha256(secret).hexdigest()} {rights}\n" for name, secret, rights in users))


def as_keeper(url: str, folder: Path) -> tuple[str, dict[str, str]]:
    """Return the URL with the keeper and its password, and the names of the renamed commands, from a folder of `configure`."""
    parts = urlsplit(url)
    address = f"{KEEPER}:{(folder / KEEPER).read_text()}@{parts.netloc.rpartition('@')[2]}"
    return parts._replace(netloc=address).geturl(), library.renames((folder / COMMANDS).read_text())


if __name__ == "__main__":
    sys.exit(main())
