"""The network a request comes from, and rate limits; no address is stored."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from django.conf import settings
from django.core.cache import cache
from django.utils.crypto import salted_hmac

IPV6_PREFIX = 64  # bits of an IPv6 address that one household or laboratory shares


def network_of(address: str) -> str:
    """The network that an address belongs to: an IPv4 address itself, the /64 of an IPv6 address. Text that is not an
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
    return f"{IPv6Address(int(parsed) >> IPV6_PREFIX << IPV6_PREFIX)}/{IPV6_PREFIX}"


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


@dataclass(frozen=True)
class RateLimit:
    """At most `most` requests within `seconds`, counted in windows that begin at multiples of `seconds`."""

    most: int
    seconds: int


def seconds_to_wait(limit: RateLimit, *subject: str, is_shared: bool = True, now: float | None = None) -> int:
    """Count a request of `subject`; return 0, or the seconds to wait if the request exceeds the limit.

    The cache key is a keyed digest, from which the subject cannot be read. Without Redis each web process counts
    separately and grants its share of the limit (LIMIT_SHARES), so that all processes together stay within it. A limit
    that is not `is_shared`, such as that of a single browser, is granted in full by each process.
    """
    moment = time.time() if now is None else now
    window, passed = divmod(moment, limit.seconds)
    digest = salted_hmac("parallax.rate-limit", "\n".join(subject), algorithm="sha256").hexdigest()[:32]
    key = f"rate:{int(window)}:{digest}"
    most = -(-limit.most // settings.LIMIT_SHARES) if is_shared else limit.most
    cache.add(key, 0, timeout=limit.seconds)
    try:
        n = cache.incr(key)
    except ValueError:  # evicted or expired in between: the next request begins anew
        return 0
    return 0 if n <= most else max(1, int(limit.seconds - passed))
