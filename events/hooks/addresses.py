"""Addresses of hooks: which a player may name, and to which of them a worker may connect.

A hook is an address that a stranger chose, and a worker stands in the inner network. So it connects to public addresses alone, and to the
origins that the operator has named.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from events.errors import BadHookUrl

LONGEST = 500  # characters of a URL
PORTS = {"https": 443, "http": 80}

_TEXT = re.compile(r"[!-~]+")
_NAME = re.compile(r"(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
_UNICAST = IPv6Network("2000::/3")
_TRANSLATED = tuple(
    map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
)  # tunnels such as Teredo and 6to4, which hold an IPv4 address, and examples
_RELAY = IPv4Address("192.88.99.0"), IPv4Address("192.88.99.255")  # of 6to4


class Target(NamedTuple):
    """What a URL leads to: its origin, host and port, and the path with the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        """The origin, always with its port, such as `https://example.org:443`."""
        return f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


def target(url: str) -> Target:
    """Return what a URL leads to. Raises BadHookUrl."""
    if not _TEXT.fullmatch(url) or len(url) > LONGEST:
        raise BadHookUrl(reason=f"it has 1 to {LONGEST} visible ASCII characters")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise BadHookUrl(reason="it cannot be read") from None
    if parts.scheme not in PORTS or not host or port == 0:
        raise BadHookUrl(reason="it begins with https:// and a host")
    if "@" in parts.netloc or "#" in url:
        raise BadHookUrl(reason="it has neither a user nor a fragment")
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    return Target(parts.scheme, host, port or PORTS[parts.scheme], path)


def checked(url: str, permitted: Collection[str]) -> str:
    """Return a URL that a hook may have. `permitted`: further origins, as the operator has named them. Raises BadHookUrl."""
    found = target(url)
    if found.origin in permitted:
        return url
    if found.scheme != "https":
        raise BadHookUrl(reason="it begins with https://")
    if (address := literal(found.host)) is not None:
        if not is_public(address):
            raise BadHookUrl(reason="its address is not public")
    elif not _NAME.fullmatch(found.host):
        raise BadHookUrl(reason="its host is neither an address nor a name with a domain")
    return url


def literal(host: str) -> IPv4Address | IPv6Address | None:
    """Return a host as an address, or None if it is a name.

    >>> literal("192.0.2.1"), literal("::1"), literal("127.1"), literal("2130706433"), literal("localhost")
    (IPv4Address('192.0.2.1'), IPv6Address('::1'), None, None, None)
    """
    try:
        return ip_address(host)
    except ValueError:
        return None


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return True if an address is one of the public internet, and not another way to write an inner one.

    >>> [is_public(ip_address(text)) for text in ("8.8.8.8", "2606:4700:4700::1111")]
    [True, True]
    >>> inner = "127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "0.0.0.0", "255.255.255.255", "192.88.99.1"
    >>> any(is_public(ip_address(text)) for text in inner)
    False
    >>> inner = "::1", "::", "fe80::1", "fd00::1", "ff0e::1", "::ffff:127.0.0.1", "::7f00:1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1"
    >>> any(is_public(ip_address(text)) for text in inner)
    False
    """
    if not address.is_global or address.is_multicast:
        return False
    if isinstance(address, IPv4Address):
        return not _RELAY[0] <= address <= _RELAY[1]
    return address in _UNICAST and address.scope_id is None and not any(address in network for network in _TRANSLATED)
