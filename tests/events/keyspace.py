"""Everything that is in a store beside its streams, for comparisons."""

from __future__ import annotations

from typing import Any

from events.store.client import RedisClient
from events.store.packed import listed

FILED = (":filed", ":g:", ":groups", ":counts", ":passing")  # of matches that are filed away; their order depends on when they were


def projections(client: RedisClient) -> dict[str, Any]:
    """Return the content of every key that is derived from streams."""
    found = {}
    for key in sorted(set(client.keys("{p*}:*"))):
        if any(kind in key for kind in (":s:", ":x:", ":f:", ":w:", ":refused", *FILED)) or key.startswith(("{players}", "{pulse}")):
            continue
        kind = client.ask("TYPE", key)
        kind = kind.decode() if isinstance(kind, bytes) else kind
        command: tuple[str | int, ...] = {
            "string": ("GET", key),
            "hash": ("HGETALL", key),
            "zset": ("ZRANGE", key, 0, -1, "WITHSCORES"),
        }[kind]
        found[key] = client.ask(*command)
        if ":i:updated:" in key:  # the store gives these moments, and none follows from a stream
            found[key] = sorted(member for member, _ in found[key])
        if ":m:" in key:  # what it says together with the newest entry follows from the stream, but not at which version it was whole
            id, fields = client.ranges([("XREVRANGE", key.replace(":m:", ":s:"), "+", "-", "COUNT", 1)])[0][0]
            found[key], _ = listed(found[key], fields[b"e"], key.partition(":m:")[2], int(id.partition(b"-")[0]))
    return found
