"""The entry of manage.py: prepare the database, run the command, explain a failure in one line."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from pathlib import Path

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line, get_commands, load_command_class
from django.core.management.base import CommandError
from django.db import DatabaseError, InterfaceError

from core.errors import StorageRefused, StorageUnavailable
from core.security_log import events_of_operator
from parallax.database import LAUNCHER, database_name, prepare_database

APPS = frozenset({"accounts", "analysis", "catalog", "evaluation", "parallax", "studies"})
# Commands that need no tables, take the database as it is, or prepare it themselves.
WITHOUT_DATABASE = frozenset(
    {
        "backup",
        "compile_kernels",
        "demo",
        "doctor",
        "download_dataset",
        "network_digest",
        "restore",
        "verify_backup",
    }
)
INTERRUPTED = 130  # the shell's status of a program that Ctrl-C ended

# What a database's error says, and what it means to the person at the command.
DATABASE_ERRORS = (
    ("is locked", "The database {name} is locked by another process. Stop the other command, or wait until it ends."),
    (
        "readonly database",
        "The database {name} cannot be written. Give this account the right to write the file and its folder, or set "
        "PARALLAX_VAR to another folder.",
    ),
    (
        "unable to open database file",
        "The database {name} cannot be opened. Give this account the right to read and write the file and its folder, "
        "or set PARALLAX_VAR to another folder.",
    ),
    (
        "is not a database",
        "{name} is not a database, or it is damaged. Restore it from a backup, or move the file away to start with an "
        "empty one.",
    ),
    ("malformed", "The database {name} is damaged. Restore it from a backup."),
    (
        "disk I/O error",
        "The database {name} cannot be read or written: its disk is full or damaged. Free some space, then run the "
        "command again.",
    ),
    ("is full", "The disk that holds the database {name} is full. Free some space, then run the command again."),
    (
        "no such table",
        f"The database {{name}} does not have the tables of this version of Parallax. Run `{LAUNCHER} migrate`.",
    ),
    (
        "does not exist",
        f"The database {{name}}: {{words}}. Create the database, then run `{LAUNCHER} migrate`.",
    ),
    (
        "connection",
        "The database cannot be reached: {words}. Start the server, or correct DATABASE_URL.",
    ),
)


def main(argv: list[str]) -> None:
    """Run a command; what a person can put right is told in one line and ends with status 1."""
    try:
        load_settings()
        with events_of_operator("" if {"-h", "--help"} & set(argv) else "".join(argv[1:2])):
            if needs_database(argv[1:]):
                prepare_database()
            execute_from_command_line(argv)
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of the output has ended, as in `… | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as problem:
        words = None if "--traceback" in argv else explanation(problem)
        if words is None:
            raise
        sys.stderr.write(f"CommandError: {words}\n")
        sys.exit(1)


def load_settings() -> None:
    """Read the settings and load the applications."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
    django.setup()


def needs_database(arguments: list[str]) -> bool:
    """Whether a command works on the tables: one of ours, or one of Django's that asks for its migrations."""
    if not arguments or {"-h", "--help"} & set(arguments):
        return False
    name = arguments[0]
    app = get_commands().get(name)
    if app is None or name in WITHOUT_DATABASE:
        return False
    return app in APPS or bool(load_command_class(str(app), name).requires_migrations_checks)


def explanation(problem: Exception) -> str | None:
    """What happened and what to do, where that is a person's to put right; None for a fault of the program."""
    match problem:
        case CommandError() | ImproperlyConfigured() | StorageUnavailable() | StorageRefused():
            return str(problem)
        case DatabaseError() | InterfaceError():
            words = str(problem)
            first = (words.strip().splitlines() or ["no reason given"])[0].rstrip(".")
            other = "The database {name} refused: {words}. Run the command with --traceback for technical details."
            sentence = next((sentence for sign, sentence in DATABASE_ERRORS if sign in words), other)
            return sentence.format(name=database_name(), words=first)
        case EOFError():
            return "The command asks for input, and there is none. Run it in a terminal."
        case ModuleNotFoundError() if str(problem.name).split(".")[0] not in {*APPS, "core", "jobs"}:
            return f"The Python package {problem.name} is not installed. Run `make install`."
        case OSError(strerror=str(reason)):
            file = problem.filename or _probable_file()
            return f"{file}: {reason}. Check the path, its permissions and the space on the disk."
    return None


def _probable_file() -> Path:
    """The file whose disk has least space, of those that the command names or writes: a write does not name its own."""
    arguments = [Path(word) for word in sys.argv[2:] if not word.startswith("-") and ("/" in word or "." in word)]
    files = [*(path for path in arguments if path.absolute().parent.is_dir()), Path(settings.VAR_DIR)]
    with contextlib.suppress(OSError):
        output = Path(f"/proc/self/fd/{sys.stdout.fileno()}").readlink()
        files += [output] if output.is_file() else []
    return min(files, key=lambda file: shutil.disk_usage(file if file.is_dir() else file.absolute().parent).free)
