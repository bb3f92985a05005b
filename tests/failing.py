"""Play, read, listen, sign and watch while servers fail, and say what must never happen: tests/events/test_held.py, and the soak."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pymerkle import InmemoryTree

from events import accounts, play, recall
from events.audit import audit
from events.errors import NoMatch, PlatformError, StoreRefused, StoreUnavailable
from events.notary import sequencing, signer
from events.notary.highwater import Unreadable
from events.platform import Platform, Settings, open_platform
from evidence import checkpoints
from games.kernel import Refused
from record.entries import parse
from tests.conftest import ALL_GAMES, within
from tests.nodes import Nodes

LOG = "log.example"
ADD = {"type": "add", "by": 1, "stay": True}
FAILURES = ("kill", "cut", "stop", "cut and kill")
BACK_SECONDS = 10.0


class World:
    """A service on several machines, whose store fails. Each machine has its own memory, and its own folder of keys.

    `told`: what anybody was told, as the digest by match and version. `signed`: the root by the size of the log. `wrong`: what must not be.
    """

    def __init__(self, nodes: Nodes, queue_url: str, folder: Path, replicas: int, players: int = 4) -> None:
        self.nodes = nodes
        nodes.expect_failures(True)
        self.told: dict[tuple[str, int], str] = {}
        self.signed: dict[int, str] = {}
        self.wrong: list[str] = []
        self.acknowledged = 0
        self._acted = [0.0] * players  # when each player was last answered
        self._playing: dict[int, str] = {}  # the match of each
        self._end = threading.Event()
        self._lock = threading.Lock()
        signer.opened(folder / "keys0", LOG)
        settings = Settings(store_url=nodes.url, queue_url=queue_url, data=folder, cluster=nodes.clustered, replicas=replicas)
        for number in (1, 2):
            shutil.copytree(folder / "keys0", folder / f"keys{number}")
        machines = [open_platform(settings._replace(keys=folder / f"keys{number}"), ALL_GAMES) for number in (0, 1, 2)]
        self.platform, *self._machines = machines
        self.ann = accounts.register(self.platform, "Ann")[0].id
        for machine in self._machines:
            self._watch_signatures(machine)
        jobs: list[Callable[[], None]] = [lambda number=number: self._play(number) for number in range(players)]  # type: ignore[misc]
        jobs += [lambda machine=machine: self._sign(machine) for machine in self._machines]  # type: ignore[misc]
        jobs += [self._read, self._listen, self._witness]
        self._threads = [threading.Thread(target=self._going, args=(job,), daemon=True) for job in jobs]
        for thread in self._threads:
            thread.start()
        within(20, lambda: all(self._acted))

    def fail(self, what: str, rng: random.Random) -> float:
        """Let something fail, and come back. Return how long some player was not answered after it, in seconds."""
        leader = rng.choice([node for node in self.nodes.nodes if node.leads])
        replica = self.nodes.replica_of(leader)
        if what.startswith("cut"):
            replica.cut()
            self._end.wait(0.3)
        if what == "stop":
            replica.stop()
            self._end.wait(0.3)
        began = time.monotonic()
        if what.endswith("kill"):
            leader.kill()
            if self.nodes.clustered:
                within(BACK_SECONDS, lambda: replica.leads)
        self.nodes.mend()
        within(BACK_SECONDS, lambda: self.wrong or all(acted > began for acted in self._acted))
        return time.monotonic() - began

    def finish(self) -> None:
        """Stop, and compare everything that anybody was told with what is there in the end."""
        self._end.set()
        for thread in self._threads:
            thread.join(30)
        for machine in self._machines:
            machine.lead.give_up()
        while sequencing.sequence(self._machines[0]).added:
            pass
        for match in {match for match, _ in self.told}:
            if not self.platform.store.log.head(match):
                self.wrong.append(f"the match {match} is lost")
                continue
            raws = {entry.version: entry.digest for entry in map(parse, self.platform.store.log.read_all(match))}
            self.platform.cache.drop(match)
            if not audit(self.platform, match).ok:
                self.wrong.append(f"the audit of {match} has findings")
            for (one, version), digest in self.told.items():
                if one == match and raws.get(version) != digest:
                    self.wrong.append(
                        f"version {version} of {match} is lost" if version not in raws else f"version {version} was given out twice"
                    )
        logs, everything = self.platform.store.server_logs, []
        while page := logs.leaves(LOG, [(len(everything), 256)])[0]:
            everything += page
        for size, root in self.signed.items():
            if size > len(everything) or InmemoryTree.init_from_entries(everything[:size]).get_root().hex() != root:
                self.wrong.append(f"the log does not continue what was signed at {size}")

    def close(self) -> None:
        self._end.set()
        for machine in (self.platform, *self._machines):
            machine.close()
        self.nodes.expect_failures(False)

    def _let_them_act(self, seconds: float) -> None:
        self._end.wait(seconds)

    def _going(self, job: Callable[[], None]) -> None:
        while not self._end.is_set():
            try:
                job()
            except (StoreUnavailable, OSError):
                self._end.wait(0.02)
            except (StoreRefused, Unreadable, Refused, PlatformError) as reason:
                self.wrong.append(f"{type(reason).__name__}: {getattr(reason, 'reason', reason)}")
                self._end.wait(0.2)

    def _hear(self, match: str, version: int, digest: str, who: str) -> None:
        with self._lock:
            if self.told.setdefault((match, version), digest) != digest:
                self.wrong.append(f"{who}: version {version} of {match} has two digests")

    def _play(self, number: int) -> None:
        """Play short matches. Send a request again until it is answered, as clients do."""
        machine = self._machines[number % 2]
        rng = random.Random()
        made = f"{rng.getrandbits(128):032x}"
        seats = {"one": "me", "two": "me"}
        match = self._again(lambda: play.create(machine, self.ann, "tally", seats, {"target": 12}, request=made)).match
        self._playing[number] = match
        self._again(lambda: play.play(machine, match, "system", [{"type": "advance"}], request=f"{made}s"))
        while not self._end.is_set():
            asked = f"{rng.getrandbits(128):032x}"
            played = self._again(lambda asked=asked: play.play(machine, match, "one", [ADD], request=asked))  # type: ignore[misc]
            for entry in played.entries:
                self._hear(match, entry.version, entry.digest, "a player")
            self.acknowledged += 1
            self._acted[number] = time.monotonic()
            if played.position.ended:
                return

    def _again(self, ask: Callable[[], Any]) -> Any:
        while True:
            try:
                return ask()
            except StoreUnavailable:
                if self._end.wait(0.02):
                    raise

    def _read(self) -> None:
        """Read matches with a memory of its own, as another web process does."""
        for match in list(self._playing.values()):
            with suppress(NoMatch):
                position = recall.position(self.platform, match)
                self._hear(match, position.version, position.digest, "a reader")
            self.platform.store.lists.standings([match])
        self._end.wait(0.01)

    def _listen(self) -> None:
        for head in self.platform.store.heads(0.2):
            if self._end.is_set():
                return
            if head is not None and head.version:
                with suppress(PlatformError):
                    position = recall.position(self.platform, head.match)
                    if position.version < head.version:
                        self.wrong.append(f"a listener heard version {head.version} of {head.match}, which is at {position.version}")

    def _sign(self, machine: Platform) -> None:
        sequencing.sequence(machine)
        self._end.wait(0.05)

    def _watch_signatures(self, machine: Platform) -> None:
        """Note every checkpoint that is signed, also if nobody ever sees it."""
        sign = machine.signer.sign

        def noted(text: str) -> str:
            if text.startswith(f"{LOG}\n"):
                self._note(checkpoints.parse(text), "a signer")
            return sign(text)

        machine.signer.sign = noted  # type: ignore[method-assign]

    def _note(self, checkpoint: checkpoints.Checkpoint, who: str) -> None:
        root = checkpoint.root.hex()
        with self._lock:
            if self.signed.setdefault(checkpoint.size, root) != root:
                self.wrong.append(f"{who}: two roots for {checkpoint.size} leaves")

    def _witness(self) -> None:
        """Watch the published checkpoint, which only grows."""
        largest = 0
        while not self._end.is_set():
            note = self.platform.store.server_logs.state(LOG).note
            if note:
                checkpoint = checkpoints.of_note(note)[0]
                self._note(checkpoint, "the witness")
                if checkpoint.size < largest:
                    self.wrong.append(f"the log shrank from {largest} to {checkpoint.size} leaves")
                largest = max(largest, checkpoint.size)
            self._end.wait(0.05)
