import pytest
from tests.factories.studies import completed, make_study
from analysis.services import build_report
import json

@pytest.mark.django_db
def test_x():
    study = make_study(per_condition=4)
    for n in range(6):
        completed(study, number=n, age=25)
    r = build_report(study=study)
    print(json.dumps(r.results, indent=1, allow_nan=False)[:6000])
    print(r.results["comparisons"][0])
