from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from accounts.services import create_account
from core.commands import ParallaxCommand


class Command(ParallaxCommand):
    help = "Create an account. Its password is generated and printed once unless --password-file is given."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--name", default="")
        parser.add_argument("--administrator", action="store_true", help="grant all permissions, including /admin/")
        parser.add_argument("--password-file", help="read the password from this file instead of generating one")

    def handle(self, *args: Any, **options: Any) -> None:
        password = None
        if options["password_file"]:
            try:
                with open(options["password_file"]) as file:  # noqa: PTH123 -- any readable path, /dev/stdin included
                    password = file.read().strip()
            except OSError as problem:
                raise CommandError(f"{options['password_file']} cannot be read: {problem.strerror}.") from problem
            except UnicodeDecodeError as problem:
                raise CommandError(f"{options['password_file']} is not text in UTF-8. Save it as UTF-8.") from problem
        user, generated = create_account(
            email=options["email"],
            password=password,
            name=options["name"],
            is_administrator=options["administrator"],
        )
        self.stdout.write(f"Account {user.email} created.")
        if password is None:
            self.stdout.write(f"Password (shown once): {generated}")
