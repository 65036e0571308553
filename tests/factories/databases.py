"""The tests' own database, for processes that tests start."""

from __future__ import annotations

from django.db import connection


def database_url() -> str:
    """The address of the tests' database, as DATABASE_URL has it."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    who = f"{database['USER']}:{database['PASSWORD']}@" if database["USER"] else ""
    return f"postgresql://{who}{database['HOST']}:{database['PORT']}/{database['NAME']}"
