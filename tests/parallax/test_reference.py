"""Reference pages generated from the code: whatever the code registers has an entry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from evaluation.metrics.registry import METRICS, metric
from evaluation.splitting.registry import SPLITS
from parallax.api.operations import METHODS
from parallax.reference import (
    algorithm_entries,
    column_entries,
    command_entries,
    endpoint_entries,
    licence_entries,
    metric_entries,
    question_entries,
    setting_entries,
    split_entries,
    statistic_entries,
)
from parallax.reference.markdown import from_docstring, table
from parallax.reference.pages import ENTRIES, MARKER, with_entries
from recommenders import registry
from studies.instrument.questionnaires.questions import KINDS
from studies.instrument.questionnaires.schema import questionnaire_from

DOCS = Path(__file__).resolve().parents[2] / "docs"
pytestmark = pytest.mark.integration


def headings(markdown: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", markdown, flags=re.DOTALL), re.MULTILINE)


def test_every_list_of_entries_is_on_one_page() -> None:
    named = [name for page in sorted(DOCS.rglob("*.md")) for name in MARKER.findall(page.read_text())]
    assert sorted(named) == sorted(ENTRIES)


def test_every_command_has_its_options_and_an_example() -> None:
    page = command_entries.entries()
    assert headings(page) == list(command_entries.command_names())
    assert [name for name in command_entries.command_names() if command_entries.example_of(name) is None] == []
    for name in command_entries.command_names():
        for action in command_entries.parser_of(name)._actions:
            if action.dest not in command_entries.EVERY_COMMAND:
                assert all(option in page for option in action.option_strings)


def test_every_setting_has_a_type() -> None:
    settings = (DOCS.parent / "parallax" / "settings.py").read_text()
    read = set(re.findall(r'env_\w+\(\s*"(\w+)"', settings))
    assert read == set(setting_entries.variables())
    assert all(f"| `{name}` |" in setting_entries.entries() for name in read)


def test_every_metric_has_an_entry_by_a_name_that_reads_back() -> None:
    page = metric_entries.entries()
    for key, definition in METRICS.items():
        name = metric_entries.name_of(definition)
        assert metric(name).key == key
        assert f"### `{name}`\n" in page


def test_every_split_has_a_row_with_its_options() -> None:
    rows = split_entries.entries().splitlines()[2:]
    for kind, row in zip(SPLITS.values(), rows, strict=True):
        assert row.startswith(f"| `{kind.key}` | {kind.title} |")
        assert all(f"`{option.name}` (" in row for option in kind.options.described())


def test_every_algorithm_has_a_source_a_cost_and_its_parameters() -> None:
    page = algorithm_entries.entries()
    for key in registry.keys():  # noqa: SIM118 -- a module, not a mapping
        algorithm = registry.algorithm(key)
        assert f"`{key}`" in page
        if registry.package_of(key) is None:
            text = algorithm_entries.text_of(algorithm)
            assert re.search(r"Source|References", text), key
            assert "Cost: " in text, key
        assert all(f"| `{info.name}` |" in page for info in algorithm.Params.described())


def test_every_metric_names_its_source() -> None:
    assert [key for key, metric in METRICS.items() if not metric.source.endswith(".")] == []


def test_every_statistical_procedure_is_described() -> None:
    described = headings(statistic_entries.entries())
    for module, (text, functions) in statistic_entries.procedures().items():
        assert text, module
        assert f"inference.{module}" in described
        assert [name for name, docstring in functions.items() if not docstring] == []
        assert set(functions) <= set(described)


def test_every_question_kind_has_an_example_that_is_valid() -> None:
    assert headings(question_entries.entries()) == list(KINDS)
    for kind in KINDS:
        read = questionnaire_from({"overall": [yaml.safe_load(question_entries.EXAMPLES[kind])]})
        assert read.block("overall")[0].kind == kind


@pytest.mark.django_db
def test_every_column_of_every_table_is_listed() -> None:
    page = column_entries.entries()
    for exported in column_entries.tables().values():
        for variable in exported.variables:
            if not column_entries.LATER.search(variable.name):
                assert f"| `{variable.name}` |" in page


def test_every_operation_of_the_api_is_listed() -> None:
    listed = headings(endpoint_entries.entries())
    document = yaml.safe_load((DOCS / "reference" / "api.yaml").read_text(encoding="utf-8"))
    for path, operations in document["paths"].items():
        for method in set(operations) & set(METHODS):
            assert f"{method.upper()} {path}" in listed


def test_docstrings_become_markdown() -> None:
    formula = "Mean.\n\n.. math::\n    m = 1\n\nOf :math:`x`."
    assert from_docstring(formula) == "Mean.\n\n```math\nm = 1\n```\n\nOf $`x`$."
    text = f"{formula}\n\nExamples\n--------\n>>> 1\n1\n\nReferences\n----------\nA (2000)."
    assert from_docstring(text).endswith("**Examples**\n\n```pycon\n>>> 1\n1\n```\n\n**References**\n\nA (2000).")
    assert "Examples" not in from_docstring(text, with_examples=False)
    assert table(("a",), [("1|\n2",)]).splitlines()[-1] == r"| 1\| 2 |"


@pytest.mark.django_db
def test_pages_hold_their_entries() -> None:
    page = with_entries((DOCS / "reference" / "commands.md").read_text())
    assert "## simulate_participants" in page
    assert MARKER.search(page) is None


def test_every_package_states_its_licence(tmp_path: Path) -> None:
    assert len(licence_entries.pins()) > 40
    stated = {name: licence_entries.licence_of(name) for name in licence_entries.pins()}
    assert {
        name for name, licence in stated.items() if licence in {"not stated", licence_entries.NOT_INSTALLED}
    } == set()
    assert stated["Django"].startswith("BSD")
    assert licence_entries.licence_of("no-such-package") == licence_entries.NOT_INSTALLED
    licence_entries.main([str(tmp_path / "made" / "licences.md")])
    assert licence_entries.entries() in (tmp_path / "made" / "licences.md").read_text()
