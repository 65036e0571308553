"""Checks of the pages in Markdown that a build reports as warnings: what they show can be used as written.

Sphinx itself reports links that lead nowhere, but does not read the pages at the project's root.
"""

from __future__ import annotations

import ast
import configparser
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from argparse import PARSER, ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml
from django.core.management import CommandError, get_commands
from lxml import etree
from reference import MARKER
from reference.commands import LAUNCHER, parser_of
from reference.settings import variables

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
OF_ROOT = [file for file in sorted(ROOT.glob("*.md")) if file.name != "CHANGELOG.md"]
PAGES = [*OF_ROOT, *sorted(DOCS.rglob("*.md"))]
FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(rf"^    ({re.escape(LAUNCHER)} .*(?:(?<=\\)\n.*)*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
UNREAD = {"html", "text", "diff", "nginx", "sql", "pycon", "math"}


def read(file: Path) -> str:
    """The text of a file."""
    return file.read_text(encoding="utf-8")


def problems() -> Iterator[str]:
    """What is wrong on any page, and between the pages and the project."""
    for page in PAGES:
        yield from (f"{page.relative_to(ROOT)}: {problem}" for problem in page_problems(page, read(page)))
    yield from index_problems()
    yield from project_problems()


def page_problems(page: Path, text: str) -> Iterator[str]:
    """What is wrong on one page."""
    outside = FENCE.sub("", text)
    for indent, language, block in FENCE.findall(text):
        lines = "".join(line.removeprefix(indent) for line in block.splitlines(keepends=True))
        if problem := block_problem(language.strip(), lines):
            yield f"a block in {language or 'no language'}: {problem}"
    for line in INDENTED.findall(outside):
        yield from command_problems(re.sub(r"\[[^\]]*\]", "", line))
    for name, rest in re.findall(r"manage\.py\s+([a-z_]+)([^\n`|]*)", text.replace("\\\n", " ")):
        if name not in get_commands():
            yield f"no command is called {name}"
        yield from (f"{name} has no {option}" for option in unknown_options(name, rest))
    makeable = re.findall(r"^([a-z0-9-]+):", read(ROOT / "Makefile"), re.MULTILINE)
    mentioned = re.findall(r"`(?:\w+=\w+ )?make ([a-z][a-z0-9-]+)", text)
    yield from (f"make has no target {target}" for target in sorted(set(mentioned) - set(makeable)))
    for link in LINK.findall(outside):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if page not in OF_ROOT or "://" in link or link.startswith("mailto:"):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield f"a dead link to {link}"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+?)\s*$", FENCE.sub("", read(page)), re.MULTILINE)
    words = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", each).strip().lower()) for each in words}


def block_problem(language: str, text: str) -> str:
    """Why a block cannot be used, or nothing."""
    if language in {"", "sh", "bash"}:
        return "; ".join(command_problems(text))
    if language == "r":
        return r_problem(text)
    if language in UNREAD:
        return ""
    if language not in READERS:
        return "no check reads this language"
    try:
        READERS[language](text)
    except (ValueError, SyntaxError, yaml.YAMLError, configparser.Error) as problem:
        return str(problem)
    return ""


READERS: dict[str, Callable[[str], object]] = {
    "python": ast.parse,
    "yaml": yaml.safe_load,
    "toml": tomllib.loads,
    "json": json.loads,
    "ini": lambda text: configparser.ConfigParser(strict=False, interpolation=None).read_string(text),
    "xml": lambda text: etree.fromstring(text.encode()),
}


def r_problem(text: str) -> str:
    """Why R cannot parse a program, where there is R."""
    interpreter = shutil.which("Rscript")
    if interpreter is None:
        return ""
    program = "invisible(parse(text = readLines(file('stdin'))))"
    done = subprocess.run([interpreter, "-e", program], input=text, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def command_problems(text: str) -> Iterator[str]:
    """Parse command lines as the commands do; a placeholder such as NAME is replaced by a text, RUN by a number."""
    joined = re.sub(r"\$\([^)]*\)", "TEXT", re.sub(r"\\\n\s*", " ", text))
    for line in joined.splitlines():
        _before, launcher, rest = line.partition(f"{LAUNCHER} ")
        name, *words = shlex.split(rest, comments=True) if launcher else [""]
        if name in get_commands():
            written = (word for word in words if word not in {"&", "…"})
            arguments = [re.sub(r"^(ID|RUN|RUN_[AB]|N|VERSION)$", "1", word) for word in written]
            try:
                parser_of(name).parse_args(arguments)
            except CommandError as problem:
                yield f"{name}: {problem}"


def unknown_options(command: str, rest: str) -> list[str]:
    """The options in the rest of a line that a command does not have."""
    if command not in get_commands():
        return []
    waiting: list[ArgumentParser] = [parser_of(command)]
    known: set[str] = set()
    for parser in waiting:
        known |= parser._option_string_actions.keys()
        for action in parser._actions:
            if action.nargs == PARSER and isinstance(action.choices, dict):
                waiting.extend(action.choices.values())
    return sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest)) - known)


def index_problems() -> Iterator[str]:
    """Pages that the index does not lead to, and generated lists on no page or on several."""
    links = LINK.findall(read(DOCS / "README.md"))
    linked = {(DOCS / link.partition("#")[0]).resolve() for link in links}
    for page in sorted({*PAGES} - {*OF_ROOT} - linked - {DOCS / "README.md", *(DOCS / "adr").glob("*.md")}):
        yield f"docs/README.md: no link to {page.relative_to(DOCS)}"
    shown = sorted(name for page in PAGES for name in MARKER.findall(read(page)))
    files = (DOCS / "_site" / "reference").glob("*.py")
    modules = sorted(file.stem for file in files if "\ndef entries()" in read(file))
    if shown != modules:
        yield f"the lists on pages are {shown}, the modules that make them {modules}"


def project_problems() -> Iterator[str]:
    """What pages say of the project's other files and these do not hold."""
    settings = read(DOCS / "reference" / "settings.md")
    yield from (f"settings.md: no line about {name}" for name in variables() if f"`{name}`" not in settings)
    services = yaml.safe_load(read(ROOT / "docker-compose.yml"))["services"]
    users = {name for name, facts in services.items() if "DATABASE_URL" in facts.get("environment", {})} - {"migrate"}
    for page in PAGES:
        for words in re.findall(r"docker compose stop(.*)", read(page)):
            if set(words.split()) != users:
                yield f"{page.name}: {words} are not all services that use the database: {sorted(users)}"
    threats = "".join(read(DOCS / "explanation" / name) for name in ("security.md", "asvs.md"))
    tests = "".join(read(file) for file in (ROOT / "tests").rglob("test_*.py"))
    for name in sorted(set(re.findall(r"`(test_\w+)`", threats))):
        if f"def {name}(" not in tests:
            yield f"security.md or asvs.md: no test is called {name}"
    contract = tomllib.loads(read(ROOT / "pyproject.toml"))["tool"]["importlinter"]["contracts"][0]
    storeys = [re.split(r" [|:] ", layer) for layer in contract["layers"]]
    drawn: dict[str, list[str]] = {}
    for height, package in re.findall(r'y="(\d+)">(\w+)</text>', read(DOCS / "images" / "storeys.svg")):
        drawn.setdefault(height, []).append(package)
    listed = re.findall(r"^\| `(\w+)` \|", read(DOCS / "explanation" / "architecture.md"), re.MULTILINE)
    if list(drawn.values()) != storeys or listed != [package for storey in storeys for package in storey]:
        yield "architecture.md and storeys.svg do not show the layers of the import contract"
