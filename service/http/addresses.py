"""Addresses: where a request comes from, for limits alone. An address is never logged.

A client can send any `X-Forwarded-For`. So the header counts only if the request comes from a proxy that the operator has named, and of
its list only what such proxies have added: the last address that is not that of a trusted proxy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

Network = IPv4Network | IPv6Network

ADDRESS = "warledger.address"
MOST_PROXIES = 16


def address_of(environ: Mapping[str, Any]) -> str:
    """Return the address for which a request is counted: an IPv4 address, or an IPv6 /64 network. The middleware has found it."""
    return environ.get(ADDRESS) or network_of(environ.get("REMOTE_ADDR") or "")


def networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Return the networks that a setting names, such as `10.0.0.0/8` or `::1`. Raise ValueError for anything else."""
    return tuple(ip_network(text) for text in texts)


class Addresses:
    """Finds the address of a request, behind the proxies that are trusted."""

    def __init__(self, trusted: Sequence[Network] = ()) -> None:
        self._trusted = trusted

    def of(self, environ: Mapping[str, Any]) -> str:
        """Return the address for which a request is counted, from where it comes and what trusted proxies say."""
        peer = environ.get("REMOTE_ADDR") or ""
        if self._trusted and (forwarded := environ.get("HTTP_X_FORWARDED_FOR")) is not None:
            return self._behind(peer, forwarded)
        return network_of(peer)

    def _behind(self, peer: str, forwarded: str) -> str:
        hops = forwarded.rsplit(",", MOST_PROXIES)[-MOST_PROXIES:]
        nearest = peer
        while hops and self._trusts(nearest):
            given = hops.pop().strip()
            if parsed(given) is None:
                break
            nearest = given
        return network_of(nearest)

    def _trusts(self, text: str) -> bool:
        address = parsed(text)
        return address is not None and any(address.version == network.version and address in network for network in self._trusted)


@lru_cache(maxsize=4096)
def network_of(text: str) -> str:
    """Return the address for which a client is counted; other text as it is. An IPv6 client has a whole /64 network to choose from."""
    address = parsed(text)
    if address is None:
        return text
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Network((int(address) >> 64 << 64, 64)))


def parsed(text: str) -> IPv4Address | IPv6Address | None:
    """Return an address, with or without a port, or None for any other text. An IPv4 address in IPv6 form is an IPv4 address."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
