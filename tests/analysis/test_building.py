import pytest
from tests.factories.studies import completed, make_study
from analysis.services import build_report
from analysis.exports.files import write_report
from pathlib import Path
import json

@pytest.mark.django_db
def test_x(client):
    study = make_study(per_condition=4)
    for n in range(6):
        completed(study, number=n, age=25)
    r = build_report(study=study)
    write_report(report=r, folder=Path("/tmp/r1"), progress=print)
    from studies.models import StudyMembership
    client.force_login(StudyMembership.objects.get(study=study).researcher)
    p = client.get(f"/reports/{r.pk}/")
    print(len(p.content))
    assert client.get("/reports/").status_code == 200
    assert client.get("/reports/new/").status_code == 200
