"""Reports on studies in which everybody meets all conditions in turn: compared within participants."""

from __future__ import annotations

import pytest

from analysis.models import Report
from analysis.services import build_report
from studies.design.services.design import change_design
from studies.design.services.launch import launch_study
from studies.models import Study
from tests.analysis.conftest import ALGORITHMS, FEW_RESAMPLES
from tests.factories.analysis import page_without_pictures
from tests.factories.evaluation import make_run_at
from tests.factories.several_lists import flow_of_lists, planted_in_turn
from tests.factories.studies import add_sequences, make_study

N = 24  # participants, four in each sequence
# By the position of the condition: TopPop is best, the others alike.
LIKED = (1, -1, -1)


def in_turn(slug: str = "in-turn", **settings: object) -> Study:
    run = make_run_at("succeeded", algorithms=ALGORITHMS)
    study = make_study(slug=slug, run=run, status="draft", per_condition=N, settings=FEW_RESAMPLES)
    change_design(study=study, settings={"flow": flow_of_lists(shown="in_turn"), **settings})
    study.refresh_from_db()
    if not study.sequences.exists():
        add_sequences(study, N // 6)
    launch_study(study=study)
    study.refresh_from_db()
    for person in range(N):
        sequence = study.sequences.get(position=person % 6)
        level, satisfaction, ratings = 3 + person % 2, [], []
        for occasion, (condition,) in enumerate(sequence.occasions):
            # Chance that no participant shares, so that differences vary.
            noise = (person * 7 + condition * 5 + occasion * 3) % 4 == 0
            value = min(5, max(1, level + LIKED[condition] + noise))
            satisfaction.append(value)
            ratings.append([min(5, max(1, value - (rank + person) % 2)) for rank in range(5)])
        planted_in_turn(study, person % 6, ratings, satisfaction=satisfaction)
    return study


@pytest.fixture(scope="module")
def report(module_database: None) -> Report:
    return build_report(study=in_turn())

