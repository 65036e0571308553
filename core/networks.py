"""The network a request comes from, and the address of this site."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any

from django.conf import settings
from django.http import HttpRequest

IPV6_PREFIX = 56  # bits of an IPv6 address that one household or laboratory shares: providers hand out /56 or larger


def network_of(address: str) -> str:
    """The network that an address belongs to: an IPv4 address itself, the /56 of an IPv6 address. Text that is not an
    address, such as the path of a Unix socket, is a network of its own.
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((int(parsed), IPV6_PREFIX), strict=False))


def client_address(peer: str, forwarded: Sequence[str], n_proxies: int) -> str:
    """The address of the client: the peer's own, or the one that the outermost trusted proxy saw.

    Each of the installation's `n_proxies` proxies appends the address it was called from to `X-Forwarded-For`, whose
    lines are `forwarded`. Entries further to the left are the client's own claims and are ignored.
    """
    addresses = [entry.strip() for line in forwarded for entry in line.split(",")]
    if n_proxies == 0 or len(addresses) < n_proxies:
        return peer
    address = addresses[-n_proxies]
    try:
        return str(ip_address(address))
    except ValueError:
        return peer


def first_address(request: Any) -> str | None:
    """The first address of the network that a request comes from, where only an address can be stored; None for a
    socket, which has none.
    """
    address = network_of(request.META.get("REMOTE_ADDR", "")).partition("/")[0]
    try:
        return str(ip_address(address))
    except ValueError:
        return None


def site_of(request: HttpRequest) -> str:
    """Return scheme and host without a slash at the end: those of `SITE_URL` or, if it is not set, of the request."""
    return str(settings.SITE_URL) or f"{request.scheme}://{request.get_host()}"
