"""A study created from a file of factors: explanation by re-ranking, from the command to the report."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from analysis.services import build_report
from studies.design.services.design import change_design
from studies.design.services.launch import launch_study
from studies.models import RecommendedItem, Study
from tests.analysis.conftest import FEW_RESAMPLES
from tests.factories.accounts import UserFactory
from tests.factories.evaluation import make_run_at

pytestmark = pytest.mark.integration

RECOMMENDERS = ("PureSVD4", "PureSVD4 + MMR 0.9", "PureSVD4 + Popularity 0.9")
ALGORITHMS = "puresvd:factors=4, puresvd:factors=4|mmr:strength=0.9, puresvd:factors=4|popularity:strength=0.9"
FACTORS = """
- key: recommender
  levels: [{recommender: PureSVD4}, {recommender: PureSVD4 + MMR 0.9}, {recommender: PureSVD4 + Popularity 0.9}]
- key: explanation
  levels:
    - {name: plain, presentation: {}}
    - {name: explained, presentation: {explanation: model, fallback: {en: Many like it., it: Piace a molti.}}}
"""


def create(run: Any, file: Path, text: str) -> str:
    file.write_text(text, encoding="utf-8")
    out, name = StringIO(), run.version.dataset.name
    call_command("create_study", "crossed", dataset=name, run=run.pk, factors=file, seed=3, per_condition=2, stdout=out)
    return out.getvalue()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_by_three_study_from_the_command_to_the_report(live_server: Any, tmp_path: Path) -> None:
    UserFactory(is_superuser=True)
    run = make_run_at("succeeded", algorithms=ALGORITHMS, reserve=0.3)
    said = create(run, tmp_path / "factors.yaml", FACTORS)
    study = Study.objects.get()
    labels = [f"{name} · {shown}" for name in RECOMMENDERS for shown in ("plain", "explained")]
    assert list(study.conditions.order_by("position").values_list("label", flat=True)) == labels
    assert all(label in said for label in labels)
    change_design(study=study, settings=FEW_RESAMPLES)
    launch_study(study=study)
    given = ("--per-condition", "2", "--seed", "5", "--base-url", live_server.url)
    call_command("simulate_participants", study.slug, *given, stdout=StringIO())
    slots = RecommendedItem.objects.filter(recommendation_list__participant__status="completed")
    explained = slots.exclude(explanation_kind="").values_list("recommendation_list__participant__condition__label")
    assert {label for (label,) in explained} == {label for label in labels if label.endswith("explained")}
    results = build_report(study=study, mode="simulated").read_results()
    assert {dose.condition: dose.base for dose in results.doses} == {
        f"{name} · {shown}": f"PureSVD4 · {shown}" for name in RECOMMENDERS[1:] for shown in ("plain", "explained")
    }


@pytest.mark.django_db
def test_errors_of_a_file_of_factors_are_sentences(tmp_path: Path) -> None:
    UserFactory(is_superuser=True)
    run = make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")
    file = tmp_path / "factors.yaml"

    def error(text: str) -> str:
        with pytest.raises(CommandError) as refused:
            create(run, file, text)
        return str(refused.value)

    plain = "[{name: plain, presentation: {}}, {name: explained, presentation: {explanation: model}}]"
    of_models = "[{recommender: TopPop}, {recommender: PureSVD4}]"
    one = f"- {{key: recommender, levels: {of_models}}}\n"
    assert "is not valid YAML" in error("- key: [")
    assert "Exactly one factor has recommenders as its levels" in error(f"- {{key: text, levels: {plain}}}")
    assert "EASE" in error("- {key: recommender, levels: [{recommender: TopPop}, {recommender: EASE}]}")
    assert "'a' and 'b' state the explanation" in error(
        f"{one}- {{key: a, levels: {plain}}}\n- {{key: b, levels: {plain}}}"
    ).replace("Both ", "")
    assert "explanation" in error(f"{one}- {{key: text, levels: [{{name: x, presentation: {{explanation: magic}}}}]}}")
    assert "Layout" in error(f"{one}- {{key: text, levels: [{{name: x, presentation: {{Layout: grid}}}}]}}")
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        call_command("create_study", "x", dataset=run.version.dataset.name, factors=tmp_path / "none")
    assert not Study.objects.exists()
