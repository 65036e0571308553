"""What was understood of an uploaded model, and five users whose lists of it are shown beside another model's."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from catalog.models import DatasetVersion
from catalog.selectors.ratings import ratings_of
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.runs import succeeded_runs
from evaluation.services.coverage import covered_users, lists_of, profiles_of
from evaluation.services.uploads import Upload
from recommenders.data import Profiles

N_USERS = 5
MAY_HAVE_SEEN = "tables of runs say that it may have seen the test ratings"


@dataclass(frozen=True)
class ShownUsers:
    """Users of the dataset by index, with all their ratings, or their profiles of a run cut to `length` (0: whole)."""

    users: list[int]
    run: int | None = None
    length: int = 0

    def profiles(self, version: DatasetVersion) -> Profiles:
        """Their profiles, in their order; all ratings where the run has been deleted."""
        users = np.array(self.users, dtype=np.int64)
        run = EvaluationRun.objects.filter(pk=self.run or 0).first()
        return (
            Profiles.of(ratings_of(version), users)
            if run is None
            else profiles_of(run, cases_of(run), self.length, users)
        )


def summary_of(
    *, version: DatasetVersion, model: TrainedModel, upload: Upload, runs: QuerySet[EvaluationRun]
) -> dict[str, Any]:
    """Return the number of known items (`n_items`), what was understood in words (`facts`), and the fields of
    `ShownUsers` (`shown`): users who have a list in the newest of the `runs`, where the model is of lists.
    """
    facts, shown = list(upload.facts), None
    lists = lists_of(version, model.algorithm, model.params, training_rows(model.training_digest))
    run = next((run for run in succeeded_runs(runs.filter(version=version)) if not run.folds), None)
    if lists is not None and run is not None:
        for length in (0, *run.profile_lengths):
            users, covered = covered_users(run, cases_of(run), length, lists)
            of = f"of {length} ratings" if length else "as a whole"
            facts.append(f"lists for {covered.size:,} of {users.size:,} test profiles of run {run.pk} {of}")
            if covered.size and shown is None:
                shown = ShownUsers(_spread(covered), run.pk, length)
    elif lists is not None:
        facts.append("no run on this dataset has test profiles yet, of which to say how many have a list")
    if upload.are_strangers_unseen:
        facts.append(f"you state that it saw no test user of the split strangers; with other splits, {MAY_HAVE_SEEN}")
    elif not upload.learned_from:
        facts.append(f"the training rows are not named: {MAY_HAVE_SEEN}")
    shown = shown or ShownUsers(_spread(np.flatnonzero(np.diff(ratings_of(version).user_items.indptr))))
    return {"n_items": upload.n_items, "facts": facts, "shown": asdict(shown)}


def _spread(users: NDArray[np.int64]) -> list[int]:
    chosen: list[int] = users[np.linspace(0, users.size - 1, min(N_USERS, users.size)).astype(int)].tolist()
    return chosen
