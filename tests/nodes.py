"""Servers with replicas, whose processes and links can be killed, stopped and cut: a cluster, or one primary."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import redis

from events.keeping import embedded
from tests.conftest import free_port, within

PATIENT_MS, IMPATIENT_MS = 15_000, 1000  # after which a node of a cluster that does not answer is failing


class Node:
    """A server, which may run."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.port, bus = free_port(), free_port()
        self.folder = folder
        self.url = f"redis://127.0.0.1:{self.port}"
        self.bus = bus
        folder.mkdir(parents=True)
        self._command = [embedded.binary(), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
        self._command += ["--logfile", str(folder / "log"), "--appendonly", "yes", "--appendfsync", "everysec"]
        self._command += ["--repl-diskless-sync-delay", "0", "--repl-diskless-load", "on-empty-db", *options]
        if "--cluster-enabled" in options:
            self._command += [
                "--cluster-port",
                str(bus),
                "--cluster-require-full-coverage",
                "no",
            ]
        self.client: Any = redis.Redis(port=self.port, socket_timeout=2, retry=None)
        self.start()

    def start(self) -> None:
        """Start the server, with what it had before."""
        self.process = subprocess.Popen(self._command)

    def kill(self) -> None:
        """End the server at once."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Let the server stand still, with its connections open."""
        os.kill(self.process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """Let a server that stands still go on."""
        os.kill(self.process.pid, signal.SIGCONT)

    def info(self, section: str = "replication") -> dict[str, Any]:
        """Return a section of what the server says of itself; {} if it does not answer."""
        with suppress(redis.RedisError, OSError):
            return dict(self.client.info(section))
        return {}

    @property
    def leads(self) -> bool:
        """True if the server is a primary."""
        return self.info().get("role") == "master"

    @property
    def has_replica(self) -> bool:
        """True if the server is a primary whose first replica has all that it had at the start of the link."""
        found = self.info()
        return found.get("role") == "master" and bool(found.get("slave0", {}).get("state") == "online")

    def cut(self) -> None:
        """Cut the link of a replica to its primary, until `mend`: the next one is refused. Both go on, and hear of each other."""
        self.client.config_set("primaryuser", "nobody")
        self.client.config_set("primaryauth", "nothing")
        found = self.info()
        other = redis.Redis(host=found["master_host"], port=found["master_port"])
        with other:
            other.execute_command("CLIENT", "KILL", "TYPE", "replica")

    def mend(self) -> None:
        """Let a replica have a link again."""
        self.client.config_set("primaryauth", "")
        self.client.config_set("primaryuser", "")


class Nodes:
    """A cluster of three primaries with a replica each, or one primary with replicas."""

    def __init__(self, folder: Path, clustered: bool = True, replicas: int = 1) -> None:
        self.clustered = clustered
        self.nodes: list[Node] = []
        try:
            if clustered:
                self._join(folder)
            else:
                first = Node(folder / "0")
                self.nodes = [first, *[Node(folder / str(n + 1), "--replicaof", "127.0.0.1", str(first.port)) for n in range(replicas)]]
                within(30, lambda: first.info().get("connected_slaves") == replicas and self.whole())
        except BaseException:
            self.end()
            raise

    def _join(self, folder: Path) -> None:
        self.nodes = [Node(folder / str(number), "--cluster-enabled", "yes") for number in range(6)]
        within(60, lambda: all(node.info() for node in self.nodes))
        share = 16384 // 3 + 1
        first = self.nodes[0]
        for place, node in enumerate(self.nodes):
            node.client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", place + 1)
            if place < 3:
                node.client.execute_command("CLUSTER", "ADDSLOTSRANGE", place * share, min((place + 1) * share, 16384) - 1)
            node.client.execute_command("CLUSTER", "MEET", "127.0.0.1", first.port, first.bus)
        ids = [str(_text(node.client.execute_command("CLUSTER", "MYID"))) for node in self.nodes]
        within(60, lambda: all(all(id in _text(node.client.execute_command("CLUSTER", "NODES")) for id in ids) for node in self.nodes))
        for place, node in enumerate(self.nodes[3:]):
            within(30, lambda node=node, id=ids[place]: _replicates(node, id))
        within(60, lambda: self.whole())

    @property
    def url(self) -> str:
        """The URL of the store."""
        if not self.clustered:
            return self.nodes[0].url
        return f"{self.nodes[0].url},{','.join(f'127.0.0.1:{node.port}' for node in self.nodes[1:])}"

    def whole(self) -> bool:
        """Return True if every server runs, and every primary has its replicas."""
        leaders = [node for node in self.nodes if node.leads]
        if len(leaders) != (3 if self.clustered else 1) or not all(node.has_replica for node in leaders):
            return False
        return not self.clustered or all(_is_settled(node) for node in self.nodes)

    def leader_of(self, key: str) -> Node:
        """Return the primary of a key."""
        if not self.clustered:
            return next(node for node in self.nodes if node.leads)
        slot = self.nodes[0].client.cluster("KEYSLOT", key) if self.nodes[0].info() else self.nodes[1].client.cluster("KEYSLOT", key)
        for node in self.nodes:
            if node.leads and _has_slot(node, int(slot)):
                return node
        raise AssertionError("no primary has the slot")

    def replica_of(self, leader: Node) -> Node:
        """Return the replica of a primary."""
        return next(node for node in self.nodes if node.info().get("master_port") == leader.port)

    def mend(self) -> None:
        """Bring everything back: what was killed, stopped or cut."""
        for node in self.nodes:
            if node.process.poll() is not None:
                node.start()
                within(30, node.info)
                if self.clustered:
                    node.client.config_set("cluster-node-timeout", IMPATIENT_MS)
            else:
                node.go_on()
        for node in self.nodes:
            within(30, node.info)
            node.mend()
        within(30, self.whole)

    def expect_failures(self, expected: bool) -> None:
        """Let a cluster replace a node that does not answer soon, which a busy machine could do to any; or take its time again."""
        for node in self.nodes if self.clustered else ():
            node.client.config_set("cluster-node-timeout", IMPATIENT_MS if expected else PATIENT_MS)

    def empty(self) -> None:
        """Remove all data."""
        for node in self.nodes:
            if node.leads:
                node.client.flushall()

    def end(self) -> None:
        """End every server."""
        for node in self.nodes:
            node.process.kill()
            node.process.wait()


def _replicates(node: Node, id: str) -> bool:
    with suppress(redis.ResponseError):  # it has not heard of the primary's slots yet
        node.client.execute_command("CLUSTER", "REPLICATE", id)
        return True
    return False


def _is_settled(node: Node) -> bool:
    said = _text(node.client.execute_command("CLUSTER", "INFO"))
    return (
        "cluster_state:ok" in said
        and "cluster_slots_ok:16384" in said
        and "fail" not in _text(node.client.execute_command("CLUSTER", "NODES"))
    )


def _has_slot(node: Node, slot: int) -> bool:
    for line in _text(node.client.execute_command("CLUSTER", "NODES")).splitlines():
        words = line.split(" ")
        if "myself" in line:
            for span in words[8:]:
                first, _, last = span.partition("-")
                if int(first) <= slot <= int(last or first):
                    return True
    return False


def _text(said: Any) -> str:
    return said.decode() if isinstance(said, bytes) else str(said)
