"""Addresses: where requests come from, and where clients reach the service.

Only limits use the addresses of clients, and they are never logged. A client can send any `X-Forwarded-For`. So the header counts only if
the request comes from a proxy that the operator trusts. The client is the last address in its list that is not a trusted proxy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

Network = IPv4Network | IPv6Network

ADDRESS = "warledger.address"
_SCHEME = re.compile("https?")
_HOST = re.compile(r"(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
URL = re.compile(f"{_SCHEME.pattern}://{_HOST.pattern}")
MOST_PROXIES = 16


def address_of(environ: Mapping[str, Any]) -> str:
    """Return the address that a request counts for: an IPv4 address or an IPv6 /64 network. The middleware has stored it."""
    return environ.get(ADDRESS) or network_of(environ.get("REMOTE_ADDR") or "")


def networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Return the networks of a setting, such as `10.0.0.0/8` or `::1`. Raise ValueError for any other text."""
    return tuple(ip_network(text) for text in texts)


class Addresses:
    """Finds the address of a client, also behind trusted proxies, and the origin under which it reaches the service.

    `url`: the origin that the operator has set, or an empty text.
    """

    def __init__(self, trusted: Sequence[Network] = (), url: str = "") -> None:
        self._trusted = trusted
        self._url = url

    def origin(self, environ: Mapping[str, Any]) -> str:
        """Return the scheme and the host under which clients reach the service, such as `https://play.example`.

        It is the operator's. Without one it is what the request says, or what a trusted proxy says about it; a client may have made it up.
        """
        if self._url:
            return self._url
        scheme, host = environ["wsgi.url_scheme"], environ.get("HTTP_HOST", "")
        if self.trusts(environ.get("REMOTE_ADDR") or ""):
            scheme = _last(environ, "HTTP_X_FORWARDED_PROTO", _SCHEME) or scheme
            host = _last(environ, "HTTP_X_FORWARDED_HOST", _HOST) or host
        if not _HOST.fullmatch(host):
            host = f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
        return f"{scheme}://{host.lower()}"

    def of(self, environ: Mapping[str, Any]) -> str:
        """Return the address that a request counts for, from its peer and from what trusted proxies report."""
        peer = environ.get("REMOTE_ADDR") or ""
        if self._trusted and (forwarded := environ.get("HTTP_X_FORWARDED_FOR")) is not None:
            return self._behind(peer, forwarded)
        return network_of(peer)

    def _behind(self, peer: str, forwarded: str) -> str:
        hops = forwarded.rsplit(",", MOST_PROXIES)[-MOST_PROXIES:]
        nearest = peer
        while hops and self.trusts(nearest):
            given = hops.pop().strip()
            if parsed(given) is None:
                break
            nearest = given
        return network_of(nearest)

    def trusts(self, text: str) -> bool:
        """Return True if an address is of a trusted proxy."""
        address = parsed(text)
        return address is not None and any(address.version == network.version and address in network for network in self._trusted)


def _last(environ: Mapping[str, Any], header: str, pattern: re.Pattern[str]) -> str | None:
    """Return the last item of a header, which the nearest proxy has written, or None if it has not the pattern."""
    given = environ.get(header, "").rpartition(",")[2].strip()
    return given if pattern.fullmatch(given) else None


@lru_cache(maxsize=4096)
def network_of(text: str) -> str:
    """Return the address that a client counts for: for IPv6 its /64 network, all of which a client can use. Other text stays as it is."""
    address = parsed(text)
    if address is None:
        return text
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Network((int(address) >> 64 << 64, 64)))


@lru_cache(maxsize=4096)
def prefix_of(address: str) -> str:
    """Return the prefix of an address that requests count for: the /24 of an IPv4 address, the /48 of an IPv6 network. Other text stays."""
    try:
        network = ip_network(address)
    except ValueError:
        return address
    return str(network.supernet(new_prefix=24 if network.version == 4 else 48))


def parsed(text: str) -> IPv4Address | IPv6Address | None:
    """Parse an address with or without a port. Return None for other text. An IPv4-mapped IPv6 address becomes an IPv4 address."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
