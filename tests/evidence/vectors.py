"""Files for verifiers: honest dossiers of every game, and tampered ones. `python -m tests.evidence.vectors FOLDER` writes them."""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from events import play, recall
from events.audit import record_header
from events.dossier_writing import write
from events.platform import Platform, Settings, open_platform
from games import GAMES
from games.kernel import SPECTATOR, any_action
from record.positions import Position
from tests.conftest import Servers, servers_in, take_seat
from tests.evidence.drafts import WHOLE, Draft, Owner, TestLog, with_leaves
from tests.evidence.tampering import BOTH, Base, Case, cases

ANN, BOB, REFEREE = "p" + "a" * 16, "p" + "b" * 16, "p" + "r" * 16


class Kind(NamedTuple):
    """A kind of match: its game, the seed of play, how many versions are played before a seat resigns, options, settings, and the
    version that is disputed, if one is."""

    game: str
    seed: int
    versions: int
    options: dict[str, Any] = {}
    settings: dict[str, Any] | None = None
    disputed: int = 0


CLOCK = {"clock": {"kind": "bank", "seconds": 900, "increment": 10}, "time_out": {"policy": "forfeit"}}
KINDS = {
    "war": Kind("war", 7, 36, settings=CLOCK),  # with dice, as in the third
    "war_of_the_worlds": Kind("war_of_the_worlds", 1, 36, disputed=12),
    "war_of_civilizations": Kind("war_of_civilizations", 1, 40, {"pirates": True}),
    "hidden": Kind("war_of_the_worlds", 4, 24, settings={"spectators": "none"}),
}
NAMES = {WHOLE: "all", SPECTATOR: "spectator"}


class Played(NamedTuple):
    """A match: its secret, its dossiers by viewer while it ran and when it was over, and its record."""

    match: str
    secret: str
    running: dict[str, bytes]
    over: dict[str, bytes]
    record: bytes


def played(platform: Platform, kind: Kind, request: str, more: int = 0) -> Played:
    """Play a match of two seats until one of them resigns, and write its dossiers. A request always has the same match.

    The secret follows from the request and the seed, to which `more` is added, so that the dice are the same each time.
    """
    game, seed = GAMES[kind.game], kind.seed + more
    first, second = game.seats.ids[:2]
    secret = sha256(f"{request} {seed}".encode()).digest()
    with patch.object(play, "new_secret", lambda: secret):
        seats = {first: "me", second: "open"}
        position = play.create(platform, ANN, game.id, seats, kind.options, settings=kind.settings, request=request)
    match = position.match
    position = take_seat(platform, match, BOB, second, "c0ffee").position
    will = random.Random(seed)
    while position.version < kind.versions:
        if position.version == kind.disputed:
            position = dispute(platform, match, first, second)
        actor = position.to_act[0]
        position = play.play(platform, match, actor, [any_action(game, position.document, actor, will.randrange)]).position
    if not kind.settings:
        fill_side_log(platform, match, first, position.version)
    everybody = () if position.begun else (SPECTATOR,)
    running = dossiers(platform, match, (WHOLE, first, *everybody))
    play.act_at_table(platform, match, second, {"type": "resign"}, player=BOB)
    over = dossiers(platform, match, (WHOLE, first))
    record = b"".join(line + b"\n" for line in (record_header(platform, match), *platform.store.log.read_all(match)))
    return Played(match, secret.hex(), running, over, record)


def dispute(platform: Platform, match: str, first: str, second: str) -> Position:
    """Let a seat dispute, a referee rule, and both seats accept the ruling. Return the position after it."""
    ruling = {"type": "rule_dispute", "dispute": 1, "verdict": "rejected", "remedy": "none", "text": "They are not."}
    accepted = {"type": "accept_ruling", "dispute": 1}
    play.act_at_table(platform, match, first, {"type": "dispute", "version": 5, "text": "The cards are marked."}, player=ANN)
    play.act_at_table(platform, match, REFEREE, ruling, role="referee")
    play.act_at_table(platform, match, first, accepted, player=ANN)
    return play.act_at_table(platform, match, second, accepted, player=BOB).position


def fill_side_log(platform: Platform, match: str, seat: str, version: int) -> None:
    """Let actions of a seat be refused, and staff see what others do not, at a version."""
    for number in range(2):
        platform.sidelog.note_refusal(match, seat, ANN, version, platform.clock.now(), {"type": "fly", "by": number}, "bad_action", None)
    platform.sidelog.flush()
    for reader, what, seen in ((REFEREE, f"view:{seat}", version), (REFEREE, f"view:{seat}", version - 1), ("admin", "audit", version)):
        platform.sidelog.note_read(match, seen, reader, what)


def dossiers(platform: Platform, match: str, viewers: tuple[str, ...]) -> dict[str, bytes]:
    """Return the dossiers of a match by viewer."""
    position = recall.position(platform, match)
    return {viewer: b"".join(write(platform, position, viewer, [])) for viewer in viewers}


