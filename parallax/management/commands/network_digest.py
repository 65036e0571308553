from __future__ import annotations

from argparse import ArgumentParser
from ipaddress import ip_address
from typing import Any

from django.core.management.base import CommandError

from core.commands import ParallaxCommand
from core.networks import network_of
from core.security_log import network_digest


class Command(ParallaxCommand):
    help = "Print the digest by which the security log names the network of an address."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("address", help="an IPv4 or IPv6 address, such as 203.0.113.7")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            ip_address(options["address"])
        except ValueError as problem:
            raise CommandError(f"{options['address']!r} is not an IPv4 or IPv6 address.") from problem
        self.stdout.write(f"{network_digest(options['address'])}  {network_of(options['address'])}")
