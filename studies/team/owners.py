"""The owner of a study that a command creates."""

from __future__ import annotations

from django.core.management.base import CommandError

from accounts.models import User
from accounts.selectors import active_account, default_owner, has_several_accounts

CREATE_ACCOUNT = "`.venv/bin/python manage.py create_account {} --administrator`"


def study_owner(email: str | None) -> User:
    """Return the account named by `--owner`, or else the default owner.

    Raises CommandError when there is no such account, or none at all.
    """
    if email is not None:
        owner = active_account(email)
        if owner is None:
            raise CommandError(
                f"There is no active account with the address {email}. Create it with {CREATE_ACCOUNT.format(email)}."
            )
        return owner
    owner = default_owner()
    if owner is None:
        raise CommandError(
            "There is no account yet, and a study needs an owner. Create an account with "
            f"{CREATE_ACCOUNT.format('you@example.org')}, then run this command again."
        )
    return owner


def owner_line(owner: User, email: str | None) -> str:
    """State the owner, and how to choose another if the command picked one of several accounts."""
    if email is None and has_several_accounts():
        return f"Owner: {owner.email} (`--owner EMAIL` names another account)"
    return f"Owner: {owner.email}"
