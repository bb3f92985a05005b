"""The memory for commands that work without HTTP: that of a running service, or a store started over the data folder."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from events.embedded import NoServer
from events.platform import Platform, WrongStore, open_platform, settings_from
from events.wire import StoreUnavailable


class Unable(Exception):
    """Why the memory cannot be opened, in a sentence."""


def add_place(parser: argparse.ArgumentParser) -> None:
    """Let a command be told which data folder."""
    parser.add_argument("--data", type=Path, default=None, help="folder of the data ($WARLEDGER_DATA, or ./data)")


@contextmanager
def opened(data: Path | None) -> Iterator[Platform]:
    """The platform of a data folder, or of WARLEDGER_REDIS_URL. Raises Unable."""
    settings = settings_from()
    if data is not None:
        settings = settings._replace(data=data)
    if not settings.store_url and not (settings.data / "store").is_dir():
        raise Unable(f"There is no data in {settings.data}; name its folder with --data, or a server in WARLEDGER_REDIS_URL.")
    try:
        platform = open_platform(settings)
    except (NoServer, StoreUnavailable, WrongStore) as reason:
        raise Unable(f"The store cannot be opened: {reason}.") from None
    try:
        yield platform
    except StoreUnavailable as reason:
        raise Unable(f"The store has gone away: {reason}.") from None
    finally:
        platform.close()
