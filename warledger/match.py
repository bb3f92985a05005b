"""A match from a file, without a service: read it, fold it to any version, look at it as anybody, verify it, decide it again.

docs/data-scientist.md has programs. This needs the rules and PyNaCl, and nothing of the service.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from evidence.notes import parse_vkey
from games import GAMES
from games.choices import Choice
from games.kernel import SPECTATOR, Event, Game, Seat, legal
from record.dossiers.records import lines_of
from record.dossiers.statements import Kept
from record.dossiers.verifying import Source, Verdict, verify
from record.entries import Entry, Unreadable, parse
from record.positions import Position, replay
from record.redeciding import record_in
from record.shown import shown
from record.trail import Report, audit_entries, header_of
from table import rules as table_rules
from table.board import board
from web.look import AUTO
from web.picture import WIDE, svg


class Match:
    """A match from a dossier or a record that has its entries in full. It can be cut off at any version.

    `entries`: the entries in order, so that `entries[0]` has version 1. A version that is not given is the last one. Viewers are seats,
    `spectator` and `auditor`. Positions and views are not to be changed.

    >>> from record.example import RAWS
    >>> match = Match(RAWS)
    >>> match.id, match.game, match.versions, match.winners
    ('maaaaaaaaaaaaaaaa', 'war', 4, ['blue'])
    >>> [position.to_act for position in match.positions()]
    [['system'], ['blue'], ['red'], []]
    """

    def __init__(self, lines: Iterable[bytes], name: str = "match") -> None:
        """Take the lines of a file.

        Raise NotWhole if it has only what one viewer sees, Unreadable if it has no entries of a match, KeyError if its game is not here.
        """
        self.name = name
        self._lines = list(lines)
        self._record = list(record_in(self._lines))
        self.entries: list[Entry] = [parse(line) for line in self._record if header_of(line) is None]
        if [entry.version for entry in self.entries] != list(range(1, len(self.entries) + 1)) or not self.entries:
            raise Unreadable("The entries of the file are not the versions 1, 2, 3 and so on.")
        self._positions: list[Position] = []
        self._replay = replay(GAMES, self.entries)
        self._rules = GAMES[self.at(1).game]

    @classmethod
    def read(cls, file: str | Path) -> Match:
        """Read a file. Raise OSError, and what the class raises."""
        return cls(lines_of(Path(file)), str(file))

    @classmethod
    def read_all(cls, files: Iterable[str | Path]) -> Iterator[Match]:
        """Read the parts of a bulk file, in their order, and yield the matches. One may be cut between two parts.

        Raise OSError, and what the class raises.
        """
        lines: list[bytes] = []
        for line in (line for file in files for line in Path(file).read_bytes().splitlines()):
            if lines and header_of(line) is not None:
                yield cls(lines)
                lines = []
            lines.append(line)
        if lines:
            yield cls(lines)

    @property
    def id(self) -> str:
        """The id of the match."""
        return self.entries[0].match

    @property
    def game(self) -> str:
        """The id of the game."""
        return self._rules.id

    @property
    def versions(self) -> int:
        """The last version."""
        return len(self.entries)

    @cached_property
    def winners(self) -> list[Seat] | None:
        """The seats that have won, or None before the end."""
        outcome = self.at().document["outcome"]
        return None if outcome is None else list(outcome["winners"])

    def at(self, version: int | None = None) -> Position:
        """Return the position after a version. Raise IndexError if there is none."""
        wanted = self.versions if version is None else version
        if not 1 <= wanted <= self.versions:
            raise IndexError(f"The file has the versions 1 to {self.versions}, not {wanted}.")
        while len(self._positions) < wanted:
            self._positions.append(next(self._replay))
        return self._positions[wanted - 1]

    def positions(self) -> Iterator[Position]:
        """Yield the position after each version."""
        return map(self.at, range(1, self.versions + 1))

    def rules_at(self, version: int | None = None) -> Game:
        """Return the game by the rules of a version, or by the newest ones if that revision is not here."""
        return self._rules.of_revision(self.at(version).revision) or self._rules

    def view(self, viewer: str = SPECTATOR, version: int | None = None) -> dict[str, Any]:
        """Return the game's document as a viewer saw it.

        >>> from record.example import RAWS
        >>> Match(RAWS).view("red", 2)["phase"]
        'placement'
        """
        seen: dict[str, Any] = json.loads(json.dumps(self.rules_at(version).view(self.at(version).document, viewer), sort_keys=True))
        return seen

    def events(self, viewer: str = SPECTATOR, version: int | None = None) -> list[Event]:
        """Return the events of the entry of a version as a viewer saw them."""
        events: list[Event] = shown(self.rules_at(version), self.entries[self.at(version).version - 1], viewer)["events"]
        return events

    def choices(self, seat: Seat, version: int | None = None) -> list[Choice]:
        """Return the legal choices of a seat in the game, after a version.

        >>> from record.example import RAWS
        >>> Match(RAWS).choices("blue", 2)[0]["action"]["type"]
        'place_unit'
        """
        position = self.at(version)
        return legal(self.rules_at(version), position.document, seat) if seat in position.to_act else []

    def text(self, viewer: str = SPECTATOR, version: int | None = None) -> str:
        """Return the table and the board as text. Players are named by their ids."""
        game, position = self.rules_at(version), self.at(version)
        table = board(table_rules.view(position.table, viewer), str)
        return "\n".join([*table, *game.board(self.view(viewer, version), viewer)])

    def svg(self, viewer: str = SPECTATOR, version: int | None = None, shape: str = WIDE, theme: str = AUTO) -> str:
        """Return a picture of the board: `shape` is wide, tall or board, `theme` auto, light or dark."""
        return svg(self.rules_at(version), self.view(viewer, version), self.events(viewer, version), shape, theme)

    def verify(self, *keys: str) -> Verdict:
        r"""Check all that the file says of itself: digests, rules, dice and signatures. `keys`: those of the server that you have noted.

        Raise Malformed for such a key.

        >>> from record.example import RAWS
        >>> Match([raw + b"\n" for raw in RAWS]).verify().ok
        True
        """
        return verify([Source(self.name, lambda: self._lines)], GAMES, Kept(tuple(map(parse_vkey, keys))))[0]

    def decide_again(self) -> Report:
        """Decide every action again by the rules here, and compare with what is recorded.

        >>> from record.example import RAWS
        >>> report = Match(RAWS).decide_again()
        >>> report.ok, report.dice
        (True, 'verified')
        """
        return audit_entries(GAMES, self._record)
