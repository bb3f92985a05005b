"""The chain of digests as docs/auditing.md describes it, for tests: written anew, with none of the code of events/."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import rfc8785

START = "0" * 64


def blind_key(secret: str) -> bytes:
    """Return the key of the salts that follows from a secret in hex."""
    return hmac.new(bytes.fromhex(secret), b"blind", sha256).digest()


def salt(blind: bytes, version: int, part: str) -> bytes:
    """Return the salt of a part: `a` the action, `r` the request, `s` the signature, `0`, `1`, ... the events."""
    return hmac.new(blind, f"{version}:{part}".encode(), sha256).digest()


def part_hash(salt: bytes, value: Any) -> str:
    """Return the hash of a part."""
    return sha256(salt + rfc8785.dumps(value)).hexdigest()


def parts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return every part of a full entry, by name."""
    events = {str(place): event for place, event in enumerate(entry["events"])}
    return {"a": entry["action"], "r": entry.get("request"), "s": entry.get("signed"), **events}


def part_hashes(entry: Mapping[str, Any], blind: bytes) -> list[str]:
    """Return the part hashes of a full entry."""
    return [part_hash(salt(blind, entry["version"], name), part) for name, part in parts(entry).items()]


def shown_hashes(shown: Mapping[str, Any], proof: Mapping[str, Any]) -> list[str]:
    """Return the part hashes of an entry of which a viewer sees some parts only."""

    def one(given: Mapping[str, str], value: Any) -> str:
        return part_hash(bytes.fromhex(given["salt"]), value) if "salt" in given else given["leaf"]

    events = [one(given, event) for given, event in zip(proof["events"], shown["events"], strict=True)]
    return [one(proof["action"], shown["action"]), one(proof["request"], None), one(proof["signed"], shown.get("signed")), *events]


def digest(previous: str, entry: Mapping[str, Any], hashes: Sequence[str]) -> str:
    """Return the digest of an entry after the `previous` one."""
    names = ("actor", "at", "format", "match", "revision", "rules", "secret", "version")
    digested = {**{name: entry[name] for name in names if name in entry}, "leaves": list(hashes)}
    return sha256(bytes.fromhex(previous) + rfc8785.dumps(digested)).hexdigest()
