"""Accounts, access tokens and invitations."""

from accounts.services.accounts import create_account, password_reset_path
from accounts.services.tokens import LONGEST_NAME, USUAL_DAYS, create_token, note_use

__all__ = [
    "LONGEST_NAME",
    "USUAL_DAYS",
    "create_account",
    "create_token",
    "note_use",
    "password_reset_path",
]
