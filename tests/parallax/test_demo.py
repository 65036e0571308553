"""The demo: its account can always be used, and its preregistration is complete and says what it is."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.conf import settings

from analysis.models import Report
from parallax.management.commands.demo import DEMO_EMAIL, DEMOS, Command
from parallax.shell.views import DEMO_STUDIES
from studies.design.narrative.preregistration import FORMS, preregistration
from studies.design.selectors.planning import preregistration_plan
from studies.models import Study
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run_at

pytestmark = [pytest.mark.integration, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "VAR_DIR", tmp_path)


def ready(command: Command) -> str:
    """What a start of the demo prints when it is ready."""
    command.stdout = io.StringIO()  # type: ignore[assignment]
    command.started = 0.0
    command.demo = DEMOS["films"]
    owner = command.first_account()
    command.say_ready("http://127.0.0.1:8000/", owner, Report(study=Study(slug="films"), number=7))
    return command.stdout.getvalue()


def test_every_start_ends_with_the_password(tmp_path: Path) -> None:
    first = ready(Command())
    last = first.rstrip("\n").splitlines()[-1]
    password = last.rsplit(" ", 1)[-1]
    assert last == f"Sign in at http://127.0.0.1:8000/account/sign-in/ as {DEMO_EMAIL}, password {password}"
    owner = Command().first_account()
    assert owner.check_password(password)
    assert ready(Command()).rstrip("\n").splitlines()[-1] == last
    assert (tmp_path / "demo_password").stat().st_mode & 0o777 == 0o600


def test_a_password_of_your_own_is_not_printed_and_the_reset_is_named(tmp_path: Path) -> None:
    printed = ready(Command()).split()[-1]
    owner = Command().first_account()
    owner.set_password("another one, of my own")
    owner.save()
    said = ready(Command())
    assert printed not in said
    assert said.rstrip().endswith(f"changepassword {DEMO_EMAIL}`.")
    assert not (tmp_path / "demo_password").exists()


def test_the_account_of_an_installation_is_used_with_its_own_password() -> None:
    UserFactory(email="me@example.org", is_superuser=True, is_staff=True)
    last = ready(Command()).rstrip("\n").splitlines()[-1]
    assert "as me@example.org" in last


def test_three_links_come_in_the_order_of_a_first_visit() -> None:
    lines = [line.split() for line in ready(Command()).splitlines() if "http" in line]
    url = "http://127.0.0.1:8000/"
    assert [line[-1] for line in lines if line[0][0].isdigit()] == [
        f"{url}reports/studies/films/7/",
        f"{url}s/demo/",
        f"{url}studies/demo/",
    ]


def test_the_front_page_knows_the_studies_of_the_demo() -> None:
    assert {demo.study for demo in DEMOS.values()} == set(DEMO_STUDIES)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("catalogue", list(DEMOS))
def test_the_preregistration_states_a_hypothesis_for_a_synthetic_demo(catalogue: str, form: str) -> None:
    demo = DEMOS[catalogue]
    version = make_version(name=demo.dataset)
    command = Command()
    command.stdout = io.StringIO()  # type: ignore[assignment]
    command.demo = demo
    command.study(make_run_at("succeeded", version=version).pk, command.first_account())
    text = preregistration(preregistration_plan(Study.objects.get(slug=demo.study)), form)
    assert "[State the hypothesis" not in text
    assert "looked at" not in text
    assert "average advantage" in text
    assert f"its {demo.data} are" in text
