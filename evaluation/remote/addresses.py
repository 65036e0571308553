"""Addresses that this machine may connect to."""

from __future__ import annotations

import re
import socket
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from core.errors import ParameterError

SETTING = "PARALLAX_RECOMMENDER_HOSTS"
_NAT64 = IPv6Network("64:ff9b::/96")
_METADATA = IPv4Address("168.63.129.16")  # of Azure, the only one that is not in a private network
_HOST = re.compile(r"[A-Za-z0-9._:-]+")
_VISIBLE_ASCII = re.compile(r"[!-~]+")


def check_service_address(address: str, hosts: Collection[str]) -> None:
    """Refuse what is not the http(s) address of a listed host. Raises ParameterError.

    `hosts`: names and addresses without ports, as the setting lists them.

    Examples
    --------
    >>> check_service_address("https://recommender.example.org/gru", ["recommender.example.org"])
    """
    host = host_of(address)
    if not host or urlsplit(address).query:
        raise ParameterError(
            f"{address!r} is not the address of a service. Write it as https://recommender.example.org or "
            "https://recommender.example.org:8443/gru, without an account, ? or #."
        )
    if not _is_listed(host, hosts):
        raise ParameterError(
            f"The host {host} is not among those that this installation may ask. Add it to {SETTING} and restart the "
            "web server and the workers."
        )


def host_of(address: str) -> str:
    """The host of an http(s) address without an account or a fragment; empty for any other text.

    Examples
    --------
    >>> host_of("https://example.org:8443/events?of=parallax"), host_of("https://me@example.org")
    ('example.org', '')
    """
    try:
        parts = urlsplit(address)
        is_address = parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:  # a port that is none
        return ""
    host = parts.hostname or ""
    is_plain = bool(_HOST.fullmatch(host) and _VISIBLE_ASCII.fullmatch(address))
    return host if is_address and is_plain and parts.username is None and not parts.fragment else ""


def resolved(host: str, port: int, hosts: Collection[str], *, is_encrypted: bool) -> list[str]:
    """Look up a listed host once and return its addresses, each of which may be connected to.

    An address in a network of its own (loopback, link-local, private, multicast, metadata) has to be in `hosts`
    itself; so has any address without TLS. Raises ParameterError for one that is not, and OSError where there is none.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as malformed:  # a part of the name is empty or too long
        raise OSError(f"{host} is no name") from malformed
    addresses = list(dict.fromkeys(str(info[4][0]) for info in found))
    for address in addresses:
        if _is_listed(address, hosts):
            continue
        if not is_encrypted:
            raise ParameterError(
                f"{host} would be asked without TLS. Use an https address, or add {address} to {SETTING} if it is "
                "a machine of your own."
            )
        if not is_public(address):
            raise ParameterError(
                f"{host} leads to {address}, an address inside a network. If the service is meant to be there, add "
                f"{address} itself to {SETTING}."
            )
    return addresses


def is_public(address: str) -> bool:
    """Whether an address belongs to the internet, and to no network of this machine or of its provider.

    Examples
    --------
    >>> [is_public(each) for each in ("93.184.215.14", "127.0.0.1", "169.254.169.254", "::ffff:10.0.0.1")]
    [True, False, False, False]
    """
    parsed: IPv4Address | IPv6Address = ip_address(address)
    if isinstance(parsed, IPv6Address):
        if parsed in _NAT64:
            return False
        parsed = parsed.ipv4_mapped or parsed.sixtofour or parsed
    return parsed.is_global and not parsed.is_multicast and parsed != _METADATA


def _is_listed(host: str, hosts: Collection[str]) -> bool:
    return _normal(host) in {_normal(each) for each in hosts}


def _normal(host: str) -> str:
    """A host as it is compared: names in lower case, addresses in their shortest form."""
    plain = host.strip().strip("[]").lower()
    try:
        return str(ip_address(plain))
    except ValueError:
        return plain
