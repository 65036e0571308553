from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.enums import Scope
from accounts.models import User
from accounts.services import create_token
from core.errors import ParallaxError


class Command(BaseCommand):
    help = "Make an access token for programs of a researcher; it is printed once and kept as a digest."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="whose token it is: it sees what they see")
        parser.add_argument("--name", required=True, help="what it is for")
        parser.add_argument("--days", type=int, help="how long it is valid (default: until it is revoked)")
        parser.add_argument(
            "--scope",
            choices=Scope.values,
            default=Scope.READ.value,
            help="read (the default), or report: read, and build reports",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        owner = User.objects.filter(email=options["email"].strip().lower(), is_active=True).first()
        if owner is None:
            raise CommandError(f"Nobody has an account with the address {options['email']}.")
        try:
            token, text = create_token(owner=owner, name=options["name"], scope=options["scope"], days=options["days"])
        except ParallaxError as refusal:
            raise CommandError(str(refusal)) from refusal
        until = "until it is revoked" if token.expires_at is None else f"until {token.expires_at:%Y-%m-%d %H:%M} UTC"
        self.stdout.write(f"Token “{token.name}” of {owner.email}, valid {until}.")
        self.stdout.write(f"Token (shown once): {text}")
