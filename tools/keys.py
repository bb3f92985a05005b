"""Show the keys with which the server signs, or make a new one: `./run keys`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from environs import EnvError

from events.notary import signer
from events.notary.signer import Keyring, KeysUnfit
from events.platform import settings_from_environment
from tools.checkup import moment
from tools.platform import add_data_option


def main(arguments: list[str] | None = None) -> int:
    """Print every key; with `rotate`, make a new one first. Return 1 if there are no keys, 2 if they cannot be read or changed."""
    parser = argparse.ArgumentParser(prog="./run keys", description="Show the keys with which the server signs, or make a new one.")
    parser.add_argument("command", nargs="?", choices=["rotate"], help="make a new key; the old private key is deleted")
    parser.add_argument("--name", default="", help="with rotate: a new name for the server, such as a domain of yours")
    parser.add_argument("--keys", type=Path, help="folder of the keys ($WARLEDGER_KEYS, or keys in the data folder)")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    if options.name and options.command != "rotate":
        parser.error("--name is for rotate")
    try:
        settings = settings_from_environment()
        settings = settings._replace(data=options.data or settings.data, keys=options.keys or settings.keys)
        folder = settings.keys_folder
        found = signer.rotate(folder, options.name) if options.command else signer.read(folder)
    except (KeysUnfit, EnvError) as reason:
        print(reason, file=sys.stderr)
        return 2
    if found is None:
        print(f"There are no keys in {folder}; the first start of the service makes them.", file=sys.stderr)
        return 1
    print("\n".join(as_text(folder, found)))
    return 0


def as_text(folder: Path, found: Keyring) -> list[str]:
    """Return the keys as lines of text, the newest last."""
    lines = [f"{folder} has the keys of {found.signing.verifier.name}. It signs with the last one."]
    for published in found.keys:
        until = "now" if published.until is None else moment(published.until)
        lines.append(f"{published.key.vkey}  from {moment(published.since)} until {until}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
