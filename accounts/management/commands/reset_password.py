from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from accounts.services import password_reset_path
from core.commands import ParallaxCommand


class Command(ParallaxCommand):
    help = "Print a link with which the owner of an account chooses a new password, where no mail server is configured."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, **options: Any) -> None:
        path = password_reset_path(email=options["email"])
        days = settings.PASSWORD_RESET_TIMEOUT // 86_400
        self.stdout.write(f"{settings.SITE_URL or 'http://localhost:8000'}{path}")
        if not settings.SITE_URL:
            self.stdout.write("PARALLAX_URL is not set: replace http://localhost:8000 by the address of your site.")
        self.stdout.write(f"The link works once, for {days} days. Anyone who has it can sign in: send it privately.")
