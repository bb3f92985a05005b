"""A server of a test's own, whose log a test lets grow and checks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pymerkle import InmemoryTree

from events import accounts, play
from events.notary import sequencing, server_log, signer
from events.notary.leaves import HOUR_MS
from events.platform import Platform, Settings, open_platform
from events.timing.clock import Clock
from evidence import checkpoints, tiles
from evidence.leaves import KINDS, Finding, Placed, contradictions, read
from evidence.notes import opened, parse_vkey
from tests.conftest import ALL_GAMES, Servers

BEGUN = 1_790_000_000_000
ADD = {"type": "add", "by": 1, "stay": True}


class Server:
    """A server of its own, whose time passes when a test says so: its platforms, and what its log says."""

    def __init__(self, servers: Servers, folder: Path) -> None:
        self.servers = servers
        self.ms = BEGUN
        self.settings = Settings(store_url=servers.store_url, queue_url=servers.queue_url, data=folder, keys=folder / "keys")
        signer.opened(folder / "keys", "log.example")
        self.opened: list[Platform] = []
        self.platform = self.join()
        self.ann = accounts.register(self.platform, "Ann")[0].id

    def join(self) -> Platform:
        """Open another platform, as another process has it."""
        platform = open_platform(self.settings, ALL_GAMES, clock=Clock(lambda: self.ms, lambda: self.ms, "b1"))
        self.opened.append(platform)
        return platform

    def close(self) -> None:
        for platform in self.opened:
            platform.close()

    def begin(self, target: int = 1_000_000, **settings: Any) -> str:
        match = play.create(self.platform, self.ann, "tally", {"one": "me", "two": "me"}, {"target": target}, settings=settings).match
        play.play(self.platform, match, "system", [{"type": "advance"}])
        return match

    def act(self, match: str) -> None:
        play.play(self.platform, match, "one", [ADD])

    def pass_hours(self, hours: float) -> None:
        self.ms += round(hours * HOUR_MS)

    def sequence(self) -> int:
        """Sequence until nothing is wanted, and check what is served. Return how many leaves were added."""
        added = sequencing.sequence(self.platform).added
        assert sequencing.sequence(self.platform) == sequencing.Sequenced(0)
        self.check()
        return added

    def everything(self) -> list[bytes]:
        """Return every leaf, as anybody can read them."""
        size = server_log.shown(self.platform).size
        widths = [tiles.width_of(0, number, size) for number in range(size // 256 + 1)]
        return [
            leaf
            for number, width in enumerate(widths)
            if width
            for leaf in tiles.unbundled(server_log.bundle(self.platform, number, width))
        ]

    def said(self, match: str) -> list[tuple[str, int]]:
        """Return the kinds and versions of the leaves of a match; the version of a sealed one is 0."""
        found = [leaf["leaf"] for leaf in server_log.leaves(self.platform, match)]
        return [(leaf["kind"], leaf.get("version", 0)) for leaf in found]

    def check(self) -> None:
        """Check everything that is served, with an independent library: the signature, the root, the tiles, every proof."""
        shown = server_log.shown(self.platform)
        keys = [parse_vkey(vkey) for vkey in self.platform.signer.vkeys()]
        checkpoint = checkpoints.parse(opened(shown.note, keys).text)
        everything = self.everything()
        assert (checkpoint.origin, checkpoint.size) == ("log.example", len(everything))
        assert checkpoint.root == InmemoryTree.init_from_entries(everything).get_root()
        assert len(set(everything)) == len(everything)
        assert monitored(everything) == [], "a monitor never accuses an honest server"
        for number in range(len(everything) // 256 + 1):
            if width := tiles.width_of(0, number, len(everything)):
                row = tiles.hashes(server_log.tile(self.platform, 0, number, width))
                assert row == tiles.leaf_hashes(everything[number * 256 : number * 256 + width])
        for match in self.platform.store.log.matches():
            for leaf in server_log.leaves(self.platform, match):
                proof = checkpoints.parse_proof(leaf["proof"])
                assert proof.note == shown.note
                assert proof.leaf == leaf["index"]
                assert json.loads(everything[leaf["index"]]) == leaf["leaf"]
                assert checkpoints.includes(checkpoint, proof, everything[leaf["index"]])


def monitored(everything: Sequence[bytes]) -> list[Finding]:
    """Return what a monitor finds in a log."""
    by_subject: dict[str, list[Placed]] = {}
    for number, raw in enumerate(everything):
        leaf = read(raw)
        assert leaf.kind in KINDS
        by_subject.setdefault(leaf.subject, []).append((number, leaf))
    return [finding for placed in by_subject.values() for finding in contradictions(placed)]