def bases(servers: Servers, platform: Platform) -> Iterator[Base]:
    """Yield honest dossiers of every game: in full, as a seat and as a spectator see them, while the match runs and when it is over."""
    key = platform.signer.load().signing
    for name, kind in KINDS.items():
        again = played(platform, kind, f"a match of {name}", 1)
        forget(servers, platform, again.match)
        match, stranger = played(platform, kind, f"a match of {name}"), played(platform, kind, f"another of {name}", 2)
        assert again.match == match.match
        assert again.secret != match.secret
        whole = Draft.read(match.over[WHOLE])
        for over in (False, True):
            files, others, copies = (each.over if over else each.running for each in (match, stranger, again))
            for viewer, file in files.items():
                owner, log = Owner(key, match.secret), TestLog(key, [b"the first leaf"])
                draft = Draft.read(file)
                with_leaves(draft, log, match.secret)
                owner.finish(draft)
                record = match.record if over and viewer == WHOLE else b""
                yield Base(
                    f"{name}-{NAMES.get(viewer, 'seat')}-{'over' if over else 'running'}",
                    draft,
                    over,
                    owner,
                    log,
                    Draft.read(others[viewer]),
                    Draft.read(copies[viewer]),
                    whole,
                    record,
                    log_only=name == "hidden",
                )


def forget(servers: Servers, platform: Platform, match: str) -> None:
    """Remove a match from the store as if it had never been, as its owner can."""
    for key in list(servers.keeper.scan_iter(f"*:{match}")):
        servers.keeper.delete(key)
    platform.cache.drop(match)
    platform.sidelog._known.clear()


def vectors(servers: Servers, platform: Platform, every: bool) -> Iterator[tuple[dict[str, Any], dict[str, bytes]]]:
    """Yield the cases: what index.json says of each, and its files by name.

    `every`: each kind of tampering with each dossier. Otherwise it is tried with one whole and one redacted dossier, if there are any.
    """
    tried: dict[bool, set[str]] = {True: set(), False: set()}  # by whether the dossier is whole
    for base in bases(servers, platform):
        yield _described(f"{base.name}-honest", "An honest dossier.", _honest(base), BOTH, None)
        if base.record:
            yield _described(f"{base.name}-honest_record", "The record of a match.", _record(base), BOTH, None)
        for kind, case, version in cases(base, () if every else tried[base.draft.whole].copy()):
            tried[base.draft.whole].add(kind.name)
            yield _described(f"{base.name}-{kind.name}", kind.about, case, kind.verifiers, {"code": kind.code, "version": version})
            if kind.needs:
                yield _described(f"{base.name}-{kind.name}_unseen", kind.about, _without(case), BOTH, None)


def _honest(base: Base) -> Case:
    """Return an honest dossier with all that its reader can have kept."""
    case = Case(base)
    case.keys.append(base.owner.key.verifier.vkey)
    case.keep_receipt(base.draft.last // 2)
    size = len(base.log.leaves)
    case.checkpoints += [base.log.checkpoint(), base.log.checkpoint(size - 2)]
    case.consistency.append(base.log.consistency(size - 2, size))
    if not base.draft.whole:
        case.beside.append(base.whole.bytes())
    return case


def _without(case: Case) -> Case:
    """Return a case whose reader has kept nothing."""
    case.logs, case.witnesses = [], []
    case.keys, case.receipts, case.checkpoints, case.consistency, case.beside, case.now, case.decisions = [], [], [], [], [], None, False
    return case


def _record(base: Base) -> Case:
    """Return the record of a match that is over."""
    case = Case(base)
    case.raw = base.record
    case.keep_receipt(base.draft.last // 2)
    case.keys.append(base.owner.key.verifier.vkey)
    return case


def _described(
    name: str, about: str, case: Case, verifiers: tuple[str, ...], expected: dict[str, Any] | None
) -> tuple[dict[str, Any], dict[str, bytes]]:
    files = {f"{name}-{place}.ndjson": file for place, file in enumerate((case.file, *case.beside))}
    receipts = {f"{name}-receipt-{place}.txt": text.encode() for place, text in enumerate(case.receipts)}
    heads = {f"{name}-checkpoint-{place}.txt": text.encode() for place, text in enumerate(case.checkpoints)}
    proofs = {f"{name}-consistency-{place}.json": json.dumps(proof).encode() for place, proof in enumerate(case.consistency)}
    logs = {f"{name}-log-{place}": log for place, log in enumerate(case.logs)}
    described = {
        "name": name,
        "about": about,
        "files": list(files),
        "keys": case.keys,
        "receipts": list(receipts),
        "checkpoints": list(heads),
        "consistency": list(proofs),
        "logs": list(logs),
        "witnesses": case.witnesses,
        "now": case.now,
        "decisions": case.decisions,
        "verifiers": list(verifiers),
        "expected": expected,
    }
    return described, {**files, **receipts, **heads, **proofs, **logs}


def write_all(servers: Servers, platform: Platform, folder: Path, every: bool = True) -> list[dict[str, Any]]:
    """Write the cases into a folder, and return what index.json says. `every`: as for `vectors`."""
    folder.mkdir(parents=True, exist_ok=True)
    index = []
    for described, files in vectors(servers, platform, every):
        index.append(described)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    (folder / "index.json").write_text(json.dumps(index, indent=1) + "\n")
    return index


def main() -> None:
    """Write every case into the folder that is named."""
    with tempfile.TemporaryDirectory() as data, servers_in(Path(data)) as servers:
        settings = Settings(store_url=servers.store_url, queue_url=servers.queue_url, keys=Path(data) / "keys")
        platform = open_platform(settings)
        write_all(servers, platform, Path(sys.argv[1]))
        platform.close()


if __name__ == "__main__":
    main()
