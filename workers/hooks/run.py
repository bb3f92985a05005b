"""Run one process that sends webhooks: `./run hooks`."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Mapping, Sequence

from events.lifeline import give_way
from events.platform import Platform, Settings
from games.kernel import Game
from workers.hooks.posting import Poster
from workers.hooks.sender import MOST, Sender
from workers.listening import Life, add_option
from workers.starting import GIVES_WAY, started


def main(arguments: Sequence[str] | None = None, settings: Settings | None = None, games: Mapping[str, Game] | None = None) -> int:
    """Send until SIGTERM or SIGINT. Return the exit status."""
    parser = argparse.ArgumentParser(prog="./run hooks", description="Send webhooks until SIGTERM or SIGINT.")
    add_option(parser)
    options = parser.parse_args(arguments)
    platform, life = started(options.listen, settings, games)
    give_way(GIVES_WAY)
    asyncio.run(send(platform, life))
    platform.close()
    return 0


async def send(platform: Platform, life: Life) -> None:
    """Send webhooks until a signal comes."""
    poster = Poster(platform.settings, MOST)
    sender = Sender(platform, poster, life.promise)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, sender.stop)
    await sender.run()
    await poster.close()


if __name__ == "__main__":
    sys.exit(main())
