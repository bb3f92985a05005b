"""Open the platform for commands that work without HTTP: on a running store, or on one that is started for the data folder."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from environs import EnvError

from events.errors import StoreRefused, StoreUnavailable
from events.keeping.embedded import NoServer
from events.platform import Platform, open_platform, settings_from_environment


class Unable(Exception):
    """The platform cannot be opened. The text says why, in a sentence."""


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the data folder."""
    parser.add_argument("--data", type=Path, default=None, help="folder of the data ($WARLEDGER_DATA, or ./data)")


@contextmanager
def opened(data: Path | None) -> Iterator[Platform]:
    """Open the platform of a data folder, or of WARLEDGER_REDIS_URL, for a block. Raises Unable."""
    try:
        settings = settings_from_environment()
    except EnvError as reason:
        raise Unable(f"A setting is wrong: {reason}.") from None
    if data is not None:
        settings = settings._replace(data=data)
    if not settings.store_url and not (settings.data / "store").is_dir():
        raise Unable(f"There is no data in {settings.data}. Name its folder with --data, or a server in WARLEDGER_REDIS_URL.")
    try:
        platform = open_platform(settings)
    except (NoServer, StoreUnavailable, StoreRefused) as reason:
        raise Unable(f"The store cannot be opened: {_why(reason)}.") from None
    try:
        yield platform
    except (StoreUnavailable, StoreRefused) as reason:
        raise Unable(f"The store has become unavailable: {_why(reason)}.") from None
    finally:
        platform.close()


def _why(reason: Exception) -> str:
    return reason.reason if isinstance(reason, (StoreUnavailable, StoreRefused)) else str(reason)
