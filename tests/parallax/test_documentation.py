"""The checks of the documentation's pages, which `make docs` runs, notice what cannot be used as written."""

from __future__ import annotations

import pytest
from page_checks import DOCS, ROOT, index_problems, page_problems, project_problems

pytestmark = pytest.mark.unit
RUN = ".venv/bin/python manage.py"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"```\n{RUN} evaluate films --no-such-option\n```", "unrecognized"),
        (f"```\n{RUN} estimate first-study --reward\n```", "expected one argument"),
        (
            f"- Then:\n\n    {RUN} evaluate \\\n      --seed\n",
            "evaluate: Error: argument --seed: expected one argument",
        ),
        (f"Call `{RUN} no_such_command`.", "no command is called no_such_command"),
        (f"Call `{RUN} evaluate --no-such-option`.", "evaluate has no --no-such-option"),
        ("Call `make no-such-target`.", "make has no target no-such-target"),
        ("```python\nx = (\n```", "a block in python"),
        ("```yaml\na: [\n```", "a block in yaml"),
        ("```toml\na =\n```", "a block in toml"),
        ("```json\n{\n```", "a block in json"),
        ("```ini\nno section\n```", "a block in ini"),
        ("```xml\n<a>\n```", "a block in xml"),
        ("```cobol\nSTOP\n```", "no check reads this language"),
        ("See [there](no-such-page.md).", "a dead link to no-such-page.md"),
        ("See [there](docs/README.md#no-such-heading).", "a dead link to docs/README.md#no-such-heading"),
    ],
)
def test_what_cannot_be_used_is_noticed(text: str, problem: str) -> None:
    assert problem in "\n".join(page_problems(ROOT / "README.md", text))


def test_what_can_be_used_is_not_held_against_a_page() -> None:
    text = f"Call `make docs` or\n\n```\n{RUN} launch_study NAME &\n```\n\nand read [on](docs/README.md#reference)."
    assert list(page_problems(ROOT / "README.md", text)) == []


def test_pages_and_the_projects_other_files_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(file: object) -> str:
        return {"README.md": "", "settings.md": "", "security.md": "`test_no_such`"}.get(file.name, file.read_text())  # type: ignore[attr-defined]

    monkeypatch.setattr("page_checks.read", read)
    found = "\n".join([*index_problems(), *project_problems()])
    for problem in ("no link to reference/settings.md", "no line about SECRET_KEY", "no test is called test_no_such"):
        assert problem in found
    assert (DOCS / "README.md").exists()
