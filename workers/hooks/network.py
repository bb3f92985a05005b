"""The way out: connect to public addresses alone, and to the origins that the operator has named.

A name is resolved once for each connection, by the name servers and not by the machine's own names. Every address that it has is checked,
and the connection goes to one of these. So a name server that answers something else the next time gains nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

import dns.asyncresolver
import dns.exception
import dns.nameserver
import dns.rdatatype
import dns.resolver
import httpcore

from events.hooks.addresses import is_public, literal, target

RESOLVE_SECONDS = 3.0
MOST_ADDRESSES = 3  # of a name, to connect to one after the other

Address = IPv4Address | IPv6Address


class InnerAddress(httpcore.ConnectError):
    """An address is not public, or one of those that a name has is not."""


class NoAddress(httpcore.ConnectError):
    """A name has no address, or its name servers do not say."""


class Resolver:
    """Asks name servers. `servers`: `host:port` each; by default those of the machine."""

    def __init__(self, servers: Sequence[str] = ()) -> None:
        self._resolver: dns.asyncresolver.Resolver | None = None
        if servers:
            self._resolver = dns.asyncresolver.Resolver(configure=False)
            self._resolver.nameservers = [_name_server(server) for server in servers]

    async def addresses(self, host: str) -> list[Address]:
        """Return the addresses of a host, of IPv4 first. Raises NoAddress."""
        if (address := literal(host)) is not None:
            return [address]
        try:
            if self._resolver is None:
                self._resolver = dns.asyncresolver.Resolver()
            asked = [self._ask(self._resolver, host, kind) for kind in (dns.rdatatype.A, dns.rdatatype.AAAA)]
            found = [ip_address(text) for texts in await asyncio.gather(*asked) for text in texts]
        except (dns.exception.DNSException, OSError, ValueError):
            raise NoAddress from None
        if not found:
            raise NoAddress
        return found

    async def _ask(self, resolver: dns.asyncresolver.Resolver, host: str, kind: dns.rdatatype.RdataType) -> Iterable[str]:
        answer = await resolver.resolve(f"{host}.", kind, raise_on_no_answer=False, lifetime=RESOLVE_SECONDS, search=False)
        return [record.address for record in answer]


class Outside(httpcore.AsyncNetworkBackend):
    """Connects to the outside. `permitted`: the origins that the operator has named; their hosts are resolved by the machine."""

    def __init__(self, resolver: Resolver, permitted: Collection[str]) -> None:
        self._resolver = resolver
        named = map(target, permitted)
        self._permitted = {(one.host, one.port) for one in named}
        self._tcp = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to one of the addresses of a host. Raises InnerAddress, NoAddress, and what httpcore raises."""
        if (host, port) in self._permitted:
            return await self._tcp.connect_tcp(host, port, timeout, local_address, socket_options)
        found = await self._resolver.addresses(host)
        if not all(map(is_public, found)):
            raise InnerAddress
        failure: Exception = NoAddress()
        for address in found[:MOST_ADDRESSES]:
            try:
                return await self._tcp.connect_tcp(str(address), port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as reason:
                failure = reason
        raise failure

    async def sleep(self, seconds: float) -> None:
        """Sleep."""
        await asyncio.sleep(seconds)


def _name_server(text: str) -> dns.nameserver.Nameserver:
    host, _, port = text.rpartition(":")
    return dns.nameserver.Do53Nameserver(host.strip("[]"), int(port))
