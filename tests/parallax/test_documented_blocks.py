"""Blocks of the documentation can be used as written: commands, programs and data. Links reach their headings."""

from __future__ import annotations

import ast
import configparser
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands
from lxml import etree
from reference import with_entries
from reference.commands import parser_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    file for file in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))) if file.name != "CHANGELOG.md"
]
FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
PROGRAMS = {"", "sh", "bash"}
LAUNCHER = [".venv/bin/python", "manage.py"]
pytestmark = pytest.mark.unit


def blocks(page: Path) -> list[tuple[str, str]]:
    """The language and the text of each block of a page, without its indentation."""
    found = []
    for indent, language, text in FENCE.findall(page.read_text()):
        lines = [line.removeprefix(indent) for line in text.splitlines()]
        found.append((language.strip(), "\n".join(lines) + "\n"))
    return found


BLOCKS = [
    pytest.param(language, text, id=f"{page.relative_to(ROOT)}:{number}")
    for page in PAGES
    for number, (language, text) in enumerate(blocks(page), start=1)
]


def command_lines(text: str) -> list[list[str]]:
    joined = re.sub(r"\$\([^)]*\)", "TEXT", re.sub(r"\\\n\s*", " ", text))
    lines = [line[line.index(LAUNCHER[0]) :] for line in joined.splitlines() if f"{LAUNCHER[0]} " in line]
    return [shlex.split(line, comments=True) for line in lines]


def check_command(words: list[str]) -> None:
    """Parse the line as the command itself does; placeholders such as NAME stand for a text, RUN for a number."""
    assert words[1] == "manage.py" or words[:3] == [LAUNCHER[0], "-m", "pytest"] or "-m" in words, words
    if words[1] != "manage.py":
        return
    name, arguments = words[2], [word for word in words[3:] if word not in {"&", "…"}]
    if name not in get_commands():
        raise AssertionError(f"no command {name}")
    numbers = [re.sub(r"^(ID|RUN|RUN_[AB]|N|VERSION)$", "1", word) for word in arguments]
    parser_of(name).parse_args(numbers)


@pytest.mark.parametrize(("language", "text"), BLOCKS)
def test_block_can_be_used_as_written(language: str, text: str) -> None:
    match language:
        case "python" | "py":
            ast.parse(text)
        case "yaml":
            yaml.safe_load(text)
        case "toml":
            tomllib.loads(text)
        case "json":
            json.loads(text)
        case "ini":
            configparser.ConfigParser(strict=False, interpolation=None).read_string(text)
        case "xml":
            etree.fromstring(text.encode())
        case "r":
            if shutil.which("Rscript"):
                program = "invisible(parse(text = readLines(file('stdin'))))"
                done = subprocess.run(["Rscript", "-e", program], input=text, capture_output=True, text=True)
                assert done.returncode == 0, done.stderr
        case _ if language in PROGRAMS:
            for words in command_lines(text):
                check_command(words)
        case _:
            assert language in {"html", "text", "diff", "nginx", "sql", "pycon"}, f"no test of blocks in {language}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_indented_commands_are_parsed_too(page: Path) -> None:
    indented = re.findall(
        r"^    (\.venv/bin/python manage\.py .*(?:(?<=\\)\n.*)*)$", FENCE.sub("", page.read_text()), re.MULTILINE
    )
    for line in indented:
        for words in command_lines(re.sub(r"\[[^\]]*\]", "", line)):
            check_command(words)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub, `/help/` and the site make them."""
    text = FENCE.sub(
        "", with_entries(page.read_text()) if "entries: columns" not in page.read_text() else page.read_text()
    )
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+?)\s*$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        found.add(re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", words).strip().lower()))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_reach_files_and_headings(page: Path) -> None:
    wrong = []
    for link in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", page.read_text())):
        if "://" in link or link.startswith("mailto:"):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file) if file else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    assert wrong == []


def test_a_wrong_command_in_a_block_is_noticed() -> None:
    for line in (
        ".venv/bin/python manage.py evaluate films --no-such-option",
        ".venv/bin/python manage.py estimate first-study --reward",
        ".venv/bin/python manage.py no_such_command",
    ):
        with pytest.raises(Exception, match=r"no command|unrecognized|expected|required"):
            check_command(shlex.split(line))
