"""Everything that a store holds beside its streams, for comparisons."""

from __future__ import annotations

from typing import Any

from events.wire import Wire


def projections(wire: Wire) -> dict[str, Any]:
    """The content of every key that is worked out from streams."""
    found = {}
    for key in sorted(set(wire.keys("{p*}:*"))):
        if ":s:" in key or ":x:" in key or key.startswith("{players}"):
            continue
        kind = wire.ask("TYPE", key)
        kind = kind.decode() if isinstance(kind, bytes) else kind
        command: tuple[str | int, ...] = {
            "string": ("GET", key),
            "hash": ("HGETALL", key),
            "zset": ("ZRANGE", key, 0, -1, "WITHSCORES"),
        }[kind]
        found[key] = wire.ask(*command)
    return found
