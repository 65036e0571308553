"""Management commands: their purpose, arguments, and an example from the documentation."""

from __future__ import annotations

import re
from argparse import PARSER, SUPPRESS, Action, ArgumentParser
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.core.management import BaseCommand, get_commands, load_command_class

from reference.markdown import code, table

APPS = ("accounts", "analysis", "catalog", "evaluation", "parallax", "studies")
EVERY_COMMAND = {action.dest for action in BaseCommand().create_parser("manage.py", "help")._actions}
LAUNCHER = ".venv/bin/python manage.py"
_PLACEHOLDER = re.compile(r"[A-Z][A-Z_]*|.*\[.*|…|.*\bKEY\b.*")
_BLOCK = re.compile(r"^ *```([^\n`]*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_SHELLS = ("", "sh", "bash", "console")


def command_names() -> tuple[str, ...]:
    """Every command of the project, in alphabetical order."""
    return tuple(sorted(name for name, app in get_commands().items() if app in APPS))


def parser_of(name: str) -> ArgumentParser:
    """The argument parser of a command."""
    return load_command_class(get_commands()[name], name).create_parser("manage.py", name)


@lru_cache(maxsize=1)
def documented_lines() -> tuple[tuple[str, ...], ...]:
    """Every command line of the README and of `docs/` as words, those in fenced blocks first."""
    folder = Path(settings.BASE_DIR)
    texts = [
        file.read_text(encoding="utf-8") for file in (folder / "README.md", *sorted((folder / "docs").rglob("*.md")))
    ]
    shown = [block for text in texts for language, block in _BLOCK.findall(text) if language in _SHELLS]
    blocks = [line for block in shown for line in _lines(block)]
    spans = [span for text in texts for span in re.findall(r"`([^`]+)`", _BLOCK.sub("", text).replace("\n", " "))]
    indented = [line for text in texts for line in _lines(text) if line.startswith("    ")]
    lines = (line[line.index(LAUNCHER) :] for line in (*blocks, *spans, *indented) if LAUNCHER in line)
    return tuple(tuple(line.split()) for line in lines)


def _lines(block: str) -> list[str]:
    return re.sub(r"\\\n\s*", "", block).splitlines()


def example_of(name: str) -> str | None:
    """A line of the documentation that runs the command, without placeholders if there is one; None without any."""
    start = (*LAUNCHER.split(), name)
    lines = [words for words in documented_lines() if words[: len(start)] == start]
    chosen = min(lines, key=lambda words: any(_PLACEHOLDER.fullmatch(word) for word in words), default=None)
    return None if chosen is None else " ".join(chosen)


def entries() -> str:
    """Every command with its arguments and an example.

    Raises ValueError if the documentation runs a command nowhere.
    """
    parts = []
    for name in command_names():
        parser = parser_of(name)
        example = example_of(name)
        if example is None:
            raise ValueError(f"No page of the documentation runs {name}.")
        parts += [f"## {name}", parser.description or "", f"```\n{example}\n```"]
        parts += _arguments(parser, name)
    return "\n\n".join(parts)


def _arguments(parser: ArgumentParser, name: str) -> list[str]:
    own = [action for action in parser._actions if action.dest not in EVERY_COMMAND and action.help != SUPPRESS]
    simple = [action for action in own if action.nargs != PARSER]
    parts = [table(("argument", "meaning", "default"), map(_row, simple))] if simple else []
    for action in own:
        if action.nargs == PARSER and isinstance(action.choices, dict):
            for word, below in action.choices.items():
                parts += [f"**{name} {word}**", *([below.description] if below.description else [])]
                parts += _arguments(below, f"{name} {word}")
    return parts


def _row(action: Action) -> tuple[str, str, str]:
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    value = "" if action.nargs == 0 else f" {metavar}"
    written = ", ".join(f"`{option}{value}`" for option in action.option_strings) or f"`{metavar}`"
    choices = f" One of {', '.join(map(code, map(str, action.choices)))}." if action.choices else ""
    is_stated = action.default not in (None, SUPPRESS, False, "", [])
    default = code(str(action.default)) if is_stated else "required" if action.required else ""
    return written, f"{(action.help or '').replace('%%', '%')}{choices}", default
