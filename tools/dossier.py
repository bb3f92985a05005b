"""Write the dossier of a match of the data folder: `./run dossier MATCH [--to FILE --as VIEWER]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from events import recall
from events.dossier_writing import write
from events.errors import NoMatch, PlatformError
from events.notary import server_log
from games.kernel import SPECTATOR
from record.dossiers.lines import WHOLE
from tools.platform import Unable, add_data_option, opened

ABOUT = (
    "Write everything that is known about a match. ./run verify checks it. For a running match, this is recorded as a read by the admin."
)


def main(arguments: list[str] | None = None) -> int:
    """Write the dossier. Return 0, or 2 if there is no such match or viewer."""
    parser = argparse.ArgumentParser(prog="./run dossier", description=ABOUT)
    parser.add_argument("match", metavar="MATCH", help="the id of a match")
    parser.add_argument("--to", type=Path, metavar="FILE", help="the file to write (default: the standard output)")
    parser.add_argument(
        "--as",
        dest="viewer",
        default=WHOLE,
        metavar="VIEWER",
        help="only what this viewer may see: a seat or `spectator` (default: everything)",
    )
    add_data_option(parser)
    options = parser.parse_args(arguments)
    try:
        with opened(options.data) as platform:
            logs = server_log.all_shown(platform)  # before the position
            position = recall.position(platform, options.match)
            if options.viewer not in (WHOLE, SPECTATOR, *position.roster):
                raise Unable(f"{options.viewer} is not a seat of the match.")
            if options.viewer == SPECTATOR:
                position = recall.state_at(platform, position.match, position.public_version)
            elif not position.ended:
                platform.sidelog.note_read(position.match, position.version, "admin", "dossier")
            with _output(options.to) as output:
                for chunk in write(platform, position, options.viewer, logs):
                    output.write(chunk)
    except (Unable, NoMatch, PlatformError, OSError) as reason:
        print(reason, file=sys.stderr)
        return 2
    return 0


@contextmanager
def _output(file: Path | None) -> Iterator[BinaryIO]:
    """Open the standard output, or a file that appears when it is complete."""
    if file is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    draft = file.with_name(f"{file.name}.part")
    try:
        with draft.open("wb") as output:
            yield output
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
