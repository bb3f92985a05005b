"""Ask what `./run verify` may ask: services that the reader trusts or names, and whole logs.

Nothing that stands in a file decides whom to ask. What needs the network is imported when it is needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from evidence.checkpoints import of_note
from evidence.cosigning import cosignatures
from evidence.notes import VerifierKey
from record.dossiers.lines import LONGEST
from record.dossiers.statements import Quorum
from tools import services
from tools.logs import Signed, Unable
from tools.scans import Scan, is_log, is_scan, leaves_in, note_in, scanned
from tools.services import Trusted


class Present(NamedTuple):
    """The present state of the logs of services. `checkpoints`: their newest ones. `unchecked`: why there is none. `forks`: files."""

    services: tuple[Trusted, ...] = ()
    checkpoints: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    forks: tuple[Path, ...] = ()

    def prove(self, origin: str, first: int, second: int) -> tuple[bytes, ...] | None:
        """Return the proof of consistency that a service gives for two sizes of its log, or None."""
        from tools import present

        return present.prove(self.services, origin, first, second)


def trust(url: str) -> list[str]:
    """Note the keys of a service and the state of its log. Return what to say. Raises Unable, OSError."""
    from tools import present

    asked = present.look(present.met(url))
    if asked.why:
        raise Unable(asked.why)
    services.keep(asked.service._replace(seen=_now()))
    first = f"You trust {asked.service.url} from now on, with these keys. Compare them with what others have:"
    return [first, *(key.vkey for key in asked.service.keys)]


def present_state(files: Sequence[Path], urls: Sequence[str], quorum: Quorum, keys: tuple[VerifierKey, ...], offline: bool) -> Present:
    """Ask the services that the reader trusts, if the files are of them, and those at `urls`, for the state of their logs.

    `keys`: those that the reader has noted, else those of the service count. Raises Unable, OSError.
    """
    trusted = services.load()
    names = {name for file in files if (name := _name_in(file))}
    mine = services.named(trusted, names)
    if offline or not (urls or mine):
        return Present(tuple(trusted))
    from tools import present

    named = [present.met(url) for url in urls]
    checkpoints, unchecked, forks = [], [], []
    for service in [*named, *mine]:
        asked = present.look(service._replace(keys=keys or service.keys))
        cosigned = len(cosignatures(of_note(asked.note)[1], quorum.witnesses)) if asked.note else 0
        if asked.proof:
            forks.append(services.keep_fork(asked.proof))
        elif asked.why:
            last = f"; it last showed one at {service.seen}" if service.seen else ""
            unchecked.append(f"the present state of the log: {asked.why}{last}")
        elif cosigned < quorum.least:
            unchecked.append(f"the present state of the log: its checkpoint has {cosigned} of the {quorum.least} cosignatures")
        else:
            checkpoints.append(asked.note)
            if service in trusted:
                services.keep(service._replace(note=asked.service.note, seen=_now()))
    return Present((*named, *trusted), tuple(checkpoints), tuple(unchecked), tuple(forks))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _name_in(file: Path) -> str:
    """Return the name of the server in the first line of a dossier, or "". Raises OSError."""
    with file.open("rb") as opened:
        try:
            return str(json.loads(opened.readline(LONGEST))["name"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return ""


@contextmanager
def whole_logs(given: Sequence[str], keys: list[VerifierKey], offline: bool) -> Iterator[list[Scan]]:
    """Open whole logs for a block: files, and services to be read. Raises Unable, OSError."""
    with ExitStack() as stack:
        yield [stack.enter_context(_log(each, keys, offline)) for each in given]


@contextmanager
def _log(given: str, keys: list[VerifierKey], offline: bool) -> Iterator[Scan]:
    if given.startswith(("http://", "https://")):
        from tools.asking import Server

        if offline:
            raise Unable(f"{given} cannot be read with --offline.")
        server = Server(given)
        to = server.signed(keys)
        with scanned(to, partial(server.fresh, 0, to.checkpoint.size)) as scan:
            yield scan
    elif is_scan(Path(given)):
        scan = Scan(Path(given), readonly=True)
        try:
            yield scan
        finally:
            scan.close()
    elif is_log(Path(given)):
        note = note_in(Path(given))
        with scanned(Signed(of_note(note)[0], note), partial(leaves_in, Path(given))) as scan:  # its signature is checked with each file
            yield scan
    else:
        raise Unable(f"The file {given} is neither the state of a monitor nor an export of it.")
