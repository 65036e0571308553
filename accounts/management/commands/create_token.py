from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from accounts.enums import Scope
from accounts.selectors import active_account
from accounts.services import USUAL_DAYS, create_token
from core.commands import ParallaxCommand


class Command(ParallaxCommand):
    help = "Create an access token for a researcher's programs. It is printed once; only its digest is stored."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="account (email); the token has its read access")
        parser.add_argument("--name", required=True, help="purpose of the token")
        parser.add_argument(
            "--days", type=int, default=USUAL_DAYS, help="days until it expires (default: 90; at most 365)"
        )
        parser.add_argument(
            "--scope",
            choices=Scope.values,
            default=Scope.READ.value,
            help="read (the default), or report: read, and build reports",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        owner = active_account(options["email"])
        if owner is None:
            raise CommandError(
                f"No active account has the address {options['email']}. Check it, or create the account."
            )
        token, text = create_token(owner=owner, name=options["name"], scope=options["scope"], days=options["days"])
        until = f"{token.expires_at:%Y-%m-%d %H:%M} UTC"
        self.stdout.write(f"Token “{token.name}” of {owner.email}, valid until {until}.")
        self.stdout.write(f"Token (shown once): {text}")
