"""What the documentation shows exists: its commands with their options, the targets of make, the pages it links to."""

from __future__ import annotations

import re
import subprocess
import tomllib
from argparse import PARSER, ArgumentParser
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands, load_command_class

from tests.factories.project_files import project_files

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
APPS = ("accounts", "analysis", "catalog", "evaluation", "parallax", "studies")
pytestmark = pytest.mark.unit


def options_of(command: str, app: str) -> set[str]:
    """Every option of a command, those of its own subcommands included."""
    waiting: list[ArgumentParser] = [load_command_class(app, command).create_parser("manage.py", command)]
    found: set[str] = set()
    for parser in waiting:
        found |= parser._option_string_actions.keys()
        for action in parser._actions:
            if action.nargs == PARSER and isinstance(action.choices, dict):
                waiting.extend(action.choices.values())
    return found


OPTIONS = {command: options_of(command, app) for command, app in get_commands().items() if app in APPS}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_links_lead_somewhere(page: Path) -> None:
    text = page.read_text()
    wrong = []
    for command, rest in re.findall(r"manage\.py\s+([a-z_]+)([^\n`|]*)", text.replace("\\\n", " ")):
        if command not in get_commands():
            wrong.append(f"no command {command}")
        elif command in OPTIONS:
            named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest))
            wrong += [f"{command} has no {option}" for option in sorted(named - OPTIONS[command])]
    for link in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in link and not (page.parent / link).exists():
            wrong.append(f"a dead link to {link}")
    assert wrong == []


def test_every_page_is_reached_from_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    linked = {(ROOT / "docs" / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)", index)}
    decisions = set((ROOT / "docs" / "adr").glob("*.md"))
    assert set(PAGES) - linked - decisions - {ROOT / "README.md", ROOT / "docs" / "README.md"} == set()


def test_the_targets_that_the_readme_names_can_be_made() -> None:
    makeable = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"`(?:\w+=\w+ )?make ([a-z-]+)", (ROOT / "README.md").read_text()))
    assert named
    assert named <= makeable


def test_every_command_is_written_with_the_one_launcher() -> None:
    shown = [
        name
        for name in project_files()
        if name.endswith((".md", ".html", ".py", ".po", ".yaml", ".yml")) or name in {"Dockerfile", "Makefile"}
        if not name.startswith(("tests/", "benchmarks/")) and name != "CHANGELOG.md"
    ]
    assert "README.md" in shown
    wrong = []
    for name in shown:
        text = (ROOT / name).read_text()
        wrong += [f"{name}: {found}" for found in re.findall(r"(?<!\.venv/bin/python )manage\.py [a-z{].*", text)]
    assert wrong == []


def test_pages_stop_every_service_that_uses_the_database() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    users = {name for name, facts in services.items() if "DATABASE_URL" in facts.get("environment", {})} - {"migrate"}
    lines = [words for page in PAGES for words in re.findall(r"docker compose stop(.*)", page.read_text())]
    assert len(lines) >= 3
    assert [words for words in lines if set(words.split()) != users] == []


def test_make_demo_leaves_the_database_to_its_command() -> None:
    """It migrates in the same process, which saves one start; see `prepare_database`."""
    done = subprocess.run(["make", "--dry-run", "demo"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if "manage.py" in line and not line.startswith("echo")]
    assert len(lines) == 1
    assert ".venv/bin/python manage.py demo" in lines[0]


@pytest.mark.parametrize("target", ["install", "up"])
def test_make_creates_the_environment_and_the_database_first(target: str) -> None:
    done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if "manage.py" in line and not line.startswith("echo")]
    assert ".venv/bin/python manage.py migrate" in lines[0]
    assert target == "install" or f".venv/bin/python manage.py {target}" in lines[1]


def test_the_tests_that_the_page_on_threats_names_exist() -> None:
    page = "".join((ROOT / "docs" / "explanation" / name).read_text() for name in ("security.md", "asvs.md"))
    names = set(re.findall(r"`(test_\w+)`", page))
    assert len(names) > 20
    files = (ROOT / "tests").rglob("test_*.py")
    defined = {name for file in files for name in re.findall(r"def (test_\w+)\(", file.read_text())}
    assert names - defined == set()


def test_the_picture_of_the_architecture_shows_the_import_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    storeys = [re.split(r" [|:] ", layer) for layer in contract["layers"]]
    drawn: dict[str, list[str]] = {}
    for height, package in re.findall(r'y="(\d+)">(\w+)</text>', (ROOT / "docs/images/storeys.svg").read_text()):
        drawn.setdefault(height, []).append(package)
    assert list(drawn.values()) == storeys
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    packages = [package for storey in storeys for package in storey]
    assert re.findall(r"^\| `(\w+)` \|", page, re.M) == packages
    assert all((ROOT / package).is_dir() for package in packages)
