from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from accounts.enums import READING, Scope
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
            nargs="+",
            choices=Scope.values,
            default=READING.split(),
            help="what it allows (default: read data): read, without participants' data; data, with it; write; or all "
            "reading with a part of writing: report, upload, withdraw",
        )
        parser.add_argument("--only", default="", metavar="KIND:ID", help="limit it to a study or project, as study:3")

    def handle(self, *args: Any, **options: Any) -> None:
        owner = active_account(options["email"])
        if owner is None:
            raise CommandError(
                f"No active account has the address {options['email']}. Check it, or create the account."
            )
        chosen = {key: options[key] for key in ("name", "days", "only")}
        token, text = create_token(owner=owner, scope=" ".join(options["scope"]), **chosen)
        until = f"{token.expires_at:%Y-%m-%d %H:%M} UTC"
        self.stdout.write(f"Token “{token.name}” of {owner.email}, valid until {until}.")
        self.stdout.write(f"Token (shown once): {text}")
