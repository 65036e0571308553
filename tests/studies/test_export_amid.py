"""An export while people arrive is of one moment, and keeps nobody from writing, on both databases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.studies.programs import DATABASES, told_by

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture(scope="module", params=DATABASES)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return told_by("export_amid", request, tmp_path_factory.mktemp(request.param))


@pytest.mark.slow
def test_tables_and_flow_agree_and_others_write_meanwhile(found: dict[str, Any]) -> None:
    for export in found["exports"]:
        assert export["has_arrived"]
        assert export["stored"]
        n = export["before"]
        assert (export["consented"], export["completed"], export["finished"]) == (n, n, n)
        assert set(export["rows"].values()) == {n}
        assert export["allotted"] == n
    assert set(found["exports"][1]["rows"]) == {"participants", "items", "ratings", "events"}


def test_a_block_of_one_view_writes_nothing_and_the_next_one_does(found: dict[str, Any]) -> None:
    assert found["writing"] == {"is_refused": True, "after": True}
