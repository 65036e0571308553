from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from accounts.selectors import active_account
from accounts.services.second_factor import reset_second_factor
from core.commands import ParallaxCommand


class Command(ParallaxCommand):
    help = "Delete the second factors of an account whose owner lost them, and end its sessions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, **options: Any) -> None:
        user = active_account(options["email"])
        if user is None:
            raise CommandError(f"No active account has the address {options['email']}. Check it.")
        reset_second_factor(user=user)
        self.stdout.write(f"The second factor of {user.email} is reset. The password alone signs in now.")
