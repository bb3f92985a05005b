"""The web server: granian, with processes that end with it. `python -m service.web` takes granian's options."""

from __future__ import annotations

import multiprocessing
import sys

from granian.cli import entrypoint

from events.lifeline import forks_end_with_this


def main() -> None:
    """Serve until a signal ends it."""
    if sys.platform == "linux":
        multiprocessing.set_start_method("fork")  # only a fork ends with this process from its first instruction on
        forks_end_with_this()
    entrypoint()


if __name__ == "__main__":
    main()
