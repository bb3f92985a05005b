"""Write the parts that every dossier has, given its signer (docs/auditing.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256

from evidence import statements
from games.kernel import Game
from record.dossiers.lines import FORMAT, entry_line, holders, line
from record.dossiers.signers import Signers
from record.entries import Entry, canonical
from record.positions import Position
from record.shown import Prover, shown


def first_line(position: Position, viewer: str, at: int, name: str, vkeys: Sequence[str], blind: bytes | None) -> bytes:
    """Return the first line of the dossier of a match up to a position: what it is, and who signs it."""
    return line(
        "dossier",
        dossier=FORMAT,
        match=position.match,
        game=position.game,
        viewer=viewer,
        versions=position.version,
        at=max(at, position.at),
        name=name,
        vkeys=list(vkeys),
        blind=None if blind is None else blind.hex(),
        secret=position.secret,
    )


def lines_of_entry(
    game: Game, entry: Entry, raw: bytes, viewer: str, prover: Prover | None, named: set[tuple[int, str]], signers: Signers
) -> Iterator[bytes]:
    """Yield the lines of an entry: its rules if no earlier entry named them, the entry, and who has seats from then on.

    `prover`: for a viewer who is not shown everything. `named`, `signers`: the rules named so far, and who has signed what the viewer is
    shown, which this adds to.
    """
    pair = (entry.revision, entry.rules)
    if pair not in named:
        named.add(pair)
        yield line("rules", game=game.id, revision=entry.revision, rules=entry.rules)
    if prover is None:
        seen = entry.signed
        yield entry_line(raw)
    else:
        value = shown(game, entry, viewer, prover)
        seen = value.get("signed")
        yield b'{"entry":%b,"line":"shown"}\n' % canonical(value)
    signers.read(entry.version, entry.actor, seen, entry.events)
    for holder in holders(entry.events, entry.version, entry.at):
        yield line("seat", **holder)


def signed(pages: Iterable[Sequence[bytes]], position: Position, viewer: str, sign: Callable[[str], str]) -> Iterator[bytes]:
    """Yield the lines of a dossier page by page, and then its last line, which signs all others."""
    hashed, count = sha256(), 0
    for page in pages:
        chunk = b"".join(page)
        hashed.update(chunk)
        count += len(page)
        yield chunk
    statement = statements.Dossier(position.match, position.version, viewer, hashed.hexdigest())
    yield line("end", lines=count, note=sign(statements.dossier_text(statement)))
