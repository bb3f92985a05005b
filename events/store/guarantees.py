"""Judge whether the servers of the store can keep the promise that what is acknowledged is held (ADR 120).

The service's user may ask for replicas, and not for settings: those would tell it passwords. So settings count where they are known, at the
start of a service whose user may do everything, and when the keeper loads the functions (`./run functions`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

SETTINGS = ("appendonly", "appendfsync", "min-replicas-to-write", "maxmemory-policy", "cluster-require-full-coverage")
ALONE = "The store that comes along has no replicas (WARLEDGER_REPLICAS). Name a server that has some in WARLEDGER_REDIS_URL"


class Primary(NamedTuple):
    """A primary of the store: its address, how many replicas are connected, or -1 if that is not known, and the SETTINGS that are known."""

    address: str
    replicas: int
    settings: Mapping[str, str] = {}


class Judged(NamedTuple):
    """What to change, in sentences for an operator. `refusal`: why the promise cannot be kept; "" if it can."""

    refusal: str
    advice: list[str]


def judged(primaries: Sequence[Primary], replicas: int) -> Judged:
    """Judge primaries for a service that waits for so many replicas.

    >>> judged([Primary("a:6379", 1, {"appendonly": "no"})], 1).refusal
    'Set `appendonly yes` on a:6379. A primary that comes back without its data lets its replicas forget theirs'
    >>> judged([Primary("a:6379", 2)], 0).advice[0]
    'a:6379 has 2 replicas, and the service waits for 0 (WARLEDGER_REPLICAS). A failover may lose what was acknowledged'
    """
    refusal, advice = "", []
    for primary in primaries:
        address, connected, settings = primary
        if connected > replicas:
            sentence = f"{address} has {connected} replicas, and the service waits for {replicas} (WARLEDGER_REPLICAS)."
            advice.append(f"{sentence} A failover may lose what was acknowledged")
        if not replicas:
            continue
        if settings.get("appendonly") == "no":
            refusal = (
                refusal or f"Set `appendonly yes` on {address}. A primary that comes back without its data lets its replicas forget theirs"
            )
        if 0 <= connected < replicas:
            advice.append(f"{address} has {connected} of {replicas} replicas (WARLEDGER_REPLICAS). Until they are there, actions are 503")
        if settings.get("appendfsync", "always") != "always":
            advice.append(
                f"Set `appendfsync always` on {address}. Otherwise a primary may come back from a power cut without its last second"
            )
        if int(settings.get("min-replicas-to-write", replicas)) < replicas:
            advice.append(f"Set `min-replicas-to-write {replicas}` on {address}, so that it writes nothing that no replica gets")
        if settings.get("maxmemory-policy", "noeviction") != "noeviction":
            advice.append(f"Set `maxmemory-policy noeviction` on {address}. Otherwise it removes matches when its memory is full")
        if settings.get("cluster-require-full-coverage") == "yes" and len(primaries) > 1:
            advice.append(f"Set `cluster-require-full-coverage no` on {address}. Otherwise one primary that is away stops all matches")
    return Judged(refusal, advice)
