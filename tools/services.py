"""The services that a reader trusts: their addresses, their keys, and the newest checkpoint that was seen of each.

`./run verify --trust URL` adds one. No other address is ever asked because of what a file says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from evidence.notes import VerifierKey, parse_vkey
from tools.logs import Unable


class Trusted(NamedTuple):
    """A service that a reader trusts. `note`: the newest checkpoint that was seen of its log, `seen`: when it last showed one; or ""."""

    url: str
    keys: tuple[VerifierKey, ...]
    note: str = ""
    seen: str = ""

    @property
    def names(self) -> set[str]:
        """The names that the server has had."""
        return {key.name for key in self.keys}


def folder() -> Path:
    """Return the folder for what is kept of services."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "warledger"


def load() -> list[Trusted]:
    """Return the services that are trusted. Raises Unable."""
    try:
        found = json.loads((folder() / "services.json").read_bytes())
        return [Trusted(each["url"], tuple(map(parse_vkey, each["vkeys"])), each["checkpoint"], each["seen"]) for each in found["services"]]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as reason:
        raise Unable(f"{folder() / 'services.json'} cannot be read ({reason}).") from None


def keep(service: Trusted) -> None:
    """Keep what is known of a service. Raises OSError, Unable."""
    services = [*(each for each in load() if each.url != service.url), service]
    value = [{"url": each.url, "vkeys": [key.vkey for key in each.keys], "checkpoint": each.note, "seen": each.seen} for each in services]
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = folder() / "services.json.part"
    draft.write_text(json.dumps({"services": value}, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    draft.replace(folder() / "services.json")


def keep_fork(proof: str) -> Path:
    """Keep the file that shows a fork, and return it. Raises OSError."""
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder() / f"fork-{sha256(proof.encode()).hexdigest()[:16]}.json"
    file.write_text(proof, encoding="utf-8")
    return file


def named(services: Iterable[Trusted], names: set[str]) -> list[Trusted]:
    """Return the services that have had one of these names."""
    return [service for service in services if service.names & names]
