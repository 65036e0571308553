"""What a new run measures unless its settings are chosen one by one: two proposals that fit the dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from catalog.item_types import FALLBACK_LANGUAGE
from catalog.models import DatasetVersion
from catalog.selectors.ratings import features_of, ratings_of
from core.errors import DataError, ParallaxError, ParameterError
from evaluation.enums import RUN_STOPPED
from evaluation.models import EvaluationRun
from evaluation.run_spec import RunSpec, named_algorithms
from evaluation.selectors.experiments import existing_run
from evaluation.services.case_counts import case_counts
from evaluation.services.experiments import read_experiment
from evaluation.services.run_inputs import complete_spec, hash_of_inputs
from evaluation.services.runs import create_run, resume_run
from evaluation.splitting.registry import STRANGERS
from recommenders import registry
from recommenders.data_limits import TrainingSize

QUICK, REPLICATION = "quick", "replication"
PAPER = "cremonesi-2011-table-2"  # the experiment that is replicated
PAPER_ORDER = "toppop,corngr,nncosngr,asysvd,puresvd,puresvd:factors=300,lsa"
COMPARED = "toppop,nncosngr,puresvd"  # one each of popularity, neighbourhoods and latent factors
RESERVED = 0.15  # of all users, for simulated participants
CANDIDATES = 1000  # of Cremonesi et al. (2011)
ROUND = (1000, 500, 250, 200, 150, 100, 75, 50, 40, 30, 25)  # numbers of candidates for smaller catalogues
ENOUGH_CASES, FEWEST_CASES = 1000, 100
SHARES = (0.1, 0.2, 0.3)  # of users held out: the smallest that gives enough cases


TITLES = {QUICK: "Quick comparison", REPLICATION: "Replicate 2011"}


@dataclass(frozen=True)
class Proposal:
    """The inputs of a run that fit a dataset, in words. `adjustment`: how those of every proposal differ from the usual
    ones, and why; empty if they do not.
    """

    key: str
    title: str
    spec: RunSpec
    summary: str
    adjustment: str


def proposals_for(version: DatasetVersion, compared: str = COMPARED) -> dict[str, Proposal]:
    """The proposals for a dataset, by key; without those whose algorithms all need more data.

    `compared` are the algorithms of the quick one, as in commands.
    """
    protocol, adjustment = _fitting_protocol(version)
    paper = read_experiment(name=PAPER).runs["probe"]
    plans: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
        (QUICK, compared, _fitting_split(version, protocol), {}),
        (REPLICATION, PAPER_ORDER, dict(paper.split), {"metrics": paper.metrics}),
    ]
    proposals = {}
    for key, specifications, split, settings in plans:
        algorithms, left_out = _fitting_algorithms(version, specifications, split)
        if not algorithms:
            continue
        spec = RunSpec.of(algorithms=algorithms, split=split, protocol=protocol, reserve=RESERVED, **settings)
        summary = labels_in_words(algorithms)
        left_out_words = f" Too few data for {', '.join(left_out)}." if left_out else ""
        proposals[key] = Proposal(key, TITLES[key], spec, f"{summary}. {_in_words(spec)}{left_out_words}", adjustment)
    return proposals


def run_of_proposal(*, proposal: Proposal, version: DatasetVersion, owner: Any) -> EvaluationRun:
    """Return the run of a proposal: a finished or open one with the same inputs, a resumed one, or a new one. Raises as
    `create_run`.
    """
    complete, _ = complete_spec(version=version, spec=proposal.spec)
    inputs = hash_of_inputs(version=version, spec=complete)
    existing = existing_run(inputs, version.dataset.project_id)
    if existing is None:
        return create_run(version=version, spec=proposal.spec, owner=owner)
    return resume_run(run=existing, actor=owner) if existing.status in RUN_STOPPED else existing


def _fitting_algorithms(
    version: DatasetVersion, specifications: str, split: Mapping[str, Any]
) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
    """The algorithms that the training side is large enough for, with lower defaults where these are too high, and the
    labels of the others.
    """
    trained = (1 - RESERVED) * (1 - float(split["share"]) if split["name"] == STRANGERS else 1)
    size = TrainingSize(int(version.n_users * trained), version.n_items, features_of(version, "alone"))
    fitting, left_out = [], []
    for key, values in named_algorithms(specifications):
        try:
            params = registry.feasible_params(key, values, size)
        except (ParameterError, DataError):
            left_out.append(_label(key, values))
            continue
        usual = registry.params_of(key, values).as_dict()
        lowered = {name: value for name, value in params.as_dict().items() if value != usual[name]}
        fitting.append((key, {**values, **lowered}))
    return fitting, left_out


def labels_in_words(algorithms: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """The labels of algorithms, at least one: "TopPop, NNCosNgr and PureSVD50"."""
    *others, last = (_label(*each) for each in algorithms)
    return f"{', '.join(others)} and {last}" if others else last


def _label(key: str, values: Mapping[str, Any]) -> str:
    return registry.label(key, registry.params_of(key, values).as_dict())


def most_candidates(version: DatasetVersion) -> int:
    """The number of unrated items that every user has."""
    return version.n_items - int(np.diff(ratings_of(version).user_items.indptr).max(initial=0))


def _fitting_protocol(version: DatasetVersion) -> tuple[dict[str, Any], str]:
    most, items = most_candidates(version), version.dataset.kind_of_item.words_in(FALLBACK_LANGUAGE).many
    negatives = next((number for number in ROUND if number <= most), None)
    if negatives == CANDIDATES:
        return {"name": "one-plus-random"}, ""
    if negatives:
        why = f"{negatives} candidates instead of {CANDIDATES:,}: some users left only {most:,} of {version.n_items:,} "
        return {"name": "one-plus-random", "negatives": negatives}, f"{why}{items} unrated."
    return {"name": "full-ranking"}, f"All unrated {items} are ranked: some users rated almost the whole catalogue."


def _fitting_split(version: DatasetVersion, protocol: dict[str, Any]) -> dict[str, Any]:
    """Test users as new to the models as participants; where few have enough ratings for that, a share of ratings."""
    for name in (STRANGERS, "probe"):
        cases = {}
        for share in SHARES:
            try:
                counts = case_counts(
                    version=version, split={"name": name, "share": share}, protocol=protocol, reserved=RESERVED, seed=1
                )
            except ParallaxError:
                continue
            cases[share] = counts.cases
            if counts.cases >= ENOUGH_CASES:
                break
        if cases and max(cases.values()) >= FEWEST_CASES:
            break
    return {"name": name, "share": max(cases, key=lambda share: cases[share], default=SHARES[0])}


def _in_words(spec: RunSpec) -> str:
    share = f"{100 * float(spec.split['share']):g}%"
    hidden = f"{share} of users held out" if spec.split["name"] == STRANGERS else f"{share} of ratings hidden"
    if spec.protocol["name"] == "full-ranking":
        return f"{hidden}; ranked among all unrated items."
    negatives = spec.protocol.get("negatives", CANDIDATES)
    return f"{hidden}; ranked among {negatives:,} unrated items."
