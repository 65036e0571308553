"""A tutorial as steps: what its Markdown asks the reader to type, to write into files, to see and to click."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```\n", re.MULTILINE | re.DOTALL)
NAMES = re.compile(r"(?<!\*)\*([^*\n]+)\*(?!\*)|\bStop the \w+ with Ctrl-C|\bback button\b")
VERBS = re.compile(r"\b(follow|press|open|enter|set|choose the file as)\b", re.IGNORECASE)
# Between two names these words go on with the verb before.
JOINS = {",", "and", "and the end of its"}


@dataclass(frozen=True)
class Commands:
    """Lines to type; at least one of them fails where the text before says so."""

    lines: tuple[str, ...]
    fails: bool


@dataclass(frozen=True)
class Output:
    """Lines that the commands before print, among others."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class File:
    """A file to write."""

    path: str
    text: str


@dataclass(frozen=True)
class Change:
    """Lines of a file to replace by others."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Act:
    """Something to do in the browser: follow, press, open, enter, set (a value), choose the file as, go
    back, or see."""

    verb: str
    name: str
    value: str = ""


@dataclass(frozen=True)
class Stop:
    """Ctrl-C in the terminal of the site."""


Step = Commands | Output | File | Change | Act | Stop


def steps(page: Path) -> list[Step]:
    """The steps of a tutorial, from its first to its last line."""
    text, result, place = page.read_text(encoding="utf-8"), [], 0
    for fence in FENCE.finditer(text):
        prose = text[place : fence.start()]
        result += [*acts(prose), block(fence, prose)]
        place = fence.end()
    return [*result, *acts(text[place:])]


def block(fence: re.Match[str], prose: str) -> Step:
    """The step of a block, by its language and the paragraph before it."""
    indent, language, body = fence.groups()
    body = "".join(line.removeprefix(indent) for line in body.splitlines(keepends=True))
    paragraph = prose.strip().rpartition("\n\n")[2]
    if language == "":
        return Commands(tuple(body.replace("\\\n", " ").splitlines()), bool(re.search(r"\bfails\b", paragraph)))
    if language == "text":
        return Output(tuple(body.splitlines()))
    path = re.findall(r"`([^`\s]+)`", paragraph)[-1]
    if language == "diff":
        old, new = ("".join(line[1:] for line in body.splitlines(True) if line[0] in f"{sign} ") for sign in "-+")
        return Change(path, old, new)
    return File(path, body)


def acts(prose: str) -> Iterator[Act | Stop]:
    """What the emphasised names of a text ask for, by the words before each; a name without a verb is to be seen."""
    text = " ".join(prose.split())
    verb, place, waiting = "see", 0, ""
    for match in NAMES.finditer(text):
        between, name = re.split(r"[.:;] ", text[place : match.start()])[-1].strip(" ,"), match[1]
        place = match.end()
        if name is None:
            yield Stop() if match[0].startswith("Stop") else Act("go back", "")
            continue
        if waiting:
            assert between == "to", f"{waiting} is set to what?"
            yield Act("set", waiting, name)
            waiting, verb = "", "see"
            continue
        if words := VERBS.findall(between):
            verb = words[-1].lower()
        elif between not in JOINS | {""}:
            verb = "see"
        if verb == "set":
            waiting = name
        else:
            yield Act(verb, name)
