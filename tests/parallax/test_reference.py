"""Reference pages generated from the code: whatever the code registers has an entry."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import isfunction
from pathlib import Path

import pytest
import yaml
from reference import (
    MARKER,
    algorithms,
    columns,
    commands,
    endpoints,
    licences,
    metrics,
    questions,
    settings,
    splits,
    statistics,
    with_entries,
)
from reference.markdown import table

from evaluation.metrics.registry import METRICS, metric
from evaluation.splitting.registry import SPLITS
from parallax.api.operations import METHODS
from recommenders import registry
from studies.instrument.questionnaires.kinds import KINDS
from studies.instrument.questionnaires.schema import questionnaire_from

DOCS = Path(__file__).resolve().parents[2] / "docs"
pytestmark = pytest.mark.integration


def headings(markdown: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", markdown, flags=re.DOTALL), re.MULTILINE)


def test_every_list_of_entries_is_on_one_page() -> None:
    named = [name for page in sorted(DOCS.rglob("*.md")) for name in MARKER.findall(page.read_text())]
    modules = [
        file.stem for file in (DOCS / "_site" / "reference").glob("*.py") if "\ndef entries()" in file.read_text()
    ]
    assert sorted(named) == sorted(modules)


def test_every_command_has_its_options_and_an_example() -> None:
    page = commands.entries()
    assert headings(page) == list(commands.command_names())
    assert [name for name in commands.command_names() if commands.example_of(name) is None] == []
    for name in commands.command_names():
        for action in commands.parser_of(name)._actions:
            if action.dest not in commands.EVERY_COMMAND:
                assert all(option in page for option in action.option_strings)


def test_every_setting_has_a_type() -> None:
    source = (DOCS.parent / "parallax" / "settings.py").read_text()
    read = set(re.findall(r'env_\w+\(\s*"(\w+)"', source))
    assert read == set(settings.variables())
    assert all(f"| `{name}` |" in settings.entries() for name in read)


def test_every_metric_has_an_entry_by_a_name_that_reads_back() -> None:
    page = metrics.entries()
    for key, definition in METRICS.items():
        name = metrics.name_of(definition)
        assert metric(name).key == key
        assert f"### `{name}`\n" in page


def test_every_split_has_a_row_with_its_options() -> None:
    rows = splits.entries().splitlines()[2:]
    for kind, row in zip(SPLITS.values(), rows, strict=True):
        assert row.startswith(f"| `{kind.key}` | {kind.title} |")
        assert all(f"`{option.name}` (" in row for option in kind.options.described())


def test_every_algorithm_has_a_source_a_cost_and_its_parameters() -> None:
    page = algorithms.entries()
    for key in registry.keys():  # noqa: SIM118 -- a module, not a mapping
        algorithm = registry.algorithm(key)
        assert f"`{key}`" in page
        if registry.package_of(key) is None:
            text = algorithms.documented(algorithm).__doc__ or ""
            assert re.search(r"Source|References", text), key
            assert "Cost: " in text, key
        assert all(f"| `{info.name}` |" in page for info in algorithm.Params.described())


def test_every_metric_names_its_source() -> None:
    assert [key for key, metric in METRICS.items() if not metric.source.endswith(".")] == []


def test_every_statistical_procedure_is_described() -> None:
    assert headings(statistics.entries()) == statistics.MODULES
    for module in map(import_module, statistics.MODULES):
        assert module.__doc__, module.__name__
        functions = [each for each in vars(module).values() if isfunction(each) and each.__module__ == module.__name__]
        assert [each.__name__ for each in functions if not each.__name__.startswith("_") and not each.__doc__] == []


def test_every_question_kind_has_an_example_that_is_valid() -> None:
    assert headings(questions.entries()) == list(KINDS)
    for kind in KINDS:
        read = questionnaire_from({"overall": [yaml.safe_load(questions.EXAMPLES[kind])]})
        assert read.block("overall")[0].kind == kind


@pytest.mark.django_db
def test_every_column_of_every_table_is_listed() -> None:
    page = columns.entries()
    for exported in columns.tables().values():
        for variable in exported.variables:
            if not columns.LATER.search(variable.name):
                assert f"| `{variable.name}` |" in page


def test_every_operation_of_the_api_is_listed() -> None:
    listed = headings(endpoints.entries())
    document = yaml.safe_load((DOCS / "reference" / "api.yaml").read_text(encoding="utf-8"))
    for path, operations in document["paths"].items():
        for method in set(operations) & set(METHODS):
            assert f"{method.upper()} {path}" in listed


def test_cells_of_tables_are_one_line_each() -> None:
    assert table(("a",), [("1|\n2",)]).splitlines()[-1] == r"| 1\| 2 |"


@pytest.mark.django_db
def test_pages_hold_their_entries() -> None:
    page = with_entries((DOCS / "reference" / "commands.md").read_text())
    assert "## simulate_participants" in page
    assert MARKER.search(page) is None


def test_every_package_states_its_licence(tmp_path: Path) -> None:
    assert len(licences.pins()) > 40
    stated = {name: licences.licence_of(name) for name in licences.pins()}
    assert {name for name, licence in stated.items() if licence in {"not stated", licences.NOT_INSTALLED}} == set()
    assert stated["Django"].startswith("BSD")
    assert licences.licence_of("no-such-package") == licences.NOT_INSTALLED
    licences.main([str(tmp_path / "made" / "licences.md")])
    assert licences.entries() in (tmp_path / "made" / "licences.md").read_text()
